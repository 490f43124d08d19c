//! One line into its JSON objects: usually one, several where a newline was lost between two writers (ODDITIES 1).
//!
//! A value that doesn't parse as it stands is tried once more with its damage mended: invalid UTF-8 and unpaired
//! surrogates cost that character, raw control characters become spaces. What still fails is one malformed line.

use std::borrow::Cow;

use remembrancer_schema::ByteOffset;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::ResumePoint;
use super::line::Line;
use super::problem::ProblemKind;

/// Takes the records of a line, in order.
pub(crate) trait RecordSink {
    /// The agent's wire type.
    type Record<'a>: Deserialize<'a>;

    /// Takes a record that begins at `at`; its turn is not filled in.
    fn record(&mut self, record: Self::Record<'_>, at: ResumePoint);

    /// Takes note of something unreadable that begins at `at`.
    fn problem(&mut self, kind: ProblemKind, at: ResumePoint);
}

/// Reads every value of `line` into `sink`.
pub(crate) fn read_values<S: RecordSink>(line: &Line<'_>, sink: &mut S) {
    let place = |offset| ResumePoint {
        offset: ByteOffset(offset),
        line: line.index,
        turn: 0,
    };
    let start = place(line.start);
    if line.oversize {
        return sink.problem(ProblemKind::OversizeLine, start);
    }
    let mut at = line.bytes.len() - skip_padding(line.bytes).len();
    if at == line.bytes.len() {
        return sink.problem(ProblemKind::BlankLine, start);
    }
    if line.bytes[at..].starts_with(b"//") {
        return sink.problem(ProblemKind::CommentLine, start);
    }
    while at < line.bytes.len() {
        let offset = place(line.raw_offset(at));
        let rest = &line.bytes[at..];
        let Some(used) = read_value(rest, offset, sink) else {
            return read_mended(rest, offset, sink);
        };
        at += used;
        at += rest[used..].len() - skip_padding(&rest[used..]).len();
    }
}

/// Reads the value that `bytes` begins with; gives its length, or none if there is no value to read.
fn read_value<S: RecordSink>(bytes: &[u8], at: ResumePoint, sink: &mut S) -> Option<usize> {
    if bytes.first() == Some(&b'{') {
        let mut values = serde_json::Deserializer::from_slice(bytes).into_iter::<S::Record<'_>>();
        let record = values.next()?.ok()?;
        let used = values.byte_offset();
        sink.record(record, at);
        Some(used)
    } else {
        let mut values = serde_json::Deserializer::from_slice(bytes).into_iter::<IgnoredAny>();
        values.next()?.ok()?;
        sink.problem(ProblemKind::NotAnObject, at);
        Some(values.byte_offset())
    }
}

/// Reads what is left of a damaged line, mended if that helps.
fn read_mended<S: RecordSink>(bytes: &[u8], at: ResumePoint, sink: &mut S) {
    let Some(mended) = mend(bytes) else {
        return sink.problem(ProblemKind::MalformedJson, at);
    };
    // Mending that keeps the length keeps the offsets; else the whole rest counts from its beginning.
    let same_length = mended.len() == bytes.len();
    let mut place = 0;
    while place < mended.len() {
        let offset = ResumePoint {
            offset: ByteOffset(at.offset.0 + if same_length { place as u64 } else { 0 }),
            ..at
        };
        let rest = &mended[place..];
        let Some(used) = read_value(rest, offset, sink) else {
            return sink.problem(ProblemKind::MalformedJson, offset);
        };
        place += used;
        place += rest[used..].len() - skip_padding(&rest[used..]).len();
    }
}

/// `bytes` with invalid UTF-8, unpaired surrogate escapes and raw control characters replaced; none if there are none.
fn mend(bytes: &[u8]) -> Option<Vec<u8>> {
    let text = String::from_utf8_lossy(bytes);
    let mut changed = matches!(text, Cow::Owned(_));
    let mut mended = text.into_owned().into_bytes();
    for byte in &mut mended {
        if *byte < 0x20 && !matches!(*byte, b'\t' | b'\n' | b'\r') || *byte == b'\t' {
            *byte = b' ';
            changed = true;
        }
    }
    changed |= mend_surrogates(&mut mended);
    changed.then_some(mended)
}

/// Turns every unpaired `\uD8xx` … `\uDFxx` escape into `\uFFFD`, in place.
fn mend_surrogates(bytes: &mut [u8]) -> bool {
    let mut changed = false;
    let mut at = 0;
    while at + 1 < bytes.len() {
        if bytes[at] != b'\\' {
            at += 1;
            continue;
        }
        let unit = escaped_unit(&bytes[at..]);
        match unit {
            Some(0xD800..=0xDBFF) if matches!(escaped_unit(&bytes[at + 6..]), Some(0xDC00..=0xDFFF)) => at += 12,
            Some(0xD800..=0xDFFF) => {
                bytes[at + 2..at + 6].copy_from_slice(b"FFFD");
                changed = true;
                at += 6;
            }
            _ => at += 2,
        }
    }
    changed
}

/// The code unit of a `\uXXXX` escape that `bytes` begins with.
fn escaped_unit(bytes: &[u8]) -> Option<u16> {
    let digits = bytes.strip_prefix(b"\\u")?.get(..4)?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// `bytes` after white space, NUL bytes and byte order marks.
fn skip_padding(mut bytes: &[u8]) -> &[u8] {
    loop {
        match bytes {
            [b' ' | b'\t' | b'\r' | b'\n' | 0, rest @ ..] | [0xEF, 0xBB, 0xBF, rest @ ..] => bytes = rest,
            _ => return bytes,
        }
    }
}

#[cfg(test)]
mod tests;
