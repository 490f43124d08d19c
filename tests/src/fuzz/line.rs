//! The line reader: every whole line once, at its raw offset, whatever the chunks.
//!
//! In an input a byte 0xFE and the two after it stand for a run, so that long lines need few bytes: the second byte, 256 times as
//! often as the first says.

use remembrancer_processor::ingest::testing::{LONGEST_WHOLE_LINE, lines};
use serde::de::IgnoredAny;

use super::input::Dice;

pub(super) fn run(data: &[u8]) {
    let file = unpacked(data);
    let mut dice = Dice::of(data);
    let expected = whole_lines(&file);
    let mut seen: Vec<(u64, u64, Vec<u8>, bool)> = Vec::new();
    let end = lines(&[&file], |line| {
        let (start, raw) = expected[line.index() as usize];
        assert_eq!(line.start(), start, "line {}", line.index());
        assert!(!line.oversize(), "a line of {} bytes is given up", raw.len());
        check_offsets(line, raw);
        check_json(line.bytes(), raw);
        seen.push((line.start(), line.index(), line.bytes().to_vec(), line.oversize()));
    });
    assert_eq!(seen.len(), expected.len());
    let length: u64 = expected.iter().map(|(_, raw)| raw.len() as u64 + 1).sum();
    assert_eq!(end, (length, expected.len() as u64));
    let mut again = Vec::new();
    let end_again = lines(&dice.split(&file), |line| {
        again.push((line.start(), line.index(), line.bytes().to_vec(), line.oversize()));
    });
    assert!(seen == again && end == end_again, "other lines by another split");
}

fn unpacked(data: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut rest = data;
    while let [byte, after @ ..] = rest {
        rest = after;
        match (*byte, after) {
            (0xFE, [count, what, after @ ..]) if file.len() < 1 << 20 => {
                file.resize(file.len() + usize::from(*count) * 256, *what);
                rest = after;
            }
            (byte, _) => file.push(byte),
        }
    }
    file
}

/// The whole lines of a file without their newlines, each with its offset.
fn whole_lines(file: &[u8]) -> Vec<(u64, &[u8])> {
    let mut lines = Vec::new();
    let mut start = 0;
    for (at, _) in file.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
        lines.push((start as u64, &file[start..at]));
        start = at + 1;
    }
    lines
}

/// A short line is given whole; each byte of a squeezed one is the one at its raw offset.
fn check_offsets(line: &remembrancer_processor::ingest::testing::SeenLine<'_>, raw: &[u8]) {
    let bytes = line.bytes();
    if raw.len() <= LONGEST_WHOLE_LINE {
        assert_eq!(bytes, raw.strip_suffix(b"\r").unwrap_or(raw));
    }
    let step = 1 + bytes.len() / 2_000;
    let mut before = None;
    for at in (0..bytes.len()).step_by(step) {
        let offset = line.raw_offset(at) - line.start();
        assert!(before < Some(offset), "offsets do not grow");
        before = Some(offset);
        assert_eq!(raw.get(offset as usize), Some(&bytes[at]), "byte {at} stands at {offset}");
    }
}

/// A line that is JSON is JSON when it was squeezed.
fn check_json(bytes: &[u8], raw: &[u8]) {
    if bytes.len() < raw.len() && serde_json::from_slice::<IgnoredAny>(raw).is_ok() {
        assert!(
            serde_json::from_slice::<IgnoredAny>(bytes).is_ok(),
            "squeezing broke a line of JSON"
        );
    }
}
