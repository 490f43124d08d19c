//! Pages of changes: complete, in order, and with an end that says how far they looked.

use crate::store::{Episode, Store, changes, short};

#[test]
fn pages_come_in_order_and_the_last_one_has_an_end() {
    let Some(mut store) = Store::new() else { return };
    let team = store.team("one");
    let (mut ann, mut bob) = (store.member("one", "ann", "laptop"), store.member("one", "bob", "desk"));
    let names: Vec<String> = (0..25).map(|number| format!("e{number:02}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    ann.push(&Episode::all(team, &names)).unwrap();
    let (mut cursor, mut found, mut pages) = (0, Vec::<String>::new(), 0);
    loop {
        let page = bob.pull(cursor, 10).unwrap();
        pages += 1;
        assert!(page.iter().all(|change| change.head == 25));
        assert!(page.is_sorted_by_key(|change| change.seq));
        found.extend(short(&page).into_iter().map(|(_, name)| name));
        let last = page.last().unwrap();
        cursor = last.seq;
        if last.kind == 3 {
            assert_eq!(page.len(), 6);
            break;
        }
        assert_eq!(page.len(), 10);
    }
    assert_eq!((found.len(), pages), (25, 3));
    assert!(found.iter().eq(names.iter()));
    // From there on there is nothing, and it says so.
    let end = bob.pull(cursor, 10).unwrap();
    assert_eq!((end.len(), end[0].kind, end[0].seq), (1, 3, 25));
}

#[test]
fn what_is_ones_own_is_left_out_and_passed_over() {
    let Some(mut store) = Store::new() else { return };
    let team = store.team("one");
    let (mut ann, mut bob) = (store.member("one", "ann", "laptop"), store.member("one", "bob", "desk"));
    ann.push(&Episode::all(team, &["a", "b"])).unwrap();
    bob.push(&Episode::all(team, &["c"])).unwrap();
    ann.push(&Episode::all(team, &["d"])).unwrap();
    let page = ann.pull(0, 100).unwrap();
    assert_eq!(short(&page), changes(&[(0, "c")]));
    let end = page.last().unwrap();
    assert_eq!((end.kind, end.seq), (3, 4), "the cursor passes what was left out");
    assert_eq!(short(&bob.pull(0, 100).unwrap()), changes(&[(0, "a"), (0, "b"), (0, "d")]));
}

#[test]
fn a_page_ends_early_where_its_texts_are_large() {
    let Some(mut store) = Store::new() else { return };
    let team = store.team("one");
    let (mut ann, mut bob) = (store.member("one", "ann", "laptop"), store.member("one", "bob", "desk"));
    let long = "word ".repeat(200_000);
    let rows: Vec<Episode> = (0..12)
        .map(|number| Episode::of(team, &format!("e{number:02}")).saying(&long))
        .collect();
    ann.push(&rows).unwrap();
    let first = bob.pull(0, 1000).unwrap();
    assert!(first.len() < 12 && first.last().unwrap().kind == 0, "{} rows", first.len());
    let second = bob.pull(first.last().unwrap().seq, 1000).unwrap();
    assert_eq!(short(&first).len() + short(&second).len(), 12);
    assert_eq!(second.last().unwrap().kind, 3);
}

#[test]
fn a_page_asks_for_one_model_and_gets_its_vectors_alone() {
    let Some(mut store) = Store::new() else { return };
    let team = store.team("one");
    let (mut ann, mut bob) = (store.member("one", "ann", "laptop"), store.member("one", "bob", "desk"));
    store
        .admin
        .query("SELECT remembrancer.register_model('other', 3)", &[])
        .unwrap();
    let other = Episode::of(team, "a").with_vector("other", vec![1.0, 2.0, 3.0]);
    ann.push(&[other, Episode::of(team, "b").pointing(1)]).unwrap();
    let vectors: Vec<bool> = bob
        .pull(0, 100)
        .unwrap()
        .iter()
        .map(|change| change.embedding.is_some())
        .collect();
    assert_eq!(vectors, [false, true, false]);
    let team = bob.team;
    let rows = bob
        .client
        .query(
            remembrancer_schema::shared::PULL,
            &[&team, &bob.machine, &0_i64, &100_i32, &None::<&str>, &true],
        )
        .unwrap();
    assert!(rows.iter().all(|row| row.get::<_, Option<Vec<f32>>>("embedding").is_none()));
}

#[test]
fn marks_come_alone_where_contents_are_not_wanted() {
    let Some(mut store) = Store::new() else { return };
    let team = store.team("one");
    let (mut ann, mut bob) = (store.member("one", "ann", "laptop"), store.member("one", "bob", "desk"));
    ann.push(&Episode::all(team, &["a", "b", "c", "d", "e"])).unwrap();
    bob.push(&Episode::all(team, &["own"])).unwrap();
    // All that is there is passed over, and the end says how far that was.
    let page = bob.pull_marks(0, 10).unwrap();
    assert_eq!((page.len(), page[0].kind, page[0].seq, page[0].head), (1, 3, 6, 6));

    ann.withdraw(&["a", "b"]).unwrap();
    ann.forget(&["c"]).unwrap();
    bob.withdraw(&["own"]).unwrap();
    let page = bob.pull_marks(0, 10).unwrap();
    let kinds: Vec<i16> = page.iter().map(|change| change.kind).collect();
    assert_eq!(kinds, [1, 1, 2, 3], "one's own mark is left out");
    assert_eq!(short(&page), changes(&[(1, "a"), (1, "b"), (2, "tc")]));
    assert!(page.is_sorted_by_key(|change| change.seq));
    assert!(page.iter().all(|change| change.embedding.is_none()));
    // Page by page, and no mark twice.
    let first = bob.pull_marks(6, 2).unwrap();
    assert_eq!(
        short(&first),
        changes(&[(1, "a"), (1, "b")]),
        "there is more behind a full page"
    );
    let rest = bob.pull_marks(first.last().unwrap().seq, 2).unwrap();
    assert_eq!(short(&rest), changes(&[(2, "tc")]));
    assert_eq!(
        rest.last().map(|end| (end.kind, end.seq)),
        Some((3, page.last().unwrap().seq))
    );
    // What is shared again is no mark any more.
    ann.push(&Episode::all(team, &["a"])).unwrap();
    assert_eq!(short(&bob.pull_marks(0, 10).unwrap()), changes(&[(1, "b"), (2, "tc")]));
    assert_eq!(
        short(&bob.pull(0, 100).unwrap()).len(),
        5,
        "d and e, b's and c's marks, and a again"
    );
}

#[test]
fn a_page_looks_at_a_bounded_part_and_says_where_it_ended() {
    let Some(mut store) = Store::new() else { return };
    let team = store.team("one");
    let (mut ann, mut bob) = (store.member("one", "ann", "laptop"), store.member("one", "bob", "desk"));
    ann.push(&Episode::all(team, &["own"])).unwrap();
    bob.push(&Episode::all(team, &["near"])).unwrap();
    store
        .admin
        .batch_execute("UPDATE remembrancer.teams SET seq = 50000")
        .unwrap();
    bob.push(&Episode::all(team, &["far"])).unwrap();
    let first = ann.pull(0, 100).unwrap();
    assert_eq!(short(&first), changes(&[(0, "near")]));
    let end = first.last().unwrap();
    assert_eq!((end.kind, end.seq, end.head), (5, 20_001, 50_001));
    // Numbers that nothing has any more are passed over at once.
    let second = ann.pull(end.seq, 100).unwrap();
    assert_eq!(short(&second), changes(&[(0, "far")]));
    let end = second.last().unwrap();
    assert_eq!((end.kind, end.seq), (3, 50_001));
    // A full page ends with what it has.
    assert_eq!(ann.pull(0, 1).unwrap().last().unwrap().kind, 0);
}
