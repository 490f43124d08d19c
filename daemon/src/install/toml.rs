//! The hook in settings in TOML, as Codex has them: `[[hooks.EVENT]]` with a matcher, and `[[hooks.EVENT.hooks]]` with the handlers,
//! or both written inline. The text comes in, the edited text goes out; comments, order and the entries of others stay.

use remembrancer_hooks::Agent;
use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, Table, TableLike, Value};

use super::entry::{self, COMMAND_KEYS, Field, OurCommand};
use super::text::{Problem, split_mark};

/// Below `hooks`, where Codex keeps what its user has decided of each hook: no event.
const STATE: &str = "state";

/// Whether hooks of anybody stand in the text.
pub(super) fn holds_hooks(text: &str) -> bool {
    let Ok(document) = Document::parse(text) else { return false };
    let hooks = document.tree.get("hooks").and_then(Item::as_table_like);
    hooks.is_some_and(|hooks| hooks.iter().any(|(event, list)| event != STATE && !elements(list).is_empty()))
}

/// Adds what `agent` lacks of its entries, and gives those that are there the path `program`.
///
/// # Errors
/// The first place at which the text is no TOML, or not what the agent expects.
pub(super) fn register(text: &str, agent: Agent, program: &str) -> Result<String, Problem> {
    let mut document = Document::parse(text)?;
    let mut implicit = Table::new();
    implicit.set_implicit(true);
    let hooks = document.tree.entry("hooks").or_insert(Item::Table(implicit));
    // In a table on one line, only a list on one line is written.
    let empty = if hooks.is_value() {
        Item::Value(Value::Array(Array::new()))
    } else {
        Item::ArrayOfTables(ArrayOfTables::new())
    };
    let hooks = hooks
        .as_table_like_mut()
        .ok_or_else(|| problem(text, &["hooks"], "`hooks` is no table"))?;
    for (event, sources) in agent.events() {
        let list = hooks.entry(event).or_insert(empty.clone());
        if elements(list)
            .into_iter()
            .any(|group| handlers(group).into_iter().any(is_ours))
        {
            for group in elements_mut(list) {
                group
                    .get_mut("hooks")
                    .map(elements_mut)
                    .into_iter()
                    .flatten()
                    .for_each(|handler| move_to(handler, program));
            }
        } else {
            append(list, group(agent, sources, program))
                .ok_or_else(|| problem(text, &["hooks", event], "the event is no list"))?;
        }
    }
    Ok(document.text())
}

/// Takes out every entry of ours, and what held nothing else.
///
/// # Errors
/// As [`register`].
pub(super) fn unregister(text: &str) -> Result<String, Problem> {
    let mut document = Document::parse(text)?;
    let Some(hooks) = document.tree.get_mut("hooks").and_then(Item::as_table_like_mut) else {
        return Ok(text.to_owned());
    };
    let holds_ours = |list: &Item| {
        elements(list)
            .into_iter()
            .any(|group| handlers(group).into_iter().any(is_ours))
    };
    let events = hooks.iter().filter(|(_, list)| holds_ours(list));
    let events: Vec<String> = events.map(|(event, _)| event.to_owned()).collect();
    if events.is_empty() {
        return Ok(text.to_owned());
    }
    for event in events {
        let Some(list) = hooks.get_mut(&event) else { continue };
        retain(list, |group| {
            !handlers(group).into_iter().all(is_ours) || handlers(group).is_empty()
        });
        for group in elements_mut(list) {
            if let Some(handlers) = group.get_mut("hooks") {
                retain(handlers, |handler| !is_ours(handler));
            }
        }
        if elements(list).is_empty() {
            hooks.remove(&event);
        }
    }
    if hooks.is_empty() {
        document.tree.remove("hooks");
    }
    Ok(document.text())
}

/// The group that is added to an event's list.
fn group(agent: Agent, sources: &[&str], program: &str) -> Table {
    let mut handler = Table::new();
    for (key, field) in entry::handler(agent, program) {
        handler.insert(key, value(field));
    }
    let mut handlers = ArrayOfTables::new();
    handlers.push(handler);
    let mut group = Table::new();
    if let Some(matcher) = entry::matcher(sources) {
        group.insert("matcher", value(Field::Text(matcher)));
    }
    group.insert("hooks", Item::ArrayOfTables(handlers));
    group
}

fn value(field: Field) -> Item {
    Item::Value(match field {
        Field::Text(text) => text.into(),
        Field::Words(words) => Value::Array(words.into_iter().collect()),
        Field::Number(number) => i64::from(number).into(),
    })
}

/// Adds a table to a list, however it is written; `None` where it is none.
fn append(list: &mut Item, table: Table) -> Option<()> {
    match list {
        Item::ArrayOfTables(tables) => tables.push(table),
        Item::Value(Value::Array(values)) => values.push(table.into_inline_table()),
        _ => return None,
    }
    Some(())
}

/// The tables of a list, however it is written.
fn elements(list: &Item) -> Vec<&dyn TableLike> {
    match list {
        Item::ArrayOfTables(tables) => tables.iter().map(|table| table as &dyn TableLike).collect(),
        Item::Value(Value::Array(values)) => {
            let tables = values.iter().filter_map(Value::as_inline_table);
            tables.map(|table| table as &dyn TableLike).collect()
        }
        _ => Vec::new(),
    }
}

fn elements_mut(list: &mut Item) -> Vec<&mut dyn TableLike> {
    match list {
        Item::ArrayOfTables(tables) => tables.iter_mut().map(|table| table as &mut dyn TableLike).collect(),
        Item::Value(Value::Array(values)) => {
            let tables = values.iter_mut().filter_map(Value::as_inline_table_mut);
            tables.map(|table| table as &mut dyn TableLike).collect()
        }
        _ => Vec::new(),
    }
}

fn retain(list: &mut Item, keep: impl Fn(&dyn TableLike) -> bool) {
    match list {
        Item::ArrayOfTables(tables) => tables.retain(|table| keep(table)),
        Item::Value(Value::Array(values)) => values.retain(|value| value.as_inline_table().is_none_or(|table| keep(table))),
        _ => {}
    }
}

fn handlers(group: &dyn TableLike) -> Vec<&dyn TableLike> {
    group.get("hooks").map(elements).unwrap_or_default()
}

fn is_ours(handler: &dyn TableLike) -> bool {
    our_command(handler).is_some()
}

/// The key and the text of a handler's command that runs our hook.
fn our_command(handler: &dyn TableLike) -> Option<(&'static str, OurCommand<'_>)> {
    let key = COMMAND_KEYS.into_iter().find(|key| handler.contains_key(key))?;
    let direct = key == "exec" || handler.contains_key("args");
    Some((key, OurCommand::read(handler.get(key)?.as_str()?, direct)?))
}

fn move_to(handler: &mut dyn TableLike, program: &str) {
    let moved = our_command(handler).and_then(|(key, command)| Some((key, command.moved_to(program)?)));
    if let Some((key, moved)) = moved
        && let Some(command) = handler.get_mut(key)
    {
        *command = value(Field::Text(moved));
    }
}

/// A text as a tree that keeps its comments and its layout, but not its line ends.
struct Document<'a> {
    mark: &'a str,
    returns: bool,
    tree: DocumentMut,
}

impl<'a> Document<'a> {
    fn parse(text: &'a str) -> Result<Self, Problem> {
        let (mark, body) = split_mark(text);
        let tree = body.parse::<DocumentMut>().map_err(|error| {
            let offset = error.span().map_or(0, |span| span.start);
            Problem::at(body, offset, error.message().replace('\n', ", "))
        })?;
        let returns = body.contains("\r\n");
        let document = Self { mark, returns, tree };
        if document.text().trim_end() == text.trim_end() {
            Ok(document)
        } else {
            Err(Problem::at(body, 0, "the file has line ends of two kinds"))
        }
    }

    fn text(&self) -> String {
        let body = self.tree.to_string();
        let body = if self.returns { body.replace('\n', "\r\n") } else { body };
        format!("{}{body}", self.mark)
    }
}

/// What is wrong where the table or value of that path stands.
fn problem(text: &str, path: &[&str], what: &str) -> Problem {
    let (_, body) = split_mark(text);
    let parsed = toml_edit::Document::parse(body).ok();
    let offset = parsed.and_then(|document| {
        let mut item = document.as_item();
        for key in path {
            item = item.get(key)?;
        }
        Some(item.span()?.start)
    });
    Problem::at(body, offset.unwrap_or_default(), what)
}

#[cfg(test)]
mod tests;
