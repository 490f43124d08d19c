//! The changes of one agent: which of its files is edited, and what comes of it.

use std::path::{Path, PathBuf};

use remembrancer_hooks::Agent;

use super::command::HOOK;
use super::settings_file::{Change, Refusal, SettingsFile};
use super::text::Problem;
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

/// Plans to have `agent`, whose settings are in `folder`, run the hook `program` of the user `uid`, once at each event. Nothing: it does
/// already.
///
/// # Errors
/// Why its file is left as it is.
pub(crate) fn install(folder: &Path, agent: Agent, program: &str, uid: u32) -> Result<Vec<Change>, Refusal> {
    let (format, path) = file_for(folder, agent);
    let file = SettingsFile::read(&path, uid)?;
    let before = file.text().unwrap_or_default();
    let invalid = |problem| file.invalid(problem);
    let after = format.register(before, agent, program).map_err(invalid)?;
    let is_original = format.unregister(before).map_err(invalid)? == before;
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
    // A file that doesn't name the hook is no concern of ours, whatever else is wrong with it.
    if !read(path).is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(HOOK)) {
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
    let bare = format.unregister(text)?;
    if bare == text {
        return Ok(Some(bare));
    }
    let there_and_back = |original: &str| format.unregister(&format.register(original, agent, HOOK)?);
    match original {
        Some(original) if there_and_back(original).as_ref() == Ok(&bare) => Ok(Some(original.to_owned())),
        None if there_and_back("")? == bare => Ok(None),
        _ => Ok(Some(bare)),
    }
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
