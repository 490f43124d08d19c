//! Teams, members and models: who is taken in, what one who leaves leaves behind, and machines that are too old.

use remembrancer_schema::shared::{
    ADD_MEMBER, ADD_TEAM, HELLO, MODELS, REGISTER_MODEL, REMOVE_MEMBER, SHARED_VERSION, WITHDRAW_MEMBER,
};

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
        refused(ann.client.query(REMOVE_MEMBER, &[&"one", &login, &keep]), "RM006");
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
    refused(store.admin.query(ADD_TEAM, &[&"", &false, &no_check]), "RM006");
    refused(store.admin.query(ADD_TEAM, &[&"two", &true, &no_check]), "RM006");
    refused(store.admin.query(ADD_TEAM, &[&"two", &false, &Some(vec![1_u8; 16])]), "RM006");
    refused(store.admin.query(ADD_TEAM, &[&"two", &true, &Some(vec![1_u8; 15])]), "RM006");
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
