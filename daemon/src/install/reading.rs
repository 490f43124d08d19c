//! What stands in a host's settings: a file comes in, its values go out, free of the format; and the entries of ours among them.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use remembrancer_hooks::Agent;
use serde_json::Value;

use super::agents::{Format, files, plugin_program};
use super::entry::{COMMAND_KEYS, OurCommand};
use super::json;
use super::text::{Problem, split_mark};
use crate::files::read_text;

/// An entry of ours, as a host finds it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Registered {
    /// The file that it stands in.
    pub file: PathBuf,
    /// The event.
    pub event: String,
    /// 0-based places of its group in the event's list, and of the handler in the group.
    pub place: (usize, usize),
    /// A program's path, or a line for a shell.
    pub command: String,
    /// Of a program that the host starts itself: its arguments.
    pub arguments: Option<Vec<String>>,
    /// Where the program's name stands in the command.
    pub program: std::ops::Range<usize>,
    /// The shell that runs the line.
    pub shell: &'static str,
    /// For which sources of the event it is run; `None` for all.
    pub matcher: Option<String>,
    /// Its time limit, in the host's unit; `None` where the host's own stays.
    pub limit: Option<f64>,
}

impl Registered {
    /// The agent that the command names, as it stands there; `None` where it names none.
    pub(crate) fn named_agent(&self) -> Option<&str> {
        let line = self.command[self.program.end..].split_whitespace();
        let mut words = self.arguments.iter().flatten().map(String::as_str).chain(line);
        let named = words.find_map(|word| match word.strip_prefix("--agent") {
            Some("") => Some(None),
            Some(rest) => rest.strip_prefix('=').map(Some),
            None => None,
        })?;
        let id = named.or_else(|| words.next())?;
        Some(id.trim_matches(['"', '\'']))
    }

    /// Whether it is run for this source of its event.
    pub(crate) fn is_run_for(&self, source: &str) -> bool {
        match self.matcher.as_deref() {
            None | Some("" | "*") => true,
            Some(matcher) => matcher.split('|').any(|part| part.trim() == source),
        }
    }
}

/// The values in the file at `path`; `None` where there is no file.
///
/// # Errors
/// In one line why it can't be read, with the place in it.
pub(crate) fn values(path: &Path) -> Result<Option<Value>, String> {
    let text = match read_text(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        read => read.map_err(|error| error.to_string())?,
    };
    let parsed = if path.extension().is_some_and(|extension| extension == "toml") {
        toml_values(&text)
    } else {
        json::values(&text)
    };
    parsed.map(Some).map_err(|problem| format!("{}:{problem}", path.display()))
}

pub(super) fn toml_values(text: &str) -> Result<Value, Problem> {
    let (_, body) = split_mark(text);
    toml::from_str(body).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        Problem::at(body, offset, error.message().replace('\n', ", "))
    })
}

/// Every entry of ours in the settings of `agent` in `folder`.
///
/// # Errors
/// As [`values`], of the first file that is not valid.
pub(crate) fn registered(folder: &Path, agent: Agent) -> Result<Vec<Registered>, String> {
    let mut found = Vec::new();
    let limit_key = agent.registration().timeout.as_ref().map(|limit| limit.key);
    for (format, file) in files(folder, agent) {
        if let Format::Plugin(plugin) = format {
            found.extend(of_plugin(&file, plugin, agent)?);
            continue;
        }
        let settings = values(&file)?.unwrap_or_default();
        for (event, list) in settings["hooks"].as_object().into_iter().flatten() {
            for (group, element) in list.as_array().into_iter().flatten().enumerate() {
                let alone = std::slice::from_ref(element);
                let handlers = element["hooks"].as_array().map_or(alone, Vec::as_slice);
                let ours = handlers.iter().enumerate();
                let matcher = element["matcher"].as_str();
                found.extend(ours.filter_map(|(at, handler)| {
                    let entry = read(&file, event, (group, at), handler)?;
                    Some(Registered {
                        matcher: matcher.map(str::to_owned),
                        limit: limit_key.and_then(|key| handler[key].as_f64()),
                        ..entry
                    })
                }));
            }
        }
    }
    Ok(found)
}

/// What a program of ours that the host loads runs; nothing where it is not there, or not as this version writes it.
fn of_plugin(file: &Path, plugin: &str, agent: Agent) -> Result<Vec<Registered>, String> {
    let text = match read_text(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        read => read.map_err(|error| error.to_string())?,
    };
    let Some(program) = plugin_program(&text, plugin) else {
        return Ok(Vec::new());
    };
    let entry = |(event, _): (&str, _)| Registered {
        file: file.to_owned(),
        event: event.to_owned(),
        place: (0, 0),
        program: 0..program.len(),
        command: program.clone(),
        arguments: Some(vec!["--agent".to_owned(), agent.id().to_owned()]),
        shell: "sh",
        matcher: None,
        limit: None,
    };
    Ok(agent.events().map(entry).collect())
}

/// A handler that runs our hook; `None` where it runs anything else.
fn read(file: &Path, event: &str, place: (usize, usize), handler: &Value) -> Option<Registered> {
    let key = COMMAND_KEYS.into_iter().find(|key| handler.get(key).is_some())?;
    let arguments = handler["args"].as_array().map(|arguments| {
        let words = arguments.iter().filter_map(Value::as_str);
        words.map(str::to_owned).collect()
    });
    let arguments = arguments.or((key == "exec").then(Vec::new));
    let command = handler[key].as_str()?;
    let program = OurCommand::read(command, arguments.is_some())?.place();
    Some(Registered {
        file: file.to_owned(),
        event: event.to_owned(),
        place,
        command: command.to_owned(),
        arguments,
        program,
        shell: if key == "bash" { "bash" } else { "sh" },
        matcher: None,
        limit: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::install::install;

    #[test]
    fn what_install_writes_is_read_again_for_every_agent() {
        for agent in Agent::ALL {
            let folder = tempfile::tempdir().unwrap();
            let uid = rustix::process::getuid().as_raw();
            let change = install(folder.path(), *agent, "/it's here/remembrancer-hook", uid).unwrap();
            change.unwrap().apply().unwrap();
            let found = registered(folder.path(), *agent).unwrap();
            let mut events: Vec<&str> = found.iter().map(|entry| entry.event.as_str()).collect();
            let mut expected: Vec<&str> = agent.events().map(|(event, _)| event).collect();
            events.sort_unstable();
            expected.sort_unstable();
            assert_eq!(events, expected, "{agent:?}");
            for entry in found {
                let program = &entry.command[entry.program.clone()];
                assert!(
                    program.contains("remembrancer-hook") && !program.contains("--agent"),
                    "{entry:?}"
                );
            }
        }
    }

    #[test]
    fn an_entry_in_toml_is_found_with_its_place_and_a_fault_is_named_with_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        let text = "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = \"true\"\n[[hooks.Stop.hooks]]\ncommand = \"remembrancer-hook --agent codex\"\n";
        fs_err::write(&file, text).unwrap();
        let found = registered(folder.path(), Agent::CODEX).unwrap();
        assert_eq!((found.len(), found[0].place, found[0].event.as_str()), (1, (0, 1), "Stop"));
        fs_err::write(&file, "a = 1\nb = = 2\n").unwrap();
        let refused = registered(folder.path(), Agent::CODEX).unwrap_err();
        assert!(refused.starts_with(&format!("{}:2:", file.display())), "{refused}");
    }
}
