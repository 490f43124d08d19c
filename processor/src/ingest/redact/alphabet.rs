//! The alphabet in which rules are searched: every character of a text becomes one byte, and characters that no rule tells apart
//! become the same one (ADR 53).
//!
//! In go the patterns of all rules, as their parsed form; out come texts and patterns in that alphabet, and the way back from a place
//! in such a text. ASCII stands for itself, so that most texts are searched as they are. What a pattern finds in a text is exactly what
//! it finds in the text's own characters: a class of a pattern holds all or none of the characters that share a byte.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use regex_syntax::hir::{Capture, Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Repetition};

/// The first character that does not stand for itself.
const FIRST: char = '\u{80}';
/// Characters between two places of a coded text that are known: from the nearest one the way is walked.
const STEP: usize = 256;

/// Which characters share a byte.
#[derive(Debug)]
pub(super) struct Alphabet {
    /// From which character on which byte stands for it, in order.
    codes: Vec<(char, u8)>,
}

/// A text in an alphabet.
#[derive(Debug)]
pub(super) struct Coded<'t> {
    bytes: Cow<'t, [u8]>,
    text: &'t str,
    /// Where in the text every [`STEP`]th byte's character stands; empty where all stand for themselves.
    places: Vec<usize>,
}

impl Alphabet {
    /// The smallest alphabet in which these patterns are what they are in Unicode.
    pub(super) fn of(patterns: &[Hir]) -> Self {
        let mut classes = BTreeSet::new();
        for pattern in patterns {
            collect(pattern, &mut classes);
        }
        let mut borders = BTreeSet::from([FIRST]);
        for range in classes.iter().flatten() {
            borders.insert(range.0.max(FIRST));
            borders.extend(next(range.1).filter(|after| *after > FIRST));
        }
        let mut known: BTreeMap<Vec<usize>, u8> = BTreeMap::new();
        let code = |first: char| {
            let holds = |(_, ranges): &(usize, &Ranges)| contains(ranges, first);
            let of: Vec<usize> = classes.iter().enumerate().filter(holds).map(|(number, _)| number).collect();
            let new = 0x80 + known.len();
            let code = *known.entry(of).or_insert_with(|| {
                u8::try_from(new)
                    .expect("invariant: the rules tell at most 128 kinds apart, without which no test of redaction runs")
            });
            (first, code)
        };
        let mut codes: Vec<(char, u8)> = borders.into_iter().map(code).collect();
        codes.dedup_by_key(|(_, code)| *code);
        Self { codes }
    }

    /// `text` in this alphabet.
    pub(super) fn coded<'t>(&self, text: &'t str) -> Coded<'t> {
        if text.is_ascii() {
            return Coded {
                bytes: Cow::Borrowed(text.as_bytes()),
                text,
                places: Vec::new(),
            };
        }
        let (mut bytes, mut places) = (Vec::with_capacity(text.len()), Vec::new());
        // Neighbours are mostly of one script, so that the last range is the next one.
        let mut last = ('\0', '\0', 0);
        for (at, c) in text.char_indices() {
            if bytes.len().is_multiple_of(STEP) {
                places.push(at);
            }
            if c < FIRST {
                bytes.push(c as u8);
                continue;
            }
            if c < last.0 || c >= last.1 {
                last = self.range(c);
            }
            bytes.push(last.2);
        }
        Coded {
            bytes: Cow::Owned(bytes),
            text,
            places,
        }
    }

    /// The range in which a character stands: where it begins, what is behind it, and its byte.
    fn range(&self, c: char) -> (char, char, u8) {
        let behind = self.codes.partition_point(|(first, _)| *first <= c);
        let (first, code) = self.codes[behind - 1];
        (first, self.codes.get(behind).map_or(char::MAX, |(first, _)| *first), code)
    }

    /// A pattern in this alphabet.
    pub(super) fn pattern(&self, pattern: &Hir) -> Hir {
        let all = |parts: &[Hir]| parts.iter().map(|part| self.pattern(part)).collect();
        match pattern.kind() {
            HirKind::Empty => Hir::empty(),
            HirKind::Look(look) => Hir::look(*look),
            HirKind::Literal(literal) => Hir::literal(self.coded(&characters(&literal.0)).bytes.into_owned()),
            HirKind::Class(class) => Hir::class(Class::Bytes(self.class(&ranges(class)))),
            HirKind::Repetition(repetition) => Hir::repetition(Repetition {
                sub: Box::new(self.pattern(&repetition.sub)),
                ..repetition.clone()
            }),
            HirKind::Capture(capture) => Hir::capture(Capture {
                sub: Box::new(self.pattern(&capture.sub)),
                ..capture.clone()
            }),
            HirKind::Concat(parts) => Hir::concat(all(parts)),
            HirKind::Alternation(parts) => Hir::alternation(all(parts)),
        }
    }

    /// The bytes of a class's characters.
    fn class(&self, ranges: &Ranges) -> ClassBytes {
        let ascii = ranges.iter().filter(|range| range.0 < FIRST);
        let ascii = ascii.map(|range| ClassBytesRange::new(range.0 as u8, range.1.min('\u{7f}') as u8));
        let others = self.codes.iter().filter(|(first, _)| contains(ranges, *first));
        ClassBytes::new(ascii.chain(others.map(|(_, code)| ClassBytesRange::new(*code, *code))))
    }
}

impl Coded<'_> {
    /// What is searched.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Where in the text stands what stands at `at` here.
    pub(super) fn place(&self, at: usize) -> usize {
        let Some(place) = self.places.get(at / STEP) else {
            return if self.places.is_empty() { at } else { self.text.len() };
        };
        let walked = self.text[*place..].char_indices().nth(at % STEP);
        walked.map_or(self.text.len(), |(bytes, _)| place + bytes)
    }

    /// Where here stands what stands at `place` in the text.
    pub(super) fn at(&self, place: usize) -> usize {
        let behind = self.places.partition_point(|known| *known <= place);
        let Some(step) = behind.checked_sub(1) else { return place };
        step * STEP + self.text[self.places[step]..place].chars().count()
    }
}

/// Ranges of characters, in order, both ends included.
type Ranges = Vec<(char, char)>;

/// Adds the classes of a pattern that hold something beyond ASCII.
fn collect(pattern: &Hir, classes: &mut BTreeSet<Ranges>) {
    match pattern.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => {
            let beyond = characters(&literal.0);
            classes.extend(beyond.chars().filter(|c| *c >= FIRST).map(|c| vec![(c, c)]));
        }
        HirKind::Class(class) => {
            let mut beyond = ranges(class);
            beyond.retain(|range| range.1 >= FIRST);
            if !beyond.is_empty() {
                classes.insert(beyond);
            }
        }
        HirKind::Repetition(repetition) => collect(&repetition.sub, classes),
        HirKind::Capture(capture) => collect(&capture.sub, classes),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            for part in parts {
                collect(part, classes);
            }
        }
    }
}

/// The characters of a literal. Patterns are of Unicode: they hold no part of one.
fn characters(literal: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(literal)
}

fn ranges(class: &Class) -> Ranges {
    let unicode = |class: &ClassUnicode| {
        class
            .iter()
            .map(|range: &ClassUnicodeRange| (range.start(), range.end()))
            .collect()
    };
    match class {
        Class::Unicode(class) => unicode(class),
        // Of bytes only where they are ASCII.
        Class::Bytes(class) => class.to_unicode_class().as_ref().map(unicode).unwrap_or_default(),
    }
}

fn contains(ranges: &Ranges, c: char) -> bool {
    let behind = ranges.partition_point(|range| range.0 <= c);
    behind > 0 && c <= ranges[behind - 1].1
}

fn next(c: char) -> Option<char> {
    (c..=char::MAX).nth(1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parsed(patterns: &[&str]) -> Vec<Hir> {
        patterns
            .iter()
            .map(|pattern| regex_syntax::parse(pattern).expect("a pattern"))
            .collect()
    }

    #[test]
    fn characters_that_no_pattern_tells_apart_share_a_byte() {
        let alphabet = Alphabet::of(&parsed(&[r"a[^\s:]{2}", "(?i)sé", "[а-я]"]));
        let bytes = |text: &'static str| alphabet.coded(text).bytes().to_vec();
        assert_eq!(bytes("a: "), b"a: ");
        assert_eq!(bytes("éÉ")[0], bytes("É")[0], "in any case");
        assert_eq!(bytes("бжя"), [bytes("б")[0]; 3], "of one class");
        assert_eq!(bytes("中ü")[0], bytes("ü")[0], "of none");
        let told = ["é", "б", "中", "\u{a0}", "ſ"].map(|text| bytes(text)[0]);
        assert_eq!(BTreeSet::from(told).len(), told.len(), "{told:?}");
        assert!(told.iter().all(|code| *code >= 0x80));
    }

    proptest! {
        #[test]
        fn every_place_is_found_again(text in "([ -~é中🎉\n]{0,9}[a-z]{0,90}){0,12}") {
            let alphabet = Alphabet::of(&parsed(&[r"\s\w\d"]));
            let coded = alphabet.coded(&text);
            let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            prop_assert_eq!(coded.bytes().len() + 1, places.len());
            for (at, place) in places.into_iter().enumerate() {
                prop_assert_eq!(coded.place(at), place);
                prop_assert_eq!(coded.at(place), at);
            }
        }
    }
}
