//! A small mutator for the stable test: the changes that libFuzzer makes, drawn from a seed, without its guidance.

use std::ops::Range;

use serde_json::Value;

use super::input::Dice;

/// What is put into inputs: the words that the tested formats turn on, in libFuzzer's syntax.
const DICTIONARY: &str = include_str!("../../fuzz/dictionary");

/// No input grows beyond so many bytes.
const LONGEST: usize = 256 * 1024;

/// Makes inputs of seeds.
#[derive(Debug)]
pub struct Mutator {
    dice: Dice,
    words: Vec<Vec<u8>>,
}

impl Mutator {
    /// A mutator whose course follows from `name`.
    pub fn new(name: &str) -> Self {
        Self {
            dice: Dice::of(name.as_bytes()),
            words: DICTIONARY.lines().filter_map(word).collect(),
        }
    }

    /// One of `seeds`, changed in a few places.
    pub fn next(&mut self, seeds: &[Vec<u8>]) -> Vec<u8> {
        let mut input = self.dice.pick(seeds).clone();
        for _ in 0..=self.dice.below(5) {
            self.change(&mut input, seeds);
        }
        input.truncate(LONGEST);
        input
    }

    fn change(&mut self, input: &mut Vec<u8>, seeds: &[Vec<u8>]) {
        let at = self.dice.below(input.len() + 1);
        let end = (at + self.length()).min(input.len());
        match self.dice.below(9) {
            0 => input.truncate(at),
            1 => drop(input.drain(at..end)),
            2 => {
                let piece = input[at..end].to_vec();
                let to = self.dice.below(input.len() + 1);
                drop(input.splice(to..to, piece));
            }
            3 | 4 => {
                let word = self.dice.pick(&self.words).clone();
                let end = if self.dice.below(2) == 0 { at } else { end };
                drop(input.splice(at..end, word));
            }
            5 => {
                let other = self.dice.pick(seeds);
                let from = self.dice.below(other.len() + 1);
                let piece = other[from..(from + self.length()).min(other.len())].to_vec();
                drop(input.splice(at..at, piece));
            }
            6 => self.join_records(input, seeds),
            7 => {
                let byte = self.dice.next() as u8;
                let times = self.length();
                drop(input.splice(at..at, std::iter::repeat_n(byte, times)));
            }
            _ => {
                if let Some(byte) = input.get_mut(at) {
                    *byte ^= 1 << self.dice.below(8);
                }
            }
        }
    }

    /// Makes of a record in a line of JSON one that holds what one of another input holds, too: what no change of single bytes comes to.
    fn join_records(&mut self, input: &mut Vec<u8>, seeds: &[Vec<u8>]) {
        let other = self.dice.pick(seeds);
        let (Some((range, mut record)), Some((_, second))) = (self.record(input), self.record(other)) else {
            return;
        };
        join(&mut record, second);
        drop(input.splice(range, record.to_string().into_bytes()));
    }

    /// A line that is a record, and where it stands.
    fn record(&mut self, input: &[u8]) -> Option<(Range<usize>, Value)> {
        let from = self.dice.below(input.len() + 1);
        let end_of_line = |from: usize| input[from..].iter().position(|byte| *byte == b'\n').map(|bytes| from + bytes);
        let begins = end_of_line(from).map_or(0, |end| end + 1);
        // The first byte of a parser's input says of which sort it is.
        let begins = begins + input[begins..].iter().position(|byte| *byte == b'{')?;
        let end = end_of_line(begins).unwrap_or(input.len());
        let record: Value = serde_json::from_slice(&input[begins..end]).ok()?;
        record.is_object().then_some((begins..end, record))
    }

    /// How much is changed at once: mostly little.
    fn length(&mut self) -> usize {
        let most = *self.dice.pick(&[1, 4, 16, 64, 1_000]);
        1 + self.dice.below(most)
    }
}

/// Adds to `record` what `other` holds: of lists all, of all else what it has none of.
fn join(record: &mut Value, other: Value) {
    match (record, other) {
        (Value::Object(record), Value::Object(other)) => {
            for (key, value) in other {
                match record.get_mut(&key) {
                    Some(known) => join(known, value),
                    None => drop(record.insert(key, value)),
                }
            }
        }
        (Value::Array(record), Value::Array(other)) => record.extend(other),
        _ => {}
    }
}

/// A line of the dictionary: `"bytes"`, of which `\xNN`, `\\` and `\"` are escapes.
fn word(line: &str) -> Option<Vec<u8>> {
    let mut rest = line.trim().strip_prefix('"')?.strip_suffix('"')?.as_bytes();
    let mut word = Vec::new();
    while let [byte, after @ ..] = rest {
        rest = after;
        word.push(match (*byte, after) {
            (b'\\', [b'x', high, low, after @ ..]) => {
                rest = after;
                let digits = [*high, *low];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            (b'\\', [escaped, after @ ..]) => {
                rest = after;
                *escaped
            }
            (byte, _) => byte,
        });
    }
    Some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_records_become_one() {
        let mut record = serde_json::json!({"role": "user", "content": [1], "inner": {"a": 1}});
        join(
            &mut record,
            serde_json::json!({"role": "agent", "content": [2], "inner": {"b": 2}}),
        );
        let expected = serde_json::json!({"role": "user", "content": [1, 2], "inner": {"a": 1, "b": 2}});
        assert_eq!(record, expected);
        let seeds = [b"\0{\"a\":[1]}\n{\"a\":[2]}\n".to_vec()];
        let mut input = seeds[0].clone();
        Mutator::new("").join_records(&mut input, &seeds);
        assert!(
            input.starts_with(b"\0{\"a\":[") && input.ends_with(b"}\n") && input != seeds[0],
            "{input:?}"
        );
    }

    #[test]
    fn a_course_follows_from_its_name_and_every_word_is_read() {
        let seeds = [b"{\"a\":1}\n".to_vec(), b"other".to_vec()];
        let made = |name| {
            let mut mutator = Mutator::new(name);
            (0..200).map(|_| mutator.next(&seeds)).collect::<Vec<_>>()
        };
        assert_eq!(made("one"), made("one"));
        assert_ne!(made("one"), made("two"));
        let lines = DICTIONARY
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .count();
        assert_eq!(Mutator::new("").words.len(), lines);
        assert_eq!(word(r#""a\x0a\"\\""#).as_deref(), Some(&b"a\n\"\\"[..]));
    }
}
