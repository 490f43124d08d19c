//! Texts into parts of bounded length: greedily, on paragraph borders, and never changing a part once the next has begun.
//!
//! A unit is a paragraph, a fenced block, or a heading with what follows it. A unit that is too long by itself is cut on
//! lines, then sentences, then characters; a fenced block that is cut is fenced again on both sides.

use remembrancer_schema::{Facets, UnixMillis};

use crate::ingest::text;

/// A short unit may pass the limit by this many tokens, so that no part is a stub.
const STUB_TOKENS: usize = 40;

/// Bytes of a fence's opening line that stand again where it is opened again: the marks and a language.
const REOPENED_CAP: usize = 40;

/// Letters and digits of a part that is worth an episode of its own.
const PART_LETTERS_MIN: usize = 40;

/// One part of a turn.
#[derive(Clone, Debug, Default)]
pub(super) struct Part {
    /// When its first text was said.
    pub(super) at: Option<UnixMillis>,
    pub(super) text: String,
    pub(super) facets: Facets,
    tokens: usize,
}

impl Part {
    /// Whether there is more to it than a heading, a ruler or a closing word.
    pub(super) fn says_something(&self) -> bool {
        !self.facets.is_empty() || self.text.chars().filter(|c| c.is_alphanumeric()).count() >= PART_LETTERS_MIN
    }
}

/// Estimates the tokens of a text, for a `WordPiece` vocabulary: four characters of Latin script a token, one of any
/// other. (all-MiniLM-L6-v2 spells CJK, and words it doesn't know, by the character.)
pub(super) fn tokens(text: &str) -> usize {
    text.chars().map(quarters).sum::<usize>().div_ceil(4)
}

/// The share of a token that a character takes, in quarters.
fn quarters(c: char) -> usize {
    let is_latin_or_punctuation = c < '\u{250}' || ('\u{2000}'..'\u{2E80}').contains(&c);
    if is_latin_or_punctuation { 1 } else { 4 }
}

/// Builds the parts.
#[derive(Clone, Debug)]
pub(super) struct Cutter {
    done: Vec<Part>,
    open: Part,
    first: usize,
    later: usize,
}

impl Cutter {
    /// A cutter with these limits in tokens for the first part and for those after it.
    pub(super) fn new(first: usize, later: usize) -> Self {
        Self {
            done: Vec::new(),
            open: Part::default(),
            first,
            later,
        }
    }

    /// Adds a whole text.
    pub(super) fn add(&mut self, at: UnixMillis, text: &str) {
        for unit in units(text) {
            self.add_unit(at, &unit);
        }
    }

    /// Adds to what was touched in the part that is open.
    pub(super) fn touch(&mut self, add: impl FnOnce(&mut Facets)) {
        add(&mut self.open.facets);
    }

    /// The parts; at least one.
    pub(super) fn finish(mut self) -> Vec<Part> {
        self.done.push(self.open);
        self.done
    }

    fn limit(&self) -> usize {
        if self.done.is_empty() { self.first } else { self.later }
    }

    fn add_unit(&mut self, at: UnixMillis, unit: &str) {
        let size = tokens(unit);
        if size > self.later.min(self.first) {
            let mut between = "\n\n";
            for piece in pieces(unit, self.later.min(self.first)) {
                self.put(at, &piece, tokens(&piece), between);
                between = "\n";
            }
        } else {
            self.put(at, unit, size, "\n\n");
        }
    }

    fn put(&mut self, at: UnixMillis, text: &str, size: usize, between: &str) {
        let slack = if size <= STUB_TOKENS { STUB_TOKENS } else { 0 };
        if !self.open.text.is_empty() && self.open.tokens + size > self.limit() + slack {
            self.done.push(std::mem::take(&mut self.open));
        }
        let open = &mut self.open;
        open.at.get_or_insert(at);
        if !open.text.is_empty() {
            open.text.push_str(between);
        }
        open.text.push_str(text);
        open.tokens += size;
    }
}

/// The units of a text, trimmed at their ends.
fn units(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut unit = String::new();
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        let mark = fence_mark(line);
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if mark.starts_with(open) => fence = None,
            (None, None) if line.trim().is_empty() && !leads_on(&unit) => {
                push_unit(&mut found, &mut unit);
                continue;
            }
            _ => {}
        }
        if !unit.is_empty() {
            unit.push('\n');
        }
        unit.push_str(line.trim_end());
    }
    push_unit(&mut found, &mut unit);
    found
}

fn push_unit(found: &mut Vec<String>, unit: &mut String) {
    let text = unit.trim_matches('\n');
    if !text.trim().is_empty() && !is_ruler(text) {
        found.push(text.to_owned());
    }
    unit.clear();
}

/// A horizontal rule, and nothing else.
fn is_ruler(text: &str) -> bool {
    let text = text.trim();
    text.len() >= 3 && text.bytes().all(|byte| matches!(byte, b'-' | b'*' | b'_' | b'='))
}

/// Whether a unit so far is a heading or a lead-in, which belongs to what follows.
fn leads_on(unit: &str) -> bool {
    let last = unit.trim_end().lines().last().unwrap_or_default().trim();
    let short = last.len() <= 120;
    let bold = last.starts_with("**") && last.ends_with("**") && last.len() > 4;
    !last.is_empty() && short && (last.starts_with('#') || last.ends_with(':') || bold)
}

/// The backticks or tildes that open or close a fenced block on this line.
fn fence_mark(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let mark = line.bytes().next().filter(|byte| matches!(byte, b'`' | b'~'))?;
    let length = line.bytes().take_while(|byte| *byte == mark).count();
    (length >= 3).then(|| &line[..length])
}

/// A unit that is too long, in pieces of at most `limit` tokens.
fn pieces(unit: &str, limit: usize) -> Vec<String> {
    let mut found = Vec::new();
    let mut piece = String::new();
    let mut size = 0;
    let mut fence: Option<String> = None;
    for line in unit.lines() {
        let mark = fence_mark(line);
        // A fence takes up to twice a few tokens, which the limit leaves room for.
        let room = limit.saturating_sub(fence.as_ref().map_or(0, |open| tokens(open) + 2)).max(8);
        for chunk in chunks(line, room) {
            let more = tokens(chunk) + 1;
            if size > 0 && size + more > room {
                close_piece(&mut found, &mut piece, fence.as_deref());
                size = 0;
                if let (Some(open), None) = (&fence, mark) {
                    piece.push_str(open);
                }
            }
            if !piece.is_empty() {
                piece.push('\n');
            }
            piece.push_str(chunk);
            size += more;
        }
        match (&fence, mark) {
            (None, Some(_)) => fence = Some(text::head(line.trim_start(), REOPENED_CAP).to_owned()),
            (Some(open), Some(mark)) if fence_mark(open).is_some_and(|open| mark.starts_with(open)) => fence = None,
            _ => {}
        }
    }
    close_piece(&mut found, &mut piece, None);
    found
}

fn close_piece(found: &mut Vec<String>, piece: &mut String, fence: Option<&str>) {
    if let Some(mark) = fence.and_then(fence_mark)
        && !piece.is_empty()
    {
        piece.push('\n');
        piece.push_str(mark);
    }
    let text = std::mem::take(piece);
    if !text.trim().is_empty() {
        found.push(text);
    }
}

/// A line in chunks of at most `limit` tokens: on sentence ends, else on spaces, else on characters.
fn chunks(line: &str, limit: usize) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = line;
    while tokens(rest) > limit {
        let end = prefix_of(rest, limit);
        let head = &rest[..end];
        let sentence = head.rfind(['。', '！', '？']).map(|at| at + '。'.len_utf8());
        let sentence = sentence.max(
            [". ", "! ", "? ", "; "]
                .iter()
                .filter_map(|end| head.rfind(end))
                .max()
                .map(|at| at + 2),
        );
        let space = head.rfind(' ').map(|at| at + 1);
        let at = sentence
            .filter(|at| *at > end / 2)
            .or(space.filter(|at| *at > end / 2))
            .unwrap_or(end);
        found.push(rest[..at].trim_end());
        rest = rest[at..].trim_start();
    }
    if !rest.is_empty() || found.is_empty() {
        found.push(rest);
    }
    found
}

/// The length of the longest prefix of at most `limit` tokens; at least one character.
fn prefix_of(text: &str, limit: usize) -> usize {
    let mut taken = 0;
    for (at, c) in text.char_indices() {
        taken += quarters(c);
        if taken > limit * 4 && at > 0 {
            return at;
        }
    }
    text.len()
}
