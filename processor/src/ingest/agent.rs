//! The agents whose transcripts we read, in one table. A new agent is one file below, its fixture under `tests/fixtures`, and
//! one line in [`Agent::ALL`]; `tests/agents.rs` runs the same checks on each, and fails where one of the three is missing.

mod amp;
mod antigravity;
pub(crate) mod claude_code;
mod cline;
mod codex;
mod copilot_cli;
mod cursor;
mod droid;
mod gemini;
mod goose;
mod grok;
mod hermes;
mod kimi;
mod openclaw;
mod opencode;
mod pi;
mod qwen;
mod uri;
mod wrapped;

pub(crate) use uri::path_of;

use std::fmt;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

use remembrancer_schema::{Layout, UnixMillis};

use super::parse::Parse;
use super::{ResumePoint, SourceInfo};

/// A coding agent.
#[derive(Clone, Copy)]
pub struct Agent(&'static Description);

/// How an agent keeps its transcripts.
pub(crate) struct Description {
    /// The id that rows and file names carry: released ids never change.
    pub(crate) id: &'static str,
    /// The agent's name, for people.
    pub(crate) name: &'static str,
    /// The folders below which its transcripts lie, whether they exist or not.
    pub(crate) folders: fn(&Home<'_>) -> Vec<PathBuf>,
    /// Folders whose own files alone may be transcripts, whatever lies deeper; or such a file itself.
    pub(crate) flat_folders: fn(&Home<'_>) -> Vec<PathBuf>,
    /// Which of the files there are transcripts.
    pub(crate) shape: fn(&Path) -> Option<Shape>,
    /// What a transcript's path, and the files beside it, tell of it.
    pub(crate) context: fn(&Path, &ReadFile<'_>) -> Context,
    /// A parser for a source, from a place in it on.
    pub(crate) parser: fn(&SourceInfo, ResumePoint) -> Box<dyn Parse>,
}

/// How a transcript grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Line by line: only what was appended is read.
    Lines,
    /// Written anew with every change: all of it is read again.
    Document,
    /// Lines that grow no more, packed by zstd.
    Archive,
    /// A database of sessions, each of which is read as a document.
    Database(Layout),
}

/// What is known of a source besides its bytes. All of it may be unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// Whether it is a subagent's own transcript.
    pub subagent: bool,
    /// Its session, where its records name none and the file's name is not the session's.
    pub session: Option<String>,
    /// Its working folder, where its records name none.
    pub cwd: Option<String>,
    /// Its branch, where its records name none.
    pub git_branch: Option<String>,
    /// The source's name, where the file's own is the same in every session.
    pub name: Option<String>,
    /// The name that the agent made of the working folder's path, where nothing else tells the folder.
    pub folder_slug: Option<String>,
    /// What belongs to it but lies in files or rows of its own, in order.
    pub pieces: Vec<Piece>,
}

/// A part of a transcript in a file, or a row, of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Piece {
    /// The file's name without its extension; the row's id.
    pub name: String,
    /// What the file or row holds.
    pub content: Vec<u8>,
    /// What lies in files or rows of its own again, in order.
    pub parts: Vec<Vec<u8>>,
}

/// Reads a small file beside a transcript; of a folder, the names in it, a line each. `None` where there is none, or it can't
/// be read.
pub type ReadFile<'a> = dyn Fn(&Path) -> Option<Vec<u8>> + 'a;

/// Where agents' folders are looked for.
#[derive(Clone, Copy)]
pub struct Home<'a> {
    /// The user's home folder.
    pub folder: &'a Path,
    /// The absolute path in an environment variable, if there is one.
    pub variable: &'a dyn Fn(&str) -> Option<PathBuf>,
}

/// VS Code and editors made from it, by their folders in a user's configuration.
const EDITORS: [&str; 5] = ["Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"];
/// Their servers, by their folders in a home on another machine.
const EDITOR_SERVERS: [&str; 3] = [".vscode-server", ".cursor-server", ".windsurf-server"];

impl Home<'_> {
    /// The folder that `variable` names, or the one at `place` below the home folder.
    pub(crate) fn folder(&self, variable: &str, place: &str) -> PathBuf {
        (self.variable)(variable).unwrap_or_else(|| self.folder.join(place))
    }

    /// Where extensions of VS Code, of the editors made from it, and of their servers keep what they store: the folder of one
    /// in each.
    pub(crate) fn extension_folders(&self, extension: &str) -> Vec<PathBuf> {
        let config = self.folder("XDG_CONFIG_HOME", ".config");
        let library = self.folder.join("Library/Application Support");
        let editors = [config, library]
            .into_iter()
            .flat_map(|place| EDITORS.map(|editor| place.join(editor)));
        let servers = EDITOR_SERVERS.map(|server| self.folder.join(server).join("data"));
        editors
            .chain(servers)
            .map(|editor| editor.join("User/globalStorage").join(extension))
            .collect()
    }
}

impl Agent {
    /// Anthropic's Claude Code.
    pub const CLAUDE_CODE: Self = Self(&claude_code::DESCRIPTION);

    /// Every agent.
    pub const ALL: &[Self] = &[
        Self::CLAUDE_CODE,
        Self(&amp::DESCRIPTION),
        Self(&antigravity::DESCRIPTION),
        Self(&cline::DESCRIPTION),
        Self(&codex::DESCRIPTION),
        Self(&copilot_cli::DESCRIPTION),
        Self(&cursor::DESCRIPTION),
        Self(&droid::DESCRIPTION),
        Self(&gemini::DESCRIPTION),
        Self(&goose::DESCRIPTION),
        Self(&grok::DESCRIPTION),
        Self(&hermes::DESCRIPTION),
        Self(&kimi::DESCRIPTION),
        Self(&openclaw::DESCRIPTION),
        Self(&opencode::DESCRIPTION),
        Self(&pi::DESCRIPTION),
        Self(&qwen::DESCRIPTION),
    ];

    /// The id that rows and file names carry.
    pub fn id(self) -> &'static str {
        self.0.id
    }

    /// Its name, for people.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// The agent with this id.
    pub fn parse(id: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|agent| agent.id() == id)
    }

    /// The folders below which its transcripts lie, whether they exist or not.
    pub fn folders(self, home: &Home<'_>) -> Vec<PathBuf> {
        (self.0.folders)(home)
    }

    /// Folders whose own files alone may be its transcripts, whatever lies deeper; or such a file itself.
    pub fn flat_folders(self, home: &Home<'_>) -> Vec<PathBuf> {
        (self.0.flat_folders)(home)
    }

    /// How the file at `path` grows, if it is one of this agent's transcripts by its name and place.
    pub fn shape(self, path: &Path) -> Option<Shape> {
        (self.0.shape)(path)
    }

    /// What is known of the transcript at `path`, last written at `modified`; `read` reads small files beside it.
    pub fn source(self, path: &Path, modified: UnixMillis, read: &ReadFile<'_>) -> SourceInfo {
        let context = (self.0.context)(path, read);
        SourceInfo {
            agent: self,
            name: context.name.clone().unwrap_or_else(|| stem(path).to_owned()),
            fallback_time: modified,
            context,
        }
    }

    /// What is known of a session of one of its databases, by its id there, last changed at `changed`: `pieces` are its messages.
    pub fn session(self, id: &str, changed: UnixMillis, pieces: Vec<Piece>) -> SourceInfo {
        SourceInfo {
            agent: self,
            name: id.to_owned(),
            fallback_time: changed,
            context: Context {
                pieces,
                ..Context::default()
            },
        }
    }

    /// The session that the transcript at `path` tells, where a database of the agent's may tell it, too, as turns of other
    /// uids: then it is to be read from the transcript alone.
    pub fn told_by(self, path: &Path) -> Option<&str> {
        (self.0.id == cursor::DESCRIPTION.id).then(|| stem(path))
    }

    pub(super) fn parser(info: &SourceInfo, from: ResumePoint) -> Box<dyn Parse> {
        (info.agent.0.parser)(info, from)
    }
}

/// No folders.
pub(crate) fn none(_: &Home<'_>) -> Vec<PathBuf> {
    Vec::new()
}

/// The paths of what lies in a folder, by name.
pub(crate) fn list(folder: &Path, read: &ReadFile<'_>) -> Vec<PathBuf> {
    let names = read(folder).unwrap_or_default();
    let mut paths: Vec<PathBuf> = String::from_utf8_lossy(&names)
        .lines()
        .map(|name| folder.join(name))
        .collect();
    paths.sort_unstable();
    paths
}

/// The name of a folder or file; empty where it is no text.
pub(crate) fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

/// A file's name without its extension, and an archive's without both; empty where it is no text.
pub(crate) fn stem(path: &Path) -> &str {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    if has_extension(path, "zst") {
        stem.strip_suffix(".jsonl").unwrap_or(stem)
    } else {
        stem
    }
}

/// The name of the folder that a file or folder is in; empty where it is no text.
pub(crate) fn folder_name(path: &Path) -> &str {
    path.parent()
        .and_then(Path::file_name)
        .and_then(|name| name.to_str())
        .unwrap_or_default()
}

/// Whether the file's extension is this one.
pub(crate) fn has_extension(path: &Path, wanted: &str) -> bool {
    path.extension().is_some_and(|extension| extension == wanted)
}

/// Whether one of the folders above the file has this name.
pub(crate) fn is_below(path: &Path, folder: &str) -> bool {
    path.ancestors()
        .skip(1)
        .any(|above| above.file_name().is_some_and(|name| name == folder))
}

impl PartialEq for Agent {
    fn eq(&self, other: &Self) -> bool {
        self.id() == other.id()
    }
}

impl Eq for Agent {}

impl PartialOrd for Agent {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Agent {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.id().cmp(other.id())
    }
}

impl Hash for Agent {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id().hash(state);
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_go_back_and_forth_and_are_no_others() {
        for agent in Agent::ALL {
            assert_eq!(Agent::parse(agent.id()), Some(*agent));
            assert_eq!(Agent::ALL.iter().filter(|other| *other == agent).count(), 1);
        }
        assert_eq!(Agent::parse("ed"), None);
    }

    #[test]
    fn an_agents_folder_is_where_its_variable_says() {
        let none = |_: &str| None;
        let home = Home {
            folder: Path::new("/home/ada"),
            variable: &none,
        };
        assert_eq!(
            Agent::CLAUDE_CODE.folders(&home),
            [PathBuf::from("/home/ada/.claude/projects")]
        );
        let elsewhere = |name: &str| (name == "CLAUDE_CONFIG_DIR").then(|| PathBuf::from("/srv/claude"));
        let home = Home {
            variable: &elsewhere,
            ..home
        };
        assert_eq!(Agent::CLAUDE_CODE.folders(&home), [PathBuf::from("/srv/claude/projects")]);
    }
}
