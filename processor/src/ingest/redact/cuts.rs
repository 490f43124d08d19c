//! Every place that cuts a text, with a secret at every offset around the cut: none of it is left in what comes out.

use proptest::prelude::*;
use remembrancer_schema::UnixMillis;
use rstest::rstest;
use serde_json::{Value, json};

use super::*;
use crate::ingest::{Agent, Context, ResumePoint, SourceInfo, SourceReader, episodes};

/// Bytes of a secret that may not be seen together.
const WINDOW: usize = 8;

/// Secrets: what stands around them, and the part that is secret.
fn secrets() -> Vec<(&'static str, String, &'static str)> {
    let random = "q7Xw2Zk9Tb4Vn6Rm1Lc8Yd3Pf5Hs0Jg7Kt2B";
    let payload = format!("Ab3{}", "dE5fG7h".repeat(60));
    vec![
        ("", format!("ghp_{random}"), ""),
        ("postgres://app:", "hT8vKq2ZpLw9Xc4N".to_owned(), "@db.example.org/app"),
        ("DB_PASSWORD=", "tr0ub4dor9Zk7Qw".to_owned(), ""),
        ("eyJhbGciOiJIUzI1NiJ9.", format!("eyJ{payload}.{random}"), ""),
    ]
}

/// Whether any [`WINDOW`] bytes of `secret` stand in `text`.
fn leaks(text: &str, secret: &str) -> bool {
    secret
        .as_bytes()
        .windows(WINDOW)
        .any(|window| memchr::memmem::find(text.as_bytes(), window).is_some())
}

fn record(kind: &str, id: &str, content: &Value) -> Value {
    json!({"type": kind, "uuid": id, "sessionId": "s", "timestamp": "2026-03-01T10:00:00.000Z", "cwd": "/home/ada/shop",
        "message": {"content": content}})
}

fn prompt() -> Value {
    record("user", "u", &json!("why does the basket round twice?"))
}

fn says(text: &str) -> Vec<Value> {
    vec![prompt(), record("assistant", "a", &json!([{"type": "text", "text": text}]))]
}

/// A call of a tool, and its result.
fn tool(name: &str, input: &Value, content: &str, failed: bool) -> Vec<Value> {
    let call = json!([{"type": "tool_use", "id": "t", "name": name, "input": input}]);
    let result = json!([{"type": "tool_result", "tool_use_id": "t", "is_error": failed, "content": content}]);
    vec![prompt(), record("assistant", "c", &call), record("user", "r", &result)]
}

fn title(text: &str) -> Vec<Value> {
    vec![
        prompt(),
        json!({"type": "custom-title", "sessionId": "s", "customTitle": text}),
    ]
}

fn file(text: &str) -> Vec<Value> {
    tool("Edit", &json!({"file_path": format!("/home/ada/shop/{text}")}), "done", false)
}

fn command(text: &str) -> Vec<Value> {
    tool("Bash", &json!({"command": format!("make {text}")}), "done", false)
}

fn commit(text: &str) -> Vec<Value> {
    let script = format!("git commit -m \"$(cat <<'EOF'\n{text}\nEOF\n)\"");
    tool("Bash", &json!({"command": script}), "done", false)
}

fn error(text: &str) -> Vec<Value> {
    tool("Bash", &json!({"command": "make"}), &format!("error: {text}"), true)
}

/// An error whose telling line comes after what only its end shows.
fn long_error(text: &str) -> Vec<Value> {
    let content = format!("{} {text} failed to build", "is fine".repeat(100_000));
    tool("Bash", &json!({"command": "make"}), &content, true)
}

fn refusal(text: &str) -> Vec<Value> {
    let content = format!("No. To tell you how to proceed, the user said:\n{text}");
    tool("Bash", &json!({"command": "make"}), &content, true)
}

fn answers(text: &str) -> Vec<Value> {
    let content = format!("User has answered your questions: \"Which one?\"=\"{text}\". You can now go on.");
    tool("AskUserQuestion", &json!({}), &content, false)
}

fn proposed_plan(text: &str) -> Vec<Value> {
    tool("ExitPlanMode", &json!({"plan": text}), "User has approved your plan.", false)
}

fn approved_plan(text: &str) -> Vec<Value> {
    let content = format!("User has approved your plan.\n## Approved Plan:\n{text}");
    tool("ExitPlanMode", &json!({"plan": ""}), &content, false)
}

fn summary(text: &str) -> Vec<Value> {
    let mut summary = record("user", "u", &json!(text));
    summary["isCompactSummary"] = json!(true);
    vec![summary]
}

fn asks(text: &str) -> Vec<Value> {
    vec![
        record("user", "u", &json!(text)),
        record("assistant", "a", &json!("It is so.")),
    ]
}

/// A prompt of which the end is kept.
fn asks_at_length(text: &str) -> Vec<Value> {
    asks(&format!("{}\n{text}", "why is it so? ".repeat(400)))
}

fn asks_with_code(text: &str) -> Vec<Value> {
    asks(&format!("what is this?\n```\n{text}\n```"))
}

/// A prompt that leads the later parts of a long answer.
fn leads(text: &str) -> Vec<Value> {
    let answer = "It rounds each line before it adds them up.\n\n".repeat(80);
    vec![record("user", "u", &json!(text)), record("assistant", "a", &json!(answer))]
}

fn recap(text: &str) -> Vec<Value> {
    vec![
        prompt(),
        json!({"type": "system", "subtype": "away_summary", "uuid": "b", "sessionId": "s", "content": text}),
    ]
}

fn tool_name(text: &str) -> Vec<Value> {
    tool(text, &json!({}), "done", false)
}

fn queued(text: &str) -> Vec<Value> {
    let operation =
        |operation: &str| json!({"type": "queue-operation", "operation": operation, "content": text, "sessionId": "s"});
    vec![
        prompt(),
        operation("enqueue"),
        operation("remove"),
        record("assistant", "a", &json!("It is so.")),
    ]
}

fn unknown_kind(text: &str) -> Vec<Value> {
    vec![json!({"type": text})]
}

/// All that a reader gives of these records, as text.
fn given(records: &[Value]) -> String {
    let info = SourceInfo {
        agent: Agent::CLAUDE_CODE,
        name: "s".to_owned(),
        context: Context::default(),
        fallback_time: UnixMillis(0),
    };
    let mut reader = SourceReader::new(&info, ResumePoint::default());
    for record in records {
        reader.push(record.to_string().as_bytes());
        reader.push(b"\n");
    }
    let advance = reader.drain();
    let rows: Vec<_> = advance.turns.iter().flat_map(episodes).collect();
    format!("{:?}{:?}{:?}{rows:?}", advance.turns, advance.sessions, advance.problems)
}

/// Puts each secret at every `step`th offset at which a cut at `cap` bytes falls into it, or near it.
fn check(records: impl Fn(&str) -> Vec<Value>, cap: usize, step: usize) {
    for (before, secret, after) in secrets() {
        let whole = format!("{before}{secret}{after}");
        for at in (cap.saturating_sub(whole.len() + 40)..cap + 24).step_by(step) {
            let mut text = "of a basket and its lines ".repeat(at / 26 + 1);
            text.truncate(at);
            let text = format!("{} {whole} {}", text.trim_end(), "and then some ".repeat(12));
            let given = given(&records(&text));
            assert!(!leaks(&given, &secret), "{secret} at {at}: cut at {cap}");
        }
    }
}

#[rstest]
#[case::title(title, 200, 1)]
#[case::file(file, 300, 1)]
#[case::command(command, 200, 1)]
#[case::commit(commit, 200, 1)]
#[case::script(command, 32 * 1024, 17)]
#[case::error(error, 240, 1)]
#[case::refusal(refusal, 2 * 1024, 3)]
#[case::answers(answers, 2 * 1024, 3)]
#[case::proposed_plan(proposed_plan, 6 * 1024, 5)]
#[case::approved_plan(approved_plan, 6 * 1024, 5)]
#[case::summary(summary, 8 * 1024, 5)]
#[case::prompt_head(asks, 3 * 1024, 3)]
#[case::prompt_tail(asks_at_length, 200, 3)]
#[case::code_line(asks_with_code, 240, 1)]
#[case::lead(leads, 160, 1)]
#[case::part(says, 900, 3)]
#[case::recap(recap, 900, 3)]
#[case::tool_name(tool_name, 60, 7)]
#[case::queued(queued, 60, 7)]
#[case::unknown_kind(unknown_kind, 40, 1)]
#[case::answer(says, 64 * 1024, 37)]
#[case::turn(says, 128 * 1024, 37)]
fn tc_41_a_secret_at_a_cut_leaves_nothing(#[case] records: fn(&str) -> Vec<Value>, #[case] cap: usize, #[case] step: usize) {
    check(records, cap, step);
}

#[test]
fn tc_41_a_secret_at_the_end_of_what_is_searched_leaves_nothing() {
    check(long_error, 60, 61);
    // The first half of the search ends, and the second begins, within the secret.
    let (_, secret, _) = secrets().swap_remove(0);
    for at in (0..60).step_by(7) {
        let head = format!("{}\nerror {secret}", "x ".repeat((256 * 1024 - at) / 2));
        let tail = format!("error {secret} {}", "x ".repeat((256 * 1024 - at) / 2));
        let content = format!("{head}\n{}\n{tail}", "y ".repeat(10_000));
        assert!(!leaks(
            &given(&tool("Bash", &json!({"command": "make"}), &content, true)),
            &secret
        ));
    }
}

#[test]
fn tc_41_a_secret_at_the_end_of_the_longest_string_leaves_nothing() {
    let (_, secret, _) = secrets().swap_remove(0);
    for (at, space) in [(20, " "), (30, "\n"), (41, " ")] {
        let text = format!(
            "{}{space}{secret}{space}{}",
            "x".repeat(4 * 1024 * 1024 - at).replace("xxxxxxxx", "word of "),
            "and so on ".repeat(20)
        );
        assert!(!leaks(&given(&asks(&text)), &secret), "{at}");
    }
}

#[rstest]
#[case::several_lines(tool("Bash", &json!({"command": "make"}), "it broke\n<private>\nerror: my street is Elm 3, Oldtown\n</private>", true))]
#[case::announced(says("Let me keep <private>this. My street is Elm 3, Oldtown, as said before.</private> It is so."))]
fn tc_41_what_is_private_leaves_nothing(#[case] records: Vec<Value>) {
    assert!(!leaks(&given(&records), "my street is Elm 3, Oldtown"));
    assert!(!leaks(&given(&records), "My street is Elm 3, Oldtown"));
}

#[test]
fn prompts_that_differ_in_a_secret_are_two_turns() {
    let (_, secret, _) = secrets().swap_remove(0);
    let turns = |first: &str, second: &str| {
        let records = [record("user", "u1", &json!(first)), record("user", "u2", &json!(second))];
        given(&records).matches("Turn {").count()
    };
    let other = secret.replace('q', "z");
    assert_eq!(turns(&format!("use {secret}"), &format!("use {other}")), 2);
    assert_eq!(turns(&format!("use {secret}"), &format!("use {secret}")), 1);
}

proptest! {
    #[test]
    fn tc_41_a_redacted_head_holds_no_part_of_a_secret(
        filler in "([a-z]{1,9}[ \"\n.é一]){0,60}",
        times in 1_usize..20,
        cap in 1_usize..3_000,
        long in any::<bool>(),
    ) {
        let block = format!("-----BEGIN RSA PRIVATE KEY-----\n{}\n", "MIIEpQIBAAKCAQEA7Xw2Zk9Tb4Vn6Rm1\n".repeat(if long { 200 } else { 2 }));
        for (before, secret, after) in secrets() {
            let text = format!("{filler} {before}{secret}{after} {block}-----END RSA PRIVATE KEY----- ").repeat(times);
            let redacted = redact_head(&text, cap);
            let kept = text::head(&redacted, cap);
            prop_assert!(!leaks(kept, &secret) && !leaks(kept, "MIIEpQIBAAKCAQEA"), "{kept}");
        }
    }
}
