//! The index and its lengths, against a naive recount of the episodes' texts after any acts.

use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::analysis::terms;
use crate::lengths::{BLOCK, read_block};
use crate::testing::{Store, batch, session, turn, turn_uid};
use crate::{EpisodeUid, ForgetTarget, IngestBatch, UnixMillis};

/// Texts of few words and of many, of identifiers, of none.
const TEXTS: [&str; 5] = [
    "",
    "the basket's total",
    "crocodile crocodile src/main.rs:42",
    "getUserName 総計 utf8",
    "each line is rounded before the lines are added up, and so three thirds give less than one",
];

/// An act, each a transaction of its own.
#[derive(Clone, Debug)]
enum Act {
    /// Stores passes, each of turns, each by its number and the texts of its parts.
    Store(Vec<Vec<(u8, Vec<usize>)>>),
    Exclude(u8),
    Include(u8),
    Forget(u8),
    Rebuild,
}

/// Turns that the acts are about; every third is of the same session.
const TURNS: u8 = 6;

fn session_of(number: u8) -> String {
    format!("s{}", number % 3)
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let turn = (0..TURNS, prop::collection::vec(0..TEXTS.len(), 0..4));
    let passes = prop::collection::vec(prop::collection::vec(turn, 0..4), 1..4);
    let act = prop_oneof![
        8 => passes.prop_map(Act::Store),
        1 => (0..TURNS).prop_map(Act::Exclude),
        1 => (0..TURNS).prop_map(Act::Include),
        1 => (0..TURNS).prop_map(Act::Forget),
        1 => Just(Act::Rebuild),
    ];
    prop::collection::vec(act, 1..8)
}

fn run(store: &mut Store, act: &Act) {
    match act {
        Act::Store(passes) => {
            let batches: Vec<IngestBatch> = passes
                .iter()
                .map(|turns| {
                    let turns = turns.iter().map(|(number, parts)| {
                        let texts: Vec<&str> = parts.iter().map(|text| TEXTS[*text]).collect();
                        turn(*number, &session_of(*number), &texts)
                    });
                    batch(turns.collect())
                })
                .collect();
            store.writer.ingest_all(&batches).expect("stores");
        }
        Act::Exclude(number) => {
            let session = session(&session_of(*number));
            store.writer.exclude_session(&session).expect("excludes");
        }
        Act::Include(number) => {
            let session = session(&session_of(*number));
            store.writer.include_session(&session).expect("includes");
        }
        Act::Forget(number) => {
            let target = ForgetTarget::Episode(EpisodeUid::of(&turn_uid(*number), 0).to_string());
            // A turn that was never stored can't be forgotten.
            store.writer.forget(&target, UnixMillis(0)).ok();
        }
        Act::Rebuild => store.writer.rebuild_index().expect("rebuilds"),
    }
}

/// The lengths that the stored texts have, of episodes that may be seen.
fn recount(store: &Store) -> BTreeMap<i64, u64> {
    let mut statement = store
        .writer
        .db
        .prepare("SELECT id, prompt, answer FROM episodes JOIN episode_texts ON episode_id = id WHERE hidden = 0")
        .expect("prepares");
    let rows = statement
        .query_map([], |row| {
            let (prompt, answer): (String, String) = (row.get(1)?, row.get(2)?);
            // The project's token is a term of each.
            let length = terms(&prompt).len() + terms(&answer).len() + 1;
            Ok((row.get(0)?, length as u64))
        })
        .expect("reads");
    rows.collect::<Result<_, _>>().expect("reads")
}

/// The lengths as kept, of all episodes that have any.
fn kept(store: &Store) -> BTreeMap<i64, u64> {
    let mut kept = BTreeMap::new();
    for number in 0..2 {
        let mut block = [0; BLOCK];
        read_block(&store.writer.db, number, &mut block).expect("reads");
        let ids = (number * BLOCK as i64..).zip(block);
        kept.extend(
            ids.filter(|(_, length)| *length > 0)
                .map(|(id, length)| (id, u64::from(length))),
        );
    }
    kept
}

fn indexed(store: &Store) -> Vec<i64> {
    let mut statement = store
        .writer
        .db
        .prepare("SELECT id FROM episodes_fts_docsize ORDER BY id")
        .expect("prepares");
    let rows = statement.query_map([], |row| row.get(0)).expect("reads");
    rows.collect::<Result<_, _>>().expect("reads")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn index_and_lengths_follow_the_episodes(acts in acts()) {
        let mut store = Store::new();
        // So that the episodes lie in two blocks of lengths.
        let last = BLOCK as i64 - 4;
        store
            .writer
            .db
            .execute("INSERT INTO sqlite_sequence (name, seq) VALUES ('episodes', :last)", [last])
            .expect("sets the next id");
        for act in &acts {
            run(&mut store, act);
            let expected = recount(&store);
            prop_assert_eq!(kept(&store), expected.clone());
            prop_assert_eq!(indexed(&store), expected.into_keys().collect::<Vec<_>>());
        }
    }
}

#[test]
fn what_one_transaction_indexes_shares_a_segment() {
    let mut store = Store::new();
    let passes: Vec<IngestBatch> = (0..8)
        .map(|number| {
            let mut pass = batch(vec![turn(number, &format!("s{number}"), &["crocodile", "basket"])]);
            pass.source.path = format!("/home/ada/{number}.jsonl");
            pass
        })
        .collect();
    store.writer.ingest_all(&passes).expect("stores");
    let segments: u32 = store
        .writer
        .db
        .query_row("SELECT count(DISTINCT segid) FROM episodes_fts_idx", [], |row| row.get(0))
        .expect("counts");
    assert_eq!(segments, 1);
    assert_eq!(store.found("crocodile").len(), 8);
}
