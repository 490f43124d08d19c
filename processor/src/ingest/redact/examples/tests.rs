use std::collections::BTreeSet;

use regex::Regex;
use sha2::{Digest, Sha256};

use super::super::columns;
use super::super::everyday::{COLUMNS, EVERYDAY};
use super::super::judge::Found;
use super::super::oracle::{compiled, secret};
use super::super::rules::{Rule, SHAPED};
use super::super::tokens::TOKENS;
use super::super::written::WRITTEN;
use super::super::{REDACTION_VERSION, redact};
use super::{Example, all, filled, words};

/// Least texts of a rule that hold a secret, and least that hold none.
const LEAST: usize = 2;
/// Bytes of what was made up that may not be seen together.
const WINDOW: usize = 8;

/// A rule by itself.
struct Alone {
    name: &'static str,
    kind: &'static str,
    anchors: Vec<&'static str>,
    /// Whether they must stand as they are.
    is_cased: bool,
    pattern: Regex,
    is_secret: fn(&Found<'_>) -> bool,
}

impl Alone {
    fn of(rule: &Rule, is_cased: bool) -> Self {
        Self {
            is_cased,
            name: rule.name,
            kind: rule.kind,
            anchors: rule.anchors.to_vec(),
            pattern: compiled(rule.pattern),
            is_secret: rule.is_secret,
        }
    }

    /// Whether it finds a secret.
    fn finds(&self, text: &str) -> bool {
        if self.name == COLUMNS.name {
            return !columns::secrets(text).is_empty();
        }
        self.pattern.captures_iter(text).any(|found| {
            let value = &text[secret(&found)];
            let suffix = found.name("suffix").map_or("", |suffix| suffix.as_str());
            (self.is_secret)(&Found { value, suffix })
        })
    }

    /// Whether one of its fixed strings is there, without which it is never asked.
    fn is_asked(&self, text: &str) -> bool {
        let lower = text.to_ascii_lowercase();
        let is_there = |anchor: &&str| {
            if self.is_cased {
                text.contains(*anchor)
            } else {
                lower.contains(&anchor.to_ascii_lowercase())
            }
        };
        self.anchors.iter().any(is_there)
    }
}

/// All rules, in order.
fn rules() -> Vec<Alone> {
    let tokens = TOKENS.iter().map(|token| Alone {
        name: token.name,
        kind: token.kind,
        anchors: token.begins.to_vec(),
        is_cased: true,
        pattern: compiled(&token.pattern()),
        is_secret: super::super::judge::always,
    });
    let shaped = SHAPED.iter().map(|rule| Alone::of(rule, !rule.pattern.starts_with("(?i")));
    let written = WRITTEN.iter().map(|rule| Alone::of(rule, false));
    let everyday = EVERYDAY.iter().chain([&COLUMNS]).map(|rule| Alone::of(rule, false));
    shaped.chain(tokens).chain(written).chain(everyday).collect()
}

/// What is wrong with a rule's examples.
fn faults(rule: &Alone, example: &Example) -> Vec<String> {
    let mut faults = Vec::new();
    if example.positives.len() < LEAST || example.negatives.len() < LEAST {
        faults.push(format!("{}: too few examples", rule.name));
    }
    for text in example.positives {
        let (text, made) = filled(text);
        let redacted = redact(&text);
        if !rule.finds(&text) || !rule.is_asked(&text) {
            faults.push(format!("{} does not find {text}", rule.name));
        }
        // Another rule may take a text that this one would find as well, but for the kind.
        if !redacted.contains(&format!("[redacted:{}]", rule.kind)) {
            faults.push(format!("{} leaves {redacted}", rule.name));
        }
        let left = made.iter().filter(|made| is_left(&redacted, made));
        faults.extend(left.map(|left| format!("{} leaves {left} in {redacted}", rule.name)));
        if redact(&redacted) != redacted {
            faults.push(format!("{} redacts twice: {redacted}", rule.name));
        }
    }
    for text in example.negatives {
        let (text, _) = filled(text);
        let redacted = redact(&text);
        if redacted != text {
            faults.push(format!("{} takes {text} for {redacted}", rule.name));
        }
    }
    faults
}

/// Whether a part of what was made up is left that is of use to whoever finds it.
fn is_left(redacted: &str, made: &str) -> bool {
    made.len() >= WINDOW
        && made
            .as_bytes()
            .windows(WINDOW)
            .any(|window| memchr::memmem::find(redacted.as_bytes(), window).is_some())
}

#[test]
fn tc_41_every_rule_finds_its_examples_and_nothing_like_them() {
    let (rules, examples) = (rules(), all());
    assert_eq!(
        examples.iter().map(|example| example.rule).collect::<Vec<_>>(),
        rules.iter().map(|rule| rule.name).collect::<Vec<_>>(),
        "the table of examples has the rules in their order"
    );
    let faults: Vec<String> = rules
        .iter()
        .zip(&examples)
        .flat_map(|(rule, example)| faults(rule, example))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn names_of_rules_are_unique_and_every_rule_has_fixed_strings() {
    let rules = rules();
    let names: BTreeSet<&str> = rules.iter().map(|rule| rule.name).collect();
    assert_eq!(names.len(), rules.len());
    assert!(rules.iter().all(|rule| !rule.anchors.is_empty()));
}

/// A text as it may be written otherwise: in other cases, in JSON within JSON, with other blanks.
fn rewritten(text: &str) -> Vec<String> {
    let capital = |word: &str| {
        let mut letters = word.chars();
        letters
            .next()
            .map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
    };
    let capitals: Vec<String> = text.split(' ').map(capital).collect();
    vec![
        text.to_uppercase(),
        text.to_lowercase(),
        capitals.join(" "),
        text.replace('"', "\\\""),
        text.replace('"', "\\\\\""),
        text.replace('"', "\\\\\\\""),
        text.replace('"', "'"),
        text.replace(' ', "\t"),
        text.replace(' ', "  "),
        text.replace(' ', "\n"),
        text.replace(' ', "="),
        text.replace('=', " "),
        text.replace('_', "-"),
        text.replace(['_', '-'], ""),
    ]
}

#[test]
fn what_a_pattern_finds_holds_one_of_its_fixed_strings_however_it_is_written() {
    let mut faults = Vec::new();
    for (rule, example) in rules().iter().zip(all()) {
        for text in example.positives {
            let variants = rewritten(&filled(text).0);
            let missed = variants.iter().filter(|text| rule.finds(text) && !rule.is_asked(text));
            faults.extend(missed.map(|text| format!("{} is not asked of {text}", rule.name)));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// All that decides what is redacted, but for the engine: the rules, the judgements, and how a text is read, without comments and layout.
fn fingerprint() -> String {
    let mut hash = Sha256::new();
    for rule in rules() {
        hash.update(format!("{:?}", (rule.name, rule.kind, rule.anchors, rule.pattern.as_str())));
    }
    let files = [
        include_str!("../judge.rs"),
        include_str!("../typed.rs"),
        include_str!("../columns.rs"),
        include_str!("../private.rs"),
        include_str!("../view.rs"),
        include_str!("../../../hidden.rs"),
    ];
    let code = files.iter().filter_map(|file| file.split("#[cfg(test)]").next());
    for line in code.flat_map(str::lines).filter(|line| !line.trim_start().starts_with("//")) {
        // Who may name a thing is no rule.
        hash.update(line.replace("pub(super) ", "").split_whitespace().collect::<String>());
    }
    let digest = hash.finalize();
    digest[..8]
        .iter()
        .fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}

#[test]
fn a_change_of_the_rules_raises_their_version() {
    assert_eq!(
        (REDACTION_VERSION, fingerprint().as_str()),
        (5, "8a87fa022af7fa3f"),
        "the rules changed: raise REDACTION_VERSION by one, so that what is stored is redacted anew, and put both here"
    );
}

#[test]
fn the_documentation_tells_of_every_rule() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/redaction.md");
    let document = fs_err::read_to_string(path).unwrap();
    let (begin, end) = ("<!-- rules -->\n", "<!-- end of rules -->");
    let (before, rest) = document.split_once(begin).unwrap();
    let (table, after) = rest.split_once(end).unwrap();
    let kinds: Vec<&str> = rules().iter().map(|rule| rule.kind).collect();
    let expected = words::table(&kinds);
    if std::env::var_os("REMEMBRANCER_WRITE_DOCUMENTS").is_some() {
        return fs_err::write(path, format!("{before}{begin}{expected}{end}{after}")).unwrap();
    }
    assert!(
        table == expected,
        "docs/redaction.md is out of date: run this test with REMEMBRANCER_WRITE_DOCUMENTS=1, and read what it changed"
    );
}
