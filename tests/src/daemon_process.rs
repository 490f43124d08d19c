//! A daemon as a child process of a test: asked over its socket, stopped by signals.

use std::process::{Child, ExitStatus};
use std::time::Duration;

use remembrancer_hooks::protocol::{Answer, RecallReply, RecallRequest, Reply, Request};
use remembrancer_hooks::{Client, ClientError};
use serde_json::Value;

use crate::sandbox::Sandbox;
use crate::wait::{eventually, timed, within};

/// For the start, a flush, an embedding: far more than they take, since test machines are busy.
const PATIENCE: Duration = Duration::from_secs(30);

/// A running daemon, killed when it is dropped.
pub struct DaemonProcess<'a> {
    child: Child,
    sandbox: &'a Sandbox,
}

impl<'a> DaemonProcess<'a> {
    pub(crate) fn new(child: Child, sandbox: &'a Sandbox) -> Self {
        Self { child, sandbox }
    }
}

impl DaemonProcess<'_> {
    /// Waits until it answers.
    ///
    /// # Panics
    /// Where it ends before.
    pub fn wait_until_ready(&mut self) {
        eventually("the daemon's first answer", PATIENCE, || {
            if let Some(status) = self.child.try_wait().unwrap() {
                panic!("the daemon ended at its start: {status}; {}", self.log());
            }
            self.try_ask(&Request::Ping).ok()
        });
    }

    /// Waits until the model is loaded or has failed: before that a prompt is answered by words alone.
    pub fn wait_for_model(&self) {
        eventually("the model", PATIENCE, || {
            (self.status()["daemon"]["model"] != "loading").then_some(())
        });
    }

    /// Waits until the vectors are in memory: before that a prompt is answered by words alone.
    pub fn wait_for_vectors(&self) {
        eventually("the vectors", PATIENCE, || {
            self.log().contains("the model is ready").then_some(())
        });
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it has logged.
    pub fn log(&self) -> String {
        fs_err::read_to_string(self.sandbox.log_file()).unwrap_or_default()
    }

    /// Asks it.
    ///
    /// # Panics
    /// Where it refuses or does not answer.
    pub fn ask(&self, request: &Request) -> Value {
        match self.try_ask(request) {
            Ok(Reply::Answer(Answer { ok: true, data, .. })) => data,
            other => panic!("{request:?} was answered by {other:?}; {}", self.log()),
        }
    }

    /// Asks it.
    ///
    /// # Errors
    /// As [`Client::call`].
    pub fn try_ask(&self, request: &Request) -> Result<Reply, ClientError> {
        Client::new(self.sandbox.places()).call(request, PATIENCE)
    }

    /// Waits until all that stands in the transcripts is in the store.
    pub fn flush(&self) {
        self.ask(&Request::Flush);
    }

    /// Waits until that is embedded, too.
    pub fn embed_all(&self) {
        self.embed_all_within(PATIENCE * 4);
    }

    /// The same, for what takes longer than any test has.
    pub fn embed_all_within(&self, patience: Duration) {
        self.flush();
        eventually("all episodes to be embedded", patience, || {
            let status = self.status();
            (status["embedding_backlog"] == 0).then_some(())
        });
    }

    /// Its status.
    pub fn status(&self) -> Value {
        self.ask(&Request::Status)
    }

    /// Why the last prompt of `session` got what it got.
    ///
    /// # Panics
    /// Where there is no log of it.
    pub fn why(&self, session: &str) -> Value {
        self.why_within(PATIENCE, session)
            .unwrap_or_else(|| panic!("no log of session {session}; {}", self.log()))
    }

    /// The same; `None` where there is no log of it before `patience` ends.
    pub fn why_within(&self, patience: Duration, session: &str) -> Option<Value> {
        let request = Request::Why {
            session: Some(session.to_owned()),
        };
        within(patience, || match self.try_ask(&request) {
            Ok(Reply::Answer(Answer { ok: true, data, .. })) => Some(data),
            _ => None,
        })
    }

    /// Asks as the hook does. On a busy machine an answer may come too late: then it is asked again, as another prompt.
    ///
    /// # Panics
    /// Where it refuses or does not answer.
    pub fn recall(&self, session: &str, cwd: &str, prompt: &str) -> RecallReply {
        let mut prompt = prompt.to_owned();
        eventually("an answer in time", PATIENCE, || {
            let request = Request::Recall(RecallRequest {
                agent: "claude-code".to_owned(),
                session: session.to_owned(),
                cwd: Some(cwd.to_owned()),
                at_start: false,
                prompt: prompt.clone(),
                deadline_ns: None,
                prompt_id: None,
                transcript: None,
                all_projects: false,
            });
            let Ok(Reply::Recall(reply)) = self.try_ask(&request) else {
                panic!("no recall; {}", self.log())
            };
            // A blank more is another prompt to the daemon and the same to its reader.
            prompt.push(' ');
            (reply.reason.as_deref() != Some("out-of-time")).then_some(reply)
        })
    }

    /// Sends it a signal.
    ///
    /// # Panics
    /// Where the system refuses.
    pub fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_raw(self.child.id() as i32).expect("invariant: a child has a pid");
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// Stops it by `signal` and waits. Returns how it ended, and after how long.
    ///
    /// # Panics
    /// Where it does not end.
    pub fn stop(mut self, signal: rustix::process::Signal) -> (ExitStatus, Duration) {
        self.signal(signal);
        timed(|| eventually("the daemon's end", PATIENCE, || self.child.try_wait().unwrap()))
    }

    /// Whether it has ended, and how.
    ///
    /// # Panics
    /// Where the system does not tell.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }
}

impl Drop for DaemonProcess<'_> {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
