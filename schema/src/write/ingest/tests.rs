//! Ingest: what reading again, growing, forking, shrinking, replacing and forgetting a transcript does to the store.

mod content;
mod refusals;
mod sessions;
mod sources;

use crate::testing::{MODEL, Store, batch};
use crate::{CandidateRow, IngestBatch, IngestOutcome, TurnUpsert};

/// Stores `turns` and compares what happened.
fn check(store: &mut Store, turns: Vec<TurnUpsert>, expected: IngestOutcome) {
    check_batch(store, &batch(turns), expected);
}

fn check_batch(store: &mut Store, batch: &IngestBatch, expected: IngestOutcome) {
    let outcome = store.writer.ingest(batch).expect("stores");
    assert_eq!(outcome.removed.len() as u64, outcome.retired, "what is gone is named");
    let mut expected = expected;
    expected.removed.clone_from(&outcome.removed);
    expected.projects.clone_from(&outcome.projects);
    assert_eq!(outcome, expected);
}

fn outcome(change: impl FnOnce(&mut IngestOutcome)) -> IngestOutcome {
    let mut outcome = IngestOutcome::default();
    change(&mut outcome);
    outcome
}

fn row(store: &Store, number: u8) -> CandidateRow {
    let id = store.id(number, 0);
    store.reader().candidates(&[id], MODEL).expect("reads").remove(0)
}
