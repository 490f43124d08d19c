//! Prompts that should be answered by silence in a store of everyday talk: the half that nothing is tuned with.

use remembrancer_processor::eval::noise::{Half, NoiseKind, prompts};

use super::history::Question;

/// Chatter, coding prompts that have nothing to do with any conversation, and questions about people whom none names, by kind.
pub fn noise() -> [(&'static str, Vec<Question>); 3] {
    let of_kind = |name: &'static str, kind: NoiseKind| (name, questions(name, kind));
    [
        of_kind("chatter", NoiseKind::Chatter),
        of_kind("unrelated coding prompts", NoiseKind::Coding),
        of_kind("questions about people of whom nothing is stored", NoiseKind::Personal),
    ]
}

fn questions(name: &str, kind: NoiseKind) -> Vec<Question> {
    let of_it = prompts()
        .into_iter()
        .filter(|prompt| (prompt.kind, prompt.half) == (kind, Half::Judge));
    let question = |(number, text)| Question {
        id: format!("{name} {number}"),
        text,
        ..Question::default()
    };
    of_it.map(|prompt| prompt.text).enumerate().map(question).collect()
}
