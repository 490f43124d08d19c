//! What a hint of the watcher leads to: when a document is read, by which path a file, and when everything is looked at.

use super::*;

/// A document of as many prompts, `torn` records among them that can't be read.
fn document(place: &Place, prompts: u32, torn: u32) -> PathBuf {
    let said = |number: u32| json!({"ts": 1_772_380_000_000_u64 + u64::from(number), "type": "say", "say": "user_feedback", "text": format!("Why does the parser of case{number} drop its last entry?")});
    let records = (0..prompts).map(|number| said(number).to_string());
    let records: Vec<String> = records.chain((0..torn).map(|_| "7".to_owned())).collect();
    let path = place.folder.path().join("tasks/1/ui_messages.json");
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(&path, format!("[{}]", records.join(","))).unwrap();
    path
}

/// The records that are counted of a source.
fn records(place: &Place, path: &Path) -> Option<(u64, u64)> {
    let source = place.reader().source(&path.to_string_lossy()).unwrap()?;
    Some((source.records, source.skipped))
}

#[test]
fn a_document_that_is_written_again_and_again_is_read_once_in_a_while() {
    let place = Place::new();
    let path = document(&place, 1, 0);
    let mut ingest = place.start();
    ingest.take_changed([path.clone()]).unwrap();
    let until = ingest.waiting[&path];
    ingest.take_changed([path.clone()]).unwrap();
    assert_eq!(ingest.waiting[&path], until, "another change does not put it off");
    ingest.end_waiting(false);
    let rest = ingest.take_from_backfill().unwrap();
    assert!(rest <= DOCUMENT_WAIT);
    assert_eq!(records(&place, &path), None);
    ingest.waiting.insert(path.clone(), Deadline::after(Duration::ZERO));
    ingest.end_waiting(false);
    ingest.take_from_backfill().unwrap();
    assert!(records(&place, &path).is_some() && ingest.waiting.is_empty());
    assert_eq!(ingest.open.len(), 0, "it is never gone on with");
}

#[test]
fn a_document_is_read_at_once_where_somebody_waits_for_it() {
    let place = Place::new();
    let path = document(&place, 1, 0);
    let mut ingest = place.start();
    ingest.take_changed([path.clone()]).unwrap();
    ingest.end_waiting(true);
    ingest.take_from_backfill().unwrap();
    assert!(records(&place, &path).is_some());
}

#[test]
fn what_a_document_holds_is_counted_as_it_stands() {
    let place = Place::new();
    let mut ingest = place.start();
    for (prompts, torn) in [(1, 0), (4, 2), (4, 2), (2, 1)] {
        let path = document(&place, prompts, torn);
        read(&mut ingest, &path);
        let expected = (u64::from(prompts + torn), u64::from(torn));
        assert_eq!(records(&place, &path), Some(expected));
        let problems = place.reader().stats().unwrap().problems;
        assert_eq!(problems.iter().map(|problem| problem.count).sum::<u64>(), expected.1);
    }
}

#[test]
fn a_file_that_is_told_by_another_path_is_no_other_source() {
    let place = Place::new();
    let path = place.write("a.jsonl", &turn(1));
    fs_err::os::unix::fs::symlink(&path, place.path("b.jsonl")).unwrap();
    fs_err::create_dir(place.path("x")).unwrap();
    let mut ingest = place.start();
    ingest
        .take_changed([place.path("b.jsonl"), place.path("x/../a.jsonl")])
        .unwrap();
    let sources: Vec<String> = place
        .reader()
        .sources()
        .unwrap()
        .into_iter()
        .map(|source| source.path)
        .collect();
    assert_eq!(sources, [path.to_string_lossy()]);
}

#[test]
fn hints_are_followed_by_one_look_at_everything_after_a_while() {
    let place = Place::new();
    let mut ingest = place.start();
    ingest.scan_where_due(true);
    ingest.settled = Deadline::after(Duration::from_mins(1));
    let path = place.write("a.jsonl", &turn(1));
    ingest.scan_where_due(true);
    assert!(ingest.backfill.is_empty());
    assert_eq!(ingest.next_scan, ingest.settled);
    // Somebody who waits for all that is on disk does not wait for that.
    ingest.flushes.push(tokio::sync::oneshot::channel().0);
    ingest.scan_where_due(true);
    assert_eq!(ingest.backfill, [path]);
}
