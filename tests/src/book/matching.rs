//! Whether something was printed that a page says is printed. In go the page's lines and the printed ones.
//!
//! On the page `…` stands for any text, on a line of its own for any lines; `N` for any number. Written out, what differs from run
//! to run is taken for what it is: a moment for any moment, an id of a prompt for any, a number with a unit (`32 ms`, `1.8 MB`,
//! `40 %`) or of a process for any number, and a plain fraction (a score, a cosine) for one that is near. All else, whole numbers
//! too, must be the same. Blanks are one blank.

/// How far a plain fraction may be from that of the page: by so much, and by this share of it. Processors round differently.
const NEAR: (f64, f64) = (0.05, 0.04);
/// What makes the number before it one that differs.
const UNITS: &[&str] = &["ms", "s", "µs", "kB", "KB", "MB", "GB", "KiB", "MiB", "GiB", "%"];
/// What makes the number behind it one that differs.
const NUMBERED: &[&str] = &["process ", "process id ", "kill "];
/// Digits of a prompt's id.
const PROMPT_ID: usize = 16;

/// Whether `printed` is what `page` says.
pub fn is_printed(page: &[String], printed: &[String]) -> bool {
    match page.split_first() {
        None => printed.is_empty(),
        Some((first, rest)) if first.trim() == "…" => (0..=printed.len()).any(|skipped| is_printed(rest, &printed[skipped..])),
        Some((first, rest)) => printed
            .split_first()
            .is_some_and(|(line, others)| is_line(first, line) && is_printed(rest, others)),
    }
}

/// Whether the line `printed` is what the line `page` says.
pub fn is_line(page: &str, printed: &str) -> bool {
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let printed: Vec<char> = words(printed).chars().collect();
    fits(&parts(&words(page)), &printed)
}

/// A piece of a page's line.
#[derive(Debug, PartialEq)]
enum Part {
    Literal(char),
    /// Any text.
    Any,
    /// Any number.
    Number,
    /// A number near this one.
    Near(f64),
    /// Any moment, as `2026-06-03T09:12:37Z`.
    Moment,
    /// Any id of a prompt.
    PromptId,
}

fn parts(line: &str) -> Vec<Part> {
    let line: Vec<char> = line.chars().collect();
    let mut parts = Vec::new();
    let mut at = 0;
    while at < line.len() {
        let is_begin = at == 0 || !is_of_word(line[at - 1]);
        let (part, length) = match line[at] {
            '…' => (Part::Any, 1),
            'N' if is_begin && line.get(at + 1).is_none_or(|next| !is_of_word(*next)) => (Part::Number, 1),
            c if is_begin && c.is_ascii_hexdigit() => number_or_word(&line, at),
            c => (Part::Literal(c), 1),
        };
        parts.push(part);
        at += length;
    }
    parts
}

/// What begins at a digit of a word, and its length.
fn number_or_word(line: &[char], at: usize) -> (Part, usize) {
    let rest = &line[at..];
    if let Some(length) = moment(rest) {
        return (Part::Moment, length);
    }
    if let Some(length) = prompt_id(rest) {
        return (Part::PromptId, length);
    }
    let (length, text) = number(rest);
    let behind: String = rest[length..].iter().take(4).collect();
    let ends_word = rest.get(length).is_none_or(|next| !is_of_word(*next));
    let before: String = line[..at].iter().collect();
    let has_unit = UNITS.iter().any(|unit| {
        let unit_behind = behind.trim_start().strip_prefix(unit);
        unit_behind.is_some_and(|after| !after.starts_with(is_of_word))
    });
    let is_numbered = NUMBERED.iter().any(|word| before.ends_with(word));
    match text.parse::<f64>() {
        Ok(_) if ends_word && (has_unit || is_numbered) => (Part::Number, length),
        Ok(value) if ends_word && text.contains('.') => (Part::Near(value), length),
        _ => (Part::Literal(line[at]), 1),
    }
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Digits with a fraction, if it has one. A point that ends a sentence is no part of it, and a version or an address has none.
fn number(text: &[char]) -> (usize, String) {
    let whole = text.iter().take_while(|c| c.is_ascii_digit()).count();
    let fraction = match text.get(whole) {
        Some('.') if whole > 0 => text[whole + 1..].iter().take_while(|c| c.is_ascii_digit()).count(),
        _ => 0,
    };
    let mut behind = text.iter().skip(whole + 1 + fraction);
    let goes_on = behind.next() == Some(&'.') && behind.next().is_some_and(char::is_ascii_digit);
    let fraction = if goes_on { 0 } else { fraction };
    let length = if fraction > 0 { whole + 1 + fraction } else { whole };
    (length, text[..length].iter().collect())
}

/// The length of a moment in time at the start of `text`.
fn moment(text: &[char]) -> Option<usize> {
    let form = "0000-00-00T00:00:00";
    let is_like = |(form, c): (char, &char)| if form == '0' { c.is_ascii_digit() } else { form == *c };
    if text.len() < form.len() || !form.chars().zip(text).all(is_like) {
        return None;
    }
    let fraction = text[form.len()..]
        .iter()
        .take_while(|c| **c == '.' || c.is_ascii_digit())
        .count();
    let end = form.len() + fraction;
    (text.get(end) == Some(&'Z')).then_some(end + 1)
}

/// The length of a prompt's id at the start of `text`.
fn prompt_id(text: &[char]) -> Option<usize> {
    let length = text.iter().take_while(|c| is_of_word(**c)).count();
    (length == PROMPT_ID && text[..length].iter().all(char::is_ascii_hexdigit)).then_some(length)
}

fn fits(parts: &[Part], printed: &[char]) -> bool {
    let Some((first, rest)) = parts.split_first() else {
        return printed.is_empty();
    };
    let behind = |length: usize| fits(rest, &printed[length..]);
    match first {
        Part::Literal(c) => printed.first() == Some(c) && behind(1),
        Part::Any => (0..=printed.len()).any(behind),
        Part::Number => {
            let (length, _) = number(printed);
            // A message may hold the letter itself, as `explain N`.
            (length > 0 && behind(length)) || (printed.first() == Some(&'N') && behind(1))
        }
        Part::Near(value) => {
            let (length, text) = number(printed);
            let is_near = |other: f64| (value - other).abs() <= NEAR.0 + NEAR.1 * value.abs();
            text.parse().is_ok_and(is_near) && behind(length)
        }
        Part::Moment => moment(printed).is_some_and(behind),
        Part::PromptId => prompt_id(printed).is_some_and(behind),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::same("7 episodes of 4 sessions", "7 episodes of 4 sessions", true)]
    #[case::another_count("7 episodes", "8 episodes", false)]
    #[case::blanks("a   b", "a b  ", true)]
    #[case::a_time("answered in 32 ms (budget 240 ms).", "answered in 9.5 ms (budget 240 ms).", true)]
    #[case::a_time_is_a_number("answered in 32 ms", "answered in no ms", false)]
    #[case::a_size("disk 1.8 MB, log 0.1 MB", "disk 12 MB, log 3.0 MB", true)]
    #[case::seconds_are_no_sessions("2 sessions", "3 sessions", false)]
    #[case::a_score("shown 5.0829 0.658", "shown 5.0101 0.661", true)]
    #[case::a_score_far_off("shown 5.0829", "shown 4.1", false)]
    #[case::a_sign("cosine -0.010", "cosine 0.010", false)]
    #[case::a_moment("at 2026-11-28T08:50:27Z.", "at 2027-01-02T03:04:05.678Z.", true)]
    #[case::a_day("on 2026-06-03", "on 2026-06-04", false)]
    #[case::an_episode("id 2b3c49c9", "id 2b3c49c8", false)]
    #[case::a_prompt("prompt=\"8299f6b729c34f9b\"", "prompt=\"aaaaf6b729c34f9b\"", true)]
    #[case::a_process("process 17, since", "process 20417, since", true)]
    #[case::any_text("in /tmp/try-…", "in /tmp/try-D0nPHT", true)]
    #[case::any_text_inside("a … c", "a b b c", true)]
    #[case::any_number("N-N-N", "2026-06-03", true)]
    #[case::a_word_with_it("MN", "MN", true)]
    #[case::the_letter("explain N", "explain N", true)]
    #[case::no_number("N of", "many of", false)]
    #[case::more("a", "a b", false)]
    #[case::a_version("version 0.1.0", "version 0.1.0", true)]
    fn a_line(#[case] page: &str, #[case] printed: &str, #[case] expected: bool) {
        assert_eq!(is_line(page, printed), expected, "{:?}", parts(page));
    }

    #[rstest]
    #[case::same(&["a", "b"], &["a", "b"], true)]
    #[case::missing(&["a", "b"], &["a"], false)]
    #[case::more(&["a"], &["a", "b"], false)]
    #[case::to_the_end(&["a", "…"], &["a", "b", "c"], true)]
    #[case::nothing_left_out(&["a", "…"], &["a"], true)]
    #[case::in_the_middle(&["a", "…", "d"], &["a", "b", "c", "d"], true)]
    #[case::the_end_is_wrong(&["a", "…", "d"], &["a", "b", "c"], false)]
    fn lines(#[case] page: &[&str], #[case] printed: &[&str], #[case] expected: bool) {
        let owned = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
        assert_eq!(is_printed(&owned(page), &owned(printed)), expected);
    }
}
