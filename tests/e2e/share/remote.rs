//! Prompts that have the shared store searched: what nobody pulled is recalled, by the second prompt at the latest, goes when it is taken
//! back, and is asked for by prompts of shared projects alone. A server that is slow or silent costs no prompt its time or its answer.

use std::ops::Range;
use std::time::Duration;

use remembrancer_tests::cutting_proxy::Answer;
use remembrancer_tests::{eventually, sandbox};

use super::world::{Machine, Settings, Store};
use super::{ANSWER, PROMPT, REWORDED};
use crate::PATIENCE;

/// Topics that are asked for while the server does not serve.
const OWN: Range<u32> = 100..108;

/// Settings with which nothing but marks is pulled, and prompts have the server searched.
fn remote(settings: Settings) -> Settings {
    Settings {
        more: "pull = false\nremote = true\n".to_owned(),
        ..settings
    }
}

/// How often prompts of a machine had the server searched, were late, and went without.
fn searched(machine: &Machine) -> [u64; 3] {
    let status = machine.sandbox.json(&["status"]);
    let counts = &status["sharing"]["connection"]["remote"];
    ["asked", "late", "absent"].map(|name| counts[name].as_u64().unwrap_or_else(|| panic!("{name}: {status}")))
}

/// Waits until a member's machine has a connection that is ready to search.
fn wait_until_ready(store: &Store, member: &str) {
    let ready = "SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND usename = $2 AND state = 'idle'
        AND query LIKE '%remembrancer.search%'";
    let login = store.login(member);
    eventually("a connection that is ready to search", PATIENCE, || {
        (store.number(ready, &[&store.database(), &login]) > 0).then_some(())
    });
}

/// Asks until the server was asked.
fn ask_until_asked(machine: &Machine, prompt: &str) {
    eventually("a prompt that has the server searched", PATIENCE, || {
        machine.hook(prompt);
        (searched(machine)[0] > 0).then_some(())
    });
}

#[test]
fn what_nobody_pulled_is_recalled_and_goes_when_it_is_taken_back() {
    let Some(store) = Store::of(sandbox!()) else { return };
    store.team("core", &["ada", "bob", "cid"]);
    let laptop = store.machine_of("ada", "core", "laptop");
    let desk = store.machine(&remote(store.settings("bob", "core", "desk")));
    let mut others = remote(store.settings("cid", "core", "till"));
    others.projects = vec!["github.com/acme/other".to_owned()];
    let till = store.machine(&others);
    laptop.transcript("live").turn(PROMPT, ANSWER);
    desk.transcript("older").topics(100..103);
    laptop.transcript("beside").turn(
        "Why is the oboesapphire of this folder wrong?",
        "The oboesapphire had no repository.",
    );
    let (_writes, recalls, _else) = (laptop.sandbox.start(), desk.sandbox.start(), till.sandbox.start());
    store.wait_for_live(5);
    recalls.wait_for_model();
    recalls.embed_all();
    wait_until_ready(&store, "bob");
    wait_until_ready(&store, "cid");

    ask_until_asked(&desk, PROMPT);
    desk.wait_for("seven copies");
    recalls.embed_all();
    let second = desk.hook(PROMPT);
    assert!(second.context().contains("seven copies"), "{second:?}: {:?}", searched(&desk));
    let of_ada = format!(" · shared by {}\n", store.login("ada"));
    assert!(
        second.context().contains(&of_ada) && second.context().contains("another member of the user's team"),
        "{second:?}"
    );
    assert!(!desk.remembers("oboesapphire"), "what nobody asked for stays where it is");
    let explained = desk.sandbox.json(&["explain"]);
    let sources = explained["sources"].as_array().unwrap();
    assert!(sources.iter().any(|source| source["name"] == "remote"), "{explained}");
    let shown = desk.run(&["show", &desk.sandbox.id_of("back up the Postgres")]);
    assert!(shown.contains(&store.login("ada")) && shown.contains("laptop"), "{shown}");

    // A prompt of a project that is not on the list leaves the machine no more than an episode of it does.
    for _ in 0..3 {
        assert!(!till.hook(PROMPT).context().contains("seven copies"));
    }
    assert_eq!(searched(&till), [0, 0, 0]);

    laptop.run(&["forget", "--yes", "--matching", "seven copies"]);
    desk.wait_until_gone("seven copies");
    for _ in 0..2 {
        assert!(!desk.hook(PROMPT).context().contains("seven copies"));
    }
    assert!(!desk.remembers("seven copies"), "a search brings nothing back");
}

#[test]
fn what_was_found_by_its_meaning_leaves_when_it_is_no_longer_shared() {
    let Some(store) = Store::of(sandbox!()) else { return };
    store.team("core", &["ada", "bob"]);
    store.command(&["share", "add-model"]);
    let laptop = store.machine_of("ada", "core", "laptop");
    let desk = store.machine(&remote(store.settings("bob", "core", "desk")));
    laptop.transcript("live").turn(PROMPT, ANSWER);
    let (writes, recalls) = (laptop.sandbox.start(), desk.sandbox.start());
    writes.wait_for_model();
    recalls.wait_for_model();
    eventually("the vector to be there", PATIENCE, || {
        let vectors = store.number("SELECT count(*) FROM remembrancer.vectors", &[]);
        (vectors == 1).then_some(())
    });
    wait_until_ready(&store, "bob");
    eventually("it to be found by its meaning", PATIENCE, || {
        desk.hook(REWORDED);
        desk.remembers("seven copies").then_some(())
    });
    laptop.run(&["share", "forget", "--all", "--yes"]);
    store.wait_for_live(0);
    desk.wait_until_gone("seven copies");
}

#[test]
fn a_slow_or_silent_server_costs_no_prompt_its_answer() {
    let Some(store) = Store::of(sandbox!()) else { return };
    let proxy = store.proxy();
    store.team("core", &["ada", "bob"]);
    let laptop = store.machine_of("ada", "core", "laptop");
    let settings = store.settings("bob", "core", "desk").by_port(proxy.address().port());
    let desk = store.machine(&remote(settings));
    laptop.transcript("live").turn(PROMPT, ANSWER);
    desk.transcript("own").topics(OWN);
    let daemons = [laptop.sandbox.start(), desk.sandbox.start()];
    daemons[1].flush();
    store.wait_for_live(OWN.len() as i64 + 1);
    wait_until_ready(&store, "bob");

    let second = Duration::from_secs(1);
    proxy.delay(second, second);
    desk.answers(OWN, "two seconds there and back");
    let [asked, late, absent] = searched(&desk);
    assert!(
        asked >= 1 && late >= 1 && absent >= 1,
        "late, then at rest: {asked}, {late}, {absent}"
    );
    let status = desk.sandbox.json(&["status"]);
    let lacked = &status["recalls"]["degradations"];
    assert!(lacked["share-remote-late"].as_u64() >= Some(1), "{lacked}");
    assert!(lacked["share-remote-absent"].as_u64() >= Some(1), "{lacked}");

    proxy.answer(Answer::Hang);
    desk.answers(OWN, "a server that stops answering");
    proxy.answer(Answer::Refuse);
    proxy.cut_now();
    desk.answers(OWN, "a server that is not there");
    // Once it has rested it is asked again.
    proxy.answer(Answer::Carry);
    proxy.delay(Duration::ZERO, Duration::ZERO);
    desk.nudge();
    desk.wait_to_recall(PROMPT, "seven copies");
    drop(daemons);
}
