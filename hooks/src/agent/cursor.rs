//! Cursor: a flat object. That a submitted prompt may be given a context is not documented, and works (seen in 3.20); a client
//! that does not know it passes over the key. A new conversation may, by its documentation, and keeps it to its end.

use std::time::Duration;

use serde::Serialize;
use serde_json::json;

use super::{Act, CommandForm, Host, HostSide, Limits, MachineText, Registration, Room, TimeLimit};

/// Its event for a prompt, the only one at which it asks whether to go on.
const PROMPT: &str = "beforeSubmitPrompt";

pub(super) const HOST: Host = Host {
    id: "cursor",
    events: &[
        (PROMPT, Act::Recall),
        ("sessionStart", Act::Start(&[])),
        ("stop", Act::Changed),
    ],
    machine_text: MachineText {
        starts: &[],
        elements: &[
            "system-reminder",
            "system_notification",
            "system_reminder",
            "task_notification",
        ],
    },
    limits: Limits {
        room: Room::Characters(10_000),
        patience: None,
    },
    output,
    registration: Registration {
        name: "Cursor",
        folder_variable: None,
        folder: ".cursor",
        file: "hooks.json",
        plugin: None,
        toml_file: None,
        version: Some(1),
        grouped: false,
        typed: false,
        command: CommandForm::Shell("command"),
        timeout: Some(TimeLimit {
            key: "timeout",
            count: 2,
            unit: Duration::from_secs(1),
        }),
        status_line: None,
        remark: None,
    },
    running: HostSide {
        payload: |firing| {
            json!({
                "conversation_id": firing.session,
                "generation_id": firing.session,
                "hook_event_name": firing.event,
                "workspace_roots": [firing.cwd],
                "model": "default",
                "cursor_version": "3.20",
                "user_email": null,
                "transcript_path": null,
                "prompt": firing.prompt,
                "attachments": [],
            })
        },
        context_at: "/additional_context",
        off_switches: &[],
        plugin: None,
        trusted_in: None,
    },
};

#[derive(Serialize)]
struct Output<'a> {
    /// The prompt goes on: it always does.
    #[serde(skip_serializing_if = "Option::is_none")]
    r#continue: Option<bool>,
    additional_context: &'a str,
}

fn output(event: &str, context: &str) -> Option<String> {
    let output = Output {
        r#continue: (event == PROMPT).then_some(true),
        additional_context: context,
    };
    serde_json::to_string(&output).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_goes_on_with_its_context_and_a_conversation_begins_with_one() {
        assert_eq!(
            output("beforeSubmitPrompt", "x").as_deref(),
            Some(r#"{"continue":true,"additional_context":"x"}"#)
        );
        assert_eq!(output("sessionStart", "x").as_deref(), Some(r#"{"additional_context":"x"}"#));
    }
}
