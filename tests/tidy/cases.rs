//! `docs/cases.md` names for every condition from the field the tests that hold it down, and each of them is there.

use std::collections::{BTreeMap, BTreeSet};

use super::{assert_none, root, rust_files};

/// Conditions in the list.
const CASES: u32 = 47;

/// The tests of each case, by the numbers in their names: `tc_22_tc_46_two_firings` is of both.
fn tests() -> BTreeMap<u32, BTreeSet<String>> {
    let mut tests: BTreeMap<u32, BTreeSet<String>> = BTreeMap::new();
    for (_, text) in rust_files() {
        let functions = text.lines().filter_map(|line| line.split_once("fn ")?.1.split_once('('));
        for (name, _) in functions.filter(|(name, _)| name.starts_with("tc_")) {
            for case in cases_in(name) {
                tests.entry(case).or_default().insert(name.to_owned());
            }
        }
    }
    tests
}

fn cases_in(name: &str) -> Vec<u32> {
    let words: Vec<&str> = name.split('_').collect();
    let pairs = words.windows(2).filter(|pair| pair[0] == "tc");
    pairs.filter_map(|pair| pair[1].parse().ok()).collect()
}

/// The row of each case, `| 01 | …`.
fn rows() -> BTreeMap<u32, String> {
    let page = fs_err::read_to_string(root().join("docs/cases.md")).unwrap();
    let numbered = page.lines().filter_map(|line| {
        let number = line.strip_prefix("| ")?.split_once(' ')?.0;
        Some((number.parse().ok()?, line.to_owned()))
    });
    numbered.collect()
}

#[test]
fn every_case_has_its_row_and_every_row_its_tests() {
    let (rows, tests) = (rows(), tests());
    let mut offenders = Vec::new();
    for case in 1..=CASES {
        let Some(row) = rows.get(&case) else {
            offenders.push(format!("case {case} has no row"));
            continue;
        };
        let named: BTreeSet<String> = row
            .split('`')
            .filter(|word| word.starts_with("tc_"))
            .map(str::to_owned)
            .collect();
        let there = tests.get(&case).cloned().unwrap_or_default();
        offenders.extend(
            named
                .difference(&there)
                .map(|name| format!("case {case} names {name}, and there is no such test")),
        );
        offenders.extend(
            there
                .difference(&named)
                .map(|name| format!("case {case} does not name {name}")),
        );
        if there.is_empty() {
            offenders.push(format!("case {case} has no test"));
        }
    }
    assert_none("see docs/cases.md", &offenders);
}

#[test]
fn a_name_may_be_of_several_cases() {
    assert_eq!(cases_in("tc_22_tc_46_two_firings"), [22, 46]);
    assert!(cases_in("a_tc_of_nothing").is_empty());
}
