//! Our MCP server in the hosts' own settings: which file of which host, and what the edits come to, beside those of the hook where both
//! stand in one file. What can't be verified of a host is not here: `docs/mcp.md` says which that are.

use std::path::{Path, PathBuf};

use remembrancer_hooks::Agent;
use remembrancer_processor::ingest::OWN_SERVER;

use super::agents::{Format, Wanted, files, without_ours};
use super::command::HOOK;
use super::settings_file::{Change, Refusal, SettingsFile};
use super::text::Problem;
use super::{json, status_line_command, toml};
use crate::files::read_text;

/// The name that our server has among a host's servers.
pub(super) const NAME: &str = OWN_SERVER;
/// What our program is started with.
pub(crate) const ARGUMENT: &str = "mcp";

/// Whose server stands under our name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Nobody's.
    Absent,
    /// Ours, by the program of this path.
    Ours(String),
    /// The user's own.
    Theirs,
}

/// An entry of ours.
pub(super) struct Entry<'a> {
    pub(super) program: &'a str,
    /// What the host calls a server that it starts, where it asks for that.
    pub(super) kind: Option<&'static str>,
    /// Whether the host asks which tools are wanted.
    pub(super) names_tools: bool,
}

/// Whether a server is ours, by how it is started.
pub(super) fn is_ours(program: &str, arguments: &[String]) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    name.starts_with(NAME) && arguments == [ARGUMENT]
}

/// How a host knows servers.
struct Host {
    agent: &'static str,
    /// Its file below the folder of its settings.
    file: &'static str,
    format: Format,
    kind: Option<&'static str>,
    names_tools: bool,
}

/// The hosts whose form of it is public, as of 2026: Claude Code's, Gemini CLI's, Qwen Code's, Cursor's, Copilot CLI's and Codex's own
/// documentation of MCP servers. `OpenCode`'s differs from version to version.
const HOSTS: [Host; 6] = [
    // Beside its folder, unless a variable names the folder: see `file`.
    Host::json("claude-code", ".claude.json", Some("stdio")),
    Host {
        format: Format::Toml,
        ..Host::json("codex", "config.toml", None)
    },
    Host::json("gemini-cli", "settings.json", None),
    Host::json("qwen-code", "settings.json", None),
    Host::json("cursor", "mcp.json", None),
    Host {
        names_tools: true,
        ..Host::json("copilot-cli", "mcp-config.json", Some("local"))
    },
];

impl Host {
    const fn json(agent: &'static str, file: &'static str, kind: Option<&'static str>) -> Self {
        Self {
            agent,
            file,
            format: Format::Json,
            kind,
            names_tools: false,
        }
    }

    fn of(agent: Agent) -> Option<&'static Self> {
        const { &HOSTS }.iter().find(|host| host.agent == agent.id())
    }

    fn standing(&self, text: &str) -> Result<Standing, Problem> {
        match self.format {
            Format::Toml => toml::servers::standing(text),
            Format::Json | Format::Plugin(_) => json::servers::standing(text),
        }
    }

    fn put(&self, text: &str, program: &str) -> Result<String, Problem> {
        let entry = Entry {
            program,
            kind: self.kind,
            names_tools: self.names_tools,
        };
        match self.format {
            Format::Toml => toml::servers::put(text, &entry),
            Format::Json | Format::Plugin(_) => json::servers::put(text, &entry),
        }
    }

    fn take_out(&self, text: &str) -> Result<String, Problem> {
        match self.format {
            Format::Toml => toml::servers::take_out(text),
            Format::Json | Format::Plugin(_) => json::servers::take_out(text),
        }
    }
}

/// An agent's settings, in which our server may stand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ServerPlace<'a> {
    pub(crate) agent: Agent,
    /// The user's home.
    pub(crate) home: &'a Path,
    /// The folder of the agent's settings.
    pub(crate) folder: &'a Path,
    pub(crate) uid: u32,
}

impl ServerPlace<'_> {
    /// The file; `None` where it is not known how the host has servers.
    pub(crate) fn file(&self) -> Option<PathBuf> {
        let host = Host::of(self.agent)?;
        let folder = if self.agent == Agent::CLAUDE_CODE && self.folder == self.home.join(self.agent.registration().folder) {
            self.home
        } else {
            self.folder
        };
        Some(folder.join(host.file))
    }

    /// What stands under our name; `None` where it is not known how the host has servers.
    ///
    /// A file that can't be read is taken for an empty one: who changes it is told.
    ///
    /// # Errors
    /// What is wrong with the settings, with their place.
    pub(crate) fn standing(&self) -> Option<Result<Standing, String>> {
        let (host, path) = (Host::of(self.agent)?, self.file()?);
        let text = read_text(&path).unwrap_or_default();
        Some(
            host.standing(&text)
                .map_err(|problem| format!("{}:{problem}", path.display())),
        )
    }

    /// The changes that are planned already, and that which has the host start `program`. A server of the user's own stays.
    ///
    /// # Errors
    /// Why the file is left as it is.
    pub(crate) fn install(&self, program: &str, mut planned: Vec<Change>) -> Result<Vec<Change>, Refusal> {
        let Some((host, path)) = Host::of(self.agent).zip(self.file()) else {
            return Ok(planned);
        };
        if let Some(at) = planned.iter().position(|change| change.path() == path) {
            let change = planned.remove(at);
            let after = host.put(change.after().unwrap_or_default(), program);
            let after = after.map_err(|problem| Refusal::Invalid { path, problem })?;
            planned.extend(change.amended(Some(after)));
            return Ok(planned);
        }
        let file = SettingsFile::read(&path, self.uid)?;
        let before = file.text().unwrap_or_default();
        let after = host.put(before, program).map_err(|problem| file.invalid(problem))?;
        let bare = self.bare(host, before).map_err(|problem| file.invalid(problem))?;
        let is_original = bare == before;
        // Nothing is made for a server of theirs.
        let change = if after == before { None } else { file.change_to(Some(after)) };
        planned.extend(change.map(|change| if is_original { change.keeping_original() } else { change }));
        Ok(planned)
    }

    /// The changes that are planned already, and that which takes our server out.
    pub(crate) fn uninstall(&self, planned: Vec<Result<Change, Refusal>>) -> Vec<Result<Change, Refusal>> {
        let Some((host, path)) = Host::of(self.agent).zip(self.file()) else {
            return planned;
        };
        let (same, mut others): (Vec<_>, Vec<_>) = planned
            .into_iter()
            .partition(|change| change.as_ref().is_ok_and(|change| change.path() == path));
        let same = same.into_iter().next().and_then(Result::ok);
        others.extend(self.without(host, &path, same).transpose());
        others
    }

    /// The change of the file that has no entry of ours, `planned` done before.
    fn without(&self, host: &Host, path: &Path, planned: Option<Change>) -> Result<Option<Change>, Refusal> {
        let names_ours = |text: &str| text.contains(NAME) && text.contains(ARGUMENT);
        let (file, text) = match &planned {
            Some(change) => (None, change.after().unwrap_or_default().to_owned()),
            // A file that doesn't name us is no concern of ours, whatever else is wrong with it.
            None if !read_text(path).is_ok_and(|text| names_ours(&text)) => return Ok(None),
            None => {
                let file = SettingsFile::read(path, self.uid)?;
                let text = file.text().unwrap_or_default().to_owned();
                (Some(file), text)
            }
        };
        let original = match (&planned, &file) {
            (Some(change), _) => change.original(),
            (None, Some(file)) => file.backup(),
            (None, None) => None,
        };
        let invalid = |problem| Refusal::Invalid {
            path: path.to_owned(),
            problem,
        };
        let after = self.restored(host, &text, original.as_deref()).map_err(invalid)?;
        Ok(match (planned, file) {
            // The hook's own change may have found that nothing is left of the file.
            (Some(change), _) if change.after().is_none() => Some(change),
            (Some(change), _) => change.amended(after),
            (None, Some(file)) => file.change_to(after),
            (None, None) => None,
        })
    }

    /// The text without our server: `original`, byte for byte, where nothing else has changed since; `None` where there was no file.
    fn restored(&self, host: &Host, text: &str, original: Option<&str>) -> Result<Option<String>, Problem> {
        let bare = host.take_out(text)?;
        if bare == text {
            return Ok(Some(bare));
        }
        let comes_back = |original: &str| self.ways(host, original).into_iter().any(|way| way.as_ref() == Ok(&bare));
        Ok(match original {
            Some(original) if comes_back(original) => Some(original.to_owned()),
            None if comes_back("") => None,
            _ => Some(bare),
        })
    }

    /// What is left of `original` when the server, or the hook and the server, were put into it and taken out again.
    fn ways(&self, host: &Host, original: &str) -> Vec<Result<String, Problem>> {
        let server = |text: &str| host.put(text, NAME).and_then(|text| host.take_out(&text));
        let mut ways = vec![server(original)];
        if let Some(format) = self.shared(host) {
            let line = status_line_command(NAME);
            for status_line in [None, Some(line.as_str())] {
                let wanted = Wanted { hook: HOOK, status_line };
                let both = wanted
                    .put(original, format, self.agent)
                    .and_then(|text| host.put(&text, NAME));
                ways.push(
                    both.and_then(|text| without_ours(&text, format, self.agent))
                        .and_then(|text| host.take_out(&text)),
                );
            }
        }
        ways
    }

    /// The format in which the hook may stand in the same file.
    fn shared(&self, host: &Host) -> Option<Format> {
        let path = self.folder.join(host.file);
        files(self.folder, self.agent)
            .find(|(_, file)| *file == path)
            .map(|(format, _)| format)
    }

    /// The text without anything of ours.
    fn bare(&self, host: &Host, text: &str) -> Result<String, Problem> {
        let bare = host.take_out(text)?;
        match self.shared(host) {
            Some(format) => without_ours(&bare, format, self.agent),
            None => Ok(bare),
        }
    }
}

#[cfg(test)]
mod tests;
