//! A file of lines, a handful at a time: as many as go into one request and one transaction. In go bytes, out come texts with their
//! numbers, and what is wrong with lines that are no text. A line longer than any is skipped without being held.

use std::io::{self, BufRead, Read};

use remembrancer_hooks::protocol::MAX_REQUEST_BYTES;

/// Lines of a handful: a transaction of so many takes a fraction of a second.
const MOST_LINES: usize = 256;
/// Bytes that a request has beside its lines.
const ENVELOPE: usize = 256;
/// Bytes of a handful as a request holds it, but for one line that is longer by itself.
const MOST_BYTES: usize = 256 << 10;

/// Lines that are stored together.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Handful {
    /// Their texts, without their ends.
    pub(super) lines: Vec<String>,
    /// Their 1-based numbers in the file.
    pub(super) numbers: Vec<u64>,
    /// Lines that are no text, by their numbers, and why.
    pub(super) problems: Vec<(u64, String)>,
}

impl Handful {
    /// Adds a line, and gives the bytes that it takes in a request.
    fn add(&mut self, number: u64, text: String) -> usize {
        let bytes = escaped(&text);
        self.lines.push(text);
        self.numbers.push(number);
        bytes
    }
}

/// The handfuls of a file.
pub(super) struct Handfuls<R> {
    input: R,
    number: u64,
    /// Bytes of the lines so far, with their ends.
    bytes: u64,
    /// What was read and goes into the next.
    kept: Option<(u64, String)>,
}

/// One line of the file.
enum Line {
    Text(String),
    Bad(&'static str),
}

impl<R: BufRead> Handfuls<R> {
    pub(super) fn of(input: R) -> Self {
        Self {
            input,
            number: 0,
            bytes: 0,
            kept: None,
        }
    }

    /// Lines read so far.
    pub(super) fn lines(&self) -> u64 {
        self.number
    }

    /// Bytes read so far.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The next; `None` at the end.
    ///
    /// # Errors
    /// Of reading.
    pub(super) fn next(&mut self) -> io::Result<Option<Handful>> {
        let (mut handful, mut full) = (Handful::default(), 0);
        if let Some((number, text)) = self.kept.take() {
            full += handful.add(number, text);
        }
        while handful.lines.len() < MOST_LINES && handful.problems.len() < MOST_LINES && full < MOST_BYTES {
            let Some(line) = self.line()? else {
                let is_empty = handful.lines.is_empty() && handful.problems.is_empty();
                return Ok((!is_empty).then_some(handful));
            };
            match line {
                Line::Text(text) if text.trim().is_empty() => {}
                Line::Text(text) if escaped(&text) + ENVELOPE > MAX_REQUEST_BYTES => {
                    handful.problems.push((self.number, TOO_LONG.to_owned()));
                }
                Line::Text(text) if full + escaped(&text) + ENVELOPE > MAX_REQUEST_BYTES => {
                    self.kept = Some((self.number, text));
                    break;
                }
                Line::Text(text) => full += handful.add(self.number, text),
                Line::Bad(why) => handful.problems.push((self.number, why.to_owned())),
            }
        }
        Ok(Some(handful))
    }

    fn line(&mut self) -> io::Result<Option<Line>> {
        let mut bytes = Vec::new();
        let read = self
            .input
            .by_ref()
            .take(MAX_REQUEST_BYTES as u64)
            .read_until(b'\n', &mut bytes)?;
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        self.bytes += read as u64;
        if bytes.last() == Some(&b'\n') {
            bytes.pop();
        } else if read == MAX_REQUEST_BYTES {
            self.skip_line()?;
            return Ok(Some(Line::Bad(TOO_LONG)));
        }
        Ok(Some(
            String::from_utf8(bytes).map_or(Line::Bad("it is not UTF-8"), Line::Text),
        ))
    }

    fn skip_line(&mut self) -> io::Result<()> {
        loop {
            let buffer = self.input.fill_buf()?;
            if buffer.is_empty() {
                return Ok(());
            }
            let (length, ends) = match buffer.iter().position(|byte| *byte == b'\n') {
                Some(place) => (place + 1, true),
                None => (buffer.len(), false),
            };
            self.input.consume(length);
            self.bytes += length as u64;
            if ends {
                return Ok(());
            }
        }
    }
}

const TOO_LONG: &str = "it is longer than any line of an export";

/// Bytes of a text as a string of JSON, with its quotes and a comma.
fn escaped(text: &str) -> usize {
    let byte = |byte: u8| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 2,
        0..0x20 => 6,
        _ => 1,
    };
    text.bytes().map(byte).sum::<usize>() + 3
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8]) -> Vec<Handful> {
        let mut handfuls = Handfuls::of(bytes);
        std::iter::from_fn(|| handfuls.next().unwrap()).collect()
    }

    #[test]
    fn lines_keep_their_numbers_and_blank_ones_are_none() {
        let found = all(b"one\n\n  \nfour\r\n\xff\nsix");
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].lines, ["one", "four\r", "six"]);
        assert_eq!(found[0].numbers, [1, 4, 6]);
        assert_eq!(found[0].problems, [(5, "it is not UTF-8".to_owned())]);
        let mut handfuls = Handfuls::of(&b"one\n\ntwo"[..]);
        handfuls.next().unwrap();
        assert_eq!((handfuls.lines(), handfuls.bytes()), (3, 8));
        assert_eq!(all(b""), []);
        assert_eq!(all(b"\n\n"), []);
    }

    #[test]
    fn a_handful_goes_into_a_request_whatever_its_lines_are() {
        let quotes = "\"".repeat(200_000);
        let plain = "x".repeat(90_000);
        let mut text = String::new();
        for number in 0..40 {
            text.push_str(if number % 3 == 0 { &quotes } else { &plain });
            text.push('\n');
        }
        let found = all(text.as_bytes());
        let lines: usize = found.iter().map(|handful| handful.lines.len()).sum();
        assert_eq!(lines, 40);
        let numbers: Vec<u64> = found.iter().flat_map(|handful| handful.numbers.clone()).collect();
        assert_eq!(numbers, (1..=40).collect::<Vec<u64>>());
        for handful in &found {
            let request = remembrancer_hooks::protocol::Request::Import {
                lines: handful.lines.clone(),
                dry_run: true,
            };
            assert!(request.to_line().is_ok());
        }
        let many = all("x\n".repeat(MOST_LINES * 2 + 1).as_bytes());
        assert_eq!(
            many.iter().map(|handful| handful.lines.len()).collect::<Vec<_>>(),
            [MOST_LINES, MOST_LINES, 1]
        );
    }

    #[test]
    fn a_line_that_is_too_long_is_named_and_the_next_is_read() {
        let mut text = "\\".repeat(MAX_REQUEST_BYTES - 10);
        text.push('\n');
        text.push_str(&"y".repeat(3 * MAX_REQUEST_BYTES));
        text.push_str("\nthree\n");
        let found = all(text.as_bytes());
        let problems: Vec<u64> = found
            .iter()
            .flat_map(|handful| &handful.problems)
            .map(|(line, _)| *line)
            .collect();
        assert_eq!(problems, [1, 2]);
        assert_eq!(found.last().unwrap().lines, ["three"]);
        assert_eq!(found.last().unwrap().numbers, [3]);
    }
}
