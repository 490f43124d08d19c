//! Cuts text into terms: runs of letters and joining marks, then the parts of each run, coarse to fine.
//! In goes raw text, out go folded, stemmed terms to a sink. No term holds a space, a quote or a control character.

use super::fold::{fold_marks, is_mark, push_lower};
use super::stem::push_stem;

/// Terms longer than this are cut (in characters): encoded data never floods the index.
const LONGEST_WORD: usize = 64;
/// A joined term longer than this is given by its parts alone (in characters).
const LONGEST_WHOLE: usize = 128;
/// A word of more parts than this is no identifier, and given whole alone.
const MOST_PARTS: usize = 8;
/// What joins the parts of identifiers, coarse to fine. Each is a token character of the full-text table.
const JOINERS: [&[char]; 3] = [&[':'], &['/'], &['.', '-', '_']];

/// Whether a character joins the parts of an identifier.
pub(super) fn is_joiner(c: char) -> bool {
    matches!(c, ':' | '/' | '.' | '-' | '_')
}

fn is_letter(c: char) -> bool {
    if c.is_ascii() {
        c.is_ascii_alphanumeric()
    } else {
        c.is_alphanumeric()
    }
}

fn is_inside(c: char) -> bool {
    is_letter(c) || is_joiner(c) || (!c.is_ascii() && is_mark(c))
}

/// Whether a character is of a script that puts no spaces between words (or, as Hangul, glues particles to them).
fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1100}'..='\u{11ff}' | '\u{1780}'..='\u{17ff}'
        | '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}' | '\u{3105}'..='\u{318f}' | '\u{31a0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{a960}'..='\u{a97f}' | '\u{ac00}'..='\u{d7ff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Gives every term of `text` to `sink`.
pub(super) fn each_term(text: &str, sink: &mut dyn FnMut(&str)) {
    let mut terms = Terms {
        sink,
        buffer: String::new(),
    };
    let mut rest = text;
    while let Some(start) = rest.find(is_letter) {
        rest = &rest[start..];
        let end = rest.find(|c| !is_inside(c)).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        if run.is_ascii() {
            if run.bytes().any(|byte| is_joiner(char::from(byte))) {
                terms.run(run);
            } else {
                terms.spaced(run);
            }
            terms.language_name(run, after);
        } else {
            terms.folded(&fold_marks(run));
        }
        rest = after;
    }
}

struct Terms<'a> {
    sink: &'a mut dyn FnMut(&str),
    /// The term in hand, kept for its capacity.
    buffer: String,
}

impl Terms<'_> {
    /// A run whose folding may have brought in characters that belong to no word (½ is 1⁄2).
    fn folded(&mut self, text: &str) {
        text.split(|c| !is_inside(c)).for_each(|run| self.run(run));
    }

    /// `C++`, `C#`, `F#`: a lone letter with its mark.
    fn language_name(&mut self, run: &str, after: &str) {
        let mark = ["++", "#"].into_iter().find(|mark| after.starts_with(mark));
        if let (1, Some(mark)) = (run.len(), mark)
            && !after[mark.len()..].starts_with(is_letter)
        {
            self.buffer.clear();
            push_lower(run, &mut self.buffer);
            self.buffer.push_str(mark);
            (self.sink)(&self.buffer);
        }
    }

    /// Letters and joining marks: cut where two marks meet (but for `::` and `__`), then taken apart.
    fn run(&mut self, run: &str) {
        let mut start = 0;
        let mut previous: Option<(usize, char)> = None;
        for (place, c) in run.char_indices().filter(|&(_, c)| is_joiner(c)) {
            if let Some((before, joiner)) = previous
                && before + 1 == place
                && !(joiner == c && matches!(c, ':' | '_'))
            {
                self.compound(run[start.min(before)..before].trim_matches(is_joiner), 0);
                start = place + 1;
            }
            previous = Some((place, c));
        }
        self.compound(run[start..].trim_matches(is_joiner), 0);
    }

    /// An identifier with joining marks: itself, then its parts by the coarsest mark it holds, and so on.
    fn compound(&mut self, text: &str, level: usize) {
        let Some(level) = (level..JOINERS.len()).find(|&level| text.contains(JOINERS[level])) else {
            if !text.is_empty() {
                self.word(text);
            }
            return;
        };
        if text.chars().count() <= LONGEST_WHOLE && !text.contains(is_unspaced) {
            self.buffer.clear();
            push_lower(text, &mut self.buffer);
            (self.sink)(&self.buffer);
        }
        for part in text.split(JOINERS[level]).filter(|part| !part.is_empty()) {
            self.compound(part, level + 1);
        }
    }

    /// A word without joining marks, cut where the script changes.
    fn word(&mut self, word: &str) {
        if word.is_ascii() {
            return self.spaced(word);
        }
        let mut rest = word;
        while let Some(first) = rest.chars().next() {
            let unspaced = is_unspaced(first);
            let end = rest.find(|c| is_unspaced(c) != unspaced && !is_mark(c)).unwrap_or(rest.len());
            let (run, after) = rest.split_at(end);
            if unspaced {
                self.bigrams(run);
            } else {
                self.spaced(run);
            }
            rest = after;
        }
    }

    /// Every two neighbours; a lone character as it is.
    fn bigrams(&mut self, run: &str) {
        let bounds: Vec<usize> = run.char_indices().map(|(place, _)| place).chain([run.len()]).collect();
        if bounds.len() <= 2 {
            return self.emit(run);
        }
        for pair in bounds.windows(3) {
            self.emit(&run[pair[0]..pair[2]]);
        }
    }

    /// A word of a spaced script: whole, then its humps and numbers.
    fn spaced(&mut self, word: &str) {
        if word.len() > LONGEST_WORD
            && let Some((end, _)) = word.char_indices().nth(LONGEST_WORD)
        {
            return self.emit(&word[..end]);
        }
        self.emit(word);
        if word.starts_with(|c: char| c.is_ascii_alphabetic()) && word.bytes().skip(1).all(|byte| byte.is_ascii_lowercase()) {
            return;
        }
        let humps = humps(word);
        if (2..=MOST_PARTS).contains(&humps.len()) && !is_hash(word) {
            for hump in humps {
                self.emit(hump);
            }
        }
    }

    fn emit(&mut self, word: &str) {
        self.buffer.clear();
        push_stem(word, &mut self.buffer);
        if !self.buffer.is_empty() {
            (self.sink)(&self.buffer);
        }
    }
}

/// Whether a word is a piece of a hash: its letters and digits alternate by chance.
fn is_hash(word: &str) -> bool {
    word.len() >= 6 && word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The parts of a word by case and digits: `HTTPServer2` is `HTTP`, `Server`, `2`.
fn humps(word: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut characters = word.char_indices().peekable();
    let mut previous: Option<char> = None;
    while let Some((place, c)) = characters.next() {
        let next = characters.peek().map(|&(_, next)| next);
        if let Some(before) = previous
            && is_border(before, c, next)
        {
            parts.push(&word[start..place]);
            start = place;
        }
        previous = Some(c);
    }
    parts.push(&word[start..]);
    parts
}

fn is_border(before: char, c: char, next: Option<char>) -> bool {
    let digits = (before.is_numeric(), c.is_numeric());
    if digits.0 != digits.1 {
        return !is_mark(c);
    }
    c.is_uppercase() && (before.is_lowercase() || (before.is_uppercase() && next.is_some_and(char::is_lowercase)))
}
