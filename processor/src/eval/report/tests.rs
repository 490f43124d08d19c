use super::*;
use crate::eval::exact;

/// A query with one relevant document, 0, found at `rank`, or not at all for 0.
fn answer(id: usize, category: &str, rank: usize) -> QueryResult {
    let mut ranked: Vec<usize> = (1..=10).collect();
    if rank > 0 {
        ranked[rank - 1] = 0;
    }
    QueryResult {
        query_id: format!("q{id}"),
        category: Some(category.to_owned()),
        cluster: format!("conversation {}", id % 10),
        ranked,
        relevant: BTreeMap::from([(0, 1)]),
        millis: 4.0,
        shown: 3,
        shown_relevant: usize::from((1..=3).contains(&rank)),
        ..QueryResult::default()
    }
}

fn measured(set: &str, profile: &str, queries: Vec<QueryResult>) -> Measured {
    Measured {
        set: set.to_owned(),
        profile: profile.to_owned(),
        queries,
        noise: Vec::new(),
    }
}

/// `count` queries, of which every `nth` is found at rank 2 and the others not.
fn every(count: usize, nth: usize, category: &str) -> Vec<QueryResult> {
    (0..count)
        .map(|id| answer(id, category, if id % nth == 0 { 2 } else { 0 }))
        .collect()
}

fn report(measured: &[Measured]) -> Report {
    Report::new(measured, &ReportOptions::default())
}

#[test]
fn figures_are_means_over_queries() {
    let report = report(&[measured(
        "talk",
        "union",
        vec![answer(1, "a", 1), answer(2, "a", 4), answer(3, "a", 0), answer(4, "a", 2)],
    )]);
    let overall = &report.results[0].overall;
    let recall: Vec<(usize, f64)> = overall.recall.iter().map(|(cut, estimate)| (*cut, estimate.mean)).collect();
    assert_eq!(recall, [(1, 0.25), (3, 0.5), (5, 0.75), (10, 0.75)]);
    assert!((overall.mrr.mean - (1.0 + 0.25 + 0.5) / 4.0).abs() < 1e-12);
    assert_eq!((overall.queries, report.results[0].millis), (4, 4.0));
    assert_eq!((overall.shown.mean, overall.shown.nothing_relevant), (3.0, 0.5));
    assert_eq!(overall.versus_first, None);
}

#[test]
fn questions_about_what_was_never_said_and_made_ones_stand_apart() {
    let mut queries = vec![answer(1, "single-hop", 1), answer(2, "multi-hop", 1)];
    queries[1].strata = vec!["multi-hop".to_owned()];
    queries.extend([answer(3, UNANSWERABLE, 0), answer(4, exact::CATEGORY, 0)]);
    let report = report(&[measured("talk", "union", queries)]);
    let result = &report.results[0];
    assert_eq!((result.overall.queries, result.overall.recall[&3].mean), (2, 1.0));
    let categories: Vec<&str> = result.categories.keys().map(String::as_str).collect();
    assert_eq!(categories, ["adversarial", "exact", "multi-hop", "single-hop"]);
    assert_eq!(result.strata["multi-hop"].queries, 1);
}

#[test]
fn a_set_of_one_category_does_not_say_everything_twice() {
    let report = report(&[measured("code", "union", vec![answer(1, "code", 1)])]);
    assert!(report.results[0].categories.is_empty());
}

#[test]
fn a_query_without_an_answer_is_noise() {
    let silent = QueryResult::default();
    let mut loud = QueryResult {
        shown: 2,
        ..QueryResult::default()
    };
    loud.query_id = "loud".to_owned();
    let mut one = measured("talk", "union", vec![answer(1, "a", 1), silent, loud]);
    one.noise = vec![NoiseResult {
        kind: "chatter".to_owned(),
        prompts: 40,
        shown_something: 2,
    }];
    let report = report(&[one]);
    let noise: Vec<(&str, usize, f64)> = report.results[0]
        .noise
        .iter()
        .map(|share| (share.kind.as_str(), share.prompts, share.share))
        .collect();
    assert_eq!(noise, [("chatter", 40, 0.05), ("unanswered", 2, 0.5)]);
    assert_eq!(report.results[0].overall.queries, 1);
}

#[test]
fn each_profile_is_held_against_the_first_on_the_same_queries() {
    let report = report(&[
        measured("talk", "union", every(100, 4, "a")),
        measured("talk", "better", every(100, 2, "a")),
        measured("talk", "worse", every(100, 20, "a")),
        measured("talk", "same", every(100, 4, "a")),
    ]);
    let verdicts: Vec<Verdict> = report.results.iter().map(|result| result.overall.verdict()).collect();
    assert_eq!(verdicts, [Verdict::Open, Verdict::Better, Verdict::Worse, Verdict::Open]);
    let comparison = report.results[1].overall.versus_first.unwrap();
    assert!((comparison.difference.mean - 0.25).abs() < 1e-12);
}

#[test]
fn few_queries_are_reported_and_not_tested() {
    let first = [every(49, 1, "small"), every(200, 1, "large")].concat();
    let second = [every(49, 50, "small"), every(200, 1, "large")].concat();
    let number = |queries: Vec<QueryResult>| {
        let numbered = queries.into_iter().enumerate();
        numbered
            .map(|(id, query)| QueryResult {
                query_id: format!("q{id}"),
                ..query
            })
            .collect()
    };
    let report = report(&[
        measured("talk", "union", number(first)),
        measured("talk", "other", number(second)),
    ]);
    let small = &report.results[1].categories["small"];
    assert!(small.versus_first.unwrap().difference.mean < -0.9);
    assert_eq!((small.versus_first.unwrap().test, small.verdict()), (None, Verdict::Open));
    assert!(report.results[1].categories["large"].versus_first.unwrap().test.is_some());
}

#[test]
fn p_values_are_corrected_over_all_sets_of_a_profile() {
    let sets = |profile: &str, nth| {
        (0..3)
            .map(move |set| measured(&format!("set {set}"), profile, every(100, nth, "a")))
            .collect::<Vec<_>>()
    };
    let report = report(&[sets("union", 4), sets("other", 3)].concat());
    for result in report.results.iter().filter(|result| result.profile == "other") {
        let test = result.overall.versus_first.unwrap().test.unwrap();
        assert!((test.corrected - (test.p_value * 3.0).min(1.0)).abs() < 1e-12, "{test:?}");
    }
}

#[test]
fn drawing_whole_conversations_widens_what_hangs_together() {
    let queries: Vec<QueryResult> = (0..200).map(|id| answer(id, "a", usize::from(id % 10 < 5))).collect();
    let measured = [measured("talk", "union", queries)];
    let width = |clustered| {
        let options = ReportOptions {
            clustered,
            ..ReportOptions::default()
        };
        let estimate = Report::new(&measured, &options).results[0].overall.recall[&3];
        estimate.high - estimate.low
    };
    assert!(width(true) > 3.0 * width(false));
}

#[test]
fn nothing_measured_is_an_empty_report() {
    assert_eq!(
        report(&[]),
        Report {
            first_profile: None,
            results: Vec::new()
        }
    );
}

#[test]
fn the_table_is_narrow_and_marks_what_differs() {
    let mut queries = every(60, 4, "temporal");
    queries.extend((60..160).map(|id| answer(id, "multi-hop", 1 + id % 5)));
    queries[60].strata = vec!["multi-hop".to_owned()];
    let better = queries
        .iter()
        .map(|query| QueryResult {
            ranked: vec![0],
            shown_relevant: 1,
            millis: 12.3,
            ..query.clone()
        })
        .collect();
    let mut sets = vec![
        measured("locomo-dev", "union", queries),
        measured("locomo-dev", "a-profile-with-a-very-long-name", better),
    ];
    sets[0].noise = vec![NoiseResult {
        kind: "another conversation's questions".to_owned(),
        prompts: 1_018,
        shown_something: 100,
    }];
    let table = report(&sets).table();
    assert!(table.lines().all(|line| line.chars().count() <= 120), "{table}");
    insta::assert_snapshot!(table);
}

#[test]
fn the_report_is_json() {
    let json = serde_json::to_value(report(&[measured("talk", "union", every(4, 2, "a"))])).unwrap();
    assert_eq!(json["results"][0]["overall"]["recall"]["3"]["mean"], 0.5);
    assert_eq!(json["first_profile"], "union");
}
