use super::*;
use crate::ForgetTarget;
use crate::testing::Store;

/// A store with all there is: embedded, forgotten, changed.
fn store() -> Store {
    let mut store = Store::new();
    store.fill(&[
        "the parser drops the last line",
        "der Cache antwortet zweimal",
        "no index row is missing",
    ]);
    store.embed();
    let forgotten = ForgetTarget::Episode(EpisodeUid::of(&crate::testing::turn_uid(1), 0).to_string());
    store.writer.forget(&forgotten, UnixMillis(9)).expect("forgets");
    let first = crate::testing::turn_uid(0);
    store
        .writer
        .steer(&[first], crate::Steering::Boost, UnixMillis(9))
        .expect("boosts");
    store
}

/// The faults after `script` was run on a sound store.
fn faults_after(script: &str) -> Vec<String> {
    let store = store();
    let db = Connection::open(&store.path).expect("opens");
    db.execute_batch(script).unwrap_or_else(|error| panic!("{script}: {error}"));
    audit(&store.path).expect("reads").faults
}

#[test]
fn a_sound_store_has_no_faults() {
    let store = store();
    let found = audit(&store.path).expect("reads");
    assert_eq!(found.faults, Vec::<String>::new());
    assert_eq!(
        (found.schema_version, found.episodes.len(), found.tombstones.len()),
        (LATEST, 2, 1)
    );
    assert!(found.episodes.iter().all(|episode| episode.embedded && !episode.hidden));
}

#[test]
fn each_contradiction_is_found() {
    for (script, expected) in [
        (
            "PRAGMA foreign_keys = 0; DELETE FROM episode_texts WHERE episode_id = 1",
            "text: episode 1 has none",
        ),
        (
            "UPDATE episode_texts SET answer = 'else' WHERE episode_id = 1",
            "text: episode 1 has another hash",
        ),
        ("UPDATE episodes SET part = 7 WHERE id = 1", "uid: episode 1"),
        (
            "INSERT INTO tombstones SELECT turn_uid, 1 FROM episodes WHERE id = 3",
            "tombstone: episode 3",
        ),
        ("DELETE FROM episodes_fts WHERE rowid = 3", "index: no row for episode 3"),
        (
            "UPDATE episodes SET hidden = 1, embedding = NULL, embedding_model = NULL WHERE id = 3",
            "index: a row for episode 3",
        ),
        (
            "UPDATE episode_lengths SET lengths = zeroblob(4096)",
            "length: episode 1 counts as 0",
        ),
        (
            "DELETE FROM episodes_vec WHERE rowid = 3",
            "vector: that of episode 3 has no code",
        ),
        (
            "UPDATE episodes SET embedding = x'0102' WHERE id = 1",
            "vector: that of episode 1 does not decode",
        ),
        (
            "UPDATE episodes SET embedding = zeroblob(32) WHERE id = 1",
            "vector: that of episode 1 has no direction",
        ),
        (
            "UPDATE episodes SET embedding = NULL, embedding_model = NULL WHERE id = 1",
            "vector: a code for episode 1",
        ),
        (
            "UPDATE episodes SET importance = 1 WHERE id = 1",
            "steering: a boosted turn has an episode that does not count as important: 1",
        ),
        (
            "DELETE FROM steered_turns",
            "steering: an episode counts as boosted, and its turn is not: 1",
        ),
        (
            "DELETE FROM boosted_episodes",
            "steering: what the rules said of a boosted episode is not kept: 1",
        ),
        (
            "INSERT INTO boosted_episodes VALUES (3, 1, 'default')",
            "steering: what the rules said is kept of an episode that is not boosted: 3",
        ),
        (
            "INSERT INTO steered_turns SELECT uid, 1, NULL FROM tombstones",
            "steering: a turn that was forgotten is steered",
        ),
        (
            "PRAGMA foreign_keys = 0; UPDATE episodes SET session_id = 99 WHERE id = 1",
            "foreign_key_check: episodes",
        ),
        ("PRAGMA user_version = 12", "version: the file has 12"),
    ] {
        assert_found(script, expected);
    }
}

#[test]
fn each_contradiction_of_what_is_shared_is_found() {
    for (script, expected) in [
        (
            "UPDATE episodes SET generation = -2, source_id = NULL WHERE id = 1",
            "sharing: a pulled episode has no mark of whose it is: 1",
        ),
        (
            "INSERT INTO shared_episodes VALUES (1, 7, 'ada', zeroblob(16), 'm', 1)",
            "sharing: an episode of one's own is marked as another's: 1",
        ),
        (
            "INSERT INTO share_outbox (uid, turn_uid) SELECT uid, turn_uid FROM episodes WHERE id = 1",
            "sharing: a change waits to be told, and nothing is shared: 1",
        ),
        (
            "INSERT INTO share_target (id, active, team_key, allowed) VALUES (1, 1, 'team', '[]');
             INSERT INTO share_outbox (uid, turn_uid) SELECT uid, turn_uid FROM episodes WHERE id = 1;
             INSERT INTO share_outbox (uid, turn_uid) SELECT uid, turn_uid FROM episodes WHERE id = 1",
            "sharing: an episode waits twice to be told of: 2",
        ),
    ] {
        assert_found(script, expected);
    }
}

fn assert_found(script: &str, expected: &str) {
    let faults = faults_after(script);
    assert!(faults.iter().any(|fault| fault.starts_with(expected)), "{script}: {faults:?}");
}

#[test]
fn an_index_that_says_other_words_is_found() {
    let store = store();
    let db = Connection::open(&store.path).expect("opens");
    vec_extension::register().expect("registers");
    db.execute_batch(
        "DELETE FROM episodes_fts WHERE rowid = 1;
         INSERT INTO episodes_fts (rowid, prompt, answer, facets, project) VALUES (1, 'other words', 'done', '', 'p=0')",
    )
    .expect("writes");
    let faults = audit(&store.path).expect("reads").faults;
    assert!(
        faults
            .iter()
            .any(|fault| fault == "index: episode 1: other terms than its prompt"),
        "{faults:?}"
    );
}

#[test]
fn of_many_faults_the_first_are_told() {
    let mut faults = Faults::default();
    (0..9).for_each(|number| faults.add("kind", number.to_string()));
    let told = faults.told();
    assert_eq!((told.len(), told[5].as_str()), (6, "kind: 4 more"));
}

#[test]
fn a_fact_that_is_none_is_found() {
    let mut store = Store::new();
    let everywhere = crate::ProjectNames::everywhere();
    store
        .writer
        .remember("the registry is closed on Sundays", None, &everywhere, UnixMillis(9))
        .expect("remembers");
    let is_none = |fault: &String| fault.starts_with("steering: a fact is no turn of one part with a text");
    assert_eq!(audit(&store.path).expect("reads").faults, Vec::<String>::new());
    let db = Connection::open(&store.path).expect("opens");
    db.execute_batch("UPDATE episodes SET importance_rule = 'default'")
        .expect("spoils it");
    assert!(audit(&store.path).expect("reads").faults.iter().any(is_none));
}
