//! The graph leg: episodes linked to the best hits by their conversation, or by files, commands and errors they share.
//!
//! The links are walked one step from a few seeds, the first hits by words and by meaning; each seed hands on the
//! reciprocal of its rank. A turn beside a seed in its conversation gets that whole; episodes that touched what the seeds
//! touched share it by BM25 over these facets alone, so that what everybody touches links nothing. Seeds 000 to 002 name
//! the leg and leave its making open.

use std::collections::{BTreeMap, HashMap, HashSet};

use remembrancer_schema::{EpisodeId, EpisodeText, FieldWeights, MatchExpression, QueryError, Reader, terms};

use super::Degradation;
use super::fusion::Candidate;
use super::legs::{Bounds, Words, absent};
use super::pool::{Compared, candidates};

/// Hits by each of words and meaning from which links are followed.
const SEEDS: usize = 5;
/// Episodes that the leg brings in at most.
const GRAPH_LIMIT: usize = 50;
/// Names of files, commands and errors that are looked for: the rarest.
const FACET_TERMS: usize = 12;
/// Names that are looked up at most: each costs a query. The best seeds' come first.
const MOST_NAMES: usize = 200;
/// A name that occurs in more than this share of all episodes links nothing.
const COMMON_SHARE: f64 = 0.05;

/// Gives the candidates of `pool` their nearness, and adds the linked episodes that it lacks.
///
/// # Errors
/// The degradation that names why the leg is absent.
pub(super) fn add_linked(
    reader: &Reader,
    pool: &mut Vec<Candidate>,
    words: &Words,
    compared: Compared<'_>,
    bounds: &Bounds<'_>,
) -> Result<(), Degradation> {
    let linked = linked(reader, pool, bounds).map_err(absent(Degradation::GraphAbsent))?;
    let known: HashSet<EpisodeId> = pool.iter().map(|candidate| candidate.row.id).collect();
    let missing: Vec<EpisodeId> = linked.iter().map(|(id, _)| *id).filter(|id| !known.contains(id)).collect();
    let found = candidates(reader, &missing, words, compared, |project| bounds.is_foreign(project));
    pool.extend(found.map_err(absent(Degradation::GraphAbsent))?);
    let nearness: HashMap<EpisodeId, f64> = linked.into_iter().collect();
    for candidate in pool {
        candidate.graph = nearness.get(&candidate.row.id).copied();
    }
    Ok(())
}

/// The linked episodes with their nearness to the seeds, in the order of their ids.
fn linked(reader: &Reader, pool: &[Candidate], bounds: &Bounds<'_>) -> Result<Vec<(EpisodeId, f64)>, QueryError> {
    let seeds = seeds(pool);
    let ids: Vec<EpisodeId> = seeds.keys().copied().collect();
    let mut found: BTreeMap<EpisodeId, f64> = BTreeMap::new();
    for (seed, neighbour) in reader.neighbours(&ids)? {
        *found.entry(neighbour).or_default() += seeds.get(&seed).copied().unwrap_or_default();
    }
    let terms = rarest(reader, &facet_terms(&reader.texts(&ids)?))?;
    if let Some(expression) = MatchExpression::any_of_facets(&terms, bounds.store_scope()) {
        let hits = reader
            .bm25(&expression, FieldWeights::EQUAL, bounds.widened(GRAPH_LIMIT))?
            .hits;
        let best = hits.first().map_or(0.0, |(_, score)| score.0);
        for (id, score) in hits {
            *found.entry(id).or_default() += if best < 0.0 { score.0 / best } else { 0.0 };
        }
    }
    let mut found: Vec<(EpisodeId, f64)> = found.into_iter().collect();
    found.sort_by(|(a_id, a), (b_id, b)| b.total_cmp(a).then(a_id.cmp(b_id)));
    Ok(bounds.keep(found, |(id, _)| *id, GRAPH_LIMIT).0)
}

/// The first hits by words and by meaning, each with the sum of its reciprocal ranks. What is of another project links nothing: it
/// changes nothing about the prompt's own (ADR 8).
fn seeds(pool: &[Candidate]) -> BTreeMap<EpisodeId, f64> {
    let by_words = |candidate: &Candidate| candidate.bm25.map(|score| -score.0);
    let by_meaning = |candidate: &Candidate| candidate.cosine.map(|cosine| f64::from(cosine.0));
    let mut seeds: BTreeMap<EpisodeId, f64> = BTreeMap::new();
    for value in [&by_words as &dyn Fn(&Candidate) -> Option<f64>, &by_meaning] {
        let mut order: Vec<(f64, EpisodeId)> = pool
            .iter()
            .filter(|candidate| !candidate.foreign)
            .filter_map(|candidate| Some((value(candidate)?, candidate.row.id)))
            .collect();
        order.sort_by(|(a, a_id), (b, b_id)| b.total_cmp(a).then(a_id.cmp(b_id)));
        for (place, (_, id)) in order.into_iter().take(SEEDS).enumerate() {
            *seeds.entry(id).or_default() += 1.0 / (place as f64 + 1.0);
        }
    }
    seeds
}

/// The names of what the episodes touched, each once: of a path or a command the whole run, not its parts.
fn facet_terms(texts: &[EpisodeText]) -> Vec<String> {
    let facets = texts.iter().map(|text| &text.facets);
    let mut names: Vec<String> = facets
        .flat_map(|facets| facets.files.iter().chain(&facets.commands).chain(&facets.errors))
        .flat_map(|value| value.split_whitespace().filter_map(|word| terms(word).into_iter().next()))
        .collect();
    names.truncate(MOST_NAMES);
    names.sort_unstable();
    names.dedup();
    names
}

fn rarest(reader: &Reader, names: &[String]) -> Result<Vec<String>, QueryError> {
    let frequencies = reader.document_frequency(names)?;
    let most = (reader.indexed_episodes()? as f64 * COMMON_SHARE).max(2.0) as u64;
    // What stands in one episode alone links it to nothing.
    let linking = |frequency: u64| (2..=most).contains(&frequency);
    let frequency: HashMap<&String, u64> = names.iter().zip(frequencies).collect();
    let mut kept: Vec<String> = names.iter().filter(|name| linking(frequency[name])).cloned().collect();
    kept.sort_by_key(|name| frequency[name]);
    kept.truncate(FACET_TERMS);
    Ok(kept)
}
