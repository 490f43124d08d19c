//! Sessions that guarded hooks could leave word of with no daemon. The file of the notes comes in; the sessions are kept out, and what was
//! stored of them is deleted. A note goes only once the store has it: whatever fails is done by the next start.

use std::path::Path;

use remembrancer_hooks::guarded::{self, GuardedSession, Word};
use remembrancer_schema::{SessionKey, Writer};

use crate::causes::with_causes;
use crate::control;

/// Between two looks nobody notes so much more that these do not end it.
const LOOKS: usize = 4;

/// What came of the notes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Heard {
    /// Episodes that were stored of these sessions and are gone.
    pub(crate) erased: u64,
    /// How much of it failed, and is logged.
    pub(crate) failed: u64,
}

/// Keeps out what is noted in `file`. To be called before transcripts are read.
pub(crate) fn keep_out(writer: &mut Writer, file: &Path) -> Heard {
    let mut heard = Heard::default();
    for _ in 0..LOOKS {
        match keep_out_noted(writer, file, &mut heard) {
            Ok(true) => break,
            Ok(false) => {}
            Err(error) => {
                heard.failed += 1;
                tracing::warn!(file = %file.display(), error = %with_causes(&error), "word of guarded sessions can't be read or removed");
                break;
            }
        }
        if heard.failed > 0 {
            break;
        }
    }
    heard
}

/// Gives whether nothing is left to do.
fn keep_out_noted(writer: &mut Writer, file: &Path, heard: &mut Heard) -> std::io::Result<bool> {
    let word = guarded::read(file)?;
    if word == Word::default() {
        return Ok(true);
    }
    if word.is_full {
        heard.failed += 1;
        tracing::warn!(file = %file.display(), "no more guarded sessions could be noted while no daemon ran: of later ones there is no word");
    }
    let before = heard.failed;
    for session in &word.sessions {
        let key = SessionKey {
            agent: session.agent.clone(),
            external_id: session.session.clone(),
        };
        match control::exclude_session(writer, &key) {
            Ok((_, erased)) => heard.erased += erased,
            Err(error) => {
                heard.failed += 1;
                tracing::warn!(agent = session.agent, error = %with_causes(&error), "a guarded session could not be kept out; the next start tries again");
            }
        }
    }
    if heard.failed > before {
        return Ok(false);
    }
    guarded::heard(file, &word)
}

/// Notes a session that could not be kept out now, for the next start.
pub(crate) fn note(file: &Path, session: &SessionKey) {
    let guarded = GuardedSession {
        agent: session.agent.clone(),
        session: session.external_id.clone(),
    };
    if let Err(error) = guarded::leave(file, &guarded) {
        tracing::warn!(file = %file.display(), %error, "it could not be noted for the next start either");
    }
}

#[cfg(test)]
mod tests {
    use remembrancer_schema::{ForgetTarget, Reader};

    use super::*;
    use crate::sample_rows::{batch, turn};

    #[test]
    fn a_session_that_was_noted_is_kept_out_and_what_was_stored_of_it_goes() {
        let folder = tempfile::tempdir().unwrap();
        let (database, file) = (folder.path().join("memory.db"), folder.path().join("guarded-sessions"));
        let mut writer = Writer::open(&database).unwrap();
        assert_eq!(keep_out(&mut writer, &file), Heard::default());
        let stored = turn(1, "/srv/shop");
        let session = stored.session.clone();
        writer.ingest(&batch(vec![stored])).unwrap();
        note(&file, &session);
        assert!(file.exists());
        assert_eq!(keep_out(&mut writer, &file), Heard { erased: 1, failed: 0 });
        assert!(!file.exists(), "it is done once");
        let again = writer.ingest(&batch(vec![turn(2, "/srv/shop")])).unwrap();
        assert_eq!((again.added, again.excluded), (0, 1));
        let reader = Reader::open(&database).unwrap();
        assert_eq!(reader.turns_of(&ForgetTarget::All).unwrap().len(), 0);
    }

    #[test]
    fn what_an_earlier_try_only_hid_is_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let (database, file) = (folder.path().join("memory.db"), folder.path().join("guarded-sessions"));
        let mut writer = Writer::open(&database).unwrap();
        let stored = turn(1, "/srv/shop");
        let session = stored.session.clone();
        writer.ingest(&batch(vec![stored])).unwrap();
        // It ended between the two.
        assert_eq!(writer.exclude_session(&session).unwrap(), 1);
        note(&file, &session);
        assert_eq!(keep_out(&mut writer, &file), Heard { erased: 1, failed: 0 });
        let reader = Reader::open(&database).unwrap();
        assert_eq!(reader.turns_of(&ForgetTarget::All).unwrap().len(), 0);
    }

    #[test]
    fn what_cant_be_read_is_counted_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (database, file) = (folder.path().join("memory.db"), folder.path().join("guarded-sessions"));
        let mut writer = Writer::open(&database).unwrap();
        fs_err::create_dir(&file).unwrap();
        assert_eq!(keep_out(&mut writer, &file), Heard { erased: 0, failed: 1 });
        assert!(file.exists());
    }
}
