//! Who leaves a team by `share leave`: what that machine shared is taken back, at once or once the server can be reached, and what the
//! member's other machines shared stays; and a team that was not left, only set no more.

use remembrancer_tests::cutting_proxy::Answer;
use remembrancer_tests::{eventually, sandbox};
use rustix::process::Signal;
use serde_json::json;

use super::leaving::{FIRST, SECOND, THIRD, gone_from_the_server, tell};
use super::world::{Machine, Store, said};
use crate::PATIENCE;

#[test]
fn who_leaves_takes_back_what_that_machine_shared_and_keeps_nothing_of_the_others() {
    let Some(store) = Store::of(sandbox!()) else { return };
    let (laptop, desk) = store.pair();
    let phone = store.machine_of("ada", "core", "phone");
    for (machine, word) in [(&laptop, FIRST), (&phone, SECOND), (&desk, THIRD)] {
        tell(machine, word, word);
    }
    let (writes, _others, _recalls) = (laptop.sandbox.start(), phone.sandbox.start(), desk.sandbox.start());
    for machine in [&laptop, &phone, &desk] {
        for word in [FIRST, SECOND, THIRD] {
            machine.wait_for(word);
        }
    }
    // A vector that comes later is a change that is on its way as it is left.
    writes.embed_all();
    laptop.wait_for_status(&["; 0 changes to be sent"]);
    let asked = laptop.sandbox.run(&["share", "leave"]);
    assert_eq!(asked.status.code(), Some(2), "there is nobody to ask: {}", said(&asked));
    assert!(laptop.remembers(SECOND) && desk.remembers(FIRST), "nothing was left");

    let told = laptop.sandbox.json(&["share", "leave", "--yes"]);
    let told = ["daemon", "removed", "withdrawn", "left_there"].map(|member| told[member].clone());
    assert_eq!(told, [json!(true), json!(2), json!(1), json!(0)]);
    is_left_behind(&laptop);
    for machine in [&desk, &phone] {
        machine.wait_until_gone(FIRST);
    }
    gone_from_the_server(&store, FIRST);
    assert!(laptop.remembers(FIRST), "what one wrote stays one's own");
    assert!(!laptop.remembers(SECOND) && !laptop.remembers(THIRD));
    assert!(phone.remembers(SECOND) && phone.remembers(THIRD) && desk.remembers(SECOND));
    assert!(store.holding(SECOND).is_some(), "the other machine has not left");
    laptop.transcript("c").topics(100..101);
    phone.transcript("d").topics(101..102);
    desk.wait_for("case101");
    assert!(
        !laptop.remembers("case101") && !desk.remembers("case100"),
        "nothing goes either way"
    );
    store.holds_none(&[FIRST, "case100"], "the machine has left");

    let resumed = laptop.run(&["share", "resume"]);
    assert!(resumed.contains("Sharing again"), "{resumed}");
    for machine in [&desk, &phone] {
        machine.wait_for(FIRST);
        machine.wait_for("case100");
    }
    for word in [SECOND, THIRD, "case101"] {
        laptop.wait_for(word);
    }
    store.wait_for_live(5);
}

#[test]
fn what_could_not_be_taken_back_is_once_the_server_is_back() {
    let Some(store) = Store::of(sandbox!()) else { return };
    let (laptop, desk) = store.pair();
    let proxy = store.proxy();
    laptop.configure(&store.settings("ada", "core", "laptop").by_port(proxy.address().port()));
    tell(&laptop, "a", FIRST);
    tell(&desk, "b", SECOND);
    let (_writes, _recalls) = (laptop.sandbox.start(), desk.sandbox.start());
    desk.wait_for(FIRST);
    laptop.wait_for(SECOND);

    proxy.answer(Answer::Refuse);
    proxy.cut_now();
    let told = laptop.run(&["share", "leave", "--yes"]);
    assert!(
        told.contains("1 episode of others went") && told.contains("takes back the other 1 as soon as it reaches the server"),
        "{told}"
    );
    laptop.wait_until_gone(SECOND);
    assert!(desk.remembers(FIRST), "nobody could take it back");
    let told = laptop.share_status();
    assert!(
        told.contains("left, and not all is taken back yet: not connected") && told.contains("1 episode is not taken back yet"),
        "{told}"
    );
    let checks = said(&laptop.sandbox.run(&["doctor"]));
    assert!(
        checks.contains("has left the team core, and 1 episode is not taken back yet") && !checks.contains("take `[share]` out"),
        "{checks}"
    );

    proxy.answer(Answer::Carry);
    desk.wait_until_gone(FIRST);
    gone_from_the_server(&store, FIRST);
    laptop.wait_for_status(&["sent:       0 episodes"]);
    is_left_behind(&laptop);
    assert!(laptop.remembers(FIRST) && desk.remembers(SECOND));

    proxy.answer(Answer::Refuse);
    proxy.cut_now();
    let told = eventually("the connection to be lost", PATIENCE, || {
        let told = laptop.run(&["share", "resume"]);
        (!told.contains("Sharing again")).then_some(told)
    });
    assert!(
        told.contains("once the server is reached") && told.contains("it is tried again at"),
        "{told}"
    );
    proxy.answer(Answer::Carry);
    desk.wait_for(FIRST);
    laptop.wait_for(SECOND);
}

/// The machine has left, knows that nothing of it is there any more, and is told to do nothing but what ends it.
fn is_left_behind(machine: &Machine) {
    let status = machine.sandbox.json(&["share", "status"]);
    assert_eq!(
        (&status["sharing"]["left"], &status["sharing"]["sent"]),
        (&json!(true), &json!(0)),
        "{status}"
    );
    let told = machine.share_status();
    assert!(
        told.contains("left; take `[share]` out") && !told.contains("warning:"),
        "{told}"
    );
    let checks = said(&machine.sandbox.run(&["doctor"]));
    assert!(checks.contains("has left the team core"), "{checks}");
    for undone in ["it is paused", "still shared", "not taken back"] {
        assert!(!checks.contains(undone), "{undone}: {checks}");
    }
}

/// Nothing is warned of once the settings name no shared store.
fn is_forgotten_of(machine: &Machine) {
    machine.sandbox.configure("");
    let daemon = machine.sandbox.start();
    eventually("sharing to end", PATIENCE, || {
        machine.sandbox.json(&["share", "status"])["sharing"].is_null().then_some(())
    });
    assert_eq!(machine.sandbox.json(&["share", "status"])["left_there"], 0);
    let checks = said(&machine.sandbox.run(&["doctor"]));
    assert!(!checks.contains("still shared"), "{checks}");
    daemon.stop(Signal::TERM);
}

#[test]
fn who_leaves_without_a_daemon_has_it_taken_back_at_the_next_start() {
    let Some(store) = Store::of(sandbox!()) else { return };
    let (laptop, desk) = store.pair();
    tell(&laptop, "a", FIRST);
    tell(&desk, "b", SECOND);
    let (writes, _recalls) = (laptop.sandbox.start(), desk.sandbox.start());
    desk.wait_for(FIRST);
    laptop.wait_for(SECOND);
    writes.stop(Signal::TERM);
    let told = laptop.sandbox.json(&["share", "leave", "--yes"]);
    let told = ["daemon", "removed", "withdrawn", "left_there"].map(|member| told[member].clone());
    assert_eq!(told, [json!(false), json!(1), json!(0), json!(1)]);
    let again = laptop.run(&["share", "leave", "--yes"]);
    assert!(
        again.contains("Start the daemon once with these settings: it takes back 1 episode"),
        "{again}"
    );
    assert!(!laptop.remembers(SECOND) && desk.remembers(FIRST));
    let told = laptop.share_status();
    assert!(told.contains("not all is taken back yet: no daemon runs"), "{told}");

    let writes = laptop.sandbox.start();
    desk.wait_until_gone(FIRST);
    gone_from_the_server(&store, FIRST);
    laptop.wait_for_status(&["sent:       0 episodes"]);
    is_left_behind(&laptop);
    assert!(!laptop.remembers(SECOND) && store.live() == 1);
    writes.stop(Signal::TERM);
    is_forgotten_of(&laptop);
    assert!(laptop.remembers(FIRST));
}

#[test]
fn who_was_put_out_or_whose_team_is_gone_can_leave_and_is_warned_of_nothing() {
    let Some(store) = Store::of(sandbox!()) else { return };
    let (laptop, desk) = store.pair();
    tell(&laptop, "a", FIRST);
    tell(&desk, "b", SECOND);
    let (writes, recalls) = (laptop.sandbox.start(), desk.sandbox.start());
    desk.wait_for(FIRST);
    laptop.wait_for(SECOND);
    // What it shared is kept, so that something of it is there.
    let remove = "SELECT remembrancer.remove_member('core', $1, true)";
    store.client().query(remove, &[&store.login("ada")]).unwrap();
    let told = laptop.sandbox.json(&["share", "leave", "--yes"]);
    assert_eq!(
        (&told["withdrawn"], &told["removed"], &told["left_there"]),
        (&json!(null), &json!(1), &json!(0)),
        "{told}"
    );
    let said_of_it = laptop.run(&["share", "leave", "--yes"]);
    assert!(said_of_it.contains("nothing more can be taken back"), "{said_of_it}");
    assert!(laptop.remembers(FIRST) && !laptop.remembers(SECOND));
    let told = laptop.share_status();
    assert!(
        told.contains("left; take `[share]` out") && !told.contains("warning:"),
        "{told}"
    );
    let checks = said(&laptop.sandbox.run(&["doctor"]));
    assert!(
        checks.contains("has left the team core") && !checks.contains("not taken back"),
        "{checks}"
    );
    writes.stop(Signal::TERM);
    is_forgotten_of(&laptop);

    recalls.stop(Signal::TERM);
    store.command(&["share", "remove-team", "core", "--yes"]);
    let told = desk.sandbox.json(&["share", "leave", "--yes"]);
    assert_eq!((&told["left_there"], &told["removed"]), (&json!(1), &json!(1)), "{told}");
    let recalls = desk.sandbox.start();
    let told = desk.wait_for_status(&["put out:"]);
    assert!(
        told.contains("left; take `[share]` out") && !told.contains("warning:"),
        "{told}"
    );
    recalls.stop(Signal::TERM);
    let told = desk.sandbox.json(&["share", "leave", "--yes"]);
    assert_eq!(
        (&told["withdrawn"], &told["left_there"]),
        (&json!(null), &json!(0)),
        "it is known by then: {told}"
    );
    is_forgotten_of(&desk);
}

#[test]
fn a_team_that_was_not_left_is_named_until_it_is() {
    let Some(store) = Store::of(sandbox!()) else { return };
    let (laptop, desk) = store.pair();
    store.team("other", &["ada"]);
    tell(&laptop, "a", FIRST);
    let (writes, _recalls) = (laptop.sandbox.start(), desk.sandbox.start());
    desk.wait_for(FIRST);
    writes.stop(Signal::TERM);
    laptop.configure(&store.settings("ada", "other", "laptop"));
    let mismatch = laptop.sandbox.run(&["share", "leave", "--yes"]);
    assert_eq!(
        mismatch.status.code(),
        Some(2),
        "the memory shares with another team still: {}",
        said(&mismatch)
    );
    laptop.configure(
        &store
            .settings("ada", "core", "laptop")
            .at("localhost", store.address().port()),
    );
    let mismatch = said(&laptop.sandbox.run(&["share", "leave", "--yes"]));
    assert!(
        mismatch.contains("still, and the settings name localhost:"),
        "the same name at another server is another team: {mismatch}"
    );
    assert!(desk.remembers(FIRST) && store.live() == 1);
    laptop.configure(&store.settings("ada", "other", "laptop"));
    let writes = laptop.sandbox.start();
    let told = laptop.wait_for_status(&["still shared with core"]);
    assert!(told.contains("share leave"), "{told}");
    let checks = said(&laptop.sandbox.run(&["doctor"]));
    assert!(checks.contains("still shared with core"), "{checks}");
    writes.stop(Signal::TERM);

    laptop.configure(&store.settings("ada", "core", "laptop"));
    let _writes = laptop.sandbox.start();
    eventually("the memory to share with it again", PATIENCE, || {
        laptop
            .sandbox
            .run(&["share", "leave", "--yes"])
            .status
            .success()
            .then_some(())
    });
    desk.wait_until_gone(FIRST);
    let status = laptop.sandbox.json(&["share", "status"]);
    let former = status["sharing"]["former"].to_string();
    assert!(!former.contains("#core"), "{status}");
}
