//! What is odd in Gemini CLI's chats, by its number.

use super::shared::{MODIFIED, Sample, Transcripts, name, problems, prompts};

const FIXTURES: &str = "jazzyalex__agent-sessions/Resources/Fixtures/stage0/agents/gemini";
const CHECKPOINTS: &str = "entireio__cli/checkpoints";

fn gemini() -> Transcripts {
    Transcripts::of("gemini-cli", "gemini")
}

/// Every chat.
pub(crate) fn samples() -> Vec<Sample> {
    [".json", ".jsonl"]
        .iter()
        .flat_map(|end| gemini().samples_at(end, place))
        .collect()
}

/// Where a file would lie: documents have been stored as `.full.jsonl` by others.
fn place(file: &str) -> String {
    let name = name(file).replace(".full.jsonl", ".json");
    format!(".gemini/tmp/cli/chats/{name}")
}

#[test]
fn oddity_05_a_chat_is_one_pretty_printed_document() {
    let file = format!("{CHECKPOINTS}/12-cbfeaa512b-0.full.jsonl");
    let Some(advance) = gemini().read_at(&file, &place(&file)) else {
        return;
    };
    assert_eq!(problems(&advance), [""; 0]);
    assert_eq!(advance.turns.len(), 2);
    assert_eq!(advance.turns[1].prompt, "\",how are you\"");
    assert_eq!(advance.turns[1].facets().files, ["test-gemini.txt"]);
    assert_eq!(advance.turns[1].session, "faff42ab-6ea5-4f78-b8c4-f7dd6272af08");
}

#[test]
fn oddity_54_changes_of_metadata_are_no_messages() {
    let file = format!("{FIXTURES}/jsonl_v040.jsonl");
    let Some(advance) = gemini().read_at(&file, &place(&file)) else {
        return;
    };
    assert_eq!(problems(&advance), [""; 0]);
    assert_eq!(prompts(&advance.turns), ["Say hello and list files."]);
    assert_eq!(advance.turns[0].answer(), "Hello! I listed the files.");
    assert_eq!(advance.turns[0].session, "gemini_stage0_jsonl");
    assert_eq!(advance.turns[0].started_at.0, 1_777_498_773_155);
}

#[test]
fn oddity_54_of_a_message_that_is_written_again_the_last_counts() {
    let chat = concat!(
        r#"{"sessionId":"s","projectHash":"h","kind":"main"}"#,
        "\n",
        r#"{"id":"1","timestamp":"2026-03-01T10:00:00Z","type":"user","content":[{"text":"Why?"}]}"#,
        "\n",
        r#"{"id":"2","timestamp":"2026-03-01T10:00:01Z","type":"gemini","content":"Since it rounds"}"#,
        "\n",
        r#"{"$set":{"lastUpdated":"2026-03-01T10:00:01Z"}}"#,
        "\n",
        r#"{"id":"2","timestamp":"2026-03-01T10:00:01Z","type":"gemini","content":"Since it rounds twice.","toolCalls":[{"id":"c","name":"read_file","args":{"file_path":"a.rs"},"status":"success"}]}"#,
        "\n",
        r#"{"id":"3","timestamp":"2026-03-01T10:00:02Z","type":"user","content":"And there?"}"#,
        "\n",
        r#"{"id":"2","timestamp":"2026-03-01T10:00:01Z","type":"gemini","content":"Since it rounds twice.","toolCalls":[]}"#,
        "\n",
    );
    let advance = gemini().read_bytes(chat.as_bytes(), ".gemini/tmp/shop/chats/session-1.jsonl");
    let told: Vec<_> = advance
        .turns
        .iter()
        .map(|turn| (turn.answer(), turn.facets().files))
        .collect();
    assert_eq!(
        told,
        [
            ("Since it rounds twice.".to_owned(), vec!["a.rs".to_owned()]),
            (String::new(), vec![])
        ]
    );
}

#[test]
fn oddity_54_a_chat_of_one_warning_has_no_turn() {
    let file = format!("{CHECKPOINTS}/ec-38b74f08e3-2.full.jsonl");
    let Some(advance) = gemini().read_at(&file, &place(&file)) else {
        return;
    };
    assert_eq!((problems(&advance), advance.turns.len()), (vec![], 0));
}

#[test]
fn oddity_54_a_growing_document_keeps_its_turns() {
    let read = |name: &str| {
        let file = format!("{CHECKPOINTS}/{name}.full.jsonl");
        gemini().read_at(&file, &place(&file))
    };
    let versions = ["c9-45f262e88d-0", "9c-53780d06b7-0", "ab-2b9748b105-0"].map(read);
    let [Some(first), Some(second), Some(third)] = versions else {
        return;
    };
    for (before, after) in [(&first, &second), (&second, &third)] {
        for (old, new) in before.turns.iter().zip(&after.turns) {
            assert_eq!((old.uid, &old.prompt), (new.uid, &new.prompt));
            assert!(new.answer().starts_with(&old.answer()));
        }
    }
    assert_eq!(third.turns.len(), 1);
    assert!(
        third.turns[0]
            .facets()
            .commands
            .iter()
            .any(|command| command == "git add docs/color.md")
    );
}

#[test]
fn older_and_odder_shapes_are_read() {
    let read = |name: &str| gemini().read_at(&format!("{FIXTURES}/{name}"), &place(name));
    let (Some(large), Some(drifted)) = (read("large.json"), read("schema_drift.json")) else {
        return;
    };
    assert_eq!(prompts(&large.turns), ["Run a command", "Step 1"]);
    assert_eq!(large.turns[0].answer(), "Captured multiline output.");
    assert_eq!(prompts(&drifted.turns), ["Describe this image:"]);
    assert_eq!(drifted.turns[0].started_at.0, 1_695_000_000_000);
    assert!(drifted.turns[0].started_at < MODIFIED);
}

#[test]
fn what_the_client_says_in_the_users_place_is_no_prompt() {
    let file = format!("{CHECKPOINTS}/51-3fab7adf0b-0.full.jsonl");
    let Some(advance) = gemini().read_at(&file, &place(&file)) else {
        return;
    };
    assert_eq!(advance.turns.len(), 1);
    assert_eq!(advance.turns[0].facets().files, ["test-gemini.txt"]);
}
