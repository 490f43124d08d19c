mod columns;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use rusqlite::types::Value;

use super::*;
use crate::copy::with_suffix;
use crate::journal::Journal;
use crate::migrate::{LATEST, meta};
use crate::redaction::REDACTION_UNSCRUBBED;
use crate::testing::{MODEL, Store, batch, in_project, session, turn, turn_uid};
use crate::{ForgetTarget, Importance, IngestBatch, RecollectionLog, SessionUpdate, TurnUpsert, make_older, note_redaction};

const SECRET: &str = "xylophonequartz";

/// Rules for these tests: one word is a secret.
fn text(text: &str) -> Cow<'_, str> {
    if text.contains(SECRET) {
        Cow::Owned(text.replace(SECRET, "[redacted:word]"))
    } else {
        Cow::Borrowed(text)
    }
}

fn rules(version: u32) -> RedactionRules {
    RedactionRules {
        version,
        text,
        folder: text,
    }
}

const NOW: UnixMillis = UnixMillis(2_000_000);

/// A store of older rules with the secret in all that is rewritten, vectors, a logged prompt, a problem, a backup.
fn older(turns: u8) -> (Store, IngestBatch) {
    let mut store = Store::new();
    let folder = format!("/home/{SECRET}/engine");
    let project = store
        .writer
        .resolve_project(
            &[format!("cwd:{folder}"), format!("url:example.org/{SECRET}")],
            SECRET,
            Some(&folder),
            NOW,
        )
        .expect("resolves");
    let mut pass = batch(
        (1..=turns)
            .map(|number| in_project(secret_turn(number, &folder), project))
            .collect(),
    );
    pass.sessions.push(SessionUpdate {
        session: session("s"),
        title: Some(format!("About {SECRET}")),
        compacted_at: None,
        started_at: None,
    });
    pass.source.problems.push(crate::ProblemCount {
        kind: format!("unknown-record:{SECRET}"),
        count: 1,
        first_line: 1,
        first_offset: crate::ByteOffset(0),
        unread: Some(crate::Unread {
            bytes: 3,
            version: SECRET.to_owned(),
        }),
    });
    store.writer.ingest(&pass).expect("stores");
    store.embed();
    store.writer.exclude_path(&format!("/srv/{SECRET}"), NOW).expect("excludes");
    store.writer.record_recollection(&log()).expect("logs");
    note_redaction(&store.path, Some(1));
    backup_of(&store, "2026-11-28T210345Z");
    (store, pass)
}

fn backup_of(store: &Store, stamp: &str) -> PathBuf {
    let backup = crate::backup_path(&store.path, stamp, false);
    store.copy_to(&backup);
    backup
}

fn secret_turn(number: u8, folder: &str) -> TurnUpsert {
    let mut turn = turn(number, "s", &[&format!("why does the vault of case{number} lose {SECRET}?")]);
    turn.cwd = Some(folder.to_owned());
    turn.git_branch = Some(format!("fix/{SECRET}"));
    let episode = &mut turn.episodes[0];
    episode.answer = format!("it was {SECRET} all along");
    episode.importance = Importance::High;
    episode.facets.files = vec![format!("{SECRET}.toml"), "src/lib.rs".to_owned()];
    episode.facets.errors = vec![format!("no {SECRET}"), "no [redacted:word]".to_owned()];
    turn
}

fn log() -> RecollectionLog {
    RecollectionLog {
        at: NOW,
        session: session("asks"),
        project: None,
        prompt_hash: [0; 32],
        terms: vec![SECRET.to_owned()],
        reason: None,
        pool: 0,
        stages: Vec::new(),
        degradations: Vec::new(),
        candidates: Vec::new(),
    }
}

/// Brings the rules to all rows, a few at a time, and cleans up; gives the episodes that changed.
fn rewrite(store: &mut Store, version: u32, limit: usize) -> usize {
    let mut rewritten = 0;
    if store.writer.begin_redaction(&rules(version)).expect("begins") {
        loop {
            let step = store.writer.redact_step(&rules(version), limit, NOW).expect("redacts");
            rewritten += step.rewritten.len();
            if !step.more {
                break;
            }
        }
    }
    clean_up(store, version);
    rewritten
}

/// Cleans up to the end; gives how many copies went.
fn clean_up(store: &mut Store, version: u32) -> u64 {
    let mut removed = 0;
    for _ in 0..20 {
        let cleanup = store.writer.finish_redaction(&rules(version), NOW).expect("cleans up");
        removed += cleanup.copies_removed;
        if cleanup.state == CleanupState::Done {
            return removed;
        }
    }
    panic!("it is never clean");
}

fn holds(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs_err::read_dir(folder).expect("reads") {
        let path = entry.expect("reads").path();
        if path.is_dir() {
            found.extend(holds(&path));
        } else {
            let bytes = fs_err::read(&path).expect("reads");
            if bytes
                .windows(SECRET.len())
                .any(|window| window.eq_ignore_ascii_case(SECRET.as_bytes()))
            {
                found.push(path);
            }
        }
    }
    found
}

#[test]
fn all_that_older_rules_let_through_goes_and_what_is_made_of_it_is_made_anew() {
    let (mut store, pass) = older(5);
    let folder = store.path.parent().expect("has one").to_owned();
    assert!(
        holds(&folder).len() >= 3,
        "the database, the journal and the backup: {:?}",
        holds(&folder)
    );
    assert!(store.reader().redaction().expect("reads").is_behind(2));
    let before = store.id(3, 0);
    assert_eq!(rewrite(&mut store, 2, 2), 5);
    assert_eq!(holds(&folder), Vec::<PathBuf>::new(), "in no file of ours");
    let state = store.reader().redaction().expect("reads");
    assert!(!state.is_behind(2), "{state:?}");
    assert_eq!((state.version, state.under_way, state.unscrubbed), (Some(2), None, false));

    let texts = store.reader().texts(&[before]).expect("reads").remove(0);
    assert_eq!(store.id(3, 0), before, "it is the same episode");
    assert_eq!(texts.prompt, "why does the vault of case3 lose [redacted:word]?");
    assert_eq!(texts.answer, "it was [redacted:word] all along");
    assert_eq!(texts.cwd.as_deref(), Some("/home/[redacted:word]/engine"));
    assert_eq!(texts.project_name.as_deref(), Some("[redacted:word]"));
    assert_eq!(texts.facets.files, ["[redacted:word].toml", "src/lib.rs"]);
    assert_eq!(texts.facets.errors, ["no [redacted:word]"], "each once");
    assert_eq!(texts.importance, Importance::High, "what it is worth stays");
    assert!(store.found(SECRET).is_empty());
    assert_eq!(store.found("vault").len(), 5, "found by its other words, once each");
    let backlog = store.reader().embedding_backlog(MODEL, 10).expect("reads");
    assert_eq!(backlog.len(), 5, "they wait for their vectors");
    let facets = serde_json::to_string(&texts.facets).expect("is JSON");
    let of_it = backlog.iter().find(|row| row.id == before).expect("waits");
    assert_eq!(of_it.content_hash, content_hash([&texts.prompt, &texts.answer, &facets]));
    assert_eq!(store.embed().len(), 5);
    assert_eq!(
        crate::audit(&store.path).expect("looks").faults,
        Vec::<String>::new(),
        "index, lengths and codes agree"
    );

    // The same transcript is read again, by the rules of today.
    let mut again = pass;
    for turn in &mut again.turns {
        turn.cwd = turn.cwd.as_deref().map(|cwd| text(cwd).into_owned());
        turn.git_branch = turn.git_branch.as_deref().map(|branch| text(branch).into_owned());
        let episode = &mut turn.episodes[0];
        episode.prompt = text(&episode.prompt).into_owned();
        episode.answer = text(&episode.answer).into_owned();
        episode.facets.files[0] = text(&episode.facets.files[0]).into_owned();
        episode.facets.errors.truncate(1);
        episode.facets.errors[0] = text(&episode.facets.errors[0]).into_owned();
    }
    again.sessions.clear();
    again.source.problems.clear();
    let outcome = store.writer.ingest(&again).expect("stores");
    assert_eq!(
        (outcome.added, outcome.updated, outcome.unchanged),
        (0, 0, 5),
        "nothing is doubled, nothing embedded again"
    );
}

#[test]
fn names_are_compared_with_what_they_are_called_now() {
    let (mut store, _) = older(2);
    rewrite(&mut store, 2, 100);
    let reader = store.reader();
    let project = reader.project_by_key("cwd:/home/[redacted:word]/engine").expect("reads");
    assert!(project.is_some() && project == reader.project_by_key("url:example.org/[redacted:word]").expect("reads"));
    assert_eq!(reader.exclusions().expect("reads"), ["/srv/[redacted:word]"]);
    assert_eq!(
        reader.last_recollection(None).expect("reads").expect("is one").log.terms,
        Vec::<String>::new()
    );
    let target = ForgetTarget::Path("/home/[redacted:word]".to_owned());
    assert_eq!(reader.episodes_of(&target).expect("finds").len(), 2);
    // The journal says the same, so that nothing changes at the next opening.
    let path = store.path.clone();
    store.writer.close().expect("closes");
    let (_, lines) = Journal::open(&path, "new").expect("opens");
    let excluded = |path: &str| {
        lines
            .iter()
            .any(|(_, choice)| matches!(choice, Choice::Exclude { path: kept, .. } if kept == path))
    };
    assert!(excluded("/srv/[redacted:word]"));
    let mut writer = Writer::open(&path).expect("opens");
    assert!(writer.excludes_path("/srv/[redacted:word]").expect("reads"));
    assert!(!writer.excludes_path(&format!("/srv/{SECRET}")).expect("reads"));
    assert!(holds(path.parent().expect("has one")).is_empty());
}

#[test]
fn it_goes_on_where_it_was_and_costs_nothing_twice() {
    let (mut store, _) = older(9);
    store.writer.begin_redaction(&rules(2)).expect("begins");
    let mut steps = 0;
    let mut rewritten = Vec::new();
    loop {
        let step = store.writer.redact_step(&rules(2), 2, NOW).expect("redacts");
        rewritten.extend(step.rewritten);
        steps += 1;
        // Killed after every step: what is committed is all that the next has.
        store.writer = reopened(store.writer);
        let behind = store.writer.begin_redaction(&rules(2)).expect("begins");
        assert_eq!(behind, step.more);
        if !step.more {
            break;
        }
        let state = store.reader().redaction().expect("reads");
        assert!(state.is_behind(2) && state.unscrubbed, "{state:?}");
    }
    // Two of sessions, the end of those, five of episodes, the end of those.
    assert!((8..=9).contains(&steps), "{steps}");
    let ids: BTreeSet<_> = rewritten.iter().copied().collect();
    assert_eq!((rewritten.len(), ids.len()), (9, 9), "each once");
    while store.writer.finish_redaction(&rules(2), NOW).expect("cleans up").state != CleanupState::Done {
        store.writer = reopened(store.writer);
    }
    assert!(holds(store.path.parent().expect("has one")).is_empty());
    assert_eq!(rewrite(&mut store, 2, 100), 0, "twice is once");
}

/// The store after a kill: opened again, without an end.
fn reopened(writer: Writer) -> Writer {
    let path = writer.path().to_owned();
    drop(writer);
    Writer::open(&path).expect("opens")
}

#[test]
fn what_the_user_decided_holds() {
    let (mut store, pass) = older(4);
    store
        .writer
        .forget(
            &ForgetTarget::Episode(crate::EpisodeUid::of(&turn_uid(1), 0).to_string()),
            NOW,
        )
        .expect("forgets");
    store
        .writer
        .exclude_path("/home/[redacted:word]/engine", NOW)
        .expect("excludes");
    assert_eq!(
        store.reader().stats().expect("counts").hidden,
        0,
        "the rows are called otherwise still"
    );
    rewrite(&mut store, 2, 3);
    let stats = store.reader().stats().expect("counts");
    assert_eq!((stats.episodes, stats.hidden, stats.tombstones), (3, 3, 1));
    assert!(store.found("vault").is_empty());
    let outcome = store.writer.ingest(&pass).expect("stores");
    assert_eq!(outcome.tombstoned, 1);
    let again = store.writer.include_path("/home/[redacted:word]/engine").expect("includes");
    assert!(again >= 3, "{again}");
}

#[test]
fn a_store_is_noted_as_of_the_rules_that_wrote_it_last() {
    let mut store = Store::new();
    assert!(!store.reader().redaction().expect("reads").is_behind(3), "nothing is in it");
    assert!(!store.writer.begin_redaction(&rules(3)).expect("begins"));
    assert_eq!(store.reader().redaction().expect("reads").version, Some(3));
    store.fill(&[SECRET]);
    // An older program stores rows in it: its rules are those that all have been through.
    assert!(!store.writer.begin_redaction(&rules(2)).expect("begins"));
    assert_eq!(store.reader().redaction().expect("reads").version, Some(2));
    assert_eq!(rewrite(&mut store, 2, 10), 0, "and it undoes nothing");
    assert_eq!(rewrite(&mut store, 3, 10), 1, "the newer one looks again");
    // One that nobody noted is looked through.
    note_redaction(&store.path, None);
    assert!(store.reader().redaction().expect("reads").is_behind(1));
    assert_eq!(rewrite(&mut store, 1, 10), 0);
}

#[test]
fn a_step_is_bounded_by_the_bytes_that_it_reads() {
    let mut store = Store::new();
    let long = "lorem ipsum ".repeat(60_000);
    store.fill(&[&long, &long, &long, &long]);
    note_redaction(&store.path, Some(1));
    store.writer.begin_redaction(&rules(2)).expect("begins");
    let mut steps = 0;
    while store.writer.redact_step(&rules(2), 1_000, NOW).expect("redacts").more {
        steps += 1;
    }
    assert!(steps >= 4, "two long texts a step: {steps}");
}

#[test]
fn where_the_rules_find_nothing_nothing_is_written_and_no_copy_goes() {
    let mut store = Store::new();
    store.fill(&["a plain prompt", "another"]);
    store.embed();
    // What was asked is logged in a used store; its words go, and are no reason for a copy to go.
    store.writer.record_recollection(&log()).expect("logs");
    note_redaction(&store.path, Some(1));
    let backup = backup_of(&store, "2026-11-28T210345Z");
    make_older(&backup, LATEST - 1);
    let older = fs_err::read(&backup).expect("reads");
    let before_migration = crate::copy::before_migration(&store.path, 3);
    fs_err::write(&before_migration, "a copy").expect("writes");
    assert_eq!(rewrite(&mut store, 2, 10), 0);
    assert!(before_migration.exists());
    assert_eq!(fs_err::read(&backup).expect("is there"), older, "as it was");
    let logged = store.reader().last_recollection(None).expect("reads").expect("is one");
    assert_eq!(logged.log.terms, Vec::<String>::new());
    assert_eq!(store.reader().stats().expect("counts").embedded, 2);
    let db = Connection::open(&store.path).expect("opens");
    let unscrubbed: Option<Value> = db
        .query_row("SELECT value FROM _meta WHERE key = ?1", [REDACTION_UNSCRUBBED], |row| {
            row.get(0)
        })
        .ok();
    assert_eq!(unscrubbed, None);
    // Where something was rewritten, what such a copy holds was, too, and it can't be.
    note_redaction(&store.path, Some(1));
    store.fill(&[SECRET]);
    rewrite(&mut store, 2, 10);
    assert!(!before_migration.exists());
    assert!(backup.exists());
}

#[test]
fn copies_of_an_older_version_are_brought_to_this_one_and_rewritten() {
    let (mut store, _) = older(3);
    let backup = backup_of(&store, "2026-11-27T210345Z");
    let replaced = with_suffix(&store.path, ".replaced-2026-11-26T210345Z");
    store.copy_to(&replaced);
    for copy in [&backup, &replaced] {
        make_older(copy, LATEST - 1);
    }
    // The second with a log beside it, as it was set aside.
    let db = Connection::open(&replaced).expect("opens");
    db.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))
        .expect("sets");
    // As our own connections do.
    db.pragma_update_and_check(None, "secure_delete", true, |_| Ok(()))
        .expect("sets");
    db.execute("UPDATE sessions SET title = 'of the log ' || title", [])
        .expect("writes");
    let (whole, log) = (
        fs_err::read(&replaced).expect("reads"),
        fs_err::read(with_suffix(&replaced, "-wal")).expect("reads"),
    );
    drop(db);
    fs_err::write(&replaced, whole).expect("writes");
    fs_err::write(with_suffix(&replaced, "-wal"), log).expect("writes");

    rewrite(&mut store, 2, 10);
    assert_eq!(holds(store.path.parent().expect("has one")), Vec::<PathBuf>::new());
    for copy in [&backup, &replaced] {
        let contents = crate::Contents::of_whole(copy).expect("is whole");
        assert_eq!(
            (contents.schema_version, contents.episodes),
            (LATEST, 3),
            "{}",
            copy.display()
        );
    }
    let title: String = Connection::open(&replaced)
        .and_then(|db| db.query_row("SELECT title FROM sessions WHERE title IS NOT NULL", [], |row| row.get(0)))
        .expect("reads");
    assert_eq!(title, "of the log About [redacted:word]");
    assert!(!store.path.with_file_name("restoring").exists());
}

#[test]
fn a_copy_that_cant_be_rewritten_keeps_neither_the_database_nor_another_copy_from_it() {
    let (mut store, _) = older(2);
    // Set aside by the user, of this version and without sense: it comes first, and stays.
    let aside = with_suffix(&store.path, ".damaged");
    store.copy_to(&aside);
    Connection::open(&aside)
        .and_then(|db| db.execute("UPDATE episode_texts SET facets = 'no JSON'", []))
        .expect("breaks");
    let garbage = crate::backup_path(&store.path, "2026-11-20T210345Z", false);
    fs_err::write(&garbage, format!("{SECRET}, and no database")).expect("writes");
    let newer = backup_of(&store, "2026-11-21T210345Z");
    Connection::open(&newer)
        .and_then(|db| db.pragma_update(None, "user_version", LATEST + 1))
        .expect("sets");
    store.writer.begin_redaction(&rules(2)).expect("begins");
    while store.writer.redact_step(&rules(2), 10, NOW).expect("redacts").more {}
    assert_eq!(clean_up(&mut store, 2), 1, "the one that is none is removed, and counted");
    assert!(aside.exists() && newer.exists() && !garbage.exists());
    assert_eq!(
        holds(store.path.parent().expect("has one")).len(),
        2,
        "what was set aside, and a newer version's"
    );
    assert!(!store.reader().redaction().expect("reads").unscrubbed);
}

#[test]
fn what_an_earlier_process_of_our_number_left_is_waited_for_by_nobody() {
    let (mut store, _) = older(1);
    let name = format!(".memory-2026-11-20T210345Z.db.{}.part", std::process::id());
    let part = crate::backups_folder(&store.path).join(name);
    fs_err::write(&part, SECRET).expect("writes");
    rewrite(&mut store, 2, 10);
    assert!(!part.exists());
    // One that is being made is waited for.
    let backup = crate::backup_path(&store.path, "2026-11-29T210345Z", false);
    let copy = crate::FreshCopy::make(&store.path, &backup, &mut |_| std::ops::ControlFlow::Continue(())).expect("copies");
    // So is what SQLite keeps beside it meanwhile.
    let beside = backup.with_file_name(format!(".memory-2026-11-29T210345Z.db.{}.part-journal", std::process::id()));
    fs_err::write(&beside, SECRET).expect("writes");
    let state = |store: &mut Store| store.writer.finish_redaction(&rules(2), NOW).expect("cleans up").state;
    assert_eq!(state(&mut store), CleanupState::Waits);
    assert!(beside.exists());
    copy.put_at(&backup).expect("puts");
    assert_eq!(state(&mut store), CleanupState::Done);
}

#[test]
fn behind_a_reader_only_the_log_is_tried_again() {
    let (mut store, _) = older(3);
    store.writer.begin_redaction(&rules(2)).expect("begins");
    while store.writer.redact_step(&rules(2), 10, NOW).expect("redacts").more {}
    let reader = Connection::open(&store.path).expect("opens");
    let snapshot = reader.unchecked_transaction().expect("begins");
    meta(&snapshot, REDACTION_UNSCRUBBED).expect("reads");
    let mut states = Vec::new();
    let mut notes = Vec::new();
    while states.len() < 50 && states.last().is_none_or(|state| *state == CleanupState::More) {
        states.push(store.writer.finish_redaction(&rules(2), NOW).expect("cleans up").state);
        notes.push(meta(&store.writer.db, REDACTION_UNSCRUBBED).expect("reads"));
    }
    assert_eq!(states.last(), Some(&CleanupState::Waits), "{states:?}");
    assert!(
        notes.iter().all(|note| note.as_deref() == Some("2")),
        "the file itself is clean: {notes:?}"
    );
    let changes = store.writer.db.total_changes();
    store.writer.finish_redaction(&rules(2), NOW).expect("cleans up");
    assert_eq!(store.writer.db.total_changes(), changes, "nothing is done again");
    snapshot.finish().expect("ends");
    clean_up(&mut store, 2);
    assert_eq!(holds(store.path.parent().expect("has one")), Vec::<PathBuf>::new());
}

#[test]
fn what_newer_rules_had_come_to_counts_no_more_once_older_ones_were_at_work() {
    let (mut store, _) = older(3);
    note_redaction(&store.path, Some(2));
    store.writer.begin_redaction(&rules(3)).expect("begins");
    store.writer.redact_step(&rules(3), 1, NOW).expect("redacts");
    // An older program is not behind, and stores what its rules let through.
    assert!(!store.writer.begin_redaction(&rules(2)).expect("begins"));
    store
        .writer
        .resolve_project(&[format!("cwd:/srv/{SECRET}")], SECRET, None, NOW)
        .expect("resolves");
    rewrite(&mut store, 3, 10);
    assert_eq!(holds(store.path.parent().expect("has one")), Vec::<PathBuf>::new());
}
