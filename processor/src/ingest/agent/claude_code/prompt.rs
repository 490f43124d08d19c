//! A user record's text into a person's words: what the host wrapped around them or put in their place is taken off.
//!
//! Tables of what is known to be machine text, by tag, by line and by beginning; see `formats/AGENTS.md` and the cases
//! TC-12, TC-13 and TC-17. What is left is the prompt as typed.

use std::borrow::Cow;

use crate::ingest::redact::redact_private_across;
use crate::ingest::text;

/// What a user record says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// A person's words.
    Prompt(String),
    /// The host's summary of a compacted conversation, without its preamble.
    Summary(String),
    /// Nothing of a person.
    Nothing,
}

/// Elements whose content is the machine's.
const MACHINE_TAGS: &[&str] = &[
    "system-reminder",
    "local-command-stdout",
    "local-command-stderr",
    "local-command-caveat",
    "bash-input",
    "bash-stdout",
    "bash-stderr",
    "bash-notification",
    "task-notification",
    "agent-notification",
    "teammate-message",
    "user-prompt-submit-hook",
    "session-start-hook",
    "new-diagnostics",
    "ide_opened_file",
    "ide_selection",
    "ide_diagnostics",
    "command-contents",
    "command-message",
    "tick",
];

/// Lines that the host writes in the user's place.
const MACHINE_LINES: &[&str] = &[
    "[Request interrupted by user]",
    "[Request interrupted by user for tool use]",
    "(no content)",
    "No response requested.",
];

/// Beginnings of texts that are the machine's to their end.
const MACHINE_STARTS: &[&str] = &[
    "Stop hook feedback:",
    "Base directory for this skill:",
    "Caveat: The messages below were generated",
    "<task-notification>",
    "<bash-notification>",
    "<agent-notification>",
    "<teammate-message",
];

/// How the host begins a compacted conversation.
const SUMMARY_START: &str = "This session is being continued from a previous conversation";

/// Commands of the client itself: they reach no model, so they are no turn.
const CLIENT_COMMANDS: &[&str] = &[
    "add-dir",
    "agents",
    "bashes",
    "bug",
    "branch",
    "cd",
    "clear",
    "color",
    "compact",
    "config",
    "context",
    "copy",
    "cost",
    "desktop",
    "doctor",
    "effort",
    "exit",
    "export",
    "extra-usage",
    "fast",
    "feedback",
    "fork",
    "help",
    "hooks",
    "ide",
    "keybindings",
    "login",
    "logout",
    "mcp",
    "memory",
    "mobile",
    "model",
    "output-style",
    "permissions",
    "plugin",
    "plugins",
    "privacy-settings",
    "quit",
    "release-notes",
    "reload-plugins",
    "remote-env",
    "rename",
    "resume",
    "rewind",
    "sandbox",
    "skills",
    "stats",
    "status",
    "statusline",
    "stickers",
    "tasks",
    "terminal-setup",
    "theme",
    "todos",
    "upgrade",
    "usage",
    "vim",
    "voice",
];

/// Reads the texts of one user record.
pub(super) fn said(texts: &[&str], compact_summary: bool) -> Said {
    // One text alone is redacted with all else; a turn may be known by it as it stands.
    let texts = match texts {
        [only] => vec![Cow::Borrowed(*only)],
        several => redact_private_across(several),
    };
    let cleaned: Vec<_> = texts.iter().map(|raw| text::clean(raw)).collect();
    let whole = cleaned.first().map_or("", |first| first.trim_start());
    if compact_summary || whole.starts_with(SUMMARY_START) {
        return Said::Summary(summary(&cleaned.join("\n\n")));
    }
    let kept: Vec<String> = cleaned
        .iter()
        .map(|text| person_text(text))
        .filter(|text| !text.is_empty())
        .collect();
    if kept.is_empty() {
        Said::Nothing
    } else {
        Said::Prompt(kept.join("\n\n"))
    }
}

/// The person's words in one text; empty if there are none.
fn person_text(raw: &str) -> String {
    let raw = raw.trim();
    if MACHINE_STARTS.iter().any(|start| raw.starts_with(start)) {
        return after_caveat(raw).map(person_text).unwrap_or_default();
    }
    let mut text = Cow::Borrowed(raw);
    // Without an end tag nothing is removed but what the text begins with.
    if raw.contains("</") || raw.trim_start().starts_with('<') {
        if let Some(command) = slash_command(raw) {
            return command;
        }
        for tag in MACHINE_TAGS {
            remove_elements(text.to_mut(), tag);
        }
        if let Some(note) = element(&text, "user-memory-input") {
            return format!("Remember: {}", note.trim());
        }
    }
    let lines: Vec<&str> = text.lines().filter(|line| !is_machine_line(line)).collect();
    lines.join("\n").trim().to_owned()
}

fn is_machine_line(line: &str) -> bool {
    let line = line.trim();
    MACHINE_LINES.contains(&line) || (line.starts_with("[Image") && line.ends_with(']') && !line[1..].contains('['))
}

/// What follows the caveat's own sentence, if it is the caveat and something follows.
fn after_caveat(raw: &str) -> Option<&str> {
    raw.strip_prefix("Caveat:")?
        .split_once("unless the user explicitly asks you to.")
        .map(|(_, rest)| rest.trim())
}

/// `/name arguments` where the text is the wrapper of a typed command; empty if the command is the client's own.
fn slash_command(raw: &str) -> Option<String> {
    let name = element(raw, "command-name")?.trim().trim_start_matches('/');
    let arguments = element(raw, "command-args").unwrap_or_default().trim();
    if name.is_empty() || CLIENT_COMMANDS.contains(&name) {
        return Some(String::new());
    }
    Some(format!("/{name} {arguments}").trim_end().to_owned())
}

/// Whether a prompt as typed is a command of the client itself.
pub(super) fn is_client_command(typed: &str) -> bool {
    let name = typed.trim().strip_prefix('/').and_then(|rest| rest.split_whitespace().next());
    name.is_some_and(|name| CLIENT_COMMANDS.contains(&name))
}

/// Removes every `<tag …>…</tag>`; one that is never closed goes only where the text begins with it.
fn remove_elements(text: &mut String, tag: &str) {
    let (open, close) = (format!("<{tag}"), format!("</{tag}>"));
    let mut from = 0;
    while let Some(start) = text[from..].find(&open).map(|at| from + at) {
        let named = text[start + open.len()..].starts_with(['>', ' ', '\n', '/']);
        match text[start..].find(&close) {
            Some(end) if named => text.replace_range(start..start + end + close.len(), ""),
            None if named && text[..start].trim().is_empty() => text.truncate(start),
            _ => from = start + open.len(),
        }
    }
}

/// What stands in the first `<tag>…</tag>`.
fn element<'a>(text: &'a str, tag: &str) -> Option<&'a str> {
    let start = text.find(&format!("<{tag}>"))? + tag.len() + 2;
    let end = text[start..].find(&format!("</{tag}>"))?;
    Some(&text[start..start + end])
}

/// The summary itself: without the preamble, the analysis before it and the instruction after it.
fn summary(whole: &str) -> String {
    let body = whole.find("\nSummary:").map_or(whole, |at| &whole[at + "\nSummary:".len()..]);
    let body = match body.trim_start().strip_prefix(SUMMARY_START) {
        Some(rest) => rest.split_once('\n').map_or("", |(_, rest)| rest),
        None => body,
    };
    let ends = [
        "\nPlease continue the conversation from where we left it off",
        "\nContinue the conversation from where it left off",
        "\nIf you need specific details from before compaction",
    ];
    let end = ends.iter().filter_map(|end| body.find(end)).min().unwrap_or(body.len());
    body[..end].trim().to_owned()
}

#[cfg(test)]
mod tests;
