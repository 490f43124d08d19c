//! The arguments that narrow a look into the memory: project, agent and time.

use std::path::Path;

use clap::Args;
use remembrancer_hooks::protocol::Narrowing;
use remembrancer_processor::ingest::Agent;

use super::error::{CliError, Kind};
use super::selection::{When, when};
use super::surroundings::Surroundings;
use crate::clock;

/// What narrows; several hold together.
#[derive(Debug, Args)]
pub(super) struct NarrowingArguments {
    /// Of the project with this name, or of this folder.
    #[arg(long, value_name = "NAME|PATH")]
    project: Option<String>,
    /// Of this agent, such as claude-code or codex.
    #[arg(long, value_name = "NAME", value_parser = agent)]
    agent: Option<String>,
    /// Turns that began then or later: 2026-03-01, 2026-03-01T14:30 (local time), or 3d (three days ago).
    #[arg(long, value_name = "WHEN", value_parser = when)]
    since: Option<When>,
    /// Turns that began before then, written likewise.
    #[arg(long, value_name = "WHEN", value_parser = when)]
    until: Option<When>,
}

impl NarrowingArguments {
    /// What they come to.
    ///
    /// # Errors
    /// Where no time lies between its times, or a path can't be told.
    pub(super) fn narrowing(&self, surroundings: &Surroundings) -> Result<Narrowing, CliError> {
        let now = clock::now();
        let at = |when: &Option<When>| when.as_ref().map(|when| when.before(now)).transpose();
        let (since, until) = (at(&self.since)?, at(&self.until)?);
        if let (Some(since), Some(until)) = (since, until)
            && since >= until
        {
            return Err(CliError::new(
                Kind::Usage,
                "`--since` is not earlier than `--until`: no time lies between them",
            ));
        }
        Ok(Narrowing {
            project: self.project.as_deref().map(|name| project(name, surroundings)).transpose()?,
            agent: self.agent.clone(),
            since_ms: since.map(|at| at.0),
            until_ms: until.map(|at| at.0),
        })
    }
}

/// A folder as transcripts have it; a name as it is.
///
/// # Errors
/// Where it names nothing, or a path can't be told.
pub(crate) fn project(name: &str, surroundings: &Surroundings) -> Result<String, CliError> {
    if name.trim().is_empty() {
        return Err(CliError::new(Kind::Usage, "`--project` names nothing"));
    }
    if is_path(name) {
        surroundings.as_in_transcripts(Path::new(name))
    } else {
        Ok(name.to_owned())
    }
}

/// Whether it points at a folder, and is no name.
pub(crate) fn is_path(name: &str) -> bool {
    matches!(name, "." | ".." | "~") || name.contains('/')
}

fn agent(name: &str) -> Result<String, String> {
    if let Some(agent) = Agent::parse(name.trim()) {
        Ok(agent.id().to_owned())
    } else {
        let known: Vec<&str> = Agent::ALL.iter().map(|agent| agent.id()).collect();
        Err(format!("the agents are {}", known.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::a_name("shop", false)]
    #[case::a_name_with_dots("shop.example", false)]
    #[case::here(".", true)]
    #[case::home("~/src/shop", true)]
    #[case::below("src/shop", true)]
    #[case::whole("/src/shop", true)]
    fn a_project_is_named_or_pointed_at(#[case] name: &str, #[case] expected: bool) {
        assert_eq!(is_path(name), expected);
    }

    #[test]
    fn an_agent_is_one_that_is_read() {
        assert_eq!(agent("codex"), Ok("codex".to_owned()));
        assert!(agent("ed").unwrap_err().contains("claude-code"));
    }
}
