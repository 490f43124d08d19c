//! What was measured, summed up: per set and profile the figures of all queries, of each category and each stratum, held
//! against the first profile.
//!
//! In go the ranked lists of [`Measured`], out comes a [`Report`] for `--json` and, by [`Report::table`], for people.

mod summary;
mod table;

use std::collections::BTreeMap;

use serde::Serialize;

use super::statistics::{Estimate, Resampling};

/// The category of questions that a set asks about what was never said, though it judges what comes close. They are
/// reported on their own, neither tested nor part of the overall figures.
pub const UNANSWERABLE: &str = "adversarial";

/// Fewer queries than this are reported and not tested.
pub const FEWEST_TESTED: usize = 50;

/// Below this p-value, corrected, a difference counts as one.
pub const SIGNIFICANCE: f64 = 0.05;

/// One profile's answers to all queries of one set.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// The set's name.
    pub set: String,
    /// The profile's name.
    pub profile: String,
    /// An answer a query.
    pub queries: Vec<QueryResult>,
    /// What was shown to prompts that nothing answers.
    pub noise: Vec<NoiseResult>,
}

/// The answer to one query.
#[derive(Clone, Debug, Default)]
pub struct QueryResult {
    /// The query's name; it pairs this answer with the first profile's.
    pub query_id: String,
    /// The kind of question, by the set's makers.
    pub category: Option<String>,
    /// The strata that the query belongs to: exact, pasted, paraphrase, multi-hop.
    pub strata: Vec<String>,
    /// What it shares its documents with: the conversation or project.
    pub cluster: String,
    /// Document indices, best first; ten are enough.
    pub ranked: Vec<usize>,
    /// The documents that answer, with their grades.
    pub relevant: BTreeMap<usize, u32>,
    /// How long the answer took, in milliseconds.
    pub millis: f64,
    /// How many recollections would be shown.
    pub shown: usize,
    /// How many of these answer the query.
    pub shown_relevant: usize,
}

/// What became of one kind of prompts that nothing answers.
#[derive(Clone, Debug, Default)]
pub struct NoiseResult {
    /// The kind: chatter, coding, people of whom nothing is stored, another conversation's questions.
    pub kind: String,
    /// How many there were.
    pub prompts: usize,
    /// For how many something would be shown all the same.
    pub shown_something: usize,
}

/// How a report is figured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReportOptions {
    /// Seed and rounds.
    pub resampling: Resampling,
    /// Whether whole clusters are drawn, not single queries.
    pub clustered: bool,
}

/// Everything that was measured in one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The profile that the others are held against; none where nothing was measured.
    pub first_profile: Option<String>,
    /// One a set and profile, in the order they were measured.
    pub results: Vec<ProfileResult>,
}

/// One profile on one set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProfileResult {
    /// The set's name.
    pub set: String,
    /// The profile's name.
    pub profile: String,
    /// All judged queries of the set's makers, without those of [`UNANSWERABLE`] and those made by [`exact`](super::exact) and
    /// [`pasted`](super::pasted).
    pub overall: Figures,
    /// Each category; not one that holds just what `overall` holds.
    pub categories: BTreeMap<String, Figures>,
    /// Each stratum.
    pub strata: BTreeMap<String, Figures>,
    /// The mean time a query, in milliseconds.
    pub millis: f64,
    /// Prompts that nothing answers, and the set's queries without an answer as kind `unanswered`.
    pub noise: Vec<NoiseShare>,
}

/// The figures of some queries: means with intervals.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// How many queries there are.
    pub queries: usize,
    /// [Recall](super::metrics::recall) at each of [`CUTS`](super::metrics::CUTS).
    pub recall: BTreeMap<usize, Estimate>,
    /// [Mean reciprocal rank](super::metrics::reciprocal_rank) at 10.
    pub mrr: Estimate,
    /// [nDCG](super::metrics::ndcg) at 10.
    pub ndcg: Estimate,
    /// What the user would see.
    pub shown: Shown,
    /// How recall@3 differs from the first profile's; none for the first itself.
    pub versus_first: Option<Comparison>,
}

/// What is shown for some queries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Shown {
    /// The mean number of recollections.
    pub mean: f64,
    /// The share of queries for which nothing is shown.
    pub silent: f64,
    /// The share for which nothing relevant is shown; the silent ones are part of it.
    pub nothing_relevant: f64,
}

/// A difference in recall@3 to the first profile, on the same queries.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The mean difference, above 0 where this profile is better.
    pub difference: Estimate,
    /// The paired test; none under [`FEWEST_TESTED`] queries and for [`UNANSWERABLE`].
    pub test: Option<PairedTest>,
}

/// The result of a paired sign-flip permutation test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PairedTest {
    /// The p-value by itself.
    pub p_value: f64,
    /// The p-value after Holm's correction over all sets and categories that were tested for this profile.
    pub corrected: f64,
}

/// The share of one kind of prompts for which something was shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NoiseShare {
    /// The kind.
    pub kind: String,
    /// How many prompts there were.
    pub prompts: usize,
    /// The share, from 0 to 1.
    pub share: f64,
}

/// What a test found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Better than the first profile.
    Better,
    /// Worse than the first profile.
    Worse,
    /// No difference was shown, or none was tested for.
    Open,
}

impl Report {
    /// Sums up what was measured. The profile of the first entry is what the others are held against.
    pub fn new(measured: &[Measured], options: &ReportOptions) -> Self {
        summary::report(measured, options)
    }

    /// The report for people: plain text of at most 120 columns.
    pub fn table(&self) -> String {
        table::render(self)
    }
}

impl Figures {
    /// Whether recall@3 is better or worse than the first profile's beyond chance.
    pub fn verdict(&self) -> Verdict {
        let Some(comparison) = self.versus_first else {
            return Verdict::Open;
        };
        match comparison.test {
            Some(test) if test.corrected < SIGNIFICANCE && comparison.difference.mean > 0.0 => Verdict::Better,
            Some(test) if test.corrected < SIGNIFICANCE && comparison.difference.mean < 0.0 => Verdict::Worse,
            _ => Verdict::Open,
        }
    }
}

#[cfg(test)]
mod tests;
