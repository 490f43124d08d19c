//! The searches by themselves: `cargo run --release -p remembrancer-tests --bin search -- 1000 10000 100000 1000000`.
//!
//! Makes stores of synthetic episodes (`--folder` keeps them for the next run), and prints how long each search takes on each
//! of them: opening, the full-text leg by length of prompt and by scope, the recently accessed, the vectors. No daemon.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program that prints measurements")]

#[path = "search/vectors.rs"]
mod vectors;

use std::path::Path;
use std::time::Duration;

use clap::Parser;
use remembrancer_processor::recall::{BM25_LIMIT, DEFAULT, Query, RECENT_LIMIT};
use remembrancer_schema::{MatchExpression, Reader, Scope};
use remembrancer_tests::synthetic::{Store, Stores, Synthetic, Vectors};
use remembrancer_tests::{Spread, timed};

/// Words in a prompt.
const LENGTHS: [usize; 4] = [8, 32, 128, 1_000];
/// Of the most frequent words, in the prompt that costs most.
const COMMON_WORDS: usize = 20;

#[derive(Debug, Parser)]
struct Arguments {
    #[command(flatten)]
    stores: Stores,
    /// How many prompts of each kind.
    #[arg(long, default_value_t = 200)]
    prompts: u64,
    /// Asks FTS5's own `bm25()` and sqlite-vec the same beside it.
    #[arg(long)]
    baseline: bool,
}

fn main() {
    let arguments = Arguments::parse();
    let synthetic = Synthetic::new();
    let prompts = Prompts::new(&synthetic, arguments.prompts);
    let vectors = Vectors::new(&synthetic);
    arguments.stores.each(|size, store| {
        println!("\n{size} episodes");
        report_writing(store, size);
        let reader = report_opening(&store.path);
        for (name, scope) in [("all", Scope::All), ("project", Scope::Project(Some(store.projects[0])))] {
            report_words(&reader, &prompts, name, scope, arguments.baseline);
            report_recent(&reader, arguments.prompts, name, scope);
        }
        vectors::report_all(&reader, &vectors, store, size, arguments.baseline);
    });
}

/// Terms of prompts by kind.
struct Prompts(Vec<(String, Vec<Vec<String>>)>);

impl Prompts {
    fn new(synthetic: &Synthetic, count: u64) -> Self {
        let mut kinds: Vec<(String, Vec<Vec<String>>)> = LENGTHS
            .iter()
            .map(|&words| {
                let terms = (0..count).map(|number| Query::of(&synthetic.prompt(number, words)).terms);
                (format!("{words} words"), terms.collect())
            })
            .collect();
        let common = Query::of(&synthetic.common_words(COMMON_WORDS)).terms;
        kinds.push((format!("{COMMON_WORDS} common words"), vec![common; 20.min(count as usize)]));
        Self(kinds)
    }
}

fn report_writing(store: &Store, size: u64) {
    if let Some(written) = store.written {
        let rate = |took: Duration| size as f64 / took.as_secs_f64();
        println!(
            "  written: {:.0} turns a second, {:.0} vectors a second, log at most {:.0} MB",
            rate(written.ingest),
            rate(written.embeddings),
            written.largest_log as f64 / 1e6
        );
    }
    let bytes = fs_err::metadata(&store.path).unwrap().len();
    println!("  disk: {:.1} MB, {} bytes an episode", bytes as f64 / 1e6, bytes / size);
}

fn report_opening(path: &Path) -> Reader {
    let (reader, took) = timed(|| Reader::open(path).unwrap());
    println!("  opening a reader: {:.1} ms", took.as_secs_f64() * 1e3);
    reader
}

fn report_words(reader: &Reader, prompts: &Prompts, name: &str, scope: Scope, baseline: bool) {
    for (kind, prompts) in &prompts.0 {
        let (mut ours, mut of_fts5) = (Vec::new(), Vec::new());
        for terms in prompts {
            let expression = MatchExpression::any_of(terms, scope).unwrap();
            let fields = DEFAULT.lexical.fields;
            ours.push(timed(|| reader.bm25(&expression, fields, BM25_LIMIT).unwrap()).1);
            if baseline {
                of_fts5.push(timed(|| reader.bm25_of_fts5(&expression, fields, BM25_LIMIT).unwrap()).1);
            }
        }
        report(&format!("bm25, {name}, {kind}"), ours);
        if baseline {
            report("  the same by FTS5's bm25()", of_fts5);
        }
    }
}

fn report_recent(reader: &Reader, count: u64, name: &str, scope: Scope) {
    let times = (0..count).map(|_| timed(|| reader.recently_accessed(scope, RECENT_LIMIT).unwrap()).1);
    report(&format!("recent, {name}"), times.collect());
}

fn report(what: &str, times: Vec<Duration>) {
    println!("  {what:<34} {}", Spread::from(times));
}
