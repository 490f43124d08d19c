//! What is noted of a turn while it is open: what the agent says, what it touches, and whether commands fail.

use remembrancer_schema::{Facets, UnixMillis};

use super::OpenTurn;
use crate::ingest::redact::{redact, redact_private_after};
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

    /// Adds a text of the agent, without its announcements. What it leaves open as private stays so in what the agent says next, until
    /// it is closed or the turn ends: a message comes in blocks, and may be written a piece at a time.
    pub(crate) fn say(&mut self, at: UnixMillis, raw: &str) {
        if self.text_bytes < TURN_TEXT_CAP {
            let (raw, open) = redact_private_after(raw, self.private);
            self.private = open;
            self.said += 1;
            let cleaned = text::clean(&raw);
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

#[cfg(test)]
mod tests {
    use remembrancer_schema::UnixMillis;
    use rstest::rstest;
    use serde_json::{Value, json};

    use crate::ingest::conversation::Conversation;
    use crate::ingest::{Agent, ResumePoint, SourceReader, episodes};

    fn record(number: u32, kind: &str, message: &Value) -> String {
        let record = json!({
            "type": kind, "uuid": format!("u{number}"), "sessionId": "s", "timestamp": format!("2026-08-01T10:00:0{number}Z"),
            "message": message,
        });
        format!("{record}\n")
    }

    fn said(number: u32, id: &str, texts: &[&str]) -> String {
        let blocks: Vec<Value> = texts.iter().map(|text| json!({"type": "text", "text": text})).collect();
        record(
            number,
            "assistant",
            &json!({"id": id, "role": "assistant", "content": blocks}),
        )
    }

    /// What is remembered of a transcript: read whole, and line by line with a new reader at each that begins where it must.
    fn remembered(lines: &[String]) -> String {
        let info = Agent::CLAUDE_CODE.source("/t/s.jsonl".as_ref(), UnixMillis(0), &|_| None);
        let whole = lines.concat();
        let mut reader = SourceReader::new(&info, ResumePoint::default());
        reader.push(whole.as_bytes());
        let turns = reader.drain().turns;
        let all: Vec<String> = turns
            .iter()
            .flat_map(episodes)
            .map(|episode| format!("{}|{}", episode.prompt, episode.answer))
            .collect();
        let mut from = ResumePoint::default();
        for end in 1..=lines.len() {
            let read = lines[..end].concat();
            let mut reader = SourceReader::new(&info, from);
            reader.push(&read.as_bytes()[from.offset.0 as usize..]);
            let advance = reader.drain();
            for turn in &advance.turns {
                for episode in episodes(turn) {
                    let told = format!("{}|{}", episode.prompt, episode.answer);
                    assert!(!told.contains("SECRET"), "after line {end}: {told}");
                }
            }
            from = advance.committed;
        }
        all.join("\n")
    }

    const QUESTION: &str = "why does the importer round twice?";

    #[rstest]
    #[case::blocks_of_one_record(vec![said(2, "m", &["It rounds <private>SECRET", "SECRET</private> in the basket."])])]
    #[case::blocks_with_more_between(vec![said(2, "m", &["It rounds <private>SECRET", "SECRET", "</private> in the basket."])])]
    #[case::records_of_one_message(vec![
        said(2, "m", &["It rounds <private>SECRET"]),
        said(3, "m", &["SECRET SECRET"]),
        said(4, "m", &["SECRET</private> in the basket."]),
    ])]
    #[case::records_of_two_messages(vec![
        said(2, "m", &["It rounds <private>SECRET"]),
        said(3, "n", &["SECRET</private> in the basket."]),
    ])]
    fn tc_41_a_private_span_of_the_agent_goes_on_until_it_is_closed(#[case] answers: Vec<String>) {
        let mut lines = vec![record(1, "user", &json!({"role": "user", "content": QUESTION}))];
        lines.extend(answers);
        assert_eq!(
            remembered(&lines),
            format!("{QUESTION}|It rounds [redacted:private]\n\nin the basket.")
        );
    }

    #[test]
    fn tc_41_what_the_agent_never_closes_is_private_to_the_end_of_the_turn() {
        let lines = [
            record(1, "user", &json!({"role": "user", "content": QUESTION})),
            said(2, "m", &["It rounds <private>SECRET"]),
            said(3, "n", &["SECRET"]),
            record(
                4,
                "user",
                &json!({"role": "user", "content": "and where does the exporter round?"}),
            ),
            said(5, "o", &["The exporter rounds at the end."]),
        ];
        assert_eq!(
            remembered(&lines),
            format!(
                "{QUESTION}|It rounds [redacted:private]\nand where does the exporter round?|The exporter rounds at the end."
            )
        );
    }

    #[rstest]
    #[case::closed(&["why <private>SECRET", "SECRET</private> does the importer round twice?"])]
    #[case::beside_data(&[DATA.as_str(), "SECRET</private> does the importer round twice?"])]
    fn tc_41_a_private_span_of_a_prompt_goes_over_its_blocks(#[case] texts: &[&str]) {
        let blocks: Vec<Value> = texts.iter().map(|text| json!({"type": "text", "text": text})).collect();
        let lines = [
            record(1, "user", &json!({"role": "user", "content": blocks})),
            said(2, "m", &["It rounds in the basket and at the till."]),
        ];
        let all = remembered(&lines);
        assert!(
            all.starts_with("why [redacted:private]\n\ndoes the importer round twice?|"),
            "{all}"
        );
    }

    /// With so much data that it is cleaned by itself.
    static DATA: std::sync::LazyLock<String> =
        std::sync::LazyLock::new(|| format!("why <private>SECRET {}", "QUJDREVGR0hJSktM".repeat(40)));

    #[test]
    fn tc_41_a_text_that_is_written_again_begins_where_it_began() {
        let info = Agent::CLAUDE_CODE.source("/t/s.jsonl".as_ref(), UnixMillis(0), &|_| None);
        let mut conversation = Conversation::new(&info, ResumePoint::default());
        conversation.prompt("p", QUESTION);
        for (id, text) in [
            ("1", "It rounds <private>SEC"),
            ("1", "It rounds <private>SECRET SECRET"),
            ("2", "SECRET</private"),
            ("2", "SECRET</private> in the"),
            ("2", "SECRET</private> in the basket."),
        ] {
            conversation.say_latest(id, text);
            let turns = conversation.assembler().take().0;
            assert!(turns.iter().all(|turn| !turn.answer().contains("SEC")), "{turns:?}");
        }
        conversation.say_latest("3", "And at the till.");
        let turn = conversation.assembler().take().0.pop().expect("a turn");
        assert_eq!(
            turn.answer(),
            "It rounds [redacted:private]\n\nin the basket.\n\nAnd at the till."
        );
    }
}
