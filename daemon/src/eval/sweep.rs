//! The constants of fusion swept: K of Reciprocal Rank Fusion, the share of the cosine in a convex combination, and the
//! weight of the legs that the seeds add. Each pool is gathered once and fused in every way.

use remembrancer_processor::eval::dataset::{Dataset, JudgedQuery};
use remembrancer_processor::eval::metrics;
use remembrancer_processor::eval::report::UNANSWERABLE;
use remembrancer_processor::recall::{CONVEX, Leg, Profile, RRF, RankFusion, RecallSettings, Rule, fuse};
use serde::Serialize;

use super::asker::{Asked, Asker};
use super::error::EvalError;

/// K from 1 to 100, denser where it changes most.
const KS: [f64; 16] = [
    1.0, 2.0, 3.0, 5.0, 8.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 100.0,
];

/// What a leg adds at a growing weight to words and meaning.
const ADDED: [&[(Leg, f64)]; 8] = [
    &[(Leg::Bm25, 1.0), (Leg::Vector, 1.0), (Leg::Graph, 0.35)],
    &[(Leg::Bm25, 1.0), (Leg::Vector, 1.0), (Leg::Graph, 1.0)],
    &[(Leg::Bm25, 1.0), (Leg::Vector, 1.0), (Leg::Graph, 2.0)],
    &[(Leg::Bm25, 1.0), (Leg::Vector, 1.0), (Leg::Recency, 0.1)],
    &[(Leg::Bm25, 1.0), (Leg::Vector, 1.0), (Leg::Recency, 0.3)],
    &[(Leg::Bm25, 1.0), (Leg::Vector, 1.0), (Leg::Recency, 0.6)],
    &[(Leg::Bm25, 2.0), (Leg::Vector, 1.0)],
    &[(Leg::Bm25, 1.0), (Leg::Vector, 2.0)],
];

/// One way of fusing, and how well it did on a set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Swept {
    /// The constants.
    pub(crate) constants: String,
    /// Mean recall at 3 and at 10 over the judged queries.
    pub(crate) recall_3: f64,
    /// The same at 10.
    pub(crate) recall_10: f64,
}

/// All ways, in the order in which they are told.
fn ways() -> Vec<(String, Profile)> {
    let ranks = |change: &dyn Fn(&mut RankFusion)| {
        let Rule::Ranks(mut fusion) = RRF.rule else { return RRF };
        change(&mut fusion);
        Profile {
            rule: Rule::Ranks(fusion),
            ..RRF
        }
    };
    let k = KS.map(|k| (format!("K = {k}"), ranks(&|fusion| fusion.k = k)));
    let alpha = (0..=10).map(|tenths| {
        let alpha = f64::from(tenths) / 10.0;
        let rule = Rule::Convex { alpha };
        (format!("α = {alpha:.1}"), Profile { rule, ..CONVEX })
    });
    let added = ADDED.iter().map(|weights| {
        let named: Vec<String> = weights.iter().map(|(leg, weight)| format!("{leg} {weight}")).collect();
        (
            format!("K = 60, {}", named.join(", ")),
            ranks(&|fusion| fusion.weights = weights),
        )
    });
    k.into_iter().chain(alpha).chain(added).collect()
}

/// Fuses every query's pool in every way.
///
/// # Errors
/// Where a prompt can't be embedded.
pub(super) fn sweep(dataset: &Dataset, asker: &mut Asker<'_>, settings: &RecallSettings) -> Result<Vec<Swept>, EvalError> {
    let ways = ways();
    let mut sums = vec![(0.0, 0.0); ways.len()];
    let mut queries = 0.0;
    // The graph leg widens the pool: the others are fused without it.
    let (plain, with_graph): (Vec<usize>, Vec<usize>) = (0..ways.len()).partition(|way| !ways[*way].1.counts(Leg::Graph));
    let judged = |query: &&JudgedQuery| !query.relevant.is_empty() && query.category.as_deref() != Some(UNANSWERABLE);
    for query in dataset.queries.iter().filter(judged) {
        queries += 1.0;
        for group in [&plain, &with_graph] {
            let Some(first) = group.first() else { continue };
            let settings = RecallSettings {
                profile: ways[*first].1,
                ..settings.clone()
            };
            let pool = asker.pool(Asked::of(query), &settings)?;
            for way in group {
                let fused = fuse(pool.clone(), &ways[*way].1, asker.now(query.timestamp));
                let ranked = asker.documents(&fused);
                sums[*way].0 += metrics::recall(&ranked, &query.relevant, 3);
                sums[*way].1 += metrics::recall(&ranked, &query.relevant, 10);
            }
        }
    }
    let swept = ways.into_iter().zip(sums).map(|((constants, _), (at_3, at_10))| Swept {
        constants,
        recall_3: at_3 / f64::max(queries, 1.0),
        recall_10: at_10 / f64::max(queries, 1.0),
    });
    Ok(swept.collect())
}
