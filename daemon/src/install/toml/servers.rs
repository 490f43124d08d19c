//! Our MCP server in settings in TOML, as Codex has them: `[mcp_servers.remembrancer]`. The text comes in, what stands there or the
//! edited text goes out. A server of the user's own under our name is never touched.

use toml_edit::{Array, Item, Table, TableLike};

use super::{Document, problem, set};
use crate::install::servers::{ARGUMENT, Entry, NAME, Standing, is_ours};
use crate::install::text::Problem;

/// The table that holds all servers.
const SERVERS: &str = "mcp_servers";

/// What stands under our name.
///
/// # Errors
/// The first place at which the text is no TOML, or not what the host expects.
pub(in crate::install) fn standing(text: &str) -> Result<Standing, Problem> {
    let document = Document::parse(text)?;
    let Some(servers) = document.tree.get(SERVERS) else {
        return Ok(Standing::Absent);
    };
    let servers = servers
        .as_table_like()
        .ok_or_else(|| problem(text, &[SERVERS], "`mcp_servers` is no table"))?;
    Ok(match servers.get(NAME) {
        None => Standing::Absent,
        Some(server) => server
            .as_table_like()
            .and_then(program)
            .map_or(Standing::Theirs, Standing::Ours),
    })
}

/// The text with `entry`, where nothing stands under our name, or an older entry of ours.
///
/// # Errors
/// As [`standing`].
pub(in crate::install) fn put(text: &str, entry: &Entry<'_>) -> Result<String, Problem> {
    let is_there = standing(text)?;
    let mut document = Document::parse(text)?;
    let mut implicit = Table::new();
    implicit.set_implicit(true);
    let servers = document.tree.entry(SERVERS).or_insert(Item::Table(implicit));
    let is_on_one_line = servers.is_value();
    let servers = servers
        .as_table_like_mut()
        .ok_or_else(|| problem(text, &[SERVERS], "`mcp_servers` is no table"))?;
    match is_there {
        Standing::Theirs => return Ok(text.to_owned()),
        Standing::Ours(program) if program == entry.program => return Ok(text.to_owned()),
        Standing::Absent => {
            let server = new(entry);
            let item = if is_on_one_line {
                Item::Value(server.into_inline_table().into())
            } else {
                Item::Table(server)
            };
            servers.insert(NAME, item);
        }
        Standing::Ours(_) => {
            let server = servers.get_mut(NAME).and_then(Item::as_table_like_mut);
            if let Some(command) = server.and_then(|server| server.get_mut("command")) {
                set(command, entry.program.into());
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
    let mut document = Document::parse(text)?;
    let Some(servers) = document.tree.get_mut(SERVERS).and_then(Item::as_table_like_mut) else {
        return Ok(text.to_owned());
    };
    servers.remove(NAME);
    if servers.is_empty() {
        document.tree.remove(SERVERS);
    }
    Ok(document.text())
}

fn program(server: &dyn TableLike) -> Option<String> {
    let program = server.get("command")?.as_str()?;
    let words = |list: &Array| -> Option<Vec<String>> { list.iter().map(|word| word.as_str().map(str::to_owned)).collect() };
    let arguments = server
        .get("args")
        .and_then(Item::as_array)
        .and_then(words)
        .unwrap_or_default();
    is_ours(program, &arguments).then(|| program.to_owned())
}

fn new(entry: &Entry<'_>) -> Table {
    let mut server = Table::new();
    server.insert("command", toml_edit::value(entry.program));
    server.insert("args", toml_edit::value(Array::from_iter([ARGUMENT])));
    server
}
