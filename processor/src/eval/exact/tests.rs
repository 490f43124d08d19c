use std::path::{Path, PathBuf};

use super::*;
use crate::eval::dataset::Document;

fn document(id: &str, text: &str, project: &str, at: i64) -> Document {
    Document {
        id: id.to_owned(),
        text: text.to_owned(),
        session: Some(format!("session of {id}")),
        timestamp: Some(UnixMillis(at)),
        project: Some(project.to_owned()),
    }
}

fn dataset(documents: Vec<Document>) -> Dataset {
    Dataset {
        name: "made".to_owned(),
        documents,
        queries: Vec::new(),
    }
}

fn set() -> Dataset {
    dataset(vec![
        document("d1", "we renamed parseHeader and kept read_block", "a", 1),
        document("d2", "then read_block was slow, said Aurelia", "a", 2),
        document("d3", "no, not at all", "a", 3),
        document("d4", "parseHeader is a name in this project, too", "b", 4),
    ])
}

#[test]
fn a_quote_stands_in_its_own_document_alone() {
    let mut queries = queries(&set(), 10, 1);
    queries.sort_by(|a, b| a.id.cmp(&b.id));
    let found: Vec<_> = queries
        .iter()
        .map(|query| (query.id.as_str(), query.relevant.keys().copied().collect::<Vec<_>>()))
        .collect();
    assert_eq!(found, [("exact:d1", vec![0]), ("exact:d2", vec![1]), ("exact:d4", vec![3])]);
    for (query, quoted) in queries.iter().zip(["parseHeader", "Aurelia", "parseHeader"]) {
        assert!(
            query.text.contains(quoted) && query.text.len() > quoted.len(),
            "{}",
            query.text
        );
    }
    let first = &queries[0];
    assert_eq!(first.category.as_deref(), Some("exact"));
    assert_eq!((first.project.as_deref(), first.timestamp), (Some("a"), Some(UnixMillis(3))));
    assert_eq!(first.relevant_sessions, BTreeSet::from(["session of d1".to_owned()]));
}

#[test]
fn a_word_in_another_case_is_the_same_word() {
    let queries = queries(
        &dataset(vec![
            document("d1", "see parseHeader", "a", 1),
            document("d2", "PARSEHEADER", "a", 1),
        ]),
        10,
        1,
    );
    assert_eq!(queries, []);
}

#[test]
fn a_part_of_a_word_is_another_word() {
    let queries = queries(
        &dataset(vec![
            document("d1", "see parseHeader", "a", 1),
            document("d2", "reparseHeaders", "a", 1),
        ]),
        10,
        1,
    );
    assert_eq!(queries.len(), 2);
}

#[test]
fn the_limit_holds_and_the_seed_decides() {
    let set = dataset(
        (0..40)
            .map(|at| document(&format!("d{at}"), &format!("call step_number_{at} and makeStep{at}x"), "a", 1))
            .collect(),
    );
    let chosen = queries(&set, 10, 7);
    assert_eq!(chosen.len(), 10);
    assert_eq!(chosen, queries(&set, 10, 7));
    assert_ne!(chosen, queries(&set, 10, 8));
}

/// Every set has enough to quote, talk as well as code.
#[test]
fn the_shared_sets_have_enough_to_quote() {
    let shared = std::env::var_os("REMEMBRANCER_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared"), PathBuf::from);
    let eval = shared.join("eval");
    if !eval.is_dir() {
        println!("skipped: no judged sets in {}", eval.display());
        return;
    }
    for name in ["locomo-dev", "locomo-dev-ep4", "lme-oracle-dev", "cosqa-dev", "nl2bash-dev"] {
        let queries = queries(&Dataset::load(&eval.join(name)).unwrap(), 200, 1);
        assert_eq!(queries.len(), 200, "{name}");
    }
}
