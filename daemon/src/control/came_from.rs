//! Where an episode came from, as it stands now: its transcript, whether that is still there, and where in it the turn begins.
//! Looks at the file system and reads the file: never on a thread of the store.

use std::path::Path;

use remembrancer_processor::ingest::{Agent, redact_folder};
use remembrancer_schema::TurnUid;
use serde_json::{Value, json};

use crate::source_file::place_of;

/// Where an episode came from.
#[derive(Debug, Clone)]
pub(crate) struct CameFrom {
    /// The agent's id.
    pub agent: String,
    /// The transcript, as it is called; of a session in a database, the database's name and then the session's.
    pub path: Option<String>,
    /// The turn.
    pub turn: TurnUid,
}

impl CameFrom {
    /// How that stands now; null where no transcript is known.
    pub(crate) fn look(&self) -> Value {
        let Some(path) = &self.path else { return Value::Null };
        let file = Path::new(path);
        // A session in a database has no file of its own.
        let exists = file.exists() || file.parent().is_some_and(Path::is_file);
        let place = Agent::parse(&self.agent)
            .filter(|_| exists)
            .and_then(|agent| place_of(agent, file, self.turn).ok().flatten());
        json!({
            "path": redact_folder(path),
            "exists": exists,
            "line": place.map(|place| place.line),
            "offset": place.map(|place| place.offset),
        })
    }

    /// The same, where the file system gave no answer.
    pub(crate) fn unseen(&self) -> Value {
        json!({"path": self.path.as_deref().map(redact_folder), "exists": null, "line": null, "offset": null})
    }
}
