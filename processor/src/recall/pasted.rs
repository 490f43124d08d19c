//! What a prompt asks, apart from what is pasted into it.
//!
//! A pasted file, log or stack trace outweighs the question beside it: in a vector by its length, among the terms by its
//! number (measured: 16 to 28 points of recall@3, eval/BASELINES). So where the question says enough by itself, it alone is
//! asked, with the one line of the paste that people look for again: the error.

use std::ops::Range;

use remembrancer_schema::query_terms;

/// So many lines that look like code or a log, one after the other, are a paste; fewer may be what is asked about.
const LEAST_LINES: usize = 3;
/// So many content terms make a question that stands by itself.
const LEAST_TERMS: usize = 3;
/// Bytes of an error line that are kept.
const ERROR_BYTES: usize = 160;
/// From this share of marks among a line's visible characters on it is no prose.
const MARKS: f64 = 0.14;

/// What opens and closes a block of code in Markdown.
const FENCES: [&str; 2] = ["```", "~~~"];
/// What begins a line of code, of a log, of a patch or of a shell's session, and rarely one of prose.
const BEGINNINGS: &[&str] = &[
    "$ ",
    "> ",
    "+",
    "-",
    "@@",
    "|",
    "//",
    "/*",
    "* ",
    "#",
    "<",
    "at ",
    "diff --git ",
    "index ",
    "import ",
    "from ",
    "use ",
    "def ",
    "class ",
    "fn ",
    "func ",
    "let ",
    "const ",
    "var ",
    "return",
    "Traceback (",
    "File \"",
    "-->",
    "During handling of the above exception",
    "The above exception was",
    "For more information about this error",
    "error:",
    "error[",
    "warning:",
    "note:",
];
/// What ends a line of code, and rarely one of prose.
const ENDS: &[char] = &['{', '}', ';', '[', '(', '\\', '|'];
/// What stands between the columns of a table.
const COLUMNS: &[&str] = &["   ", " | "];
/// What an error's line says.
const ERRORS: &[&str] = &["error", "exception", "panicked", "fatal", "failed", "denied", "refused"];

/// A prompt told apart from what is pasted into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unpasted {
    /// The prompt without its pastes but with the line of the error in them.
    pub(super) text: String,
    /// How many lines were left out.
    pub(super) lines: usize,
    /// Whether the line of an error was kept.
    pub(super) error_kept: bool,
}

/// The prompt without its pastes; `None` where nothing is pasted, or what is left asks too little to go without.
pub(super) fn without_pastes(prompt: &str) -> Option<Unpasted> {
    let lines: Vec<&str> = prompt.lines().collect();
    let pasted = pastes(&lines);
    if pasted.is_empty() {
        return None;
    }
    let mut asked: Vec<&str> = Vec::new();
    let mut next = 0;
    for paste in &pasted {
        asked.extend(&lines[next..paste.start]);
        next = paste.end;
    }
    asked.extend(&lines[next..]);
    let asked = asked.join("\n").trim().to_owned();
    if query_terms(&asked, LEAST_TERMS).len() < LEAST_TERMS {
        return None;
    }
    let error = pasted.iter().rev().find_map(|paste| error_line(&lines[paste.clone()]));
    Some(Unpasted {
        lines: pasted.iter().map(ExactSizeIterator::len).sum(),
        error_kept: error.is_some(),
        text: error.map_or_else(|| asked.clone(), |error| format!("{asked}\n{error}")),
    })
}

/// The runs of lines that are pasted, in order.
fn pastes(lines: &[&str]) -> Vec<Range<usize>> {
    let last_closing = FENCES.map(|fence| lines.iter().rposition(|line| line.trim() == fence));
    let mut pastes = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let end = fenced(&lines[at..], last_closing.map(|last| last.is_some_and(|last| last > at)))
            .or_else(|| unfenced(&lines[at..]))
            .map(|length| at + length);
        match end {
            Some(end) => {
                pastes.push(at..end);
                at = end;
            }
            None => at += 1,
        }
    }
    pastes
}

/// The length of the fenced block that begins here, its fences with it. Only a fence that `closes` somewhere is looked for, so
/// that a prompt full of open ones is read once.
fn fenced(lines: &[&str], closes: [bool; FENCES.len()]) -> Option<usize> {
    let opened = FENCES.iter().zip(closes).filter(|(_, closes)| *closes);
    let fence = opened
        .map(|(fence, _)| *fence)
        .find(|fence| lines[0].trim_start().starts_with(fence))?;
    let inside = lines[1..].iter().position(|line| line.trim() == fence)?;
    (inside >= LEAST_LINES).then_some(inside + 2)
}

/// The length of the run of lines of code that begins here. Single other lines and blank ones within it belong to it.
fn unfenced(lines: &[&str]) -> Option<usize> {
    if !is_code(lines[0]) {
        return None;
    }
    let (mut end, mut count, mut others) = (0, 0, 0);
    for (index, line) in lines.iter().enumerate() {
        if is_code(line) {
            (end, count, others) = (index + 1, count + 1, 0);
        } else if !line.trim().is_empty() {
            others += 1;
            if others > 1 || asks(line) {
                break;
            }
        }
    }
    (count >= LEAST_LINES).then_some(end)
}

/// Whether a line between lines of code is a person's own.
fn asks(line: &str) -> bool {
    line.trim_end().ends_with(['?', '!']) || query_terms(line, LEAST_TERMS).len() >= LEAST_TERMS
}

/// Whether a line looks like code, or like what a program printed.
fn is_code(line: &str) -> bool {
    let text = line.trim();
    if text.is_empty() || is_list_item(text) {
        return false;
    }
    line.starts_with(['\t', ' '])
        || text.ends_with(ENDS)
        || BEGINNINGS.iter().any(|beginning| text.starts_with(beginning))
        || text.starts_with(|c: char| c.is_ascii_digit())
        || COLUMNS.iter().any(|column| text.contains(column))
        || names_an_error(text)
        || begins_in_capitals(text)
        || marks(text) >= MARKS
}

/// A keyword of SQL, the level of a log's line: a first word of three capitals or more.
fn begins_in_capitals(text: &str) -> bool {
    let word = text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    word.len() >= 3 && word.chars().all(|c| c.is_ascii_uppercase())
}

/// `package.module.Starved: nothing came`, `ValueError: not a number`, `queue.Empty`.
fn names_an_error(text: &str) -> bool {
    let (name, told) = text.split_once(':').unwrap_or((text, ""));
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '_'));
    let is_path = name.trim_end_matches('.').contains('.');
    is_name && (is_path || (!told.is_empty() && (name.ends_with("Error") || name.ends_with("Exception"))))
}

/// `- do this`, `2. do that`: a person's list.
fn is_list_item(text: &str) -> bool {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let listed = rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "));
    let item = listed
        .filter(|_| rest.len() < text.len())
        .or_else(|| text.strip_prefix("- ").or_else(|| text.strip_prefix("* ")));
    item.is_some_and(|item| marks(item) < MARKS && !item.ends_with(ENDS))
}

/// The share of a line's visible characters that are neither letters nor the marks of prose.
fn marks(text: &str) -> f64 {
    let visible = text.chars().filter(|c| !c.is_whitespace());
    let (all, marks) = visible.fold((0, 0), |(all, marks), c| {
        let prose = c.is_alphabetic() || matches!(c, '.' | ',' | '?' | '!' | '\'' | '’');
        (all + 1, marks + u32::from(!prose))
    });
    f64::from(marks) / f64::from(all.max(1))
}

/// The last line that names an error, cut.
fn error_line<'a>(lines: &[&'a str]) -> Option<&'a str> {
    let line = lines.iter().rev().find(|line| {
        let line = line.to_ascii_lowercase();
        ERRORS.iter().any(|error| line.contains(error))
    })?;
    let line = line.trim();
    Some(&line[..line.floor_char_boundary(ERROR_BYTES)])
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const TRACE: &str = "Traceback (most recent call last):\n  File \"a.py\", line 3, in run\n    drain(batch)\nworker.Starved: failed, nothing on 'thumbs'";
    const CODE: &str = "for row in rows {\n    total += row.width;\n}\nprintln!(\"{total}\");";
    const PATCH: &str = "diff --git a/x b/x\nindex 1..2\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new";
    const LOG: &str = "2026-03-02 08:14:55 INFO  listening\n2026-03-02 08:15:12 WARN  slow\n2026-03-02 08:15:17 ERROR timed out";
    const SQL: &str = "UPDATE orders\nSET state = 'late'\nWHERE due < now()\nRETURNING id;";
    const QUESTION: &str = "Why does the importer starve after the night's pause?";

    fn check(prompt: &str, expected: Option<&str>) {
        assert_eq!(without_pastes(prompt).map(|unpasted| unpasted.text).as_deref(), expected);
    }

    #[rstest]
    #[case::trace(TRACE, "\nworker.Starved: failed, nothing on 'thumbs'")]
    #[case::code(CODE, "")]
    #[case::patch(PATCH, "")]
    #[case::sql(SQL, "")]
    #[case::log(LOG, "\n2026-03-02 08:15:17 ERROR timed out")]
    fn a_paste_goes_wherever_it_stands(#[case] paste: &str, #[case] error: &str) {
        let expected = format!("{QUESTION}{error}");
        check(&format!("{QUESTION}\n\n{paste}"), Some(&expected));
        check(&format!("{QUESTION}\n{paste}"), Some(&expected));
        check(&format!("{paste}\n\n{QUESTION}"), Some(&expected));
        check(&format!("{QUESTION}\n\n```\n{paste}\n```"), Some(&expected));
    }

    #[test]
    fn what_is_left_out_is_counted() {
        let unpasted = without_pastes(&format!("{QUESTION}\n\n{TRACE}\n")).unwrap();
        assert_eq!((unpasted.lines, unpasted.error_kept), (4, true));
        let unpasted = without_pastes(&format!("{QUESTION}\n{CODE}\nAnd the printer that drops umlauts?\n{PATCH}")).unwrap();
        assert_eq!((unpasted.lines, unpasted.error_kept), (4 + 7, false));
    }

    #[test]
    fn what_stands_around_a_paste_is_asked_together() {
        let prompt = format!("The importer is slow at night:\n{CODE}\nIs the loop over rows to blame?");
        check(
            &prompt,
            Some("The importer is slow at night:\nIs the loop over rows to blame?"),
        );
    }

    #[rstest]
    #[case::no_paste(QUESTION)]
    #[case::several_paragraphs("First the parser, please.\n\nThen the printer (it drops umlauts).\n\nThen we ship.")]
    #[case::a_list("Please:\n- rename the parser\n- drop the printer\n- ship it\n1. today\n2) or tomorrow")]
    #[case::a_quoted_command("```\ncargo run --release\n```\nwhen did we run that command last?")]
    #[case::an_unclosed_fence("what is ``` good for in markdown?\n```")]
    #[case::hard_wrapped(
        "We moved the cache to Redis last week, and since then\nthe importer starves (but only at night), which\nnobody understands."
    )]
    fn prose_stays(#[case] prompt: &str) {
        check(prompt, None);
    }

    #[rstest]
    #[case::nothing_else(TRACE)]
    #[case::hardly_anything("fix this:\n")]
    fn a_paste_that_is_the_question_stays(#[case] before: &str) {
        check(&format!("{before}\n{CODE}"), None);
    }

    #[test]
    fn the_pastes_of_the_bench_are_all_known() {
        let pastes = include_str!("../eval/prompts/pastes.txt").trim_end().split("\n=====\n");
        for paste in pastes {
            let asked = without_pastes(&format!("{QUESTION}\n\n{paste}")).unwrap_or_else(|| panic!("not seen: {paste}"));
            assert!(asked.text.lines().count() <= 2, "{asked:?}");
        }
    }
}
