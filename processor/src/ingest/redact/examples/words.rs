//! The table in words, for `docs/redaction.md`.

use std::fmt::Write as _;

use super::{CLASSES, Part, all, parts};

/// A row a rule; `kinds` are those of the rules, in order.
pub(super) fn table(kinds: &[&str]) -> String {
    let mut table = "| rule | becomes | finds | for example |\n| --- | --- | --- | --- |\n".to_owned();
    for (example, kind) in all().iter().zip(kinds) {
        let shown = example.positives.first().map_or_else(String::new, |text| in_words(text));
        writeln!(
            table,
            "| {} | `[redacted:{kind}]` | {} | {shown} |",
            example.rule, example.finds
        )
        .unwrap();
    }
    table
}

/// A text of the table, with what would be made up told in words.
fn in_words(text: &str) -> String {
    let told: Vec<String> = parts(text)
        .iter()
        .map(|part| match part {
            Part::Literal(literal) if literal.trim().is_empty() => String::new(),
            Part::Literal(literal) => format!("`{}`", literal.trim().replace('\n', "\\n").replace('|', "\\|")),
            Part::Made(class, count) => format!("{count} {}", CLASSES[*class].2),
            Part::Uuid => "a UUID".to_owned(),
            Part::Typed => "a password".to_owned(),
        })
        .filter(|part| !part.is_empty())
        .collect();
    told.join(", ")
}
