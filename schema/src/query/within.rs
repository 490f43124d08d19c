//! Which episodes a search may find, as a set: so that what is out of scope takes no place before a cut.
//! In goes a filter, out comes a set of ids. Answered by the indexes of migration 0018 alone (ADR 44 has what that costs).

use rusqlite::named_params;

use super::Reader;
use super::timeline::{ids, of_agent};
use crate::error::QueryError;
use crate::ids::EpisodeId;
use crate::postings::EpisodeSet;
use crate::rows::EpisodeFilter;

macro_rules! within {
    ($project:literal) => {
        concat!(
            "SELECT id FROM episodes WHERE ",
            $project,
            "created_at >= :since AND created_at < :until AND ",
            of_agent!()
        )
    };
}

pub(super) const WITHIN: &str = within!("");
pub(super) const WITHIN_PROJECT: &str = within!("project_id = :project AND ");

/// Episodes that a search may find.
#[derive(Debug, Default)]
pub struct EpisodeIds(EpisodeSet);

impl EpisodeIds {
    /// Whether an episode is among them.
    pub fn contains(&self, id: EpisodeId) -> bool {
        u32::try_from(id.0).is_ok_and(|id| self.0.holds(id))
    }

    pub(super) fn set(&self) -> &EpisodeSet {
        &self.0
    }
}

impl Reader {
    /// The episodes that a filter takes, hidden ones too.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn episodes_within(&self, filter: &EpisodeFilter) -> Result<EpisodeIds, QueryError> {
        self.run("read which episodes are in scope", |db| {
            let found = match filter.project {
                None => ids(
                    db,
                    WITHIN,
                    named_params! {":since": filter.first(), ":until": filter.end(), ":agent": filter.agent},
                ),
                Some(project) => ids(
                    db,
                    WITHIN_PROJECT,
                    named_params! {":since": filter.first(), ":until": filter.end(), ":agent": filter.agent, ":project": project},
                ),
            }?;
            // A row id beyond four bytes is in no set, as it is in no postings that are read here.
            Ok(EpisodeIds(EpisodeSet::of_ids(
                found.iter().filter_map(|id| u32::try_from(id.0).ok()),
            )))
        })
    }
}
