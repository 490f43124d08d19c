//! What hosts write on the hook's stdin, and what it prints: any bytes are an event or nothing, within bounds; what a host writes of
//! any text is understood, and what is printed is what the host reads.

use remembrancer_hooks::testing::{Heard, MAX_ID_BYTES, MAX_PATH_BYTES, MAX_PROMPT_BYTES, heard, printed};
use remembrancer_hooks::{Agent, Firing, MAX_CONTEXT_CHARS};

use super::input::{Dice, text};

pub(super) fn run(data: &[u8]) {
    let mut dice = Dice::of(data);
    let text = text(data);
    for agent in Agent::ALL {
        if let Some(heard) = heard(data, *agent) {
            check_bounds(*agent, &heard);
        }
        check_firing(*agent, &text, &mut dice);
        check_printed(*agent, &text);
    }
}

fn check_bounds(agent: Agent, heard: &Heard) {
    assert!(
        agent.events().any(|(event, _)| event == heard.event),
        "{:?} is no event of {agent:?}",
        heard.event
    );
    // One that is too long is passed on, cut to what is too long still: the daemon refuses it, and counts it. A character is at most
    // four bytes.
    assert!((1..=MAX_ID_BYTES + 4).contains(&heard.session.len()));
    assert!(heard.prompt.len() <= MAX_PROMPT_BYTES);
    for path in [&heard.cwd, &heard.transcript].into_iter().flatten() {
        assert!((1..=MAX_PATH_BYTES).contains(&path.len()));
    }
    assert!(
        heard
            .prompt_id
            .as_ref()
            .is_none_or(|id| (1..=MAX_ID_BYTES).contains(&id.len()))
    );
}

/// A host's own words come through.
fn check_firing(agent: Agent, text: &str, dice: &mut Dice) {
    let events: Vec<&str> = agent.events().map(|(event, _)| event).collect();
    let event = *dice.pick(&events);
    let session = &text[..text.floor_char_boundary(text.len().min(dice.below(MAX_ID_BYTES)))];
    let cwd = &text[..text.floor_char_boundary(text.len().min(dice.below(MAX_PATH_BYTES)))];
    let firing = Firing {
        event,
        session,
        cwd,
        prompt: text,
    };
    let payload = agent.payload(&firing);
    let Some(heard) = heard(payload.as_bytes(), agent) else {
        assert!(
            session.is_empty() || !agent.tells_prompt(event),
            "{agent:?} is not understood: {payload}"
        );
        return;
    };
    check_bounds(agent, &heard);
    assert_eq!((heard.event.as_str(), heard.session.as_str()), (event, session));
    assert_eq!(heard.cwd.as_deref(), Some(cwd).filter(|cwd| !cwd.is_empty()));
    if agent.tells_prompt(event) && text.len() <= MAX_PROMPT_BYTES {
        assert_eq!(heard.prompt, text);
    }
}

/// What is printed is one object from which the host takes the context, or nothing.
fn check_printed(agent: Agent, text: &str) {
    let Some(event) = agent.answered_event() else { return };
    match printed(agent, event, text) {
        Some(object) => {
            assert!(text.chars().count() <= MAX_CONTEXT_CHARS);
            assert!(!object.contains('\n'), "more than one line");
            assert_eq!(agent.context_in(event, &object).as_deref(), Some(text));
        }
        None => assert!(
            text.trim().is_empty() || text.len() > MAX_CONTEXT_CHARS,
            "{agent:?} prints nothing of {text:?}"
        ),
    }
}
