//! The tools of Claude Code by name, and what only its results say: a person's answer, an approved plan.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;
use remembrancer_schema::UnixMillis;

use super::wire::{Block, Content};
use crate::ingest::assemble::OpenTurn;
use crate::ingest::facet;
use crate::ingest::redact::redact_head;
use crate::ingest::text;
use crate::ingest::tool::Call;

/// Longest plan that is kept, in bytes.
const PLAN_CAP: usize = 6 * 1024;
/// Longest answer of a person to a question or a refusal that is kept, in bytes.
const REPLY_CAP: usize = 2 * 1024;

/// Notes a call.
pub(super) fn call(open: &mut OpenTurn, at: UnixMillis, block: &Block<'_>) {
    let name = block.name.as_str();
    let input = &block.input;
    let call = if facet::is_own_tool(name) || facet::is_own_server(input.server.as_str()) {
        Call::Own
    } else {
        match name {
            "Bash" | "bash" | "PowerShell" => Call::shell(open, at, input.command.as_str()),
            "AskUserQuestion" => Call::Question,
            "ExitPlanMode" => Call::Plan(kept_plan(input.plan.as_str())),
            "Edit" | "Write" | "MultiEdit" | "NotebookEdit" => Call::Change,
            _ => Call::Other,
        }
    };
    call.touch(open, at, name, input.file_path.filled().or(input.notebook_path.filled()));
    if let Some(id) = block.id.filled() {
        open.calls.insert(id.to_owned(), call);
    }
}

/// Notes a result.
pub(super) fn result(open: &mut OpenTurn, at: UnixMillis, block: &Block<'_>) {
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
        _ => {}
    }
    call.settle(open, at, failed, &content);
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
