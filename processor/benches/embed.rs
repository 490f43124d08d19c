//! What embedding costs: a prompt alone, a prompt while the background lane is busy, and passages in bulk.
//!
//! The lengths are those of `DESIGN`'s targets: a short question, a usual prompt, the longest that is embedded whole. The
//! background lane has one thread, as in the daemon, but not its idle priority: read "busy" as the worst case.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use remembrancer_processor::embed::{BertEmbedder, Embed, Lane};

/// A text of `tokens` tokens, both marks among them; every word is one.
fn text(tokens: usize, seed: usize) -> String {
    const WORDS: [&str; 10] = [
        "the", "lock", "socket", "error", "file", "test", "build", "why", "code", "path",
    ];
    let words = (0..tokens - 2).map(|place| WORDS[(place * 7 + seed * 3 + place / 3) % WORDS.len()]);
    words.collect::<Vec<_>>().join(" ")
}

fn load(criterion: &mut Criterion) {
    criterion.bench_function("load", |bencher| {
        bencher.iter(|| BertEmbedder::embedded().expect("the built-in model"));
    });
}

fn queries(criterion: &mut Criterion) {
    let embedder = BertEmbedder::embedded().expect("the built-in model");
    let front = Lane::new("front", 2, || ()).expect("threads");
    let back = Lane::new("back", 1, || ()).expect("a thread");
    let mut group = criterion.benchmark_group("query");
    let mut measure = |kind: &str| {
        for tokens in [8, 32, 128] {
            let prompt = text(tokens, 1);
            group.bench_function(BenchmarkId::new(kind, tokens), |bencher| {
                bencher.iter(|| front.run(|| embedder.embed_query(black_box(&prompt)).expect("a vector")));
            });
        }
    };
    measure("alone");
    let stop = AtomicBool::new(false);
    let backlog: Vec<String> = (0..32).map(|seed| text(60 + seed * 5, seed)).collect();
    let backlog: Vec<&str> = backlog.iter().map(String::as_str).collect();
    thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                black_box(back.run(|| embedder.embed_passages(&backlog)).expect("vectors"));
            }
        });
        measure("busy");
        stop.store(true, Ordering::Relaxed);
    });
    group.finish();
}

fn passages(criterion: &mut Criterion) {
    let embedder = BertEmbedder::embedded().expect("the built-in model");
    let mut group = criterion.benchmark_group("passages");
    group.sample_size(10);
    for (threads, count, tokens) in [(1, 32, 32), (1, 8, 256), (2, 32, 32), (2, 8, 256)] {
        let lane = Lane::new("bulk", threads, || ()).expect("threads");
        let texts: Vec<String> = (0..count).map(|seed| text(tokens, seed)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        group.throughput(Throughput::Elements((count * tokens) as u64));
        group.bench_function(BenchmarkId::new(format!("threads-{threads}"), tokens), |bencher| {
            bencher.iter(|| lane.run(|| embedder.embed_passages(black_box(&texts)).expect("vectors")));
        });
    }
    group.finish();
}

criterion_group!(benches, load, queries, passages);
criterion_main!(benches);
