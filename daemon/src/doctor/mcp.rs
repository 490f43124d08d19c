//! The MCP server that is registered with a host: started as the host starts it, it has to say who it is and name its tools. Where none
//! of ours is registered, there is nothing to tell.

use std::process::Command;

use serde_json::{Value, json};

use super::Check;
use super::host::{Ran, run};
use crate::install::{SERVER_ARGUMENT, ServerPlace, Standing};
use crate::mcp::TOOL_NAMES;

/// The version of the protocol that is asked for: the oldest that hosts speak.
const PROTOCOL: &str = "2024-11-05";

/// The number of the question which tools there are.
const TOOLS: u32 = 2;

/// What is found of the server that a host is told to start.
pub(crate) fn check(place: &ServerPlace<'_>) -> Option<Check> {
    let subject = place.agent.id();
    let again = format!("run `remembrancer install --mcp --agent {subject}`");
    let program = match place.standing()? {
        Ok(Standing::Ours(program)) => program,
        Ok(Standing::Absent | Standing::Theirs) => return None,
        Err(problem) => {
            return Some(Check::warning(
                subject,
                format!("the settings of MCP servers: {problem}"),
                "correct it there",
            ));
        }
    };
    let mut command = Command::new(&program);
    command.arg(SERVER_ARGUMENT);
    Some(match run(command, &questions()) {
        Ran::Wrote { stdout, took } => match missing(&stdout) {
            Ok(missing) if missing.is_empty() => Check::ok(
                subject,
                format!(
                    "the MCP server answers with {} tools in {} ms",
                    TOOL_NAMES.len(),
                    took.as_millis()
                ),
            ),
            Ok(missing) => Check::warning(
                subject,
                format!(
                    "the MCP server {program} has no {}: it is of another version",
                    missing.join(", ")
                ),
                again,
            ),
            Err(found) => Check::failed(subject, format!("the MCP server {program} {found}"), again),
        },
        Ran::NotThere => Check::failed(subject, format!("the MCP server {program} is not there"), again),
        Ran::NotExecutable => Check::failed(subject, format!("the MCP server {program} may not be run"), again),
        Ran::Failed(found) => Check::failed(subject, format!("the MCP server {program}: {found}"), again),
    })
}

/// What a host says first, line by line.
fn questions() -> String {
    let hello = json!({
        "protocolVersion": PROTOCOL,
        "capabilities": {},
        "clientInfo": {"name": "remembrancer-doctor", "version": remembrancer_hooks::VERSION},
    });
    let lines = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": TOOLS, "method": "tools/list"}),
    ];
    lines.map(|line| format!("{line}\n")).concat()
}

/// Tools that the answers do not name.
fn missing(stdout: &str) -> Result<Vec<&'static str>, &'static str> {
    let answers: Vec<Value> = stdout
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()
        .map_err(|_| "writes something else than the protocol")?;
    let answer = answers.iter().find(|answer| answer["id"] == TOOLS);
    let listed = answer.and_then(|answer| answer["result"]["tools"].as_array());
    let listed = listed.ok_or("does not say which tools it has")?;
    let is_there = |name: &&str| listed.iter().any(|tool| tool["name"] == **name);
    Ok(TOOL_NAMES.into_iter().filter(|name| !is_there(name)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(tools: &[&str]) -> String {
        let tools: Vec<Value> = tools.iter().map(|name| json!({"name": name})).collect();
        format!(
            "{}\n{}\n",
            json!({"jsonrpc": "2.0", "id": 1, "result": {}}),
            json!({"jsonrpc": "2.0", "id": TOOLS, "result": {"tools": tools}})
        )
    }

    #[test]
    fn what_is_missing_is_told() {
        assert_eq!(missing(&answers(&TOOL_NAMES)), Ok(Vec::new()));
        assert_eq!(missing(&answers(&TOOL_NAMES[1..])), Ok(vec![TOOL_NAMES[0]]));
        assert!(missing("").is_err());
        assert!(missing(&format!("hello\n{}", answers(&TOOL_NAMES))).is_err());
    }

    #[test]
    fn three_lines_are_asked() {
        assert_eq!(questions().lines().count(), 3);
        assert!(questions().lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
    }
}
