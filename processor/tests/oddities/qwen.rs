//! What is odd in Qwen Code's chats, by its number.

use super::shared::{MODIFIED, Sample, Transcripts, name, problems, prompts};
use remembrancer_processor::ingest::Turn;

const FIXTURES: &str = "jazzyalex__agent-sessions/Resources/Fixtures/stage0/agents/qwen";

fn qwen() -> Transcripts {
    Transcripts::of("qwen-code", "qwen")
}

/// Every chat.
pub(crate) fn samples() -> Vec<Sample> {
    qwen().samples_at(".jsonl", place)
}

fn place(file: &str) -> String {
    format!(".qwen/projects/-home-ada-shop/chats/{}", name(file))
}

#[test]
fn oddity_58_a_hooks_context_is_no_part_of_the_prompt() {
    let file = format!("{FIXTURES}/019f0000-0000-7000-8000-000000000001.jsonl");
    let Some(advance) = qwen().read_at(&file, &place(&file)) else {
        return;
    };
    assert_eq!(problems(&advance), [""; 0]);
    let [turn] = advance.turns.as_slice() else {
        panic!("{:?}", prompts(&advance.turns))
    };
    assert_eq!(turn.prompt, "Inspect the synthetic fixture.");
    assert_eq!(turn.answer(), "The synthetic fixture is valid.");
    assert_eq!(turn.cwd.as_deref(), Some("/tmp/as-qwen-fixture/project"));
    assert_eq!(turn.git_branch.as_deref(), Some("fixture-branch"));
    assert_eq!(turn.facets().files, ["README.md"]);
    assert!(turn.started_at > MODIFIED);
}

#[test]
fn oddity_58_a_hooks_context_without_a_clean_prompt_beside_it_is_cut() {
    let line = r#"{"uuid":"1","sessionId":"s","timestamp":"2026-03-01T10:00:00Z","type":"user","message":{"parts":[{"text":"Why?"},{"text":"<qwen:user-prompt-submit-context>\nyesterday"}]}}"#;
    let advance = qwen().read_bytes(format!("{line}\n").as_bytes(), &place("s.jsonl"));
    assert_eq!(prompts(&advance.turns), ["Why?"]);
}

#[test]
fn oddity_58_the_working_folder_is_the_records_not_the_paths() {
    let file = format!("{FIXTURES}/019f0000-0000-7000-8000-000000000004.jsonl");
    let Some(advance) = qwen().read_at(&file, &place(&file)) else {
        return;
    };
    let folders: Vec<_> = advance
        .turns
        .iter()
        .map(|turn| turn.cwd.as_deref().unwrap_or_default())
        .collect();
    assert_eq!(
        folders,
        ["/tmp/as-qwen-fixture/old-project", "/tmp/as-qwen-fixture/new-project"]
    );
    assert_eq!(
        prompts(&advance.turns),
        ["Begin the active-chain fixture.", "Continue from the rewound branch."]
    );
    let answers: Vec<String> = advance.turns.iter().map(Turn::answer).collect();
    assert_eq!(answers, ["Discarded branch answer.", "Active branch answer."]);
    let titles: Vec<_> = advance.sessions.iter().map(|session| session.title.as_deref()).collect();
    assert_eq!(titles, [Some("Active branch title")]);
}

#[test]
fn oddity_01_two_records_in_one_line_are_both_read() {
    let file = format!("{FIXTURES}/019f0000-0000-7000-8000-000000000005.jsonl");
    let Some(advance) = qwen().read_at(&file, &place(&file)) else {
        return;
    };
    assert_eq!(problems(&advance), [""; 0]);
    assert_eq!(prompts(&advance.turns), [r#"Inspect {"glued": "objects"} safely."#]);
    assert_eq!(advance.turns[0].answer(), "Recovered both synthetic objects.");
}
