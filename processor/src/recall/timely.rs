//! What is from the time that a prompt names: "what did I decide last Tuesday" asks of few episodes, however far down they are by
//! words and by meaning.
//!
//! In goes the span of days, out come the nearest of it by meaning, its best hits by words, and on every candidate of it how telling
//! that is. Where a store has nothing of that time, the prompt is asked as if it named none.

use std::collections::HashSet;
use std::sync::{PoisonError, RwLock};

use remembrancer_schema::{EpisodeFilter, EpisodeId, EpisodeIds, MatchExpression, QueryError, Reader, Scope, UnixMillis};

use super::Degradation;
use super::coarse::CodeIndex;
use super::fusion::Candidate;
use super::leg::Leg;
use super::legs::{Bounds, Words, absent, shards_of};
use super::notes::Brought;
use super::pool::Found;
use super::profile::{Lexical, Profile};
use super::time_words::{Spoken, spoken_of};
use crate::embed::Embedding;

/// Episodes of the time that each of words and meaning brings in.
pub(super) const TIME_LIMIT: usize = 40;

/// Spans longer than this have no list of their own: much is from "last year", and the best of it is in the pool without.
const MOST_DAYS: i64 = 100;

/// The time that a prompt names, if it names one, and what is found of it.
#[derive(Debug)]
pub(super) struct Named {
    spoken: Option<Spoken>,
    /// Whether the profile has a list of what is of it.
    counts: bool,
    /// The episodes of the prompt's own scope that are of it, where the span is narrow enough.
    within: Option<EpisodeIds>,
    /// How many hits by words there are whatever their time.
    hits: usize,
}

impl Named {
    /// The time that `prompt`, asked at `now`, names.
    pub(super) fn by(prompt: &str, now: UnixMillis, profile: &Profile) -> Self {
        Self {
            spoken: spoken_of(prompt, now),
            counts: profile.counts(Leg::Time),
            within: None,
            hits: 0,
        }
    }

    /// Reads which episodes are of it, and adds the best hits among them to `words`, after those of all times.
    ///
    /// # Errors
    /// [`Degradation::TimeAbsent`].
    pub(super) fn read(
        &mut self,
        reader: &Reader,
        terms: &[String],
        lexical: &Lexical,
        bounds: &Bounds<'_>,
        words: &mut Words,
    ) -> Result<(), Degradation> {
        self.hits = words.hits.len();
        let narrow = |spoken: &&Spoken| self.counts && spoken.days.count() <= MOST_DAYS;
        let Some(spoken) = self.spoken.as_ref().filter(narrow) else {
            return Ok(());
        };
        let within = within(reader, spoken, bounds).map_err(absent(Degradation::TimeAbsent))?;
        add_words(reader, terms, lexical, &within, bounds, words).map_err(absent(Degradation::TimeAbsent))?;
        self.within = Some(within);
        Ok(())
    }

    /// The nearest of it by their codes.
    pub(super) fn nearest(&self, codes: &RwLock<CodeIndex>, prompt: Option<&Embedding>, bounds: &Bounds<'_>) -> Vec<EpisodeId> {
        let Some((within, prompt)) = self.within.as_ref().zip(prompt) else {
            return Vec::new();
        };
        let admits = |id| within.contains(id) && !bounds.left_out.contains(&id);
        let codes = codes.read().unwrap_or_else(PoisonError::into_inner);
        codes.nearest_admitted(prompt, TIME_LIMIT, shards_of(bounds.store_scope()), &admits)
    }

    /// What it brought into the pool: of the `nearest` so many that nothing else had `added`.
    pub(super) fn brought(&self, nearest: &[EpisodeId], added: u32) -> Option<Brought> {
        self.within.as_ref().map(|_| Brought {
            found: nearest.len() as u32,
            added,
            passed_over: None,
        })
    }

    /// Notes on each candidate of it how telling that is: by how few of those that words and meaning `found` anyhow in the prompt's own
    /// scope are of it, 0 where all are, 1 where none is. Returns the time.
    pub(super) fn mark(self, pool: &mut [Candidate], found: &Found) -> Option<Spoken> {
        let spoken = self.spoken?;
        let hits = found.words.hits.iter().take(self.hits).map(|(id, _)| *id);
        let anyhow: HashSet<EpisodeId> = found.coarse.iter().copied().chain(hits).collect();
        let is_of_it = |candidate: &Candidate| spoken.days.contain(candidate.row.created_at);
        let found_anyhow = pool
            .iter()
            .filter(|candidate| !candidate.foreign && anyhow.contains(&candidate.row.id));
        let (all, of_it) = found_anyhow.fold((0_u32, 0_u32), |(all, of_it), candidate| {
            (all + 1, of_it + u32::from(is_of_it(candidate)))
        });
        let most = f64::from(all + 2);
        let rarity = (most / f64::from(of_it + 1)).ln() / most.ln();
        for candidate in pool.iter_mut().filter(|candidate| is_of_it(candidate)) {
            candidate.timely = Some(rarity);
        }
        Some(spoken)
    }
}

fn within(reader: &Reader, spoken: &Spoken, bounds: &Bounds<'_>) -> Result<EpisodeIds, QueryError> {
    let (since, until) = spoken.days.bounds();
    let project = match bounds.store_scope() {
        Scope::Project(project) => project,
        Scope::All => None,
    };
    reader.episodes_within(&EpisodeFilter {
        project,
        since,
        until,
        agent: None,
    })
}

fn add_words(
    reader: &Reader,
    terms: &[String],
    lexical: &Lexical,
    within: &EpisodeIds,
    bounds: &Bounds<'_>,
    words: &mut Words,
) -> Result<(), QueryError> {
    let Some(expression) = MatchExpression::any_of(terms, bounds.store_scope()) else {
        return Ok(());
    };
    let hits = reader.bm25_within(&expression, lexical.fields, bounds.widened(TIME_LIMIT), within)?;
    let (hits, _) = bounds.keep(hits, |(id, _)| *id, TIME_LIMIT);
    let known: HashSet<EpisodeId> = words.hits.iter().map(|(id, _)| *id).collect();
    words.hits.extend(hits.into_iter().filter(|(id, _)| !known.contains(id)));
    Ok(())
}
