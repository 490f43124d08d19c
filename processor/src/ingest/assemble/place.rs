//! What a record says of the turn it belongs to, besides its text.

use remembrancer_schema::UnixMillis;

use super::Replay;
use crate::ingest::ResumePoint;
use crate::ingest::redact::redact;
use crate::ingest::turn::Turn;

/// Longest path of a folder, in bytes: `PATH_MAX` of Linux.
const LONGEST_FOLDER: usize = 4_096;

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

/// A folder as it is kept, if it is one. As it stands: it names the project.
pub(crate) fn kept_folder(told: &str) -> Option<String> {
    Some(told).filter(|told| is_folder(told)).map(str::to_owned)
}

/// Whether a text can be the whole path of a folder, on whatever system: anything else would be stored as one, unredacted.
fn is_folder(text: &str) -> bool {
    let has_drive = matches!(text.as_bytes(), [drive, b':', b'/' | b'\\', ..] if drive.is_ascii_alphabetic());
    let is_whole = has_drive || text.starts_with('/') || text.starts_with("\\\\");
    is_whole && text.len() <= LONGEST_FOLDER && !text.contains(char::is_control)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::ingest::Agent;
    use crate::ingest::conversation::Conversation;

    #[rstest]
    #[case::unix("/home/ada/shop", true)]
    #[case::windows("C:\\code\\shop", true)]
    #[case::share("\\\\server\\shop", true)]
    #[case::longest(&format!("/{}", "x".repeat(LONGEST_FOLDER - 1)), true)]
    #[case::too_long(&format!("/{}", "x".repeat(LONGEST_FOLDER)), false)]
    #[case::relative("shop", false)]
    #[case::on_a_drive("C:shop", false)]
    #[case::note("a: my password is", false)]
    #[case::prose("/home/ada\nmy password is", false)]
    #[case::tilde("~/shop", false)]
    fn tc_44_only_a_whole_path_is_a_working_folder(#[case] told: &str, #[case] is_kept: bool) {
        let info = Agent::CLAUDE_CODE.source("/t/s.jsonl".as_ref(), UnixMillis(0), &|_| None);
        let mut conversation = Conversation::new(&info, ResumePoint::default());
        conversation.cwd(told);
        conversation.prompt("p", "why does it round twice?");
        let (turns, _) = conversation.assembler().take();
        assert_eq!(turns[0].cwd.as_deref(), is_kept.then_some(told));
    }
}
