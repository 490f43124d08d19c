//! Texts that an agent writes again as their message grows: the last one counts, where the first stood.

use remembrancer_schema::UnixMillis;

use super::{OpenTurn, TURN_TEXT_CAP};
use crate::ingest::turn::short_hash;
use crate::ingest::{narration, redact::redact, text};

impl OpenTurn {
    /// Adds a message's text, without its announcements, or puts it in the place of that message's text before.
    pub(crate) fn say_latest(&mut self, id: &str, at: UnixMillis, raw: &str) {
        let id = short_hash(id);
        let cleaned = text::clean(raw);
        let redacted = redact(&cleaned);
        let said = narration::strip(&redacted);
        if let Some(step) = self.rewritable.get(&id) {
            return self.rewrite(*step, said.trim());
        }
        let step = self.turn.steps.len();
        self.keep_text(at, &said);
        if self.turn.steps.len() > step {
            self.rewritable.insert(id, step);
        }
    }

    fn rewrite(&mut self, step: usize, said: &str) {
        let Some(step) = self.turn.steps.get_mut(step) else { return };
        let others = self.text_bytes - step.text.len();
        let said = text::head(said, TURN_TEXT_CAP - others);
        if said != step.text {
            said.clone_into(&mut step.text);
            self.text_bytes = others + said.len();
            self.dirty = true;
        }
    }
}
