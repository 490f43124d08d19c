//! What a tool call touched, and what its result says that is worth keeping: an error's telling line. Bodies of results are
//! never kept. The same for all agents; what one of them alone has is in its own files.

use std::borrow::Cow;

use remembrancer_schema::UnixMillis;

use super::assemble::OpenTurn;
use super::facet;
use super::lenient::{Prose, Text, TextOr, wire_struct};
use super::redact::redact;
use super::turn::push_new;

/// What is remembered of a call until its result comes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// A shell command.
    Shell {
        /// Program and subcommand: what a later success of the same is known by.
        key: String,
        /// Whether it makes a commit.
        commits: bool,
    },
    /// A change to a file.
    Change,
    /// A question to the person.
    Question,
    /// A plan for the person to approve.
    Plan(String),
    /// Our own command or tool: nothing of its result is kept.
    Own,
    /// Anything else.
    Other,
}

impl Call {
    /// A shell command, noted in its turn.
    pub(crate) fn shell(open: &mut OpenTurn, at: UnixMillis, command: &str) -> Self {
        if facet::is_own_command(command) {
            return Self::Own;
        }
        if let Some(shown) = facet::command(command) {
            open.touch(at, |facets| push_new(&mut facets.commands, shown));
        }
        Self::Shell {
            key: facet::command_key(command),
            commits: facet::makes_commit(command),
        }
    }

    /// Notes the tool and the files that it names. Nothing is kept of our own.
    pub(crate) fn touch<'a>(&self, open: &mut OpenTurn, at: UnixMillis, tool: &str, files: impl IntoIterator<Item = &'a str>) {
        if matches!(self, Self::Own) {
            return;
        }
        let cwd = open.turn.cwd.clone();
        let files: Vec<String> = files.into_iter().map(|path| facet::file(path, cwd.as_deref())).collect();
        let changed = matches!(self, Self::Change);
        open.touch(at, |facets| {
            push_new(&mut facets.tools, redact(tool).into_owned());
            for file in files {
                if changed && !file.is_empty() {
                    // A changed file stands before those that were only read.
                    facets.files.retain(|other| *other != file);
                    facets.files.insert(0, file);
                } else {
                    push_new(&mut facets.files, file);
                }
            }
        });
    }

    /// Notes whether it succeeded, and of a failure the telling line.
    pub(crate) fn settle(&self, open: &mut OpenTurn, at: UnixMillis, failed: bool, content: &str) {
        match self {
            Self::Own => return,
            Self::Change if !failed => open.note_change(),
            Self::Shell { key, commits } if !failed => {
                open.note_success(key);
                if *commits {
                    open.note_commit();
                }
            }
            Self::Shell { key, .. } => open.note_failure(key),
            _ => {}
        }
        if failed && let Some(line) = facet::error_line(content) {
            open.touch(at, |facets| push_new(&mut facets.errors, line));
        }
    }
}

wire_struct! {
    /// The arguments of tools that are memory, by all names that agents give them.
    Arguments {
        "file_path" => file_path: Text<'a>,
        "filePath" => file_path_camel: Text<'a>,
        "path" => path: Text<'a>,
        "file" => file: Text<'a>,
        "filename" => filename: Text<'a>,
        "target_file" => target_file: Text<'a>,
        "targetFile" => target_file_camel: Text<'a>,
        "absolute_path" => absolute_path: Text<'a>,
        "notebook_path" => notebook_path: Text<'a>,
        "relative_workspace_path" => relative_path: Text<'a>,
        "relativeWorkspacePath" => relative_path_camel: Text<'a>,
        "command" => command: Prose<'a>,
        "cmd" => cmd: Prose<'a>,
        "script" => script: Prose<'a>,
        "patch" => patch: Text<'a>,
        "patchText" => patch_text: Text<'a>,
        /// Of Codex's `apply_patch` and `exec`.
        "input" => input: Text<'a>,
        /// Where a command runs.
        "working_directory" => working_directory: Text<'a>,
        /// A subagent's task.
        "prompt" => prompt: Text<'a>,
        /// The MCP server whose tool a general tool is to call, by all names that agents give it.
        "server" => server: Text<'a>,
        "serverName" => server_camel: Text<'a>,
        "server_name" => server_name: Text<'a>,
        "mcpServerName" => mcp_server: Text<'a>,
        "ServerName" => server_pascal: Text<'a>,
    }
}

/// Arguments as agents write them: an object, the same as JSON in a string, or a bare text, as `apply_patch` takes it.
pub(crate) type Given<'a> = TextOr<'a, Arguments<'a>>;

impl Given<'_> {
    /// Reads the arguments.
    pub(crate) fn read<T>(&self, take: impl FnOnce(&Arguments<'_>) -> T) -> T {
        match self {
            Self::Object(arguments) => take(arguments),
            Self::Text(text) => take(&serde_json::from_str(text.as_str()).unwrap_or_else(|_| Arguments {
                input: text.clone(),
                ..Arguments::default()
            })),
        }
    }
}

/// Parts of names of tools that change files.
const CHANGING: &[&str] = &["edit", "write", "patch", "replace", "create", "insert", "delete", "rename"];
/// The command by which an editing tool only reads.
const VIEW: &str = "view";
/// How a line of an `apply_patch` names a file.
const PATCHED: &[&str] = &["*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "];

impl Arguments<'_> {
    /// Notes a call of `tool` with these arguments, and gives what its result will be known by.
    pub(crate) fn call(&self, open: &mut OpenTurn, at: UnixMillis, tool: &str) -> Call {
        let command = self.shell_command();
        let patch = [self.patch.as_str(), self.patch_text.as_str(), self.input.as_str(), &command]
            .into_iter()
            .find(|text| text.contains("*** "));
        let patched: Vec<&str> = patch.map(patched_files).unwrap_or_default();
        // `write_stdin` and `todo_write` change no file.
        let edits = is_changing(tool) && self.named_files().next().is_some();
        let call = if facet::is_own_tool(tool) || self.names_our_server() {
            Call::Own
        } else if !patched.is_empty() || edits && command != VIEW {
            Call::Change
        } else if !command.is_empty() && !edits {
            Call::shell(open, at, &command)
        } else {
            Call::Other
        };
        call.touch(open, at, tool, self.named_files().chain(patched));
        call
    }

    /// Whether a general tool, as `CallMcpTool` or `use_mcp_tool`, is to call one of ours.
    fn names_our_server(&self) -> bool {
        let servers = [
            &self.server,
            &self.server_camel,
            &self.server_name,
            &self.mcp_server,
            &self.server_pascal,
        ];
        servers.into_iter().any(|server| facet::is_own_server(server.as_str()))
    }

    fn shell_command(&self) -> Cow<'_, str> {
        let commands = [&self.command, &self.cmd, &self.script].map(Prose::command);
        commands.into_iter().find(|command| !command.is_empty()).unwrap_or_default()
    }

    /// The files that it names.
    pub(crate) fn named_files(&self) -> impl Iterator<Item = &str> {
        let names = [
            &self.file_path,
            &self.file_path_camel,
            &self.path,
            &self.file,
            &self.filename,
            &self.target_file,
            &self.target_file_camel,
            &self.absolute_path,
            &self.notebook_path,
            &self.relative_path,
            &self.relative_path_camel,
        ];
        names.into_iter().filter_map(Text::filled)
    }
}

/// The number that `text` begins with, as written; empty where it begins with none.
pub(crate) fn leading_number(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '-');
    &text[..end.unwrap_or(text.len())]
}

fn is_changing(tool: &str) -> bool {
    let tool = tool.to_ascii_lowercase();
    CHANGING.iter().any(|part| tool.contains(part))
}

/// The files that an `apply_patch` names.
fn patched_files(patch: &str) -> Vec<&str> {
    patch
        .lines()
        .filter_map(|line| PATCHED.iter().find_map(|mark| line.trim_start().strip_prefix(mark)))
        .map(str::trim)
        .collect()
}

#[cfg(test)]
mod tests;
