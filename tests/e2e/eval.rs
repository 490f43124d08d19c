//! `eval` and the kill switch of `v2`: a small judged set whose answers are plain, measured, explained and swept, and sets
//! that are wrong.

use std::path::{Path, PathBuf};
use std::process::Output;

use remembrancer_processor::recall::{FEATURES, PROFILES, Profile, SINGLE_LEGS, SUPPORT_FEATURES};
use remembrancer_tests::{Sandbox, sandbox};
use rstest::rstest;
use serde_json::{Value, json};

/// What it is about (and so its id), what was asked, what came of it; the first half of one project, the second of another.
const DOCUMENTS: [(&str, &str, &str); 30] = [
    (
        "kettle",
        "The kettle switches off before the water boils",
        "Lime on the thermostat; boil vinegar in it once.",
    ),
    (
        "bicycle",
        "My bicycle chain jumps off the smallest sprocket",
        "The derailleur hanger is bent; a shop straightens it.",
    ),
    (
        "curtains",
        "Which fabric keeps the bedroom dark in June?",
        "Take blackout curtains of a tight weave with a lining.",
    ),
    (
        "compost",
        "The compost heap smells of ammonia",
        "Too much grass; mix in cardboard and dry leaves.",
    ),
    (
        "piano",
        "How often does an upright piano want tuning?",
        "Twice a year, after the heating season begins and ends.",
    ),
    (
        "drill",
        "The drill slips on the bathroom tiles",
        "Stick tape on the tile and begin slowly without hammering.",
    ),
    (
        "aquarium",
        "Green algae cover the aquarium glass",
        "Light it for six hours only and feed the fish less.",
    ),
    (
        "mortgage",
        "Is it worth paying the mortgage early?",
        "Only if the penalty is below the interest that is saved.",
    ),
    (
        "passport",
        "How long does renewing a passport take?",
        "Six weeks in spring; the express service takes three days.",
    ),
    (
        "marathon",
        "My knees hurt in the week before the marathon",
        "Run half the distance and ice the joints at night.",
    ),
    (
        "beehive",
        "The beehive was empty after winter",
        "They starved with honey two frames away; wrap the hive.",
    ),
    (
        "telescope",
        "Jupiter is a blurred disc in the telescope",
        "Let the mirror cool down outside for an hour first.",
    ),
    (
        "carpet",
        "Red wine was spilt on the carpet",
        "Soak it up with salt, then rinse it with soda water.",
    ),
    (
        "chess",
        "I always lose chess games in the endgame",
        "Study king and pawn positions before anything else.",
    ),
    (
        "kayak",
        "The kayak drifts to the left",
        "Lower the skeg halfway and shift the luggage aft.",
    ),
    (
        "parser",
        "The parser rejects a trailing comma in the settings",
        "The grammar allows one now; see the list rule.",
    ),
    (
        "migration",
        "The database migration deadlocks on the orders table",
        "Create the index concurrently in its own step.",
    ),
    (
        "certificate",
        "The TLS certificate expired on the staging proxy",
        "The renewal timer was masked; it is enabled again.",
    ),
    (
        "scheduler",
        "The nightly scheduler skips jobs when clocks change",
        "It stores UTC now and converts for display alone.",
    ),
    (
        "thumbnails",
        "Thumbnails of rotated photos lie on their side",
        "We apply the orientation tag before we resize.",
    ),
    (
        "pagination",
        "Pagination shows the last row twice",
        "The cursor compared with at-least; it is greater-than now.",
    ),
    (
        "tokenizer",
        "The tokenizer splits emoji into broken halves",
        "It walked over bytes; it walks over graphemes now.",
    ),
    (
        "invoice",
        "Invoice totals are off by one cent",
        "Round each line once, and sum the rounded lines.",
    ),
    (
        "webhook",
        "The webhook receiver answers twice to one event",
        "Store the event id and ignore those that are known.",
    ),
    (
        "linker",
        "The linker runs out of memory in release builds",
        "Split debug information into files of its own.",
    ),
    (
        "keyboard",
        "Keyboard shortcuts don't work in the modal dialog",
        "The focus trap swallowed them; it lets modifiers pass.",
    ),
    (
        "backup",
        "The backup can't be restored on the new server",
        "Its encryption key was missing from the key store.",
    ),
    (
        "cache",
        "The cache serves stale prices after a discount",
        "Discounts bump the version that is part of the key.",
    ),
    (
        "websocket",
        "The websocket drops after sixty idle seconds",
        "The balancer closes it; a ping goes out every thirty.",
    ),
    (
        "spellcheck",
        "Spellcheck underlines every compound noun",
        "A dictionary of affixes is loaded besides the words.",
    ),
];

fn project(place: usize) -> &'static str {
    if place < DOCUMENTS.len() / 2 { "home" } else { "code" }
}

/// Writes the set: of each document what was asked is asked again, and what was done about it. Returns its folder.
fn write_set(sandbox: &Sandbox) -> PathBuf {
    let folder = sandbox.home().join("sets/workshop");
    fs_err::create_dir_all(&folder).unwrap();
    let (mut corpus, mut queries, mut judgements) = (Vec::new(), Vec::new(), vec!["query\tdoc\tgrade".to_owned()]);
    for (place, (id, asked, answer)) in DOCUMENTS.into_iter().enumerate() {
        let project = project(place);
        let text = format!("User: {asked}\nAssistant: {answer}");
        let time = format!("2024-03-{:02}T10:00:00", place + 1);
        let session = format!("{project}-{}", place / 3);
        corpus.push(json!({"_id": id, "text": text, "session": session, "timestamp": time, "project": project}));
        let about = format!("what did we do about the {id}?");
        for (category, query) in [("again", asked), ("about", &about)] {
            let name = format!("{category}-{id}");
            judgements.push(format!("{name}\t{id}\t1"));
            queries.push(json!({"_id": name, "text": query, "category": category, "project": project}));
        }
    }
    let objects = |lines: Vec<Value>| lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
    fs_err::write(folder.join("corpus.jsonl"), objects(corpus)).unwrap();
    fs_err::write(folder.join("queries.jsonl"), objects(queries)).unwrap();
    fs_err::write(folder.join("qrels.tsv"), judgements.join("\n")).unwrap();
    folder
}

/// Runs `eval` on `folder`.
fn run(sandbox: &Sandbox, folder: &Path, arguments: &[&str]) -> Output {
    sandbox.run(&[&["eval", folder.to_str().unwrap()], arguments].concat())
}

/// What `eval` on `folder` prints.
fn eval(sandbox: &Sandbox, folder: &Path, arguments: &[&str]) -> String {
    let output = run(sandbox, folder, arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn the_table_has_every_profile_and_every_leg() {
    let sandbox = sandbox!();
    let set = write_set(&sandbox);
    let table = eval(&sandbox, &set, &[]);
    for part in [
        "workshop",
        "recall@3",
        "MRR@10",
        "nDCG@10",
        "overall, 60 queries",
        "about, 30 queries",
        "stratum exact",
        "stratum pasted",
    ] {
        assert!(table.contains(part), "no {part} in:\n{table}");
    }
    let rows = |name: &str| {
        table
            .lines()
            .filter(|line| line.split_whitespace().next() == Some(name))
            .count()
    };
    for Profile { name, .. } in PROFILES.iter().chain(SINGLE_LEGS) {
        // Overall, two categories, the exact and the pasted stratum with their categories, what is shown, noise.
        assert_eq!(rows(name), 9, "rows of {name} in:\n{table}");
    }
}

/// Takes the times out of a report: they alone may differ from run to run.
fn without_times(report: &mut Value) {
    for result in report["results"].as_array_mut().unwrap() {
        let millis = result.as_object_mut().unwrap().remove("millis");
        assert!(millis.unwrap().as_f64().unwrap() > 0.0);
    }
}

#[test]
fn the_same_run_twice_gives_the_same_figures_and_embeds_once() {
    let sandbox = sandbox!();
    let set = write_set(&sandbox);
    let cache = sandbox.home().join("vectors");
    let arguments = ["--compare", "rrf,recency", "--json", "--cache", cache.to_str().unwrap()];
    let vectors = || {
        let file = fs_err::read_dir(&cache).unwrap().next().unwrap().unwrap().path();
        fs_err::read(file).unwrap()
    };
    let first = run(&sandbox, &set, &arguments);
    let kept = vectors();
    let second = run(&sandbox, &set, &arguments);
    // What is embedded again would be added to the file.
    assert!(!kept.is_empty() && vectors() == kept);
    for output in [&first, &second] {
        assert!(output.stderr.is_empty(), "nothing is told beside JSON: {output:?}");
    }
    let [first, second] = [first, second].map(|output| {
        let mut report = serde_json::from_slice(&output.stdout).unwrap();
        without_times(&mut report);
        report
    });
    assert_eq!(first.to_string(), second.to_string());
    check_report(&first);
}

/// Words and meaning find nearly everything, the newest first nearly nothing.
fn check_report(report: &Value) {
    assert_eq!(report["first_profile"], "rrf");
    let results = report["results"].as_array().unwrap();
    let names: Vec<&Value> = results.iter().map(|result| &result["profile"]).collect();
    assert_eq!(names, ["rrf", "recency"]);
    for result in results {
        let overall = &result["overall"];
        let recall = ["1", "3", "5", "10"].map(|cut| &overall["recall"][cut]);
        for estimate in recall.into_iter().chain([&overall["mrr"], &overall["ndcg"]]) {
            let [low, mean, high] = ["low", "mean", "high"].map(|end| estimate[end].as_f64().unwrap());
            assert!(low <= mean && mean <= high, "{estimate}");
        }
        assert_eq!(overall["queries"], 60);
        assert_eq!(result["categories"]["again"]["queries"], 30);
        let noise = result["noise"].as_array().unwrap();
        let kinds: Vec<&Value> = noise.iter().map(|share| &share["kind"]).collect();
        assert_eq!(kinds, ["chatter", "coding", "foreign", "personal"]);
    }
    let (rrf, recency) = (&results[0]["overall"], &results[1]["overall"]);
    assert!(rrf["recall"]["3"]["mean"].as_f64().unwrap() > 0.9, "{rrf}");
    assert_eq!(rrf["versus_first"], Value::Null);
    let versus = &recency["versus_first"];
    assert!(versus["difference"]["high"].as_f64().unwrap() < 0.0, "{versus}");
    assert!(versus["test"]["corrected"].as_f64().unwrap() < 0.01, "{versus}");
}

#[test]
fn explain_names_the_right_document() {
    let sandbox = sandbox!();
    let set = write_set(&sandbox);
    let explain = |query| eval(&sandbox, &set, &["--compare", "rrf", "--explain", query]);
    let text = explain("again-tokenizer");
    assert!(text.contains("answered by: tokenizer\n"), "{text}");
    assert!(
        text.lines()
            .any(|line| line.starts_with("  1 * ") && line.contains(" tokenizer: ")),
        "{text}"
    );
    assert!(text.contains("bm25 1, vector 1") && text.contains("coverage 1.00"), "{text}");
    let text = explain("which vinegar for lime in the kettle?");
    assert!(
        text.lines()
            .any(|line| line.starts_with("  1   ") && line.contains(" kettle: ")),
        "a text is asked of the first project:\n{text}"
    );
}

#[test]
fn constants_are_swept() {
    let sandbox = sandbox!();
    let set = write_set(&sandbox);
    let swept = parse(&eval(&sandbox, &set, &["--sweep", "--json"]));
    let swept = &swept["swept"];
    assert_eq!(swept[0][0], "workshop");
    let ways = swept[0][1].as_array().unwrap();
    let recall = |constants: &str| {
        let way = ways.iter().find(|way| way["constants"] == constants);
        way.unwrap()["recall_3"].as_f64().unwrap()
    };
    assert!(recall("K = 60") > 0.9 && recall("α = 0.5") > 0.9, "{swept}");
}

#[test]
fn features_are_written_for_every_prompt() {
    let sandbox = sandbox!();
    let set = write_set(&sandbox);
    let file = sandbox.home().join("features.tsv");
    eval(&sandbox, &set, &["--features", file.to_str().unwrap()]);
    let text = fs_err::read_to_string(file).unwrap();
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split('\t').collect()).collect();
    // Set, kind, query, project, how many documents answer, document, grade.
    assert!(rows.iter().all(|row| row.len() == 7 + SUPPORT_FEATURES + FEATURES));
    for (place, (id, ..)) in DOCUMENTS.iter().enumerate() {
        let right = [
            "workshop",
            "again",
            &format!("again-{id}"),
            project(place),
            "1",
            &place.to_string(),
            "1",
        ];
        assert!(rows.iter().any(|row| row.starts_with(&right)), "no {right:?}");
    }
    for kind in ["exact", "coding", "foreign", "personal"] {
        assert!(rows.iter().any(|row| row[1] == kind), "no {kind}");
    }
}

fn append(file: &Path, line: &str) {
    let text = fs_err::read_to_string(file).unwrap();
    fs_err::write(file, format!("{}\n{line}\n", text.trim_end())).unwrap();
}

#[rstest]
#[case::unknown_document(
    |set: &Path| append(&set.join("qrels.tsv"), "again-kettle\tnowhere\t1"),
    "qrels.tsv:62: no document `nowhere`"
)]
#[case::duplicate_id(
    |set: &Path| append(&set.join("corpus.jsonl"), r#"{"_id": "kettle", "text": "another"}"#),
    "corpus.jsonl:31: the _id `kettle`"
)]
#[case::empty_query(
    |set: &Path| append(&set.join("queries.jsonl"), r#"{"_id": "empty", "text": " "}"#),
    "queries.jsonl:61: the query `empty` has no text"
)]
#[case::no_judgements(
    |set: &Path| fs_err::write(set.join("qrels.tsv"), "query\tdoc\tgrade\n").unwrap(),
    "qrels.tsv: no document is judged"
)]
#[case::no_folder(|set: &Path| fs_err::remove_dir_all(set).unwrap(), "workshop: no corpus.jsonl (plain or .gz)")]
fn a_set_that_is_wrong_is_refused_by_file_and_line(#[case] spoil: fn(&Path), #[case] expected: &str) {
    let sandbox = sandbox!();
    let set = write_set(&sandbox);
    spoil(&set);
    let output = run(&sandbox, &set, &[]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains(expected), "{told}");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
}

#[test]
fn an_unknown_profile_lists_those_that_there_are() {
    let sandbox = sandbox!();
    let set = write_set(&sandbox);
    let output = run(&sandbox, &set, &["--compare", "rrf,best"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(told.contains("there is no profile best"), "{told}");
    for Profile { name, .. } in PROFILES.iter().chain(SINGLE_LEGS) {
        assert!(told.contains(name), "no {name} in: {told}");
    }
}

#[rstest]
#[case::on(&[], "v2")]
#[case::off(&[("RAG_FUSION_V2_ENABLED", "false")], "rrf")]
#[case::said_on(&[("RAG_FUSION_V2_ENABLED", "true")], "v2")]
fn the_kill_switch_turns_v2_into_rrf(#[case] variables: &[(&str, &str)], #[case] profile: &str) {
    let sandbox = sandbox!();
    sandbox.configure("[fusion]\nprofile = \"v2\"\n");
    let _daemon = sandbox.start_with(variables);
    assert_eq!(sandbox.json(&["status"])["daemon"]["profile"], profile);
}
