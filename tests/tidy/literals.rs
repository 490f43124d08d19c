//! What stands in string literals: SQL, which belongs in `schema`.

use super::{assert_none, rust_files};

#[test]
fn sql_is_in_schema_alone() {
    let mut offenders = Vec::new();
    for (path, text) in rust_files() {
        // This file names what it looks for, and what tests of the shared store play or look into is a server.
        let plays_a_server = [
            "tests/shared",
            "tests/e2e/share",
            "tests/e2e/share.rs",
            "tests/src/bin/share_scale.rs",
            "tests/src/postgres.rs",
        ];
        if path.starts_with("schema")
            || path.starts_with("tests/tidy")
            || plays_a_server.iter().any(|place| path.starts_with(place))
        {
            continue;
        }
        offenders.extend(
            strings(&text)
                .into_iter()
                .filter(|literal| is_sql(literal))
                .map(|literal| format!("{}: {literal:?}", path.display())),
        );
    }
    assert_none(
        "put the query into schema/src/query, schema/src/write or, of another program's database, schema/src/foreign",
        &offenders,
    );
}

fn is_sql(literal: &str) -> bool {
    let after = |word: &str| literal.split_once(word).map(|(_, after)| after);
    [
        "SELECT ",
        "INSERT INTO ",
        "INSERT OR ",
        "DELETE FROM ",
        "CREATE TABLE ",
        "PRAGMA ",
    ]
    .iter()
    .any(|word| literal.contains(word))
        || after("UPDATE ").is_some_and(|rest| rest.contains(" SET "))
}

/// The contents of all string literals of a source text, comments left out.
fn strings(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        at = match chars[at] {
            '/' if chars.get(at + 1) == Some(&'/') => end_of_line(&chars, at),
            'r' if !at.checked_sub(1).is_some_and(|before| is_word(chars[before])) => {
                raw_string(&chars, at, &mut found).unwrap_or(at + 1)
            }
            '"' => string(&chars, at, &mut found),
            '\'' => character(&chars, at),
            _ => at + 1,
        };
    }
    found
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn end_of_line(chars: &[char], from: usize) -> usize {
    (from..chars.len()).find(|at| chars[*at] == '\n').unwrap_or(chars.len())
}

/// `"…"` from its first quote. Returns what comes after it.
fn string(chars: &[char], from: usize, found: &mut Vec<String>) -> usize {
    let mut literal = String::new();
    let mut at = from + 1;
    while at < chars.len() && chars[at] != '"' {
        if chars[at] == '\\' {
            at += 1;
        }
        literal.extend(chars.get(at));
        at += 1;
    }
    found.push(literal);
    at + 1
}

/// `r#"…"#` with any number of `#`; `None` where this `r` begins none.
fn raw_string(chars: &[char], from: usize, found: &mut Vec<String>) -> Option<usize> {
    let hashes = chars[from + 1..].iter().take_while(|c| **c == '#').count();
    let begin = from + 1 + hashes;
    if chars.get(begin) != Some(&'"') {
        return None;
    }
    let closes = |at: usize| chars[at] == '"' && chars[at + 1..].iter().take(hashes).filter(|c| **c == '#').count() == hashes;
    let end = (begin + 1..chars.len()).find(|at| closes(*at))?;
    found.push(chars[begin + 1..end].iter().collect());
    Some(end + 1 + hashes)
}

/// A character literal such as `'"'`, or a lifetime, of which only the quote is passed.
fn character(chars: &[char], from: usize) -> usize {
    match (chars.get(from + 1), chars.get(from + 2)) {
        (Some('\\'), _) => (from + 3..chars.len())
            .find(|at| chars[*at] == '\'')
            .map_or(chars.len(), |end| end + 1),
        (Some(_), Some('\'')) => from + 3,
        _ => from + 1,
    }
}

#[test]
fn literals_are_found() {
    let text = "let a = \"one \\\" two\"; // \"no\"\nlet b = 'x'; let c = '\"'; fn f<'a>(x: &'a str) {} g(r#\"SELECT \"x\"\"#); var(\"y\")";
    assert_eq!(strings(text), ["one \" two", "SELECT \"x\"", "y"]);
    assert!(is_sql("UPDATE a SET b") && !is_sql("an UPDATE of settings") && !is_sql("Select one"));
}
