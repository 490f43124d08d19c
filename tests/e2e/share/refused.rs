//! A server that takes a machine no more: of a newer schema, by a wrong password, since its member was removed. `share status` says so,
//! prompts go on, and once it takes it again all is caught up.

use remembrancer_tests::{eventually, sandbox};

use super::faults::prompts_go_on;
use super::world::{Machine, Store, private};
use crate::PATIENCE;

/// Two machines that have each other's first turn.
fn sharing(store: &Store) -> (Machine, Machine) {
    store.team("core", &["ada", "bob"]);
    let (laptop, desk) = (
        store.machine_of("ada", "core", "laptop"),
        store.machine_of("bob", "core", "desk"),
    );
    // Sessions of their own: what is told by the same ids is the same turn.
    laptop.transcript("of-laptop").topics(100..101);
    desk.transcript("of-desk").topics(110..111);
    (laptop, desk)
}

fn meta(store: &Store, key: &str) -> String {
    let found = "SELECT value FROM remembrancer.meta WHERE key = $1";
    store.client().query_one(found, &[&key]).unwrap().get(0)
}

fn set_meta(store: &Store, key: &str, value: &str) {
    let set = "UPDATE remembrancer.meta SET value = $2 WHERE key = $1";
    assert_eq!(store.client().execute(set, &[&key, &value]).unwrap(), 1);
}

#[test]
fn a_server_of_another_schema_is_named_and_prompts_go_on() {
    let Some(store) = Store::of(sandbox!()) else { return };
    let (laptop, desk) = sharing(&store);
    let (writes, _recalls) = (laptop.sandbox.start(), desk.sandbox.start());
    desk.wait_for("case100");
    laptop.wait_for("case110");
    for (number, key, wrong) in [(101, "oldest_client", "1000000"), (102, "version", "0")] {
        let right = meta(&store, key);
        set_meta(&store, key, wrong);
        store.disconnect_all();
        laptop.transcript(&format!("s{number}")).topics(number..number + 1);
        writes.flush();
        let told = laptop.wait_for_status(&["refused:"]);
        eprintln!("{key} {wrong}: {told}");
        prompts_go_on(&laptop);
        prompts_go_on(&desk);
        store.holds_none(&[&format!("case{number}")], "a server that is refused gets nothing");
        set_meta(&store, key, &right);
        laptop.nudge();
        desk.nudge();
        desk.wait_for(&format!("case{number}"));
    }
    assert_eq!(desk.sandbox.prompts(), laptop.sandbox.prompts());
}

#[test]
fn a_wrong_password_is_named_and_the_right_one_goes_on() {
    let Some(store) = Store::of(sandbox!()) else { return };
    let (laptop, desk) = sharing(&store);
    let mut settings = store.settings("ada", "core", "laptop");
    let right = fs_err::read_to_string(&settings.password_file).unwrap();
    settings.password_file = laptop.sandbox.home().join("password");
    fs_err::write(&settings.password_file, "not-the-one\n").unwrap();
    private(&settings.password_file);
    laptop.configure(&settings);
    let (writes, _recalls) = (laptop.sandbox.start(), desk.sandbox.start());
    writes.flush();
    let told = laptop.wait_for_status(&["password"]);
    eprintln!("a wrong password: {told}");
    assert!(!told.contains("not-the-one"), "{told}");
    assert!(!writes.log().contains("not-the-one"));
    prompts_go_on(&laptop);
    store.holds_none(&["case100"], "nobody let it in");

    fs_err::write(&settings.password_file, &right).unwrap();
    laptop.nudge();
    desk.wait_for("case100");
    laptop.wait_for("case110");

    // It is changed under a machine that shares.
    let changed = format!("ALTER ROLE {} PASSWORD 'another-one'", store.login("ada"));
    store.client().batch_execute(&changed).unwrap();
    store.disconnect_all();
    laptop.transcript("second").topics(101..102);
    laptop.wait_for_status(&["password"]);
    prompts_go_on(&laptop);
    fs_err::write(&settings.password_file, "another-one\n").unwrap();
    laptop.nudge();
    desk.wait_for("case101");
    assert_eq!(desk.sandbox.prompts(), laptop.sandbox.prompts());
}

#[test]
fn a_member_that_was_removed_is_told_so_and_one_that_is_taken_again_catches_up() {
    let Some(store) = Store::of(sandbox!()) else { return };
    let (laptop, desk) = sharing(&store);
    let (writes, _recalls) = (laptop.sandbox.start(), desk.sandbox.start());
    desk.wait_for("case100");
    laptop.wait_for("case110");
    let login = store.login("ada");
    let remove = "SELECT remembrancer.remove_member('core', $1, true)";
    store.client().query(remove, &[&login]).unwrap();
    laptop.transcript("second").topics(101..102);
    writes.flush();
    desk.transcript("second-of-desk").topics(111..112);
    store.wait_for_live(3);
    let told = laptop.wait_for_status(&["refused:"]);
    eprintln!("a member that was removed: {told}");
    prompts_go_on(&laptop);
    assert!(!laptop.remembers("case111"), "it is shared with members");
    store.holds_none(&["case101"], "who is no member shares nothing");
    assert!(desk.remembers("case100"), "what it shared was kept");

    store.command(&["share", "add-member", &login, "--team", "core"]);
    laptop.nudge();
    desk.wait_for("case101");
    laptop.wait_for("case111");
    eventually("both to have the same", PATIENCE, || {
        (desk.sandbox.prompts() == laptop.sandbox.prompts()).then_some(())
    });
    assert_eq!(store.live(), 4);
}
