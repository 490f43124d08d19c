//! The second stage: the first candidates of the fused order with their texts, weighed by what speaks for each.
//!
//! Texts are read for the first few dozen alone: the pool holds hundreds, and the fused order is right about the rest.

use std::cmp::Ordering;

use remembrancer_schema::{BOOSTED, EpisodeText, PINNED, QueryError, Reader};

use super::Question;
use super::asks_past::asks_for_what_was;
use super::evidence::{Background, Evidence};
use super::fusion::{Fused, own_among};
use super::nearness::Nearness;
use super::occurrences::{Occurrences, TermWeights};
use super::origin::is_from_the_web;
use super::profile::Profile;
use super::support::Support;
use super::time_words::Spoken;
use crate::deadline::Deadline;

/// Candidates that are weighed, of the prompt's own project where others take part. Of what is right and in the pool at all, nineteen
/// in twenty lie among the first forty.
pub const WEIGHED: usize = 40;

/// Candidates of other projects that are weighed: of what little is strong enough, three at most are shown.
pub(super) const OTHERS_WEIGHED: usize = 10;

/// So many more are weighed where the prompt names a time: what is of it is spread among what is not.
pub(super) const TIMELY: usize = 20;

/// Of two candidates that fit as well, the one for which no page of the web was read goes first: others may have written the page so
/// that it fits. In the second stage's scores, which lie between 0 and 6 for what is shown; it decides between such alone as lie this
/// close, and drops nothing. Chosen small, not learnt: no judged set tells where its answers come from (ADR 0037).
const WEB_HANDICAP: f64 = 0.05;

pub(super) fn handicap(text: &EpisodeText) -> f64 {
    if is_from_the_web(&text.facets) { WEB_HANDICAP } else { 0.0 }
}

/// What the user pinned or boosted goes before what fits somewhat better: by so much of the second stage's scores, about the distance
/// between two that are shown one after the other. It decides among what is relevant, and makes nothing so. (Profiles that count
/// importance count it by their own rule, of which it is high; ADR 45.)
const USERS_WORD: f64 = 0.5;

/// What the user's own word about an episode is worth.
pub(super) fn users_word(text: &EpisodeText) -> f64 {
    match text.importance_rule.as_str() {
        PINNED | BOOSTED => USERS_WORD,
        _ => 0.0,
    }
}

/// A candidate with its text and what speaks for it.
#[derive(Debug, Clone)]
pub struct Weighed {
    /// The candidate as fused.
    pub fused: Fused,
    /// Its texts.
    pub text: EpisodeText,
    /// What speaks for it.
    pub evidence: Evidence,
    /// The score that it is ordered by: higher is better; only comparable within one recall, and among the prompt's own project or
    /// among the others.
    pub score: f64,
    /// The best cosine of those that it was held against, by which the second stage blends its weights.
    pub best_cosine: f64,
    /// Its 1-based place in the fused order.
    pub place: u32,
    /// Which of the prompt's terms it holds: bit `i` for the `i`-th.
    pub words: u64,
}

/// The order of candidates: the prompt's own project before others, each by its scores, best first.
fn own_and_best_first(a: &Weighed, b: &Weighed) -> Ordering {
    let foreign = |weighed: &Weighed| weighed.fused.candidate.foreign;
    foreign(a).cmp(&foreign(b)).then_with(|| b.score.total_cmp(&a.score))
}

/// The weighed candidates of one prompt, the prompt's own project first, best first.
#[derive(Debug, Clone, Default)]
pub struct Weighing {
    /// The candidates.
    pub candidates: Vec<Weighed>,
    /// How many terms the prompt has that are asked of a text: all but those that only name a time.
    pub terms: usize,
    /// What those of the prompt's own scope say together.
    pub support: Support,
    /// In how many episodes each of the prompt's terms occurs, and what it weighs.
    pub frequencies: Vec<(u64, f64)>,
}

/// What is asked.
pub(super) struct Asked<'a> {
    /// The prompt.
    pub(super) question: &'a Question,
    /// The time that it names.
    pub(super) spoken: Option<&'a Spoken>,
    /// In how many episodes each of its terms occurs, where a leg has counted them; else they are counted.
    pub(super) document_frequencies: Option<Vec<u64>>,
}

/// Weighs the first of `fused`, and orders them anew where the profile has a second stage. What is of another project comes
/// behind the prompt's own, is held against its like alone, changes nothing about the own one's, and does not speak for the prompt's having an answer.
///
/// # Errors
/// The store's error, [`QueryError::Interrupted`] when the deadline passed.
pub(super) fn weigh(
    reader: &Reader,
    asked: Asked<'_>,
    fused: Vec<Fused>,
    profile: &Profile,
    deadline: Deadline,
) -> Result<Weighing, QueryError> {
    let query = &asked.question.query;
    let frequencies = match asked.document_frequencies {
        Some(frequencies) => frequencies,
        None => reader.document_frequency(&query.terms)?,
    };
    let documents = reader.indexed_episodes()?;
    let mut nearness = Nearness::to(&query.terms);
    let of_its_like = |candidates: &[Fused]| {
        let is_any_timely = candidates.iter().any(|fused| fused.candidate.timely.is_some());
        let spoken = asked.spoken.filter(|_| is_any_timely);
        let terms = TermWeights::new(&query.terms, &frequencies, documents, &query.text, spoken);
        (Background::of(candidates), terms, is_any_timely)
    };
    let (of_own, of_others) = fused.split_at(own_among(&fused));
    let (beside_own, terms, is_any_timely) = of_its_like(of_own);
    let (beside_others, terms_of_others, _) = of_its_like(of_others);
    let first = first_of_each(fused, WEIGHED + if is_any_timely { TIMELY } else { 0 });
    let ids: Vec<_> = first.iter().map(|(_, fused)| fused.candidate.row.id).collect();
    // An episode that was deleted since the pool was read has no text, and is passed over.
    let mut texts = reader.texts(&ids)?.into_iter().peekable();
    let mut candidates = Vec::with_capacity(first.len());
    let mut found_anywhere = vec![false; terms.len()];
    for (place, fused) in first {
        let Some(text) = texts.next_if(|text| text.id == fused.candidate.row.id) else {
            continue;
        };
        if deadline.has_passed() {
            return Err(QueryError::Interrupted { act: "weigh candidates" });
        }
        let (background, terms) = if fused.candidate.foreign {
            (&beside_others, &terms_of_others)
        } else {
            (&beside_own, &terms)
        };
        let occurrences = Occurrences::of(&text, terms, &mut nearness);
        let (evidence, best_cosine) = (background.evidence(&fused, &occurrences, terms), background.best_cosine());
        if !fused.candidate.foreign {
            for (found, here) in found_anywhere.iter_mut().zip(&occurrences.anywhere) {
                *found |= here;
            }
        }
        let score = match profile.second_stage {
            Some(model) => model.score(&evidence, best_cosine) - handicap(&text) + users_word(&text),
            None => fused.score,
        };
        candidates.push(Weighed {
            fused,
            text,
            evidence,
            score,
            best_cosine,
            place,
            words: occurrences.mask(),
        });
    }
    // Stable: equal scores stay in the fused order, which is total.
    candidates.sort_by(own_and_best_first);
    let speaking: Vec<Evidence> = candidates
        .iter()
        .filter(|weighed| !weighed.fused.candidate.foreign)
        .map(|weighed| weighed.evidence)
        .collect();
    Ok(Weighing {
        support: Support::of(&speaking, &terms, &found_anywhere, asks_for_what_was(&query.text)),
        candidates,
        terms: terms.asked(),
        frequencies: frequencies.into_iter().zip(terms.into_weights()).collect(),
    })
}

/// The first `count` of the prompt's own project, which stand first, and the first [`OTHERS_WEIGHED`] of others, each with its 1-based
/// place.
fn first_of_each(mut fused: Vec<Fused>, count: usize) -> Vec<(u32, Fused)> {
    let own = own_among(&fused);
    let others = fused.split_off(own);
    let own_places = (1..).zip(fused).take(count);
    own_places
        .chain((own as u32 + 1..).zip(others).take(OTHERS_WEIGHED))
        .collect()
}
