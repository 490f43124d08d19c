//! What the store takes by itself: storing turns, and each query of a prompt. No daemon, no model, no files read.
//!
//! 20,000 episodes are enough for every index to be deeper than a page and few enough to be made in seconds; other sizes are
//! measured by the `search` program. 64 files of 20 turns are what the backfill stores in one transaction. The way that each
//! is compared with stands beside it.

mod data;

use std::hint::black_box;
use std::time::Duration;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use remembrancer_schema::{EpisodeId, FieldWeights, IngestBatch, MatchExpression, Scope};

use data::{Data, MODEL, Store, file};

/// Episodes in the store that is searched and appended to.
const EPISODES: u64 = 20_000;
/// Files in a transaction of the backfill, and turns in each.
const FILES: u64 = 64;
const TURNS: u64 = 20;
/// Words in a prompt.
const PROMPT: usize = 32;
/// Candidates whose values are fetched: about what the legs bring together.
const POOL: i64 = 700;
/// Episodes of the recency leg.
const RECENT: usize = 200;

fn storing(criterion: &mut Criterion) {
    let data = Data::new();
    let files: Vec<IngestBatch> = (0..FILES)
        .map(|number| file(number, (number * TURNS..(number + 1) * TURNS).map(|turn| data.turn(turn))))
        .collect();
    let mut group = criterion.benchmark_group("store");
    group.throughput(Throughput::Elements(FILES * TURNS)).sample_size(10);
    group.bench_function("64 files of 20 small turns in one transaction", |bencher| {
        let store = |mut store: Store| {
            store.writer.ingest_all(&files).expect("stores");
            store
        };
        bencher.iter_batched(Store::new, store, BatchSize::PerIteration);
    });
    group.bench_function("the same, a transaction a file", |bencher| {
        let store = |mut store: Store| {
            for pass in &files {
                store.writer.ingest(pass).expect("stores");
            }
            store
        };
        bencher.iter_batched(Store::new, store, BatchSize::PerIteration);
    });
    group.finish();
}

fn appending(criterion: &mut Criterion) {
    let data = Data::new();
    let mut store = Store::filled(&data, EPISODES);
    let mut appended = 0;
    let mut group = criterion.benchmark_group("store");
    group.bench_function("an append to an open turn of 4 parts", |bencher| {
        bencher.iter(|| {
            appended += 1;
            let batch = file(u64::MAX, [data.open_turn(4, appended)]);
            store.writer.ingest(&batch).expect("stores")
        });
    });
    group.finish();
}

fn searching(criterion: &mut Criterion) {
    let data = Data::new();
    let store = Store::filled(&data, EPISODES);
    let reader = store.reader();
    let expressions: Vec<MatchExpression> = (0..64)
        .map(|number| MatchExpression::any_of(&data.prompt(number, PROMPT), Scope::All).expect("has terms"))
        .collect();
    let mut group = criterion.benchmark_group("search");
    let mut next = expressions.iter().cycle();
    group.bench_function("bm25, 32 words", |bencher| {
        bencher.iter(|| reader.bm25(next.next().expect("cycles"), FieldWeights::EQUAL, RECENT));
    });
    group.bench_function("the same by FTS5's bm25()", |bencher| {
        bencher.iter(|| reader.bm25_of_fts5(next.next().expect("cycles"), FieldWeights::EQUAL, RECENT));
    });
    group.bench_function("the 200 recently accessed", |bencher| {
        bencher.iter(|| reader.recently_accessed(Scope::All, RECENT));
    });
    let pool: Vec<EpisodeId> = (1..=POOL)
        .map(|place| EpisodeId(place * 7_919 % EPISODES as i64 + 1))
        .collect();
    group.bench_function("values of a pool of 700", |bencher| {
        bencher.iter(|| reader.candidates(&pool, MODEL));
    });
    group.bench_function("loading 20,000 codes", |bencher| {
        bencher.iter(|| {
            reader.for_each_code(|id, project, code| {
                black_box((id, project, code));
            })
        });
    });
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(4));
    targets = storing, appending, searching
}
criterion_main!(benches);
