//! The tools: what each is called, what it is told to a model to be for, what it takes and gives, and whether it changes anything. What
//! each does is in a file of its own below here.

mod explain;
pub(super) mod forget;
mod remember;
mod search;
pub(super) mod show;
mod timeline;

use std::path::Path;
use std::sync::Arc;

use remembrancer_hooks::protocol::Narrowing;
use remembrancer_schema::UnixMillis;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use super::arguments::{Arguments, Kind, Parameter, schema};
use super::place::Scope;
use super::wording::Told;
use crate::cli::{CliError, Kind as ErrorKind, Surroundings, selection};
use crate::clock;

/// A tool.
pub(super) struct ToolOf {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    /// For a language model: when to use it, and when not.
    pub(super) about: &'static str,
    pub(super) parameters: &'static [Parameter],
    /// The schema of what it gives.
    pub(super) output: fn() -> Value,
    /// Whether it changes nothing, whether it deletes, whether twice is as once.
    pub(super) hints: (bool, bool, bool),
    pub(super) act: Act,
}

/// How a tool does what it does.
#[derive(Clone, Copy)]
pub(super) enum Act {
    /// At once, on a thread that may wait.
    Plain(fn(&Call<'_>) -> Result<Told, CliError>),
    /// After somebody has agreed.
    Forget,
}

/// A call of a tool, its arguments checked.
pub(super) struct Call<'a> {
    pub(super) surroundings: &'a Surroundings,
    /// The folder in which the client works, where that is known.
    pub(super) folder: Option<&'a Path>,
    pub(super) arguments: &'a Arguments,
}

/// All tools, in the order in which they are listed.
pub(super) const TOOLS: [ToolOf; 6] = [
    search::TOOL,
    show::TOOL,
    timeline::TOOL,
    explain::TOOL,
    remember::TOOL,
    forget::TOOL,
];

/// Their names.
pub(crate) const NAMES: [&str; TOOLS.len()] = [
    TOOLS[0].name,
    TOOLS[1].name,
    TOOLS[2].name,
    TOOLS[3].name,
    TOOLS[4].name,
    TOOLS[5].name,
];

impl ToolOf {
    /// The tool of this name.
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        const { &TOOLS }.iter().find(|tool| tool.name == name)
    }

    /// As the protocol lists it.
    pub(super) fn listed(&self) -> Tool {
        let (reads_only, deletes, is_idempotent) = self.hints;
        let annotations = ToolAnnotations::with_title(self.title)
            .read_only(reads_only)
            .destructive(deletes)
            .idempotent(is_idempotent)
            .open_world(false);
        let tool = Tool::new(self.name, self.about, schema(self.parameters));
        let tool = tool.with_title(self.title).with_annotations(annotations);
        match (self.output)() {
            Value::Object(output) => tool.with_raw_output_schema(Arc::new(output)),
            _ => tool,
        }
    }
}

/// Arguments that several tools have.
const PROJECT: Parameter = Parameter::new(
    "project",
    Kind::Text(1_024),
    "Only this project: its name as results show it, or a folder path. Without it, the project in which you work.",
);
const EVERYWHERE: Parameter = Parameter::new(
    "everywhere",
    Kind::Flag,
    "true: all of the user's projects, not only the one in which you work. Not together with project.",
);
const AGENT: Parameter = Parameter::new("agent", Kind::Agent, "Only sessions of this coding agent.");
const SINCE: Parameter = Parameter::new(
    "since",
    Kind::Text(40),
    "Only what began then or later: a date (2026-03-01), a time (2026-03-01T14:30Z), or how long ago (2h, 3d, 2w).",
);
const UNTIL: Parameter = Parameter::new("until", Kind::Text(40), "Only what began before then; written as since is.");

impl Call<'_> {
    fn scope(&self) -> Result<Scope, CliError> {
        Scope::of(self.arguments, self.folder, self.surroundings)
    }

    /// What the arguments narrow a look to, but for the project.
    fn narrowing(&self) -> Result<Narrowing, CliError> {
        let now = clock::now();
        let at = |name: &str| moment(self.arguments, name, now);
        Ok(Narrowing {
            project: None,
            agent: self.arguments.text("agent").map(str::to_owned),
            since_ms: at("since")?,
            until_ms: at("until")?,
        })
    }

    /// What `look` finds in the project that is meant, and which that was; everywhere, where the memory knows no project of the
    /// folder in which the client works.
    fn in_scope(&self, look: impl Fn(Narrowing) -> Result<Value, CliError>) -> Result<(Value, Looked), CliError> {
        let narrowing = self.narrowing()?;
        let within = |project: &str| Narrowing {
            project: Some(project.to_owned()),
            ..narrowing.clone()
        };
        match self.scope()? {
            Scope::Everywhere => Ok((look(narrowing)?, Looked::Everywhere)),
            Scope::Named(name) => Ok((look(within(&name))?, Looked::Project(name))),
            Scope::Here(folder) => match look(within(&folder)) {
                Ok(found) => Ok((found, Looked::Project(folder))),
                // It may be of the rest: the same is then said of all.
                Err(error) if error.kind() == ErrorKind::NotFound => Ok((look(narrowing)?, Looked::UnknownHere(folder))),
                Err(error) => Err(error),
            },
        }
    }
}

/// The time that an argument says, as seen from `now`.
fn moment(arguments: &Arguments, name: &str, now: UnixMillis) -> Result<Option<i64>, CliError> {
    let Some(text) = arguments.text(name) else {
        return Ok(None);
    };
    let when = selection::when(text)
        .map_err(|hint| CliError::new(ErrorKind::Usage, format!("`{name}` is no time: {text:?}")).with_hint(hint))?;
    Ok(Some(when.before(now)?.0))
}

/// The folder that the argument `project` points at.
///
/// # Errors
/// Where it is a name.
fn whole(project: String) -> Result<String, CliError> {
    if project.starts_with('/') {
        return Ok(project);
    }
    Err(
        CliError::new(ErrorKind::Usage, format!("`project` is no folder here: {project:?}"))
            .with_hint("give the path of the project's folder"),
    )
}

/// Where it was looked.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Looked {
    Everywhere,
    Project(String),
    /// Everywhere, since nothing is remembered of this folder.
    UnknownHere(String),
}

impl Looked {
    /// In words, as it goes on after what was found.
    fn words(&self) -> String {
        let shown = |name: &str| remembrancer_processor::recall::inline(name);
        match self {
            Self::Everywhere => "in all projects".to_owned(),
            Self::Project(name) => format!("in the project {}", shown(name)),
            Self::UnknownHere(folder) => format!("in all projects, since nothing is remembered of {}", shown(folder)),
        }
    }

    /// How to look at more.
    fn wider(&self) -> &'static str {
        match self {
            Self::Project(_) => " With everywhere: true, all projects are looked at.",
            Self::Everywhere | Self::UnknownHere(_) => "",
        }
    }

    fn json(&self) -> Value {
        match self {
            Self::Everywhere | Self::UnknownHere(_) => Value::Null,
            Self::Project(name) => remembrancer_processor::recall::inline(name).into(),
        }
    }
}

/// The schema of an object, all of whose members are there.
fn object(members: &[(&str, Value)]) -> Value {
    let names: Vec<&str> = members.iter().map(|(name, _)| *name).collect();
    let properties: JsonObject = members
        .iter()
        .map(|(name, schema)| ((*name).to_owned(), schema.clone()))
        .collect();
    json!({"type": "object", "properties": properties, "required": names, "additionalProperties": false})
}

/// The schema of a list of such.
fn list(items: &Value) -> Value {
    json!({"type": "array", "items": items})
}

fn string() -> Value {
    json!({"type": "string"})
}

fn integer() -> Value {
    json!({"type": "integer"})
}

fn number() -> Value {
    json!({"type": "number"})
}

fn boolean() -> Value {
    json!({"type": "boolean"})
}

/// Or null.
fn or_null(schema: &Value) -> Value {
    let mut schema = schema.clone();
    schema["type"] = json!([schema["type"], "null"]);
    schema
}

#[cfg(test)]
mod tests;
