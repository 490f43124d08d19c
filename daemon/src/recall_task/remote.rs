//! Whether a prompt has the shared store searched: where the settings want that, and it is asked in a project that may be shared, since its
//! words leave the machine.

use std::sync::Arc;

use remembrancer_schema::{ProjectId, Reader};

use super::{FOLDER_PATIENCE, Search};
use crate::causes::with_causes;
use crate::project::UNKNOWN;
use crate::share::AtTheDesk;

impl Search {
    /// The prompt's place at the desk, where it may ask. What keeps that from being known keeps it from asking, and from nothing else.
    pub(super) fn at_the_desk(&self, reader: &Reader, project: Option<ProjectId>) -> Option<AtTheDesk> {
        let desk = self.recaller.remote.as_ref()?;
        if self.asked.probe.is_some() {
            return None;
        }
        let keys = match &self.cwd {
            Some(cwd) if project == Some(UNKNOWN) => {
                let patience = FOLDER_PATIENCE.min(self.deadline.remaining());
                self.recaller.folders.keys(cwd, patience)
            }
            Some(_) | None => Vec::new(),
        };
        match reader.place_to_ask(project, &keys) {
            Ok(place) => Some(AtTheDesk::new(Arc::clone(desk), place?)),
            Err(error) => {
                tracing::debug!(error = %with_causes(&error), "a prompt does not ask the shared store");
                None
            }
        }
    }
}
