//! What is urgent stays so, however it is touched again; what is shared as it stands is not; and a vector shares nothing anew.

use super::*;

fn touch(store: &Store, sql: &str) {
    let db = rusqlite::Connection::open(&store.path).expect("opens");
    db.execute_batch(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
}

#[test]
fn what_is_to_leave_stays_urgent_however_it_is_touched_again() {
    let mut store = sharing(&["example.org/acme/*"]);
    store_turn(&mut store, 1, &["quokka"]);
    drain(&mut store);
    let other = project(&mut store, OTHER, "/home/ada/tool");
    touch(&store, &format!("UPDATE episodes SET project_id = {other}"));
    assert_eq!(waiting(&store), [(uid(1, 0), true)]);
    store.embed();
    assert_eq!(waiting(&store), [(uid(1, 0), true)], "its vector came");
    // By whatever statement: the conflict clause of one is that of its triggers.
    for sql in [
        "UPDATE OR REPLACE episodes SET importance = 2".to_owned(),
        "UPDATE OR IGNORE episodes SET turn = 7".to_owned(),
        "UPDATE OR REPLACE episode_texts SET git_branch = 'elsewhere'".to_owned(),
        "UPDATE OR REPLACE projects SET name = 'tools'".to_owned(),
        format!("INSERT OR REPLACE INTO project_aliases VALUES ('root:1f', {other})"),
        "UPDATE OR REPLACE project_aliases SET key = 'root:2f' WHERE key = 'root:1f'".to_owned(),
        "DELETE FROM project_aliases WHERE key = 'root:2f'".to_owned(),
    ] {
        touch(&store, &sql);
        assert_eq!(waiting(&store), [(uid(1, 0), true)], "{sql}");
    }
    store.writer.pause_sharing(true).expect("pauses");
    let leaves = store.reader().next_to_push(10, true).expect("reads");
    assert_eq!(leaves.withdraw, [uid(1, 0)], "a pause does not keep it");
}

#[test]
fn a_look_at_all_keeps_urgent_what_is_and_makes_nothing_urgent_that_is_shared_as_it_stands() {
    let mut store = sharing(&["*"]);
    store_turn(&mut store, 1, &["quokka"]);
    drain(&mut store);
    store.writer.enqueue_all().expect("looks again");
    assert_eq!(waiting(&store), [(uid(1, 0), false)]);
    store.writer.exclude_path("/home/ada/app", NOW).expect("excludes");
    store.writer.include_path("/home/ada/app").expect("includes");
    assert_eq!(waiting(&store), [(uid(1, 0), true)]);
    let before = next(&store).entries;
    store.writer.enqueue_all().expect("looks again");
    assert_eq!(waiting(&store), [(uid(1, 0), true)]);
    assert!(next(&store).entries[0].0 > before[0].0, "it is a change of its own");
    assert_sound(&store);
}

#[test]
fn what_others_had_free_again_stays_urgent_where_it_was() {
    let mut store = sharing(&["*"]);
    store_turn(&mut store, 1, &["quokka"]);
    drain(&mut store);
    store.writer.retire(&[turn_uid(1)], NOW).expect("retires");
    // Bob had it, too, and takes it back: what was refused is told again.
    apply(&mut store, vec![withdrawn(1, uid(1, 0))]);
    assert_eq!(waiting(&store), [(uid(1, 0), true)]);
}

#[test]
fn a_vector_that_comes_later_does_not_share_what_was_taken_back() {
    let mut store = sharing(&["*"]);
    store_turn(&mut store, 1, &["quokka"]);
    store_turn(&mut store, 2, &["numbat"]);
    drain(&mut store);
    apply(&mut store, vec![taken_back(1, 1, 0)]);
    store_turn(&mut store, 3, &["bilby"]);
    store.embed();
    let told = drain(&mut store);
    assert_eq!(pushed(&told), sorted([uid(2, 0), uid(3, 0)]));
    assert!(told.live.iter().all(|own| own.episode.embedding.is_some()));
    store_turn(&mut store, 1, &["quokka, and more"]);
    assert_eq!(pushed(&drain(&mut store)), [uid(1, 0)], "other words do");
}
