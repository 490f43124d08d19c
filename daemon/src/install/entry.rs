//! One entry of ours in an agent's settings: what it says, and what of one that is there is wrong. An agent and the hook's path come in;
//! the handler's fields go out, free of any format. Which command is ours, `command` tells.

use remembrancer_hooks::clock::BUDGET;
use remembrancer_hooks::{Agent, CommandForm, TimeLimit};

use super::words::quoted;

/// The keys under which hosts look for a command.
pub(super) const COMMAND_KEYS: [&str; 3] = ["exec", "bash", "command"];

/// The value of a handler's field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Field {
    Text(String),
    Words(Vec<String>),
    Number(u32),
}

/// The fields of the handler that runs `program` for `agent`, in the order in which they are written.
pub(super) fn handler(agent: Agent, program: &str) -> Vec<(&'static str, Field)> {
    let registration = agent.registration();
    let mut fields = Vec::new();
    if registration.typed {
        fields.push(("type", Field::Text("command".to_owned())));
    }
    match registration.command {
        CommandForm::Direct => {
            fields.push(("command", Field::Text(program.to_owned())));
            fields.push(("args", Field::Words(vec!["--agent".to_owned(), agent.id().to_owned()])));
        }
        CommandForm::Shell(key) => {
            let line = format!("{} --agent {}", quoted(program), agent.id());
            fields.push((key, Field::Text(line)));
        }
    }
    let time_limit = registration.timeout.iter();
    fields.extend(time_limit.map(|limit| (limit.key, Field::Number(limit.count))));
    fields
}

/// The pattern of sources for which an event is wanted; `None` where it always is.
pub(super) fn matcher(sources: &[&str]) -> Option<String> {
    (!sources.is_empty()).then(|| sources.join("|"))
}

/// Whether an entry with this matcher is run for this source of its event. Of an expression that can't be told: it is taken to be meant
/// as it stands.
pub(super) fn is_run_for(matcher: Option<&str>, source: &str) -> bool {
    match matcher {
        None | Some("" | "*" | ".*") => true,
        Some(matcher) if is_expression(matcher) => true,
        Some(matcher) => matcher.split('|').any(|part| part.trim() == source),
    }
}

/// Whether a matcher is more than names with `|` between them.
pub(super) fn is_expression(matcher: &str) -> bool {
    let is_of_names = |c: char| c.is_alphanumeric() || c.is_whitespace() || "_-|".contains(c);
    !["", "*", ".*"].contains(&matcher) && !matcher.chars().all(is_of_names)
}

/// A limit of more units than this is long in any unit.
const LONGEST_LIMIT: f64 = 1e6;

/// The time limit that an entry is to have, where its own, `limit` of the host's units, ends the hook before its budget is over.
pub(crate) fn longer_limit(agent: Agent, limit: f64) -> Option<&'static TimeLimit> {
    let own = agent.registration().timeout.as_ref()?;
    (own.unit.mul_f64(limit.clamp(0.0, LONGEST_LIMIT)) < BUDGET).then_some(own)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::install::command::{Command, OurCommand};

    #[test]
    fn what_is_as_it_should_be_is_not_mended() {
        for agent in Agent::ALL {
            for program in ["/opt/r/remembrancer-hook", "/it's a \"place\"/remembrancer-hook"] {
                let mut command = Command {
                    text: String::new(),
                    arguments: None,
                };
                for (key, field) in handler(*agent, program) {
                    match field {
                        Field::Text(text) if COMMAND_KEYS.contains(&key) => command.text = text,
                        Field::Words(words) => command.arguments = Some(words),
                        _ => {}
                    }
                }
                let ours = OurCommand::read(&command).unwrap();
                assert_eq!((ours.mended(program, *agent), ours.breaches()), (None, &[][..]));
            }
        }
    }

    #[rstest]
    #[case::all(None, true)]
    #[case::empty(Some(""), true)]
    #[case::any(Some(".*"), true)]
    #[case::among_others(Some("startup|resume"), true)]
    #[case::another(Some("startup"), false)]
    #[case::an_expression(Some("^(compact|resume)$"), true)]
    #[case::an_expression_that_may_not(Some("start.*"), true)]
    fn a_matcher_names_sources(#[case] matcher: Option<&str>, #[case] expected: bool) {
        assert_eq!(is_run_for(matcher, "resume"), expected);
    }
}
