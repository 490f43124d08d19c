//! The short form of `faults`: some kills of each kind, in this order and at these moments. The long one is run by hand; see
//! `docs/faults.md`.

use remembrancer_tests::faults::{HEADER, Kind, Plan, run};

fn killed(kind: Kind, kills: u64) {
    let plan = Plan {
        binaries: (
            env!("CARGO_BIN_EXE_remembrancer-under-test").to_owned(),
            env!("CARGO_BIN_EXE_remembrancer-hook-under-test").to_owned(),
        ),
        seed: 1,
        kind,
        kills,
        first_home: 0,
    };
    let mut told = Vec::new();
    let tally = run(&plan, &mut |line| told.push(line));
    eprintln!("{HEADER}\n{tally}");
    assert!(tally.is_whole(), "{}", told.join("\n"));
    assert_eq!(tally.kills, kills);
}

#[test]
fn tc_08_and_tc_09_killed_while_forks_and_subagents_are_read() {
    killed(Kind::Ingest, 6);
}

#[test]
fn tc_37_killed_while_embedding() {
    killed(Kind::Embedding, 3);
}

#[test]
fn tc_38_killed_while_migrating() {
    killed(Kind::Migration, 8);
}

#[test]
fn tc_37_killed_with_hooks_in_flight() {
    killed(Kind::Recall, 4);
}

#[test]
fn tc_37_killed_while_forgetting_and_indexing() {
    killed(Kind::Upkeep, 8);
}

#[test]
fn tc_39_killed_while_starting_and_stopping() {
    killed(Kind::Life, 6);
}
