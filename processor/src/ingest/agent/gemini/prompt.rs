//! A user message of Gemini CLI, or of Qwen Code, which began as a copy of it, into a person's words: what the client says in
//! the user's place is none, and what it puts behind the prompt is taken off.

/// Beginnings of messages that are the client's.
const MACHINE_STARTS: &[&str] = &[
    "<session_context>",
    "<hook_context>",
    "<state_snapshot>",
    "<system-reminder>",
    "<task-notification>",
    "<qwen:",
    "I ran the following shell command:\n```sh",
    "System: Please continue.",
    "This is the Gemini CLI. We are setting up the context for our chat.",
    "This is the Qwen Code. We are setting up the context for our chat.",
];
/// Lines from which on a message is the client's: what files hold that the prompt names, and what hooks add.
const MACHINE_REST: &[&str] = &[
    "--- Content from referenced files ---",
    "<hook_context>",
    "<qwen:user-prompt-submit-context>",
];

/// What the person said; `None` where it is the client's.
pub(in crate::ingest::agent) fn said(text: &str) -> Option<&str> {
    let text = text.trim();
    if MACHINE_STARTS.iter().any(|start| text.starts_with(start)) {
        return None;
    }
    let rest = MACHINE_REST.iter().filter_map(|mark| line_start(text, mark)).min();
    let said = text[..rest.unwrap_or(text.len())].trim();
    (!said.is_empty()).then_some(said)
}

/// Where a line begins with `mark`.
fn line_start(text: &str, mark: &str) -> Option<usize> {
    text.match_indices(mark)
        .map(|(at, _)| at)
        .find(|at| *at == 0 || text[..*at].ends_with('\n'))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::plain("fix the build", Some("fix the build"))]
    #[case::file(
        "what does @basket.rs do?\n\n--- Content from referenced files ---\nContent from @basket.rs:\nfn basket()",
        Some("what does @basket.rs do?")
    )]
    #[case::hook("why?\n\n<hook_context>yesterday</hook_context>", Some("why?"))]
    #[case::qwen_hook("why?\n<qwen:user-prompt-submit-context>\nyesterday", Some("why?"))]
    #[case::mentioned("what is a <hook_context> for?", Some("what is a <hook_context> for?"))]
    #[case::session("<session_context>\nToday is Sunday", None)]
    #[case::shell("I ran the following shell command:\n```sh\nls\n```", None)]
    #[case::go_on("System: Please continue.", None)]
    #[case::blank(" \n", None)]
    fn only_a_persons_words_are_a_prompt(#[case] text: &str, #[case] expected: Option<&str>) {
        assert_eq!(said(text), expected);
    }
}
