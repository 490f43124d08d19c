//! A person's words in a user message that a client fills up with its own, each of its blocks in a tag.

/// Tags of blocks that are the client's, wherever several agents write them.
const MACHINE: &[&str] = &[
    "agent_skills",
    "agent_transcripts",
    "attached_files",
    "cursor_commands",
    "dynamic_tools",
    "environment_context",
    "git_status",
    "image_files",
    "manually_attached_skills",
    "open_and_recently_viewed_files",
    "project_layout",
    "rules",
    "system-reminder",
    "system_notification",
    "system_reminder",
    "task_notification",
    "timestamp",
    "user_info",
];
/// What stands around a person's words where a client marks them.
const QUERY: (&str, &str) = ("<user_query>", "</user_query>");

/// What a person said: what is marked as such, or else what follows the client's blocks. Empty where nothing is.
pub(super) fn said(text: &str) -> &str {
    match text.split_once(QUERY.0) {
        Some((_, query)) => query.rsplit_once(QUERY.1).map_or(query, |(query, _)| query).trim(),
        None => behind_blocks(text),
    }
}

/// What follows the client's blocks that a text begins with. Empty where nothing does.
pub(super) fn behind_blocks(text: &str) -> &str {
    let mut rest = text.trim();
    while let Some(behind) = behind_block(rest) {
        rest = behind.trim_start();
    }
    rest
}

/// What follows the client's block that a text begins with; nothing where the block has no end.
fn behind_block(text: &str) -> Option<&str> {
    let tag = text.strip_prefix('<')?;
    let end = tag.find(|c: char| !c.is_ascii_lowercase() && c != '_' && c != '-')?;
    let name = &tag[..end];
    let close = format!("</{name}>");
    MACHINE
        .contains(&name)
        .then(|| text.split_once(&close).map_or("", |(_, behind)| behind))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::plain(" fix the build\n", "fix the build")]
    #[case::query("<user_query>\nfix it\n</user_query>", "fix it")]
    #[case::query_among_others("<timestamp>Sunday</timestamp>\n<user_query>\nfix it\n</user_query>\n[Image]\n", "fix it")]
    #[case::query_about_queries("<user_query>\nwhat is </user_query> for?\n</user_query>", "what is </user_query> for?")]
    #[case::query_without_end("<user_query>\nfix", "fix")]
    #[case::reminder("<system-reminder>\nBe kind.\n</system-reminder>\n\nfix it", "fix it")]
    #[case::two_blocks("<user_info a=\"b\">x</user_info><git_status>y</git_status>\nfix it", "fix it")]
    #[case::machine_alone("<user_info>\nLinux\n</user_info>", "")]
    #[case::machine_without_end("<system_reminder>\nBe", "")]
    #[case::markup("<div>why is it blue?</div>", "<div>why is it blue?</div>")]
    fn only_a_persons_words_are_said(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(said(text), expected);
    }
}
