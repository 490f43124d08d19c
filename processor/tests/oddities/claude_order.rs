//! What is odd in the order of Claude Code's records, and in how they hang together, by its number.

use std::collections::{BTreeMap, BTreeSet};

use remembrancer_processor::ingest::{Advance, ResumePoint, SourceReader, Turn};
use remembrancer_schema::{Origin, TurnUid};
use serde_json::{Value, json};

use super::claude_code::{CHECKPOINTS, SESSION, answers, asked, claude, ran, read_records, result, rows, said, samples, with};
use super::shared::{Sample, problems, prompts};

/// The sessions that turns are of.
fn sessions(advance: &Advance) -> BTreeSet<&str> {
    advance.turns.iter().map(|turn| turn.session.as_str()).collect()
}

#[test]
fn oddity_26_turns_stand_in_the_order_of_the_file_though_times_go_back() {
    let earlier = |record: Value| with(record, json!({"timestamp": "2026-03-01T09:00:00.000Z"}));
    let advance = read_records(&[
        asked(10, "Why?"),
        earlier(json!({"type": "queue-operation", "operation": "enqueue", "content": "And there?"})),
        earlier(json!({"type": "attachment", "uuid": "h", "attachment": {"type": "hook_success"}})),
        said(11, "It rounds."),
        earlier(json!({"type": "queue-operation", "operation": "dequeue"})),
        asked(12, "And there?"),
        with(said(11, "There, too."), json!({"uuid": "late", "parentUuid": "user12"})),
    ]);
    assert_eq!(prompts(&advance.turns), ["Why?", "And there?"]);
    assert_eq!(answers(&advance), ["It rounds.", "There, too."]);
    for advance in claude().read_all("/4d-e153fa6df6-0.full.jsonl") {
        let times: Vec<_> = advance.turns.iter().map(|turn| turn.started_at).collect();
        assert!(
            times.len() > 1 && times.is_sorted(),
            "prompts themselves stand in order: {times:?}"
        );
    }
}

#[test]
fn oddity_27_a_branch_that_was_left_is_history_still() {
    let child = |record: Value, parent: &str| with(record, json!({"parentUuid": parent}));
    let advance = read_records(&[
        asked(1, "Why?"),
        child(said(2, "It rounds."), "user1"),
        child(asked(3, "Round up."), "assistant2"),
        child(said(4, "It rounds up now."), "user3"),
        child(asked(5, "Round down."), "assistant2"),
        child(said(6, "It rounds down now."), "user5"),
    ]);
    assert_eq!(prompts(&advance.turns), ["Why?", "Round up.", "Round down."]);
    assert_eq!(answers(&advance), ["It rounds.", "It rounds up now.", "It rounds down now."]);
}

#[test]
fn oddity_28_several_roots_are_one_session() {
    for advance in claude().read_all("/d6a37ffc-384d-4d2a-832a-78cdd493af69.jsonl") {
        assert_eq!(sessions(&advance), ["d6a37ffc-384d-4d2a-832a-78cdd493af69"].into());
        assert!(advance.sessions[0].compacted_at > advance.sessions[0].started_at);
        let after = advance
            .turns
            .iter()
            .filter(|turn| Some(turn.started_at) > advance.sessions[0].compacted_at);
        assert!(after.count() > 0, "what came after the last root");
    }
}

#[test]
fn oddity_29_a_file_that_begins_in_a_conversation_has_a_turn_without_a_prompt() {
    for slice in ["72-95d22ef3a1-0", "ba-5e23ccb05b-0", "e1-2c3e2b3f2a-0"] {
        for advance in claude().read_all(&format!("{CHECKPOINTS}/{slice}.full.jsonl")) {
            assert!(problems(&advance).iter().all(|kind| kind == "blank-line"), "{slice}");
            assert!(advance.turns.iter().skip(1).all(|turn| !turn.prompt.is_empty()), "{slice}");
            assert!(rows(&advance) > 0, "{slice}");
        }
    }
    let orphan = with(result(1, 0, false, json!("done")), json!({"parentUuid": "lost"}));
    let summary =
        "This session is being continued from a previous conversation that ran out of context.\nSummary:\nThe till was shut.";
    let advance = read_records(&[
        orphan,
        said(2, "The branch is checked out."),
        with(asked(3, summary), json!({"isCompactSummary": true})),
        asked(4, "Why?"),
        said(5, "It rounds."),
    ]);
    assert_eq!(prompts(&advance.turns), ["", "Why?"]);
    assert_eq!(answers(&advance), ["The branch is checked out.", "It rounds."]);
    assert!(
        advance.turns.iter().all(|turn| turn.carried_summary.is_none()),
        "there is more left than the summary"
    );
}

#[test]
fn oddity_30_progress_under_another_session_moves_no_turn_there() {
    let progress = |id: &str| json!({"type": "progress", "uuid": id, "sessionId": "old", "data": {"type": "hook_progress"}});
    let advance = read_records(&[
        progress("p1"),
        asked(1, "Why?"),
        progress("p2"),
        said(2, "It rounds."),
        progress("p3"),
    ]);
    assert_eq!(sessions(&advance), [SESSION].into());
    assert_eq!(advance.sessions.len(), 1);
}

#[test]
fn oddity_31_a_subagents_records_are_its_own_turns_in_its_parents_session() {
    let inline = |record: Value, parent: Value| with(record, json!({"isSidechain": true, "parentUuid": parent}));
    let advance = read_records(&[
        asked(1, "Why?"),
        inline(asked(2, "Look for the till."), Value::Null),
        inline(said(3, "It stands in till.rs."), json!("user2")),
        said(4, "It rounds."),
    ]);
    let told: Vec<_> = advance
        .turns
        .iter()
        .map(|turn| (turn.origin, turn.prompt.as_str(), turn.answer()))
        .collect();
    assert_eq!(
        told,
        [
            (Origin::User, "Why?", "It rounds.".to_owned()),
            (Origin::Subagent, "Look for the till.", "It stands in till.rs.".to_owned())
        ]
    );
    assert_eq!(sessions(&advance), [SESSION].into());
    for sample in claude().samples(".jsonl").iter().filter(|sample| {
        sample
            .path
            .to_string_lossy()
            .contains("0ccf1a04-1b4c-43b6-8aa5-79e41db43a68/subagents")
    }) {
        let advance = sample.read();
        assert_eq!(sessions(&advance), ["0ccf1a04-1b4c-43b6-8aa5-79e41db43a68"].into());
        assert!(
            advance
                .turns
                .iter()
                .all(|turn| turn.origin == Origin::Subagent && !turn.prompt.is_empty())
        );
    }
}

#[test]
fn oddity_32_a_warm_up_is_no_memory() {
    let greeting = "I'm ready to help you explore the shop.";
    let inline = |record: Value, parent: Value| with(record, json!({"isSidechain": true, "parentUuid": parent}));
    let warm_up = [
        inline(asked(1, "Warmup"), Value::Null),
        inline(said(2, greeting), json!("user1")),
    ];
    let lines: Vec<String> = warm_up.iter().map(Value::to_string).collect();
    assert_eq!(read_records(&warm_up).turns, []);
    let of_its_own = |lines: &[String]| {
        claude().read_bytes(
            lines.join("\n").as_bytes(),
            ".claude/projects/-home-ada-shop/agent-0a1b2c3d.jsonl",
        )
    };
    assert_eq!(of_its_own(&lines).turns, []);
    let reply = inline(said(2, greeting), Value::Null).to_string();
    assert_eq!(of_its_own(&[reply]).turns, [], "a reply to a prompt that was never written");
    assert_eq!(
        prompts(&read_records(&[asked(1, "Warmup")]).turns),
        ["Warmup"],
        "a person may say so"
    );
    for folder in [
        "-home-jenkins-Personal-AI-Infrastructure",
        "-Users-pretor-Documents-PAI---TPOS",
    ] {
        for sample in samples()
            .iter()
            .filter(|sample| sample.path.to_string_lossy().contains(&format!("{folder}/agent-")))
        {
            assert_eq!(sample.read().turns, [], "{}", sample.path.display());
        }
    }
}

#[test]
fn oddity_33_another_version_in_the_midst_of_a_file_changes_nothing() {
    let of = |record: Value, version: &str| with(record, json!({"version": version}));
    let turns = |versions: [&str; 4]| {
        let records = [
            asked(1, "Why?"),
            said(2, "It rounds."),
            asked(3, "And there?"),
            said(4, "There, too."),
        ];
        let records: Vec<Value> = records
            .into_iter()
            .zip(versions)
            .map(|(record, version)| of(record, version))
            .collect();
        read_records(&records).turns
    };
    assert_eq!(turns(["2.1.15", "2.1.16", "2.1.15", "2.1.16"]), turns(["2.1.15"; 4]));
    for end in ["/5a-c45bc32212-0.full.jsonl", "/0ccf1a04-1b4c-43b6-8aa5-79e41db43a68.jsonl"] {
        for advance in claude().read_all(end) {
            assert_eq!(sessions(&advance).len(), 1, "{end}");
            assert!(advance.turns.iter().all(|turn| !turn.prompt.is_empty()), "{end}");
        }
    }
}

/// The turns by number, as they stood last.
fn grown(advances: impl IntoIterator<Item = Advance>) -> BTreeMap<u32, Turn> {
    let turns = advances.into_iter().flat_map(|advance| advance.turns);
    turns.map(|turn| (turn.ordinal, turn)).collect()
}

#[test]
fn oddity_34_a_session_that_grows_keeps_the_names_of_its_turns() {
    let series: [&[&str]; 3] = [
        &["53-0a376fb9e2-0", "2b-b8c088bdb4-0", "4d-e153fa6df6-0"],
        &["8e-ce5fc12e98-0", "bd-e5096363d6-2", "ba-59c426c910-0"],
        &["bb-a56bfc5e94-0-c5b3d2bd", "33-3a75930344-0-c5b3d2bd"],
    ];
    for names in series {
        let versions: Vec<Sample> = names
            .iter()
            .flat_map(|name| claude().samples(&format!("/{name}.full.jsonl")))
            .collect();
        let Some(last) = versions.last() else { continue };
        let mut reader = SourceReader::new(&last.info, ResumePoint::default());
        let mut read = 0;
        let mut advances = Vec::new();
        for version in &versions {
            assert!(version.content.starts_with(&last.content[..read]), "{names:?}");
            reader.push(&version.content[read..]);
            read = version.content.len();
            advances.push(reader.drain());
        }
        let whole = grown([last.read()]);
        assert_eq!(grown(advances), whole, "{names:?}");
        let uids = |sample: &Sample| -> Vec<TurnUid> { grown([sample.read()]).values().map(|turn| turn.uid).collect() };
        for version in &versions {
            assert!(uids(last).starts_with(&uids(version)), "{names:?}");
        }
    }
}

#[test]
fn oddity_35_a_record_that_stands_twice_is_heard_once_and_a_copy_elsewhere_has_its_uid() {
    let history = [
        asked(1, "Why?"),
        ran(2, "make till"),
        said(3, "It rounds."),
        said(3, "It rounds."),
    ];
    let advance = read_records(&history);
    assert_eq!(answers(&advance), ["It rounds."]);
    let forked = history.map(|record| with(record, json!({"sessionId": "fork"})));
    let uids = |advance: &Advance| -> Vec<TurnUid> { advance.turns.iter().map(|turn| turn.uid).collect() };
    assert_eq!(uids(&read_records(&forked)), uids(&advance));
    for end in ["/edge_cases.v2.jsonl", "/edge_cases.v3.jsonl"] {
        for advance in claude().read_all(end) {
            let distinct: BTreeSet<TurnUid> = uids(&advance).into_iter().collect();
            assert_eq!(distinct.len(), advance.turns.len(), "{end}");
        }
    }
}
