//! The hook in settings in JSON, comments and trailing commas allowed. The text comes in, the edited text goes out; comments, order,
//! indentation, line ends and the entries of others stay.

pub(super) mod servers;
pub(super) mod status_line;

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use remembrancer_hooks::Agent;
use serde_json::Value;

use super::command::{Command, OurCommand};
use super::entry::{self, COMMAND_KEYS, Field};
use super::text::{Problem, split_mark};

/// JSON as hosts read it: comments and trailing commas are let pass, nothing else is.
const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// Brings the entries of ours to what `agent` is to have: what it lacks is added, what is wrong in one is mended, one of each event
/// is kept, and none elsewhere.
///
/// # Errors
/// The first place at which the text is no JSON, or not what the agent expects.
pub(super) fn register(text: &str, agent: Agent, program: &str) -> Result<String, Problem> {
    let document = Document::parse(text)?;
    let hooks = document.hooks()?;
    let mut wanted = Vec::new();
    for (event, sources) in agent.events() {
        let list = hooks.as_ref().map(|hooks| document.list(hooks, event)).transpose()?.flatten();
        let ours: Vec<OurHandler> = list.iter().flat_map(our_handlers).collect();
        wanted.push((event, sources, ours));
    }
    if let Some(hooks) = &hooks {
        take_out_of(hooks, |event| agent.events().all(|(known, _)| known != event));
    }
    for (event, sources, ours) in wanted {
        let mut ours = ours.into_iter();
        match ours.next() {
            None => document.append(agent, event, element(agent, sources, new_handler(agent, program))),
            Some(kept) => {
                ours.for_each(OurHandler::remove);
                kept.mend(agent, program);
                if let Some(handler) = kept.put_right(agent, sources) {
                    document.append(agent, event, element(agent, sources, handler));
                }
            }
        }
    }
    Ok(document.text())
}

/// Takes out every entry of ours, and what held nothing else.
///
/// # Errors
/// As [`register`].
pub(super) fn unregister(text: &str) -> Result<String, Problem> {
    let document = Document::parse(text)?;
    if let Some(hooks) = document.hooks()?
        && take_out_of(&hooks, |_| true)
        && hooks.properties().is_empty()
    {
        document.remove_hooks();
    }
    Ok(document.text())
}

/// Takes our handlers out of these events, and the events that held nothing else. Returns whether there were any.
fn take_out_of(hooks: &CstObject, events: impl Fn(&str) -> bool) -> bool {
    let mut taken = false;
    for event in hooks.properties() {
        let Some(list) = event
            .array_value()
            .filter(|_| event.decoded_name().is_some_and(|name| events(&name)))
        else {
            continue;
        };
        let ours = our_handlers(&list);
        if ours.is_empty() {
            continue;
        }
        taken = true;
        ours.into_iter().for_each(OurHandler::remove);
        if list.elements().is_empty() {
            event.remove();
        }
    }
    taken
}

/// The values of a text. Numbers are left out: nobody asks for one.
///
/// # Errors
/// The first place at which the text is no JSON.
pub(super) fn values(text: &str) -> Result<Value, Problem> {
    let document = Document::parse(text)?;
    Ok(document.root.value().map(|root| value(&root)).unwrap_or_default())
}

fn value(node: &CstNode) -> Value {
    if let Some(object) = node.as_object() {
        let members = object.properties().into_iter();
        let members = members.filter_map(|member| Some((member.decoded_name()?, value(&member.value()?))));
        Value::Object(members.collect())
    } else if let Some(list) = node.as_array() {
        Value::Array(list.elements().iter().map(value).collect())
    } else if let Some(text) = node.as_string_lit() {
        text.decoded_value().ok().into()
    } else if let Some(number) = node.as_number_lit() {
        serde_json::from_str(&number.to_string()).unwrap_or_default()
    } else {
        node.as_boolean_lit().map(|flag| flag.value()).into()
    }
}

/// The handlers of a group; `None` where the element of an event's list is a handler itself.
fn group_of(element: &CstNode) -> Option<CstArray> {
    element.as_object()?.array_value("hooks")
}

fn our_handlers(list: &CstArray) -> Vec<OurHandler> {
    let handlers = list.elements().into_iter().flat_map(|element| match group_of(&element) {
        Some(group) => group
            .elements()
            .into_iter()
            .map(|handler| (handler, Some(element.clone())))
            .collect(),
        None => vec![(element, None)],
    });
    handlers
        .filter_map(|(handler, group)| OurHandler::of(&handler, group))
        .collect()
}

/// A handler that runs our hook.
struct OurHandler {
    object: CstObject,
    /// The group that it stands in, if it does.
    group: Option<CstNode>,
    property: CstObjectProp,
    command: OurCommand,
}

impl OurHandler {
    fn of(node: &CstNode, group: Option<CstNode>) -> Option<Self> {
        let object = node.as_object()?;
        let (key, property) = COMMAND_KEYS.into_iter().find_map(|key| Some((key, object.get(key)?)))?;
        let text = property.value()?.as_string_lit()?.decoded_value().ok()?;
        let words = |list: CstArray| {
            let words = list.elements().into_iter();
            words.filter_map(|word| word.as_string_lit()?.decoded_value().ok()).collect()
        };
        let arguments = object.array_value("args").map(words).or((key == "exec").then(Vec::new));
        Some(Self {
            command: OurCommand::read(&Command { text, arguments })?,
            object,
            group,
            property,
        })
    }

    /// Removes it, with its group where that holds nothing else.
    fn remove(self) {
        self.object.remove();
        if let Some(group) = self.group
            && group_of(&group).is_some_and(|handlers| handlers.elements().is_empty())
        {
            group.remove();
        }
    }

    /// Gives it the path `program`, its agent's name and a time limit that does.
    fn mend(&self, agent: Agent, program: &str) {
        if let Some(Command { text, arguments }) = self.command.mended(program, agent) {
            if self
                .property
                .value()
                .and_then(|value| value.as_string_lit()?.decoded_value().ok())
                .as_ref()
                != Some(&text)
            {
                self.property.set_value(text.into());
            }
            if let Some(arguments) = arguments {
                self.set_arguments(arguments);
            }
        }
        let own = agent
            .registration()
            .timeout
            .as_ref()
            .and_then(|limit| self.object.get(limit.key));
        let limit = own.as_ref().and_then(|property| value(&property.value()?).as_f64());
        if let (Some(property), Some(longer)) = (own, limit.and_then(|limit| entry::longer_limit(agent, limit))) {
            property.set_value(longer.count.into());
        }
    }

    /// Changes only the words that are other ones, and so keeps the layout.
    fn set_arguments(&self, arguments: Vec<String>) {
        let Some(list) = self.object.array_value("args") else {
            if !arguments.is_empty() {
                self.object.append("args", arguments.into());
            }
            return;
        };
        let words = list.elements();
        if words.len() != arguments.len() || words.iter().any(|word| word.as_string_lit().is_none()) {
            list.replace_with(arguments.into());
            return;
        }
        for (word, argument) in words.into_iter().filter_map(|word| word.as_string_lit()).zip(arguments) {
            if word.decoded_value().as_ref() != Ok(&argument) {
                word.replace_with(argument.into());
            }
        }
    }

    /// Has its group be run for `sources`, where it is not. Where that is not for us to change, since others stand there as well, or it
    /// stands where its host does not look, it is removed, and what it says is returned.
    fn put_right(self, agent: Agent, sources: &[&str]) -> Option<CstInputValue> {
        let matcher = self.group.as_ref().and_then(|group| group.as_object()?.get("matcher"));
        let text = matcher
            .as_ref()
            .and_then(|matcher| matcher.value()?.as_string_lit()?.decoded_value().ok());
        let is_run = sources.iter().all(|source| entry::is_run_for(text.as_deref(), source));
        let is_in_place = self.group.is_some() == agent.registration().grouped;
        if is_in_place && is_run {
            return None;
        }
        let is_alone = self
            .group
            .as_ref()
            .and_then(group_of)
            .is_some_and(|group| group.elements().len() == 1);
        if let (true, true, Some(property), Some(matcher)) = (is_in_place, is_alone, matcher, entry::matcher(sources)) {
            property.set_value(matcher.into());
            return None;
        }
        let members = self.object.properties().into_iter();
        let members = members.filter_map(|member| Some((member.decoded_name()?, again(&member.value()?))));
        let handler = members.filter(|(name, _)| name != "matcher").collect();
        self.remove();
        Some(CstInputValue::Object(handler))
    }
}

/// A value as it is to be written again.
fn again(node: &CstNode) -> CstInputValue {
    if let Some(object) = node.as_object() {
        let members = object.properties().into_iter();
        let members = members.filter_map(|member| Some((member.decoded_name()?, again(&member.value()?))));
        CstInputValue::Object(members.collect())
    } else if let Some(list) = node.as_array() {
        CstInputValue::Array(list.elements().iter().map(again).collect())
    } else if let Some(text) = node.as_string_lit() {
        CstInputValue::String(text.decoded_value().unwrap_or_default())
    } else if let Some(number) = node.as_number_lit() {
        CstInputValue::Number(number.to_string())
    } else {
        node.as_boolean_lit()
            .map_or(CstInputValue::Null, |flag| CstInputValue::Bool(flag.value()))
    }
}

fn new_handler(agent: Agent, program: &str) -> CstInputValue {
    let fields = entry::handler(agent, program).into_iter();
    CstInputValue::Object(fields.map(|(key, field)| (key.to_owned(), input(field))).collect())
}

/// What is added to an event's list for a handler.
fn element(agent: Agent, sources: &[&str], handler: CstInputValue) -> CstInputValue {
    if !agent.registration().grouped {
        return handler;
    }
    let matcher = entry::matcher(sources).map(|matcher| ("matcher".to_owned(), matcher.into()));
    let hooks = ("hooks".to_owned(), CstInputValue::Array(vec![handler]));
    CstInputValue::Object(matcher.into_iter().chain([hooks]).collect())
}

fn input(field: Field) -> CstInputValue {
    match field {
        Field::Text(text) => text.into(),
        Field::Words(words) => words.into(),
        Field::Number(number) => number.into(),
    }
}

/// A text as a tree that keeps every byte of it.
struct Document<'a> {
    mark: &'a str,
    body: &'a str,
    root: CstRootNode,
}

impl<'a> Document<'a> {
    fn parse(text: &'a str) -> Result<Self, Problem> {
        let (mark, body) = split_mark(text);
        let root = CstRootNode::parse(body, &OPTIONS)
            .map_err(|error| Problem::at(body, error.range().start, error.kind().to_string().to_lowercase()))?;
        let document = Self { mark, body, root };
        match document.root.value() {
            Some(value) if value.as_object().is_none() => Err(document.problem(&value, "the file holds no object")),
            _ => Ok(document),
        }
    }

    /// The object of all hooks; `None` where there is none.
    fn hooks(&self) -> Result<Option<CstObject>, Problem> {
        let Some(root) = self.root.object_value() else {
            return Ok(None);
        };
        self.only(&root, "hooks")?
            .map(|hooks| {
                hooks
                    .as_object()
                    .ok_or_else(|| self.problem(&hooks, "\"hooks\" is no object"))
            })
            .transpose()
    }

    /// The list of an event; `None` where there is none.
    fn list(&self, hooks: &CstObject, event: &str) -> Result<Option<CstArray>, Problem> {
        self.only(hooks, event)?
            .map(|list| {
                list.as_array()
                    .ok_or_else(|| self.problem(&list, &format!("\"{event}\" is no list")))
            })
            .transpose()
    }

    /// The value of a property. One that stands twice is refused: readers differ in which they take.
    fn only(&self, object: &CstObject, name: &str) -> Result<Option<CstNode>, Problem> {
        let named = object
            .properties()
            .into_iter()
            .filter(|property| property.decoded_name().as_deref() == Some(name));
        let mut values = named.filter_map(|property| property.value());
        let first = values.next();
        match values.next() {
            Some(second) => Err(self.problem(&second, &format!("\"{name}\" stands there twice"))),
            None => Ok(first),
        }
    }

    /// Adds to the list of an event, which is made where it is missing, as all above it.
    fn append(&self, agent: Agent, event: &str, element: CstInputValue) {
        let root = self.root.object_value_or_set();
        if let Some(version) = agent.registration().version
            && root.get("version").is_none()
        {
            root.append("version", version.into());
        }
        root.object_value_or_set("hooks").array_value_or_set(event).append(element);
    }

    fn remove_hooks(&self) {
        if let Some(hooks) = self.root.object_value().and_then(|root| root.get("hooks")) {
            hooks.remove();
        }
    }

    fn text(&self) -> String {
        format!("{}{}", self.mark, self.root)
    }

    /// What is wrong at a node of the text as it was read.
    fn problem(&self, node: &CstNode, what: &str) -> Problem {
        Problem::at(self.body, offset(node), what)
    }
}

/// The byte at which a node begins.
fn offset(node: &CstNode) -> usize {
    let before: usize = node.previous_siblings().map(|sibling| sibling.to_string().len()).sum();
    before + node.parent().map_or(0, |parent| offset(&parent.into()))
}

#[cfg(test)]
mod tests;
