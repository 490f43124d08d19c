//! A tool's arguments: one table says what they are, by which the schema is told and what a client sends is checked. What is not in the
//! table is refused by its name, so that a misspelt limit is no limit that goes unheard.

use std::sync::Arc;

use remembrancer_processor::ingest::Agent;
use rmcp::model::JsonObject;
use serde_json::{Map, Value, json};

/// What an argument may be.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// A text that is not empty, of at most so many characters.
    Text(usize),
    /// A whole number.
    Number(u32, u32),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// The name of an agent that is read.
    Agent,
    /// True or false.
    Flag,
}

/// An argument of a tool.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parameter {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// For a language model: what it means, and when to give it.
    pub(super) about: &'static str,
    pub(super) is_required: bool,
}

impl Parameter {
    pub(super) const fn new(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self {
            name,
            kind,
            about,
            is_required: false,
        }
    }

    pub(super) const fn required(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self {
            name,
            kind,
            about,
            is_required: true,
        }
    }

    fn schema(&self) -> Value {
        let mut schema = match self.kind {
            Kind::Text(most) => json!({"type": "string", "minLength": 1, "maxLength": most}),
            Kind::Number(least, most) => json!({"type": "integer", "minimum": least, "maximum": most}),
            Kind::Choice(words) => json!({"type": "string", "enum": words}),
            Kind::Agent => json!({"type": "string", "enum": agents()}),
            Kind::Flag => json!({"type": "boolean"}),
        };
        schema["description"] = self.about.into();
        schema
    }

    /// What is wrong with `value`, if anything is.
    fn problem(&self, value: &Value) -> Option<String> {
        let one_of = |words: &[&str]| {
            let is_one = value.as_str().is_some_and(|word| words.contains(&word));
            (!is_one).then(|| format!("is one of {}", words.join(", ")))
        };
        match self.kind {
            Kind::Text(most) => match value.as_str() {
                Some(text) if text.trim().is_empty() => Some("is empty".to_owned()),
                Some(text) if text.chars().count() > most => {
                    Some(format!("has {} characters, and may have {most}", text.chars().count()))
                }
                Some(_) => None,
                None => Some("is a string".to_owned()),
            },
            Kind::Number(least, most) => {
                let fits = whole(value).is_some_and(|number| (u64::from(least)..=u64::from(most)).contains(&number));
                (!fits).then(|| format!("is a whole number from {least} to {most}"))
            }
            Kind::Choice(words) => one_of(words),
            Kind::Agent => one_of(&agents()),
            Kind::Flag => (!value.is_boolean()).then(|| "is true or false".to_owned()),
        }
    }
}

fn agents() -> Vec<&'static str> {
    Agent::ALL.iter().map(|agent| agent.id()).collect()
}

/// A whole number, however JSON spells it: `10.0` is one by JSON Schema.
fn whole(value: &Value) -> Option<u64> {
    let of_fraction = || {
        value
            .as_f64()
            .filter(|number| number.fract() == 0.0 && (0.0..1e15).contains(number))
    };
    value.as_u64().or_else(|| of_fraction().map(|number| number as u64))
}

/// The schema of all arguments of a tool.
pub(super) fn schema(parameters: &[Parameter]) -> Arc<JsonObject> {
    let properties: Map<String, Value> = parameters
        .iter()
        .map(|parameter| (parameter.name.to_owned(), parameter.schema()))
        .collect();
    let required: Vec<Value> = parameters
        .iter()
        .filter(|parameter| parameter.is_required)
        .map(|parameter| parameter.name.into())
        .collect();
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties.into());
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    schema.insert("additionalProperties".to_owned(), false.into());
    Arc::new(schema)
}

/// Arguments that fit a tool's table.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Arguments(Map<String, Value>);

impl Arguments {
    /// Checks what a client sent against the table. A null is as if it were not there.
    ///
    /// # Errors
    /// In words, with the argument's name.
    pub(super) fn check(tool: &str, parameters: &[Parameter], given: Option<JsonObject>) -> Result<Self, String> {
        let mut given = given.unwrap_or_default();
        given.retain(|_, value| !value.is_null());
        let names = || {
            parameters
                .iter()
                .map(|parameter| parameter.name)
                .collect::<Vec<_>>()
                .join(", ")
        };
        if let Some(unknown) = given.keys().find(|name| parameters.iter().all(|known| known.name != **name)) {
            let unknown: String = unknown.chars().take(64).collect();
            return Err(format!("{tool} has no argument {unknown:?}; its arguments are {}", names()));
        }
        for parameter in parameters {
            let name = parameter.name;
            match given.get(name) {
                None if parameter.is_required => return Err(format!("{tool} needs the argument {name:?}")),
                None => {}
                Some(value) => {
                    if let Some(problem) = parameter.problem(value) {
                        return Err(format!("the argument {name:?} of {tool} {problem}"));
                    }
                }
            }
        }
        Ok(Self(given))
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }

    pub(super) fn number(&self, name: &str) -> Option<u32> {
        self.0.get(name).and_then(whole).and_then(|number| number.try_into().ok())
    }

    pub(super) fn flag(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or_default()
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Without one of them.
    pub(super) fn without(&self, name: &str) -> Self {
        let mut rest = self.clone();
        rest.0.remove(name);
        rest
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const TABLE: [Parameter; 5] = [
        Parameter::required("query", Kind::Text(10), "what"),
        Parameter::new("limit", Kind::Number(1, 20), "how many"),
        Parameter::new("mode", Kind::Choice(&["lexical", "semantic"]), "by what"),
        Parameter::new("agent", Kind::Agent, "whose"),
        Parameter::new("everywhere", Kind::Flag, "where"),
    ];

    fn check(given: &Value) -> Result<Arguments, String> {
        Arguments::check("search", &TABLE, given.as_object().cloned())
    }

    #[rstest]
    #[case::least(json!({"query": "x"}))]
    #[case::all(json!({"query": "0123456789", "limit": 20, "mode": "lexical", "agent": "codex", "everywhere": true}))]
    #[case::nulls(json!({"query": "x", "limit": null, "agent": null}))]
    #[case::wide_letters(json!({"query": "日本語日本語日本語日"}))]
    #[case::whole_with_a_point(json!({"query": "x", "limit": 10.0}))]
    fn what_fits_is_taken(#[case] given: Value) {
        let taken = check(&given);
        assert!(taken.is_ok(), "{given}: {taken:?}");
    }

    #[rstest]
    #[case::missing(json!({}), r#"search needs the argument "query""#)]
    #[case::null(json!({"query": null}), r#"search needs the argument "query""#)]
    #[case::unknown(json!({"query": "x", "limt": 3}), r#"no argument "limt"; its arguments are query, limit, mode, agent, everywhere"#)]
    #[case::empty(json!({"query": " "}), "is empty")]
    #[case::long(json!({"query": "01234567890"}), "has 11 characters, and may have 10")]
    #[case::no_text(json!({"query": 7}), "is a string")]
    #[case::none(json!({"query": "x", "limit": 0}), "is a whole number from 1 to 20")]
    #[case::many(json!({"query": "x", "limit": 1e300}), "is a whole number from 1 to 20")]
    #[case::negative(json!({"query": "x", "limit": -1}), "is a whole number from 1 to 20")]
    #[case::part(json!({"query": "x", "limit": 1.5}), "is a whole number from 1 to 20")]
    #[case::number_as_text(json!({"query": "x", "limit": "3"}), "is a whole number from 1 to 20")]
    #[case::other_word(json!({"query": "x", "mode": "Lexical"}), "is one of lexical, semantic")]
    #[case::other_agent(json!({"query": "x", "agent": "ed"}), "claude-code")]
    #[case::no_flag(json!({"query": "x", "everywhere": "yes"}), "is true or false")]
    fn what_does_not_fit_is_refused_by_its_name(#[case] given: Value, #[case] said: &str) {
        let refused = check(&given).unwrap_err();
        assert!(refused.contains(said), "{given}: {refused}");
    }

    #[test]
    fn the_schema_says_what_is_checked() {
        let schema = schema(&TABLE);
        assert_eq!(schema["additionalProperties"], false);
        assert_eq!(schema["required"], json!(["query"]));
        assert_eq!(
            schema["properties"]["query"],
            json!({"type": "string", "minLength": 1, "maxLength": 10, "description": "what"})
        );
        assert_eq!(schema["properties"]["limit"]["maximum"], 20);
        assert_eq!(
            schema["properties"]["agent"]["enum"].as_array().unwrap().len(),
            Agent::ALL.len()
        );
    }

    #[test]
    fn what_was_taken_is_read_as_it_is_meant() {
        let taken = check(&json!({"query": "x", "limit": 10.0, "everywhere": true})).unwrap();
        assert_eq!((taken.text("query"), taken.number("limit")), (Some("x"), Some(10)));
        assert!(taken.flag("everywhere") && !taken.has("mode") && taken.has("limit"));
        assert_eq!(
            taken.without("everywhere"),
            check(&json!({"limit": 10.0, "query": "x"})).unwrap()
        );
    }
}
