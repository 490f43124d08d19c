//! A team with a key: its server holds no word of what it keeps, and who has another key has nothing of it, and prompts all the same.

use std::path::PathBuf;

use remembrancer_tests::{eventually, sandbox};

use super::faults::prompts_go_on;
use super::world::{Machine, Store};
use crate::PATIENCE;

/// A key in a file of its own.
fn key(store: &Store, machine: &Machine, name: &str) -> PathBuf {
    let file = machine.sandbox.home().join(name);
    store.command(&["share", "key", file.to_str().unwrap()]);
    file
}

#[test]
fn the_server_of_a_sealed_team_holds_no_word_and_its_members_recall_all() {
    let Some(store) = Store::of(sandbox!()) else { return };
    // The folders are needed first: for the keys.
    let (laptop, desk, stranger) = (store.home(), store.home(), store.home());
    let ours = key(&store, &laptop, "team.key");
    let other = key(&store, &stranger, "other.key");
    store.command(&["share", "add-team", "core", "--sealed", "--key-file", ours.to_str().unwrap()]);
    store.members("core", &["ada", "bob", "eve"]);
    for (machine, member, file) in [(&laptop, "ada", &ours), (&desk, "bob", &ours), (&stranger, "eve", &other)] {
        let mut settings = store.settings(member, "core", member);
        settings.more = format!("key_file = {file:?}\n");
        machine.configure(&settings);
    }
    laptop
        .transcript("live")
        .turn(
            "Why does the till print the zanzibarquill twice?",
            "The zanzibarquill was printed for the drawer, too.",
        )
        .topics(100..101);
    stranger.transcript("own").topics(110..111);
    let (_writes, recalls, _strange) = (laptop.sandbox.start(), desk.sandbox.start(), stranger.sandbox.start());
    desk.wait_for("zanzibarquill");
    desk.wait_for("case100");
    recalls.wait_for_model();
    desk.wait_to_recall("why was the zanzibarquill printed twice?", "drawer");
    assert_eq!(store.live(), 2, "what the stranger wrote stays at home");
    for word in ["zanzibarquill", "drawer", "case100", "case110", "github.com", "acme"] {
        assert_eq!(store.holding(word), None, "{word}");
    }

    let told = stranger.wait_for_status(&["refused:"]);
    assert!(told.contains("key"), "{told}");
    eprintln!("with another key: {told}");
    assert!(!stranger.remembers("zanzibarquill"));
    prompts_go_on(&stranger);

    laptop.run(&["forget", "--yes", "--matching", "zanzibarquill"]);
    desk.wait_until_gone("zanzibarquill");
    eventually("its row to be empty", PATIENCE, || (store.live() == 1).then_some(()));

    let keyless = store.machine_of("eve", "core", "keyless");
    let _keyless = keyless.sandbox.start();
    let told = keyless.wait_for_status(&["refused:"]);
    assert!(told.contains("key"), "{told}");
    prompts_go_on(&keyless);
    assert!(!keyless.remembers("case100"));
}
