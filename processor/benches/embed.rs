//! What embedding costs: loading, a prompt alone, a prompt while the background lane is busy, and passages in bulk.
//!
//! The lengths are those of `DESIGN`'s targets: a short question, a usual prompt, the longest prompt, the longest passage; the
//! batches are a short and a usual one of the backlog, of mixed lengths. The background lane has one thread, as in the
//! daemon, but not its idle priority: read "busy" as the worst case. "f32" and "int8" are the two kinds of products; a machine
//! without instructions for the latter does the former twice.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use remembrancer_processor::embed::{BertEmbedder, DeviceChoice, Embed, Lane, Precision};

/// The model with each kind of products, by the names of the groups.
fn embedders() -> [(&'static str, BertEmbedder); 2] {
    [("f32", Precision::F32), ("int8", Precision::Auto)].map(|(name, precision)| {
        let embedder = BertEmbedder::embedded_with(DeviceChoice::Cpu, precision).expect("the built-in model");
        (name, embedder)
    })
}

/// A text of `tokens` tokens, both marks among them; every word is one.
fn text(tokens: usize, seed: usize) -> String {
    const WORDS: [&str; 10] = [
        "the", "lock", "socket", "error", "file", "test", "build", "why", "code", "path",
    ];
    let words = (0..tokens - 2).map(|place| WORDS[(place * 7 + seed * 3 + place / 3) % WORDS.len()]);
    words.collect::<Vec<_>>().join(" ")
}

/// Texts of 16 to 256 tokens, 136 on average, in no order of length.
fn mixed(count: usize) -> Vec<String> {
    (0..count).map(|seed| text(16 + seed * 7 % 16 * 16, seed)).collect()
}

fn load(criterion: &mut Criterion) {
    criterion.bench_function("load", |bencher| {
        bencher.iter(|| BertEmbedder::embedded().expect("the built-in model"));
    });
}

fn alone(criterion: &mut Criterion) {
    let embedders = embedders();
    for threads in [1, 2] {
        let lane = Lane::new("alone", threads, || ()).expect("threads");
        for tokens in [8, 16, 32, 64, 128, 256] {
            let passage = text(tokens, 1);
            // Side by side, so that what else the machine does meets both.
            for (name, embedder) in &embedders {
                let mut group = criterion.benchmark_group(format!("alone-{name}"));
                group.bench_function(BenchmarkId::new(format!("threads-{threads}"), tokens), |bencher| {
                    bencher.iter(|| lane.run(|| embedder.embed_passages(&[black_box(&passage)]).expect("a vector")));
                });
                group.finish();
            }
        }
    }
}

fn busy(criterion: &mut Criterion) {
    let embedder = BertEmbedder::embedded().expect("the built-in model");
    let front = Lane::new("front", 2, || ()).expect("threads");
    let back = Lane::new("back", 1, || ()).expect("a thread");
    let mut group = criterion.benchmark_group("busy");
    let stop = AtomicBool::new(false);
    let backlog = mixed(32);
    let backlog: Vec<&str> = backlog.iter().map(String::as_str).collect();
    thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                black_box(back.run(|| embedder.embed_passages(&backlog)).expect("vectors"));
            }
        });
        for tokens in [8, 32, 128] {
            let prompt = text(tokens, 1);
            group.bench_function(BenchmarkId::new("query", tokens), |bencher| {
                bencher.iter(|| front.run(|| embedder.embed_query(black_box(&prompt)).expect("a vector")));
            });
        }
        stop.store(true, Ordering::Relaxed);
    });
    group.finish();
}

fn batches(criterion: &mut Criterion) {
    let embedders = embedders();
    for (threads, count) in [(1, 16), (1, 32), (2, 16), (2, 32)] {
        let lane = Lane::new("bulk", threads, || ()).expect("threads");
        let texts = mixed(count);
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        for (name, embedder) in &embedders {
            let mut group = criterion.benchmark_group(format!("batch-{name}"));
            group.sample_size(10);
            group.throughput(Throughput::Elements(136 * count as u64));
            group.bench_function(BenchmarkId::new(format!("threads-{threads}"), count), |bencher| {
                bencher.iter(|| lane.run(|| embedder.embed_passages(black_box(&texts)).expect("vectors")));
            });
            group.finish();
        }
    }
}

criterion_group!(benches, load, alone, busy, batches);
criterion_main!(benches);
