//! The hook's command line. Arguments and `$REMEMBRANCER_BUDGET` come in, an [`Invocation`] goes out.
//!
//! Nothing here fails: a hook that complains would stand in the way of the prompt. What can't be read is passed over.

use std::ffi::OsString;
use std::time::Duration;

use crate::agent::Agent;
use crate::clock::BUDGET;

/// The shortest budget that leaves time for an answer; a shorter one is raised to it.
pub(crate) const MIN_BUDGET: Duration = Duration::from_millis(20);

/// What the command line asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Invocation {
    /// Print how to use the hook.
    Help,
    /// Print the version.
    Version,
    /// Answer the payload on stdin; without an agent, an agent is named that nobody here knows, and nothing is said.
    Answer {
        /// Whose hook this is.
        agent: Option<Agent>,
        /// From the hook's start to its exit.
        budget: Duration,
    },
}

/// Reads the arguments after the program's name. `--budget` goes before the variable, a later argument before an earlier one.
pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>, budget_variable: Option<OsString>) -> Invocation {
    let mut agent = Some(Agent::CLAUDE_CODE);
    let mut budget = budget_variable.and_then(|text| parse_budget(&text.to_string_lossy()));
    let mut rest = arguments.into_iter().map(|argument| argument.to_string_lossy().into_owned());
    while let Some(argument) = rest.next() {
        let (name, inline_value) = match argument.split_once('=') {
            Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
            None => (argument, None),
        };
        match name.as_str() {
            "--help" | "-h" => return Invocation::Help,
            "--version" | "-V" => return Invocation::Version,
            "--agent" => agent = inline_value.or_else(|| rest.next()).and_then(|id| Agent::parse(&id)),
            "--budget" => {
                budget = inline_value
                    .or_else(|| rest.next())
                    .and_then(|text| parse_budget(&text))
                    .or(budget);
            }
            _ => {}
        }
    }
    Invocation::Answer {
        agent,
        budget: budget.unwrap_or(BUDGET),
    }
}

/// Reads `200ms` or `0.2s`, held between [`MIN_BUDGET`] and [`BUDGET`]. A bare number has no unit and is refused.
///
/// The upper bound keeps the hook's own limit below that of any host, whose shortest is one second.
fn parse_budget(text: &str) -> Option<Duration> {
    let text = text.trim();
    let (number, unit_in_seconds) = match text.strip_suffix("ms") {
        Some(number) => (number, 0.001),
        None => (text.strip_suffix('s')?, 1.0),
    };
    let seconds = number.trim_end().parse::<f64>().ok()? * unit_in_seconds;
    Some(Duration::try_from_secs_f64(seconds).ok()?.clamp(MIN_BUDGET, BUDGET))
}

/// The text of `--help`.
pub(crate) fn help() -> String {
    let agents: Vec<&str> = Agent::ALL.iter().map(|agent| agent.id()).collect();
    let agents = agents.join(", ");
    format!(
        "Gives the prompt on stdin to the remembrancer daemon and prints what it recalls.\n\
         \n\
         Usage: remembrancer-hook [--agent NAME] [--budget TIME]\n\
         \n\
         Options:\n\
         \x20 --agent NAME   whose hook this is: {agents} [default: {default_agent}]\n\
         \x20 --budget TIME  from start to exit, with its unit, from {shortest}ms to {longest}ms [default: {longest}ms]\n\
         \x20 --version      print the version\n\
         \x20 --help         print this text\n\
         \n\
         Environment: REMEMBRANCER_BUDGET (as --budget), REMEMBRANCER_SOCKET (the daemon's socket),\n\
         REMEMBRANCER_GUARD=1 (say nothing, and keep this session out of the memory)\n",
        default_agent = Agent::CLAUDE_CODE.id(),
        shortest = MIN_BUDGET.as_millis(),
        longest = BUDGET.as_millis(),
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn invocation(arguments: &[&str], variable: Option<&str>) -> Invocation {
        parse(arguments.iter().map(OsString::from), variable.map(OsString::from))
    }

    #[rstest]
    #[case::nothing(&[], None, Some(Agent::CLAUDE_CODE), 240)]
    #[case::agent(&["--agent", "codex"], None, Some(Agent::CODEX), 240)]
    #[case::agent_inline(&["--agent=claude-code"], None, Some(Agent::CLAUDE_CODE), 240)]
    #[case::unknown_agent(&["--agent", "../../x"], None, None, 240)]
    #[case::agent_without_value(&["--agent"], None, None, 240)]
    #[case::budget(&["--budget", "200ms"], None, Some(Agent::CLAUDE_CODE), 200)]
    #[case::budget_inline(&["--budget=0.1s"], None, Some(Agent::CLAUDE_CODE), 100)]
    #[case::variable(&[], Some("150ms"), Some(Agent::CLAUDE_CODE), 150)]
    #[case::argument_before_variable(&["--budget", "200ms"], Some("150ms"), Some(Agent::CLAUDE_CODE), 200)]
    #[case::bare_number_is_refused(&["--budget", "200"], None, Some(Agent::CLAUDE_CODE), 240)]
    #[case::refused_argument_leaves_the_variable(&["--budget", "soon"], Some("150ms"), Some(Agent::CLAUDE_CODE), 150)]
    #[case::too_long_is_clamped(&["--budget", "30s"], None, Some(Agent::CLAUDE_CODE), 240)]
    #[case::too_short_is_raised(&["--budget", "0ms"], None, Some(Agent::CLAUDE_CODE), 20)]
    #[case::negative(&["--budget", "-5ms"], None, Some(Agent::CLAUDE_CODE), 240)]
    #[case::not_a_number(&["--budget", "NaNms"], None, Some(Agent::CLAUDE_CODE), 240)]
    #[case::unknown_argument(&["--loud", "word"], None, Some(Agent::CLAUDE_CODE), 240)]
    fn arguments_and_variable(
        #[case] arguments: &[&str],
        #[case] variable: Option<&str>,
        #[case] agent: Option<Agent>,
        #[case] budget_ms: u64,
    ) {
        let expected = Invocation::Answer {
            agent,
            budget: Duration::from_millis(budget_ms),
        };
        assert_eq!(invocation(arguments, variable), expected);
    }

    #[test]
    fn help_and_version_go_before_everything() {
        assert_eq!(invocation(&["--agent", "codex", "--help"], None), Invocation::Help);
        assert_eq!(invocation(&["--version", "--help"], None), Invocation::Version);
        assert!(help().contains("claude-code, codex"));
    }

    proptest! {
        #[test]
        fn tc_24_any_arguments_give_a_budget_within_bounds(arguments in proptest::collection::vec(".*", 0..6), variable in ".*") {
            let parsed = parse(arguments.into_iter().map(OsString::from), Some(OsString::from(variable)));
            if let Invocation::Answer { budget, .. } = parsed {
                prop_assert!((MIN_BUDGET..=BUDGET).contains(&budget));
            }
        }
    }
}
