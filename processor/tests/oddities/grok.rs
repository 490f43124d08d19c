//! What is odd in public transcripts of Grok, by its number, and what comes of it. Skips where there are none.

use remembrancer_processor::ingest::Advance;
use remembrancer_schema::Origin;

use super::shared::{MODIFIED, Sample, Transcripts};

fn grok() -> Transcripts {
    Transcripts::of("grok", "grok")
}

/// Every history.
pub(crate) fn samples() -> Vec<Sample> {
    grok().samples("/chat_history.jsonl")
}

#[test]
fn oddity_59_a_history_without_times_has_that_of_its_file_and_the_folder_of_its_summary() {
    let Some(advance) = grok().read_all("agents/grok/chat_history.jsonl").pop() else {
        return;
    };
    assert_eq!(advance.problems, []);
    let prompts: Vec<&str> = advance.turns.iter().map(|turn| turn.prompt.as_str()).collect();
    assert_eq!(
        prompts,
        [
            "Read hello.py and summarize what it prints without editing files.",
            "Here is a screenshot for reference."
        ]
    );
    for turn in &advance.turns {
        assert_eq!(turn.started_at, MODIFIED);
        assert_eq!(turn.session, "019f6851-7ec4-7ef0-97d3-03f3eee38755");
        assert_eq!(turn.cwd.as_deref(), Some("/tmp/as-agent-lab/grok/project"));
        assert_eq!(turn.git_branch.as_deref(), Some("main"));
    }
    assert_eq!(advance.turns[0].facets().files, ["hello.py"]);
    assert_eq!(advance.turns[0].facets().commands, ["python3 hello.py"]);
}

#[test]
fn oddity_59_a_subagents_history_is_a_subagents() {
    for Advance { turns, .. } in grok().read_all("/subagent/chat_history.jsonl") {
        assert_eq!(turns.len(), 1);
        assert_eq!(turns[0].origin, Origin::Subagent);
    }
}

#[test]
fn oddity_59_a_summary_is_no_history() {
    for file in grok().files("/summary.json") {
        assert_eq!(grok().agent.shape(&grok().path(&file)), None);
    }
}

#[test]
fn oddity_59_a_history_that_a_compaction_wrote_anew_gives_later_prompts_the_same_uids() {
    let prompt = r#"{"type":"user","content":[{"type":"text","text":"and now?"}],"prompt_index":7}"#;
    let before = format!("{{\"type\":\"system\",\"content\":\"x\"}}\n{{\"type\":\"assistant\",\"content\":\"y\"}}\n{prompt}");
    let summary =
        r#"{"type":"user","content":[{"type":"text","text":"What was done so far."}],"synthetic_reason":"compaction_meta"}"#;
    let after = format!("{summary}\n{prompt}");
    let place = ".grok/sessions/%2Fhome/s1/chat_history.jsonl";
    let uid = |history: &str| grok().read_bytes(history.as_bytes(), place).turns.last().map(|turn| turn.uid);
    assert_eq!(uid(&before), uid(&after));
}
