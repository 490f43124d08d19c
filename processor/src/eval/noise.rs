//! Prompts that a store of everyday talk has no answer to: chatter, coding questions about other people's code, and questions
//! about people whom nobody in the store knows.
//!
//! Written for this purpose, and for no profile. Thresholds are tuned on one half and judged on the other alone.

/// One prompt a line; `\n` within a line is a line end of the prompt.
const CHATTER: &str = include_str!("prompts/chatter.txt");
const CODING: &str = include_str!("prompts/coding.txt");
const PERSONAL: &str = include_str!("prompts/personal.txt");

/// A prompt for which nothing should be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoisePrompt {
    /// What the user types.
    pub text: String,
    /// What sort of prompt it is.
    pub kind: NoiseKind,
    /// What it may be used for.
    pub half: Half,
}

/// What sort of prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NoiseKind {
    /// Assent, thanks, greetings, "run the tests again".
    Chatter,
    /// A programmer's question that has nothing to do with the store.
    Coding,
    /// A question about people of whom the store holds nothing.
    Personal,
}

/// What a prompt may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Half {
    /// To choose thresholds and weights.
    Tune,
    /// To say how good they are, and for nothing else.
    Judge,
}

/// All prompts: the first, third, fifth … of each kind to tune with, the others to judge by.
pub fn prompts() -> Vec<NoisePrompt> {
    [
        (NoiseKind::Chatter, CHATTER),
        (NoiseKind::Coding, CODING),
        (NoiseKind::Personal, PERSONAL),
    ]
    .into_iter()
    .flat_map(|(kind, lines)| {
        let halves = [Half::Tune, Half::Judge].into_iter().cycle();
        lines.lines().zip(halves).map(move |(line, half)| NoisePrompt {
            text: line.replace("\\n", "\n").replace("\\t", "\t"),
            kind,
            half,
        })
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn both_halves_of_every_kind_have_enough_to_judge_by() {
        let prompts = prompts();
        for kind in [NoiseKind::Chatter, NoiseKind::Coding, NoiseKind::Personal] {
            for half in [Half::Tune, Half::Judge] {
                let found = prompts
                    .iter()
                    .filter(|prompt| (prompt.kind, prompt.half) == (kind, half))
                    .count();
                assert!(found >= 60, "{found} of {kind:?}, {half:?}");
            }
        }
    }

    #[test]
    fn every_prompt_is_there_once() {
        let prompts = prompts();
        let distinct: HashSet<String> = prompts.iter().map(|prompt| prompt.text.to_lowercase()).collect();
        assert_eq!(distinct.len(), prompts.len());
        assert!(
            prompts
                .iter()
                .all(|prompt| prompt.text.trim() == prompt.text && !prompt.text.is_empty())
        );
    }

    #[test]
    fn a_prompt_of_several_lines_has_them() {
        assert!(prompts().iter().any(|prompt| prompt.text.lines().count() > 3));
    }
}
