//! The hook's course. The process's stdin, arguments and environment come in; the answer goes to stdout, and the exit code is 0.
//!
//! Main only waits: a worker thread does all that can hang (stdin that stays open, a folder on a dead network, a socket nobody
//! serves), and is left behind at the deadline. Nothing is ever written to stderr, no process is started, and nothing here fails.

use std::io::{Read, Write};
use std::panic::catch_unwind;
use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::agent::{Act, Agent};
use crate::arguments::{self, Invocation};
use crate::backoff;
use crate::client::{Client, ClientError, WaitingFor};
use crate::clock::{Deadline, EXIT_MARGIN, monotonic_ns, process_started_ns, unix_millis};
use crate::environment::{self, Environment};
use crate::guarded::{self, GuardedSession};
use crate::output;
use crate::payload::{MAX_PAYLOAD_BYTES, Payload};
use crate::places::Places;
use crate::protocol::{PROBE_SESSION, RecallRequest, Reply, Request};
use crate::recollection_file::{prompt_hash, remove_stale};

/// A guarded hook only leaves word that its session is to be excluded, and is gone within this time of its first act (TC-19).
const GUARD_BUDGET: Duration = Duration::from_millis(15);

/// Main waits this much longer than the worker's deadline, so that the worker can note a miss, or a guarded session; it is part of [`EXIT_MARGIN`].
const MISS_NOTE_TIME: Duration = Duration::from_millis(4);

/// What is left of [`EXIT_MARGIN`] for the process to end, once all is printed.
pub(crate) const END_OF_PROCESS: Duration = Duration::from_millis(2);

/// How long a page of help waits for whoever reads it.
const PATIENCE_OF_A_PERSON: Duration = Duration::from_hours(1);

/// The whole of the binary `remembrancer-hook`: learns first when it was started, then answers by the deadline that follows.
///
/// Always [`ExitCode::SUCCESS`], also after a panic, since a host shows the user every other code.
pub fn run_hook() -> ExitCode {
    let started_ns = process_started_ns();
    std::panic::set_hook(Box::new(|_| {}));
    if let Some((text, by)) = catch_unwind(|| text_for_stdout(started_ns)).unwrap_or_default() {
        print_by(std::io::stdout(), text, by);
    }
    ExitCode::SUCCESS
}

/// Writes `text` on a thread that is left behind at `by`: a pipe that is full and that nobody reads would be waited for without an end.
pub(crate) fn print_by(mut to: impl Write + Send + 'static, text: String, by: Deadline) {
    let (sender, receiver) = mpsc::channel();
    let work = move || {
        to.write_all(text.as_bytes()).and_then(|()| to.flush()).ok();
        sender.send(()).ok();
    };
    if thread::Builder::new().name("hook-printer".to_owned()).spawn(work).is_ok() {
        receiver.recv_timeout(by.remaining()).ok();
    }
}

/// What is to be printed, and by when.
fn text_for_stdout(started_ns: u64) -> Option<(String, Deadline)> {
    let for_a_person = |text| Some((text, Deadline::after(monotonic_ns(), PATIENCE_OF_A_PERSON)));
    match arguments::parse(std::env::args_os().skip(1), environment::budget_variable()) {
        Invocation::Help => for_a_person(arguments::help()),
        Invocation::Version => for_a_person(format!("remembrancer-hook {}\n", crate::VERSION)),
        Invocation::Answer { agent, budget } => {
            let (from_ns, budget) = if environment::guarded() {
                (monotonic_ns(), GUARD_BUDGET)
            } else {
                (started_ns, budget)
            };
            let object = answer_by(agent?, Deadline::after(from_ns, budget.saturating_sub(EXIT_MARGIN)))?;
            Some((object + "\n", Deadline::after(from_ns, budget.saturating_sub(END_OF_PROCESS))))
        }
    }
}

/// Lets a worker answer, and leaves it behind when it is late.
fn answer_by(agent: Agent, deadline: Deadline) -> Option<String> {
    let work = move || read_stdin().and_then(|stdin| answer(&stdin, &Environment::from_process()?, agent, deadline));
    worked_out_in("hook-worker", deadline.remaining() + MISS_NOTE_TIME, work)
}

/// What `work` comes to on a thread of that name, which is left behind after `patience`.
pub(crate) fn worked_out_in<T: Send + 'static>(
    name: &str,
    patience: Duration,
    work: impl FnOnce() -> Option<T> + Send + 'static,
) -> Option<T> {
    let (sender, receiver) = mpsc::channel();
    let send = move || drop(sender.send(work()));
    let _worker = thread::Builder::new().name(name.to_owned()).spawn(send).ok()?;
    receiver.recv_timeout(patience).ok().flatten()
}

/// Reads stdin to its end; `None` if it is longer than any prompt.
fn read_stdin() -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .take(MAX_PAYLOAD_BYTES + 1)
        .read_to_end(&mut bytes)
        .ok()?;
    (bytes.len() as u64 <= MAX_PAYLOAD_BYTES).then_some(bytes)
}

/// Answers what a host wrote on stdin: the one JSON object to print, or `None` where there is nothing to say, as at events that only
/// tell that a transcript has grown.
///
/// Takes away the session's stale recollection file before it asks, and notes a miss for the back-off (see
/// [`backoff`]). In a guarded environment it leaves word that the session is to be excluded (see [`guarded`]), and answers nothing.
pub fn answer(stdin: &[u8], environment: &Environment, agent: Agent, deadline: Deadline) -> Option<String> {
    let payload = Payload::parse(stdin, agent)?;
    let places = Places::new(environment);
    if environment.guard {
        leave_word(agent, payload.session, places, deadline);
        return None;
    }
    if payload.act == Act::Changed {
        let request = Request::Changed {
            agent: agent.id().to_owned(),
            transcript: payload.transcript?,
        };
        Client::new(places).tell(&request, deadline).ok();
        return None;
    }
    if payload.act == Act::Recall {
        let hash = prompt_hash(&payload.session, &payload.prompt);
        remove_stale(&places.recollection_path(agent.id(), &payload.session), &hash, unix_millis());
    }
    if !payload.asks() {
        return None;
    }
    let event = payload.event.clone();
    let context = ask(payload, places, agent, deadline)?;
    output::render(agent, &event, &context)
}

/// Has the session kept out: by the daemon, or by the next one, where none can be told.
fn leave_word(agent: Agent, session: String, places: Places, deadline: Deadline) {
    let file = places.guarded_file();
    let guarded = GuardedSession {
        agent: agent.id().to_owned(),
        session,
    };
    let request = Request::ExcludeSession {
        agent: guarded.agent.clone(),
        session: guarded.session.clone(),
    };
    if Client::new(places).tell(&request, deadline).is_err() {
        guarded::leave(&file, &guarded).ok();
    }
}

/// Asks the daemon, unless an earlier hook has lately waited for it in vain.
fn ask(payload: Payload, places: Places, agent: Agent, deadline: Deadline) -> Option<String> {
    let asked_ns = monotonic_ns();
    let backoff_file = places.backoff_file();
    // What a probe learns is no prompt's business, nor the other way about.
    let is_probe = payload.session.starts_with(PROBE_SESSION);
    if !is_probe && backoff::keeps_silent(&backoff_file, asked_ns) {
        return None;
    }
    let request = Request::Recall(RecallRequest {
        agent: agent.id().to_owned(),
        session: payload.session,
        cwd: payload.cwd,
        at_start: matches!(payload.act, Act::Start(_)),
        prompt: payload.prompt,
        deadline_ns: Some(deadline.at_ns()),
        prompt_id: payload.prompt_id,
        transcript: payload.transcript,
        all_projects: false,
    });
    match Client::new(places).call_until(&request, deadline) {
        Ok(Reply::Recall(reply)) => Some(reply.context),
        Ok(Reply::Answer(_)) => None,
        Err(error) => {
            if !is_probe && is_miss(&error) && deadline.remaining_at(asked_ns) >= backoff::TELLING_WAIT {
                backoff::begin(&backoff_file, monotonic_ns());
            }
            None
        }
    }
}

/// Someone holds the socket and gave not one byte.
fn is_miss(error: &ClientError) -> bool {
    matches!(error, ClientError::TimedOut { waiting_for } if *waiting_for != WaitingFor::RestOfReply)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes so many bytes, and nothing more for ever.
    struct Full(usize);

    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            if self.0 == 0 {
                loop {
                    thread::park();
                }
            }
            let taken = bytes.len().min(self.0);
            self.0 -= taken;
            Ok(taken)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_pipe_that_nobody_reads_is_not_waited_for() {
        let began = monotonic_ns();
        print_by(
            Full(3),
            "an object".to_owned(),
            Deadline::after(monotonic_ns(), Duration::from_millis(50)),
        );
        let took = Duration::from_nanos(monotonic_ns() - began);
        assert!(took >= Duration::from_millis(50) && took < Duration::from_secs(5), "{took:?}");
    }

    #[test]
    fn what_is_taken_is_printed_whole_and_at_once() {
        let (reader, writer) = std::os::unix::net::UnixStream::pair().unwrap();
        let began = monotonic_ns();
        print_by(
            writer,
            "an object".to_owned(),
            Deadline::after(monotonic_ns(), Duration::from_mins(1)),
        );
        assert!(Duration::from_nanos(monotonic_ns() - began) < Duration::from_secs(30));
        assert_eq!(std::io::read_to_string(reader).unwrap(), "an object");
    }
}
