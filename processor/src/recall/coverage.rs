//! How much of a prompt an episode speaks of: the share of the prompt's terms found in it, each weighted by its rarity.

use std::collections::HashSet;

use remembrancer_schema::terms as analysed_terms;

/// The prompt's terms with their weights.
#[derive(Debug, Clone)]
pub(super) struct TermWeights {
    terms: Vec<(String, f64)>,
    total: f64,
}

/// What of the prompt was found in a text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Coverage {
    /// Weighted share found, 0 to 1.
    pub share: f64,
    /// Number of terms found.
    pub matched: usize,
}

impl TermWeights {
    /// Weighs `terms` by the inverse document frequency that BM25 uses, `ln(1 + (N − df + ½)/(df + ½))`: a term that
    /// the store has never seen weighs most, and so a prompt about something unknown is covered by nothing.
    pub(super) fn new(terms: &[String], document_frequencies: &[u64], documents: u64) -> Self {
        let weighted: Vec<(String, f64)> = terms
            .iter()
            .zip(document_frequencies)
            .map(|(term, frequency)| {
                let df = (*frequency).min(documents) as f64;
                (term.clone(), (1.0 + (documents as f64 - df + 0.5) / (df + 0.5)).ln())
            })
            .collect();
        let total = weighted.iter().map(|(_, weight)| weight).sum();
        Self { terms: weighted, total }
    }

    /// How many terms there are.
    pub(super) fn len(&self) -> usize {
        self.terms.len()
    }

    /// Finds the terms in `texts`, taken together.
    pub(super) fn coverage<'a>(&self, texts: impl IntoIterator<Item = &'a str>) -> Coverage {
        let present: HashSet<String> = texts.into_iter().flat_map(analysed_terms).collect();
        let (mut found, mut matched) = (0.0, 0);
        for (term, weight) in &self.terms {
            if present.contains(term) {
                found += weight;
                matched += 1;
            }
        }
        let share = if self.total > 0.0 { found / self.total } else { 0.0 };
        Coverage { share, matched }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weights(terms: &[(&str, u64)], documents: u64) -> TermWeights {
        let names: Vec<String> = terms.iter().map(|(term, _)| (*term).to_owned()).collect();
        let frequencies: Vec<u64> = terms.iter().map(|(_, frequency)| *frequency).collect();
        TermWeights::new(&names, &frequencies, documents)
    }

    #[test]
    fn a_rare_term_counts_for_more_than_a_common_one() {
        let weights = weights(&[("socket", 2), ("file", 900)], 1_000);
        let rare = weights.coverage(["the socket hung"]);
        let common = weights.coverage(["a file is there"]);
        assert!(rare.share > 0.9, "{rare:?}");
        assert!(common.share < 0.1, "{common:?}");
        assert_eq!((rare.matched, common.matched), (1, 1));
    }

    #[test]
    fn a_term_that_the_store_never_saw_lowers_the_share() {
        let weights = weights(&[("socket", 2), ("zeppelin", 0)], 1_000);
        assert!(weights.coverage(["the socket hung"]).share < 0.5);
    }

    #[test]
    fn no_terms_are_covered_by_nothing() {
        assert_eq!(weights(&[], 10).coverage(["text"]), Coverage { share: 0.0, matched: 0 });
    }
}
