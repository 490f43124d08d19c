//! Teams on one server know nothing of each other, not even where a member asks the server itself.

use remembrancer_tests::sandbox;

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
