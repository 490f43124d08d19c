//! What a record says of the turn it belongs to, besides its text.

use remembrancer_schema::UnixMillis;

use super::Replay;
use super::folder::kept_folder;
use crate::ingest::ResumePoint;
use crate::ingest::redact::redact;
use crate::ingest::turn::Turn;

/// The record that something comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    /// The record's id, or empty.
    pub(crate) id: &'a str,
    /// Its timestamp as written, or empty.
    pub(crate) written: &'a str,
    /// Its time, or that of the record before it.
    pub(crate) at: UnixMillis,
    /// Its session id.
    pub(crate) session: &'a str,
    /// Its working folder.
    pub(crate) cwd: Option<&'a str>,
    /// Its branch.
    pub(crate) git_branch: Option<&'a str>,
    /// Where it begins; the turn is not filled in.
    pub(crate) start: ResumePoint,
    /// From where its turn must be read again, if not from where it begins.
    pub(crate) replay: Option<&'a Replay>,
}

impl Place<'_> {
    /// Gives a turn what it still lacks; says whether there was something.
    pub(super) fn fill_in(&self, turn: &mut Turn) -> bool {
        let mut filled = false;
        if turn.cwd.is_none() {
            turn.cwd = self.cwd.and_then(kept_folder);
            filled |= turn.cwd.is_some();
        }
        if turn.git_branch.is_none() {
            turn.git_branch = self
                .git_branch
                .filter(|branch| !branch.is_empty())
                .map(|branch| redact(branch).into_owned());
            filled |= turn.git_branch.is_some();
        }
        filled
    }
}
