//! A search that a person asks for: by words, by meaning, or by both.
//!
//! In: the query's terms and embedding, a read-only [`Reader`], the [`CodeIndex`], and which episodes may be found. Out: what was
//! found, best first, one episode a turn. The constants are those of the default profile; there is no topic gate and no relevance
//! floor, since whoever asks wants to see. Nothing is logged, and nothing counts as shown or used. Unlike a recall it fails where
//! a leg fails: whoever asked is told.

use std::collections::HashSet;
use std::sync::{PoisonError, RwLock};

use remembrancer_schema::{EpisodeIds, MatchExpression, QueryError, Reader, Scope, UnixMillis, query_terms};

use super::coarse::{CodeIndex, Shards};
use super::fusion::{Fused, fuse};
use super::leg::Leg;
use super::legs::Words;
use super::pool::{Compared, Found, candidates};
use super::profile::{DEFAULT, Profile, Rule};
use super::query::MAX_TERMS;
use crate::embed::Embedding;
use crate::ingest::redact;

/// Episodes that each leg brings in: as far as a person can page. Constant, so that every page is of the same order.
pub const SEARCH_DEPTH: usize = 1_000;

/// By what a search goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchMode {
    /// By words: BM25.
    Lexical,
    /// By meaning: the cosine with the query's embedding.
    Semantic,
    /// By both, fused by their ranks.
    Hybrid,
}

impl SearchMode {
    /// The mode's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lexical => "lexical",
            Self::Semantic => "semantic",
            Self::Hybrid => "hybrid",
        }
    }

    /// Whether the query's embedding is needed.
    pub fn goes_by_meaning(self) -> bool {
        self != Self::Lexical
    }

    fn goes_by_words(self) -> bool {
        self != Self::Semantic
    }
}

/// What is searched for.
#[derive(Debug, Clone, Copy)]
pub struct Sought<'a> {
    /// The query's terms: [`search_terms`] of it.
    pub terms: &'a [String],
    /// The query's embedding, where the mode needs it.
    pub embedding: Option<&'a Embedding>,
    /// By what to go.
    pub mode: SearchMode,
    /// None but these; `None` for all.
    pub within: Option<&'a EpisodeIds>,
    /// The time of asking.
    pub now: UnixMillis,
}

/// What a search goes through.
#[derive(Debug, Clone, Copy)]
pub struct Searched<'a> {
    /// The store.
    pub reader: &'a Reader,
    /// The codes of all embedded episodes.
    pub codes: &'a RwLock<CodeIndex>,
    /// The model whose vectors may be compared.
    pub model_id: &'a str,
}

/// A query without secrets: what is searched for by meaning.
pub fn search_text(query: &str) -> String {
    redact(query.trim()).into_owned()
}

/// The terms of a query, as the index has them: stop words too, where there is nothing else.
pub fn search_terms(text: &str) -> Vec<String> {
    query_terms(text, MAX_TERMS)
}

/// What is found, best first: the best episode of each turn, [`SEARCH_DEPTH`] episodes a leg at most.
///
/// # Errors
/// The store's error.
pub fn search(searched: Searched<'_>, sought: &Sought<'_>) -> Result<Vec<Fused>, QueryError> {
    let words = if sought.mode.goes_by_words() {
        by_words(searched.reader, sought)?
    } else {
        Words::default()
    };
    let found = Found {
        coarse: by_meaning(searched.codes, sought),
        words,
        ..Found::default()
    };
    let compared = Compared {
        model_id: searched.model_id,
        prompt: sought.embedding.filter(|_| sought.mode.goes_by_meaning()),
        conversation: None,
    };
    let mut pool = candidates(searched.reader, &found.union().ids, &found.words, compared, |_| false)?;
    pool.retain(|candidate| candidate.bm25.is_some() || candidate.cosine.is_some());
    let mut turns = HashSet::new();
    let mut fused = fuse(pool, &profile(sought.mode), sought.now);
    fused.retain(|fused| turns.insert(fused.candidate.row.turn_uid));
    Ok(fused)
}

fn by_words(reader: &Reader, sought: &Sought<'_>) -> Result<Words, QueryError> {
    let Some(expression) = MatchExpression::any_of(sought.terms, Scope::All) else {
        return Ok(Words::default());
    };
    let fields = DEFAULT.lexical.fields;
    let hits = match sought.within {
        None => reader.bm25(&expression, fields, SEARCH_DEPTH)?.hits,
        Some(within) => reader.bm25_within(&expression, fields, SEARCH_DEPTH, within)?,
    };
    Ok(Words {
        hits,
        ..Words::default()
    })
}

fn by_meaning(codes: &RwLock<CodeIndex>, sought: &Sought<'_>) -> Vec<remembrancer_schema::EpisodeId> {
    let Some(embedding) = sought.embedding.filter(|_| sought.mode.goes_by_meaning()) else {
        return Vec::new();
    };
    let codes = codes.read().unwrap_or_else(PoisonError::into_inner);
    let admits = |id| sought.within.is_none_or(|within| within.contains(id));
    codes.nearest_admitted(embedding, SEARCH_DEPTH, Shards::All, &admits)
}

/// The default profile, of which those legs count that the mode goes by.
fn profile(mode: SearchMode) -> Profile {
    let weights: &'static [(Leg, f64)] = match mode {
        SearchMode::Lexical => &[(Leg::Bm25, 1.0)],
        SearchMode::Semantic => &[(Leg::Vector, 1.0)],
        SearchMode::Hybrid => &[(Leg::Bm25, 1.0), (Leg::Vector, 1.0)],
    };
    let rule = match DEFAULT.rule {
        Rule::Ranks(fusion) => Rule::Ranks(super::RankFusion { weights, ..fusion }),
        other @ Rule::Convex { .. } => other,
    };
    Profile {
        name: mode.as_str(),
        rule,
        second_stage: None,
        ..DEFAULT
    }
}

#[cfg(test)]
mod tests;
