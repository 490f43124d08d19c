//! What is odd in Codex's rollouts, by its number.

use super::shared::{MODIFIED, Sample, Transcripts, name, problems, prompts};
use remembrancer_processor::ingest::{Advance, Turn};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

const FIXTURES: &str = "jazzyalex__agent-sessions/Resources/Fixtures";
const STAGED: &str = "jazzyalex__agent-sessions/Resources/Fixtures/stage0/agents/codex";
const FORK: &str = "Hoper-J__cpolar-connect/dot-codex/sessions/2025/09/16/rollout-2025-09-16T14-12-31-613a9a68-8816-40b2-a2d4-041ade599da6.jsonl";
const FORKED: &str = "Hoper-J__cpolar-connect/dot-codex/sessions/2025/09/16/rollout-2025-09-16T12-47-48-9cd28a74-da7e-4458-a91a-fffec2be9d7a.jsonl";
const DOUBLED: &str = "akhileswar18__behaviour_lab/dot-codex/sessions/2026/03/05/rollout-2026-03-05T22-50-24-019cc1e9-6537-70a3-a8cd-d2957e043dd4.jsonl";
const WINDOWS: &str = "Python-AI-Solutions__agentic-neurodata-conversion/dot-codex/sessions/2025/09/29/rollout-2025-09-29T13-07-08-01999467-65bf-7281-8ab6-73bb53989041.jsonl";

fn codex() -> Transcripts {
    Transcripts::of("codex", "codex")
}

fn place(file: &str) -> String {
    let name = name(file);
    let prefix = if name.starts_with("rollout-") { "" } else { "rollout-" };
    format!(".codex/sessions/2026/03/01/{prefix}{name}")
}

fn read(file: &str) -> Option<Advance> {
    codex().read_at(file, &place(file))
}

/// Every rollout.
pub(crate) fn samples() -> Vec<Sample> {
    let mut samples = codex().samples_at(".jsonl", place);
    samples.retain(|sample| !sample.path.ends_with("rollout-history.jsonl"));
    samples
}

/// Every rollout, read.
fn every_rollout() -> Vec<Advance> {
    samples().iter().map(Sample::read).collect()
}

/// What is read of these lines.
fn read_lines(lines: &[&str]) -> Advance {
    codex().read_bytes(
        format!("{}\n", lines.join("\n")).as_bytes(),
        &place("rollout-2026-03-01T10-00-00-s.jsonl"),
    )
}

#[test]
fn oddity_44_a_text_that_stands_twice_is_one() {
    let Some(advance) = read(DOUBLED) else { return };
    assert_eq!(advance.turns.len(), 1);
    let turn = &advance.turns[0];
    let texts: Vec<&str> = turn
        .steps
        .iter()
        .map(|step| step.text.as_str())
        .filter(|text| !text.is_empty())
        .collect();
    let mut distinct = texts.clone();
    distinct.dedup();
    assert!(!texts.is_empty());
    assert_eq!(texts, distinct);
}

#[test]
fn oddity_45_a_forks_copied_history_is_not_read_again() {
    let (Some(fork), Some(forked)) = (read(FORK), read(FORKED)) else {
        return;
    };
    let own = "613a9a68-8816-40b2-a2d4-041ade599da6";
    assert!(fork.turns.iter().all(|turn| turn.session == own));
    assert_eq!(fork.turns.len(), 8, "{:?}", prompts(&fork.turns));
    assert!(
        fork.turns
            .iter()
            .all(|turn| forked.turns.iter().all(|other| other.uid != turn.uid))
    );
    // The first prompt of its own was typed after the fork.
    assert_eq!(fork.turns[0].started_at.0, 1_758_003_180_267);
}

#[test]
fn oddity_45_the_same_meta_at_each_resume_changes_nothing() {
    let meta = r#"{"timestamp":"2026-03-01T10:00:00.000Z","type":"session_meta","payload":{"id":"own","cwd":"/home/ada/shop"}}"#;
    let prompt =
        r#"{"timestamp":"2026-03-01T10:00:01.000Z","type":"event_msg","payload":{"type":"user_message","message":"Why?"}}"#;
    let again = r#"{"timestamp":"2026-03-02T10:00:00.000Z","type":"session_meta","payload":{"id":"own","cwd":"/home/ada/shop"}}"#;
    let more =
        r#"{"timestamp":"2026-03-02T10:00:01.000Z","type":"event_msg","payload":{"type":"user_message","message":"And now?"}}"#;
    let advance = read_lines(&[meta, prompt, again, more]);
    assert_eq!(prompts(&advance.turns), ["Why?", "And now?"]);
    assert!(advance.turns.iter().all(|turn| turn.session == "own"));
}

#[test]
fn oddity_46_times_are_the_records_not_the_names() {
    let Some(advance) = read(FORKED) else { return };
    // The name says 12:47:48, in the place where it was written; its first prompt came at 04:48:11 UTC.
    assert_eq!(advance.turns[0].started_at.0, 1_757_998_091_022);
    assert_eq!(advance.turns[0].session, "9cd28a74-da7e-4458-a91a-fffec2be9d7a");
}

#[test]
fn oddity_47_records_without_an_envelope_are_read() {
    let expected = [
        (
            format!("{FIXTURES}/session_simple.jsonl"),
            "What's the weather like in SF today?",
        ),
        (format!("{FIXTURES}/session_toolcall.jsonl"), "Translate 'hello' to Spanish"),
        (format!("{STAGED}/schema_drift.jsonl"), "Translate 'hello' to Spanish"),
    ];
    for (file, prompt) in expected {
        let Some(advance) = read(&file) else { return };
        assert_eq!(prompts(&advance.turns), [prompt]);
        assert!(!advance.turns[0].answer().is_empty());
        assert!(advance.turns[0].started_at > MODIFIED);
        assert!(problems(&advance).iter().all(|kind| kind == "blank-line"), "{file}");
    }
}

#[test]
fn oddity_48_an_output_is_a_string_json_in_one_an_object_or_a_list() {
    let prompt =
        r#"{"timestamp":"2026-03-01T10:00:01.000Z","type":"event_msg","payload":{"type":"user_message","message":"Why?"}}"#;
    let call = |id: &str, command: &str| {
        format!(
            r#"{{"timestamp":"2026-03-01T10:00:02.000Z","type":"response_item","payload":{{"type":"function_call","name":"shell","call_id":"{id}","arguments":"{{\"command\":[\"{command}\"]}}"}}}}"#
        )
    };
    let result = |id: &str, output: &str| {
        format!(
            r#"{{"timestamp":"2026-03-01T10:00:03.000Z","type":"response_item","payload":{{"type":"function_call_output","call_id":"{id}","output":{output}}}}}"#
        )
    };
    let advance = read_lines(&[
        prompt,
        &call("1", "cargo build"),
        &result("1", r#""Exit code: 1\nOutput:\nerror: the first""#),
        &call("2", "cargo test"),
        &result("2", r#""{\"output\":\"error: the second\",\"metadata\":{\"exit_code\":2}}""#),
        &call("3", "cargo run"),
        &result("3", r#"{"type":"input_text","text":"Exit code: 3\nerror: the third"}"#),
        &call("4", "cargo doc"),
        &result(
            "4",
            r#"[{"type":"input_text","text":"Process exited with code 4\nerror: the fourth"},{"type":"input_image"}]"#,
        ),
        r#"{"timestamp":"2026-03-01T10:00:04.000Z","type":"response_item","payload":{"type":"function_call","name":"shell","call_id":"5"}}"#,
        &result("5", r#""Exit code: 0\nerror: none at all""#),
        &call("6", "cargo bench"),
        &result(
            "6",
            r#""Chunk ID: 1a2b3c\nWall time: 0.1 seconds\nProcess exited with code 6\nOutput:\nerror: the sixth""#,
        ),
        &call("7", "cargo tree"),
        &result(
            "7",
            r#""Command: grep 'error: failed'\nChunk ID: 4d5e6f\nProcess exited with code 1\nOutput:\n""#,
        ),
    ]);
    let facets = advance.turns[0].facets();
    assert_eq!(
        facets.commands,
        [
            "cargo build",
            "cargo test",
            "cargo run",
            "cargo doc",
            "cargo bench",
            "cargo tree"
        ]
    );
    assert_eq!(
        facets.errors,
        [
            "error: the first",
            "error: the second",
            "error: the third",
            "error: the fourth",
            "error: the sixth"
        ]
    );
    assert_eq!(problems(&advance), [""; 0]);
}

#[test]
fn oddity_49_reasoning_is_never_memory() {
    for advance in every_rollout() {
        let told = format!("{:?}", advance.turns);
        assert!(!told.contains("gAAAAA"));
        assert!(!problems(&advance).iter().any(|kind| kind.contains("reasoning")));
    }
}

#[test]
fn oddity_50_what_the_client_says_in_the_users_place_is_no_prompt() {
    let starts = [
        "<environment_context>",
        "# AGENTS.md instructions",
        "# Context from my IDE setup:",
        "<turn_aborted>",
        "<user_instructions>",
        "<recommended_plugins>",
        "<permissions",
    ];
    for turn in every_rollout().iter().flat_map(|advance| &advance.turns) {
        assert!(!starts.iter().any(|start| turn.prompt.starts_with(start)), "{}", turn.session);
        assert!(!turn.prompt.contains("## My request for Codex:"), "{}", turn.session);
    }
}

#[test]
fn oddity_51_counts_of_tokens_say_nothing_and_a_context_moves_the_folder() {
    for advance in every_rollout() {
        assert!(!problems(&advance).iter().any(|kind| kind.contains("token_count")));
    }
    let context = |folder: &str| {
        format!(r#"{{"timestamp":"2026-03-01T10:00:00.000Z","type":"turn_context","payload":{{"cwd":"/home/ada/{folder}"}}}}"#)
    };
    let prompt = |second: u8| {
        format!(
            r#"{{"timestamp":"2026-03-01T10:00:0{second}.000Z","type":"event_msg","payload":{{"type":"user_message","message":"Why {second}?"}}}}"#
        )
    };
    let count = r#"{"timestamp":"2026-03-01T10:00:02.500Z","type":"event_msg","payload":{"type":"token_count","info":null}}"#;
    let advance = read_lines(&[&context("shop"), &prompt(1), count, &context("till"), &prompt(3)]);
    let folders: Vec<_> = advance
        .turns
        .iter()
        .map(|turn| turn.cwd.as_deref().unwrap_or_default())
        .collect();
    assert_eq!(folders, ["/home/ada/shop", "/home/ada/till"]);
    assert_eq!(problems(&advance), [""; 0]);
}

#[test]
fn oddity_51_a_context_in_the_midst_of_a_turn_is_not_of_the_next() {
    let prompt = |second: u8| {
        format!(
            r#"{{"timestamp":"2026-03-01T10:00:0{second}.000Z","type":"event_msg","payload":{{"type":"user_message","message":"Why {second}?"}}}}"#
        )
    };
    let context = r#"{"timestamp":"2026-03-01T10:00:02.000Z","type":"turn_context","payload":{"cwd":"/home/ada/shop"}}"#;
    let said = r#"{"timestamp":"2026-03-01T10:00:03.000Z","type":"event_msg","payload":{"type":"agent_message","message":"It rounds."}}"#;
    let (first, second) = (prompt(1), prompt(4));
    let lines = [first.as_str(), context, said, second.as_str()];
    let advance = read_lines(&lines);
    let before: usize = lines[..3].iter().map(|line| line.len() + 1).sum();
    assert_eq!(prompts(&advance.turns), ["Why 1?", "Why 4?"]);
    assert_eq!(advance.committed.offset.0, before as u64, "a restart begins at the open turn");
}

#[test]
fn oddity_52_a_compaction_does_not_tell_its_history_again() {
    let file = format!("{STAGED}/small.jsonl");
    let Some(advance) = read(&file) else { return };
    assert!(advance.sessions.iter().any(|session| session.compacted_at.is_some()));
    let lines = [
        r#"{"timestamp":"2026-03-01T10:00:01.000Z","type":"event_msg","payload":{"type":"user_message","message":"Why?"}}"#,
        r#"{"timestamp":"2026-03-01T10:00:02.000Z","type":"event_msg","payload":{"type":"agent_message","message":"Since it rounds."}}"#,
        r#"{"timestamp":"2026-03-01T10:00:03.000Z","type":"event_msg","payload":{"type":"task_complete","last_agent_message":null}}"#,
        r#"{"timestamp":"2026-03-01T10:00:04.000Z","type":"compacted","payload":{"message":"","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Why?"}]}]}}"#,
        r#"{"timestamp":"2026-03-01T10:00:05.000Z","type":"event_msg","payload":{"type":"entered_review_mode"}}"#,
        r#"{"timestamp":"2026-03-01T10:00:06.000Z","type":"event_msg","payload":{"type":"agent_message","message":"The review found nothing."}}"#,
    ];
    let advance = read_lines(&lines);
    assert_eq!(prompts(&advance.turns), ["Why?"]);
    assert_eq!(advance.turns[0].answer(), "Since it rounds.\n\nThe review found nothing.");
    assert_eq!(problems(&advance), [""; 0]);
}

#[test]
fn oddity_53_windows_folders_and_other_scripts_are_kept_as_they_stand() {
    let (Some(windows), Some(chinese)) = (read(WINDOWS), read(FORKED)) else {
        return;
    };
    assert!(
        windows
            .turns
            .iter()
            .all(|turn| turn.cwd.as_deref().is_some_and(|cwd| cwd.starts_with("C:\\Users\\")))
    );
    assert!(chinese.turns.iter().any(|turn| turn.prompt == "检查目前项目的设计"));
}

#[test]
fn an_archive_gives_the_turns_of_the_rollout_that_was_packed() {
    for file in [FORKED, FORK, DOUBLED] {
        let Some(content) = codex().content(file) else { return };
        let packed = compress_to_vec(content.as_slice(), CompressionLevel::Fastest);
        let plain = codex().read_bytes(&content, &place(file));
        let archive = codex().read_bytes(&packed, &format!("{}.zst", place(file)));
        assert_eq!(archive.turns, plain.turns);
        assert_eq!(archive.sessions, plain.sessions);
        assert_eq!(archive.problems, plain.problems);

        let cut = codex().read_bytes(&packed[..packed.len() / 2], &format!("{}.zst", place(file)));
        assert_eq!(problems(&cut).last().map(String::as_str), Some("damaged-archive"));
        assert!(
            cut.turns
                .iter()
                .map(|turn| turn.uid)
                .eq(plain.turns[..cut.turns.len()].iter().map(|turn| turn.uid))
        );
    }
}

#[test]
fn an_archive_is_read_from_its_start_and_stands_at_its_end() {
    let line =
        r#"{"timestamp":"2026-03-01T10:00:01.000Z","type":"event_msg","payload":{"type":"user_message","message":"Why?"}}"#;
    let packed = compress_to_vec(format!("{line}\n").as_bytes(), CompressionLevel::Fastest);
    let advance = codex().read_bytes(&packed, &place("rollout-2026-03-01T10-00-00-s.jsonl.zst"));
    assert_eq!((advance.read.offset.0, advance.committed.offset.0), (packed.len() as u64, 0));
    assert_eq!(advance.turns.iter().map(Turn::answer).collect::<Vec<_>>(), [""]);
}

/// What is read of a prompt that stands there as an event and as an item of these pieces, in both orders.
fn prompts_in_both_orders(event: &str, pieces: &str) -> [Vec<String>; 2] {
    let event = format!(
        r#"{{"timestamp":"2026-03-01T10:00:01.000Z","type":"event_msg","payload":{{"type":"user_message","message":"{event}"}}}}"#
    );
    let item = format!(
        r#"{{"timestamp":"2026-03-01T10:00:01.000Z","type":"response_item","payload":{{"type":"message","role":"user","content":[{pieces}]}}}}"#
    );
    [[&event, &item], [&item, &event]].map(|[first, second]| {
        let turns = read_lines(&[first, second]).turns;
        prompts(&turns).into_iter().map(str::to_owned).collect()
    })
}

#[test]
fn what_stands_around_pictures_is_no_prompt() {
    let named = r#"{"type":"input_text","text":"<image name=[Image #1]>"},{"type":"input_image"},{"type":"input_text","text":"</image>"},{"type":"input_text","text":"Why?"}"#;
    let bare = r#"{"type":"input_text","text":"Why?"},{"type":"input_text","text":"<image>"},{"type":"input_image"},{"type":"input_text","text":"</image>"}"#;
    for pieces in [named, bare] {
        assert_eq!(prompts_in_both_orders("Why?", pieces), [["Why?"], ["Why?"]]);
    }
}

#[test]
fn the_pieces_of_a_prompt_are_one() {
    let pieces = r#"{"type":"input_text","text":"Why twice?"},{"type":"input_text","text":"See the basket."}"#;
    let [event_first, item_first] = prompts_in_both_orders("Why twice?See the basket.", pieces);
    assert_eq!(event_first, ["Why twice?See the basket."]);
    assert_eq!(item_first, ["Why twice?\nSee the basket."]);
}

#[test]
fn the_pieces_of_a_prompt_without_an_envelope_are_one() {
    let line = r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>"},{"type":"input_text","text":"Why twice?"},{"type":"input_text","text":"See the basket."}]}"#;
    assert_eq!(prompts(&read_lines(&[line]).turns), ["Why twice?\nSee the basket."]);
}
