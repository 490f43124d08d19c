//! The coding agents that run the hook, in one table: which of their events we answer, and what they read on stdout. One small
//! module an agent.
//!
//! What differs between hosts stands here and nowhere else, as data: events, machine text, limits, output, settings.

mod claude_code;
mod codex;
mod copilot_cli;
mod cursor;
mod gemini_cli;
mod host_side;
mod limits;
mod machine_text;
mod opencode;
mod qwen_code;
mod registration;

use std::fmt;
use std::time::Duration;

use serde_json::Value;

pub use host_side::{Firing, HostSide, OffSwitch, PluginSign};
use limits::{Limits, Room};
use machine_text::MachineText;
pub use registration::{CommandForm, Registration, TimeLimit};

/// A coding agent that runs the hook.
#[derive(Clone, Copy)]
pub struct Agent(&'static Host);

/// How an agent runs hooks.
pub(crate) struct Host {
    /// The name on the command line, on the wire and in the recollection file's name; the parser of its transcripts has the same.
    pub(crate) id: &'static str,
    /// What is done at which event, by the event's name as the host writes it on stdin.
    pub(crate) events: &'static [(&'static str, Act)],
    /// What stands in a prompt's place and is no person's.
    pub(crate) machine_text: MachineText,
    /// How much it shows, and how long it waits.
    pub(crate) limits: Limits,
    /// What adds a context at an event; one JSON object.
    pub(crate) output: fn(event: &str, context: &str) -> Option<String>,
    /// How its settings are told to run the hook.
    pub(crate) registration: Registration,
    /// How it runs the hook.
    pub(crate) running: HostSide,
}

/// What the hook does at an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    /// A prompt was submitted: ask what fits it.
    Recall,
    /// A session begins or goes on: ask what fits it, where its source is one of these (empty: whatever the source).
    Start(&'static [&'static str]),
    /// The transcript has grown: have it read at once. Nothing is printed.
    Changed,
}

impl Agent {
    /// Anthropic's Claude Code.
    pub const CLAUDE_CODE: Self = Self(&claude_code::HOST);
    /// `OpenAI`'s Codex CLI.
    pub const CODEX: Self = Self(&codex::HOST);

    /// Every agent, in the order in which `--help` names them.
    pub const ALL: &[Self] = &[
        Self::CLAUDE_CODE,
        Self::CODEX,
        Self(&gemini_cli::HOST),
        Self(&qwen_code::HOST),
        Self(&cursor::HOST),
        Self(&copilot_cli::HOST),
        Self(&opencode::HOST),
    ];

    /// The name on the command line, on the wire and in the recollection file's name.
    pub fn id(self) -> &'static str {
        self.0.id
    }

    /// Finds the agent with this [`id`](Self::id).
    pub fn parse(id: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|agent| agent.id() == id)
    }

    /// How the agent's own settings are told to run the hook.
    pub fn registration(self) -> &'static Registration {
        &self.0.registration
    }

    /// How long the host waits for a hook whose settings name no time limit; `None` where that is not documented.
    pub fn patience(self) -> Option<Duration> {
        self.0.limits.patience
    }

    /// The events at which the hook is to be run, each with the sources for which it is (none: for all).
    pub fn events(self) -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
        self.0.events.iter().map(|(event, act)| match act {
            Act::Start(sources) => (*event, *sources),
            Act::Recall | Act::Changed => (*event, &[][..]),
        })
    }

    /// How the agent runs the hook, to play its part.
    pub fn host_side(self) -> &'static HostSide {
        &self.0.running
    }

    /// The first event at which it is given a context.
    pub fn answered_event(self) -> Option<&'static str> {
        let answered = self.0.events.iter().find(|(_, act)| *act != Act::Changed);
        answered.map(|(event, _)| *event)
    }

    /// Whether what is typed comes with an event; at a session's start it does not.
    pub fn tells_prompt(self, event: &str) -> bool {
        self.act(event) == Some(Act::Recall)
    }

    /// What the agent writes on the hook's stdin.
    pub fn payload(self, firing: &Firing<'_>) -> String {
        (self.0.running.payload)(firing).to_string()
    }

    /// The context that the agent takes from what a hook wrote to stdout: `None` where it is not one object of its shape, of which it
    /// would refuse or pass over the rest.
    pub fn context_in(self, event: &str, stdout: &str) -> Option<String> {
        let object: Value = serde_json::from_str(stdout).ok()?;
        let context = object.pointer(self.0.running.context_at)?.as_str()?;
        let expected: Value = serde_json::from_str(&self.output(event, context)?).ok()?;
        (object == expected).then(|| context.to_owned())
    }

    /// What is done at an event of this name; `None` where nothing is.
    pub(crate) fn act(self, event: &str) -> Option<Act> {
        let (_, act) = self.0.events.iter().find(|(name, _)| *name == event)?;
        Some(*act)
    }

    /// Whether a prompt is the client's or another agent's, and not a person's.
    pub(crate) fn is_machine_text(self, prompt: &str) -> bool {
        self.0.machine_text.is_all_of(prompt)
    }

    /// Whether the host shows the whole of a context.
    pub(crate) fn has_room_for(self, context: &str) -> bool {
        self.0.limits.room.holds(context)
    }

    /// What the host reads on stdout to add a context at an event.
    pub(crate) fn output(self, event: &str, context: &str) -> Option<String> {
        (self.0.output)(event, context)
    }
}

impl PartialEq for Agent {
    fn eq(&self, other: &Self) -> bool {
        self.id() == other.id()
    }
}

impl Eq for Agent {}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::BUDGET;
    use crate::output::MAX_CONTEXT_CHARS;
    use crate::payload::Payload;

    #[test]
    fn every_id_parses_to_its_agent() {
        for agent in Agent::ALL {
            assert_eq!(Agent::parse(agent.id()), Some(*agent));
        }
        assert_eq!(Agent::parse("Claude-Code"), None);
    }

    #[test]
    fn what_each_agent_writes_is_understood() {
        for agent in Agent::ALL {
            let event = agent.answered_event().unwrap();
            let payload = agent.payload(&Firing {
                event,
                session: "s-1",
                cwd: "/home/ada",
                prompt: "why?",
            });
            let read = Payload::parse(payload.as_bytes(), *agent).unwrap();
            assert_eq!((read.session.as_str(), read.cwd.as_deref()), ("s-1", Some("/home/ada")));
            let prompt = if agent.tells_prompt(event) { "why?" } else { "" };
            assert_eq!(read.prompt, prompt, "{agent:?}");
        }
    }

    #[test]
    fn every_agent_s_settings_are_its_own() {
        let mut names: Vec<&str> = Agent::ALL.iter().map(|agent| agent.registration().name).collect();
        let mut folders: Vec<&str> = Agent::ALL.iter().map(|agent| agent.registration().folder).collect();
        for list in [&mut names, &mut folders] {
            list.sort_unstable();
            list.dedup();
            assert_eq!(list.len(), Agent::ALL.len(), "{list:?}");
        }
    }

    #[test]
    fn our_limits_are_below_every_host_s() {
        for agent in Agent::ALL {
            assert!(agent.has_room_for(&"x".repeat(MAX_CONTEXT_CHARS)), "{agent:?}: room");
            if let Some(patience) = agent.patience() {
                assert!(BUDGET < patience, "{agent:?}: time");
            }
            if let Some(limit) = &agent.registration().timeout {
                let own = limit.duration();
                assert!(
                    BUDGET < own && agent.patience().is_none_or(|patience| own < patience),
                    "{agent:?}: {own:?}"
                );
            }
        }
    }

    #[test]
    fn every_agent_is_answered_at_an_event_and_prints_one_object() {
        for agent in Agent::ALL {
            let event = agent.answered_event().expect("an event that is answered");
            let context = "a \"quoted\"\nline";
            let printed = agent.output(event, context).unwrap();
            assert_eq!(agent.context_in(event, &printed).as_deref(), Some(context));
            let is_same = agent.output("another", context).as_ref() == Some(&printed);
            assert_eq!(agent.context_in("another", &printed).is_some(), is_same, "{agent:?}");
            for other in [
                "",
                "a context",
                "{}",
                &printed.replacen('{', "{\"note\":1,", 1),
                &printed.repeat(2),
            ] {
                assert_eq!(agent.context_in(event, other), None, "{other}");
            }
        }
    }
}
