//! What stands in a host's settings: a file comes in, its values go out, free of the format; and the entries of ours among them.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use remembrancer_hooks::Agent;
use serde_json::Value;

use super::agents::{Format, files, plugin_program};
use super::breach::Breach;
use super::command::{Command, OurCommand};
use super::entry::{self, COMMAND_KEYS};
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
    /// What the host runs.
    pub command: Command,
    /// The same, asking the hook for its version.
    pub asks_version: Command,
    /// The hook's path, as it stands in the command.
    pub program: String,
    /// The agent that the command names, as it stands there; `None` where it names none.
    pub names: Option<String>,
    /// What stands around the hook and breaks a promise of it.
    pub breaches: Vec<Breach>,
    /// The shell that runs the line.
    pub shell: &'static str,
    /// Whether it stands where the host looks: in a group, or in the event's list itself.
    pub is_in_place: bool,
    /// For which sources of the event it is run; `None` for all.
    pub matcher: Option<String>,
    /// Its time limit, in the host's unit; `None` where the host's own stays.
    pub limit: Option<f64>,
}

impl Registered {
    /// An entry that has a line run at a prompt.
    #[cfg(test)]
    pub(crate) fn of_line(line: &str) -> Self {
        let command = Command {
            text: line.to_owned(),
            arguments: None,
        };
        Self {
            file: "/h/settings.json".into(),
            event: "UserPromptSubmit".to_owned(),
            place: (0, 0),
            asks_version: command.clone(),
            command,
            program: line.to_owned(),
            names: None,
            breaches: Vec::new(),
            shell: "sh",
            is_in_place: true,
            matcher: None,
            limit: None,
        }
    }

    /// Whether it is run for this source of its event.
    pub(crate) fn is_run_for(&self, source: &str) -> bool {
        entry::is_run_for(self.matcher.as_deref(), source)
    }

    /// Its matcher, where that is an expression of which can't be told for which sources it stands.
    pub(crate) fn expression(&self) -> Option<&str> {
        self.matcher.as_deref().filter(|matcher| entry::is_expression(matcher))
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
                let grouped = element["hooks"].as_array();
                let handlers = grouped.map_or(std::slice::from_ref(element), Vec::as_slice);
                let ours = handlers.iter().enumerate();
                let matcher = element["matcher"].as_str();
                found.extend(ours.filter_map(|(at, handler)| {
                    let entry = read(&file, event, (group, at), handler)?;
                    Some(Registered {
                        matcher: matcher.map(str::to_owned),
                        limit: limit_key.and_then(|key| handler[key].as_f64()),
                        is_in_place: grouped.is_some() == agent.registration().grouped,
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
    let command = Command {
        text: program,
        arguments: Some(vec!["--agent".to_owned(), agent.id().to_owned()]),
    };
    let ours = OurCommand::read(&command);
    let entry = |(event, _): (&str, _)| Some(of_command(file, event, &command, ours.as_ref()?));
    Ok(agent.events().filter_map(entry).collect())
}

/// A handler that runs our hook; `None` where it runs anything else.
fn read(file: &Path, event: &str, place: (usize, usize), handler: &Value) -> Option<Registered> {
    let key = COMMAND_KEYS.into_iter().find(|key| handler.get(key).is_some())?;
    let arguments = handler["args"].as_array().map(|arguments| {
        let words = arguments.iter().filter_map(Value::as_str);
        words.map(str::to_owned).collect()
    });
    let command = Command {
        text: handler[key].as_str()?.to_owned(),
        arguments: arguments.or((key == "exec").then(Vec::new)),
    };
    let ours = OurCommand::read(&command)?;
    Some(Registered {
        place,
        shell: if key == "bash" { "bash" } else { "sh" },
        ..of_command(file, event, &command, &ours)
    })
}

fn of_command(file: &Path, event: &str, command: &Command, ours: &OurCommand) -> Registered {
    Registered {
        file: file.to_owned(),
        event: event.to_owned(),
        place: (0, 0),
        command: command.clone(),
        asks_version: ours.asking_version(),
        program: ours.program().to_owned(),
        names: ours.named_agent(),
        breaches: ours.breaches().to_vec(),
        shell: "sh",
        is_in_place: true,
        matcher: None,
        limit: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::install::{Wanted, install};

    #[test]
    fn what_install_writes_is_read_again_for_every_agent() {
        for agent in Agent::ALL {
            let folder = tempfile::tempdir().unwrap();
            let uid = rustix::process::getuid().as_raw();
            for change in install(folder.path(), *agent, Wanted::hook("/it's here/remembrancer-hook"), uid).unwrap() {
                change.apply().unwrap();
            }
            let found = registered(folder.path(), *agent).unwrap();
            let mut events: Vec<&str> = found.iter().map(|entry| entry.event.as_str()).collect();
            let mut expected: Vec<&str> = agent.events().map(|(event, _)| event).collect();
            events.sort_unstable();
            expected.sort_unstable();
            assert_eq!(events, expected, "{agent:?}");
            for entry in found {
                assert_eq!(entry.program, "/it's here/remembrancer-hook", "{entry:?}");
                assert_eq!(entry.names.as_deref(), Some(agent.id()), "{entry:?}");
                assert!(entry.is_in_place && entry.breaches.is_empty(), "{entry:?}");
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
