//! Mutes and boosts: what they do to rows, and that they outlive whatever becomes of these.

use proptest::prelude::*;

use crate::testing::{Store, batch, session, turn, turn_uid};
use crate::{ForgetTarget, Importance, Steering, TurnUpsert, UnixMillis, Writer};

const NOW: UnixMillis = UnixMillis(5_000);

fn steer(store: &mut Store, number: u8, steering: Steering) -> u64 {
    store.writer.steer(&[turn_uid(number)], steering, NOW).expect("steers")
}

/// Importance and rule of the parts of a turn.
fn importance(store: &Store, number: u8, parts: u32) -> Vec<(Importance, String)> {
    let reader = store.reader();
    let ids: Vec<_> = (0..parts).map(|part| store.id(number, part)).collect();
    let texts = reader.texts_with_hidden(&ids).expect("reads");
    texts
        .into_iter()
        .map(|text| (text.importance, text.importance_rule))
        .collect()
}

fn boosted() -> (Importance, String) {
    (Importance::High, "boosted-by-user".to_owned())
}

fn by_rule(importance: Importance, rule: &str) -> (Importance, String) {
    (importance, rule.to_owned())
}

fn judged(number: u8, prompts: &[&str], importance: Importance, rule: &str) -> TurnUpsert {
    let mut turn = turn(number, "s", prompts);
    for episode in &mut turn.episodes {
        episode.importance = importance;
        rule.clone_into(&mut episode.importance_rule);
    }
    turn
}

fn is_sound(store: &mut Store) {
    store.writer.checkpoint().expect("folds");
    let audit = crate::audit(&store.path).expect("reads");
    assert_eq!(audit.faults, Vec::<String>::new());
}

#[test]
fn a_boost_is_of_all_parts_and_gives_back_what_the_rules_said() {
    let mut store = Store::new();
    store
        .writer
        .ingest(&batch(vec![
            judged(1, &["one", "two"], Importance::Low, "chatter"),
            turn(2, "s", &["three"]),
        ]))
        .expect("stores");
    assert_eq!(steer(&mut store, 1, Steering::Boost), 1);
    assert_eq!(steer(&mut store, 1, Steering::Boost), 0, "twice is once");
    assert_eq!(importance(&store, 1, 2), [boosted(), boosted()]);
    assert_eq!(importance(&store, 2, 1), [by_rule(Importance::Normal, "default")]);
    is_sound(&mut store);
    assert_eq!(steer(&mut store, 1, Steering::Unboost), 1);
    assert_eq!(importance(&store, 1, 2), vec![by_rule(Importance::Low, "chatter"); 2]);
    assert_eq!(steer(&mut store, 1, Steering::Unboost), 0);
    is_sound(&mut store);
}

#[test]
fn what_is_read_again_stays_boosted_and_is_given_back_as_the_rules_say_by_then() {
    let mut store = Store::new();
    store.fill(&["zero", "one"]);
    steer(&mut store, 1, Steering::Boost);
    // It grew by a part, it says more, and a commit made it important.
    let longer = judged(1, &["one and more", "two"], Importance::High, "commit-made");
    for _ in 0..2 {
        store.writer.ingest(&batch(vec![longer.clone()])).expect("stores");
        assert_eq!(importance(&store, 1, 2), [boosted(), boosted()]);
        is_sound(&mut store);
    }
    steer(&mut store, 1, Steering::Unboost);
    assert_eq!(importance(&store, 1, 2), vec![by_rule(Importance::High, "commit-made"); 2]);
}

#[test]
fn a_turn_that_is_gone_for_a_while_or_comes_by_a_fork_is_steered_as_before() {
    let mut store = Store::new();
    store.fill(&["zero", "one"]);
    steer(&mut store, 1, Steering::Boost);
    steer(&mut store, 1, Steering::Mute);
    let nothing = TurnUpsert {
        episodes: Vec::new(),
        ..turn(1, "s", &[])
    };
    let outcome = store.writer.ingest(&batch(vec![nothing])).expect("stores");
    assert_eq!(outcome.retired, 1);
    assert!(store.reader().muted_episodes().expect("reads").is_empty());
    let fork = TurnUpsert {
        session: session("fork"),
        ..turn(1, "s", &["one"])
    };
    store.writer.ingest(&batch(vec![fork])).expect("stores");
    assert_eq!(store.reader().muted_episodes().expect("reads"), [store.id(1, 0)].into());
    assert_eq!(importance(&store, 1, 1), [boosted()]);
    is_sound(&mut store);
}

#[test]
fn what_is_forgotten_is_steered_no_more() {
    let mut store = Store::new();
    store.fill(&["zero", "one"]);
    steer(&mut store, 1, Steering::Boost);
    steer(&mut store, 1, Steering::Mute);
    let uid = crate::EpisodeUid::of(&turn_uid(1), 0).to_string();
    store.writer.forget(&ForgetTarget::Episode(uid), NOW).expect("forgets");
    assert_eq!(store.reader().steered_turns().expect("reads"), []);
    is_sound(&mut store);
    reopened(&mut store);
    assert_eq!(store.reader().steered_turns().expect("reads"), []);
}

/// Closes the store and opens it again.
fn reopened(store: &mut Store) {
    let other = store.path.with_file_name("no/memory.db");
    store.writer = Writer::open(&other).expect("opens");
    store.writer = Writer::open(&store.path).expect("opens");
}

#[derive(Debug, Clone, Copy)]
enum Act {
    Steer(u8, Steering),
    Forget(u8),
    ReadAgain(u8),
    Remember(u8),
    ForgetFact(u8),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let steering = prop_oneof![
        Just(Steering::Mute),
        Just(Steering::Unmute),
        Just(Steering::Boost),
        Just(Steering::Unboost)
    ];
    let act = prop_oneof![
        8 => (0..3_u8, steering).prop_map(|(turn, steering)| Act::Steer(turn, steering)),
        1 => (0..3_u8).prop_map(Act::Forget),
        2 => (0..3_u8).prop_map(Act::ReadAgain),
        2 => (0..2_u8).prop_map(Act::Remember),
        1 => (0..2_u8).prop_map(Act::ForgetFact),
    ];
    proptest::collection::vec(act, 0..14)
}

const PROMPTS: [&str; 3] = ["the zeroth", "the first", "the second"];
const FACTS: [&str; 2] = ["amounts are cents", "tabs are blanks"];

fn perform(store: &mut Store, act: Act) {
    let everywhere = crate::ProjectNames::everywhere();
    let fact = |store: &Store, number: u8| store.found(FACTS[usize::from(number)]).first().copied();
    match act {
        Act::Steer(number, steering) => {
            // As a command would: only what is there can be named.
            if store
                .reader()
                .find_episode(&crate::EpisodeUid::of(&turn_uid(number), 0).to_string())
                .is_ok_and(|found| !found.is_empty())
            {
                steer(store, number, steering);
            }
        }
        Act::Forget(number) => {
            let uid = crate::EpisodeUid::of(&turn_uid(number), 0).to_string();
            store.writer.forget(&ForgetTarget::Episode(uid), NOW).ok();
        }
        Act::ReadAgain(number) => {
            let again = turn(number, "s", &[PROMPTS[usize::from(number)]]);
            store.writer.ingest(&batch(vec![again])).expect("stores");
        }
        Act::Remember(number) => {
            store
                .writer
                .remember(FACTS[usize::from(number)], None, &everywhere, NOW)
                .expect("remembers");
        }
        Act::ForgetFact(number) => {
            if let Some(id) = fact(store, number) {
                let uid = store.reader().texts(&[id]).expect("reads")[0].uid.to_string();
                store.writer.forget(&ForgetTarget::Episode(uid), NOW).expect("forgets");
            }
        }
    }
}

/// What is steered, what is forgotten, and what is stored with its importance.
type Told = (
    Vec<crate::SteeredTurn>,
    Vec<crate::TurnUid>,
    Vec<(String, Importance, String)>,
);

/// What the user decided, as the rows tell it.
fn told(store: &Store) -> Told {
    let reader = store.reader();
    let ids = reader.episodes_of(&ForgetTarget::All).expect("reads");
    let mut episodes: Vec<_> = reader
        .texts_with_hidden(&ids)
        .expect("reads")
        .into_iter()
        .map(|text| (text.prompt, text.importance, text.importance_rule))
        .collect();
    episodes.sort();
    let mut forgotten = reader.tombstones().expect("reads");
    forgotten.sort_unstable();
    (reader.steered_turns().expect("reads"), forgotten, episodes)
}

/// The store's database replaced by a copy of it.
fn put_back(store: &mut Store, copy: &std::path::Path) {
    store.writer = Writer::open(&store.path.with_file_name("no/memory.db")).expect("opens");
    for suffix in ["-wal", "-shm"] {
        fs_err::remove_file(crate::copy::with_suffix(&store.path, suffix)).ok();
    }
    fs_err::copy(copy, &store.path).expect("copies");
    store.writer = Writer::open(&store.path).expect("opens");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever was decided in whatever order: a copy from any moment of it, put back, is what the database was.
    #[test]
    fn a_copy_of_any_moment_does_what_was_decided_since(acts in acts(), at in 0..14_usize) {
        let mut store = Store::new();
        store.fill(&PROMPTS);
        let copy = store.path.with_file_name("older.db");
        store.copy_to(&copy);
        for (number, act) in acts.iter().enumerate() {
            if number == at {
                store.copy_to(&copy);
            }
            perform(&mut store, *act);
        }
        let direct = told(&store);
        is_sound(&mut store);
        put_back(&mut store, &copy);
        // What was read again since then comes with its transcript.
        for number in 0..3 {
            perform(&mut store, Act::ReadAgain(number));
        }
        prop_assert_eq!(&told(&store), &direct);
        is_sound(&mut store);
        reopened(&mut store);
        prop_assert_eq!(&told(&store), &direct, "to follow twice changes nothing");
        is_sound(&mut store);
    }
}
