//! Which text stands for an episode: the prompt leads, capped so that the answer is seen, too.

use std::borrow::Cow;

/// Bytes of the prompt that lead a first part: about 130 of the model's [`super::PASSAGE_TOKENS`] tokens (English text
/// has 4 to 5 bytes a token, code about 3), so that half of the window is left for the answer.
const PROMPT_BYTES: usize = 480;

/// Bytes of the prompt that lead a later part: enough to name the topic, as the part's own text is the point.
const LATER_PROMPT_BYTES: usize = 160;

/// What prompt and answer share: a prompt may go over its own cap where a short answer leaves room.
const PASSAGE_BYTES: usize = 1_000;

/// Bytes of the answer kept: more than the window ever holds; bounds the tokenizer's work.
const ANSWER_BYTES: usize = 4_096;

/// The text of an episode that is embedded: the head and tail of its prompt, an empty line, its answer.
///
/// `part` is the episode's place in its turn, from 0; later parts are led by less of the prompt.
pub fn passage(prompt: &str, answer: &str, part: u32) -> String {
    let (prompt, answer) = (prompt.trim(), answer.trim());
    let own = if part == 0 { PROMPT_BYTES } else { LATER_PROMPT_BYTES };
    let left = PASSAGE_BYTES.saturating_sub(answer.len());
    let lead = head_and_tail(prompt, own.max(left));
    let body = &answer[..answer.floor_char_boundary(ANSWER_BYTES)];
    match (lead.is_empty(), body.is_empty()) {
        (_, true) => lead.into_owned(),
        (true, false) => body.to_owned(),
        (false, false) => format!("{lead}\n\n{body}"),
    }
}

/// Two thirds of `bytes` from the start and one third from the end, cut between words where one is near: a long prompt
/// often ends in its question, after what was pasted.
fn head_and_tail(text: &str, bytes: usize) -> Cow<'_, str> {
    if text.len() <= bytes {
        return Cow::Borrowed(text);
    }
    let head = &text[..text.floor_char_boundary(bytes * 2 / 3)];
    let tail = &text[text.ceil_char_boundary(text.len() - bytes / 3)..];
    let head = match head.rfind(char::is_whitespace) {
        Some(end) if end > head.len() / 2 => &head[..end],
        _ => head,
    };
    let tail = match tail.find(char::is_whitespace) {
        Some(start) if start < tail.len() / 2 => &tail[start..],
        _ => tail,
    };
    Cow::Owned(format!("{} … {}", head.trim_end(), tail.trim_start()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::both("Why does it hang?", "A lock is held.", "Why does it hang?\n\nA lock is held.")]
    #[case::no_answer(" Why? ", "  ", "Why?")]
    #[case::no_prompt("", "A lock is held.", "A lock is held.")]
    #[case::nothing("", "", "")]
    fn joins(#[case] prompt: &str, #[case] answer: &str, #[case] expected: &str) {
        assert_eq!(passage(prompt, answer, 0), expected);
    }

    #[test]
    fn a_long_prompt_leaves_room_and_keeps_its_end() {
        let prompt = format!("first {} last?", "middle ".repeat(2_000));
        let text = passage(&prompt, &"answer ".repeat(200), 0);
        let (lead, body) = text.split_once("\n\n").unwrap();
        assert!(lead.len() <= PROMPT_BYTES + " … ".len(), "{}", lead.len());
        assert!(lead.starts_with("first middle") && lead.ends_with("last?"));
        assert!(body.starts_with("answer"));
    }

    #[test]
    fn later_parts_are_led_by_less() {
        let prompt = "word ".repeat(400);
        let answer = "answer ".repeat(200);
        assert!(passage(&prompt, &answer, 1).len() < passage(&prompt, &answer, 0).len());
    }

    #[test]
    fn a_short_answer_leaves_its_room_to_the_prompt() {
        let prompt = "word ".repeat(150);
        assert!(passage(&prompt, "Done.", 0).starts_with(prompt.trim()));
    }

    proptest! {
        #[test]
        fn any_text_is_bounded(prompt in "\\PC{0,3000}", answer in "\\PC{0,9000}", part in 0u32..3) {
            let text = passage(&prompt, &answer, part);
            prop_assert!(text.len() <= PASSAGE_BYTES + ANSWER_BYTES + 16);
        }
    }
}
