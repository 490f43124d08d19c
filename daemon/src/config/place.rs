//! Where a value stands in a settings file: the text and a key come in, a line goes out.

use std::ops::Range;

use toml_edit::{Document, Item};

/// The line, from 1, at which `value` of `key` (`table.name`) stands in a valid settings file: of a list or a table, that of the part
/// which is or names it. Of a text that can be read and not edited (a number beyond 64 bits), the line that names the key; the first
/// line, where the text does not hold the key.
pub(super) fn line_of(text: &str, key: &str, value: &str) -> usize {
    let Ok(document) = Document::parse(text) else {
        return line_that_names(text, key);
    };
    let span = (|| {
        let mut item = document.as_item();
        for name in key.split('.') {
            item = item.get(name)?;
        }
        part(item, value).or_else(|| item.span())
    })();
    let start = span.map_or(0, |span| span.start).min(text.len());
    text[..start].matches('\n').count() + 1
}

fn line_that_names(text: &str, key: &str) -> usize {
    let name = key.rsplit('.').next();
    let named = |line: &str| {
        let (before, _) = line.split_once('=')?;
        before
            .rsplit('.')
            .next()
            .map(|name| name.trim().trim_matches(['"', '\'']).to_owned())
    };
    text.lines().position(|line| named(line).as_deref() == name).unwrap_or(0) + 1
}

/// The part of a list or a table that is `value`, or has it as its name.
fn part(item: &Item, value: &str) -> Option<Range<usize>> {
    if let Some(list) = item.as_array() {
        return list.iter().find(|part| part.as_str() == Some(value))?.span();
    }
    let table = item.as_table_like()?;
    if let Some((name, _)) = table.get_key_value(value) {
        return name.span();
    }
    table.iter().find_map(|(_, item)| part(item, value))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::in_a_table("[gate]\nx = 1\nleast = 2\n", "gate.least", 3)]
    #[case::dotted("gate.x = 1\ngate.least = 2", "gate.least", 2)]
    #[case::a_number_beyond_64_bits("gate.x = 1\ngate.least = 18446744073709551615", "gate.least", 2)]
    #[case::quoted("[gate]\n'least' = 18446744073709551615", "gate.least", 2)]
    #[case::absent("x = 1\n", "gate.least", 1)]
    fn the_line_of_a_key(#[case] text: &str, #[case] key: &str, #[case] expected: usize) {
        assert_eq!(line_of(text, key, ""), expected);
    }
}
