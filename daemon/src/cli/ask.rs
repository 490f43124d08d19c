//! Asks the daemon if one runs.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use remembrancer_hooks::protocol::{Answer, Reply, Request};
use remembrancer_hooks::{Client, ClientError};
use remembrancer_processor::ingest::RULES;
use remembrancer_schema::{Reader, Writer};
use serde_json::Value;

use super::error::{CliError, Kind};
use super::surroundings::Surroundings;
use crate::cli::output::say_json;
use crate::single::{Holder, Single};
use crate::{instructions, paths, recollection_files};

/// How long a daemon may take to say that it is there: a tenth of a millisecond as a rule, and its two threads never wait for the store.
const SIGN_OF_LIFE: Duration = Duration::from_secs(4);
/// How long a command waits before it looks whether the daemon still lives; both together are the five seconds that a person waits for a
/// word.
const LOOK: Duration = Duration::from_secs(1);
/// How long a command waits for an answer that is at hand.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long it waits for one that may mean work: a large store to clean, transcripts to read.
const LONG_PATIENCE: Duration = Duration::from_mins(2);

/// How long it waits for a whole copy of a large store: 2 MB take about 20 ms.
const COPY_PATIENCE: Duration = Duration::from_hours(1);

/// The daemon's reply; `None` where no daemon runs.
pub(super) fn reply(surroundings: &Surroundings, request: &Request) -> Result<Option<Reply>, CliError> {
    let patience = match request {
        Request::Forget { .. }
        | Request::Exclude { .. }
        | Request::Include { .. }
        | Request::Flush
        | Request::Remember { .. }
        | Request::Steer { .. }
        | Request::Import { .. }
        | Request::Instruct(_)
        | Request::Uninstruct { .. }
        | Request::ShareLeave => LONG_PATIENCE,
        Request::Backup { .. } => COPY_PATIENCE,
        _ => PATIENCE,
    };
    if !daemon_of_this_memory(surroundings)? {
        return Ok(None);
    }
    match attended(surroundings, request, patience)? {
        Ok(reply) => Ok(Some(reply)),
        Err(ClientError::NoDaemon { .. }) => Ok(None),
        Err(error @ ClientError::TimedOut { .. }) => Err(CliError::from(error).with_hint(stopped_or_busy(surroundings))),
        Err(error) => Err(error.into()),
    }
}

/// Whether a daemon runs that is alive, and has the memory that this process means.
///
/// # Errors
/// Where it gives no sign of life, or has another memory: nothing was begun then.
pub(in crate::cli) fn daemon_of_this_memory(surroundings: &Surroundings) -> Result<bool, CliError> {
    let client = Client::new(surroundings.places.clone());
    let ping = match client.call(&Request::Ping, SIGN_OF_LIFE) {
        Ok(Reply::Answer(answer)) => answer.data,
        Err(ClientError::NoDaemon { .. }) => return Ok(false),
        Err(ClientError::TimedOut { .. }) => {
            return Err(
                CliError::new(Kind::Daemon, "the daemon gives no sign of life; nothing was asked of it")
                    .with_hint(stopped_or_busy(surroundings)),
            );
        }
        // What it says to the request itself tells more.
        Ok(Reply::Recall(_)) | Err(_) => return Ok(true),
    };
    let own = paths::one_name(&surroundings.places.database_file());
    match ping["database"].as_str() {
        Some(other) if other != own => Err(CliError::new(
            Kind::Daemon,
            format!("the daemon that answers here has the memory {other}, and this command means {own}; nothing was done"),
        )
        .with_hint(
            "give both the same HOME, XDG_DATA_HOME and XDG_RUNTIME_DIR (`systemctl --user set-environment` for a service, then start it \
             again), or name the socket of the other daemon by REMEMBRANCER_SOCKET",
        )),
        _ => Ok(true),
    }
}

/// The reply to `request`, while it is looked whether the daemon lives: one that was stopped answers nothing for ever.
fn attended(surroundings: &Surroundings, request: &Request, patience: Duration) -> Result<Result<Reply, ClientError>, CliError> {
    let client = Client::new(surroundings.places.clone());
    let (sender, receiver) = mpsc::channel();
    let (asking, asked) = (client.clone(), request.clone());
    // Left behind where nothing answers: its connection ends with this process, by which the daemon knows that nobody waits.
    std::thread::Builder::new()
        .name("request".to_owned())
        .spawn(move || sender.send(asking.call(&asked, patience)).ok())?;
    loop {
        match receiver.recv_timeout(LOOK) {
            Ok(replied) => return Ok(replied),
            Err(RecvTimeoutError::Disconnected) => return Ok(Err(ClientError::Closed)),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if !matches!(client.call(&Request::Ping, SIGN_OF_LIFE), Err(ClientError::TimedOut { .. })) {
            continue;
        }
        // It may have answered while it was looked.
        return receiver.try_recv().map_err(|_| {
            CliError::new(
                Kind::Daemon,
                "the daemon gives no sign of life any more; what it has not begun of this is not done, what it has begun may be",
            )
            .with_hint(stopped_or_busy(surroundings))
        });
    }
}

fn stopped_or_busy(surroundings: &Surroundings) -> String {
    match Single::holder(&surroundings.places.data_dir()) {
        Holder::Process(pid) => {
            format!("is it stopped, or very busy? It is process {pid}: `kill -CONT {pid}` has one go on that was stopped")
        }
        Holder::Nobody | Holder::Gone(_) => {
            "is it stopped, or very busy? Its process id is in `daemon.lock` beside the database".to_owned()
        }
    }
}

/// The data of the daemon's answer; `None` where no daemon runs.
pub(super) fn data(surroundings: &Surroundings, request: &Request) -> Result<Option<Value>, CliError> {
    match reply(surroundings, request)? {
        None => Ok(None),
        Some(Reply::Answer(Answer { ok: true, data, .. })) => Ok(Some(data)),
        Some(Reply::Answer(Answer { error, .. })) => Err(CliError::new(
            Kind::NotFound,
            error.unwrap_or_else(|| "the daemon refused".to_owned()),
        )),
        Some(Reply::Recall(_)) => Err(CliError::new(Kind::Daemon, "the daemon answered something else")),
    }
}

/// The data of the daemon's answer, or, where none runs, what `here` makes of the store itself.
///
/// # Errors
/// What either says.
pub(super) fn or_here(
    surroundings: &Surroundings,
    request: &Request,
    here: impl FnOnce() -> Result<Value, CliError>,
) -> Result<Value, CliError> {
    match data(surroundings, request)? {
        Some(data) => Ok(data),
        None => here(),
    }
}

/// The store, read-only, for when no daemon runs.
pub(super) fn reader(surroundings: &Surroundings) -> Result<Reader, CliError> {
    Ok(Reader::open(&surroundings.places.database_file())?)
}

/// The store, for when no daemon runs: held so that none starts meanwhile.
pub(super) fn writer(surroundings: &Surroundings) -> Result<(Single, Writer), CliError> {
    let (folder, database) = (surroundings.places.data_dir(), surroundings.places.database_file());
    let single = Single::take(&folder)?;
    single.part(&folder, &database)?;
    let mut writer = Writer::open(&database)?;
    // Names are compared with what they are called now.
    writer.begin_redaction(&RULES)?;
    Ok((single, writer))
}

/// Takes what has left the memory out of the files that may show it, for when no daemon runs.
pub(super) fn empty_files(surroundings: &Surroundings) -> Result<(), CliError> {
    let removed = recollection_files::remove_all(&surroundings.places.recollections_dir());
    let files = reader(surroundings)?.instruction_files()?;
    Ok(removed.and(instructions::empty_all(&files, surroundings.places.uid()))?)
}

/// Prints what `command` found as JSON for `--json`, else as `human` words it.
pub(super) fn print(command: &str, value: &Value, json: bool, human: impl FnOnce(&Value)) {
    if json {
        say_json(command, value);
    } else {
        human(value);
    }
}
