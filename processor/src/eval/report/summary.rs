//! From answers to figures: queries are grouped into cells (all, a category, a stratum), each cell is estimated and held
//! against the same cell of the first profile, and the p-values of a profile are corrected together.

use std::collections::{BTreeMap, HashMap};

use super::{
    Comparison, FEWEST_TESTED, Figures, Measured, NoiseResult, NoiseShare, PairedTest, ProfileResult, QueryResult, Report,
    ReportOptions, Shown, UNANSWERABLE,
};
use crate::eval::metrics::{CUTS, Scores};
use crate::eval::statistics::{Estimate, holm};
use crate::eval::{exact, pasted};

/// Where recall@3 stands in [`Scores::recall`]: as many as are shown.
const COMPARED_CUT: usize = 1;

/// Recall@3 of the first profile by query.
type Baseline<'a> = HashMap<&'a str, f64>;

/// A query that has an answer, with its figures.
#[derive(Clone, Copy)]
struct Scored<'a> {
    query: &'a QueryResult,
    scores: Scores,
}

pub(super) fn report(measured: &[Measured], options: &ReportOptions) -> Report {
    let first_profile = measured.first().map(|first| first.profile.clone());
    let baselines: HashMap<&str, Baseline> = measured
        .iter()
        .filter(|one| Some(&one.profile) == first_profile.as_ref())
        .map(|one| (one.set.as_str(), baseline(one)))
        .collect();
    let mut results: Vec<ProfileResult> = measured
        .iter()
        .map(|one| {
            let is_first = Some(&one.profile) == first_profile.as_ref();
            let baseline = baselines.get(one.set.as_str()).filter(|_| !is_first);
            summarize(one, baseline, options)
        })
        .collect();
    correct(&mut results);
    Report { first_profile, results }
}

fn baseline(first: &Measured) -> Baseline<'_> {
    let scored = scored(first);
    scored
        .iter()
        .map(|one| (one.query.query_id.as_str(), one.scores.recall[COMPARED_CUT]))
        .collect()
}

fn scored(measured: &Measured) -> Vec<Scored<'_>> {
    let scores = measured
        .queries
        .iter()
        .map(|query| (query, Scores::of(&query.ranked, &query.relevant)));
    scores
        .filter_map(|(query, scores)| Some(Scored { query, scores: scores? }))
        .collect()
}

/// Categories that are shown, and no part of the whole.
const APART: [&str; 3] = [UNANSWERABLE, exact::CATEGORY, pasted::CATEGORY];

fn summarize(measured: &Measured, baseline: Option<&Baseline>, options: &ReportOptions) -> ProfileResult {
    let scored = scored(measured);
    let mut overall = Vec::new();
    let mut categories: BTreeMap<&str, Vec<Scored>> = BTreeMap::new();
    let mut strata: BTreeMap<&str, Vec<Scored>> = BTreeMap::new();
    for one in scored {
        let category = one.query.category.as_deref();
        if category.is_none_or(|category| !APART.contains(&category)) {
            overall.push(one);
        }
        if let Some(category) = category {
            categories.entry(category).or_default().push(one);
        }
        for stratum in &one.query.strata {
            strata.entry(stratum).or_default().push(one);
        }
    }
    categories.retain(|category, cell| APART.contains(category) || cell.len() < overall.len());

    let cells = |cells: BTreeMap<&str, Vec<Scored>>, tested: fn(&str) -> bool| {
        cells
            .into_iter()
            .map(|(name, cell)| (name.to_owned(), figures(&cell, baseline, tested(name), options)))
            .collect()
    };
    ProfileResult {
        set: measured.set.clone(),
        profile: measured.profile.clone(),
        overall: figures(&overall, baseline, true, options),
        categories: cells(categories, |category| category != UNANSWERABLE),
        // A stratum is made of queries that their categories are tested with.
        strata: cells(strata, |_| false),
        millis: mean(measured.queries.iter().map(|query| query.millis)),
        noise: noise(measured),
    }
}

fn figures(cell: &[Scored], baseline: Option<&Baseline>, tested: bool, options: &ReportOptions) -> Figures {
    let clusters: Vec<&str> = cell.iter().map(|one| one.query.cluster.as_str()).collect();
    let clusters = options.clustered.then_some(clusters.as_slice());
    let estimate = |figure: fn(&Scores) -> f64| {
        let values: Vec<f64> = cell.iter().map(|one| figure(&one.scores)).collect();
        options.resampling.mean(&values, clusters)
    };
    let recall: [Estimate; 4] = [
        estimate(|scores| scores.recall[0]),
        estimate(|scores| scores.recall[1]),
        estimate(|scores| scores.recall[2]),
        estimate(|scores| scores.recall[3]),
    ];
    Figures {
        queries: cell.len(),
        recall: CUTS.into_iter().zip(recall).collect(),
        mrr: estimate(|scores| scores.reciprocal_rank),
        ndcg: estimate(|scores| scores.ndcg),
        shown: shown(cell),
        versus_first: baseline.and_then(|baseline| compare(cell, baseline, tested, options)),
    }
}

/// None where the first profile answered none of these queries.
fn compare(cell: &[Scored], baseline: &Baseline, tested: bool, options: &ReportOptions) -> Option<Comparison> {
    let mut first = Vec::new();
    let mut own = Vec::new();
    let mut clusters = Vec::new();
    for one in cell {
        if let Some(recall) = baseline.get(one.query.query_id.as_str()) {
            first.push(*recall);
            own.push(one.scores.recall[COMPARED_CUT]);
            clusters.push(one.query.cluster.as_str());
        }
    }
    let found = options
        .resampling
        .difference(&own, &first, options.clustered.then_some(clusters.as_slice()));
    let test = PairedTest {
        p_value: found.p_value,
        corrected: found.p_value,
    };
    (!own.is_empty()).then(|| Comparison {
        difference: found.estimate,
        test: (tested && own.len() >= FEWEST_TESTED).then_some(test),
    })
}

/// Corrects the p-values of each profile over all that was tested for it.
fn correct(results: &mut [ProfileResult]) {
    let mut families: BTreeMap<String, Vec<&mut PairedTest>> = BTreeMap::new();
    for result in results {
        let cells = std::iter::once(&mut result.overall).chain(result.categories.values_mut());
        let tests = cells.filter_map(|figures| figures.versus_first.as_mut()?.test.as_mut());
        families.entry(result.profile.clone()).or_default().extend(tests);
    }
    for tests in families.into_values() {
        let p_values: Vec<f64> = tests.iter().map(|test| test.p_value).collect();
        for (test, corrected) in tests.into_iter().zip(holm(&p_values)) {
            test.corrected = corrected;
        }
    }
}

fn shown(cell: &[Scored]) -> Shown {
    let share = |holds: fn(&QueryResult) -> bool| mean(cell.iter().map(|one| f64::from(u8::from(holds(one.query)))));
    Shown {
        mean: mean(cell.iter().map(|one| one.query.shown as f64)),
        silent: share(|query| query.shown == 0),
        nothing_relevant: share(|query| query.shown_relevant == 0),
    }
}

fn noise(measured: &Measured) -> Vec<NoiseShare> {
    let unanswered = measured.queries.iter().filter(|query| query.relevant.is_empty());
    let unanswered = unanswered.fold(NoiseResult::default(), |sum, query| NoiseResult {
        kind: "unanswered".to_owned(),
        prompts: sum.prompts + 1,
        shown_something: sum.shown_something + usize::from(query.shown > 0),
    });
    let kinds = measured.noise.iter().chain([&unanswered]).filter(|kind| kind.prompts > 0);
    kinds
        .map(|kind| NoiseShare {
            kind: kind.kind.clone(),
            prompts: kind.prompts,
            share: kind.shown_something as f64 / kind.prompts as f64,
        })
        .collect()
}

/// The mean; 0 of nothing.
fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len().max(1);
    values.sum::<f64>() / count as f64
}
