//! Asks the daemon if one runs.

use std::time::Duration;

use remembrancer_hooks::protocol::{Answer, Reply, Request};
use remembrancer_hooks::{Client, ClientError};
use remembrancer_processor::ingest::RULES;
use remembrancer_schema::{Reader, Writer};
use serde_json::Value;

use super::error::{CliError, Kind};
use super::surroundings::Surroundings;
use crate::cli::output::say_json;
use crate::single::Single;
use crate::{instructions, recollection_files};

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
        | Request::Uninstruct { .. } => LONG_PATIENCE,
        Request::Backup { .. } => COPY_PATIENCE,
        _ => PATIENCE,
    };
    match Client::new(surroundings.places.clone()).call(request, patience) {
        Ok(reply) => Ok(Some(reply)),
        Err(ClientError::NoDaemon { .. }) => Ok(None),
        Err(error @ ClientError::TimedOut { .. }) => Err(CliError::from(error)
            .with_hint("is it stopped, or very busy? Its process id is in `daemon.lock` beside the database")),
        Err(error) => Err(error.into()),
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
