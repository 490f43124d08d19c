//! The notes before a block: comments, which the forge does not show, come in; what they ask for goes out.
//!
//! | note | asks |
//! | --- | --- |
//! | `not run: REASON` | to leave the block alone |
//! | `no daemon` | to stop the daemon first |
//! | `a daemon` | to start it first |
//! | `prompt in FOLDER: TEXT` | to submit a prompt first, as an agent does |
//! | `first: COMMAND` | to run a command first |
//! | `exits with N` | the last command to exit with N, the others with 0 |
//! | `may be late` | to put a command again where its answer came too late on a busy machine |

/// What is to be done before a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Before {
    NoDaemon,
    Daemon,
    Prompt { folder: String, text: String },
    Command(String),
}

/// How a block is to be run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Scene {
    /// Why it is not run, if it is not.
    pub(super) not_run: Option<String>,
    pub(super) before: Vec<Before>,
    /// What its last command exits with.
    pub(super) code: i32,
    /// Whether an answer may come too late.
    pub(super) may_be_late: bool,
}

impl Scene {
    /// What `notes` ask for.
    ///
    /// # Errors
    /// Names the note that is none.
    pub(super) fn of(notes: &[String]) -> Result<Self, String> {
        let mut scene = Self::default();
        for note in notes {
            scene.take(note).ok_or_else(|| format!("no such note: {note}"))?;
        }
        if scene.not_run.is_some() && notes.len() > 1 {
            return Err("what is not run has no other note".to_owned());
        }
        Ok(scene)
    }

    fn take(&mut self, note: &str) -> Option<()> {
        if let Some(reason) = note.strip_prefix("not run:") {
            self.not_run = Some(reason.trim().to_owned()).filter(|reason| !reason.is_empty());
            return self.not_run.is_some().then_some(());
        }
        if let Some(code) = note.strip_prefix("exits with ") {
            self.code = code.parse().ok()?;
            return Some(());
        }
        if note == "may be late" {
            self.may_be_late = true;
            return Some(());
        }
        self.before.push(match note {
            "no daemon" => Before::NoDaemon,
            "a daemon" => Before::Daemon,
            _ => match (note.strip_prefix("first: "), note.strip_prefix("prompt in ")) {
                (Some(command), _) => Before::Command(command.to_owned()),
                (None, Some(rest)) => {
                    let (folder, text) = rest.split_once(": ")?;
                    Before::Prompt {
                        folder: folder.to_owned(),
                        text: text.to_owned(),
                    }
                }
                (None, None) => return None,
            },
        });
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scene(notes: &[&str]) -> Result<Scene, String> {
        Scene::of(&notes.iter().map(|note| (*note).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn notes_say_how_a_block_is_run() {
        let found = scene(&[
            "no daemon",
            "prompt in ~/kiosk: why: so",
            "first: rm x",
            "exits with 3",
            "may be late",
        ])
        .unwrap();
        assert_eq!((found.code, found.may_be_late, found.not_run), (3, true, None));
        let prompt = Before::Prompt {
            folder: "~/kiosk".to_owned(),
            text: "why: so".to_owned(),
        };
        assert_eq!(found.before, [Before::NoDaemon, prompt, Before::Command("rm x".to_owned())]);
        assert_eq!(scene(&["not run: it builds"]).unwrap().not_run.as_deref(), Some("it builds"));
    }

    #[test]
    fn what_is_no_note_is_named() {
        for note in ["not run:", "not run", "exits with three", "prompt in ~/kiosk", "rules"] {
            assert_eq!(scene(&[note]), Err(format!("no such note: {note}")));
        }
        assert!(scene(&["not run: it builds", "first: rm x"]).is_err());
    }
}
