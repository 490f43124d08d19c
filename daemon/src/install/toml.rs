//! The hook in settings in TOML, as Codex has them: `[[hooks.EVENT]]` with a matcher, and `[[hooks.EVENT.hooks]]` with the handlers,
//! or both written inline. The text comes in, the edited text goes out; comments, order and the entries of others stay.

pub(super) mod servers;

use remembrancer_hooks::Agent;
use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, Table, TableLike, Value};

use super::command::{Command, OurCommand};
use super::entry::{self, COMMAND_KEYS, Field};
use super::text::{Problem, split_mark};

/// Below `hooks`, where Codex keeps what its user has decided of each hook: no event.
const STATE: &str = "state";

/// Whether hooks of anybody stand in the text.
pub(super) fn holds_hooks(text: &str) -> bool {
    let Ok(document) = Document::parse(text) else { return false };
    let hooks = document.tree.get("hooks").and_then(Item::as_table_like);
    hooks.is_some_and(|hooks| hooks.iter().any(|(event, list)| event != STATE && !elements(list).is_empty()))
}

/// Brings the entries of ours to what `agent` is to have: what it lacks is added, what is wrong in one is mended, one of each event
/// is kept, and none elsewhere.
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
    take_out_of(hooks, |event| agent.events().all(|(known, _)| known != event));
    for (event, sources) in agent.events() {
        let list = hooks.entry(event).or_insert(empty.clone());
        let kept = keep_first(list);
        let added = match kept {
            Some(place) => put_right(list, place, agent, sources, program),
            None => Some(new_handler(agent, program)),
        };
        if let Some(handler) = added {
            append(list, group(sources, handler)).ok_or_else(|| problem(text, &["hooks", event], "the event is no list"))?;
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
    if !take_out_of(hooks, |_| true) {
        return Ok(text.to_owned());
    }
    if hooks.is_empty() {
        document.tree.remove("hooks");
    }
    Ok(document.text())
}

/// Takes our handlers out of these events, and the events that held nothing else. Returns whether there were any.
fn take_out_of(hooks: &mut dyn TableLike, events: impl Fn(&str) -> bool) -> bool {
    let holds_ours = |list: &Item| {
        elements(list)
            .into_iter()
            .any(|group| stands_alone(group) || handlers(group).into_iter().any(is_ours))
    };
    let wanted = hooks.iter().filter(|(event, list)| events(event) && holds_ours(list));
    let wanted: Vec<String> = wanted.map(|(event, _)| event.to_owned()).collect();
    for event in &wanted {
        let Some(list) = hooks.get_mut(event) else { continue };
        remove_ours(list, |_| false);
        if is_empty(list) {
            hooks.remove(event);
        }
    }
    !wanted.is_empty()
}

/// Removes our handlers from an event's list but for those that are to be kept, and the groups that held nothing else.
fn remove_ours(list: &mut Item, mut keep: impl FnMut(&dyn TableLike) -> bool) {
    let mut emptied = Vec::new();
    for group in elements_mut(list) {
        let Some(handlers) = group.get_mut("hooks") else {
            emptied.push(is_ours(group));
            continue;
        };
        let before = elements(handlers).len();
        retain(handlers, |handler| !is_ours(handler) || keep(handler));
        emptied.push(before > 0 && is_empty(handlers));
    }
    let mut emptied = emptied.into_iter();
    retain(list, |_| !emptied.next().unwrap_or_default());
}

/// Removes all of our handlers but the first. Returns the places of its group in the list, and of it in the group.
fn keep_first(list: &mut Item) -> Option<(usize, usize)> {
    let mut is_kept = false;
    remove_ours(list, |_| !std::mem::replace(&mut is_kept, true));
    let groups = elements(list).into_iter().enumerate();
    let mut places = groups.filter_map(|(at, group)| Some((at, handlers(group).into_iter().position(is_ours)?)));
    places.next()
}

/// Gives our handler at `place` the path `program`, its agent's name and a time limit that does, and has its group be run for `sources`.
/// Where that is not for us to change, since others stand in the group as well, it is removed, and what it says is returned.
fn put_right(list: &mut Item, place: (usize, usize), agent: Agent, sources: &[&str], program: &str) -> Option<Table> {
    let (at, number) = place;
    let mut groups = elements_mut(list);
    let group = groups.get_mut(at)?;
    let matcher = group.get("matcher").and_then(Item::as_str).map(str::to_owned);
    let is_run = sources.iter().all(|source| entry::is_run_for(matcher.as_deref(), source));
    let is_alone = handlers(&**group).len() == 1;
    if let (false, true, Some(right)) = (is_run, is_alone, entry::matcher(sources)) {
        set(group.get_mut("matcher")?, right.into());
    }
    let mut handlers = elements_mut(group.get_mut("hooks")?);
    let handler = handlers.get_mut(number)?;
    mend(&mut **handler, agent, program);
    if is_run || is_alone {
        return None;
    }
    let said = handler.iter().map(|(key, item)| (key.to_owned(), item.clone())).collect();
    remove_ours(list, |_| false);
    Some(said)
}

fn mend(handler: &mut dyn TableLike, agent: Agent, program: &str) {
    let mended = our_command(handler).and_then(|(key, command)| Some((key, command.mended(program, agent)?)));
    if let Some((key, Command { text, arguments })) = mended {
        if let Some(command) = handler.get_mut(key).filter(|command| command.as_str() != Some(&text)) {
            set(command, text.into());
        }
        if let (Some(words), Some(arguments)) = (handler.get_mut("args"), arguments) {
            set(words, Value::Array(arguments.into_iter().collect()));
        }
    }
    let own = agent
        .registration()
        .timeout
        .as_ref()
        .and_then(|limit| handler.get_mut(limit.key));
    let number = |item: &Item| item.as_float().or(item.as_integer().map(|number| number as f64));
    if let Some(own) = own
        && let Some(longer) = number(own).and_then(|limit| entry::longer_limit(agent, limit))
    {
        set(own, i64::from(longer.count).into());
    }
}

/// Gives another value to what stands there, and keeps the blanks and the comment around it.
fn set(item: &mut Item, value: Value) {
    let decor = item.as_value().map(|value| value.decor().clone());
    *item = Item::Value(value);
    if let (Some(value), Some(decor)) = (item.as_value_mut(), decor) {
        *value.decor_mut() = decor;
    }
}

fn new_handler(agent: Agent, program: &str) -> Table {
    let fields = entry::handler(agent, program).into_iter();
    fields.map(|(key, field)| (key.to_owned(), value(field))).collect()
}

/// The group that is added to an event's list for a handler.
fn group(sources: &[&str], handler: Table) -> Table {
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
fn append(list: &mut Item, mut table: Table) -> Option<()> {
    let bottom = last_position(list);
    match list {
        Item::ArrayOfTables(tables) => {
            // What stands below it in the text belongs to it: all that is of those before it stands above.
            table.set_position(bottom);
            tables.push(table);
        }
        Item::Value(Value::Array(values)) => values.push(table.into_inline_table()),
        _ => return None,
    }
    Some(())
}

/// Where in the text the last header stands of all tables in `item`, however deep; `None` where none was read from a text.
fn last_position(item: &Item) -> Option<isize> {
    let in_table = |table: &Table| {
        let below = table.iter().filter_map(|(_, item)| last_position(item));
        below.chain(table.position()).max()
    };
    match item {
        Item::Table(table) => in_table(table),
        Item::ArrayOfTables(tables) => tables.iter().filter_map(in_table).max(),
        _ => None,
    }
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

/// Whether a list holds nothing at all, tables or not.
fn is_empty(list: &Item) -> bool {
    match list {
        Item::Value(Value::Array(values)) => values.is_empty(),
        _ => elements(list).is_empty(),
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

fn retain(list: &mut Item, mut keep: impl FnMut(&dyn TableLike) -> bool) {
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

/// Whether an element of an event's list is a handler of ours itself, where a group is expected: no host runs it.
fn stands_alone(element: &dyn TableLike) -> bool {
    !element.contains_key("hooks") && is_ours(element)
}

/// The key and the command of a handler that runs our hook.
fn our_command(handler: &dyn TableLike) -> Option<(&'static str, OurCommand)> {
    let key = COMMAND_KEYS.into_iter().find(|key| handler.contains_key(key))?;
    let words = |list: &Array| list.iter().filter_map(|word| word.as_str().map(str::to_owned)).collect();
    let arguments = handler.get("args").and_then(Item::as_array).map(words);
    let command = Command {
        text: handler.get(key)?.as_str()?.to_owned(),
        arguments: arguments.or((key == "exec").then(Vec::new)),
    };
    Some((key, OurCommand::read(&command)?))
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
