use rstest::rstest;

use super::*;
use crate::ingest::lenient::Text;
use crate::ingest::line::LineSplitter;

crate::ingest::lenient::wire_struct! {
    /// A record with one field.
    Said { "s" => said: Text<'a>, }
}

/// Notes what a line gives, each with its offset.
#[derive(Default)]
struct Notes(Vec<String>);

impl RecordSink for Notes {
    type Record<'a> = Said<'a>;

    fn record(&mut self, record: Said<'_>, at: ResumePoint) {
        self.0.push(format!("{}:{}", at.offset.0, record.said.as_str()));
    }

    fn problem(&mut self, kind: ProblemKind, at: ResumePoint) {
        self.0.push(format!("{}!{}", at.offset.0, kind.as_str()));
    }
}

fn read(line: &[u8]) -> Vec<String> {
    let mut notes = Notes::default();
    let mut splitter = LineSplitter::new(0, 0);
    splitter.push(&[line, b"\n"].concat(), |line| read_values(line, &mut notes));
    notes.0
}

#[rstest]
#[case::one(br#"{"s":"a"}"#, &["0:a"])]
#[case::two_on_a_line(br#"{"s":"a"}{"s":"b"}"#, &["0:a", "9:b"])]
#[case::two_apart(br#" {"s":"a"}  {"s":"b"} "#, &["1:a", "12:b"])]
#[case::good_then_bad(br#"{"s":"a"}{"s":"#, &["0:a", "9!malformed-json"])]
#[case::tc_02_fused_prefix(br#"{"type":"user","mes{"s":"a"}"#, &["0!malformed-json"])]
#[case::not_json(b"hello", &["0!malformed-json"])]
#[case::string(br#""hello""#, &["0!not-an-object"])]
#[case::number(b"42", &["0!not-an-object"])]
#[case::list(br#"[{"s":"a"}]"#, &["0!not-an-object"])]
#[case::blank(b"", &["0!blank-line"])]
#[case::spaces(b" \t ", &["0!blank-line"])]
#[case::nul(b"\0\0\0", &["0!blank-line"])]
#[case::nul_before(b"\0\0{\"s\":\"a\"}", &["2:a"])]
#[case::byte_order_mark(b"\xEF\xBB\xBF{\"s\":\"a\"}", &["3:a"])]
#[case::comment(b"// a comment", &["0!comment-line"])]
#[case::tc_05_invalid_utf8(b"{\"s\":\"a\xFF\xFEb\xE4\xBDc\"}", &["0:a\u{FFFD}\u{FFFD}b\u{FFFD}c"])]
#[case::tc_04_lone_surrogate(br#"{"s":"a\ud83db\ud83d\ude00c\udc00"}"#, &["0:a\u{FFFD}b\u{1F600}c\u{FFFD}"])]
#[case::escaped_backslash(br#"{"s":"\\ud83d"}"#, &["0:\\ud83d"])]
#[case::raw_control(b"{\"s\":\"a\x01b\"}", &["0:a b"])]
#[case::mended_then_second(b"{\"s\":\"\\ud83d\"}{\"s\":\"b\"}", &["0:\u{FFFD}", "14:b"])]
#[case::repeated_key(br#"{"s":"a","s":"b"}"#, &["0:b"])]
#[case::other_type(br#"{"s":{"deep":[1,2,{"s":"x"}]}}"#, &["0:"])]
#[case::number_for_string(br#"{"s":17}"#, &["0:17"])]
fn lines_give(#[case] line: &[u8], #[case] expected: &[&str]) {
    assert_eq!(read(line), expected);
}

#[test]
fn nesting_of_what_is_passed_over_has_no_limit() {
    let deep = format!(r#"{{"x":{}1{},"s":"a"}}"#, "[".repeat(10_000), "]".repeat(10_000));
    assert_eq!(read(deep.as_bytes()), ["0:a"]);
}
