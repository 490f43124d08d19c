//! What the host reads on stdout. A context comes in, one JSON object goes out, or nothing.
//!
//! Claude Code and Codex take the same object; Codex refuses any further key, so there is none.

use serde::Serialize;

use crate::payload::PROMPT_EVENT;

/// A longer context is never printed: over 10,000 characters a host shows only a preview of 2 KB.
pub const MAX_CONTEXT_CHARS: usize = 8_000;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Output<'a> {
    hook_specific_output: HookSpecificOutput<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HookSpecificOutput<'a> {
    hook_event_name: &'a str,
    additional_context: &'a str,
}

/// Writes the object that adds `context` to the prompt; `None` if there is nothing to add, or more than a host would show.
pub(crate) fn render(context: &str) -> Option<String> {
    if context.trim().is_empty() || context.chars().count() > MAX_CONTEXT_CHARS {
        return None;
    }
    let output = Output {
        hook_specific_output: HookSpecificOutput {
            hook_event_name: PROMPT_EVENT,
            additional_context: context,
        },
    };
    serde_json::to_string(&output).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn tc_22_exactly_one_object_with_two_keys() {
        let printed: Value = serde_json::from_str(&render("a \"quoted\"\nline").unwrap()).unwrap();
        assert_eq!(
            printed,
            json!({"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "a \"quoted\"\nline"}})
        );
    }

    #[test]
    fn nothing_to_say_prints_nothing() {
        assert_eq!(render(""), None);
        assert_eq!(render(" \n"), None);
    }

    #[test]
    fn tc_21_a_context_over_the_limit_is_not_printed() {
        assert!(render(&"é".repeat(MAX_CONTEXT_CHARS)).is_some());
        assert_eq!(render(&"é".repeat(MAX_CONTEXT_CHARS + 1)), None);
    }
}
