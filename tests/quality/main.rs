//! What guards the quality of recall: the profile `default` on the judged sets, held against floors.
//!
//! In go the sets of the shared folder, through `remembrancer eval`; a set that is absent is skipped with a printed reason.
//! Vectors are kept in cargo's folder for test data, so that only the first run takes minutes.

#![expect(clippy::unwrap_used, reason = "the helpers of these tests are tests, too")]

use std::path::Path;
use std::process::Command;

use remembrancer_processor::eval::report::SIGNIFICANCE;
use remembrancer_tests::{shared, skip, timed};
use rstest::rstest;
use serde_json::Value;

/// What a set must reach, as shares.
///
/// A floor is what was measured less 0.015, a ceiling what was measured and 0.015 more: the same code gives the same figures
/// to the last digit, so this is room for changes that trade one query for another, and more of a loss is no noise. After a
/// gain the floors are raised; to lower one, say in the commit why.
struct Floors {
    /// Recall at 3, 5 and 10 of the questions that have an answer.
    recall: [f64; 3],
    /// How many prompts at most are shown something that can't be an answer, by kind.
    noise: &'static [(&'static str, f64)],
}

/// Sets that are too long for every run.
const LONG: &[&str] = &["lme-oracle-dev"];

const CUTS: [&str; 3] = ["3", "5", "10"];

const LOCOMO: Floors = Floors {
    recall: [0.711, 0.783, 0.833],
    noise: &[("chatter", 0.015), ("coding", 0.015), ("foreign", 0.105), ("personal", 0.015)],
};
const LONG_MEM_EVAL: Floors = Floors {
    recall: [0.569, 0.666, 0.779],
    noise: &[("chatter", 0.05), ("coding", 0.053), ("personal", 0.053)],
};
const COSQA: Floors = Floors {
    recall: [0.601, 0.697, 0.819],
    noise: &[("chatter", 0.07), ("coding", 0.40), ("personal", 0.015)],
};
const NL2BASH: Floors = Floors {
    recall: [0.688, 0.779, 0.841],
    noise: &[("chatter", 0.016), ("coding", 0.10), ("personal", 0.015)],
};

#[rstest]
#[case::locomo("locomo-dev-ep4", &LOCOMO)]
#[case::long_mem_eval("lme-oracle-dev", &LONG_MEM_EVAL)]
#[case::cosqa("cosqa-dev", &COSQA)]
#[case::nl2bash("nl2bash-dev", &NL2BASH)]
fn recall_is_as_good_as_it_was(#[case] set: &str, #[case] floors: &Floors) {
    let Some(folder) = shared(&format!("eval/{set}")) else {
        return;
    };
    if LONG.contains(&set) && std::env::var_os("REMEMBRANCER_QUALITY").is_none_or(|which| which != "all") {
        return skip(&format!(
            "{set} takes a quarter of an hour to embed; set REMEMBRANCER_QUALITY=all"
        ));
    }
    let (report, took) = timed(|| evaluate(&folder, set));
    let [baseline, own] = [0, 1].map(|place| &report["results"][place]);
    eprintln!("{set}, {:.0} s: {}; {}", took.as_secs_f64(), summary(baseline), summary(own));
    let losses: Vec<String> = [missed_floors(own, floors), worse_cells(own)].concat();
    assert!(losses.is_empty(), "{set}:\n  {}", losses.join("\n  "));
}

/// The report on `rrf`, which is the baseline, and `default`.
fn evaluate(folder: &Path, set: &str) -> Value {
    let home = tempfile::tempdir().unwrap();
    // A folder a set: tests run beside each other, and each appends to its file.
    let vectors = Path::new(env!("CARGO_TARGET_TMPDIR")).join("eval-vectors").join(set);
    let output = Command::new(env!("CARGO_BIN_EXE_remembrancer-under-test"))
        .arg("eval")
        .arg(folder)
        .args(["--compare", "rrf,default", "--json", "--cache"])
        .arg(vectors)
        // The settings as shipped, not those of whoever runs this.
        .env("HOME", home.path())
        .env_remove("XDG_CONFIG_HOME")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn recalls(result: &Value) -> [f64; 3] {
    CUTS.map(|cut| result["overall"]["recall"][cut]["mean"].as_f64().unwrap())
}

fn noise(result: &Value) -> impl Iterator<Item = (&str, f64)> {
    let kinds = result["noise"].as_array().unwrap().iter();
    kinds.map(|kind| (kind["kind"].as_str().unwrap(), kind["share"].as_f64().unwrap()))
}

fn summary(result: &Value) -> String {
    let recalls = recalls(result).map(|recall| format!("{recall:.3}")).join(" ");
    let noise: Vec<String> = noise(result).map(|(kind, share)| format!("{kind} {share:.3}")).collect();
    let profile = result["profile"].as_str().unwrap();
    format!("{profile} recall@3/5/10 {recalls}, shown to {}", noise.join(", "))
}

fn missed_floors(result: &Value, floors: &Floors) -> Vec<String> {
    let recalls = CUTS.into_iter().zip(recalls(result)).zip(floors.recall);
    let mut missed: Vec<String> = recalls
        .filter(|((_, recall), floor)| recall < floor)
        .map(|((cut, recall), floor)| format!("recall@{cut} is {recall:.3}, and was {floor:.3} at least"))
        .collect();
    for (kind, most) in floors.noise {
        let share = noise(result).find(|(measured, _)| measured == kind).unwrap().1;
        if share > *most {
            missed.push(format!(
                "something is shown to {share:.3} of {kind}, and was to {most:.3} at most"
            ));
        }
    }
    missed
}

/// Where recall@3 is worse than the baseline's beyond chance.
fn worse_cells(result: &Value) -> Vec<String> {
    let categories = result["categories"].as_object().unwrap().iter();
    let cells = categories
        .map(|(name, figures)| (name.as_str(), figures))
        .chain([("overall", &result["overall"])]);
    let is_worse = |figures: &Value| {
        let versus = &figures["versus_first"];
        let corrected = versus["test"]["corrected"].as_f64();
        corrected.is_some_and(|p| p < SIGNIFICANCE) && versus["difference"]["mean"].as_f64().unwrap() < 0.0
    };
    cells
        .filter(|(_, figures)| is_worse(figures))
        .map(|(name, figures)| format!("{name} is worse than the baseline: {}", figures["versus_first"]))
        .collect()
}
