//! What a reader of TOML says of a wrong value, in the words of the person who wrote it: the types of our code tell a user nothing.

/// What values are called by the code, and by a person.
const TYPES: [(&str, &str); 10] = [
    ("usize", "a whole number, 0 or more"),
    ("u64", "a whole number, 0 or more"),
    ("u32", "a whole number, 0 or more"),
    ("i64", "a whole number"),
    ("f64", "a number"),
    ("f32", "a number"),
    ("a boolean", "true or false"),
    ("a sequence", "a list"),
    ("a map", "a table"),
    ("path string", "a path in quotes"),
];

/// `message`, which is about `line` of a settings file.
pub(super) fn plain(message: &str, line: &str) -> String {
    let told = message
        .strip_prefix("invalid type: ")
        .or_else(|| message.strip_prefix("invalid value: "));
    let Some((found, expected)) = told.and_then(|told| told.split_once(", expected ")) else {
        return message.to_owned();
    };
    let expected = expected.lines().next().unwrap_or_default();
    let key = line.split_once('=').map(|(key, _)| key.trim());
    let key = key.filter(|key| !key.is_empty() && !key.contains(['"', '[', '{', '#']));
    let subject = key.map_or_else(|| "this place".to_owned(), str::to_owned);
    format!("{subject} takes {}, not {}", wanted(expected), given(found))
}

fn wanted(expected: &str) -> String {
    if expected.starts_with("struct ") {
        return "a table".to_owned();
    }
    if expected == "a string" {
        return "a text in quotes".to_owned();
    }
    let known = TYPES.iter().find(|(code, _)| *code == expected);
    known.map_or_else(|| expected.to_owned(), |(_, person)| (*person).to_owned())
}

fn given(found: &str) -> String {
    if let Some(text) = found.strip_prefix("string ") {
        return format!("the text {text}");
    }
    // A value stands between back quotes behind the name of its type.
    if let Some((_, value)) = found.split_once('`') {
        return value.trim_end_matches('`').to_owned();
    }
    match found {
        "sequence" => "a list".to_owned(),
        "map" => "a table".to_owned(),
        other => other.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::unsigned(
        "invalid type: string \"x\", expected usize",
        "top = \"x\"",
        "top takes a whole number, 0 or more, not the text \"x\""
    )]
    #[case::negative(
        "invalid value: integer `-1`, expected usize",
        "top = -1",
        "top takes a whole number, 0 or more, not -1"
    )]
    #[case::table(
        "invalid type: map, expected a boolean",
        "[x.usual_folders]",
        "this place takes true or false, not a table"
    )]
    #[case::a_struct(
        "invalid type: integer `3`, expected struct RecallTable",
        "recall = 3",
        "recall takes a table, not 3"
    )]
    #[case::inside_a_list(
        "invalid type: integer `3`, expected path string",
        "  3,",
        "this place takes a path in quotes, not 3"
    )]
    #[case::no_type_of_ours(
        "unknown field `speed`, expected one of `budget`",
        "speed = 3",
        "unknown field `speed`, expected one of `budget`"
    )]
    fn what_a_person_is_told(#[case] message: &str, #[case] line: &str, #[case] expected: &str) {
        assert_eq!(plain(message, line), expected);
    }
}
