//! What leaves one memory leaves the others and the server: by `forget`, `exclude`, the list of what is allowed, `share forget`; and what does
//! not travel: what one member forgets of another's.

use remembrancer_tests::{Transcript, any_own_file_holds, eventually, sandbox};
use rustix::process::Signal;

use super::world::{Machine, Settings, Store, said};
use crate::PATIENCE;

/// Words that a tokeniser leaves whole, and that nothing else holds.
pub(super) const FIRST: &str = "xylophonequartz";
pub(super) const SECOND: &str = "zeppelinmarble";
pub(super) const THIRD: &str = "marimbacobalt";

/// A session of one turn that holds `word`.
pub(super) fn tell(machine: &Machine, session: &str, word: &str) -> Transcript {
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

pub(super) fn gone_from_the_server(store: &Store, word: &str) {
    eventually(&format!("{word} to leave the server"), PATIENCE, || {
        store.holding(word).is_none().then_some(())
    });
}

#[test]
fn what_is_forgotten_on_one_machine_is_forgotten_everywhere_and_stays_so() {
    let Some(store) = Store::of(sandbox!()) else { return };
    let (laptop, desk) = store.pair();
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
    let (laptop, desk) = store.pair();
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
    let (laptop, desk) = store.pair();
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
    let (laptop, desk) = store.pair();
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
    let (laptop, desk) = store.pair();
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
    let (laptop, desk) = store.pair();
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
    let (laptop, desk) = store.pair();
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
    let (laptop, desk) = store.pair();
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
