//! What is odd in the public transcripts of Kimi, and what comes of it. The numbers are those of `formats/ODDITIES.md`. The
//! samples lie flat and under other names: they are read as if they lay where Kimi writes them.

use std::path::Path;

use remembrancer_processor::ingest::Advance;
use remembrancer_schema::Origin;

use super::shared::{Sample, Transcripts};

/// Logs as those of an agent in a session, beside the session's own file.
fn logs(end: &str, agent: &str, state: &str) -> Vec<Sample> {
    let kimi = Transcripts::of("kimi", "kimi");
    let place = format!("/home/ada/.kimi-code/sessions/wd_x/session_1/agents/{agent}/wire.jsonl");
    let state_of = |path: &Path| {
        let state = kimi.files(state).into_iter().next()?;
        path.ends_with("session_1/state.json").then(|| kimi.content(&state))?
    };
    let log = |file: &String| Some(kimi.sample(Path::new(&place), kimi.content(file)?, &state_of));
    kimi.files(end).iter().filter_map(log).collect()
}

/// Every log.
pub(crate) fn samples() -> Vec<Sample> {
    [
        logs("/small.jsonl", "main", "/state.json"),
        logs("/assistant_tools.jsonl", "main", "/assistant_tools.state.json"),
        logs("/subagent_agent-0.jsonl", "agent-0", "/assistant_tools.state.json"),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn read(end: &str, agent: &str, state: &str) -> Vec<Advance> {
    logs(end, agent, state).iter().map(Sample::read).collect()
}

#[test]
fn oddity_59_the_agents_loop_is_read_and_what_the_client_injects_is_not() {
    for advance in read("/assistant_tools.jsonl", "main", "/assistant_tools.state.json") {
        assert_eq!(advance.problems, []);
        assert_eq!(advance.turns.len(), 6, "three greetings that nothing came of are one prompt");
        let told = format!("{:?}", advance.turns);
        for machine in [
            "system-reminder",
            "handoff note",
            "I should respond concisely",
            "You are Kimi",
        ] {
            assert!(!told.contains(machine), "{machine}");
        }
        let errors: Vec<String> = advance.turns.iter().flat_map(|turn| turn.facets().errors).collect();
        assert!(
            errors.iter().any(|line| line.contains("No such file or directory")),
            "{errors:?}"
        );
        assert!(advance.turns.iter().all(|turn| turn.session == "session_1"));
        let cwd = Some("/private/tmp/as-agent-lab/kimi/project");
        assert!(advance.turns.iter().all(|turn| turn.cwd.as_deref() == cwd));
    }
}

#[test]
fn oddity_59_records_without_a_time_are_read() {
    for advance in read("/small.jsonl", "main", "/state.json") {
        assert_eq!(advance.problems, []);
        let prompts: Vec<&str> = advance.turns.iter().map(|turn| turn.prompt.as_str()).collect();
        assert_eq!(prompts, ["hi", "stop", "hi"], "each once, where the person typed it");
        assert_eq!(advance.turns[0].started_at.0, 1_784_950_605_093);
    }
}

#[test]
fn oddity_59_a_subagents_log_is_a_subagents() {
    for advance in read("/subagent_agent-0.jsonl", "agent-0", "/assistant_tools.state.json") {
        let [turn] = advance.turns.as_slice() else {
            panic!("one turn: {:?}", advance.turns)
        };
        assert_eq!((turn.origin, turn.session.as_str()), (Origin::Subagent, "session_1"));
        assert!(!turn.answer().is_empty() && !turn.prompt.contains("git-context"));
    }
}
