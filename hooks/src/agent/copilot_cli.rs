//! Copilot CLI: what a hook prints for a submitted prompt is dropped, so a session is answered at its start; what it needs later
//! comes by an instruction file. Named as here, events bring `hook_event_name` and `session_id`. An entry is a line for a shell, since
//! earlier versions leave out one that names a program and its arguments.

use std::time::Duration;

use serde::Serialize;
use serde_json::json;

use super::{Act, CommandForm, Host, HostSide, Limits, MachineText, OffSwitch, Registration, Room, TimeLimit};

pub(super) const HOST: Host = Host {
    id: "copilot-cli",
    events: &[("SessionStart", Act::Start(&[])), ("Stop", Act::Changed)],
    machine_text: MachineText::NONE,
    limits: Limits {
        room: Room::Bytes(10 * 1024),
        patience: Some(Duration::from_secs(30)),
    },
    output,
    registration: Registration {
        name: "Copilot CLI",
        folder_variable: Some("COPILOT_HOME"),
        folder: ".copilot",
        file: "hooks/remembrancer.json",
        plugin: None,
        toml_file: None,
        version: Some(1),
        grouped: false,
        typed: true,
        command: CommandForm::Shell("bash"),
        timeout: Some(TimeLimit {
            key: "timeoutSec",
            count: 2,
            unit: Duration::from_secs(1),
        }),
        status_line: None,
        remark: Some("Copilot CLI takes a context at the start of a session only, not at each prompt"),
    },
    running: HostSide {
        payload: |firing| {
            json!({
                "hook_event_name": firing.event,
                "session_id": firing.session,
                "timestamp": "2026-01-01T00:00:00.000Z",
                "cwd": firing.cwd,
                "source": "new",
                "initial_prompt": firing.prompt,
            })
        },
        context_at: "/additionalContext",
        off_switches: &[
            OffSwitch {
                file: "settings.json",
                path: &["disableAllHooks"],
                off: true,
            },
            OffSwitch {
                file: "config.json",
                path: &["disableAllHooks"],
                off: true,
            },
            OffSwitch {
                file: "hooks/remembrancer.json",
                path: &["disableAllHooks"],
                off: true,
            },
        ],
        plugin: None,
        trusted_in: None,
    },
};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Output<'a> {
    additional_context: &'a str,
}

fn output(_event: &str, context: &str) -> Option<String> {
    let output = Output {
        additional_context: context,
    };
    serde_json::to_string(&output).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_given_a_context() {
        assert_eq!(output("SessionStart", "x").as_deref(), Some(r#"{"additionalContext":"x"}"#));
    }
}
