//! What a push takes, and that doing it again changes nothing.

use crate::store::{AUDIT, DIMENSION, Episode, Store, changes, id, pushed, short};

#[test]
fn a_push_that_is_repeated_changes_nothing() {
    let Some(mut store) = Store::new() else { return };
    let team = store.team("one");
    let (mut ann, mut bob) = (store.member("one", "ann", "laptop"), store.member("one", "bob", "desk"));
    let rows = [
        Episode::of(team, "a").pointing(0),
        Episode::of(team, "b"),
        Episode::of(team, "c"),
    ];
    assert_eq!(ann.push(&rows).unwrap(), pushed(3, 0, 0));
    let before = bob.pull(0, 100).unwrap();
    assert_eq!(ann.push(&rows).unwrap(), pushed(0, 3, 0));
    assert_eq!(bob.pull(0, 100).unwrap(), before);
    assert_eq!(store.count("SELECT count(*) FROM remembrancer.audit WHERE act = 'push'"), 1);
}

#[test]
fn what_changed_comes_again_with_a_new_number_and_only_that() {
    let Some(mut store) = Store::new() else { return };
    let team = store.team("one");
    let (mut ann, mut bob) = (store.member("one", "ann", "laptop"), store.member("one", "bob", "desk"));
    ann.push(&Episode::all(team, &["a", "b", "c"])).unwrap();
    let head = bob.pull(0, 100).unwrap().last().unwrap().seq;
    let mut heavier = Episode::of(team, "b");
    heavier.importance = 2;
    let rows = [
        Episode::of(team, "a").saying("another prompt"),
        heavier,
        Episode::of(team, "c"),
    ];
    assert_eq!(ann.push(&rows).unwrap(), pushed(2, 1, 0));
    let page = bob.pull(head, 100).unwrap();
    assert_eq!(short(&page), changes(&[(0, "a"), (0, "b")]));
    assert_eq!(page[0].prompt.as_deref(), Some("another prompt"));
}

#[test]
fn of_two_rows_with_one_uid_the_later_one_is_taken() {
    let Some(mut store) = Store::new() else { return };
    let team = store.team("one");
    let (mut ann, mut bob) = (store.member("one", "ann", "laptop"), store.member("one", "bob", "desk"));
    let rows = [
        Episode::of(team, "a").saying("first"),
        Episode::of(team, "a").saying("second"),
    ];
    assert_eq!(ann.push(&rows).unwrap(), pushed(1, 0, 0));
    assert_eq!(bob.pull(0, 100).unwrap()[0].prompt.as_deref(), Some("second"));
}

#[test]
fn a_vector_that_comes_later_is_a_change_and_one_of_other_words_goes() {
    let Some(mut store) = Store::new() else { return };
    let team = store.team("one");
    let (mut ann, mut bob) = (store.member("one", "ann", "laptop"), store.member("one", "bob", "desk"));
    let bare = Episode::of(team, "a");
    ann.push(std::slice::from_ref(&bare)).unwrap();
    assert_eq!(bob.pull(0, 100).unwrap()[0].embedding, None);
    assert_eq!(ann.push(&[bare.clone().pointing(2)]).unwrap(), pushed(1, 0, 0));
    let vector = bob.pull(0, 100).unwrap()[0].embedding.clone().unwrap();
    assert_eq!(vector.len(), DIMENSION);
    assert!((vector[2] - 1.0).abs() < f32::EPSILON, "{vector:?}");
    // The same words without a vector say nothing about it.
    assert_eq!(ann.push(std::slice::from_ref(&bare)).unwrap(), pushed(0, 1, 0));
    assert!(bob.pull(0, 100).unwrap()[0].embedding.is_some());
    assert_eq!(ann.push(&[bare.saying("other words")]).unwrap(), pushed(1, 0, 0));
    assert_eq!(bob.pull(0, 100).unwrap()[0].embedding, None);
    assert_eq!(store.count("SELECT count(*) FROM remembrancer.vectors"), 0);
}

#[test]
fn a_vector_of_a_model_that_is_not_registered_is_left_out() {
    let Some(mut store) = Store::new() else { return };
    let team = store.team("one");
    let mut ann = store.member("one", "ann", "laptop");
    let row = Episode::of(team, "a").with_vector("unheard of", vec![1.0, 2.0]);
    assert_eq!(ann.push(&[row]).unwrap(), pushed(1, 0, 0));
    assert_eq!(store.count("SELECT count(*) FROM remembrancer.vectors"), 0);
}

#[test]
fn of_two_machines_of_a_member_the_last_one_counts() {
    let Some(mut store) = Store::new() else { return };
    let team = store.team("one");
    let (mut laptop, mut desk) = (store.member("one", "ann", "laptop"), store.member("one", "ann", "desk"));
    laptop.push(&[Episode::of(team, "a").saying("by the laptop")]).unwrap();
    assert_eq!(
        desk.push(&[Episode::of(team, "a").saying("by the desk")]).unwrap(),
        pushed(1, 0, 0)
    );
    assert_eq!(laptop.pull(0, 100).unwrap()[0].prompt.as_deref(), Some("by the desk"));
    assert_eq!(short(&desk.pull(0, 100).unwrap()), changes(&[]));
    let machine: Vec<u8> = store
        .admin
        .query_one("SELECT machine FROM remembrancer.episodes", &[])
        .unwrap()
        .get(0);
    assert_eq!(machine, id("desk"));
}

#[test]
fn who_shared_what_is_noted_without_text() {
    let Some(mut store) = Store::new() else { return };
    let team = store.team("one");
    let (mut ann, mut bob) = (store.keeper("one", "ann", "laptop"), store.member("one", "bob", "desk"));
    ann.push(&[Episode::of(team, "a").saying("a very private matter")]).unwrap();
    bob.push(&Episode::all(team, &["b", "c"])).unwrap();
    bob.withdraw(&["b"]).unwrap();
    let acts = |client: &mut postgres::Client| -> Vec<(String, i64)> {
        let rows = client.query(AUDIT, &[&team]).unwrap();
        let told = rows.iter().filter(|row| row.get::<_, Option<&str>>("login").is_some());
        told.map(|row| (row.get("act"), row.get("count"))).collect()
    };
    let act = |act: &str, count: i64| (act.to_owned(), count);
    assert_eq!(acts(&mut bob.client), [act("withdraw", 1), act("push", 2), act("machine", 1)]);
    let all = acts(&mut ann.client);
    assert_eq!(all.len(), 5, "who looks after the team sees all: {all:?}");
    let noted = store.count("SELECT count(*) FROM remembrancer.audit a WHERE a::text LIKE '%private matter%'");
    assert_eq!(noted, 0);
}
