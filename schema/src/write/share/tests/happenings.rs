//! What the file goes through: put back from a copy, made anew, rewritten by newer rules of redaction, cleaned in its copies.

use std::borrow::Cow;

use super::*;
use crate::{Reader, RedactionRules, Writer, backup_path, restore, set_aside_and_rebuild};

fn place(path: &std::path::Path) -> Option<crate::SharePlace> {
    Reader::open(path).expect("opens").share_place().expect("reads")
}

/// Two turns of one's own, of which the second is not in the backup, and one of Bob's that is.
fn scene() -> (Store, std::path::PathBuf) {
    let mut store = sharing(&["*"]);
    store_turn(&mut store, 1, &["quokka"]);
    apply(&mut store, vec![live(5, from(BOB, 9), &of_bob(&[(5, "wombat")])[0])]);
    drain(&mut store);
    let backup = backup_path(&store.path, "2026-11-04T000000Z", false);
    store.copy_to(&backup);
    store_turn(&mut store, 2, &["numbat"]);
    (store, backup)
}

#[test]
fn a_memory_that_was_put_back_is_a_new_machine_and_gets_back_what_it_had_pushed() {
    let (mut store, backup) = scene();
    let lost = drain(&mut store).live.remove(0);
    let path = store.path.clone();
    store.writer.close().expect("closes");
    restore(&path, &backup, "now").expect("restores");
    store.writer = Writer::open(&path).expect("opens");
    assert_eq!(place(&path), None, "it is called nothing yet");
    share(&mut store, &["*"], 3);
    let now = place(&path).expect("shares");
    assert_eq!((now.machine, now.cursor), (machine(3), 0));
    assert_eq!(pushed(&drain(&mut store)), [uid(1, 0)], "all is told once more");
    let applied = apply(&mut store, vec![live(4, from(ADA, 1), &lost)]);
    assert_eq!(applied.stored.len(), 1);
    assert_eq!(origins(&store, "numbat"), [None], "it is one's own");
    assert_eq!(pushed(&drain(&mut store)), [uid(2, 0)]);
    store_turn(&mut store, 2, &["numbat"]);
    let text = store.reader().texts(&applied.stored).expect("reads").remove(0);
    assert_eq!(
        text.cwd.as_deref(),
        Some("/home/ada/app"),
        "once its transcript is read again"
    );
    store.writer.retire(&[turn_uid(2)], NOW).expect("retires");
    assert_eq!(drain(&mut store).withdraw, [uid(2, 0)]);
    assert_sound(&store);
}

#[test]
fn what_was_to_leave_when_the_memory_was_put_back_leaves_still() {
    let (mut store, backup) = scene();
    let lost = drain(&mut store).live.remove(0);
    // None of it is told before the memory is put back.
    store.writer.exclude_path("/home/ada/app", NOW).expect("excludes");
    forget_turn(&mut store, 1);
    let path = store.path.clone();
    store.writer.close().expect("closes");
    restore(&path, &backup, "now").expect("restores");
    store.writer = Writer::open(&path).expect("opens");
    share(&mut store, &["*"], 3);
    assert_eq!(drain(&mut store).forget, [turn_uid(1)], "the journal knows");
    let applied = apply(&mut store, vec![live(4, from(ADA, 1), &lost)]);
    assert_eq!(changes(&applied), [0; 3]);
    assert_eq!(
        drain(&mut store).withdraw_everywhere,
        [uid(2, 0)],
        "whatever it was called when it was shared"
    );
    assert_sound(&store);
}

#[test]
fn a_memory_that_was_made_anew_keeps_whose_everything_is_and_is_a_new_machine() {
    let (mut store, _) = scene();
    drain(&mut store);
    let path = store.path.clone();
    store.writer.close().expect("closes");
    let recovery = set_aside_and_rebuild(&path, NOW, "a test says so").expect("is made anew");
    assert!(recovery.whole);
    store.writer = Writer::open(&path).expect("opens");
    assert_eq!(place(&path), None);
    assert_eq!(
        (origins(&store, "wombat"), origins(&store, "quokka")),
        (vec![Some("bob".to_owned())], vec![None])
    );
    share(&mut store, &["*"], 3);
    assert_eq!(pushed(&drain(&mut store)), sorted([uid(1, 0), uid(2, 0)]));
    assert_sound(&store);
}

#[test]
fn of_what_is_read_row_by_row_nothing_of_others_is_taken_for_one_s_own() {
    let (mut store, backup) = scene();
    drain(&mut store);
    let path = store.path.clone();
    store.writer.close().expect("closes");
    fs_err::remove_file(backup).expect("removes");
    let db = rusqlite::Connection::open(&path).expect("opens");
    db.pragma_update(None, "foreign_keys", false).expect("sets");
    db.execute_batch("UPDATE episodes SET project_id = 99").expect("spoils");
    drop(db);
    let recovery = set_aside_and_rebuild(&path, NOW, "a test says so").expect("is made anew");
    assert_eq!((recovery.whole, recovery.salvaged), (false, 2));
    store.writer = Writer::open(&path).expect("opens");
    assert!(store.found("wombat").is_empty(), "it is pulled again");
    assert_eq!(origins(&store, "quokka"), [None]);
    assert_sound(&store);
}

const SECRET: &str = "xylophonequartz";

fn text(text: &str) -> Cow<'_, str> {
    if text.contains(SECRET) {
        Cow::Owned(text.replace(SECRET, "[redacted:word]"))
    } else {
        Cow::Borrowed(text)
    }
}

#[test]
fn newer_rules_of_redaction_reach_the_copies_and_only_one_s_own_is_told_again() {
    let mut store = sharing(&["*"]);
    store_turn(&mut store, 1, &[&format!("why {SECRET}?")]);
    let mut on_a_branch = told(turn(2, "s", &["numbat"]), APP, "/home/ada/app");
    on_a_branch.git_branch = Some(SECRET.to_owned());
    store.writer.ingest(&batch(vec![on_a_branch])).expect("stores");
    let id = apply(
        &mut store,
        vec![live(1, from(BOB, 9), &of_bob(&[(5, &format!("wombat {SECRET}"))])[0])],
    )
    .stored[0];
    drain(&mut store);
    crate::note_redaction(&store.path, Some(1));
    let rules = RedactionRules {
        version: 2,
        text,
        folder: text,
    };
    assert!(store.writer.begin_redaction(&rules).expect("begins"));
    while store.writer.redact_step(&rules, 100, NOW).expect("rewrites").more {}
    let copy = store.reader().texts(&[id]).expect("reads").remove(0);
    assert_eq!(copy.prompt, "wombat [redacted:word]");
    assert_eq!(origins(&store, "wombat"), [Some("bob".to_owned())]);
    let page = drain(&mut store);
    assert_eq!(pushed(&page), sorted([uid(1, 0), uid(2, 0)]));
    assert!(!format!("{page:?}").contains(SECRET));
    assert_sound(&store);
}

#[test]
fn a_key_that_newer_rules_make_another_takes_what_it_allowed_off_the_shared_store() {
    let mut store = sharing(&["example.org/[redacted:word]"]);
    let redacted = project(&mut store, "url:example.org/[redacted:word]", "/home/ada/one");
    project(&mut store, &format!("url:example.org/{SECRET}"), "/home/ada/two");
    let turn = in_project(turn(1, "s", &["quokka"]), redacted);
    store.writer.ingest(&batch(vec![turn])).expect("stores");
    assert_eq!(pushed(&drain(&mut store)), [uid(1, 0)]);
    crate::note_redaction(&store.path, Some(1));
    let rules = RedactionRules {
        version: 2,
        text,
        folder: text,
    };
    assert!(store.writer.begin_redaction(&rules).expect("begins"));
    // The key is the other project's now, whose it was by the newer name.
    assert_eq!(drain(&mut store).withdraw, [uid(1, 0)]);
}

#[test]
fn what_another_forgot_leaves_the_copies_of_the_database_too() {
    let (mut store, backup) = scene();
    let holds = |path: &std::path::Path| {
        let bytes = fs_err::read(path).expect("reads");
        bytes.windows(6).any(|window| window == b"wombat")
    };
    assert!(holds(&backup));
    assert!(apply(&mut store, vec![forgotten(7, 5, BOB)]).unscrubbed);
    assert!(store.writer.finish_forgetting().expect("cleans up"));
    assert!(!holds(&backup) && !holds(&store.path));
    let there = crate::audit(&backup).expect("reads");
    assert_eq!((there.faults.len(), there.episodes.len()), (0, 1), "{:?}", there.faults);
}
