//! Where a value stands in a settings file: the text and a key come in, a line goes out.

use std::ops::Range;

use toml_edit::{Document, Item};

/// The line, from 1, at which `value` of `key` (`table.name`) stands in a valid settings file: of a list or a table, that of the part
/// which is or names it. The first line, where the text does not hold the key.
pub(super) fn line_of(text: &str, key: &str, value: &str) -> usize {
    let span = Document::parse(text).ok().and_then(|document| {
        let mut item = document.as_item();
        for name in key.split('.') {
            item = item.get(name)?;
        }
        part(item, value).or_else(|| item.span())
    });
    let start = span.map_or(0, |span| span.start).min(text.len());
    text[..start].matches('\n').count() + 1
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
