//! `OpenCode`: it runs no hooks but loads plugins. Ours runs the hook at the moments that bear these names, with a payload like the
//! others', waits 240 ms at most, and adds what is printed: to a prompt as a part of its own, after a compaction to what the model
//! is told of the system. It passes over subagents and what is marked as synthetic by itself.

use serde::Serialize;
use serde_json::json;

use super::{Act, CommandForm, Host, HostSide, Limits, MachineText, Registration, Room};

pub(super) const HOST: Host = Host {
    id: "opencode",
    events: &[
        ("chat.message", Act::Recall),
        ("session.compacted", Act::Start(&[])),
        ("session.idle", Act::Changed),
    ],
    machine_text: MachineText {
        starts: &[],
        elements: &["system-reminder"],
    },
    limits: Limits {
        room: Room::Unknown,
        patience: None,
    },
    output,
    registration: Registration {
        name: "OpenCode",
        folder_variable: Some("OPENCODE_CONFIG_DIR"),
        folder: ".config/opencode",
        file: "plugin/remembrancer.js",
        plugin: Some(include_str!("../../opencode/remembrancer.js")),
        toml_file: None,
        version: None,
        grouped: false,
        typed: false,
        command: CommandForm::Direct,
        timeout: None,
        status_line: None,
        remark: Some("OpenCode loads plugins when it starts, so start it anew"),
    },
    running: HostSide {
        payload: |firing| {
            json!({
                "hook_event_name": firing.event,
                "session_id": firing.session,
                "cwd": firing.cwd,
                "prompt": firing.prompt,
            })
        },
        context_at: "/context",
        off_switches: &[],
        plugin: None,
        trusted_in: None,
    },
};

#[derive(Serialize)]
struct Output<'a> {
    context: &'a str,
}

fn output(_event: &str, context: &str) -> Option<String> {
    serde_json::to_string(&Output { context }).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plugin_is_given_a_context() {
        assert_eq!(output("chat.message", "x").as_deref(), Some(r#"{"context":"x"}"#));
    }

    #[test]
    fn the_plugin_names_the_hook_once_and_every_event() {
        let text = HOST.registration.plugin.unwrap();
        assert_eq!(text.matches("\"remembrancer-hook\"").count(), 1);
        for (event, _) in HOST.events {
            assert!(text.contains(&format!("\"{event}\"")), "{event}");
        }
    }
}
