//! How the page of `serve` asks: the daemon over its socket where one runs, as each command does, and else the store itself, by the same
//! acts. What is searched for without a daemon is searched for by words alone, since no model is loaded for a page.

use std::path::Path;

use remembrancer_hooks::protocol::Request;
use remembrancer_schema::OpenError;
use serde_json::Value;

use crate::cli::error::{CliError, Kind};
use crate::cli::surroundings::Surroundings;
use crate::cli::{acts, ask};
use crate::page::{Answered, Asks, Failure, FailureKind, Look};

/// A process that serves the page and is no daemon.
pub(super) struct Asking {
    surroundings: Surroundings,
}

impl Asking {
    /// For the memory of these surroundings.
    pub(super) fn new(surroundings: Surroundings) -> Self {
        Self { surroundings }
    }

    /// A request with folders as transcripts have them, where whole ones are named.
    fn as_in_transcripts(&self, mut request: Request) -> Result<Request, CliError> {
        let named = match &mut request {
            Request::Remember { project, .. } => project,
            Request::Search(search) => &mut search.narrowing.project,
            Request::Timeline(timeline) => &mut timeline.narrowing.project,
            Request::Sessions(sessions) => &mut sessions.narrowing.project,
            Request::Explain(explain) => &mut explain.cwd,
            _ => return Ok(request),
        };
        if let Some(folder) = named.as_mut().filter(|folder| folder.starts_with(['/', '~'])) {
            *folder = self.surroundings.as_in_transcripts(Path::new(folder.as_str()))?;
        }
        Ok(request)
    }
}

impl Asks for Asking {
    fn ask(&self, request: Request) -> Result<Answered, Failure> {
        let request = self.as_in_transcripts(request)?;
        if let Some(value) = ask::data(&self.surroundings, &request)? {
            return Ok(Answered { value, has_daemon: true });
        }
        let value = acts::here(&self.surroundings, &request)?;
        Ok(Answered {
            value,
            has_daemon: false,
        })
    }

    fn would_remember(&self, text: &str, project: Option<&str>) -> Result<Value, Failure> {
        let folder = |folder: &str| self.surroundings.as_in_transcripts(Path::new(folder));
        let folder = project.map(folder).transpose()?;
        Ok(acts::would_remember(&self.surroundings, text, folder.as_deref())?)
    }

    fn look(&self, look: &Look) -> Result<Value, Failure> {
        // Half of a view from the daemon's memory and half from another would be neither.
        ask::daemon_of_this_memory(&self.surroundings)?;
        let reader = remembrancer_schema::Reader::open(&self.surroundings.places.database_file());
        Ok(look.at(&reader.map_err(|error| unreadable(&error))?)?)
    }
}

fn unreadable(error: &OpenError) -> Failure {
    Failure::new(FailureKind::Store, crate::causes::with_causes(error)).with_hint(
        "`remembrancer run` makes a memory where there is none, and mends one; `remembrancer doctor` says what is wrong",
    )
}

impl From<CliError> for Failure {
    fn from(error: CliError) -> Self {
        let kind = match error.kind() {
            Kind::NotFound => FailureKind::Refused,
            Kind::Usage => FailureKind::Senseless,
            Kind::Daemon => FailureKind::Unavailable,
            Kind::Store => FailureKind::Store,
            Kind::Failed => FailureKind::Failed,
        };
        let hint = error.hint().or(match kind {
            FailureKind::Store => {
                Some("`remembrancer run` makes a memory where there is none; `remembrancer doctor` says what is wrong")
            }
            FailureKind::Unavailable => Some("try again in a moment; `remembrancer status` tells how the daemon is"),
            _ => None,
        });
        let failure = Self::new(kind, error.message());
        match hint {
            Some(hint) => failure.with_hint(hint),
            None => failure,
        }
    }
}
