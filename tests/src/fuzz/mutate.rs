//! A small mutator for the stable test: the changes that libFuzzer makes, drawn from a seed, without its guidance.

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
        match self.dice.below(8) {
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
            6 => {
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

    /// How much is changed at once: mostly little.
    fn length(&mut self) -> usize {
        let most = *self.dice.pick(&[1, 4, 16, 64, 1_000]);
        1 + self.dice.below(most)
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
