//! The changes of one agent: which of its files is edited, and what comes of it.

use std::path::{Path, PathBuf};

use remembrancer_hooks::Agent;

use super::command::HOOK;
use super::json::status_line::{self, StatusLine};
use super::settings_file::{Change, Refusal, SettingsFile};
use super::text::Problem;
use super::words::quoted;
use super::{json, toml};
use crate::files::{read, read_text};

/// What a file is that has an agent run the hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// Settings in JSON.
    Json,
    /// Settings in TOML.
    Toml,
    /// A plugin of ours, of this text: the file is ours alone.
    Plugin(&'static str),
}

impl Format {
    pub(super) fn register(self, text: &str, agent: Agent, program: &str) -> Result<String, Problem> {
        match self {
            Self::Json => json::register(text, agent, program),
            Self::Toml => toml::register(text, agent, program),
            Self::Plugin(plugin) => Ok(plugin.replacen(&string(HOOK), &string(program), 1)),
        }
    }

    pub(super) fn unregister(self, text: &str) -> Result<String, Problem> {
        match self {
            Self::Json => json::unregister(text),
            Self::Toml => toml::unregister(text),
            Self::Plugin(_) if text.contains(HOOK) => Ok(String::new()),
            Self::Plugin(_) => Ok(text.to_owned()),
        }
    }
}

/// What an agent is to have of ours.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted<'a> {
    /// The hook's path.
    pub hook: &'a str,
    /// The command of the status line; `None` where that stays as it is.
    pub status_line: Option<&'a str>,
}

impl<'a> Wanted<'a> {
    /// The hook alone.
    pub(crate) fn hook(hook: &'a str) -> Self {
        Self { hook, status_line: None }
    }

    /// The text of settings with it.
    pub(super) fn put(self, text: &str, format: Format, agent: Agent) -> Result<String, Problem> {
        let with_hook = format.register(text, agent, self.hook)?;
        match (self.status_line, agent.registration().status_line) {
            (Some(command), Some(key)) if format == Format::Json => status_line::put(&with_hook, key, command),
            _ => Ok(with_hook),
        }
    }
}

/// The command by which `program` prints the status line.
pub(crate) fn status_line_command(program: &str) -> String {
    format!("{} {}", quoted(program), status_line::ARGUMENT)
}

/// Whose status line `agent` shows, whose settings are in `folder`; `None` where the host has none.
///
/// # Errors
/// Why the settings can't be read.
pub(crate) fn status_line(folder: &Path, agent: Agent) -> Option<Result<StatusLine, Problem>> {
    let registration = agent.registration();
    let text = read_text(&folder.join(registration.file)).unwrap_or_default();
    Some(status_line::standing(&text, registration.status_line?))
}

/// Takes the hook and the status line out of the settings of `agent`.
pub(super) fn without_ours(text: &str, format: Format, agent: Agent) -> Result<String, Problem> {
    let bare = format.unregister(text)?;
    match agent.registration().status_line {
        Some(key) if format == Format::Json => status_line::take_out(&bare, key),
        _ => Ok(bare),
    }
}

/// Plans to have `agent`, whose settings are in `folder`, run the hook of the user `uid`, once at each event, and what else is wanted.
/// Nothing: it does already.
///
/// # Errors
/// Why its file is left as it is.
pub(crate) fn install(folder: &Path, agent: Agent, wanted: Wanted<'_>, uid: u32) -> Result<Vec<Change>, Refusal> {
    let (format, path) = file_for(folder, agent);
    let file = SettingsFile::read(&path, uid)?;
    let before = file.text().unwrap_or_default();
    let invalid = |problem| file.invalid(problem);
    let after = wanted.put(before, format, agent).map_err(invalid)?;
    let is_original = without_ours(before, format, agent).map_err(invalid)? == before;
    let change = file.change_to(Some(after));
    let change = if is_original {
        change.map(Change::keeping_original)
    } else {
        change
    };
    let mut changes = Vec::from_iter(change);
    // What stands in another file of the host's as well would be run twice.
    for (format, other) in files(folder, agent).filter(|(_, other)| *other != path) {
        match uninstall_from(&other, format, agent, uid) {
            Ok(change) => changes.extend(change),
            // What the host can't read either is not run.
            Err(Refusal::Invalid { .. }) => {}
            Err(refusal) => return Err(refusal),
        }
    }
    Ok(changes)
}

/// Plans to take the hook out of every file of `agent` in `folder`.
///
/// # Errors
/// For each file that is left as it is, why.
pub(crate) fn uninstall(folder: &Path, agent: Agent, uid: u32) -> Vec<Result<Change, Refusal>> {
    let plans = files(folder, agent).map(|(format, path)| uninstall_from(&path, format, agent, uid));
    plans.filter_map(Result::transpose).collect()
}

fn uninstall_from(path: &Path, format: Format, agent: Agent, uid: u32) -> Result<Option<Change>, Refusal> {
    // A file that doesn't name the hook, or the line, is no concern of ours, whatever else is wrong with it.
    let names_ours = |text: &str| text.contains(HOOK) || text.contains("remembrancer") && text.contains(status_line::ARGUMENT);
    if !read(path).is_ok_and(|bytes| names_ours(&String::from_utf8_lossy(&bytes))) {
        return Ok(None);
    }
    let file = SettingsFile::read(path, uid)?;
    let Some(text) = file.text() else { return Ok(None) };
    let after = without_hook(text, file.backup().as_deref(), format, agent).map_err(|problem| file.invalid(problem))?;
    let change = file.change_to(after);
    let in_own_folder = Path::new(agent.registration().file).components().count() > 1;
    Ok(if in_own_folder {
        change.map(|change| change.with_folders(1))
    } else {
        change
    })
}

/// The text without our entries: `original`, byte for byte, where nothing else has changed since; `None` where there was no file.
///
/// Editing may have given a container its line breaks, or have filled one that was there and empty. What our own way there and back
/// makes of the original tells whether anything else has changed.
pub(super) fn without_hook(text: &str, original: Option<&str>, format: Format, agent: Agent) -> Result<Option<String>, Problem> {
    let bare = without_ours(text, format, agent)?;
    if bare == text {
        return Ok(Some(bare));
    }
    let line = status_line_command("remembrancer");
    let comes_back = |original: &str| {
        [None, Some(line.as_str())].into_iter().any(|status_line| {
            let wanted = Wanted { hook: HOOK, status_line };
            let there = wanted.put(original, format, agent);
            there.and_then(|there| without_ours(&there, format, agent)).as_ref() == Ok(&bare)
        })
    };
    Ok(match original {
        Some(original) if comes_back(original) => Some(original.to_owned()),
        None if comes_back("") => None,
        _ => Some(bare),
    })
}

/// All files in which hooks of `agent` may stand, the one to prefer first.
pub(super) fn files(folder: &Path, agent: Agent) -> impl Iterator<Item = (Format, PathBuf)> {
    let registration = agent.registration();
    let format = registration.plugin.map_or(Format::Json, Format::Plugin);
    let toml = registration.toml_file.map(|file| (Format::Toml, folder.join(file)));
    [(format, folder.join(registration.file))].into_iter().chain(toml)
}

/// The file that is to hold the hooks of `agent`: the one that does, the preferred before others; else the one in TOML where hooks stand
/// in it and the one in JSON is missing, since the host warns of hooks in both.
fn file_for(folder: &Path, agent: Agent) -> (Format, PathBuf) {
    let mut all: Vec<(Format, PathBuf)> = files(folder, agent).collect();
    let text = |path: &Path| read_text(path).unwrap_or_default();
    let holds_ours = |(format, path): &(Format, PathBuf)| {
        let text = text(path);
        format.unregister(&text).is_ok_and(|without| without != text)
    };
    let is_missing = all[0].1.symlink_metadata().is_err();
    let holds_hooks = |(_, path): &(Format, PathBuf)| is_missing && toml::holds_hooks(&text(path));
    let chosen = all.iter().position(holds_ours);
    let chosen = chosen.or_else(|| all.iter().skip(1).position(holds_hooks).map(|place| place + 1));
    all.swap_remove(chosen.unwrap_or_default())
}

/// The program that `text` runs, which [`Format::register`] made of `plugin`; `None` where it is another text.
pub(super) fn plugin_program(text: &str, plugin: &str) -> Option<String> {
    let (before, after) = plugin.split_once(&string(HOOK))?;
    let written = text.strip_prefix(before)?.strip_suffix(after)?;
    serde_json::from_str(written).ok()
}

/// A string as JSON and JavaScript write it.
fn string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests;
