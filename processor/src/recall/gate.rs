//! The topic gate: whether a prompt is worth recalling for.
//!
//! A good answer is often "nothing". Each gate that closes is named, so that `why` can say so.

use std::fmt;

use super::chatter::is_chatter;
use super::query::Query;

/// Why nothing was shown for a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Silence {
    /// The prompt holds no text.
    EmptyPrompt,
    /// The prompt is nothing but a slash command.
    SlashCommand,
    /// The prompt only goes on ("yes", "continue"): it asks for nothing that could be remembered.
    Chatter,
    /// The prompt stays on the topic that the previous prompt of this session was answered on.
    SameTopic,
    /// The store holds nothing that any leg finds.
    NothingFound,
    /// All that was found is in this session's context already, or was shown in it before.
    AlreadyInContext,
    /// Candidates were found, and none is relevant enough.
    NothingRelevant,
    /// Time ran out before an answer was ready.
    OutOfTime,
    /// The store could not be read.
    StoreFailed,
}

impl Silence {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::EmptyPrompt,
        Self::SlashCommand,
        Self::Chatter,
        Self::SameTopic,
        Self::NothingFound,
        Self::AlreadyInContext,
        Self::NothingRelevant,
        Self::OutOfTime,
        Self::StoreFailed,
    ];

    /// The reason's name on the wire, in `why` and in `status`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::EmptyPrompt => "empty-prompt",
            Self::SlashCommand => "slash-command",
            Self::Chatter => "chatter",
            Self::SameTopic => "same-topic",
            Self::NothingFound => "nothing-found",
            Self::AlreadyInContext => "already-in-context",
            Self::NothingRelevant => "nothing-relevant",
            Self::OutOfTime => "out-of-time",
            Self::StoreFailed => "store-failed",
        }
    }
}

impl fmt::Display for Silence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The cosine with the previous prompt above which a prompt stays on its topic (the seed's system: 0.85).
pub const SAME_TOPIC_COSINE: f32 = 0.85;

/// Decides from the text alone whether there is anything to recall for.
pub(super) fn before_search(query: &Query) -> Option<Silence> {
    if query.bare_command {
        return Some(Silence::SlashCommand);
    }
    if query.text.is_empty() {
        return Some(Silence::EmptyPrompt);
    }
    if is_chatter(&query.text) {
        return Some(Silence::Chatter);
    }
    None
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::ok("ok", Some(Silence::Chatter))]
    #[case::continues("continue", Some(Silence::Chatter))]
    #[case::y("y", Some(Silence::Chatter))]
    #[case::yes_please("Yes, please go ahead!", Some(Silence::Chatter))]
    #[case::looks_good("looks good, thanks", Some(Silence::Chatter))]
    #[case::choice("2", Some(Silence::Chatter))]
    #[case::chinese("继续", Some(Silence::Chatter))]
    #[case::thumb("👍", Some(Silence::Chatter))]
    #[case::command("/compact", Some(Silence::SlashCommand))]
    #[case::empty("  \n", Some(Silence::EmptyPrompt))]
    #[case::question("why does the linker complain", None)]
    #[case::short_term("db", None)]
    #[case::cjk("调试", None)]
    fn tc_25_prompts_that_ask_nothing(#[case] prompt: &str, #[case] expected: Option<Silence>) {
        assert_eq!(before_search(&Query::of(prompt)), expected);
    }
}
