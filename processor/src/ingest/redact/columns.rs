//! Secrets in the columns of tables: CSV, Markdown, and what databases print. The line above says which column holds one.

use std::ops::Range;

use super::judge::{Found, is_assigned, is_spoken, looks_like_a_secret};

/// Longest line that is taken for the head of a table, in bytes.
const LONGEST_HEAD: usize = 400;
/// Most words in a cell of a head.
const MOST_WORDS: usize = 3;
/// What cells are parted by, the surest first.
pub(super) const SEPARATORS: [char; 4] = ['|', '\t', ';', ','];
/// Shortest value of a column that holds no password but a token or a key, in bytes.
const LEAST_TOKEN: usize = 16;

/// What a column of passwords is called, at the end of its name.
pub(super) const PASSWORDS: &[&str] = &[
    "password",
    "passwords",
    "passwd",
    "passphrase",
    "pass",
    "pwd",
    "pw",
    "passwort",
    "kennwort",
    "senha",
    "contraseña",
    "пароль",
    "密码",
];
/// What a column of other secrets is called, likewise.
pub(super) const SECRETS: &[&str] = &["secret", "secrets", "token", "tokens", "apikey", "credential", "credentials"];
/// What stands before `key` where it is a secret one.
const KEYS: &[&str] = &[
    "api",
    "access",
    "secret",
    "private",
    "auth",
    "license",
    "encryption",
    "signing",
    "master",
];

/// Words of a sentence, of which a head has none.
const OF_SENTENCES: &[&str] = &["a", "an", "the", "and", "or", "your", "my", "no", "with", "is", "are", "for"];

/// What a column holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Column {
    Other,
    Password,
    Token,
}

/// Where the secrets are in the tables of `text`, in order.
pub(super) fn secrets(text: &str) -> Vec<Range<usize>> {
    let mut secrets = Vec::new();
    let mut table: Option<(char, Vec<Column>)> = None;
    let mut from = 0;
    for line in text.split_inclusive('\n') {
        let row = match &table {
            Some((separator, columns)) => values(line, *separator, columns),
            None => None,
        };
        match row {
            Some(found) => secrets.extend(found.into_iter().map(|range| from + range.start..from + range.end)),
            None => table = head(line),
        }
        from += line.len();
    }
    secrets
}

/// The head of a table of which a column holds secrets, if `line` is one: by what its cells are parted, and what each column holds.
fn head(line: &str) -> Option<(char, Vec<Column>)> {
    if line.len() > LONGEST_HEAD {
        return None;
    }
    SEPARATORS.into_iter().find_map(|separator| {
        let columns: Option<Vec<Column>> = cells(line, separator)
            .iter()
            .map(|cell| column(&line[cell.clone()]))
            .collect();
        let columns = columns.filter(|columns| columns.len() > 1)?;
        columns
            .iter()
            .any(|column| *column != Column::Other)
            .then_some((separator, columns))
    })
}

/// What the column with this head holds; `None` where that is no head of a column.
fn column(name: &str) -> Option<Column> {
    let name = name.to_lowercase();
    let mut words: Vec<&str> = name.split([' ', '_', '-']).filter(|word| !word.is_empty()).collect();
    if words.len() > MOST_WORDS || words.iter().any(|word| OF_SENTENCES.contains(word)) {
        return None;
    }
    let (last, before) = (words.pop().unwrap_or_default(), words.pop().unwrap_or_default());
    Some(match last {
        last if PASSWORDS.contains(&last) => Column::Password,
        last if SECRETS.contains(&last) => Column::Token,
        "key" if KEYS.contains(&before) => Column::Token,
        _ => Column::Other,
    })
}

/// The secrets of a row; `None` where the table ended before it.
fn values(line: &str, separator: char, columns: &[Column]) -> Option<Vec<Range<usize>>> {
    if is_ruler(line) {
        return Some(Vec::new());
    }
    let cells = cells(line, separator);
    if cells.len() < columns.len() {
        return None;
    }
    let cells = cells.into_iter().zip(columns);
    let found = cells.filter(|(cell, column)| is_secret(&line[cell.clone()], **column));
    Some(found.map(|(cell, _)| cell).collect())
}

fn is_secret(value: &str, column: Column) -> bool {
    let found = Found { value, suffix: "" };
    let is_one_word = !value.contains(char::is_whitespace);
    match column {
        Column::Other => false,
        Column::Password => is_one_word && is_spoken(&found),
        Column::Token => is_one_word && value.len() >= LEAST_TOKEN && (looks_like_a_secret(&found) || is_token(&found)),
    }
}

fn is_token(found: &Found<'_>) -> bool {
    found.value.bytes().any(|byte| byte.is_ascii_digit()) && is_assigned(found)
}

/// A line that only parts the head from the rows, or closes a table, in Markdown and as databases print it.
fn is_ruler(line: &str) -> bool {
    let line = line.trim();
    line.contains("--") && line.chars().all(|c| matches!(c, '-' | '|' | ':' | '+' | ' '))
}

/// Where the cells of a line are, without blanks and quotes around them.
fn cells(line: &str, separator: char) -> Vec<Range<usize>> {
    let frame = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '*');
    let mut cells = Vec::new();
    let mut from = 0;
    for cell in line.split(separator) {
        let begins = from + (cell.len() - cell.trim_start_matches(frame).len());
        cells.push(begins..begins + cell.trim_matches(frame).len());
        from += cell.len() + separator.len_utf8();
    }
    cells
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::csv("user,password\nbob,hunter2Zq\nada,tr0ub4dor\n", &["hunter2Zq", "tr0ub4dor"])]
    #[case::quoted("\"user\";\"password\"\n\"bob\";\"hunter2Zq\"", &["hunter2Zq"])]
    #[case::tabs("user\tDB password\nbob\thunter2Zq", &["hunter2Zq"])]
    #[case::markdown("| user | **password** |\n| :-- | --: |\n| bob | `hunter2Zq` |", &["hunter2Zq"])]
    #[case::markdown_without_bars("user | password\n--- | ---\nbob | hunter2Zq", &["hunter2Zq"])]
    #[case::mysql("+---+---+\n| u | pwd |\n+---+---+\n| b | hunter2Zq |\n+---+---+", &["hunter2Zq"])]
    #[case::in_the_midst("see:\nid,api_key,n\n1,aB3dE5fG7hJ9kL2mN4,2\n\n1,aB3dE5fG7hJ9kL2mN4,2", &["aB3dE5fG7hJ9kL2mN4"])]
    #[case::words("| field | password |\n|--|--|\n| type | string |\n| it | is needed 2x |", &[])]
    #[case::another_column("user,password\nhunter2Zq,x", &[])]
    #[case::after_its_end("user,password\nbob\nada,hunter2Zq", &[])]
    #[case::prose("your name, your password\nbob, hunter2Zq", &[])]
    #[case::one_column("password\nhunter2Zq", &[])]
    fn tc_41_what_stands_below_a_telling_head(#[case] text: &str, #[case] expected: &[&str]) {
        let found: Vec<&str> = secrets(text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, expected);
    }
}
