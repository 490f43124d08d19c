//! Our MCP server in settings in JSON: a member of `mcpServers`. The text comes in, what stands there or the edited text goes out. A
//! server of the user's own under our name is never touched.

use jsonc_parser::cst::{CstInputValue, CstObject};
use serde_json::Value;

use super::{Document, value};
use crate::install::servers::{ARGUMENT, Entry, NAME, Standing, is_ours};
use crate::install::text::Problem;

/// The member that holds all servers.
const SERVERS: &str = "mcpServers";

/// What stands under our name.
///
/// # Errors
/// The first place at which the text is no JSON, or not what the host expects.
pub(in crate::install) fn standing(text: &str) -> Result<Standing, Problem> {
    let document = Document::parse(text)?;
    let Some(server) = servers(&document)?
        .map(|servers| document.only(&servers, NAME))
        .transpose()?
        .flatten()
    else {
        return Ok(Standing::Absent);
    };
    let server = value(&server);
    let words = |list: &Value| -> Option<Vec<String>> {
        let words = list.as_array()?.iter();
        words.map(|word| word.as_str().map(str::to_owned)).collect()
    };
    let program = server["command"].as_str();
    let arguments = words(&server["args"]).unwrap_or_default();
    Ok(match program.filter(|program| is_ours(program, &arguments)) {
        Some(program) => Standing::Ours(program.to_owned()),
        None => Standing::Theirs,
    })
}

/// The text with `entry`, where nothing stands under our name, or an older entry of ours.
///
/// # Errors
/// As [`standing`].
pub(in crate::install) fn put(text: &str, entry: &Entry<'_>) -> Result<String, Problem> {
    let is_there = standing(text)?;
    let document = Document::parse(text)?;
    let root = document.root.object_value_or_set();
    match is_there {
        Standing::Theirs => {}
        Standing::Ours(program) if program == entry.program => {}
        Standing::Absent => {
            root.object_value_or_set(SERVERS).append(NAME, new(entry));
        }
        Standing::Ours(_) => {
            let command = root
                .object_value(SERVERS)
                .and_then(|servers| servers.object_value(NAME)?.get("command"));
            if let Some(command) = command {
                command.set_value(entry.program.to_owned().into());
            }
        }
    }
    Ok(document.text())
}

/// The text without an entry of ours, and without what held nothing else.
///
/// # Errors
/// As [`standing`].
pub(in crate::install) fn take_out(text: &str) -> Result<String, Problem> {
    if !matches!(standing(text)?, Standing::Ours(_)) {
        return Ok(text.to_owned());
    }
    let document = Document::parse(text)?;
    let root = document.root.object_value();
    let servers = root.and_then(|root| root.get(SERVERS));
    if let Some(servers) = servers
        && let Some(held) = servers.object_value()
    {
        if let Some(server) = held.get(NAME) {
            server.remove();
        }
        if held.properties().is_empty() {
            servers.remove();
        }
    }
    Ok(document.text())
}

fn servers(document: &Document<'_>) -> Result<Option<CstObject>, Problem> {
    let Some(root) = document.root.object_value() else {
        return Ok(None);
    };
    let servers = document.only(&root, SERVERS)?;
    let object = |node: jsonc_parser::cst::CstNode| {
        node.as_object()
            .ok_or_else(|| document.problem(&node, "\"mcpServers\" is no object"))
    };
    servers.map(object).transpose()
}

fn new(entry: &Entry<'_>) -> CstInputValue {
    let text = |text: &str| CstInputValue::String(text.to_owned());
    let list = |word: &str| CstInputValue::Array(vec![text(word)]);
    let kind = entry.kind.map(|kind| ("type".to_owned(), text(kind)));
    let own = [("command", text(entry.program)), ("args", list(ARGUMENT))];
    let own = own.map(|(name, value)| (name.to_owned(), value));
    let tools = entry.names_tools.then(|| ("tools".to_owned(), list("*")));
    CstInputValue::Object(kind.into_iter().chain(own).chain(tools).collect())
}
