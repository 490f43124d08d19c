//! Every setting with its value and where it comes from, for `config show`. The text of a settings file comes in, that file having been
//! checked; the keys are those of `default.toml`, in its order.

use remembrancer_processor::ingest::redact;
use toml::{Table, Value};
use toml_edit::Document;

use super::{DEFAULT_TOML, place};

/// Where a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The file shipped in the program.
    Default,
    /// This line of the user's file, from 1.
    Line(usize),
    /// An environment variable.
    Variable(&'static str),
}

/// One setting.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Setting {
    /// The table and the name in it.
    pub(crate) key: String,
    /// The value, as it is in force.
    pub(crate) value: Value,
    /// Where it comes from.
    pub(crate) origin: Origin,
}

/// All settings, with those of `text` laid over the defaults. What can't be read of either is left out.
pub(crate) fn settings(text: &str) -> Vec<Setting> {
    let (shipped, own) = (table(DEFAULT_TOML), table(text));
    let setting = |key: String| {
        let own = at(&own, &key).map(|value| (value, Origin::Line(place::line_of(text, &key, ""))));
        let (value, origin) = own.or_else(|| Some((at(&shipped, &key)?, Origin::Default)))?;
        Some(Setting {
            value: redacted(value),
            origin,
            key,
        })
    };
    keys().into_iter().filter_map(setting).collect()
}

/// The default settings as a file to begin with: nothing is in force that is not in force without it.
pub(crate) fn skeleton() -> String {
    let line = |line: &str| {
        let is_setting = !line.starts_with('#') && line.contains(" = ");
        if is_setting {
            format!("#{line}\n")
        } else {
            format!("{line}\n")
        }
    };
    DEFAULT_TOML.lines().map(line).collect()
}

/// The keys of the shipped file, in its order.
fn keys() -> Vec<String> {
    let Ok(document) = Document::parse(DEFAULT_TOML) else {
        return Vec::new();
    };
    let tables = document.as_table().iter();
    let names = tables.filter_map(|(table, item)| Some((table, item.as_table_like()?)));
    names
        .flat_map(|(table, names)| {
            names
                .iter()
                .map(move |(name, _)| format!("{table}.{name}"))
                .collect::<Vec<_>>()
        })
        .collect()
}

fn table(text: &str) -> Table {
    text.parse().unwrap_or_default()
}

fn at<'a>(table: &'a Table, key: &str) -> Option<&'a Value> {
    let (name, rest) = key.split_once('.')?;
    table.get(name)?.get(rest)
}

/// A value may hold a secret that was put in the wrong place.
fn redacted(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(redact(text).into_owned()),
        Value::Array(parts) => Value::Array(parts.iter().map(redacted).collect()),
        Value::Table(parts) => Value::Table(parts.iter().map(|(name, part)| (name.clone(), redacted(part))).collect()),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::Config;

    fn find(text: &str, key: &str) -> Setting {
        settings(text).into_iter().find(|setting| setting.key == key).unwrap()
    }

    #[test]
    fn every_setting_has_its_default_where_the_file_says_nothing() {
        let all = settings("");
        let in_file = DEFAULT_TOML
            .lines()
            .filter(|line| !line.starts_with('#') && line.contains(" = "))
            .count();
        assert_eq!(all.len(), in_file);
        assert!(all.iter().all(|setting| setting.origin == Origin::Default));
        assert_eq!(all[0].key, "transcripts.folders", "in the order of the file");
    }

    #[test]
    fn what_the_file_says_is_told_with_its_line() {
        let text = "# mine\n[recall]\n\ntop = 5\n[transcripts]\nexclude = [\n  \"/a\",\n]\n";
        let top = find(text, "recall.top");
        assert_eq!((top.value.as_integer(), top.origin), (Some(5), Origin::Line(4)));
        assert_eq!(find(text, "transcripts.exclude").origin, Origin::Line(6));
        assert_eq!(find(text, "recall.scope").origin, Origin::Default);
        assert_eq!(find("recall.top = 2\n", "recall.top").origin, Origin::Line(1));
    }

    #[test]
    fn a_secret_in_the_wrong_place_is_not_told() {
        let token = concat!("gh", "p_0123456789abcdefghijABCDEFGHIJ012345");
        let setting = find(&format!("[transcripts]\nexclude = [\"/x/{token}\"]\n"), "transcripts.exclude");
        assert!(!setting.value.to_string().contains("0123456789abcdef"), "{setting:?}");
    }

    #[test]
    fn a_file_to_begin_with_changes_nothing_and_names_every_setting() {
        let (path, home) = (Path::new("config.toml"), Path::new("/home/ada"));
        let text = skeleton();
        assert_eq!(
            Config::parse(path, &text, home).unwrap(),
            Config::parse(path, "", home).unwrap()
        );
        assert!(settings(&text).iter().all(|setting| setting.origin == Origin::Default));
        for key in keys() {
            let (_, name) = key.split_once('.').unwrap();
            assert!(text.contains(&format!("\n#{name} = ")), "{key}");
        }
        let uncommented = text.replace("\n#top = 3", "\ntop = 4");
        assert_eq!(
            find(&uncommented, "recall.top").value.as_integer(),
            Some(4),
            "a line is set by taking its mark away"
        );
    }
}
