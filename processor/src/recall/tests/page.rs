//! `docs/retrieval.md` states the constants of the code.

use std::fmt::Write;

use crate::recall::query::MAX_TERMS;
use crate::recall::timely::TIME_LIMIT;
use crate::recall::weigh::{OTHERS_WEIGHED, TIMELY};
use crate::recall::{
    BM25_LIMIT, CAPS, COARSE_LIMIT, DEFAULT, FEATURES, FLOOR, RECENT_LIMIT, RecallSettings, Rule, SAME_TOPIC_COSINE,
    SUPPORT_FEATURES, WEIGHED,
};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/retrieval.md");

/// The table of the page.
fn table() -> String {
    let Rule::Ranks(ranks) = DEFAULT.rule else {
        panic!("the default profile fuses ranks");
    };
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let rows = [
        ("terms of a prompt that are searched for, at most", MAX_TERMS.to_string()),
        ("found by words, at most", BM25_LIMIT.to_string()),
        ("found by meaning, at most", COARSE_LIMIT.to_string()),
        ("used last, at most", RECENT_LIMIT.to_string()),
        (
            "of the time that is named, by words and by meaning, at most",
            TIME_LIMIT.to_string(),
        ),
        (
            "a word in what was asked counts as so many in the answer",
            DEFAULT.lexical.fields.prompt.to_string(),
        ),
        ("k of the fusion", ranks.k.to_string()),
        ("candidates that are weighed anew", WEIGHED.to_string()),
        ("so many more where a time is named", TIMELY.to_string()),
        ("of other projects", OTHERS_WEIGHED.to_string()),
        ("features by which they are", FEATURES.to_string()),
        (
            "features by which it is told whether there is an answer",
            SUPPORT_FEATURES.to_string(),
        ),
        (
            "its least probability (`gate.least_probability`)",
            FLOOR.least_probability.to_string(),
        ),
        ("or the best cosine (`gate.ample_cosine`)", FLOOR.ample_cosine.to_string()),
        (
            "share of the best cosine that a candidate needs",
            percent(FLOOR.relative_cosine),
        ),
        ("or of the best coverage by words", percent(FLOOR.relative_coverage)),
        ("and then of the best cosine", percent(FLOOR.worded_cosine)),
        ("without a vector: terms that it must hold", FLOOR.lexical_terms.to_string()),
        (
            "without a vector: share of the query that it must hold",
            percent(FLOOR.lexical_coverage),
        ),
        ("of another project: its cosine", FLOOR.foreign_cosine.to_string()),
        (
            "of another project: share of the query that it must hold",
            percent(FLOOR.foreign_coverage),
        ),
        (
            "a prompt so near to the one before stays on its topic (`gate.same_topic_cosine`)",
            SAME_TOPIC_COSINE.to_string(),
        ),
        (
            "a session that is shown already counts less by",
            RecallSettings::default().session_spread.to_string(),
        ),
        (
            "recollections, at most (`recall.top`)",
            RecallSettings::default().top.to_string(),
        ),
        ("letters of one recollection, at most", CAPS.recollection_chars.to_string()),
        ("letters of all of them, at most", CAPS.block_chars.to_string()),
    ];
    let mut table = "| | |\n| --- | --- |\n".to_owned();
    for (what, value) in rows {
        writeln!(table, "| {what} | {value} |").unwrap();
    }
    table
}

#[test]
fn the_documentation_states_the_constants_of_the_code() {
    let page = fs_err::read_to_string(PAGE).unwrap();
    let (begin, end) = ("<!-- constants -->\n", "<!-- end of constants -->");
    let (before, rest) = page.split_once(begin).unwrap();
    let (stated, after) = rest.split_once(end).unwrap();
    let expected = table();
    if std::env::var_os("REMEMBRANCER_WRITE_DOCUMENTS").is_some() {
        return fs_err::write(PAGE, format!("{before}{begin}{expected}{end}{after}")).unwrap();
    }
    assert!(
        stated == expected,
        "docs/retrieval.md is out of date: run this test with REMEMBRANCER_WRITE_DOCUMENTS=1, and read what it changed"
    );
}
