//! A user message of Codex into a person's words: what the client says in the user's place is none, and what an editor put
//! before the request is taken off.

/// Beginnings of messages that are the client's.
const MACHINE_STARTS: &[&str] = &[
    "<environment_context>",
    "<user_instructions>",
    "<INSTRUCTIONS>",
    "<turn_aborted>",
    "<recommended_plugins>",
    "<permissions instructions>",
    "<collaboration_mode>",
    "<skill>",
    "<user_shell_command>",
    "<subagent_notification>",
    "# AGENTS.md instructions",
];
/// How an editor's context begins, and what the request follows in it.
const EDITOR_CONTEXT: &str = "# Context from my IDE setup:";
const REQUEST: &str = "## My request for Codex:";

/// What the person said; `None` where it is the client's.
pub(super) fn said(text: &str) -> Option<&str> {
    let text = text.trim();
    if is_picture_tag(text) || MACHINE_STARTS.iter().any(|start| text.starts_with(start)) {
        return None;
    }
    let said = if text.starts_with(EDITOR_CONTEXT) {
        text.split_once(REQUEST).map_or("", |(_, request)| request.trim())
    } else {
        text
    };
    (!said.is_empty()).then_some(said)
}

/// Whether it is what stands before or after a picture, a piece by itself.
fn is_picture_tag(text: &str) -> bool {
    let is_named = |rest: &str| rest.ends_with('>');
    matches!(text, "<image>" | "</image>") || text.strip_prefix("<image name=").is_some_and(is_named)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::plain("fix the build", Some("fix the build"))]
    #[case::environment("<environment_context>\n  <cwd>/x</cwd>\n</environment_context>", None)]
    #[case::instructions("# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\nbe kind\n</INSTRUCTIONS>", None)]
    #[case::editor(
        "# Context from my IDE setup:\n\n## Open tabs:\n- a.rs\n\n## My request for Codex:\nfix it\n",
        Some("fix it")
    )]
    #[case::editor_alone("# Context from my IDE setup:\n\n## Open tabs:\n- a.rs\n", None)]
    #[case::aborted("<turn_aborted>\nThe user interrupted", None)]
    #[case::picture("<image name=[Image #1]>", None)]
    #[case::bare_picture("<image>", None)]
    #[case::picture_ends("</image>", None)]
    #[case::of_pictures("<image> is not closed", Some("<image> is not closed"))]
    #[case::blank(" \n", None)]
    fn only_a_persons_words_are_a_prompt(#[case] text: &str, #[case] expected: Option<&str>) {
        assert_eq!(said(text), expected);
    }
}
