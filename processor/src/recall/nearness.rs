//! How near the words of a text come to the prompt's terms where they are other words: `purchase` to `buy`.
//!
//! In go a prompt's terms and the terms of a text, one after the other; for each of the prompt's the cosine of the nearest is
//! kept. That is the greatest similarity of late interaction (`MaxSim` of `ColBERT`: Khattab, Zaharia, SIGIR 2020), over vectors of words
//! that know no context, so that nothing is stored for it and no model is run (ADR 0058).

use std::collections::HashMap;

use crate::embed::{TermRow, TermVectors};

/// The prompt's terms that have a vector, and what the terms met so far have to do with them.
pub(super) struct Nearness {
    table: &'static TermVectors,
    /// Where among the prompt's terms, and which row of the table.
    asked: Vec<(usize, TermRow)>,
    /// Of each row met so far, the cosine with each of the asked: texts of one pool share most of their words.
    met: HashMap<TermRow, Vec<f32>>,
}

impl Nearness {
    /// Of a prompt's terms, as the index has them.
    pub(super) fn to(terms: &[String]) -> Self {
        let table = TermVectors::built_in();
        let rows = terms.iter().enumerate();
        Self {
            table,
            asked: rows.filter_map(|(place, term)| Some((place, table.row(term)?))).collect(),
            met: HashMap::new(),
        }
    }

    /// Raises in `nearest`, which has a value for each of the prompt's terms, what `term` comes nearer to.
    pub(super) fn meet(&mut self, term: &str, nearest: &mut [f32]) {
        if self.asked.is_empty() {
            return;
        }
        let Some(row) = self.table.row(term) else {
            return;
        };
        let (table, asked) = (self.table, &self.asked);
        let cosines = self
            .met
            .entry(row)
            .or_insert_with(|| asked.iter().map(|(_, asked)| table.cosine(*asked, row)).collect());
        for ((place, _), cosine) in asked.iter().zip(cosines) {
            nearest[*place] = nearest[*place].max(*cosine);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_of_a_text_counts() {
        let asked = ["buy".to_owned(), "zeppelinwerft".to_owned(), "car".to_owned()];
        let mut nearness = Nearness::to(&asked);
        let mut nearest = [0.0; 3];
        nearness.meet("parliament", &mut nearest);
        assert!(nearest.iter().all(|cosine| *cosine < 0.3), "{nearest:?}");
        for term in ["purchas", "parliament", "getusernam"] {
            nearness.meet(term, &mut nearest);
        }
        assert!(nearest[0] > 0.5 && nearest[2] < 0.4, "{nearest:?}");
        // Not in the vocabulary: near nothing, itself not either, which is what coverage is for.
        nearness.meet("zeppelinwerft", &mut nearest);
        assert!(nearest[1].abs() < f32::EPSILON);
        nearness.meet("car", &mut nearest);
        assert!((nearest[2] - 1.0).abs() < 1e-3);
    }
}
