//! The text of an episode: what was asked and answered, as it was written. Fences of code are set apart, and what stands between two
//! back quotes; nothing else of Markdown is read, so that nothing is lost and nothing is run.

use std::fmt::Write as _;

use maud::{Escaper, Markup, PreEscaped, Render, html};

use crate::printable::for_terminal;

/// Text with its lines.
struct Lines<'a>(&'a str);

impl Render for Lines<'_> {
    fn render_to(&self, buffer: &mut String) {
        // Writing to a string can't fail.
        Escaper::new(buffer).write_str(&for_terminal(self.0)).ok();
    }
}

/// The text, in blocks.
pub(super) fn text(text: &str) -> Markup {
    let mut blocks = String::new();
    for piece in pieces(text) {
        let block = match piece {
            Piece::Prose(prose) => html! { p { (inline(prose)) } },
            Piece::Code(code) => html! { pre tabindex="0" { code { (Lines(code)) } } },
        };
        blocks.push_str(&block.into_string());
    }
    html! { div.text { (PreEscaped(blocks)) } }
}

#[derive(Debug, PartialEq, Eq)]
enum Piece<'a> {
    Prose(&'a str),
    Code(&'a str),
}

/// Paragraphs and fenced code, in order. A fence that is not closed reaches to the end.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, quotes, opened)) = fence(rest, 3, |behind| !behind.contains('`')) {
        pieces.extend(paragraphs(before));
        // What stands behind the fence names the language.
        let (language, code) = opened.split_once('\n').unwrap_or((opened, ""));
        if language.trim().contains(' ') {
            pieces.push(Piece::Prose(language.trim()));
        }
        let closed = fence(code, quotes, |behind| behind.trim().is_empty());
        let (code, _, after) = closed.unwrap_or((code, 0, ""));
        if !code.trim().is_empty() {
            pieces.push(Piece::Code(code.trim_end()));
        }
        rest = after.split_once('\n').map_or("", |(_, after)| after);
    }
    pieces.extend(paragraphs(rest));
    pieces
}

/// What stands before the first line that begins with `least` back quotes or more, where `fits` says so of what follows them on the
/// line; how many they are; and what comes behind them.
fn fence(text: &str, least: usize, fits: impl Fn(&str) -> bool) -> Option<(&str, usize, &str)> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let indent = line.len() - line.trim_start_matches(' ').len();
        let behind = line[indent..].trim_start_matches('`');
        let quotes = line.len() - indent - behind.len();
        if indent <= 3 && quotes >= least && fits(behind) {
            return Some((&text[..at], quotes, &text[at + indent + quotes..]));
        }
        at += line.len();
    }
    None
}

fn paragraphs(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let parts = text.split("\n\n").map(|part| part.trim_matches('\n'));
    parts.filter(|part| !part.trim().is_empty()).map(Piece::Prose)
}

/// Prose, with what stands between back quotes as code.
fn inline(prose: &str) -> Markup {
    let mut told = String::new();
    let mut rest = prose;
    while let Some((before, inside, after)) = quoted(rest) {
        told.push_str(&html! { (Lines(before)) code { (Lines(inside)) } }.into_string());
        rest = after;
    }
    told.push_str(&html! { (Lines(rest)) }.into_string());
    PreEscaped(told)
}

/// The first piece of a line that stands between two back quotes.
fn quoted(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('`')?;
    let (inside, after) = rest.split_once('`')?;
    (!inside.is_empty() && !inside.contains('\n')).then_some((before, inside, after))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::prose("a\nb", "<p>a\nb</p>")]
    #[case::paragraphs("a\n\n\nb", "<p>a</p><p>b</p>")]
    #[case::code(
        "a\n```rust\nlet x = `1`;\n```\nb",
        "<p>a</p><pre tabindex=\"0\"><code>let x = `1`;</code></pre><p>b</p>"
    )]
    #[case::code_in_a_line("```cargo test``` passes\n\nb", "<p>```cargo test``` passes</p><p>b</p>")]
    #[case::more_quotes("````\n```\na\n````\nb", "<pre tabindex=\"0\"><code>```\na</code></pre><p>b</p>")]
    #[case::open_code("```\na\n\nb", "<pre tabindex=\"0\"><code>a\n\nb</code></pre>")]
    #[case::fence_alone("```", "")]
    #[case::inline("see `a<b` there", "<p>see <code>a&lt;b</code> there</p>")]
    #[case::lone_quote("it`s", "<p>it`s</p>")]
    #[case::script("<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>")]
    #[case::script_in_code(
        "```\n</code><script>x</script>\n```",
        "<pre tabindex=\"0\"><code>&lt;/code&gt;&lt;script&gt;x&lt;/script&gt;</code></pre>"
    )]
    #[case::control("a\u{1b}[31mb\u{202e}", "<p>a\\u001b[31mb\\u202e</p>")]
    #[case::windows("a\r\nb", "<p>a\r\nb</p>")]
    #[case::nothing("", "")]
    fn text_is_shown_as_it_was_written(#[case] written: &str, #[case] expected: &str) {
        let shown = text(written).into_string();
        assert_eq!(shown, format!("<div class=\"text\">{expected}</div>"));
    }
}
