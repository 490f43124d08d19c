//! What of ours stands in a text: the fenced block, or one line. A text comes in, the edited text goes out, or what keeps it from
//! being edited. Every byte that is not ours stays: what [`put`] adds, [`take`] takes away.

use std::ops::Range;

use remembrancer_processor::{FENCE_CLOSE, FENCE_OPEN_PREFIX};

/// By what ours is known again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark<'a> {
    /// A block from the line of its opening marker to that of its closing one.
    Fence,
    /// This line.
    Line(&'a str),
}

/// Why a text is left alone. Lines count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Damage {
    /// An opening marker without a closing one.
    #[error("line {0} opens a block of Remembrancer that no line closes")]
    Unclosed(usize),
    /// A closing marker without an opening one.
    #[error("line {0} closes a block of Remembrancer that no line opens")]
    Unopened(usize),
    /// Ours stands there more than once.
    #[error("what is Remembrancer's stands there again at line {0}")]
    Twice(usize),
    /// What would be added would be part of a code block.
    #[error("a code block is not closed at its end")]
    InsideCode,
}

/// Where ours stands in `text`, without the line break behind it. What stands in a code block is an example, and nobody's.
///
/// # Errors
/// Where it can't be told what is ours.
pub(crate) fn find(text: &str, mark: Mark<'_>) -> Result<Option<Range<usize>>, Damage> {
    let mut code = None;
    let mut open: Option<(usize, usize)> = None;
    let mut found = None;
    let mut end = 0;
    for (number, line) in text.split_inclusive('\n').enumerate().map(|(index, line)| (index + 1, line)) {
        let start = end;
        end += line.len();
        let content = line.trim_end_matches('\n').trim_end_matches('\r');
        let line_end = start + content.len();
        if open.is_none() && passes_code(content, &mut code) {
            continue;
        }
        let ours = match mark {
            Mark::Line(ours) => (content == ours).then_some(start..line_end),
            Mark::Fence if is_opening(content) => match open.replace((start, number)) {
                None => continue,
                Some((_, opened)) => return Err(Damage::Unclosed(opened)),
            },
            Mark::Fence if content == FENCE_CLOSE => match open.take() {
                Some((start, _)) => Some(start..line_end),
                None => return Err(Damage::Unopened(number)),
            },
            Mark::Fence => None,
        };
        if ours.is_some() && found.is_some() {
            return Err(Damage::Twice(number));
        }
        found = found.or(ours);
    }
    match open {
        Some((_, opened)) => Err(Damage::Unclosed(opened)),
        None => Ok(found),
    }
}

/// `text` with `ours` in the place of what stands there for `mark`, or behind all else. `ours` ends without a line break.
///
/// # Errors
/// Where it can't be told what is ours, or where it would be nobody's.
pub(crate) fn put(text: &str, mark: Mark<'_>, ours: &str) -> Result<String, Damage> {
    if let Some(there) = find(text, mark)? {
        let ours = ours.replace('\n', newline_of(&text[there.start..]));
        return Ok(format!("{}{ours}{}", &text[..there.start], &text[there.end..]));
    }
    let newline = newline_of(text);
    let ours = ours.replace('\n', newline);
    let before = if text.is_empty() { "" } else { newline };
    let added = format!("{text}{before}{ours}{newline}");
    let start = text.len() + before.len();
    if find(&added, mark)? == Some(start..start + ours.len()) {
        Ok(added)
    } else {
        Err(Damage::InsideCode)
    }
}

/// `text` without ours; `None` where there is nothing of it.
///
/// # Errors
/// Where it can't be told what is ours.
pub(crate) fn take(text: &str, mark: Mark<'_>) -> Result<Option<String>, Damage> {
    let Some(there) = find(text, mark)? else { return Ok(None) };
    let (before, after) = (&text[..there.start], &text[there.end..]);
    let newline = match after {
        _ if after.starts_with("\r\n") => "\r\n",
        "" if before.ends_with("\r\n") => "\r\n",
        _ => "\n",
    };
    let after = after.strip_prefix(newline).unwrap_or(after);
    let before = before.strip_suffix(newline).unwrap_or(before);
    // Where somebody wrote on behind it, the line before it has to end.
    let joins_lines = !before.is_empty() && !before.ends_with('\n') && !after.is_empty();
    Ok(Some(format!("{before}{}{after}", if joins_lines { newline } else { "" })))
}

fn is_opening(line: &str) -> bool {
    line.strip_prefix(FENCE_OPEN_PREFIX)
        .is_some_and(|rest| rest.starts_with(['>', ' ']) && rest.ends_with('>'))
}

/// The line break that a text begins to use.
fn newline_of(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// Whether `line` is part of a code block, by the rules of Markdown; `code` is what closes the one that is open.
fn passes_code(line: &str, code: &mut Option<(char, usize)>) -> bool {
    let trimmed = line.trim_start_matches(' ');
    let marker = trimmed.chars().next().filter(|c| matches!(c, '`' | '~'));
    let length = marker.map_or(0, |marker| trimmed.chars().take_while(|c| *c == marker).count());
    let is_fence = length >= 3 && line.len() - trimmed.len() <= 3;
    match (*code, marker) {
        (Some((opened, least)), Some(marker)) if is_fence && marker == opened && length >= least => {
            if trimmed[length..].trim().is_empty() {
                *code = None;
            }
            true
        }
        (Some(_), _) => true,
        // A code span of backticks within one line opens nothing.
        (None, Some(marker)) if is_fence && !(marker == '`' && trimmed[length..].contains('`')) => {
            *code = Some((marker, length));
            true
        }
        (None, _) => false,
    }
}

#[cfg(test)]
mod tests;
