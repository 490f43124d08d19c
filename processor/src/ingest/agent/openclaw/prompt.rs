//! A user message of `OpenClaw` into a person's words: who wrote it and when, and what the gateway reports with it, is taken
//! off; what a timer or the gateway says in a person's place is none.

use super::super::pi::Heard;

/// Beginnings of messages that no person wrote.
const MACHINE_STARTS: &[&str] = &[
    "Read HEARTBEAT.md",
    "A new session was started via /new",
    "Pre-compaction memory flush",
    "(session bootstrap)",
    "[Startup context",
    "[System Message]",
    "[cron:",
];
/// How a subagent's message begins, and what its task follows.
const SUBAGENT: &str = "[Subagent Context]";
const TASK: &str = "[Subagent Task]";
/// How a line ends that heads a block of JSON about the message.
const METADATA: &[&str] = &["(untrusted metadata):", "(untrusted, for context):"];
/// How a line of the gateway's news begins, and one that names the message.
const NEWS: &str = "System: ";
const MESSAGE_ID: &str = "[message_id: ";
/// What the agent says where it says nothing.
const SILENCE: &[&str] = &["HEARTBEAT_OK", "NO_REPLY"];

/// What a message is.
pub(super) fn heard(message: &str) -> Heard<'_> {
    let mut said = message.trim();
    loop {
        if MACHINE_STARTS.iter().any(|start| said.starts_with(start)) {
            return Heard::Machine;
        }
        if said.starts_with(SUBAGENT) {
            let task = said.split_once(TASK).map(|(_, task)| task.trim_start_matches(':').trim());
            return task.map_or(Heard::Machine, Heard::Task);
        }
        match without_wrapper(said) {
            Some(rest) if rest.trim().is_empty() => return Heard::Machine,
            Some(rest) => said = rest.trim(),
            None => return Heard::Prompt(said),
        }
    }
}

/// A message without the wrapper that it begins or ends with; none if it has none.
fn without_wrapper(said: &str) -> Option<&str> {
    let (first, rest) = said.split_once('\n').unwrap_or((said, ""));
    if METADATA.iter().any(|end| first.trim_end().ends_with(end)) {
        let json = rest.trim_start().strip_prefix("```json")?;
        return Some(json.split_once("\n```")?.1);
    }
    if first.starts_with(NEWS) {
        return Some(rest);
    }
    if let Some((head, id)) = said.rsplit_once(MESSAGE_ID)
        && !id.trim_end_matches(']').contains([']', '\n'])
    {
        return Some(head);
    }
    // `[Telegram Ada id:1 2026-03-01 10:00 UTC] …`
    let (envelope, rest) = said.strip_prefix('[')?.split_once(']')?;
    (!envelope.contains('\n') && holds_date(envelope)).then_some(rest)
}

/// Whether a text holds a date such as `2026-03-01`.
fn holds_date(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_digit() && c != '-').any(|word| {
        let lengths: Vec<usize> = word.split('-').map(str::len).collect();
        lengths == [4, 2, 2]
    })
}

/// What the agent said, without its marks for the channel.
pub(super) fn told(text: &str) -> &str {
    let mut said = text.trim();
    while let Some((_, rest)) = said.strip_prefix("[[").and_then(|mark| mark.split_once("]]")) {
        said = rest.trim_start();
    }
    if SILENCE.contains(&said) { "" } else { said }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::plain("fix the build", Heard::Prompt("fix the build"))]
    #[case::envelope("[Telegram Ada id:1 +2m 2026-03-01 10:00 UTC] fix it", Heard::Prompt("fix it"))]
    #[case::message_id("[Sun 2026-03-01 10:00 UTC] fix it\n[message_id: 12]", Heard::Prompt("fix it"))]
    #[case::brackets("[draft] fix it", Heard::Prompt("[draft] fix it"))]
    #[case::metadata(
        "Conversation info (untrusted metadata):\n```json\n{\n \"sender\": \"Ada\"\n}\n```\n\nSender (untrusted metadata):\n```json\n{}\n```\n\nfix it",
        Heard::Prompt("fix it")
    )]
    #[case::news("System: [2026-03-01 10:00:00 UTC] Node connected\n\nfix it", Heard::Prompt("fix it"))]
    #[case::news_alone("System: [2026-03-01 10:00:00 UTC] Node connected", Heard::Machine)]
    #[case::heartbeat("Read HEARTBEAT.md if it exists (workspace context).", Heard::Machine)]
    #[case::dated_heartbeat("System: [x] y\n\nRead HEARTBEAT.md if it exists", Heard::Machine)]
    #[case::timer("[cron:1 nightly] look after the backups", Heard::Machine)]
    #[case::subagent(
        "[Sun 2026-03-01 10:00 UTC] [Subagent Context] You are a subagent.\n\n[Subagent Task]: count the tests",
        Heard::Task("count the tests")
    )]
    #[case::settled("[Subagent Context] All pending descendants have now settled.", Heard::Machine)]
    #[case::unclosed(
        "Sender (untrusted metadata):\n```json\n{",
        Heard::Prompt("Sender (untrusted metadata):\n```json\n{")
    )]
    #[case::blank(" \n", Heard::Prompt(""))]
    fn only_a_persons_words_are_a_prompt(#[case] message: &str, #[case] expected: Heard<'_>) {
        assert_eq!(heard(message), expected);
    }

    #[rstest]
    #[case::plain("It is fixed.", "It is fixed.")]
    #[case::mark("[[reply_to_current]] It is fixed.", "It is fixed.")]
    #[case::silence("HEARTBEAT_OK", "")]
    fn marks_for_the_channel_are_taken_off(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(told(text), expected);
    }
}
