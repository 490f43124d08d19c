//! What is odd in lines and files of any agent, by its number. Claude Code's records stand for all: what is asserted here is
//! decided before an agent's parser sees a record.

use std::collections::BTreeMap;

use remembrancer_processor::ingest::{Advance, ResumePoint, SourceReader, Turn};
use rstest::rstest;
use serde_json::json;

use super::claude_code::{answers, asked, claude, rows, said, samples, with};
use super::codex;
use super::shared::{Sample, problems, prompts};

/// What is read of these bytes.
fn read(bytes: &[u8]) -> Advance {
    claude().read_bytes(bytes, ".claude/projects/-home-ada-shop/s.jsonl")
}

/// A prompt and its answer, a line each, without line ends.
fn two_lines() -> [String; 2] {
    [asked(1, "Why?").to_string(), said(2, "It rounds.").to_string()]
}

/// The places of problems of one kind, by line.
fn places(advance: &Advance, kind: &str) -> Vec<u64> {
    let of_kind = advance.problems.iter().filter(|problem| problem.kind.as_str() == kind);
    of_kind.map(|problem| problem.line).collect()
}

#[test]
fn oddity_01_two_objects_on_one_line_are_both_read() {
    for end in ["/37-995ebed6e4-2.full.jsonl", "/5a-c45bc32212-0.full.jsonl"] {
        for sample in claude().samples(end) {
            let advance = sample.read();
            let lines = sample.content.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
            assert_eq!(advance.records, lines.count() as u64 + 1, "{end}");
            assert_eq!(problems(&advance), [""; 0], "{end}");
        }
    }
    let advance = read(two_lines().concat().as_bytes());
    assert_eq!(answers(&advance), ["It rounds."]);
}

#[test]
fn oddity_02_json_that_is_no_object_is_a_problem_of_its_line() {
    for advance in claude().read_all("/edge_cases.v2.jsonl") {
        assert_eq!(places(&advance, "not-an-object"), [13, 15, 16]);
    }
    let [prompt, answer] = two_lines();
    let advance = read(format!("\"a string\"\n{prompt}\n42\n[1]\n{answer}\n").as_bytes());
    assert_eq!(places(&advance, "not-an-object"), [1, 3, 4]);
    assert_eq!(answers(&advance), ["It rounds."]);
}

#[test]
fn oddity_03_comment_lines_are_a_problem_of_their_own() {
    for advance in claude().read_all("/edit-tool-variants.jsonl") {
        assert_eq!(places(&advance, "comment-line"), [1, 2]);
        assert!(advance.turns[0].prompt.starts_with("Please perform"));
    }
    let advance = read(format!("// sample\n{}\n", two_lines().join("\n")).as_bytes());
    assert_eq!(problems(&advance), ["comment-line"]);
}

#[test]
fn oddity_04_blank_lines_cost_nothing() {
    let whole = read(two_lines().join("\n").as_bytes());
    let apart = read(format!("\n{}\n \t\n", two_lines().join("\n\n")).as_bytes());
    assert_eq!(apart.turns, whole.turns);
    assert_eq!(places(&apart, "blank-line"), [1, 3, 5]);
    for sample in codex::samples()
        .iter()
        .filter(|sample| sample.path.to_string_lossy().ends_with("session_branch.jsonl"))
    {
        assert_eq!(places(&sample.read(), "blank-line"), [6]);
    }
}

#[test]
fn oddity_06_a_giant_picture_costs_its_line_nothing_else() {
    for sample in claude().samples("/images-in-tool-results.jsonl") {
        let advance = sample.read();
        assert!(sample.content.len() > 1_000_000 && problems(&advance).iter().all(|kind| kind == "comment-line"));
        assert_eq!(advance.turns.len(), 1);
        assert!(format!("{:?}", advance.turns).len() < 8_192, "no picture is kept");
    }
}

#[rstest]
#[case::a_summary("/d0608523-a955-427f-bdb4-4ea27ddc16b8.jsonl")]
#[case::a_warm_up("/agent-ad29d662.jsonl")]
fn oddity_07_a_file_of_one_line_may_hold_nothing(#[case] end: &str) {
    for advance in claude().read_all(end) {
        assert_eq!((advance.records, rows(&advance)), (1, 0));
        assert_eq!(problems(&advance), [""; 0]);
    }
}

#[test]
fn oddity_08_a_line_that_is_half_written_waits_for_the_rest() {
    let german = claude().samples("/9988d754-f11d-42d7-9270-24471b6ddb8f.jsonl");
    let chinese = codex::samples()
        .into_iter()
        .filter(|sample| sample.path.to_string_lossy().contains("9cd28a74-da7e"));
    let own = claude().sample(
        "/home/ada/.claude/projects/-home-ada-shop/s.jsonl".as_ref(),
        format!("{}\n{}\n", asked(1, "为什么？"), said(2, "它会四舍五入。")).into_bytes(),
        &|_| None,
    );
    for sample in german.into_iter().chain(chinese).chain([own]) {
        // Places in the midst of characters, eight of them across the file.
        let bytes = sample.content.iter().enumerate();
        let inside: Vec<usize> = bytes
            .filter(|(_, byte)| (0x80..0xC0).contains(*byte))
            .map(|(at, _)| at)
            .collect();
        for cut in inside.iter().step_by(inside.len() / 8 + 1) {
            half_written(&sample, *cut);
        }
        half_written(&sample, sample.content.len() - 2);
    }
}

/// Reads a source up to a place in the midst of a line, and then the rest.
fn half_written(sample: &Sample, cut: usize) {
    let (before, after) = sample.content.split_at(cut);
    let mut reader = SourceReader::new(&sample.info, ResumePoint::default());
    reader.push(before);
    let first = reader.drain();
    let whole_lines = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    assert_eq!(first.read.offset.0, whole_lines as u64, "{}", sample.path.display());
    assert_eq!(problems(&first), [""; 0], "{} at {cut}", sample.path.display());
    reader.push(after);
    let turns = first.turns.into_iter().chain(reader.drain().turns);
    let turns: BTreeMap<u32, Turn> = turns.map(|turn| (turn.ordinal, turn)).collect();
    assert!(
        turns.into_values().eq(sample.read().turns),
        "{} at {cut}",
        sample.path.display()
    );
}

#[test]
fn oddity_09_damage_that_was_not_seen_yet_costs_a_character_at_most() {
    let [prompt, answer] = two_lines();
    let whole = read(format!("{prompt}\n{answer}\n").as_bytes());
    let windows = format!("\u{FEFF}{prompt}\r\n{answer}\r\n");
    let after_a_crash = format!("{prompt}\n\0\0\0\0{answer}\n");
    for bytes in [windows, after_a_crash] {
        let advance = read(bytes.as_bytes());
        assert_eq!(advance.turns, whole.turns);
        assert_eq!(problems(&advance), [""; 0]);
    }
    let damaged = |bytes: &[u8]| {
        let at = prompt.find("Why?").expect("the prompt");
        read(&[&prompt.as_bytes()[..at], bytes, &prompt.as_bytes()[at + 3..], b"\n"].concat())
    };
    for bytes in [&b"Wh\xFF"[..], b"Wh\\ud800"] {
        let advance = damaged(bytes);
        assert_eq!(prompts(&advance.turns), ["Wh\u{FFFD}?"]);
        assert_eq!(problems(&advance), [""; 0]);
    }
    let nested = format!("{}{}", "[".repeat(100_000), prompt);
    assert_eq!(
        problems(&read(nested.as_bytes())),
        ["malformed-json"],
        "nested deeper than any record"
    );
}

#[test]
fn oddity_10_escapes_of_a_terminal_are_no_text() {
    let advance = read(
        format!(
            "{}\n{}\n",
            asked(1, "\u{1b}[1mWhy\u{1b}[22m?"),
            said(2, "\u{1b}[2mIt rounds.\u{1b}[22m")
        )
        .as_bytes(),
    );
    assert_eq!(
        (prompts(&advance.turns), answers(&advance)),
        (vec!["Why?"], vec!["It rounds.".to_owned()])
    );
    for turn in samples().iter().flat_map(|sample| sample.read().turns) {
        assert!(
            !turn.prompt.contains('\u{1b}') && !turn.answer().contains('\u{1b}'),
            "{}",
            turn.session
        );
    }
}

#[test]
fn oddity_11_a_number_where_a_string_is_usual_is_read_as_one() {
    let number = with(
        asked(1, "Why?"),
        json!({"timestamp": 1_772_359_201_000_i64, "retryInMs": 0.5, "isMeta": 0}),
    );
    let advance = read(format!("{number}\n").as_bytes());
    assert_eq!(prompts(&advance.turns), ["Why?"]);
    assert_eq!(advance.turns[0].started_at.0, 1_772_359_201_000);
    assert_eq!(problems(&advance), [""; 0]);
    for advance in claude().read_all("/0ccf1a04-1b4c-43b6-8aa5-79e41db43a68.jsonl") {
        assert_eq!(problems(&advance), [""; 0]);
    }
}
