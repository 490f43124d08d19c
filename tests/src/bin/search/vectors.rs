//! The vector leg: loading the codes, the coarse search, the exact cosine of what it finds, and how much of the exact order
//! that keeps; sqlite-vec's own search beside it.

use std::collections::HashSet;
use std::time::Duration;

use remembrancer_processor::embed::Embedding;
use remembrancer_processor::recall::{COARSE_LIMIT, CodeIndex, Shards};
use remembrancer_schema::{EpisodeId, Reader};
use remembrancer_tests::synthetic::{MODEL, Store, Vectors};
use remembrancer_tests::timed;

use super::report;

/// Prompts; their numbers are those of no episode.
const PROMPTS: u64 = 50;
const FIRST_PROMPT: u64 = 1 << 42;
/// Of the exact neighbours, how many are looked for.
const NEIGHBOURS: usize = 50;
/// Prompts for which sqlite-vec is asked, which takes seconds on large stores.
const BASELINE_PROMPTS: usize = 10;

/// Measures the vector leg over all projects and in the largest.
pub(crate) fn report_all(reader: &Reader, vectors: &Vectors, store: &Store, size: u64, baseline: bool) {
    let mut codes = CodeIndex::new(vectors.dimension());
    let ((), took) = timed(|| {
        let each = |id, project, code: &[u8]| codes.insert(id, project, code);
        reader.for_each_code(each).unwrap();
    });
    println!("  loading {} codes: {:.0} ms", codes.len(), took.as_secs_f64() * 1e3);
    let prompts: Vec<Embedding> = (0..PROMPTS)
        .map(|number| Embedding::from_unit(vectors.of(FIRST_PROMPT + number)))
        .collect();
    let everything = search(reader, &codes, &prompts, Shards::All, "all");
    search(reader, &codes, &prompts, Shards::Only(Some(store.projects[0])), "project");
    println!(
        "  recall@{NEIGHBOURS} of the exact order: {:.4}",
        kept(&everything, &exact(vectors, size, &prompts))
    );
    if baseline {
        let asked = prompts.iter().take(BASELINE_PROMPTS);
        let times = asked.map(|prompt| timed(|| reader.nearest_codes(&prompt.bit_code(), 200).unwrap()).1);
        report("  200 by sqlite-vec's bit codes", times.collect());
    }
}

/// Searches and gives what is nearest by the exact cosine.
fn search(reader: &Reader, codes: &CodeIndex, prompts: &[Embedding], shards: Shards, name: &str) -> Vec<Vec<EpisodeId>> {
    let (mut coarse, mut whole): (Vec<Duration>, Vec<Duration>) = Default::default();
    let found = prompts.iter().map(|prompt| {
        let (ids, took) = timed(|| codes.nearest(prompt, COARSE_LIMIT, shards, &HashSet::new()));
        let (ranked, rescored) = timed(|| {
            let mut ranked: Vec<(f32, EpisodeId)> = reader
                .candidates(&ids, &MODEL)
                .unwrap()
                .into_iter()
                .map(|row| (prompt.cosine_with(&row.embedding.unwrap()), row.id))
                .collect();
            ranked.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
            ranked
        });
        coarse.push(took);
        whole.push(took + rescored);
        ranked.into_iter().take(NEIGHBOURS).map(|(_, id)| id).collect()
    });
    let found = found.collect();
    report(&format!("vectors, {name}: coarse"), coarse);
    report(&format!("vectors, {name}: with exact cosines"), whole);
    found
}

/// The exact neighbours of each prompt among all episodes. Ids count from 1, and turns were stored in order.
fn exact(vectors: &Vectors, size: u64, prompts: &[Embedding]) -> Vec<HashSet<EpisodeId>> {
    let mut all: Vec<Vec<(f32, i64)>> = vec![Vec::with_capacity(size as usize); prompts.len()];
    for number in 0..size {
        let vector = vectors.of(number);
        for (prompt, all) in prompts.iter().zip(&mut all) {
            all.push((prompt.cosine_with(&vector), number as i64 + 1));
        }
    }
    let nearest = |mut all: Vec<(f32, i64)>| {
        all.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        all.into_iter().take(NEIGHBOURS).map(|(_, id)| EpisodeId(id)).collect()
    };
    all.into_iter().map(nearest).collect()
}

fn kept(found: &[Vec<EpisodeId>], exact: &[HashSet<EpisodeId>]) -> f64 {
    let shares = found
        .iter()
        .zip(exact)
        .map(|(found, exact)| found.iter().filter(|id| exact.contains(id)).count() as f64 / exact.len() as f64);
    shares.sum::<f64>() / found.len() as f64
}
