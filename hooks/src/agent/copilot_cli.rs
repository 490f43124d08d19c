//! Copilot CLI: what a hook prints for a submitted prompt is dropped, so a session is answered at its start; what it needs later
//! comes by an instruction file. Named as here, events bring `hook_event_name` and `session_id`.

use serde::Serialize;

use super::{Act, Host};

pub(super) const HOST: Host = Host {
    id: "copilot-cli",
    events: &[("SessionStart", Act::Start(&[])), ("Stop", Act::Changed)],
    output,
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
