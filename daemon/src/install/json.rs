//! The hook in settings in JSON, comments and trailing commas allowed. The text comes in, the edited text goes out; comments, order,
//! indentation, line ends and the entries of others stay.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use remembrancer_hooks::Agent;
use serde_json::Value;

use super::entry::{self, COMMAND_KEYS, Field, OurCommand};
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

/// Adds what `agent` lacks of its entries, and gives those that are there the path `program`.
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
    for (event, sources, ours) in wanted {
        if ours.is_empty() {
            document.append(agent, event, element(agent, sources, program));
        }
        for handler in ours {
            if let Some(moved) = handler.moved_to(program) {
                handler.property.set_value(moved.into());
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
    if let Some(hooks) = document.hooks()? {
        let mut taken = false;
        for event in hooks.properties() {
            let Some(list) = event.array_value() else { continue };
            if take_out(&list) {
                taken = true;
                if list.elements().is_empty() {
                    event.remove();
                }
            }
        }
        if taken && hooks.properties().is_empty() {
            document.remove_hooks();
        }
    }
    Ok(document.text())
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

/// Takes our handlers out of an event's list, and the groups that held nothing else. Returns whether there were any.
fn take_out(list: &CstArray) -> bool {
    let mut taken = false;
    for element in list.elements() {
        let Some(group) = group_of(&element) else {
            if OurHandler::of(&element).is_some() {
                taken = true;
                element.remove();
            }
            continue;
        };
        let ours: Vec<CstNode> = group
            .elements()
            .into_iter()
            .filter(|handler| OurHandler::of(handler).is_some())
            .collect();
        if ours.is_empty() {
            continue;
        }
        taken = true;
        for handler in ours {
            handler.remove();
        }
        if group.elements().is_empty() {
            element.remove();
        }
    }
    taken
}

/// The handlers of a group; `None` where the element of an event's list is a handler itself.
fn group_of(element: &CstNode) -> Option<CstArray> {
    element.as_object()?.array_value("hooks")
}

fn our_handlers(list: &CstArray) -> Vec<OurHandler> {
    let handlers = list.elements().into_iter().flat_map(|element| match group_of(&element) {
        Some(group) => group.elements(),
        None => vec![element],
    });
    handlers.filter_map(|handler| OurHandler::of(&handler)).collect()
}

/// A handler that runs our hook.
struct OurHandler {
    property: CstObjectProp,
    command: String,
    direct: bool,
}

impl OurHandler {
    fn of(node: &CstNode) -> Option<Self> {
        let object = node.as_object()?;
        let (key, property) = COMMAND_KEYS.into_iter().find_map(|key| Some((key, object.get(key)?)))?;
        let handler = Self {
            command: property.value()?.as_string_lit()?.decoded_value().ok()?,
            property,
            direct: key == "exec" || object.get("args").is_some(),
        };
        OurCommand::read(&handler.command, handler.direct)?;
        Some(handler)
    }

    fn moved_to(&self, program: &str) -> Option<String> {
        OurCommand::read(&self.command, self.direct)?.moved_to(program)
    }
}

/// What is added to an event's list.
fn element(agent: Agent, sources: &[&str], program: &str) -> CstInputValue {
    let fields = entry::handler(agent, program).into_iter();
    let handler = CstInputValue::Object(fields.map(|(key, field)| (key.to_owned(), input(field))).collect());
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
