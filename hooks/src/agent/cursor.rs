//! Cursor: a flat object. That a submitted prompt may be given a context is not documented, and works (seen in 3.20); a client
//! that does not know it passes over the key.

use serde::Serialize;
use serde_json::json;

use super::{Act, CommandForm, Host, HostSide, Registration};

pub(super) const HOST: Host = Host {
    id: "cursor",
    events: &[("beforeSubmitPrompt", Act::Recall), ("stop", Act::Changed)],
    output,
    registration: Registration {
        name: "Cursor",
        folder_variable: None,
        folder: ".cursor",
        file: "hooks.json",
        toml_file: None,
        version: Some(1),
        grouped: false,
        typed: false,
        command: CommandForm::Shell("command"),
        timeout: Some(("timeout", 2)),
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
    r#continue: bool,
    additional_context: &'a str,
}

fn output(_event: &str, context: &str) -> Option<String> {
    let output = Output {
        r#continue: true,
        additional_context: context,
    };
    serde_json::to_string(&output).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_goes_on_with_its_context() {
        assert_eq!(
            output("beforeSubmitPrompt", "x").as_deref(),
            Some(r#"{"continue":true,"additional_context":"x"}"#)
        );
    }
}
