//! Texts that an agent writes again as their message grows: the last one counts, as long as nothing else was said after it.
//! What stands before the last step may be cut into episodes already, and never changes.

use remembrancer_schema::UnixMillis;

use super::open_turn::TURN_TEXT_CAP;
use super::{OpenTurn, Rewritable};
use crate::ingest::redact::{redact, redact_private_after};
use crate::ingest::turn::short_hash;
use crate::ingest::{narration, text};

impl OpenTurn {
    /// Adds a message's text, without its announcements, or puts it in the place of that message's text before, unless that
    /// can't change any more.
    pub(crate) fn say_latest(&mut self, id: &str, at: UnixMillis, raw: &str) {
        let id = short_hash(id);
        let known = self.rewritable.get(&id).copied();
        // Written again, it begins where it began before.
        let private = known.map_or(self.private, |rewritable| rewritable.private);
        let (raw, open) = redact_private_after(raw, private);
        let cleaned = text::clean(&raw);
        let redacted = redact(&cleaned);
        let said = narration::strip(&redacted);
        let order = known.map_or(self.said + 1, |rewritable| rewritable.order);
        // What was said after it, even if nothing of that was kept, says what is private now.
        if order >= self.said {
            (self.said, self.private) = (order, open);
        }
        if let Some(step) = known.and_then(|rewritable| rewritable.step) {
            return self.rewrite(step, said.trim());
        }
        let next = self.turn.steps.len();
        self.keep_text(at, &said);
        let step = (self.turn.steps.len() > next).then_some(next);
        self.rewritable.insert(id, Rewritable { step, private, order });
    }

    fn rewrite(&mut self, step: usize, said: &str) {
        let Some((last, before)) = self.turn.steps.split_last_mut() else {
            return;
        };
        if step < before.len() {
            return;
        }
        let others = self.text_bytes - last.text.len();
        let said = text::head(said, TURN_TEXT_CAP - others);
        if said != last.text {
            said.clone_into(&mut last.text);
            self.text_bytes = others + said.len();
            self.dirty = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::ingest::conversation::Conversation;
    use crate::ingest::{Agent, GrowingTurn, ResumePoint, episodes};

    #[rstest]
    #[case::grows(&[("1", "It rounds"), ("1", "It rounds in the basket.")], "It rounds in the basket.")]
    #[case::last(
        &[("1", "It rounds."), ("2", "Twice"), ("2", "Twice, and again at checkout.")],
        "It rounds.\n\nTwice, and again at checkout."
    )]
    #[case::earlier(
        &[("1", "It rounds in the basket."), ("2", "And again at checkout."), ("1", "It rounds in the basket and the till.")],
        "It rounds in the basket.\n\nAnd again at checkout."
    )]
    fn only_the_last_text_is_written_again(#[case] said: &[(&str, &str)], #[case] answer: &str) {
        let info = Agent::CLAUDE_CODE.source("/t/s.jsonl".as_ref(), UnixMillis(0), &|_| None);
        let mut conversation = Conversation::new(&info, ResumePoint::default());
        conversation.prompt("p", "why does it round twice?");
        let (turns, _) = conversation.assembler().take();
        let mut turn = turns[0].clone();
        let mut growing = GrowingTurn::new(&turn);
        for (id, text) in said {
            conversation.say_latest(id, text);
            turn = conversation.assembler().take().0.pop().unwrap_or(turn);
            let expected = episodes(&turn);
            assert_eq!(expected.len(), 1);
            assert_eq!(growing.episodes(&turn), expected);
        }
        assert_eq!(turn.answer(), answer);
    }

    #[rstest]
    #[case::nothing_was_kept_of_it(&[("1", "Let me check the configuration."), ("2", "<private>SECRET"), ("1", "It rounds.")])]
    #[case::nothing_was_kept_of_the_later(&[("1", "It rounds."), ("2", "<private>"), ("1", "It rounds twice."), ("1", "It rounds.")])]
    fn tc_41_a_text_that_is_written_again_closes_no_span_that_was_opened_after_it(#[case] said: &[(&str, &str)]) {
        let info = Agent::CLAUDE_CODE.source("/t/s.jsonl".as_ref(), UnixMillis(0), &|_| None);
        let mut conversation = Conversation::new(&info, ResumePoint::default());
        conversation.prompt("p", "why does it round twice?");
        for (id, text) in said {
            conversation.say_latest(id, text);
        }
        conversation.say_latest("3", "SECRET</private> At the till.");
        let answer = conversation.assembler().take().0.pop().expect("is open").answer();
        assert!(!answer.contains("SECRET") && answer.contains("It rounds."), "{answer}");
        assert!(answer.ends_with("At the till."), "{answer}");
    }
}
