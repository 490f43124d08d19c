//! Ingest step by step, against a store in a folder of its own.

use std::io::Write;

use remembrancer_processor::ingest::Agent;
use remembrancer_schema::{ForgetTarget, Reader, refuse_project};
use rstest::rstest;
use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::roots::{Root, Roots};
use crate::source_file::CHUNK_BYTES;
use crate::store::Store;

mod databases;
mod folders;
mod hints;

/// A store, and transcripts beside it.
struct Place {
    folder: TempDir,
    store: Store,
    progress: Arc<Progress>,
    mailbox: Arc<Mailbox>,
    codes: SharedCodes,
    exclusions: Exclusions,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs_err::create_dir(folder.path().join("projects")).unwrap();
        let database = folder.path().join("store/memory.db");
        let progress = Arc::default();
        let store = Store::start(Writer::open(&database).unwrap(), &database, &progress).unwrap();
        Self {
            folder,
            store,
            progress,
            mailbox: Arc::default(),
            codes: SharedCodes::new(8),
            exclusions: Exclusions::default(),
        }
    }

    fn reader(&self) -> Reader {
        Reader::open(&self.folder.path().join("store/memory.db")).unwrap()
    }

    /// Ingest as a start of the daemon makes it.
    fn start(&self) -> Ingest {
        Ingest::new(IngestSetup {
            due: Arc::default(),
            codes: self.codes.clone(),
            roots: Roots::new(vec![
                Root {
                    agent: Agent::CLAUDE_CODE,
                    folder: self.folder.path().join("projects"),
                    flat: false,
                },
                Root {
                    agent: Agent::parse("cline").unwrap(),
                    folder: self.folder.path().join("tasks"),
                    flat: false,
                },
                Root {
                    agent: Agent::parse("opencode").unwrap(),
                    folder: self.folder.path().join("opencode"),
                    flat: true,
                },
                Root {
                    agent: Agent::parse("cursor").unwrap(),
                    folder: self.folder.path().join("cursor/projects"),
                    flat: false,
                },
                Root {
                    agent: Agent::parse("cursor").unwrap(),
                    folder: self.folder.path().join("cursor/store"),
                    flat: true,
                },
            ]),
            exclusions: self.exclusions.clone(),
            newest: None,
            rescan: Duration::from_mins(10),
            politeness: Politeness::new(1.0),
            folders: Folders::default(),
            known: self.reader().sources().unwrap().into_iter().map(KnownFile::from).collect(),
            writer: self.store.writer.clone(),
            background: self.store.background.clone(),
            feedback: Feedback {
                background: self.store.background.clone(),
                writer: self.store.writer.clone(),
                progress: Arc::clone(&self.progress),
            },
            progress: Arc::clone(&self.progress),
            conversations: Arc::default(),
            mailbox: Arc::clone(&self.mailbox),
        })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("projects").join(name)
    }

    /// Puts `content` in place of what the file held.
    fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.path(name);
        fs_err::write(&path, content).unwrap();
        path
    }

    /// The numbers of the turns that are stored, see [`turn`].
    fn turns(&self) -> Vec<u32> {
        let reader = self.reader();
        let texts = reader.texts(&reader.episodes_of(&ForgetTarget::All).unwrap()).unwrap();
        let mut numbers: Vec<u32> = texts
            .iter()
            .filter_map(|text| text.prompt.split("case").nth(1)?.split(' ').next()?.parse().ok())
            .collect();
        numbers.sort_unstable();
        numbers
    }
}

#[test]
fn of_a_folder_that_the_user_keeps_out_not_even_the_project_is_stored() {
    let place = Place::new();
    let excluded = place
        .store
        .writer
        .call_blocking(|writer| writer.exclude_path("/srv/shop", clock::now()))
        .unwrap();
    excluded.unwrap();
    let path = place.write("a.jsonl", &turn(1));
    read(&mut place.start(), &path);
    assert_eq!(place.turns(), [0; 0]);
    assert_eq!(place.reader().projects().unwrap(), []);
    assert_eq!(place.reader().project_by_key("cwd:/srv/shop").unwrap(), None);
    // One that is let in has its project, told to whoever writes its instruction files.
    let other = place.write("b.jsonl", &turn(2).replace("/srv/shop", "/srv/other"));
    read(&mut place.start(), &other);
    assert_eq!(place.reader().projects().unwrap().len(), 1);
}

#[test]
fn while_it_is_paused_no_project_is_stored() {
    let place = Place::new();
    place.progress.set_paused(Some(remembrancer_schema::Pause::Indefinite));
    let path = place.write("a.jsonl", &turn(1));
    let mut ingest = place.start();
    assert!(matches!(ingest.advance(&path), Err(IngestError::Paused)));
    assert_eq!(place.reader().projects().unwrap(), []);
}

fn append(path: &Path, content: &str) {
    let mut file = fs_err::OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(content.as_bytes()).unwrap();
}

fn record(kind: &str, number: u32, text: &str) -> String {
    let record = json!({
        "type": kind, "uuid": format!("{kind}-{number}"), "sessionId": "live", "cwd": "/srv/shop", "isSidechain": false,
        "timestamp": format!("2026-08-01T{:02}:{:02}:00.000Z", number / 60, number % 60),
        "message": {"id": format!("message-{number}"), "role": kind, "content": [{"type": "text", "text": text}]},
    });
    format!("{record}\n")
}

/// A turn worth remembering.
fn turn(number: u32) -> String {
    let prompt = format!("Why does the parser of case{number} drop its last entry after an upgrade?");
    let answer = format!("The parser of case {number} kept an old handle. It has a bounded queue now, and a test.");
    record("user", number, &prompt) + &record("assistant", number, &answer)
}

/// `chunks` chunks that tell nothing.
fn padding(chunks: usize) -> String {
    let line = json!({"type": "file-history-snapshot", "snapshot": "x".repeat(CHUNK_BYTES / 32)}).to_string() + "\n";
    line.repeat(32 * chunks)
}

/// Reads a file to its end.
fn read(ingest: &mut Ingest, path: &Path) {
    while !ingest.advance(path).unwrap() {}
}

#[test]
fn a_project_that_was_forgotten_is_resolved_anew() {
    for told in [true, false] {
        let place = Place::new();
        let path = place.write("a.jsonl", &turn(1));
        let mut ingest = place.start();
        read(&mut ingest, &path);
        let forgotten = place
            .store
            .writer
            .call_blocking(|writer| writer.forget(&ForgetTarget::All, clock::now()))
            .unwrap();
        assert_eq!(forgotten.unwrap().episodes, 1);
        append(&path, &turn(2));
        if told {
            place.mailbox.forget_projects();
            place.mailbox.stop();
            assert!(place.mailbox.take(Duration::ZERO).forget_projects);
            ingest.projects.clear();
            assert!(ingest.advance(&path).unwrap());
        } else {
            read(&mut ingest, &path);
        }
        assert_eq!(place.turns(), [2]);
        assert_eq!(place.progress.problems(), [""; 0]);
    }
}

#[test]
fn what_the_store_refuses_is_left_out_and_the_others_go_on() {
    let place = Place::new();
    let (bad, good) = (place.write("bad.jsonl", &turn(1)), place.write("good.jsonl", &turn(2)));
    let mut ingest = place.start();
    let error = QueryError::Invalid {
        act: "store a batch",
        detail: "for the test".to_owned(),
    };
    assert!(!ingest.refuse(&bad, &error), "it is tried once more");
    assert_eq!(place.progress.problems(), [""; 0]);
    assert!(ingest.refuse(&bad, &error));
    ingest.take_changed([bad.clone(), good]).unwrap();
    assert_eq!(place.turns(), [2]);
    assert_eq!(place.progress.problems().len(), 1);
    // And one day it is gone.
    fs_err::remove_file(&bad).unwrap();
    ingest.scan();
    assert_eq!(place.progress.problems(), [""; 0]);
    let bad = place.write("bad.jsonl", &turn(3));
    read(&mut ingest, &bad);
    assert_eq!(place.turns(), [2, 3]);
}

#[test]
fn a_file_that_the_store_refuses_does_not_hold_up_those_stored_with_it() {
    let place = Place::new();
    let bad = place.write("bad.jsonl", &turn(1).replace("/srv/shop", "/srv/gone"));
    let good = place.write("good.jsonl", &turn(2));
    let mut ingest = place.start();
    let database = place.folder.path().join("store/memory.db");
    refuse_project(&database, Some("/srv/gone"));
    ingest.backfill.extend([bad, good]);
    ingest.take_from_backfill().unwrap();
    assert_eq!(place.turns(), [2]);
    refuse_project(&database, None);
    ingest.take_from_backfill().unwrap();
    assert_eq!(place.turns(), [1, 2]);
    assert_eq!(place.progress.problems(), [""; 0]);
}

#[test]
fn small_files_of_the_backfill_are_stored_together() {
    let place = Place::new();
    let paths: Vec<PathBuf> = (1..=5)
        .map(|number| place.write(&format!("{number}.jsonl"), &turn(number)))
        .collect();
    let mut ingest = place.start();
    ingest.backfill.extend(paths);
    ingest.take_from_backfill().unwrap();
    assert_eq!(place.turns(), [1, 2, 3, 4, 5]);
    assert!(ingest.backfill.is_empty());
}

#[test]
fn a_rest_forgets_what_was_remembered() {
    let place = Place::new();
    let path = place.write("a.jsonl", &turn(1));
    let mut ingest = place.start();
    read(&mut ingest, &path);
    assert!(!ingest.projects.is_empty());
    let rest = ingest.rest_after(&IngestError::Gone(NoAnswer::Busy));
    assert_eq!((rest, ingest.projects.len(), ingest.open.len()), (AFTER_FAILURE, 0, 0));
}

#[test]
fn tc_11_a_rewind_is_done_though_it_was_interrupted() {
    let place = Place::new();
    let kept = turn(1) + &padding(2);
    let path = place.write("a.jsonl", &(kept.clone() + &turn(2) + &turn(3)));
    let mut ingest = place.start();
    read(&mut ingest, &path);
    assert_eq!(place.turns(), [1, 2, 3]);
    place.write("a.jsonl", &(kept + &turn(4)));
    assert!(!ingest.advance(&path).unwrap(), "there is more to read");
    assert_eq!(place.turns(), [1, 2, 3]);
    drop(ingest);
    read(&mut place.start(), &path);
    assert_eq!(place.turns(), [1, 4]);
}

#[test]
fn tc_11_a_rewind_takes_nothing_back_of_the_file_that_was_replaced() {
    let place = Place::new();
    let path = place.write("a.jsonl", &(turn(1) + &turn(2)));
    let mut ingest = place.start();
    read(&mut ingest, &path);
    let other = turn(10) + &turn(11);
    place.write("a.jsonl", &(other.clone() + &turn(12) + &turn(13)));
    read(&mut ingest, &path);
    assert_eq!(place.turns(), [1, 2, 10, 11, 12, 13]);
    place.write("a.jsonl", &(other + &turn(14)));
    read(&mut ingest, &path);
    assert_eq!(place.turns(), [1, 2, 10, 11, 14]);
}

#[rstest]
#[case::it_stays_so("")]
#[case::it_grows(&turn(5))]
fn tc_11_a_rewind_to_the_first_turn_is_no_other_file(#[case] more: &str) {
    let place = Place::new();
    let path = place.write("a.jsonl", &(turn(1) + &turn(2) + &turn(3) + &turn(4)));
    let mut ingest = place.start();
    read(&mut ingest, &path);
    place.write("a.jsonl", &(turn(1) + more));
    read(&mut ingest, &path);
    assert_eq!(place.turns(), if more.is_empty() { vec![1] } else { vec![1, 5] });
}

#[test]
fn tc_11_a_file_that_was_rewritten_is_not_taken_for_one_to_read_again() {
    let place = Place::new();
    let kept = turn(1) + &turn(2) + &turn(3);
    let path = place.write("a.jsonl", &(kept.clone() + &turn(4)));
    let mut ingest = place.start();
    read(&mut ingest, &path);
    place.write("a.jsonl", &(kept + &turn(5)));
    ingest.begin_reread(1);
    read(&mut ingest, &path);
    assert_eq!(place.turns(), [1, 2, 3, 5]);
    assert!(ingest.reread.is_empty());
}

#[test]
fn tc_01_a_half_line_that_was_cut_is_not_joined_with_what_follows() {
    let place = Place::new();
    let torn = record("user", 2, "Why does the parser of case2 lose the time zone after an upgrade?");
    let torn = &torn[..torn.len() / 2];
    let path = place.write("a.jsonl", &(turn(1) + torn));
    let mut ingest = place.start();
    read(&mut ingest, &path);
    place.write("a.jsonl", &(turn(1) + &turn(3) + &turn(4)));
    read(&mut ingest, &path);
    assert_eq!(place.turns(), [1, 3, 4]);
    let source = place.reader().sources().unwrap().remove(0);
    assert_eq!((source.skipped, source.generation), (0, 0));
    // One that is still there gets its rest.
    let whole = record("user", 5, "Why does the parser of case5 lose the time zone after an upgrade?");
    let (torn, rest) = whole.split_at(whole.len() / 2);
    append(&path, torn);
    read(&mut ingest, &path);
    append(&path, rest);
    append(
        &path,
        &record(
            "assistant",
            5,
            "The parser of case 5 kept an old handle, and has a new one now.",
        ),
    );
    read(&mut ingest, &path);
    assert_eq!(place.turns(), [1, 3, 4, 5]);
}

#[test]
fn tc_11_codes_that_are_loaded_meanwhile_do_not_bring_back_what_a_rewind_took() {
    let place = Place::new();
    let kept = turn(1) + &turn(2) + &turn(3);
    let path = place.write("a.jsonl", &(kept.clone() + &turn(4)));
    let mut ingest = place.start();
    read(&mut ingest, &path);
    let ids = place.reader().episodes_of(&ForgetTarget::All).unwrap();
    place.write("a.jsonl", &(kept + &turn(5)));
    // A load that has read the store already, and puts the codes in place only after the rewind is stored.
    let (taken_back, told) = std::sync::mpsc::channel();
    let codes = place.codes.clone();
    let load = move |_: &mut Reader| {
        told.recv().unwrap();
        let mut index = codes.index().write().unwrap();
        for id in ids {
            index.insert(id, None, &[0]);
        }
    };
    let loading = place.store.background.offer(load).unwrap();
    std::thread::scope(|scope| {
        let (taken_back, patience) = (taken_back, Deadline::after(Duration::from_mins(1)));
        scope.spawn(|| read(&mut ingest, &path));
        while place.turns() != [1, 2, 3, 5] {
            assert!(!patience.has_passed());
            std::thread::yield_now();
        }
        taken_back.send(()).unwrap();
    });
    loading.blocking_recv().unwrap();
    assert_eq!(place.codes.index().read().unwrap().len(), 3);
}

#[test]
fn a_large_live_file_waits_in_the_backfill() {
    let place = Place::new();
    let large = place.write("large.jsonl", &(turn(1) + &padding(LIVE_STEPS) + &turn(2)));
    let small = place.write("small.jsonl", &turn(3));
    let mut ingest = place.start();
    ingest.backfill.extend([small.clone(), large.clone()]);
    ingest.take_changed([large.clone()]).unwrap();
    assert_eq!(ingest.backfill, [large.clone(), small.clone()]);
    ingest.take_changed([small]).unwrap();
    assert_eq!(place.turns(), [1, 3]);
    ingest.take_from_backfill().unwrap();
    assert_eq!(place.turns(), [1, 2, 3]);
}

#[test]
fn a_live_file_is_left_where_it_is_at_a_stop_or_a_pause() {
    let place = Place::new();
    let path = place.write("a.jsonl", &turn(1));
    let mut ingest = place.start();
    place.progress.set_paused(Some(remembrancer_schema::Pause::Indefinite));
    ingest.take_changed([path.clone()]).unwrap();
    assert_eq!(place.turns(), [0; 0]);
    place.progress.set_paused(None);
    place.mailbox.stop();
    ingest.take_changed([path]).unwrap();
    assert_eq!(place.turns(), [0; 0]);
}

#[test]
fn a_file_that_is_gone_is_marked_and_one_that_is_back_again() {
    let place = Place::new();
    let path = place.write("a.jsonl", &turn(1));
    let mut ingest = place.start();
    read(&mut ingest, &path);
    for (there, missing) in [(false, 1), (true, 0)] {
        if there {
            place.write("a.jsonl", &turn(1));
        } else {
            fs_err::remove_file(&path).unwrap();
        }
        ingest.scan();
        assert_eq!(ingest.known[&path].missing, !there);
        assert_eq!(place.reader().stats().unwrap().missing_sources, missing);
    }
}
