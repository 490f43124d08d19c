//! What is taken back, what is forgotten for ever, and whose it has to be.

use std::thread;
use std::time::Duration;

use postgres::Error;
use remembrancer_schema::shared::{
    ADD_MEMBER, CLIENT_VERSION, HELLO, LISTEN, LOOKS_AFTER, REMOVE_MEMBER, REMOVE_TEAM, RESTORED, WITHDRAW_MEMBER,
};
use remembrancer_tests::eventually;

use crate::store::{Change, Episode, Member, Store, changes, id, pushed, refused, short};

#[test]
fn what_is_withdrawn_leaves_a_mark_without_text_and_may_come_back() {
    let Some(mut store) = Store::new() else { return };
    let team = store.team("one");
    let (mut ann, mut bob) = (store.member("one", "ann", "laptop"), store.member("one", "bob", "desk"));
    ann.push(&[Episode::of(team, "a").pointing(0), Episode::of(team, "b")])
        .unwrap();
    assert_eq!(ann.withdraw(&["a", "unheard of"]).unwrap(), 1);
    assert_eq!(ann.withdraw(&["a"]).unwrap(), 0, "it is withdrawn already");
    let page = bob.pull(0, 100).unwrap();
    assert_eq!(short(&page), changes(&[(0, "b"), (1, "a")]));
    assert_eq!(page[1].prompt, None);
    assert_eq!(page[1].member, Some(ann.id));
    let left =
        "SELECT count(*) FROM remembrancer.episodes e WHERE e.kind > 0 AND (e::text LIKE '%prompt of%' OR e::text LIKE '%acme%')";
    assert_eq!(store.count(left), 0);
    assert_eq!(store.count("SELECT count(*) FROM remembrancer.vectors"), 0);
    assert_eq!(ann.push(&Episode::all(team, &["a"])).unwrap(), pushed(1, 0, 0));
    assert_eq!(short(&bob.pull(0, 100).unwrap()), changes(&[(0, "b"), (0, "a")]));
}

#[test]
fn what_is_forgotten_never_comes_back() {
    let Some(mut store) = Store::new() else { return };
    let team = store.team("one");
    let (mut ann, mut bob) = (store.member("one", "ann", "laptop"), store.member("one", "bob", "desk"));
    let mut second = Episode::of(team, "a2");
    second.turn_uid = Episode::of(team, "a").turn_uid;
    ann.push(&[Episode::of(team, "a").pointing(0), second.clone(), Episode::of(team, "b")])
        .unwrap();
    assert_eq!(ann.forget(&["a", "never shared"]).unwrap(), 2);
    assert_eq!(ann.forget(&["a"]).unwrap(), 0, "it is forgotten already");
    let page = bob.pull(0, 100).unwrap();
    assert_eq!(short(&page), changes(&[(0, "b"), (2, "ta"), (2, "tnever shared")]));
    assert!(
        page.iter()
            .filter(|change| change.kind == 2)
            .all(|mark| mark.uid.is_none() && mark.member == Some(ann.id))
    );
    let again = [Episode::of(team, "a"), second, Episode::of(team, "never shared")];
    assert_eq!(ann.push(&again).unwrap(), pushed(0, 0, 3));
    assert_eq!(ann.withdraw(&["a"]).unwrap(), 0);
    assert_eq!(store.count("SELECT count(*) FROM remembrancer.vectors"), 0);
    assert_eq!(
        store.count("SELECT count(*) FROM remembrancer.episodes WHERE kind = 2 AND prompt IS NULL"),
        2
    );
    // A memory that begins anew is told by the marks alone.
    let mut fresh = store.member("one", "carl", "tablet");
    assert_eq!(
        short(&fresh.pull(0, 100).unwrap()),
        changes(&[(0, "b"), (2, "ta"), (2, "tnever shared")])
    );
    // And so is another machine of the same member, and the one that forgot.
    assert_eq!(short(&ann.pull(0, 100).unwrap()), changes(&[(2, "ta"), (2, "tnever shared")]));
}

#[test]
fn another_member_s_episode_is_neither_replaced_nor_withdrawn_nor_forgotten() {
    let Some(mut store) = Store::new() else { return };
    let team = store.team("one");
    let (mut ann, mut bob) = (store.member("one", "ann", "laptop"), store.member("one", "bob", "desk"));
    ann.push(&Episode::all(team, &["a"])).unwrap();
    assert_eq!(bob.push(&[Episode::of(team, "a").saying("forged")]).unwrap(), pushed(0, 0, 1));
    assert_eq!(bob.withdraw(&["a"]).unwrap(), 0);
    assert_eq!(bob.withdraw_everywhere(&["a"]).unwrap(), 0);
    assert_eq!(bob.withdraw_all(None, 10_000).unwrap(), 0);
    assert_eq!(bob.forget(&["a"]).unwrap(), 1, "it is a mark of bob's own");
    let page = bob.pull(0, 100).unwrap();
    assert_eq!(short(&page), changes(&[(0, "a"), (2, "ta")]));
    assert_eq!(page[0].prompt.as_deref(), Some("the prompt of a"));
    assert_eq!((page[0].member, page[1].member), (Some(ann.id), Some(bob.id)));
    // Nor does his mark keep hers from changing.
    assert_eq!(ann.push(&[Episode::of(team, "a").saying("anew")]).unwrap(), pushed(1, 0, 0));
    // What he wants forgotten does not become his once she has forgotten it, too.
    ann.forget(&["a"]).unwrap();
    assert_eq!(bob.push(&Episode::all(team, &["a"])).unwrap(), pushed(0, 0, 1));
}

#[test]
fn what_a_member_took_back_or_forgot_is_free_for_another_who_has_it() {
    let Some(mut store) = Store::new() else { return };
    let team = store.team("one");
    let (mut ann, mut bob) = (store.member("one", "ann", "laptop"), store.member("one", "bob", "desk"));
    let both = Episode::all(team, &["a", "b"]);
    ann.push(&both).unwrap();
    assert_eq!(bob.push(&both).unwrap(), pushed(0, 0, 2));
    ann.withdraw(&["a"]).unwrap();
    ann.forget(&["b"]).unwrap();
    assert_eq!(bob.push(&both).unwrap(), pushed(2, 0, 0));
    let mut carl = store.member("one", "carl", "tablet");
    let page = carl.pull(0, 100).unwrap();
    assert_eq!(short(&page), changes(&[(2, "tb"), (0, "a"), (0, "b")]));
    let members: Vec<Option<i32>> = page[..3].iter().map(|change| change.member).collect();
    assert_eq!(members, [Some(ann.id), Some(bob.id), Some(bob.id)]);
    // They are his now: she neither changes them nor takes them back, and what she forgot she never brings again.
    assert_eq!(ann.push(&both).unwrap(), pushed(0, 0, 2));
    assert_eq!(ann.withdraw_everywhere(&["a", "b"]).unwrap(), 0);
    assert_eq!(bob.withdraw(&["a", "b"]).unwrap(), 2);
    assert_eq!(ann.push(&both).unwrap(), pushed(1, 0, 1));
}

#[test]
fn a_machine_takes_back_what_it_brought_last_and_every_one_s_where_it_says_so() {
    let Some(mut store) = Store::new() else { return };
    let team = store.team("one");
    let (mut laptop, mut desk) = (store.member("one", "ann", "laptop"), store.member("one", "ann", "desk"));
    let mut bob = store.member("one", "bob", "phone");
    let rows = Episode::all(team, &["a", "b"]);
    laptop.push(&rows).unwrap();
    assert_eq!(desk.withdraw(&["a", "b"]).unwrap(), 0, "the laptop brought them");
    // The same brought by the desk is no change, and the desk's from then on.
    let head = bob.pull(0, 100).unwrap().last().unwrap().seq;
    assert_eq!(desk.push(&rows).unwrap(), pushed(0, 2, 0));
    assert_eq!(bob.pull(0, 100).unwrap().last().unwrap().seq, head);
    assert_eq!(laptop.withdraw(&["a", "b"]).unwrap(), 0);
    assert_eq!(desk.withdraw(&["a"]).unwrap(), 1);
    assert_eq!(short(&laptop.pull(head, 100).unwrap()), changes(&[(1, "a")]));
    assert_eq!(short(&desk.pull(head, 100).unwrap()), changes(&[]));
    // Kept out by the laptop, it is told to both.
    assert_eq!(laptop.withdraw_everywhere(&["b"]).unwrap(), 1);
    assert_eq!(short(&laptop.pull(head, 100).unwrap()), changes(&[(1, "a"), (1, "b")]));
    assert_eq!(short(&desk.pull(head, 100).unwrap()), changes(&[(1, "b")]));
}

#[test]
fn a_mark_says_whose_machine_shares_no_more_or_that_none_does_or_that_its_member_left() {
    let Some(mut store) = Store::new() else { return };
    let team = store.team("one");
    let (mut laptop, mut desk) = (store.member("one", "ann", "laptop"), store.member("one", "ann", "desk"));
    let mut bob = store.keeper("one", "bob", "phone");
    laptop.push(&Episode::all(team, &["a", "b", "c"])).unwrap();
    desk.push(&Episode::all(team, &["d"])).unwrap();
    laptop.withdraw(&["a"]).unwrap();
    desk.withdraw_everywhere(&["b"]).unwrap();
    laptop.withdraw_all(None, 1).unwrap();
    let login = store.login("ann");
    bob.client.query_one(REMOVE_MEMBER, &[&"one", &login, &false]).unwrap();
    bob.client.query_one(WITHDRAW_MEMBER, &[&"one", &login, &10_i32]).unwrap();
    let marks = |page: Vec<Change>| -> Vec<Vec<u8>> {
        let marks = page.into_iter().filter(|change| change.kind == 1);
        marks.filter_map(|mark| mark.machine).collect()
    };
    let nobody = vec![0; 16];
    // Of the last it was not the member who took it back.
    let expected = [id("laptop"), nobody.clone(), nobody, vec![0xFF; 16]];
    assert_eq!(marks(bob.pull(0, 100).unwrap()), expected);
    assert_eq!(marks(bob.pull_marks(0, 100).unwrap()), expected, "without contents, too");
}

#[test]
fn who_left_takes_back_their_own_and_nobody_else_s() {
    let Some(mut store) = Store::new() else { return };
    let (team, other) = (store.team("one"), store.team("two"));
    let (mut ann, mut bob) = (store.keeper("one", "ann", "laptop"), store.keeper("one", "bob", "desk"));
    let (of_ann, of_bob) = (store.login("ann"), store.login("bob"));
    store.admin.query_one(ADD_MEMBER, &[&"two", &of_ann, &false]).unwrap();
    let step = |member: &mut Member, team: &str, login: &str| -> Result<i64, Error> {
        let row = member.client.query_one(WITHDRAW_MEMBER, &[&team, &login, &1_i32])?;
        Ok(row.get("withdrawn"))
    };
    ann.push(&Episode::all(team, &["a1", "a2"])).unwrap();
    bob.push(&Episode::all(team, &["b1", "b2"])).unwrap();
    ann.team = other;
    ann.push(&Episode::all(other, &["a3"])).unwrap();
    let stranger = store.login("stranger");
    let looks_after =
        |member: &mut Member, team: &str| -> bool { member.client.query_one(LOOKS_AFTER, &[&team]).unwrap().get(0) };
    assert!(looks_after(&mut ann, "one") && !looks_after(&mut ann, "two") && !looks_after(&mut ann, "no such team"));
    refused(step(&mut ann, "one", &of_ann), "RM006");
    // She looked after the team until she took herself out.
    ann.client.query_one(REMOVE_MEMBER, &[&"one", &of_ann, &false]).unwrap();
    assert!(!looks_after(&mut ann, "one"));
    let unknown = refused(step(&mut ann, "no such team", &of_ann), "RM007");
    for (team, login) in [("one", &of_bob), ("one", &stranger), ("two", &of_ann), ("two", &of_bob)] {
        assert_eq!(refused(step(&mut ann, team, login), "RM007"), unknown, "{team}, {login}");
    }
    // Nor of one who left as she did.
    store.admin.query_one(REMOVE_MEMBER, &[&"one", &of_bob, &true]).unwrap();
    assert_eq!(refused(step(&mut ann, "one", &of_bob), "RM007"), unknown);
    let steps: Vec<i64> = (0..3).map(|_| step(&mut ann, "one", &of_ann).unwrap()).collect();
    assert_eq!(steps, [1, 1, 0]);
    assert_eq!(
        store.count("SELECT count(*) FROM remembrancer.episodes WHERE kind = 0 AND (prompt LIKE '%b_' OR prompt LIKE '%a3')"),
        3
    );
    assert_eq!(store.count("SELECT count(*) FROM remembrancer.episodes WHERE kind = 0"), 3);
    // What is kept of him is his to take back, too; let in again, he is in the team, and has left nothing.
    assert_eq!(step(&mut bob, "one", &of_bob).unwrap(), 1);
    store.admin.query_one(ADD_MEMBER, &[&"one", &of_bob, &false]).unwrap();
    assert_eq!(
        refused(step(&mut bob, "one", &of_bob), "RM007"),
        unknown.replace(&of_ann, &of_bob)
    );
}

#[test]
fn a_member_withdraws_all_or_all_of_a_project() {
    let Some(mut store) = Store::new() else { return };
    let team = store.team("one");
    let (mut ann, mut bob) = (store.member("one", "ann", "laptop"), store.member("one", "bob", "desk"));
    let mut elsewhere = Episode::of(team, "c");
    elsewhere.project_keys = Some(vec!["url:github.com/acme/site".to_owned(), "root:1234".to_owned()]);
    ann.push(&[Episode::of(team, "a"), Episode::of(team, "b"), elsewhere])
        .unwrap();
    bob.push(&Episode::all(team, &["d"])).unwrap();
    assert_eq!(ann.withdraw_all(Some(&["root:1234"]), 100).unwrap(), 1);
    assert_eq!(ann.withdraw_all(Some(&[]), 100).unwrap(), 0);
    let steps: Vec<i64> = (0..3).map(|_| ann.withdraw_all(None, 1).unwrap()).collect();
    assert_eq!(steps, [1, 1, 0]);
    assert_eq!(store.count("SELECT count(*) FROM remembrancer.episodes WHERE kind = 0"), 1);
    let page = bob.pull(0, 100).unwrap();
    assert_eq!(page.iter().filter(|change| change.kind == 1).count(), 3);
    let own = ann.pull(0, 100).unwrap();
    let told = own.iter().filter(|change| change.kind == 1).count();
    assert_eq!(told, 3, "who took them back is told, too");
}

#[test]
fn who_waited_for_a_team_that_went_or_that_put_it_out_is_told_so() {
    type Act = fn(&mut Member) -> Result<(), Error>;
    let acts: [(&str, Act); 4] = [
        ("push", |member| member.push(&Episode::all(member.team, &["late"])).map(drop)),
        ("forget", |member| member.forget(&["late"]).map(drop)),
        ("withdraw", |member| member.withdraw(&["a"]).map(drop)),
        ("withdraw_all", |member| member.withdraw_all(None, 10).map(drop)),
    ];
    for is_put_out in [false, true] {
        for (name, act) in acts {
            let Some(mut store) = Store::new() else { return };
            let team = store.team("one");
            let mut ann = store.member("one", "ann", "laptop");
            ann.push(&Episode::all(team, &["a"])).unwrap();
            let process: i32 = ann.client.query_one("SELECT pg_backend_pid()", &[]).unwrap().get(0);
            let login = store.login("ann");
            let mut changing = store.admin.transaction().unwrap();
            if is_put_out {
                changing.query_one(REMOVE_MEMBER, &[&"one", &login, &true]).unwrap();
            } else {
                changing.query_one(REMOVE_TEAM, &[&"one"]).unwrap();
            }
            let acting = thread::spawn(move || act(&mut ann));
            let waits = "SELECT cardinality(pg_blocking_pids($1)) > 0";
            eventually(&format!("{name} to wait for the team"), Duration::from_secs(8), || {
                changing
                    .query_one(waits, &[&process])
                    .unwrap()
                    .get::<_, bool>(0)
                    .then_some(())
            });
            changing.commit().unwrap();
            refused(acting.join().unwrap(), "RM002");
            let left = "SELECT count(*) FROM remembrancer.episodes WHERE kind = 0 AND prompt = 'the prompt of a'";
            assert_eq!(store.count(left), i64::from(is_put_out), "{name}");
            assert_eq!(store.count("SELECT count(*) FROM remembrancer.forgotten"), 0, "{name}");
        }
    }
}

#[test]
fn no_machine_is_called_as_the_marks_that_all_are_told() {
    let Some(mut store) = Store::new() else { return };
    store.team("one");
    let mut ann = store.member("one", "ann", "laptop");
    for (machine, sqlstate) in [(vec![0_u8; 16], "RM006"), (vec![0xFF; 16], "23514")] {
        refused(ann.client.query(HELLO, &[&machine, &"x", &"one", &CLIENT_VERSION]), sqlstate);
    }
    ann.hello("one").unwrap();
    assert_eq!(store.count("SELECT count(*) FROM remembrancer.machines"), 1);
}

#[test]
fn that_the_store_was_put_back_is_told_to_every_team_that_listens() {
    use postgres::fallible_iterator::FallibleIterator;

    let Some(mut store) = Store::new() else { return };
    let teams = [store.team("one"), store.team("two")];
    let mut ann = store.member("two", "ann", "laptop");
    ann.client.batch_execute(LISTEN).unwrap();
    store.admin.query_one(RESTORED, &[]).unwrap();
    let mut notices = ann.client.notifications();
    let notices = notices.timeout_iter(Duration::from_secs(8)).take(teams.len());
    let told = notices.map(|notice| Ok(notice.payload().parse().unwrap()));
    let mut told: Vec<i32> = told.collect().unwrap();
    told.sort_unstable();
    assert_eq!(told, teams);
}
