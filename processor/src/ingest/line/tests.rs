use proptest::prelude::*;

use super::*;

/// Every line that `chunks` give: raw offset, lines before, bytes, oversize.
fn lines(chunks: &[&[u8]]) -> Vec<(u64, u64, Vec<u8>, bool)> {
    let mut splitter = LineSplitter::new(0, 0);
    let mut found = Vec::new();
    for chunk in chunks {
        splitter.push(chunk, |line| {
            found.push((line.start, line.index, line.bytes.to_vec(), line.oversize));
        });
    }
    found
}

fn check(input: &[u8], expected: &[&[u8]]) {
    let found: Vec<Vec<u8>> = lines(&[input]).into_iter().map(|line| line.2).collect();
    assert_eq!(found, expected);
}

#[test]
fn tc_03_lines_end_at_the_newline_byte_alone() {
    check("a\u{2028}b\u{85}c\nd\n".as_bytes(), &["a\u{2028}b\u{85}c".as_bytes(), b"d"]);
    check(b"a\x0bb\x0cc\n", &[b"a\x0bb\x0cc"]);
}

#[test]
fn tc_01_a_half_line_waits() {
    check(b"whole\nhal", &[b"whole"]);
    assert_eq!(lines(&[b"whole\nhal", b"f\n"])[1], (6, 1, b"half".to_vec(), false));
}

#[test]
fn tc_06_a_carriage_return_is_no_part_of_the_line() {
    check(b"a\r\nb\r\n\r\n", &[b"a", b"b", b""]);
    assert_eq!(
        lines(&[b"a\r", b"\nb\n"]),
        [(0, 0, b"a".to_vec(), false), (3, 1, b"b".to_vec(), false)]
    );
}

#[test]
fn positions_are_the_end_of_the_last_whole_line() {
    let mut splitter = LineSplitter::new(100, 7);
    splitter.push(b"abc\nde", |_| {});
    assert_eq!(splitter.position(), (104, 8));
    splitter.push(b"f\n", |_| {});
    assert_eq!(splitter.position(), (108, 9));
}

/// A JSON line with a string of this many base64 characters between two short ones.
fn image_line(characters: usize) -> Vec<u8> {
    format!(
        r#"{{"a":"text \" one","data":"{}","b":"text\ntwo é"}}{{"second":1}}"#,
        "QUJDREVG".repeat(characters / 8)
    )
    .into_bytes()
}

#[test]
fn tc_07_media_is_dropped_and_the_text_around_it_kept() {
    let mut input = image_line(60_000_000);
    input.push(b'\n');
    let mut splitter = LineSplitter::new(0, 0);
    let mut seen = 0;
    for chunk in input.chunks(65_536) {
        splitter.push(chunk, |line| {
            seen += 1;
            assert!(line.bytes.len() < 2_000, "{} bytes are held", line.bytes.len());
            let text = std::str::from_utf8(line.bytes).expect("still text");
            assert!(text.contains(r#""a":"text \" one""#) && text.contains(r#""b":"text\ntwo é""#));
            let second = text.find(r#"{"second""#).expect("still there");
            assert_eq!(
                line.raw_offset(second),
                input.len() as u64 - 1 - r#"{"second":1}"#.len() as u64
            );
        });
    }
    assert_eq!(seen, 1);
    assert_eq!(splitter.position(), (input.len() as u64, 1));
}

#[test]
fn a_long_string_keeps_its_head_and_stays_json() {
    let words = r"word \u00e9 and \\ more\n".repeat(300_000);
    let input = format!("{{\"text\":\"{words}\",\"after\":true}}\n");
    let found = lines(&[input.as_bytes()]);
    let value: serde_json::Value = serde_json::from_slice(&found[0].2).expect("still JSON");
    assert_eq!(value["after"], true);
    let kept = value["text"].as_str().expect("a string").len();
    assert!((2_000_000..5_000_000).contains(&kept), "{kept} bytes are kept");
}

#[test]
fn a_line_over_the_cap_is_given_up() {
    let item = format!("{:?},", "some words ".repeat(1_000));
    let input = format!("[{}0]\nnext\n", item.repeat(900));
    let found = lines(&[input.as_bytes()]);
    assert!(found[0].3 && found[0].2.is_empty());
    assert_eq!(found[1].2, b"next");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_split_gives_the_same_lines(
        pieces in prop::collection::vec(prop_oneof![
            3 => prop::collection::vec(any::<u8>(), 0..40),
            1 => (0_usize..200_000).prop_map(image_line),
            2 => Just(b"\n".to_vec()),
            1 => Just(b"\r\n".to_vec()),
        ], 0..12),
        cuts in prop::collection::vec(1_usize..100_000, 1..8),
    ) {
        let input = pieces.concat();
        let mut chunks: Vec<&[u8]> = Vec::new();
        let mut rest = input.as_slice();
        for cut in cuts.iter().cycle() {
            let (head, tail) = rest.split_at((*cut).min(rest.len()));
            chunks.push(head);
            rest = tail;
            if rest.is_empty() {
                break;
            }
        }
        prop_assert_eq!(lines(&chunks), lines(&[&input]));
    }
}
