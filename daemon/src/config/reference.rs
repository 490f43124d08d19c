//! All settings as they are told of, on the page for `man` and in `docs/configuration.md`: the shipped defaults come in; parts go out,
//! each setting with its text, its default, and what is allowed. The texts are the comments of the file; what is allowed is what the
//! check says of a value that is not, so that neither can tell of another version.

use std::path::Path;

use toml::Value;

use super::{Config, ConfigError, DEFAULT_TOML};

/// A part of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// Text that stands by itself.
    Text(String),
    /// A table begins.
    Table(&'static str),
    /// A setting.
    Setting(Described),
}

/// A setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Described {
    /// Its name in its table.
    pub(crate) key: &'static str,
    /// Its default, as it is written.
    pub(crate) default: &'static str,
    /// What it is for.
    pub(crate) text: String,
    /// What may be written, in the words of the check.
    pub(crate) allowed: String,
}

/// The parts of the shipped file, in its order.
pub(crate) fn parts() -> Vec<Part> {
    let mut parts = Vec::new();
    let mut comment: Vec<&str> = Vec::new();
    let mut table = "";
    for line in DEFAULT_TOML.lines() {
        if let Some(text) = line.strip_prefix('#') {
            comment.push(text.trim());
        } else if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            table = name;
            parts.push(Part::Table(name));
        } else if let Some((key, default)) = line.split_once(" = ") {
            parts.push(Part::Setting(Described {
                key,
                default,
                text: std::mem::take(&mut comment).join(" "),
                allowed: allowed(table, key, default),
            }));
        } else if !comment.is_empty() {
            parts.push(Part::Text(std::mem::take(&mut comment).join(" ")));
        }
    }
    parts
}

/// What may be written for a setting: what is said of values of its type that nobody means.
fn allowed(table: &str, key: &str, default: &str) -> String {
    let value = format!("x = {default}").parse::<toml::Table>().ok();
    let probes: &[&str] = match value.as_ref().and_then(|table| table.get("x")) {
        Some(Value::String(_)) => &["\"-\"", "\"1000000h\""],
        Some(Value::Boolean(_)) => &["0"],
        Some(Value::Integer(_)) => &["-1", "1000000000"],
        Some(Value::Float(_)) => &["1000.0"],
        Some(Value::Array(_)) => &["[\"-\"]"],
        Some(Value::Table(_)) => &["{ nobody = [] }", "{ codex = [\"-\"] }"],
        _ => &[],
    };
    let mut said: Vec<String> = Vec::new();
    for probe in probes {
        let text = format!("[{table}]\n{key} = {probe}\n");
        let refused = Config::parse(Path::new("config.toml"), &text, Path::new("/"));
        let remedy = refused.err().and_then(|error| remedy(&error, &format!("{table}.{key}")));
        said.extend(remedy.filter(|remedy| !said.contains(remedy)));
    }
    said.join("; ")
}

/// What an error says would be right of the setting that it is `about`: one may be wrong only since another is not set.
fn remedy(error: &ConfigError, about: &str) -> Option<String> {
    match error {
        ConfigError::Value { key, remedy, .. } => (*key == about).then(|| remedy.clone()),
        // "top takes a whole number, 0 or more, not -1"
        ConfigError::Parse { message, .. } => {
            let taken = message.split_once(" takes ")?.1;
            Some(taken.rsplit_once(", not ")?.0.to_owned())
        }
        ConfigError::Read { .. } => None,
    }
}

#[cfg(test)]
mod tests;
