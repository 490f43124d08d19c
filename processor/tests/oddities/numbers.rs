//! Every number of the list of oddities has a test named after it, and `docs/formats.md` names them all, and every agent with
//! the folders where it is looked for.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use remembrancer_processor::ingest::{Agent, Home};

/// The last number of the list.
const LAST: u8 = 59;
/// Where the page begins to list the tests.
const HEADING: &str = "| number | file | what is wanted |\n| --- | --- | --- |\n";

/// What each number's tests want, by number: the file, and the test's name as words.
fn tests() -> BTreeMap<u8, Vec<(String, String)>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oddities");
    let mut files: Vec<_> = fs_err::read_dir(folder)
        .expect("this folder")
        .flatten()
        .map(|entry| entry.path())
        .collect();
    files.sort();
    let mut tests: BTreeMap<u8, Vec<_>> = BTreeMap::new();
    for path in files {
        let name = path.file_stem().expect("a file").to_string_lossy().into_owned();
        let source = fs_err::read_to_string(&path).expect("a source file");
        for line in source.lines() {
            let Some((test, _)) = line.strip_prefix("fn oddity_").and_then(|rest| rest.split_once('(')) else {
                continue;
            };
            let (number, wanted) = test.split_once('_').expect("a number and what is wanted");
            let number = number.parse().expect("a number of two digits");
            tests
                .entry(number)
                .or_default()
                .push((name.clone(), wanted.replace('_', " ")));
        }
    }
    tests
}

fn page() -> String {
    fs_err::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/formats.md")).expect("the page")
}

#[test]
fn every_number_has_a_test() {
    let numbers: Vec<u8> = tests().into_keys().collect();
    assert_eq!(numbers, (1..=LAST).collect::<Vec<_>>());
}

#[test]
fn the_page_lists_every_test() {
    let mut rows = String::new();
    for (number, tests) in tests() {
        for (file, wanted) in tests {
            writeln!(rows, "| {number} | `{file}` | {wanted} |").expect("a string takes all");
        }
    }
    let listed = page().split_once(HEADING).map(|(_, rows)| rows.to_owned());
    assert!(
        listed.as_deref() == Some(rows.as_str()),
        "docs/formats.md should end with:\n{HEADING}{rows}"
    );
}

#[test]
fn the_page_names_every_agent_and_its_folders() {
    let page = page();
    let home = Home {
        folder: Path::new("~"),
        variable: &|_| None,
    };
    for agent in Agent::ALL {
        let row = page.lines().find(|line| line.starts_with(&format!("| {} |", agent.name())));
        let row = row.unwrap_or_else(|| panic!("docs/formats.md has no row of {}", agent.name()));
        let folders = agent.folders(&home);
        let named = folders.iter().any(|folder| row.contains(&format!("`{}", folder.display())));
        assert!(named, "{}: none of {folders:?} in {row}", agent.name());
    }
}
