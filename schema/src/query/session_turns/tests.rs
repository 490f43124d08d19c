//! The turns of one session: their order, their pages, what stands beside one, and what a fork shares.

use crate::testing::{Store, batch, session, turn, turn_uid};
use crate::{Origin, TurnPlace, TurnRow, TurnUpsert};

fn store() -> Store {
    let mut store = Store::new();
    let mut of_a_helper = turn(3, "s", &["look there"]);
    of_a_helper.episodes[0].origin = Origin::Subagent;
    let shared = turn(1, "s", &["one"]);
    let copy = TurnUpsert {
        session: session("fork"),
        ..shared.clone()
    };
    let turns = vec![
        shared,
        copy,
        turn(2, "s", &["two", "", ""]),
        of_a_helper,
        turn(4, "s", &["four"]),
        turn(5, "fork", &["five"]),
    ];
    store.writer.ingest(&batch(turns)).expect("stores");
    store
}

fn asked(turns: &[TurnRow]) -> Vec<&str> {
    turns.iter().map(|turn| turn.prompt.as_str()).collect()
}

#[test]
fn a_session_s_turns_come_in_order_a_page_at_a_time() {
    let store = store();
    let reader = store.reader();
    let all = reader.session_turns(&session("s"), TurnPlace::FIRST, 9).expect("reads");
    assert_eq!(asked(&all), ["one", "two", "look there", "four"]);
    let page = reader.session_turns(&session("s"), all[1].place, 1).expect("reads");
    assert_eq!(asked(&page), ["look there"]);
    let rest = reader.session_turns(&session("s"), all[3].place, 9).expect("reads");
    assert_eq!(rest, []);
    assert_eq!(reader.session_turns(&session("z"), TurnPlace::FIRST, 9).expect("reads"), []);
}

#[test]
fn a_fork_has_what_it_shares_with_its_origin() {
    let store = store();
    let all = store
        .reader()
        .session_turns(&session("fork"), TurnPlace::FIRST, 9)
        .expect("reads");
    assert_eq!(asked(&all), ["one", "five"]);
    assert_eq!(all[0].session, session("s"), "whose it is");
}

#[test]
fn a_turn_stands_between_those_of_its_own_conversation() {
    let store = store();
    let reader = store.reader();
    let beside = |turn: u8| {
        let (previous, next) = reader.turns_beside(store.id(turn, 0)).expect("reads");
        [previous, next].map(|turn| turn.map(|turn| turn.prompt))
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(beside(1), [None, some("two")]);
    assert_eq!(
        beside(2),
        [some("one"), some("four")],
        "a helper's turn is another conversation"
    );
    assert_eq!(beside(4), [some("two"), None]);
    assert_eq!(beside(3), [None, None]);
}

#[test]
fn a_turn_has_its_parts_in_order() {
    let store = store();
    let reader = store.reader();
    let parts = reader.parts_of(&turn_uid(2)).expect("reads");
    assert_eq!(parts, [store.id(2, 0), store.id(2, 1), store.id(2, 2)]);
    let known = reader.turn(&turn_uid(2)).expect("reads").expect("is stored");
    assert_eq!((known.parts, known.place.id), (3, store.id(2, 0)));
    assert_eq!(reader.turn(&turn_uid(9)).expect("reads"), None);
}

#[test]
fn a_session_is_found_by_its_id_in_every_agent() {
    let mut store = store();
    let mut of_codex = turn(7, "s", &["seven"]);
    of_codex.session.agent = "codex".to_owned();
    store.writer.ingest(&batch(vec![of_codex])).expect("stores");
    let agents: Vec<String> = store
        .reader()
        .sessions_called("s")
        .expect("reads")
        .into_iter()
        .map(|session| session.agent)
        .collect();
    assert_eq!(agents, ["claude-code", "codex"]);
}
