//! Lines for a POSIX shell: the words of the first command come out, with their places. Nothing is expanded.

use std::ops::Range;

/// A word of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// Where it stands, with its quotes.
    pub range: Range<usize>,
    /// What it comes to, without them.
    pub text: String,
    /// Whether it gives a variable its value.
    pub assigns: bool,
    /// Whether it is the `!` that turns a command's exit status round.
    pub is_not: bool,
}

/// What ends a word and a command, where it is not quoted.
const OPERATORS: &str = ";&|<>()";

/// The words of the first command of a line, and where that ends: at the line's end, or at an operator.
pub(super) fn first_command(line: &str) -> (Vec<Word>, usize) {
    let mut words = Vec::new();
    let mut at = 0;
    loop {
        let rest = &line[at..];
        let blanks = rest.len()
            - rest
                .trim_start_matches(|c: char| c.is_whitespace() && (c != '\n' || words.is_empty()))
                .len();
        at += blanks;
        let Some(next) = line[at..].chars().next() else {
            return (words, at);
        };
        if next == '\n' || next == '#' || OPERATORS.contains(next) {
            return (words, at);
        }
        let word = word_at(line, at);
        at = word.range.end;
        words.push(word);
    }
}

/// The word that begins at `start`.
fn word_at(line: &str, start: usize) -> Word {
    let mut text = String::new();
    let mut quote = None;
    let mut end = line.len();
    let mut chars = line[start..].char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match (quote, c) {
            (None, c) if c.is_whitespace() || OPERATORS.contains(c) => {
                end = start + at;
                break;
            }
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            (None, '\\') => text.extend(chars.next().map(|(_, escaped)| escaped)),
            (Some('"'), '\\') => match chars.next_if(|(_, next)| "$`\"\\".contains(*next)) {
                Some((_, escaped)) => text.push(escaped),
                None => text.push('\\'),
            },
            (_, c) => text.push(c),
        }
    }
    let raw = &line[start..end];
    Word {
        assigns: assigns(raw),
        is_not: raw == "!",
        text,
        range: start..end,
    }
}

/// Whether a word as it is written is `NAME=…`.
fn assigns(raw: &str) -> bool {
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    raw.split_once('=').is_some_and(|(name, _)| is_name(name))
}

/// `text` as one word of a POSIX shell.
pub(crate) fn quoted(text: &str) -> String {
    let harmless = |c: char| c.is_alphanumeric() || "/._-+@%:,=".contains(c);
    if !text.is_empty() && text.chars().all(harmless) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::plain("a b  c", &["a", "b", "c"], "")]
    #[case::quoted(r#"'a b' "c \"d\" \e" f\ g"#, &["a b", r#"c "d" \e"#, "f g"], "")]
    #[case::joined(r#"a'b'"c""#, &["abc"], "")]
    #[case::first_of_two("a b; c", &["a", "b"], "; c")]
    #[case::a_quoted_operator("a ';' | b", &["a", ";"], "| b")]
    #[case::two_lines("\n a\nb", &["a"], "\nb")]
    #[case::a_comment("a # b", &["a"], "# b")]
    #[case::nothing("  ", &[], "")]
    #[case::unfinished("a 'b c", &["a", "b c"], "")]
    fn a_line_has_words(#[case] line: &str, #[case] expected: &[&str], #[case] rest: &str) {
        let (words, end) = first_command(line);
        let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        assert_eq!((texts.as_slice(), &line[end..]), (expected, rest));
    }

    #[rstest]
    #[case::a_value("A=1", true)]
    #[case::an_empty_one("A_2=", true)]
    #[case::a_quoted_value("A='1 2'", true)]
    #[case::a_quoted_name("'A'=1", false)]
    #[case::no_name("2=1", false)]
    #[case::none("A", false)]
    fn a_word_may_give_a_variable_its_value(#[case] word: &str, #[case] expected: bool) {
        assert_eq!(first_command(word).0[0].assigns, expected);
    }

    proptest! {
        #[test]
        fn a_quoted_word_is_the_first_word(text in ".*", rest in "( .*)?") {
            let line = quoted(&text) + &rest;
            let (words, _) = first_command(&line);
            prop_assert_eq!(words[0].range.clone(), 0..quoted(&text).len());
            prop_assert_eq!(&words[0].text, &text);
        }

        #[test]
        fn every_word_stands_where_it_says(line in "[a-z'\"\\\\ ;|é\n]{0,40}") {
            let (words, end) = first_command(&line);
            let mut before = 0;
            for word in words {
                prop_assert!(before <= word.range.start && word.range.start < word.range.end && word.range.end <= end);
                before = word.range.end;
            }
        }
    }
}
