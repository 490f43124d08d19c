//! What is printed. A context comes in; the object that the host reads goes out, or nothing.

use crate::agent::Agent;

/// A longer context is never printed: over 10,000 characters a host shows only a preview of 2 KB. Each host's own bound is in its row
/// of the table.
pub const MAX_CONTEXT_CHARS: usize = 8_000;

/// Writes what adds `context` at an event of `agent`; `None` if there is nothing to add, or more than a host would show.
pub(crate) fn render(agent: Agent, event: &str, context: &str) -> Option<String> {
    if context.trim().is_empty() || context.chars().count() > MAX_CONTEXT_CHARS || !agent.has_room_for(context) {
        return None;
    }
    agent.output(event, context)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::agent::Act;

    fn printed(context: &str) -> Option<String> {
        render(Agent::CLAUDE_CODE, "UserPromptSubmit", context)
    }

    #[test]
    fn nothing_to_say_prints_nothing() {
        assert_eq!(printed(""), None);
        assert_eq!(printed(" \n"), None);
    }

    #[test]
    fn tc_21_a_context_over_the_limit_is_not_printed() {
        assert!(printed(&"é".repeat(MAX_CONTEXT_CHARS)).is_some());
        assert_eq!(printed(&"é".repeat(MAX_CONTEXT_CHARS + 1)), None);
    }

    #[test]
    fn tc_21_nor_is_one_over_the_host_s_own() {
        let shown = |agent, context: &str| render(agent, "UserPromptSubmit", context).is_some();
        let ten_thousand_bytes = "é".repeat(5_000);
        assert!(shown(Agent::CODEX, &ten_thousand_bytes));
        assert!(!shown(Agent::CODEX, &(ten_thousand_bytes.clone() + "é")));
        assert!(shown(Agent::CLAUDE_CODE, &(ten_thousand_bytes + "é")));
    }

    proptest! {
        #[test]
        fn tc_22_any_context_is_one_line_of_one_object_for_every_host(context in "(\\PC|[\u{0}-\u{20}\u{7f}-\u{9f}\u{2028}\u{202e}\u{e0041}\"\\\\{}<>]){1,60}") {
            for agent in Agent::ALL {
                for (event, _) in agent.events().filter(|(event, _)| agent.act(event) != Some(Act::Changed)) {
                    let Some(printed) = render(*agent, event, &context) else {
                        prop_assert!(context.trim().is_empty());
                        continue;
                    };
                    prop_assert!(!printed.contains(['\n', '\r', '\u{1b}', '\u{0}']), "{printed:?}");
                    prop_assert_eq!(agent.context_in(event, &printed), Some(context.clone()));
                }
            }
        }
    }
}
