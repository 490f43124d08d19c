//! What a tool call touched, and what its result says that is worth keeping: an error's telling line, a person's answer,
//! an approved plan. Bodies of results are never kept.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;
use remembrancer_schema::UnixMillis;

use super::wire::{Block, Content};
use crate::ingest::assemble::OpenTurn;
use crate::ingest::facet;
use crate::ingest::redact::{redact, redact_head};
use crate::ingest::text;
use crate::ingest::turn::push_new;

/// What is remembered of a call until its result comes.
#[derive(Debug)]
pub(crate) enum Call {
    /// A shell command.
    Shell {
        /// Program and subcommand: what a later success of the same is known by.
        key: String,
        /// Whether it makes a commit.
        commits: bool,
    },
    /// A change to a file.
    Change,
    /// A question to the person.
    Question,
    /// A plan for the person to approve.
    Plan(String),
    /// Our own command or tool: nothing of its result is kept.
    Own,
    /// Anything else.
    Other,
}

/// Longest plan that is kept, in bytes.
const PLAN_CAP: usize = 6 * 1024;
/// Longest answer of a person to a question or a refusal that is kept, in bytes.
const REPLY_CAP: usize = 2 * 1024;

/// Notes a call.
pub(super) fn call(open: &mut OpenTurn<Call>, at: UnixMillis, block: &Block<'_>) {
    let name = block.name.as_str();
    let input = &block.input;
    let call = if facet::is_own_tool(name) {
        Call::Own
    } else {
        match name {
            "Bash" | "bash" | "PowerShell" => shell(open, at, input.command.as_str()),
            "AskUserQuestion" => Call::Question,
            "ExitPlanMode" => Call::Plan(kept_plan(input.plan.as_str())),
            "Edit" | "Write" | "MultiEdit" | "NotebookEdit" => Call::Change,
            _ => Call::Other,
        }
    };
    if !matches!(call, Call::Own) {
        let path = input.file_path.filled().or(input.notebook_path.filled());
        let cwd = open.turn.cwd.clone();
        let file = path.map(|path| facet::file(path, cwd.as_deref())).unwrap_or_default();
        let changed = matches!(call, Call::Change);
        open.touch(at, |facets| {
            push_new(&mut facets.tools, redact(name).into_owned());
            if changed && !file.is_empty() {
                // A changed file stands before those that were only read.
                facets.files.retain(|other| *other != file);
                facets.files.insert(0, file);
            } else {
                push_new(&mut facets.files, file);
            }
        });
    }
    if let Some(id) = block.id.filled() {
        open.calls.insert(id.to_owned(), call);
    }
}

fn shell(open: &mut OpenTurn<Call>, at: UnixMillis, command: &str) -> Call {
    if facet::is_own_command(command) {
        return Call::Own;
    }
    if let Some(shown) = facet::command(command) {
        open.touch(at, |facets| push_new(&mut facets.commands, shown));
    }
    Call::Shell {
        key: facet::command_key(command),
        commits: facet::makes_commit(command),
    }
}

/// Notes a result.
pub(super) fn result(open: &mut OpenTurn<Call>, at: UnixMillis, block: &Block<'_>) {
    let call = open.calls.remove(block.tool_use_id.as_str()).unwrap_or(Call::Other);
    if matches!(call, Call::Own) {
        return;
    }
    let failed = block.is_error.0;
    let content = joined(&block.content);
    if let Some(reply) = refusal(&content) {
        return open.add_text(at, &reply);
    }
    match &call {
        Call::Question if !failed => open.add_text(at, &answers(&content)),
        Call::Plan(plan) if !failed => open.add_text(at, &approved(&content, plan)),
        Call::Change if !failed => open.note_change(),
        Call::Shell { key, commits } if !failed => {
            open.note_success(key);
            if *commits {
                open.note_commit();
            }
        }
        Call::Shell { key, .. } => open.note_failure(key),
        _ => {}
    }
    if failed && let Some(line) = facet::error_line(&content) {
        open.touch(at, |facets| push_new(&mut facets.errors, line));
    }
}

/// The text of a result.
fn joined<'a>(content: &'a Content<'_>) -> Cow<'a, str> {
    match content {
        Content::Text(text) => Cow::Borrowed(text.as_ref()),
        Content::Blocks(_) | Content::None => Cow::Owned(content.texts().join("\n")),
    }
}

/// What a person said when they refused a call, if they said something.
fn refusal(content: &str) -> Option<String> {
    let (_, said) = content.split_once("To tell you how to proceed, the user said:")?;
    let said = said.split("\n\nNote: The user's next message").next().unwrap_or(said);
    let cleaned = text::clean(said);
    let said = redact_head(cleaned.trim(), REPLY_CAP);
    (!said.is_empty()).then(|| format!("User: {}", text::head_words(&said, REPLY_CAP)))
}

static PAIR: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"(?s)"([^"]+)"="(.*?)"(?:, "|\. You can|\.?$)"#).expect("invariant: a literal pattern"));

/// Questions and answers as lines.
fn answers(content: &str) -> String {
    let cleaned = text::clean(content);
    let Some((_, pairs)) = cleaned.split_once("answered your questions:") else {
        return String::new();
    };
    let mut lines = Vec::new();
    let mut rest = pairs;
    while let Some(found) = PAIR.captures(rest) {
        lines.push(format!("Asked: {} — User: {}", found[1].trim(), found[2].trim()));
        let whole = found.get(0).map_or(rest.len(), |whole| whole.end());
        // The next pair's opening quote belongs to the separator.
        let end = if found[0].ends_with(", \"") { whole - 1 } else { whole };
        rest = &rest[end..];
    }
    text::head_words(&redact_head(&lines.join("\n"), REPLY_CAP), REPLY_CAP).into_owned()
}

/// The plan that a person approved.
fn approved(content: &str, proposed: &str) -> String {
    if !content.contains("approved your plan") {
        return String::new();
    }
    let plan = content.split_once("## Approved Plan:").map_or(proposed, |(_, plan)| plan);
    kept_plan(plan)
}

/// A plan as far as it is kept.
fn kept_plan(plan: &str) -> String {
    let cleaned = text::clean(plan);
    text::head(&redact_head(cleaned.trim(), PLAN_CAP), PLAN_CAP).to_owned()
}

#[cfg(test)]
mod tests;
