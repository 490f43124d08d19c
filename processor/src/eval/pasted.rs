//! The pasted stratum: questions of a set with code, an error or a log pasted before or after them, as people do.
//!
//! What is pasted has nothing to do with the set, so the answers stay the same: what a paste costs is what it distracts.
//! The pastes are ours, written for this purpose.

use super::dataset::{Dataset, JudgedQuery};
use super::random::Random;

/// The category of the queries made here.
pub const CATEGORY: &str = "pasted";

/// Pastes, separated by a line of [`BETWEEN`].
const PASTES: &str = include_str!("prompts/pastes.txt");
const BETWEEN: &str = "\n=====\n";

/// Up to `limit` of the set's answerable queries, each with a paste; half of them before the question, half after it. The
/// same seed makes the same.
pub fn queries(dataset: &Dataset, limit: usize, seed: u64) -> Vec<JudgedQuery> {
    let pastes: Vec<&str> = PASTES.trim_end().split(BETWEEN).collect();
    let mut random = Random::new(seed);
    let mut answerable: Vec<&JudgedQuery> = dataset.queries.iter().filter(|query| !query.relevant.is_empty()).collect();
    random.shuffle(&mut answerable);
    answerable
        .into_iter()
        .take(limit)
        .enumerate()
        .map(|(number, query)| {
            let paste = pastes[random.below(pastes.len())];
            let text = if number % 2 == 0 {
                format!("{}\n\n{paste}", query.text)
            } else {
                format!("{paste}\n\n{}", query.text)
            };
            JudgedQuery {
                id: format!("pasted-{}", query.id),
                text,
                category: Some(CATEGORY.to_owned()),
                ..query.clone()
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    fn query(number: u32, relevant: &[(usize, u32)]) -> JudgedQuery {
        JudgedQuery {
            id: format!("q{number}"),
            text: format!("question {number}?"),
            category: Some("any".to_owned()),
            timestamp: None,
            project: Some("p".to_owned()),
            relevant: relevant.iter().copied().collect::<BTreeMap<_, _>>(),
            relevant_sessions: BTreeSet::new(),
        }
    }

    #[test]
    fn each_question_stands_before_or_after_a_paste_and_keeps_its_answers() {
        let dataset = Dataset {
            name: "set".to_owned(),
            documents: Vec::new(),
            queries: (0..9)
                .map(|number| query(number, &[(number as usize, 1)]))
                .chain([query(9, &[])])
                .collect(),
        };
        let made = queries(&dataset, 8, 1);
        assert_eq!(made, queries(&dataset, 8, 1));
        assert_eq!(made.len(), 8);
        for (number, pasted) in made.iter().enumerate() {
            let of = pasted.id.strip_prefix("pasted-").unwrap();
            let original = dataset.queries.iter().find(|query| query.id == of).unwrap();
            assert_eq!((&pasted.relevant, &pasted.project), (&original.relevant, &original.project));
            assert_eq!(pasted.text.starts_with(&original.text), number % 2 == 0);
            assert_eq!(pasted.text.ends_with(&original.text), number % 2 == 1);
            assert!(pasted.text.lines().count() > 8, "{}", pasted.text);
        }
    }
}
