//! What leaves one memory leaves the others and the server: by `forget`, `exclude`, the list of what is allowed, `share forget`, `share leave`; and
//! what does not travel: what one member forgets of another's.

use remembrancer_tests::cutting_proxy::Answer;
use remembrancer_tests::{Transcript, any_own_file_holds, eventually, sandbox};
use rustix::process::Signal;
use serde_json::json;

use super::world::{Machine, Settings, Store, said};
use crate::PATIENCE;

/// Words that a tokeniser leaves whole, and that nothing else holds.
const FIRST: &str = "xylophonequartz";
const SECOND: &str = "zeppelinmarble";
const THIRD: &str = "marimbacobalt";

/// A session of one turn that holds `word`.
fn tell(machine: &Machine, session: &str, word: &str) -> Transcript {
    let mut transcript = machine.transcript(session);
    transcript.turn(
        &format!("Please rotate the {word} key of the gateway, since it was printed in a log"),
        &format!("The gateway has a new key now; {word} was taken out of the vault, and the old one is void."),
    );
    transcript
}

fn forget(machine: &Machine, word: &str) {
    machine.run(&["forget", "--yes", "--matching", word]);
}

fn gone_from_the_server(store: &Store, word: &str) {
    eventually(&format!("{word} to leave the server"), PATIENCE, || {
        store.holding(word).is_none().then_some(())
    });
}

/// Two members with a machine each.
fn pair(store: &Store) -> (Machine, Machine) {
    store.team("core", &["ada", "bob"]);
    (
        store.machine_of("ada", "core", "laptop"),
        store.machine_of("bob", "core", "desk"),
    )
}

#[test]
fn what_is_forgotten_on_one_machine_is_forgotten_everywhere_and_stays_so() {
    let Some(store) = Store::of(sandbox!()) else { return };
    let (laptop, desk) = pair(&store);
    let mut grows = tell(&laptop, "a", FIRST);
    tell(&laptop, "b", SECOND);
    tell(&laptop, "c", THIRD);
    let (writes, recalls) = (laptop.sandbox.start(), desk.sandbox.start());
    for word in [FIRST, SECOND, THIRD] {
        desk.wait_for(word);
        assert!(store.holding(word).is_some(), "the test looks in the right places");
    }
    forget(&laptop, FIRST);
    desk.wait_until_gone(FIRST);
    gone_from_the_server(&store, FIRST);

    // The other is off meanwhile; then so is the one that forgets.
    recalls.stop(Signal::TERM);
    forget(&laptop, SECOND);
    gone_from_the_server(&store, SECOND);
    writes.stop(Signal::TERM);
    forget(&laptop, THIRD);
    assert!(desk.remembers(SECOND) && desk.remembers(THIRD), "it could not know");

    // The transcripts are there still, and one of them grows.
    grows.topics(100..101);
    let (writes, recalls) = (laptop.sandbox.start(), desk.sandbox.start());
    desk.wait_for("case100");
    for word in [SECOND, THIRD] {
        desk.wait_until_gone(word);
        gone_from_the_server(&store, word);
    }
    writes.stop(Signal::TERM);
    recalls.stop(Signal::TERM);
    let (_writes, _recalls) = (laptop.sandbox.start(), desk.sandbox.start());
    laptop.transcript("d").topics(101..102);
    desk.wait_for("case101");
    for word in [FIRST, SECOND, THIRD] {
        assert!(!laptop.remembers(word) && !desk.remembers(word), "{word} is back");
    }
    store.holds_none(&[FIRST, SECOND, THIRD], "after both were started again");
    assert_eq!(store.live(), 2);
}

#[test]
fn what_was_forgotten_elsewhere_is_in_no_file_here() {
    let Some(store) = Store::of(sandbox!()) else { return };
    let (laptop, desk) = pair(&store);
    tell(&laptop, "a", FIRST);
    let (_writes, recalls) = (laptop.sandbox.start(), desk.sandbox.start());
    desk.wait_for(FIRST);
    recalls.wait_for_model();
    desk.wait_to_recall(&format!("which key of the gateway was rotated, was it {FIRST}?"), FIRST);
    assert!(any_own_file_holds(&desk.sandbox, FIRST.as_bytes()).is_some());
    forget(&laptop, FIRST);
    eventually("its bytes to go", PATIENCE, || {
        any_own_file_holds(&desk.sandbox, FIRST.as_bytes()).is_none().then_some(())
    });
}

#[test]
fn what_another_member_wrote_is_forgotten_for_me_alone_on_all_my_machines() {
    let Some(store) = Store::of(sandbox!()) else { return };
    let (laptop, desk) = pair(&store);
    let phone = store.machine_of("bob", "core", "phone");
    for (session, word) in [("a", FIRST), ("b", SECOND)] {
        tell(&laptop, session, word);
    }
    let (_writes, recalls, others) = (laptop.sandbox.start(), desk.sandbox.start(), phone.sandbox.start());
    for machine in [&desk, &phone] {
        machine.wait_for(FIRST);
        machine.wait_for(SECOND);
    }
    forget(&desk, FIRST);
    phone.wait_until_gone(FIRST);
    assert!(!desk.remembers(FIRST) && desk.remembers(SECOND) && phone.remembers(SECOND));
    assert!(laptop.remembers(FIRST), "it is its author's");
    assert_eq!(store.live(), 2, "and the team's");

    recalls.stop(Signal::TERM);
    others.stop(Signal::TERM);
    let (_recalls, _others) = (desk.sandbox.start(), phone.sandbox.start());
    laptop.transcript("c").topics(100..101);
    for machine in [&desk, &phone] {
        machine.wait_for("case100");
        assert!(!machine.remembers(FIRST), "it is back");
    }

    // What one of my machines wrote, the other has it forgotten as its own.
    tell(&desk, "own", THIRD);
    phone.wait_for(THIRD);
    laptop.wait_for(THIRD);
    forget(&phone, THIRD);
    desk.wait_until_gone(THIRD);
    laptop.wait_until_gone(THIRD);
    gone_from_the_server(&store, THIRD);
}

#[test]
fn an_exclusion_travels_and_so_does_its_end() {
    let Some(store) = Store::of(sandbox!()) else { return };
    let (laptop, desk) = pair(&store);
    tell(&laptop, "a", FIRST);
    let (_writes, _recalls) = (laptop.sandbox.start(), desk.sandbox.start());
    desk.wait_for(FIRST);
    let app = laptop.repository("app");
    laptop.run(&["exclude", &app]);
    desk.wait_until_gone(FIRST);
    gone_from_the_server(&store, FIRST);
    laptop.run(&["include", &app]);
    desk.wait_for(FIRST);
    assert_eq!(store.live(), 1);
}

#[test]
fn a_project_that_is_taken_off_the_list_is_withdrawn_and_comes_back_with_it() {
    let Some(store) = Store::of(sandbox!()) else { return };
    store.team("core", &["ada", "bob"]);
    let mut both = store.settings("ada", "core", "laptop");
    both.projects.push("github.com/acme/till".to_owned());
    let only_till = without_the_first(&both);
    let (laptop, desk) = (store.machine(&both), store.machine_of("bob", "core", "desk"));
    laptop.repository("till");
    tell(&laptop, "a", FIRST);
    laptop.sandbox.transcript("b", "till").turn(
        "Why is the zeppelinmarble of the till wrong?",
        "The zeppelinmarble was rounded twice.",
    );
    let (writes, _recalls) = (laptop.sandbox.start(), desk.sandbox.start());
    desk.wait_for(FIRST);
    desk.wait_for(SECOND);
    writes.stop(Signal::TERM);

    laptop.configure(&only_till);
    let writes = laptop.sandbox.start();
    desk.wait_until_gone(FIRST);
    gone_from_the_server(&store, FIRST);
    assert!(
        desk.remembers(SECOND) && laptop.remembers(FIRST),
        "it stays where it was written"
    );
    assert_eq!(store.live(), 1);
    writes.stop(Signal::TERM);

    laptop.configure(&both);
    let _writes = laptop.sandbox.start();
    desk.wait_for(FIRST);
    assert_eq!(store.live(), 2);
}

/// The same settings, the first project taken off the list.
fn without_the_first(settings: &Settings) -> Settings {
    let mut settings = settings.clone();
    settings.projects.remove(0);
    settings
}

#[test]
fn a_pause_keeps_content_at_home_and_lets_what_leaves_pass() {
    let Some(store) = Store::of(sandbox!()) else { return };
    let (laptop, desk) = pair(&store);
    for (session, word) in [("a", FIRST), ("b", SECOND)] {
        tell(&laptop, session, word);
    }
    let (writes, _recalls) = (laptop.sandbox.start(), desk.sandbox.start());
    desk.wait_for(FIRST);
    desk.wait_for(SECOND);

    laptop.run(&["share", "pause"]);
    assert!(laptop.share_status().contains("paused"), "{}", laptop.share_status());
    laptop.transcript("live").topics(100..101);
    writes.flush();
    // The turn came first: had it been let through, it would be there with this.
    forget(&laptop, FIRST);
    desk.wait_until_gone(FIRST);
    gone_from_the_server(&store, FIRST);
    assert!(!desk.remembers("case100"));
    store.holds_none(&["case100"], "sharing is paused");
    laptop.run(&["share", "resume"]);
    desk.wait_for("case100");

    desk.run(&["share", "pause"]);
    laptop.transcript("more").topics(101..102);
    store.wait_for_live(3);
    forget(&laptop, SECOND);
    desk.wait_until_gone(SECOND);
    assert!(!desk.remembers("case101"), "what others share waits, too");
    desk.run(&["share", "resume"]);
    desk.wait_for("case101");
}

#[test]
fn all_of_mine_is_exported_and_taken_out_of_the_shared_store() {
    let Some(store) = Store::of(sandbox!()) else { return };
    let (laptop, desk) = pair(&store);
    for (session, word) in [("a", FIRST), ("b", SECOND)] {
        tell(&laptop, session, word);
    }
    tell(&desk, "c", THIRD);
    let (writes, _recalls) = (laptop.sandbox.start(), desk.sandbox.start());
    desk.wait_for(FIRST);
    desk.wait_for(SECOND);
    laptop.wait_for(THIRD);

    let mine = laptop.run(&["share", "export"]);
    assert_eq!(mine.lines().count(), 2, "{mine}");
    assert!(
        mine.contains(FIRST) && mine.contains(SECOND) && !mine.contains(THIRD),
        "{mine}"
    );
    let file = laptop.sandbox.home().join("team.jsonl");
    laptop.run(&["share", "export", "--team", file.to_str().unwrap()]);
    let all = fs_err::read_to_string(&file).unwrap();
    assert!(all.lines().count() == 3 && all.contains(THIRD), "{all}");
    for line in all.lines() {
        let object: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(object["prompt"].is_string(), "{line}");
        assert_eq!(object["shared_by"].is_null(), !line.contains(THIRD), "{line}");
    }
    let told = laptop.sandbox.json(&["import", "--dry-run", file.to_str().unwrap()]);
    let became = ["known", "shared", "bad"].map(|name| told[name].as_u64());
    assert_eq!(became, [Some(2), Some(1), Some(0)], "what others shared is left out: {told}");

    // A vector that comes later is a change, by which an episode is shared again.
    writes.embed_all();
    eventually("nothing to wait to be sent", PATIENCE, || {
        laptop
            .run(&["share", "status"])
            .contains("; 0 changes to be sent")
            .then_some(())
    });
    let asked = said(&laptop.sandbox.run(&["share", "forget", "--all"]));
    assert!(asked.contains("stays on the machine where it was made"), "{asked}");
    laptop.run(&["share", "forget", "--all", "--yes"]);
    for word in [FIRST, SECOND] {
        desk.wait_until_gone(word);
        gone_from_the_server(&store, word);
        assert!(laptop.remembers(word), "it stays where it was written");
    }
    assert_eq!(store.live(), 1, "what others wrote is theirs");
    eventually("the machine to know that they are not shared", PATIENCE, || {
        let projects = laptop.run(&["share", "projects"]);
        projects
            .contains(": shared; 2 episodes here, 0 at the shared store, 2 are not shared")
            .then_some(())
    });
    let acts = "SELECT coalesce(sum(count), 0)::bigint FROM remembrancer.audit a JOIN remembrancer.members m ON m.id = a.member
        WHERE act LIKE 'withdraw%' AND m.login = $1::text";
    let noted: i64 = store.client().query_one(acts, &[&store.login("ada")]).unwrap().get(0);
    assert_eq!(noted, 2, "who took back how many is noted");
    writes.stop(Signal::TERM);
    let _writes = laptop.sandbox.start();
    laptop.transcript("later").topics(100..101);
    desk.wait_for("case100");
    for word in [FIRST, SECOND] {
        assert!(!desk.remembers(word), "{word} came back by itself");
    }
}

#[test]
fn what_was_taken_back_while_the_daemon_was_off_is_not_sent_again_with_what_waits() {
    let Some(store) = Store::of(sandbox!()) else { return };
    let (laptop, desk) = pair(&store);
    tell(&laptop, "a", FIRST);
    let (writes, _recalls) = (laptop.sandbox.start(), desk.sandbox.start());
    desk.wait_for(FIRST);
    writes.stop(Signal::TERM);
    laptop.run(&["share", "forget", "--all", "--yes"]);
    desk.wait_until_gone(FIRST);
    // Another list has all be looked at: it waits when the daemon connects.
    let mut more = store.settings("ada", "core", "laptop");
    more.projects.push("github.com/acme/till".to_owned());
    laptop.configure(&more);
    laptop.transcript("later").topics(100..101);
    let _writes = laptop.sandbox.start();
    desk.wait_for("case100");
    laptop.wait_for_status(&["; 0 changes to be sent"]);
    assert!(!desk.remembers(FIRST));
    assert_eq!(store.live(), 1);
}

#[test]
fn a_key_that_names_nothing_takes_nothing_back_and_fails() {
    let Some(store) = Store::of(sandbox!()) else { return };
    let (laptop, desk) = pair(&store);
    tell(&laptop, "a", FIRST);
    let (writes, _recalls) = (laptop.sandbox.start(), desk.sandbox.start());
    desk.wait_for(FIRST);
    // A vector on its way is told of until the machine hears what was taken back.
    writes.embed_all();
    laptop.wait_for_status(&["; 0 changes to be sent"]);
    let wrong = laptop
        .sandbox
        .run(&["share", "forget", "--yes", "--project", "github.com/acme/wrong"]);
    assert_eq!(wrong.status.code(), Some(3), "{}", said(&wrong));
    assert!(said(&wrong).contains("share projects"), "{}", said(&wrong));
    assert_eq!(store.live(), 1);
    let taken = laptop
        .sandbox
        .json(&["share", "forget", "--yes", "--project", "github.com/acme/*"]);
    assert_eq!(taken["withdrawn"], 1, "a pattern names what is here: {taken}");
    desk.wait_until_gone(FIRST);
    let again = laptop
        .sandbox
        .json(&["share", "forget", "--yes", "--project", "github.com/acme/app"]);
    assert_eq!(
        again["withdrawn"], 0,
        "there is such a project, and nothing is left of it: {again}"
    );
}

#[test]
fn who_leaves_takes_back_what_that_machine_shared_and_keeps_nothing_of_the_others() {
    let Some(store) = Store::of(sandbox!()) else { return };
    let (laptop, desk) = pair(&store);
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
    let (laptop, desk) = pair(&store);
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
    let (laptop, desk) = pair(&store);
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
    let (laptop, desk) = pair(&store);
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
    let (laptop, desk) = pair(&store);
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
