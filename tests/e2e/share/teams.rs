//! Teams on one server know nothing of each other, not even where a member asks the server itself.

use remembrancer_tests::sandbox;
use rustix::process::Signal;

use super::world::Store;

#[test]
fn two_teams_on_one_server_do_not_see_each_other() {
    let Some(store) = Store::of(sandbox!()) else { return };
    let (laptop, desk) = store.pair();
    store.team("rival", &["eve"]);
    let spy = store.machine_of("eve", "rival", "spy");
    laptop.transcript("ours").topics(100..102);
    spy.transcript("theirs").topics(110..111);
    let (_writes, _recalls, spies) = (laptop.sandbox.start(), desk.sandbox.start(), spy.sandbox.start());
    desk.wait_for("case101");
    store.wait_for_live(3);
    // Whatever it was let have, it would have with what its own team shared later.
    let second = store.machine_of("eve", "rival", "second");
    let _second = second.sandbox.start();
    second.wait_for("case110");
    second.transcript("more").topics(111..112);
    spy.wait_for("case111");
    for machine in [&spy, &second] {
        assert!(!machine.remembers("case100") && !machine.remembers("case101"));
    }
    assert!(!laptop.remembers("case110") && !desk.remembers("case110"));

    let mut attacker = store.client_of("eve");
    let seen = "SELECT count(*), count(*) FILTER (WHERE prompt LIKE '%case10%') FROM remembrancer.episodes";
    let seen = attacker.query_one(seen, &[]).unwrap();
    assert_eq!((seen.get::<_, i64>(0), seen.get::<_, i64>(1)), (2, 0));
    let team = "SELECT id FROM remembrancer.teams WHERE name = 'core'";
    let team: i32 = store.client().query_one(team, &[]).unwrap().get(0);
    assert!(
        attacker
            .query("SELECT id FROM remembrancer.teams WHERE name = 'core'", &[])
            .unwrap()
            .is_empty()
    );
    let pulled = "SELECT * FROM remembrancer.pull($1, $2, 0, 100, 'any', true)";
    let machine = vec![7_u8; 16];
    // It is refused, or there is nothing that can be read.
    let texts = attacker.query(pulled, &[&team, &machine]).unwrap_or_default();
    assert!(texts.iter().all(|row| row.get::<_, Option<String>>("prompt").is_none()));

    // A member of one team whose settings name the other.
    drop(spies);
    spy.configure(&store.settings("eve", "core", "spy"));
    let _spies = spy.sandbox.start();
    spy.wait_for_status(&["refused:"]);
    laptop.transcript("later").topics(102..103);
    desk.wait_for("case102");
    assert!(!spy.remembers("case10"), "{}", spy.share_status());
}

#[test]
fn a_team_that_is_made_again_under_its_name_is_told_all_again() {
    let Some(store) = Store::of(sandbox!()) else { return };
    let (laptop, desk) = store.pair();
    laptop.transcript("ours").topics(100..102);
    let (writes, recalls) = (laptop.sandbox.start(), desk.sandbox.start());
    desk.wait_for("case101");
    writes.stop(Signal::TERM);
    recalls.stop(Signal::TERM);
    store.command(&["share", "remove-team", "core", "--yes"]);
    store.team("core", &["ada", "bob"]);
    // It comes further than the laptop had seen the one before come.
    desk.transcript("theirs").topics(110..114);
    let _recalls = desk.sandbox.start();
    store.wait_for_live(4);
    let _writes = laptop.sandbox.start();
    store.wait_for_live(6);
    desk.wait_for("case101");
}

#[test]
fn that_the_server_was_put_back_is_noticed_by_who_is_connected() {
    let Some(store) = Store::of(sandbox!()) else { return };
    let (laptop, desk) = store.pair();
    laptop.transcript("ours").topics(100..102);
    let (_writes, _recalls) = (laptop.sandbox.start(), desk.sandbox.start());
    desk.wait_for("case101");
    // As from a backup that was made before.
    store.client().execute("DELETE FROM remembrancer.episodes", &[]).unwrap();
    store.command(&["share", "restored"]);
    store.wait_for_live(2);
    desk.wait_for("case101");
}
