//! Stored text into text that may stand inside the fence: data, whatever it says.
//!
//! In: any text of a transcript. Out: the same words without terminal escapes, control, invisible and bidirectional characters, in
//! which no marker of ours and no element of a host's own can be read, in whatever letters it is spelled. The order matters: what
//! is invisible goes before markers are looked for, since a marker may arise by its going.

mod skeleton;

use std::borrow::Cow;

use skeleton::Skeleton;

use crate::fence::{FENCE_CLOSE, FENCE_OPEN_PREFIX};
use crate::hidden::visible;
use crate::ingest::redact;

/// What stands for the opening bracket of an element that is none: it is read as one by nobody.
const BROKEN: &str = "(";

/// Makes stored text safe to stand inside the fence: nothing hidden, no marker of ours in any spelling, no element by which a host
/// speaks with authority, no comment, no runs of blank lines.
pub fn clean(text: &str) -> String {
    let visible = visible(text);
    let unmarked = without_markers(&visible);
    let mut lines: Vec<&str> = Vec::new();
    for line in unmarked.lines().map(str::trim_end) {
        if !(line.is_empty() && lines.last().is_none_or(|last: &&str| last.is_empty())) {
            lines.push(line);
        }
    }
    lines.join("\n").trim().to_owned()
}

/// Stored text as people and models are shown it: made safe by [`clean`], and without what the rules of redaction find in it then.
/// What was stored may be older than the rules, and its cleaning may put together what was apart.
pub fn shown(text: &str) -> String {
    redact(&clean(text)).into_owned()
}

/// Breaks every spelling of our markers and of hosts' elements: the bracket becomes a round one, our own name loses its hyphen.
fn without_markers(text: &str) -> Cow<'_, str> {
    let skeleton = Skeleton::of(text);
    let mut breaks = skeleton.elements();
    breaks.extend(skeleton.names_of_ours());
    if breaks.is_empty() {
        return Cow::Borrowed(text);
    }
    breaks.sort_unstable_by_key(|(range, _)| range.start);
    let mut kept = String::with_capacity(text.len());
    let mut from = 0;
    for (range, instead) in breaks {
        // A bracket may be both an element's and a comment's.
        if range.start >= from {
            kept.push_str(&text[from..range.start]);
            kept.push_str(instead);
            from = range.end;
        }
    }
    kept.push_str(&text[from..]);
    Cow::Owned(kept)
}

/// A block as it may stand in a file that hosts import: what they take for an import, a link to follow, a template or a command is
/// written in full-width characters, one for one. The lines of the fence itself stay.
pub fn importable(block: &str) -> String {
    let mut safe = String::with_capacity(block.len());
    for line in block.split_inclusive('\n') {
        let content = line.trim_end_matches('\n');
        if content == FENCE_CLOSE || (content.starts_with(FENCE_OPEN_PREFIX) && content.ends_with('>')) {
            safe.push_str(line);
        } else {
            push_importable(&mut safe, line);
        }
    }
    safe
}

fn push_importable(safe: &mut String, line: &str) {
    let indent = line.len() - line.trim_start().len();
    let mut before = '\n';
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map_or('\n', |(_, next)| *next);
        safe.push(match (c, next) {
            // `@path` is an import or a mention.
            ('@', _) => '\u{ff20}',
            // A link's target may be read along: `[name](file)`, `[[file]]`, `#file:name`.
            ('(', _) if before == ']' => '\u{ff08}',
            ('[', '[') => '\u{ff3b}',
            ('#', 'f') if line[at..].starts_with("#file:") => '\u{ff03}',
            // `{{…}}` and `{%…%}` are templates, `` !`…` `` and `!{…}` are commands.
            ('{', '{' | '%') => '\u{ff5b}',
            ('!', '`' | '{') => '\u{ff01}',
            // An HTML block, which may hide what follows it.
            ('<', next) if at == indent && (next.is_ascii_alphabetic() || matches!(next, '/' | '!' | '?')) => '\u{ff1c}',
            _ => c,
        });
        before = c;
    }
}

/// `text`, in which a code block that is never closed is none: it would take what follows, our own lines and the user's, along.
/// As long as before.
pub(super) fn with_closed_code(text: &str) -> Cow<'_, str> {
    if [LEAST_INDENT_OF_CODE, usize::MAX]
        .iter()
        .all(|indent| is_closed(text, *indent))
    {
        return Cow::Borrowed(text);
    }
    let settled = text.split_inclusive('\n').map(|line| match code_marker(line, usize::MAX) {
        Some(_) => Cow::Owned(line.replace(['`', '~'], "'")),
        None => Cow::Borrowed(line),
    });
    Cow::Owned(settled.collect())
}

/// A line that is indented by so much is code by that alone, outside of lists.
const LEAST_INDENT_OF_CODE: usize = 4;

/// Whether every code block is closed by the rules of Markdown, where a marker is indented by less than `indent`.
fn is_closed(text: &str, indent: usize) -> bool {
    let mut open: Option<(char, usize)> = None;
    for (marker, length, rest) in text.lines().filter_map(|line| code_marker(line, indent)) {
        open = match open {
            None if marker == '`' && rest.contains('`') => None,
            None => Some((marker, length)),
            Some((opened, least)) if marker == opened && length >= least && rest.trim().is_empty() => None,
            open => open,
        };
    }
    open.is_none()
}

/// The marker of a code block that a line begins with, indented by less than `indent`: its character, its length, what follows.
fn code_marker(line: &str, indent: usize) -> Option<(char, usize, &str)> {
    let trimmed = line.trim_start();
    let marker = trimmed.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = trimmed.chars().take_while(|c| *c == marker).count();
    (length >= 3 && line.len() - trimmed.len() < indent).then(|| (marker, length, &trimmed[length..]))
}

#[cfg(test)]
mod tests;
