//! Claude Code's transcripts, in fixtures of our own: what becomes a turn, what doesn't, and what is noted beside them.

use remembrancer_processor::ingest::{Advance, Agent, Context, ResumePoint, SourceInfo, SourceReader, Turn, episodes};
use remembrancer_schema::{ByteOffset, Facets, Importance, NewEpisode, Origin, UnixMillis};
use serde_json::{Value, json};

fn info() -> SourceInfo {
    SourceInfo {
        agent: Agent::CLAUDE_CODE,
        name: "stem".to_owned(),
        context: Context::default(),
        fallback_time: UnixMillis(1_700_000_000_000),
    }
}

fn read(content: &[u8]) -> Advance {
    let mut reader = SourceReader::new(&info(), ResumePoint::default());
    reader.push(content);
    reader.drain()
}

fn fixture(name: &str) -> Advance {
    let path = format!(
        "{}/tests/fixtures/agents/claude-code/.claude/projects/-home-ada-shop/{name}.jsonl",
        env!("CARGO_MANIFEST_DIR")
    );
    read(&fs_err::read(path).expect("a fixture"))
}

fn rows(advance: &Advance) -> Vec<NewEpisode> {
    advance.turns.iter().flat_map(episodes).collect()
}

/// Turns as readable text: origin, prompt, texts and what was touched.
fn shown(turns: &[Turn]) -> String {
    let mut lines = Vec::new();
    for turn in turns {
        let Facets {
            files,
            commands,
            errors,
            tools,
        } = turn.facets();
        lines.push(format!("#{} {} {:?}", turn.ordinal, turn.origin.as_str(), turn.prompt));
        lines.extend(turn.steps.iter().map(|step| format!("  {:?}", step.text)));
        lines.push(format!(
            "  files {files:?} commands {commands:?} errors {errors:?} tools {tools:?} committed {} fixed {}",
            turn.committed, turn.error_fixed
        ));
    }
    lines.join("\n")
}

fn problems(advance: &Advance) -> Vec<String> {
    advance
        .problems
        .iter()
        .map(|problem| format!("{}: {}", problem.line, problem.kind.as_str()))
        .collect()
}

/// A transcript of these records.
fn lines(records: &[Value]) -> Vec<u8> {
    records
        .iter()
        .flat_map(|record| [record.to_string(), "\n".to_owned()])
        .collect::<String>()
        .into_bytes()
}

fn user(id: &str, text: &str) -> Value {
    json!({"type": "user", "uuid": id, "sessionId": "s1", "timestamp": "2026-03-01T10:00:00.000Z", "cwd": "/home/ada/shop",
        "message": {"role": "user", "content": text}})
}

fn assistant(id: &str, text: &str) -> Value {
    json!({"type": "assistant", "uuid": id, "sessionId": "s1", "timestamp": "2026-03-01T10:00:01.000Z", "cwd": "/home/ada/shop",
        "message": {"role": "assistant", "content": [{"type": "text", "text": text}]}})
}

#[test]
fn tc_13_a_conversation() {
    let advance = fixture("conversation");
    insta::assert_snapshot!(shown(&advance.turns));
    assert_eq!(
        problems(&advance),
        [
            "36: unknown-record:brand-new-kind",
            "37: unknown-record:system/brand_new_subtype"
        ]
    );
    let rows = rows(&advance);
    let rules: Vec<&str> = rows.iter().map(|row| row.importance_rule.as_str()).collect();
    assert_eq!(rules, ["error-fixed", "commit-made"], "thanks are no memory");
    assert!(rows.iter().all(|row| !row.answer.contains("An old memory")));
    let session = &advance.sessions[0];
    assert_eq!(session.title.as_deref(), Some("Rounding the basket"));
    assert_eq!(session.session.external_id, "5e55-0001");
    assert!(session.started_at.is_some());
}

#[test]
fn subagents_in_the_main_file_have_turns_of_their_own() {
    insta::assert_snapshot!(shown(&fixture("sidechains").turns));
}

#[test]
fn tc_12_a_compaction_is_no_turn_and_ends_none() {
    let advance = fixture("compacted");
    insta::assert_snapshot!(shown(&advance.turns));
    assert!(advance.sessions[0].compacted_at > advance.sessions[0].started_at);
}

#[test]
fn prompts_typed_while_a_turn_ran_are_turns() {
    insta::assert_snapshot!(shown(&fixture("queued").turns));
}

#[test]
fn tc_01_the_rest_of_a_half_line_completes_it() {
    let content = lines(&[
        user("u1", "first question, a long one"),
        assistant("a1", "first answer"),
        user("u2", "second question"),
    ]);
    let half = content.len() - 40;
    let mut reader = SourceReader::new(&info(), ResumePoint::default());
    reader.push(&content[..half]);
    let first = reader.drain();
    assert_eq!((first.turns.len(), first.records, first.skipped), (1, 2, 0));
    reader.push(&content[half..]);
    let second = reader.drain();
    assert_eq!((second.turns.len(), second.records, second.skipped), (1, 1, 0));
    assert_eq!(second.turns[0].prompt, "second question");
    assert_eq!(second.read.offset, ByteOffset(content.len() as u64));
    assert_eq!(reader.drain().turns, []);
}

#[test]
fn tc_02_a_fused_line_is_one_problem_and_is_counted_once() {
    let mut content = b"{\"type\":\"user\",\"mess".to_vec();
    content.extend(lines(&[
        user("u1", "lost"),
        user("u2", "kept question"),
        assistant("a2", "kept answer"),
    ]));
    let advance = read(&content);
    assert_eq!(problems(&advance), ["1: malformed-json"]);
    assert_eq!(advance.turns[0].prompt, "kept question");
}

#[test]
fn tc_06_line_ends_do_not_matter() {
    let content = lines(&[
        user("u1", "a question\r\nof two lines"),
        assistant("a1", "an answer\r\nof two"),
    ]);
    let with_returns = String::from_utf8(content.clone()).expect("text").replace('\n', "\r\n");
    assert_eq!(rows(&read(&content)), rows(&read(with_returns.as_bytes())));
    assert_eq!(rows(&read(&content))[0].prompt, "a question\nof two lines");
}

#[test]
fn tc_07_a_giant_image_costs_its_line_nothing_else() {
    let data = "QUJDREVGR0g=".repeat(1_000_000);
    let mut prompt = user("u1", "");
    prompt["message"]["content"] = json!([{"type": "image", "source": {"type": "base64", "data": data}}, {"type": "text", "text": "what is in this picture?"}]);
    let advance = read(&lines(&[prompt, assistant("a1", &format!("A robot. {data}"))]));
    let rows = rows(&advance);
    assert_eq!(rows[0].prompt, "what is in this picture?");
    assert!(
        rows[0].answer.starts_with("A robot.") && rows[0].answer.len() < 100,
        "{}",
        rows[0].answer.len()
    );
}

#[test]
fn tc_09_a_fork_gives_the_same_uids() {
    let history = [
        user("u1", "how is the cache filled?"),
        assistant("a1", "On the first read."),
        user("u2", "and emptied?"),
        assistant("a2", "By age."),
    ];
    let mut forked = history.to_vec();
    for record in &mut forked {
        record["sessionId"] = json!("s2");
    }
    forked.extend([user("u3", "how old may an entry get?"), assistant("a3", "An hour.")]);
    let (old, new) = (read(&lines(&history)), read(&lines(&forked)));
    let uids = |advance: &Advance| rows(advance).iter().map(|row| row.uid).collect::<Vec<_>>();
    assert_eq!(uids(&new)[..2], uids(&old));
    assert_eq!(
        new.turns.iter().map(|turn| turn.session.as_str()).collect::<Vec<_>>(),
        ["s2", "s2", "s1"]
    );
    // The same within one file.
    let repeated = read(&lines(&[history.to_vec(), history.to_vec()].concat()));
    assert_eq!(uids(&repeated)[2..], uids(&old));
    assert_eq!(rows(&repeated)[2].answer, rows(&old)[0].answer);
}

#[test]
fn tc_16_memory_does_not_feed_on_itself() {
    let mut seen = "nothing yet".to_owned();
    for round in 0..50 {
        let block = format!("<remembrancer-recollections prompt=\"{round}\">\n{seen}\n</remembrancer-recollections>");
        let mut prompt = user(&format!("u{round}"), &format!("{block}\nquestion number {round}"));
        prompt["timestamp"] = json!(format!("2026-03-01T10:{round:02}:00Z"));
        let reply = assistant(
            &format!("a{round}"),
            &format!("As remembered: {block} the answer is {round}."),
        );
        let hook = json!({"type": "attachment", "uuid": format!("h{round}"), "attachment": {"type": "hook_success", "content": block, "stdout": block}});
        let rows = rows(&read(&lines(&[prompt, hook, reply])));
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].prompt, format!("question number {round}"));
        assert!(!format!("{rows:?}").contains("remembrancer-recollections") && rows[0].answer.len() < 60);
        seen = format!("Q: {}\nA: {}", rows[0].prompt, rows[0].answer);
    }
}

#[test]
fn tc_18_our_own_tools_leave_no_trace() {
    let call = |id: &str, name: &str, input: Value| {
        json!({"type": "assistant", "uuid": id, "sessionId": "s1", "timestamp": "2026-03-01T10:00:02Z",
            "message": {"role": "assistant", "content": [{"type": "tool_use", "id": format!("t{id}"), "name": name, "input": input}]}})
    };
    let result = |id: &str| {
        json!({"type": "user", "uuid": format!("r{id}"), "sessionId": "s1", "timestamp": "2026-03-01T10:00:03Z",
            "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": format!("t{id}"), "is_error": true, "content": "error: nothing remembered"}]}})
    };
    let advance = read(&lines(&[
        user("u1", "what did we say about the cache?"),
        call("a1", "Bash", json!({"command": "remembrancer recall cache"})),
        result("a1"),
        call("a2", "mcp__remembrancer__search", json!({"query": "cache"})),
        result("a2"),
        assistant("a3", "I have no memory of that."),
    ]));
    assert!(advance.turns[0].facets().is_empty());
    assert_eq!(rows(&advance), []);
}

#[test]
fn tc_20_of_a_large_output_one_line_is_kept() {
    let output = format!(
        "Exit code 1\n{}error: the disk is full\n{}",
        "building\n".repeat(30_000),
        "cleaning up\n".repeat(200)
    );
    let call = json!({"type": "assistant", "uuid": "a1", "sessionId": "s1", "timestamp": "2026-03-01T10:00:02Z",
        "message": {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "make all"}}]}});
    let result = json!({"type": "user", "uuid": "r1", "sessionId": "s1", "timestamp": "2026-03-01T10:00:03Z", "toolUseResult": output,
        "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "is_error": true, "content": output}]}});
    let rows = rows(&read(&lines(&[user("u1", "build it"), call, result])));
    assert_eq!(rows[0].facets.errors, ["error: the disk is full"]);
    assert!(format!("{rows:?}").len() < 1_000);
}

#[test]
fn tc_34_folders_and_branches_come_from_the_records() {
    let mut second = user("u2", "and in the other tree?");
    second["cwd"] = json!("/home/ada/shop-worktree");
    second["gitBranch"] = json!("feature");
    let mut nowhere = user("u3", "and what is missing there?");
    nowhere["cwd"] = Value::Null;
    let advance = read(&lines(&[
        user("u1", "what is here?"),
        assistant("a1", "A shop."),
        second,
        assistant("a2", "The same, on a branch."),
        nowhere,
    ]));
    let places: Vec<_> = advance
        .turns
        .iter()
        .map(|turn| (turn.cwd.as_deref(), turn.git_branch.as_deref()))
        .collect();
    assert_eq!(
        places,
        [
            (Some("/home/ada/shop"), None),
            (Some("/home/ada/shop-worktree"), Some("feature")),
            // Where the record before it was written.
            (Some("/home/ada/shop"), None),
        ]
    );
}

#[test]
fn tc_35_times_that_are_none_take_the_one_before() {
    let mut odd = user("u2", "a question at no time");
    odd["timestamp"] = json!("yesterday");
    let mut none = user("u3", "a question without a time");
    none.as_object_mut().expect("an object").remove("timestamp");
    let advance = read(&lines(&[none.clone(), user("u1", "a question in time"), odd, none]));
    let times: Vec<i64> = advance.turns.iter().map(|turn| turn.started_at.0).collect();
    assert_eq!(
        times,
        [1_700_000_000_000, 1_772_359_200_000, 1_772_359_200_000, 1_772_359_200_000]
    );
}

#[test]
fn tc_35_times_that_cannot_be_take_the_one_before_and_are_counted() {
    let at = |id: &str, time: &str| {
        let mut record = user(id, &format!("a question of {id}"));
        record["timestamp"] = json!(time);
        record
    };
    let mut reader = SourceReader::new(&info(), ResumePoint::default());
    reader.by(UnixMillis(1_772_359_200_000 + 3_600_000));
    reader.push(&lines(&[
        at("u0", "1969-12-31T23:59:59Z"),
        user("u1", "a question in time"),
        at("u2", "9999-12-31T23:59:59Z"),
        at("u3", "2099-01-01T00:00:00Z"),
        at("u4", "1970-01-01T00:00:00Z"),
        at("u5", "2026-03-02T10:00:00Z"),
        at("u6", "2026-03-02T11:00:01Z"),
    ]));
    let advance = reader.drain();
    let times: Vec<i64> = advance.turns.iter().map(|turn| turn.started_at.0).collect();
    let (told, within_a_day) = (1_772_359_200_000, 1_772_445_600_000);
    assert_eq!(times, [1_700_000_000_000, told, told, told, told, within_a_day, within_a_day]);
    assert_eq!(advance.mistimed, 5);
}

#[test]
fn tc_41_secrets_are_gone_from_every_row() {
    let secret = format!("sk-ant-api03-{}", "aB3d".repeat(8));
    let title = json!({"type": "ai-title", "aiTitle": format!("Using {secret}"), "sessionId": "s1"});
    let advance = read(&lines(&[
        user("u1", &format!("the key is {secret}, use it")),
        assistant("a1", &format!("Set {secret} in the settings.")),
        title,
    ]));
    assert!(!format!("{:?}{:?}", rows(&advance), advance.sessions).contains("aB3daB3d"));
}

#[test]
fn a_transcript_of_a_subagent_is_below_its_parent() {
    let subagent = SourceInfo {
        context: Context {
            subagent: true,
            ..Context::default()
        },
        name: "agent-1".to_owned(),
        ..info()
    };
    let mut reader = SourceReader::new(&subagent, ResumePoint::default());
    let mut task = user("u1", "Find every caller of the parser.");
    task["isSidechain"] = json!(true);
    let mut reply = assistant("a1", "There are two: import and preview.");
    reply["isSidechain"] = json!(true);
    let mut warm_up = user("u2", "Warmup");
    warm_up["isSidechain"] = json!(true);
    reader.push(&lines(&[
        task,
        reply,
        warm_up,
        assistant("a2", "I'm ready to help you with the code base!"),
    ]));
    let advance = reader.drain();
    let rows = rows(&advance);
    assert_eq!(rows.len(), 1);
    assert_eq!(
        (rows[0].origin, rows[0].prompt.as_str()),
        (Origin::Subagent, "Find every caller of the parser.")
    );
    assert_eq!(advance.turns[0].session, "s1", "the parent's session");
}

#[test]
fn a_lone_summary_is_kept_until_there_is_something_else() {
    let mut summary = user(
        "u1",
        "This session is being continued from a previous conversation that ran out of context.\nSummary:\n1. Primary Request: a cache.",
    );
    summary["isCompactSummary"] = json!(true);
    let mut reader = SourceReader::new(&info(), ResumePoint::default());
    reader.push(&lines(&[summary]));
    let first = reader.drain();
    let kept = rows(&first);
    assert_eq!(
        (kept[0].answer.as_str(), kept[0].importance),
        ("1. Primary Request: a cache.", Importance::Low)
    );
    reader.push(&lines(&[
        user("u2", "go on with the eviction"),
        assistant("a2", "The oldest entry goes first now."),
    ]));
    let second = reader.drain();
    assert_eq!(second.turns[0].uid, first.turns[0].uid);
    assert_eq!(episodes(&second.turns[0]), [], "retired");
    assert_eq!(rows(&second).len(), 1);
}

#[test]
fn a_transcript_may_begin_in_the_middle() {
    let mut first = assistant("a1", "The migration is done; the old table is kept for a week.");
    first["timestamp"] = json!("2026-03-01T09:59:59.000Z");
    let advance = read(&lines(&[
        first,
        user("u1", "why a week?"),
        assistant("a2", "Backups are kept for a week, too."),
    ]));
    let prompts: Vec<&str> = advance.turns.iter().map(|turn| turn.prompt.as_str()).collect();
    assert_eq!(prompts, ["", "why a week?"]);
    assert_eq!(rows(&advance).len(), 2);
}
