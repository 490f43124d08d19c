//! Damage of every kind, and what comes back of it.

use std::os::unix::fs::PermissionsExt;

use rstest::rstest;
use tempfile::TempDir;

use super::*;
use crate::testing::{MODEL, Store, batch, session, turn, turn_uid};
use crate::{ForgetTarget, Reader};

const NOW: UnixMillis = UnixMillis(1_795_000_000_000);
const TURNS: u8 = 200;
/// The turn that retention took away.
const RETIRED: u8 = 5;
/// What is there of the turns: all but that one and the one that is forgotten.
const STORED: u64 = TURNS as u64 - 2;

/// A store of many pages: turns with long and short texts, vectors, one turn forgotten, one session and one folder kept out. The
/// journal is gone, as in a store of an older version, so that what was decided has to come from the damaged file.
fn closed_store(folder: &TempDir, in_order: bool) -> PathBuf {
    let path = folder.path().join("memory.db");
    let mut store = Store::new();
    let turns = (1..=TURNS).map(|number| turn(number, &format!("s{}", number % 4), &[text(number).as_str()]));
    store.writer.ingest(&batch(turns.collect())).expect("stores");
    store.embed();
    let forgotten = crate::EpisodeUid::of(&turn_uid(3), 0).to_string();
    store.writer.forget(&ForgetTarget::Episode(forgotten), NOW).expect("forgets");
    store.writer.retire(&[turn_uid(RETIRED)], NOW).expect("retires");
    store.writer.exclude_path("/home/ada/kept-out", NOW).expect("excludes");
    store.writer.exclude_session(&session("s0")).expect("excludes");
    store
        .writer
        .steer(&[turn_uid(9), turn_uid(10)], crate::Steering::Boost, NOW)
        .expect("boosts");
    store
        .writer
        .steer(&[turn_uid(10), turn_uid(11)], crate::Steering::Mute, NOW)
        .expect("mutes");
    // With what a parser takes over beside it, under the same number and in the same columns as the model's name.
    store.writer.ingest(&batch(Vec::new())).expect("stores");
    let source = &store.reader().sources().expect("reads")[0];
    assert!(source.position.parser_state.as_deref() == Some("{}") && source.id.0 == 1);
    let copied = store.path.clone();
    if in_order {
        store.writer.checkpoint().expect("folds");
    }
    for suffix in ["", "-wal"] {
        fs_err::copy(with_suffix(&copied, suffix), with_suffix(&path, suffix)).expect("copies");
    }
    path
}

/// Every seventh is long enough to go on on other pages.
fn text(number: u8) -> String {
    let length = if number.is_multiple_of(7) { 3_000 } else { 20 };
    format!("case{number} {}", "some words that fill a row ".repeat(length))
}

fn overwrite(path: &Path, pages: std::ops::Range<usize>) {
    let mut bytes = fs_err::read(path).expect("reads");
    for (place, byte) in bytes[pages.start * 8192..pages.end * 8192].iter_mut().enumerate() {
        *byte = (place * 31 + place / 7) as u8;
    }
    fs_err::write(path, bytes).expect("writes");
}

fn pages(path: &Path) -> usize {
    fs_err::read(path).expect("reads").len() / 8192
}

/// The numbers of the turns that are there.
fn there(path: &Path) -> Vec<u8> {
    let reader = Reader::open(path).expect("opens");
    let ids = reader.episodes_of(&ForgetTarget::All).expect("reads");
    let texts = reader.texts_with_hidden(&ids).expect("reads");
    let mut numbers: Vec<u8> = texts
        .iter()
        .map(|episode| {
            let word = episode.prompt.split(' ').next().expect("has a word");
            let number: u8 = word["case".len()..].parse().expect("is one of ours");
            assert_eq!(episode.prompt, text(number));
            assert_eq!(episode.uid, crate::EpisodeUid::of(&turn_uid(number), 0));
            number
        })
        .collect();
    numbers.sort_unstable();
    numbers
}

fn rebuild(path: &Path) -> Recovery {
    drop(open_or_rebuild(path, NOW).expect("is made anew"));
    let reader = Reader::open(path).expect("opens");
    assert_eq!(reader.damages().expect("looks"), [""; 0]);
    reader.recovery().expect("reads").expect("was made anew")
}

fn mode(path: &Path) -> u32 {
    fs_err::metadata(path).expect("is there").permissions().mode() & 0o777
}

#[test]
fn every_row_of_a_whole_file_is_read_past_sqlite_from_file_and_log() {
    for in_order in [true, false] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = closed_store(&folder, in_order);
        assert_eq!(
            fs_err::metadata(with_suffix(&path, "-wal")).expect("is there").len() == 0,
            in_order
        );
        let target = folder.path().join("other.db");
        let db = open::open_writer(&target).expect("opens").db;
        let salvaged = salvage::salvage(&path, &db).expect("salvages");
        let expected = Salvaged {
            episodes: STORED,
            unreadable: 0,
        };
        assert_eq!(salvaged, expected);
        db.execute("ATTACH :path AS old", [path.to_str().expect("is text")])
            .expect("attaches");
        for columns in [
            "SELECT uid, turn_uid, generation, origin, turn, part, importance, importance_rule, created_at, updated_at, accessed_at,
                 access_count, shown_count, hidden, content_hash, embedding FROM TABLE.episodes ORDER BY uid",
            "SELECT cwd, git_branch, prompt, answer, facets, uid FROM TABLE.episode_texts JOIN TABLE.episodes ON id = episode_id",
            "SELECT agent, external_id, title, cwd, git_branch, started_at, compacted_at, excluded FROM TABLE.sessions",
            "SELECT agent, path, kind, device, inode, generation, missing FROM TABLE.sources",
            "SELECT uid, created_at FROM TABLE.tombstones",
            "SELECT uid, retired_at FROM TABLE.retired_turns",
            "SELECT turn_uid, muted_at, boosted_at FROM TABLE.steered_turns",
            "SELECT uid, boosted_episodes.importance, boosted_episodes.importance_rule
                 FROM TABLE.boosted_episodes JOIN TABLE.episodes ON id = episode_id",
            "SELECT path, created_at FROM TABLE.exclusions",
            "SELECT name FROM TABLE.embedding_models",
        ] {
            let (new, old) = (columns.replace("TABLE", "main"), columns.replace("TABLE", "old"));
            let differences: i64 = db
                .query_row(
                    &format!(
                        "SELECT (SELECT count(*) FROM (SELECT * FROM ({new}) EXCEPT SELECT * FROM ({old})))
                              + (SELECT count(*) FROM (SELECT * FROM ({old}) EXCEPT SELECT * FROM ({new})))"
                    ),
                    [],
                    |row| row.get(0),
                )
                .expect("compares");
            assert_eq!(differences, 0, "{columns}");
        }
    }
}

#[test]
fn what_waits_for_a_shared_store_is_no_decision_and_teams_that_were_left_stay_known() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = Store::new();
    let setup = crate::ShareSetup {
        team_key: "db.example.org/memory#one".to_owned(),
        allowed: vec!["*".to_owned()],
    };
    store.writer.set_sharing(Some(&setup), [1; 16]).expect("sets");
    let turns = (1..=40).map(|number| turn(number, "s", &[text(number).as_str()]));
    store.writer.ingest(&batch(turns.collect())).expect("stores");
    store.writer.retire(&[turn_uid(RETIRED)], NOW).expect("retires");
    let left = Connection::open(&store.path).expect("opens");
    // One that is here, one that is gone, and one of which nothing is known.
    for (number, state) in [(1, 1), (RETIRED, 2), (90, 1)] {
        let uid = crate::EpisodeUid::of(&turn_uid(number), 0);
        left.execute(
            "INSERT INTO share_former VALUES ('db.example.org/memory#two', ?1, ?2, ?3)",
            rusqlite::params![uid, turn_uid(number), state],
        )
        .expect("inserts");
    }
    let number = |db: &Connection, sql: &str| db.query_row(sql, [], |row| row.get::<_, i64>(0)).expect("reads");
    assert_eq!(number(&left, "SELECT count(*) FROM share_outbox"), 40);
    let db = open::open_writer(&folder.path().join("other.db")).expect("opens").db;
    salvage::salvage(&store.path, &db).expect("salvages");
    assert_eq!(number(&db, "SELECT count(*) FROM steered_turns"), 0);
    assert_eq!(number(&db, "SELECT count(*) FROM share_former"), 2);
    assert_eq!(number(&db, "SELECT sum(state) FROM share_former"), 3);
}

#[rstest]
#[case::the_first_page(0.0, 0.0)]
#[case::pages_at_the_beginning(0.0, 0.1)]
#[case::pages_in_the_middle(0.4, 0.6)]
#[case::pages_at_the_end(0.8, 1.0)]
fn tc_37_what_can_be_read_of_a_damaged_file_comes_back(#[case] from: f64, #[case] to: f64) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = closed_store(&folder, true);
    let all = pages(&path);
    let (from, to) = ((all as f64 * from) as usize, ((all as f64 * to) as usize).max(1));
    overwrite(&path, from..to);
    let damaged = pages(&path);
    let recovery = rebuild(&path);
    let there = there(&path);
    assert_eq!(there.len() as u64, recovery.salvaged);
    assert!(
        !there.contains(&3) && !there.contains(&RETIRED),
        "what was forgotten, and what was retired"
    );
    let share = there.len() as f64 / STORED as f64;
    // A long text is lost with any of its pages.
    assert!(share > 0.3 || recovery.whole, "{share}: {recovery:?}");
    assert!(there.len() as u64 + recovery.unreadable <= u64::from(TURNS), "{recovery:?}");
    assert_eq!(pages(&recovery.set_aside), damaged, "all of it");
    assert_eq!((mode(&path), mode(&recovery.set_aside)), (0o600, 0o600));
    assert!(
        recovery
            .set_aside
            .to_string_lossy()
            .ends_with("memory.db.damaged-20261118T110640Z"),
        "{recovery:?}"
    );
    let found = Reader::open(&path).expect("opens").stats().expect("counts");
    assert_eq!(found.episodes, recovery.salvaged);
    assert_eq!(crate::audit(&path).expect("reads").faults, Vec::<String>::new());
}

#[test]
fn tc_37_a_file_that_was_cut_in_half() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = closed_store(&folder, true);
    let bytes = fs_err::read(&path).expect("reads");
    fs_err::write(&path, &bytes[..bytes.len() / 2 + 1_000]).expect("cuts");
    let recovery = rebuild(&path);
    assert!(!recovery.whole && recovery.salvaged > 0, "{recovery:?}");
    assert_eq!(there(&path).len() as u64, recovery.salvaged);
}

#[test]
fn tc_37_damage_of_what_is_made_from_the_tables_loses_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = closed_store(&folder, true);
    let db = Connection::open(&path).expect("opens");
    let roots: Vec<usize> = db
        .prepare("SELECT rootpage FROM sqlite_schema WHERE name LIKE 'episodes_vec_vector%' OR name = 'idx_episodes_turn'")
        .expect("prepares")
        .query_map([], |row| row.get::<_, i64>(0).map(|page| page as usize))
        .expect("reads")
        .collect::<Result<_, _>>()
        .expect("reads");
    drop(db);
    assert_eq!(roots.len(), 2);
    for root in roots {
        overwrite(&path, root - 1..root);
    }
    let recovery = rebuild(&path);
    assert_eq!((recovery.whole, recovery.salvaged, recovery.unreadable), (true, STORED, 0));
    assert_eq!(there(&path).len() as u64, STORED);
    let mut writer = Writer::open(&path).expect("opens");
    writer.set_embedding_model(MODEL, 8).expect("sets");
    let reader = Reader::open(&path).expect("opens");
    assert_eq!(
        reader.embedding_backlog(MODEL, 999).expect("reads").len(),
        0,
        "vectors are kept, and given their codes"
    );
    let position = reader.sources().expect("reads")[0].position.clone();
    assert_eq!(position.read_offset.0, 100, "nothing has to be read again");
}

#[test]
fn tc_37_a_backup_gives_what_can_not_be_read_and_a_damaged_backup_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = closed_store(&folder, true);
    let backups = folder.path().join("backups");
    fs_err::create_dir(&backups).expect("makes");
    let good = backups.join("memory-2026-11-27.db");
    fs_err::copy(&path, &good).expect("copies");
    fs_err::write(backups.join("memory-2026-11-28.db"), vec![7; 20_000]).expect("writes");
    fs_err::write(backups.join("memory-2026-11-29.db.part"), vec![7; 20_000]).expect("writes");
    // And pages here and there of the rest, so that of some episodes one of the two rows is lost, wherever these lie.
    let all = pages(&path);
    overwrite(&path, 0..all / 2);
    (all / 2..all).step_by(9).for_each(|page| overwrite(&path, page..page + 1));
    let recovery = rebuild(&path);
    assert_eq!(recovery.backup.as_ref(), Some(&good));
    assert!(recovery.unreadable > 0 && recovery.salvaged < STORED, "{recovery:?}");
    assert_eq!(there(&path).len() as u64, STORED);
    assert!(good.exists());
}

#[test]
fn a_backup_that_cant_be_looked_at_now_is_not_passed_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = closed_store(&folder, true);
    let backup = crate::backup_path(&path, "2026-11-04T000000Z", true);
    fs_err::create_dir(folder.path().join("backups")).expect("makes");
    fs_err::os::unix::fs::symlink(&backup, &backup).expect("links");
    overwrite(&path, 0..pages(&path));
    let before = fs_err::read(&path).expect("reads");
    let error = open_or_rebuild(&path, NOW).expect_err("is not made anew without it");
    assert!(matches!(error, OpenError::CopiesUnread { .. }), "{error}");
    assert_eq!(fs_err::read(&path).expect("reads"), before, "the damaged file is as it was");
    fs_err::remove_file(&backup).expect("removes");
    rebuild(&path);
}

#[test]
fn backups_that_cant_be_listed_are_not_taken_for_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = closed_store(&folder, true);
    let backups = folder.path().join("backups");
    fs_err::os::unix::fs::symlink(&backups, &backups).expect("links");
    overwrite(&path, 0..pages(&path));
    let before = fs_err::read(&path).expect("reads");
    let error = open_or_rebuild(&path, NOW).expect_err("is not made anew without them");
    assert!(matches!(error, OpenError::CopiesUnread { .. }), "{error}");
    assert!(error.to_string().contains("start the daemon again"), "{error}");
    assert_eq!(fs_err::read(&path).expect("reads"), before, "the damaged file is as it was");
    // Nor is an empty memory made where none is.
    fs_err::remove_file(&path).expect("removes");
    let error = Writer::open(&path).expect_err("is not made");
    assert!(matches!(error, OpenError::CopiesUnread { .. }), "{error}");
    assert!(!path.exists());
}

#[test]
fn tc_37_what_retention_took_away_comes_back_from_no_backup_and_is_not_taken_for_forgotten() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = closed_store(&folder, true);
    let backups = folder.path().join("backups");
    fs_err::create_dir(&backups).expect("makes");
    fs_err::copy(&path, backups.join("memory-2026-11-27.db")).expect("copies");
    let mut writer = Writer::open(&path).expect("opens");
    assert_eq!(writer.retire(&[turn_uid(9)], NOW).expect("retires").len(), 1);
    // Not closed in order, so that the next opening looks through it.
    drop(writer);
    overwrite(&path, pages(&path) * 6 / 10..pages(&path));
    let recovery = rebuild(&path);
    assert!(recovery.backup.is_some() && recovery.unreadable > 0, "{recovery:?}");
    let there = there(&path);
    assert!(!there.contains(&9) && !there.contains(&RETIRED), "{there:?}");
    assert_eq!(there.len() as u64, STORED - 1);
    let reader = Reader::open(&path).expect("opens");
    assert_eq!(reader.tombstones().expect("reads"), [turn_uid(3)]);
    assert_eq!(reader.stats().expect("counts").retired, 2);
    // The transcript tells it once more.
    let mut writer = Writer::open(&path).expect("opens");
    let told = batch(vec![turn(9, "s1", &[text(9).as_str()])]);
    writer.ingest(&told).expect("reads");
    assert!(!super::tests::there(&path).contains(&9));
}

#[test]
fn what_the_journal_says_holds_of_what_was_salvaged() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = closed_store(&folder, true);
    drop(Writer::open(&path).expect("opens, and makes a journal"));
    let mut writer = Writer::open(&path).expect("opens");
    writer.set_paused(Some(crate::Pause::Indefinite)).expect("pauses");
    let forgotten = crate::EpisodeUid::of(&turn_uid(9), 0).to_string();
    let before = fs_err::read(&path).expect("reads");
    writer.forget(&ForgetTarget::Episode(forgotten), NOW).expect("forgets");
    drop(writer);
    // The file as it was before that, damaged.
    for suffix in ["-wal", "-shm"] {
        remove(&with_suffix(&path, suffix)).expect("removes");
    }
    fs_err::write(&path, before).expect("writes");
    overwrite(&path, 0..1);
    rebuild(&path);
    let there = there(&path);
    assert!(!there.contains(&9) && !there.contains(&3) && there.contains(&10), "{there:?}");
    let reader = Reader::open(&path).expect("opens");
    assert_eq!(reader.paused().expect("reads"), Some(crate::Pause::Indefinite));
    assert_eq!(reader.exclusions().expect("reads"), ["/home/ada/kept-out"]);
}

#[test]
fn killed_at_any_moment_of_the_swap_it_goes_on() {
    for moment in 0..4 {
        let folder = tempfile::tempdir().expect("a folder");
        let path = closed_store(&folder, true);
        overwrite(&path, 0..1);
        let aside = with_suffix(&path, ".damaged-20261118T110640Z");
        // As a kill leaves it: while the new one was made; once it was; with the log moved; with the database moved.
        let moved = |from: &Path, to: &Path| fs_err::rename(from, to).expect("moves");
        let made = if moment == 0 { REBUILDING } else { REBUILT };
        drop(Writer::open(&with_suffix(&path, made)).expect("makes").close());
        if moment >= 2 {
            moved(&with_suffix(&path, "-wal"), &with_suffix(&aside, "-wal"));
        }
        if moment >= 3 {
            moved(&path, &aside);
        }
        drop(open_or_rebuild(&path, NOW).expect("goes on"));
        assert_eq!(
            set_aside_files(&path).expect("lists"),
            std::slice::from_ref(&aside),
            "{moment}"
        );
        assert!(moment < 2 || with_suffix(&aside, "-wal").exists(), "{moment}");
        assert!(!with_suffix(&path, REBUILDING).exists() && !with_suffix(&path, REBUILT).exists());
    }
}

#[test]
fn three_damaged_files_are_kept_and_forget_removes_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = closed_store(&folder, true);
    for day in 0..4 {
        overwrite(&path, 0..1);
        drop(open_or_rebuild(&path, UnixMillis(NOW.0 + day * 86_400_000)).expect("is made anew"));
    }
    let kept = set_aside_files(&path).expect("lists");
    assert_eq!(kept.len(), 3);
    assert!(kept[2].to_string_lossy().contains("20261121"), "{kept:?}");
    let mut writer = Writer::open(&path).expect("opens");
    let forgotten = writer
        .forget(&ForgetTarget::Matching("case12".to_owned()), NOW)
        .expect("forgets");
    assert_eq!((forgotten.episodes, forgotten.set_aside_removed), (1, 3));
    assert_eq!(set_aside_files(&path).expect("lists").len(), 0);
    assert_eq!(
        Reader::open(&path).expect("opens").recovery().expect("reads"),
        None,
        "nothing to tell any more"
    );
}

#[test]
fn tc_36_a_lock_a_newer_version_and_a_stranger_are_no_damage() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = closed_store(&folder, true);
    let db = Connection::open(&path).expect("opens");
    db.pragma_update(None, "user_version", LATEST + 1).expect("sets");
    drop(db);
    let refused = |path: &Path| {
        let before = fs_err::read(path).expect("reads");
        let error = open_or_rebuild(path, NOW).expect_err("is refused");
        assert_eq!(
            (
                set_aside_files(path).expect("lists").len(),
                fs_err::read(path).expect("reads")
            ),
            (0, before)
        );
        error
    };
    assert!(matches!(refused(&path), OpenError::Future { .. }));
    let stranger = folder.path().join("other.db");
    Connection::open(&stranger)
        .and_then(|db| db.execute_batch("CREATE TABLE theirs (x)"))
        .expect("makes");
    assert!(matches!(refused(&stranger), OpenError::Foreign { .. }));
}

/// What is spoilt by statements and whole to SQLite: set aside as any damage, once, and never a refusal without end.
#[rstest]
#[case::a_trigger("CREATE TRIGGER x AFTER INSERT ON episodes BEGIN DELETE FROM episodes; END", true, STORED)]
#[case::a_view("CREATE VIEW v AS SELECT 1", true, STORED)]
#[case::an_index_that_is_gone("DROP INDEX idx_episodes_turn", true, STORED)]
#[case::rows_that_refer_to_nothing("UPDATE episodes SET session_id = 99999", false, STORED)]
#[case::tables_that_are_gone("DROP TABLE episode_texts; DROP TABLE sources", false, 0)]
fn tc_37_a_schema_that_is_not_ours_is_damage(#[case] sql: &str, #[case] whole: bool, #[case] salvaged: u64) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = closed_store(&folder, true);
    // A journal that knows of a turn which the file does not know to be forgotten.
    drop(Writer::open(&path).expect("opens, and makes a journal").close());
    let before = fs_err::read(&path).expect("reads");
    let mut writer = Writer::open(&path).expect("opens");
    let forgotten = crate::EpisodeUid::of(&turn_uid(9), 0).to_string();
    writer.forget(&ForgetTarget::Episode(forgotten), NOW).expect("forgets");
    writer.close().expect("closes");
    for suffix in ["-wal", "-shm"] {
        remove(&with_suffix(&path, suffix)).expect("removes");
    }
    fs_err::write(&path, before).expect("writes");
    let db = Connection::open(&path).expect("opens");
    db.pragma_update(None, "foreign_keys", false).expect("sets");
    db.execute_batch(sql).expect("spoils");
    drop(db);
    let error = Writer::open(&path).expect_err("is damaged");
    assert!(matches!(error, OpenError::Corrupt { .. }), "{error}");
    let recovery = rebuild(&path);
    assert_eq!(recovery.whole, whole, "{recovery:?}");
    // Of tables that are gone the freed pages are read, as far as nothing is written there.
    assert!(recovery.salvaged == salvaged || salvaged == 0, "{recovery:?}");
    let there = there(&path);
    assert!(there.len() as u64 + 1 >= recovery.salvaged.max(salvaged), "{recovery:?}");
    assert!(!there.contains(&9) && !there.contains(&3));
    drop(open_or_rebuild(&path, NOW).expect("opens"));
    assert_eq!(set_aside_files(&path).expect("lists").len(), 1, "once");
}

#[test]
fn what_a_restore_replaced_is_taken_where_no_backup_is_newer() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = closed_store(&folder, true);
    let replaced = with_suffix(&path, ".replaced-2026-11-05T000000Z");
    fs_err::copy(&path, &replaced).expect("copies");
    overwrite(&path, 0..pages(&path));
    let error = Writer::open(&path).expect_err("is damaged").to_string();
    assert!(
        error.contains(&format!("the last restore is {}", replaced.display())),
        "{error}"
    );
    let recovery = rebuild(&path);
    assert_eq!(recovery.backup.as_ref(), Some(&replaced));
    assert_eq!(there(&path).len() as u64, STORED);
}
