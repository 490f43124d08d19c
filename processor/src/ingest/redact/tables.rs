//! Where in a text a table may stand, so that [`columns`] reads no other line: in goes a text, out come its secrets, as if all of it had
//! been read.
//!
//! A table begins at its head, which names what a column holds, and goes on while its lines have cells. So a line that holds no such
//! name begins none, and one with neither a sign that parts cells nor a ruler's dashes ends any.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input};
use memchr::{memchr, memmem, memrchr};

use super::columns::{self, SEPARATORS};

/// One of these stands in every head, in any ASCII case: of words in other letters a beginning in both cases, and what is a `k` in
/// another case.
const STEMS: [&str; 14] = [
    "pass",
    "pwd",
    "pw",
    "kennwort",
    "senha",
    "contrase",
    "secret",
    "token",
    "key",
    "credential",
    "п",
    "П",
    "密码",
    "\u{212a}",
];

static HEADS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .kind(Some(AhoCorasickKind::DFA))
        .build(STEMS)
        .expect("invariant: few short strings")
});

/// Where the secrets are in the tables of `text`, in order.
pub(super) fn secrets(text: &str) -> Vec<Range<usize>> {
    let (mut secrets, mut from) = (Vec::new(), 0);
    while let Some(stem) = HEADS.find(Input::new(text).range(from..)) {
        let begins = memrchr(b'\n', &text.as_bytes()[from..stem.start()]).map_or(from, |end| from + end + 1);
        let ends = table_end(text, begins);
        let found = columns::secrets(&text[begins..ends]);
        secrets.extend(found.into_iter().map(|range| begins + range.start..begins + range.end));
        from = ends.max(line_end(text, begins));
    }
    secrets
}

/// Where a table that begins at `from` has ended at the latest.
fn table_end(text: &str, mut from: usize) -> usize {
    while from < text.len() {
        let end = line_end(text, from);
        if !may_be_of_a_table(&text.as_bytes()[from..end]) {
            return from;
        }
        from = end;
    }
    from
}

fn may_be_of_a_table(line: &[u8]) -> bool {
    line.iter().any(|byte| SEPARATORS.contains(&char::from(*byte))) || memmem::find(line, b"--").is_some()
}

/// Behind the line of which `from` is a part.
fn line_end(text: &str, from: usize) -> usize {
    memchr(b'\n', &text.as_bytes()[from..]).map_or(text.len(), |end| from + end + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ingest::redact::examples;

    #[test]
    fn every_example_is_read_as_if_all_of_it_were() {
        let texts = examples::texts();
        let all = texts.join("\n");
        for text in texts.iter().chain([&all]) {
            assert_eq!(secrets(text), columns::secrets(text), "{text:?}");
        }
        assert!(!secrets(&all).is_empty());
    }

    #[test]
    fn every_name_of_a_column_holds_a_stem() {
        let names = columns::PASSWORDS.iter().chain(columns::SECRETS).chain(&["key"]);
        for name in names {
            for name in [(*name).to_owned(), name.to_lowercase(), name.to_uppercase()] {
                assert!(HEADS.is_match(&name), "{name}: its tables would not be read");
            }
        }
    }

    fn cell() -> impl Strategy<Value = String> {
        let words = [
            "password",
            "Passwort",
            "PWD",
            "pw",
            "api key",
            "api  key",
            "API_KEY",
            "access-key",
            "to\u{212a}en",
            "SECRETS",
            "пАРОЛЬ",
            "ПАРОЛЬ",
            "CONTRASEÑA",
            "密码",
            "user",
            "n",
            "hunter2Zq",
            "aB3dE5fG7hJ9kL2mN4",
            "the key",
            "-",
            "--",
            ":--:",
            "",
            "key",
        ];
        prop_oneof![3 => proptest::sample::select(words.to_vec()).prop_map(str::to_owned), 1 => "[ -~]{0,12}"]
    }

    proptest! {
        #[test]
        fn any_text_is_read_as_if_all_of_it_were(
            lines in prop::collection::vec((prop::collection::vec(cell(), 1..4), "[|;,\t ]", "\r?\n"), 1..14),
        ) {
            let text: String = lines.iter().map(|(cells, separator, end)| cells.join(separator) + end).collect();
            prop_assert_eq!(secrets(&text), columns::secrets(&text));
            let text = text.trim_end();
            prop_assert_eq!(secrets(text), columns::secrets(text));
        }
    }
}
