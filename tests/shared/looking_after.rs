//! Teams, members and models: who is taken in, what one who leaves leaves behind, and machines that are too old.

use std::time::Duration;

use remembrancer_schema::shared::{
    ADD_MEMBER, ADD_TEAM, HELLO, MODELS, REGISTER_MODEL, REMOVE_MEMBER, REMOVE_TEAM, RESTORED, SHARED_EPOCH, SHARED_VERSION,
    WITHDRAW_MEMBER,
};
use remembrancer_tests::eventually;

use crate::store::{DIMENSION, Episode, MODEL, Store, bring, refused, short};

#[test]
fn hello_says_where_the_team_stands() {
    let Some(mut store) = Store::new() else { return };
    let team = store.team("one");
    let mut ann = store.member("one", "ann", "laptop");
    ann.push(&Episode::all(team, &["a", "b"])).unwrap();
    let told = ann.hello("one").unwrap();
    assert_eq!(told.get::<_, i32>("server_version"), SHARED_VERSION);
    assert_eq!(told.get::<_, i32>("oldest_client"), 1);
    assert_eq!((told.get::<_, i32>("team_id"), told.get::<_, i64>("head")), (team, 2));
    assert_eq!(told.get::<_, String>("member_login"), store.login("ann"));
    assert_eq!(
        (told.get::<_, bool>("sealed"), told.get::<_, Option<Vec<u8>>>("key_check")),
        (false, None)
    );
}

#[test]
fn a_machine_that_is_too_old_is_told_so_first() {
    let Some(mut store) = Store::new() else { return };
    store.team("one");
    let mut ann = store.member("one", "ann", "laptop");
    store
        .admin
        .batch_execute("UPDATE remembrancer.meta SET value = '3' WHERE key = 'oldest_client'")
        .unwrap();
    let said = refused(ann.client.query(HELLO, &[&ann.machine, &"x", &"one", &2_i32]), "RM003");
    assert!(said.contains("version 3") && said.contains("of 2"), "{said}");
    refused(
        ann.client.query(HELLO, &[&ann.machine, &"x", &"no such team", &2_i32]),
        "RM003",
    );
    ann.client.query(HELLO, &[&ann.machine, &"x", &"one", &3_i32]).unwrap();
}

#[test]
fn who_is_removed_reads_nothing_more_and_what_they_shared_goes_or_stays() {
    let Some(mut store) = Store::new() else { return };
    let team = store.team("one");
    let mut ann = store.keeper("one", "ann", "laptop");
    let mut clients = Vec::new();
    for (name, keep, left) in [("bob", false, 0), ("carl", true, 2)] {
        let mut member = store.member("one", name, name);
        let names = [format!("{name}1"), format!("{name}2")];
        member
            .push(&[Episode::of(team, &names[0]).pointing(0), Episode::of(team, &names[1])])
            .unwrap();
        let login = store.login(name);
        let row = ann.client.query_one(REMOVE_MEMBER, &[&"one", &login, &keep]).unwrap();
        assert_eq!(row.get::<_, i64>(0), 0, "{name}");
        if !keep {
            let mut step = || -> i64 {
                let row = ann.client.query_one(WITHDRAW_MEMBER, &[&"one", &login, &1_i32]);
                row.unwrap().get(0)
            };
            assert_eq!([step(), step(), step()], [1, 1, 0]);
        }
        let page = ann.pull(0, 100).unwrap();
        assert_eq!(page.iter().filter(|change| change.kind == 0).count() as i64, left, "{name}");
        // At once, on the session that is open.
        refused(member.pull(0, 10), "RM002");
        refused(member.hello("one"), "RM002");
        let mut transaction = member.client.transaction().unwrap();
        refused(bring(&mut transaction, &Episode::all(team, &["x"])), "RM001");
        drop(transaction);
        let seen: i64 = member
            .client
            .query_one("SELECT count(*) FROM remembrancer.episodes", &[])
            .unwrap()
            .get(0);
        assert_eq!(seen, 0);
        let said = refused(ann.client.query(REMOVE_MEMBER, &[&"one", &login, &keep]), "RM002");
        assert!(said.contains(&login) && said.contains("any more"), "{said}");
        clients.push(member);
    }
    // What stays has its name still, and is taken back in with its rows.
    let page = ann
        .client
        .query(
            remembrancer_schema::shared::PULL,
            &[&team, &ann.machine, &0_i64, &10_i32, &MODEL, &true],
        )
        .unwrap();
    let named = page.iter().filter_map(|row| row.get::<_, Option<String>>("member_login"));
    assert!(named.into_iter().any(|name| name == store.login("carl")));
    let (carl, login) = (clients.last_mut().unwrap(), store.login("carl"));
    ann.client.query_one(ADD_MEMBER, &[&"one", &login, &false]).unwrap();
    refused(ann.client.query(WITHDRAW_MEMBER, &[&"one", &login, &10_i32]), "RM006");
    assert_eq!(carl.withdraw(&["carl1", "carl2"]).unwrap(), 2);
    assert!(!short(&carl.pull(0, 100).unwrap()).is_empty());
    // Who comes back is told what was taken back meanwhile, on every machine.
    let bob = &mut clients[0];
    ann.client
        .query_one(ADD_MEMBER, &[&"one", &store.login("bob"), &false])
        .unwrap();
    let marks = bob.pull(0, 100).unwrap();
    assert_eq!(
        marks
            .iter()
            .filter(|mark| mark.kind == 1 && mark.member == Some(bob.id))
            .count(),
        2
    );
}

#[test]
fn a_login_has_to_exist_and_a_team_to_be_named() {
    let Some(mut store) = Store::new() else { return };
    store.team("one");
    let said = refused(store.admin.query(ADD_MEMBER, &[&"one", &"nobody_at_all", &false]), "RM006");
    assert!(said.contains("nobody_at_all"), "{said}");
    refused(store.admin.query(ADD_MEMBER, &[&"two", &"postgres", &false]), "RM002");
    let no_check: Option<Vec<u8>> = None;
    refused(store.admin.query(ADD_TEAM, &[&"one", &false, &no_check]), "RM006");
    refused(store.admin.query(ADD_TEAM, &[&"two", &true, &no_check]), "RM006");
    refused(store.admin.query(ADD_TEAM, &[&"two", &false, &Some(vec![1_u8; 16])]), "RM006");
    refused(store.admin.query(ADD_TEAM, &[&"two", &true, &Some(vec![1_u8; 15])]), "RM006");
    let stranger = store.login("stranger");
    let said = refused(store.admin.query(REMOVE_MEMBER, &[&"one", &stranger, &false]), "RM002");
    assert!(said.contains(&format!("{stranger} is not in the team one")), "{said}");
    refused(store.admin.query(REMOVE_TEAM, &[&"two"]), "RM002");
}

#[test]
fn a_team_s_name_is_one_that_the_settings_take() {
    let Some(mut store) = Store::new() else { return };
    let add = |store: &mut Store, name: &str| store.admin.query(ADD_TEAM, &[&name, &false, &None::<Vec<u8>>]);
    let longest = "x".repeat(64);
    for name in ["a", "7", "Acme-2.tools_x", "grün", "Éire", "日本", "ĸ", longest.as_str()] {
        add(&mut store, name).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    let too_long = "x".repeat(65);
    for name in [
        "",
        too_long.as_str(),
        ".a",
        "-a",
        "_a",
        "a b",
        " a",
        "a\n",
        "a\u{a0}b",
        "a\u{2028}b",
        "a/b",
        "a'b",
        "a–b",
        "a€",
        "😀",
        "\u{e000}",
    ] {
        let said = refused(add(&mut store, name), "RM006");
        assert!(said.starts_with("a team can't be called"), "{name:?}: {said}");
    }
}

#[test]
fn a_team_that_is_taken_away_takes_all_of_it_along_and_nothing_of_others() {
    let Some(mut store) = Store::new() else { return };
    let (team, other) = (store.team("one"), store.team("two"));
    let (mut ann, mut bob) = (store.keeper("one", "ann", "laptop"), store.member("two", "bob", "desk"));
    store
        .admin
        .query_one(ADD_MEMBER, &[&"two", &store.login("ann"), &false])
        .unwrap();
    ann.push(&[
        Episode::of(team, "a").pointing(0),
        Episode::of(team, "b"),
        Episode::of(team, "c"),
    ])
    .unwrap();
    ann.withdraw(&["b"]).unwrap();
    ann.forget(&["c"]).unwrap();
    bob.push(&[Episode::of(other, "a").pointing(1)]).unwrap();
    bob.forget(&["z"]).unwrap();
    let mut transaction = ann.client.transaction().unwrap();
    bring(&mut transaction, &Episode::all(team, &["left behind"])).unwrap();
    transaction.commit().unwrap();

    let removed: i64 = store.admin.query_one(REMOVE_TEAM, &[&"one"]).unwrap().get("removed");
    assert_eq!(removed, 1, "what was shared; the others were marks");
    for (table, left) in [
        ("episodes", 1),
        ("vectors", 1),
        ("forgotten", 1),
        ("incoming", 0),
        ("team_members", 2),
        ("teams", 1),
    ] {
        assert_eq!(
            store.count(&format!("SELECT count(*) FROM remembrancer.{table}")),
            left,
            "{table}"
        );
    }
    let noted = "SELECT count FROM remembrancer.audit WHERE act = 'remove_team' AND detail ->> 'team' = 'one'";
    assert_eq!(store.count(noted), 1);
    assert!(store.count("SELECT count(*) FROM remembrancer.audit WHERE act = 'push' AND detail IS NOT NULL") > 1);
    refused(ann.hello("one"), "RM002");
    refused(ann.pull(0, 10), "RM002");
    refused(ann.push(&Episode::all(team, &["d"])), "RM002");
    assert_eq!(short(&bob.pull_marks(0, 10).unwrap()).len(), 1);
    ann.hello("two").unwrap();
    refused(store.admin.query(REMOVE_TEAM, &[&"one"]), "RM002");
    assert_ne!(store.team("one"), team, "the name is free, and what comes is another team");
}

#[test]
fn who_pushes_into_a_team_while_it_is_taken_away_leaves_nothing_there() {
    let Some(mut store) = Store::new() else { return };
    let team = store.team("one");
    let mut ann = store.member("one", "ann", "laptop");
    let login = store.login("ann");
    let mut looking = store.another_admin();
    let mut removing = store.admin.transaction().unwrap();
    removing.query_one(REMOVE_TEAM, &[&"one"]).unwrap();
    let pushing = std::thread::spawn(move || ann.push(&Episode::all(team, &["late"])));
    let waits = "SELECT count(*) FROM pg_stat_activity WHERE usename = $1 AND wait_event_type = 'Lock'";
    eventually("the push to wait for the team", Duration::from_secs(30), || {
        let waiting: i64 = looking.query_one(waits, &[&login]).unwrap().get(0);
        (waiting == 1).then_some(())
    });
    removing.commit().unwrap();
    refused(pushing.join().unwrap(), "RM002");
    assert_eq!(store.count("SELECT count(*) FROM remembrancer.episodes"), 0);
}

#[test]
fn a_store_that_was_put_back_is_in_another_life() {
    let Some(mut store) = Store::new() else { return };
    store.team("one");
    let mut ann = store.member("one", "ann", "laptop");
    let mut epoch = || -> String { ann.client.query_one(SHARED_EPOCH, &[]).unwrap().get(0) };
    let first = epoch();
    assert_eq!((first.len(), epoch()), (36, first.clone()));
    store.admin.query_one(RESTORED, &[]).unwrap();
    let second = epoch();
    assert_ne!(second, first);
    assert_eq!(epoch(), second);
    // Nor is it another one because its schema was brought up to date.
    let last = remembrancer_schema::shared::SHARED_MIGRATIONS.last().unwrap();
    store.admin.batch_execute(last.sql).unwrap();
    assert_eq!(epoch(), second);
    assert_eq!(
        store.count("SELECT count(*) FROM remembrancer.audit WHERE act = 'restored'"),
        1
    );
}

#[test]
fn a_model_is_registered_once_with_one_dimension() {
    let Some(mut store) = Store::new() else { return };
    store.team("one");
    let mut ann = store.keeper("one", "ann", "laptop");
    let register = |client: &mut postgres::Client, name: &str, dimension: i32| {
        client
            .query_one(REGISTER_MODEL, &[&name, &dimension])
            .map(|row| row.get::<_, i32>(0))
    };
    let first = register(&mut store.admin, MODEL, DIMENSION as i32).unwrap();
    assert_eq!(register(&mut ann.client, MODEL, DIMENSION as i32).unwrap(), first);
    refused(register(&mut ann.client, MODEL, 9), "RM006");
    for dimension in [0, -1, 4001] {
        refused(register(&mut ann.client, "odd", dimension), "RM006");
    }
    let second = register(&mut ann.client, "large", 4000).unwrap();
    assert_ne!(first, second);
    let told: Vec<(String, i32)> = ann
        .client
        .query(MODELS, &[])
        .unwrap()
        .iter()
        .map(|row| (row.get(0), row.get(1)))
        .collect();
    assert_eq!(told, [(MODEL.to_owned(), DIMENSION as i32), ("large".to_owned(), 4000)]);
}
