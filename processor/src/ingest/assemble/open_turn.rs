//! What is noted of a turn while it is open: what the agent says, what it touches, and whether commands fail.

use remembrancer_schema::{Facets, UnixMillis};

use super::OpenTurn;
use crate::ingest::redact::redact;
use crate::ingest::turn::{Step, short_hash};
use crate::ingest::{narration, text};

/// Bytes of the agent's text that are kept of one turn while it is read; an episode keeps less.
pub(super) const TURN_TEXT_CAP: usize = 128 * 1024;
/// Entries of one kind of facet that one step keeps.
const STEP_FACET_CAP: usize = 64;

impl OpenTurn {
    /// Notes a record; false if this turn had it already.
    pub(crate) fn is_new(&mut self, id: &str) -> bool {
        id.is_empty() || self.seen.insert(short_hash(id))
    }

    /// Adds a text of the agent, without its announcements.
    pub(crate) fn say(&mut self, at: UnixMillis, raw: &str) {
        if self.text_bytes < TURN_TEXT_CAP {
            let cleaned = text::clean(raw);
            let redacted = redact(&cleaned);
            self.keep_text(at, &narration::strip(&redacted));
        }
    }

    /// Adds a text whole.
    pub(crate) fn add_text(&mut self, at: UnixMillis, text: &str) {
        if self.text_bytes < TURN_TEXT_CAP {
            self.keep_text(at, &redact(text));
        }
    }

    /// Keeps a redacted text as far as there is room.
    pub(super) fn keep_text(&mut self, at: UnixMillis, redacted: &str) {
        let text = text::head(redacted.trim(), TURN_TEXT_CAP - self.text_bytes);
        if text.is_empty() {
            return;
        }
        self.text_bytes += text.len();
        self.turn.carried_summary = None;
        self.turn.steps.push(Step {
            at,
            text: text.to_owned(),
            facets: Facets::default(),
        });
        self.dirty = true;
    }

    /// Notes that a commit was made.
    pub(crate) fn note_commit(&mut self) {
        self.dirty |= !self.turn.committed;
        self.turn.committed = true;
    }

    /// Notes that a command failed.
    pub(crate) fn note_failure(&mut self, command: &str) {
        self.failing.retain(|(other, _)| other != command);
        self.failing.push((command.to_owned(), false));
    }

    /// Notes that something was changed.
    pub(crate) fn note_change(&mut self) {
        self.failing.iter_mut().for_each(|(_, changed)| *changed = true);
    }

    /// Notes that a command succeeded: the error is fixed if the same command failed before a change.
    pub(crate) fn note_success(&mut self, command: &str) {
        let fixed = self.failing.iter().any(|(other, changed)| *changed && other == command);
        self.dirty |= fixed && !self.turn.error_fixed;
        self.turn.error_fixed |= fixed;
    }

    /// Adds to what was touched since the last text.
    pub(crate) fn touch(&mut self, at: UnixMillis, add: impl FnOnce(&mut Facets)) {
        if self.turn.steps.is_empty() {
            self.turn.steps.push(Step {
                at,
                text: String::new(),
                facets: Facets::default(),
            });
        }
        if let Some(step) = self.turn.steps.last_mut() {
            add(&mut step.facets);
            let Facets {
                files,
                commands,
                errors,
                tools,
            } = &mut step.facets;
            for list in [files, commands, errors, tools] {
                list.truncate(STEP_FACET_CAP);
            }
        }
        self.dirty = true;
    }
}
