use clap::Command;
use rstest::rstest;

use super::*;

/// The width that help is written for.
const COLUMNS: usize = 80;

#[rstest]
#[case::short("a b", 10, "a b\n")]
#[case::a_paragraph("one two three four", 9, "one two\nthree\nfour\n")]
#[case::a_column(
    "  --a <X>  one two three four five",
    24,
    "  --a <X>  one two three\n           four five\n"
)]
#[case::a_narrow_column("  --a-long-option <VALUE>  one two", 30, "  --a-long-option <VALUE> one\n      two\n")]
#[case::an_item("  - a: one two three", 12, "  - a: one\n    two\n    three\n")]
#[case::usage("Usage: x [OPTIONS] <A|B>", 18, "Usage: x [OPTIONS]\n       <A|B>\n")]
#[case::a_long_word("a verylongwordindeed b", 8, "a\nverylongwordindeed\nb\n")]
#[case::styles("\u{1b}[1mone\u{1b}[0m two three", 8, "\u{1b}[1mone\u{1b}[0m two\nthree\n")]
#[case::empty_lines("a\n\nb\n", 8, "a\n\nb\n")]
fn lines_are_broken_between_words(#[case] text: &str, #[case] most: usize, #[case] expected: &str) {
    assert_eq!(fitted(text, most), expected);
}

/// Every command with the words that name it, the program itself first.
fn all() -> Vec<(String, Command)> {
    fn add(command: &Command, name: &str, found: &mut Vec<(String, Command)>) {
        found.push((name.to_owned(), command.clone()));
        for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
            add(inner, &format!("{name} {}", inner.get_name()), found);
        }
    }
    let mut whole = command();
    whole.build();
    let mut found = Vec::new();
    add(&whole, "remembrancer", &mut found);
    found
}

#[test]
fn help_reads_well_at_eighty_columns() {
    let mut faults = Vec::new();
    for (name, mut command) in all() {
        for (kind, text) in [("-h", command.render_help()), ("--help", command.render_long_help())] {
            let raw = text.to_string();
            let shown = fitted(&raw, COLUMNS);
            let told = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(told(&shown), told(&raw), "{name} {kind} says the same, no word broken");
            for line in shown.lines() {
                if columns(line) > COLUMNS {
                    faults.push(format!("{name} {kind}: wider than {COLUMNS}: {line}"));
                }
                let is_prose = line.starts_with(|c: char| c.is_lowercase());
                if line.ends_with('-') || (is_prose && line.ends_with('(')) {
                    faults.push(format!("{name} {kind}: ends in the middle: {line}"));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_option_says_what_it_is_in_a_sentence() {
    let mut faults = Vec::new();
    for (name, command) in all() {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        if about.is_empty() || about.ends_with('.') {
            faults.push(format!("{name}: {about:?}"));
        }
        for argument in command.get_arguments() {
            let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
            let begins = help.chars().next().is_some_and(|c| c.is_uppercase() || c == '`');
            if !begins || help.ends_with('.') {
                faults.push(format!("{name} {}: {help:?}", argument.get_id()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn examples_are_command_lines_that_can_be_read() {
    let with_none = [
        "remembrancer",
        "remembrancer resume",
        "remembrancer statusline",
        "remembrancer man-pages",
    ];
    for (name, command) in all() {
        if command.get_subcommands().next().is_some() || with_none.contains(&name.as_str()) {
            continue;
        }
        let help = command.clone().render_long_help().to_string();
        // Those of `config` stand with `config`.
        let is_inner = name.split(' ').count() > 2;
        assert!(is_inner || help.contains("\nExamples:\n"), "{name} has no example");
    }
    for line in examples::lines() {
        let words = words(line);
        if let Err(error) = command().try_get_matches_from(&words) {
            panic!("{line}: {error}");
        }
    }
}

/// A command line as a shell reads it, as far as the examples need that: quotes, and nothing behind `>` or `|`.
fn words(line: &str) -> Vec<String> {
    let line = line.split(['>', '|']).next().unwrap();
    let mut words = Vec::new();
    for (number, part) in line.split('"').enumerate() {
        if number % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}
