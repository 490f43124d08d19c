//! Pages of turns and sessions: whole, in order, and bounded, whatever narrows them.

use remembrancer_hooks::protocol::Narrowing;
use remembrancer_schema::{SessionKey, UnixMillis, Writer};
use rstest::rstest;

use super::super::looking::LONGEST_LINE;
use super::*;
use crate::sample_rows::{batch, turn};

/// Nine turns in three sessions, at the milliseconds 1 to 9.
fn reader() -> (tempfile::TempDir, Reader) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let mut writer = Writer::open(&path).unwrap();
    let turns = (1..=9)
        .map(|number| {
            let mut turn = turn(number, "/srv/shop");
            turn.session = SessionKey {
                agent: "claude-code".to_owned(),
                external_id: format!("s{}", number % 3),
            };
            turn.episodes[0].prompt = format!("question {number}");
            turn
        })
        .collect();
    writer.ingest(&batch(turns)).unwrap();
    drop(writer);
    (folder, Reader::open(&path).unwrap())
}

fn asked(page: &Value) -> Vec<String> {
    let turns = page["turns"].as_array().unwrap();
    turns
        .iter()
        .map(|turn| turn["asked"].as_str().unwrap().replace("question ", ""))
        .collect()
}

fn page(reader: &Reader, change: impl FnOnce(&mut TimelineRequest)) -> Value {
    let mut request = TimelineRequest {
        limit: Some(4),
        ..TimelineRequest::default()
    };
    change(&mut request);
    timeline(reader, &request).unwrap()
}

#[test]
fn a_timeline_is_paged_both_ways() {
    let (_folder, reader) = reader();
    let last = page(&reader, |_| ());
    assert_eq!((asked(&last).join(" ").as_str(), &last["newer"]), ("6 7 8 9", &Value::Null));
    let older = page(&reader, |request| request.before = last["older"].as_str().map(str::to_owned));
    assert_eq!(asked(&older), ["2", "3", "4", "5"]);
    let newer = page(&reader, |request| request.after = older["newer"].as_str().map(str::to_owned));
    assert_eq!(asked(&newer), asked(&last));
    assert_eq!(newer["newer"], Value::Null);
    let first = page(&reader, |request| request.before = older["older"].as_str().map(str::to_owned));
    assert_eq!((asked(&first).join(" ").as_str(), &first["older"]), ("1", &Value::Null));
}

#[test]
fn around_a_turn_it_stands_in_the_middle() {
    let (_folder, reader) = reader();
    let all = page(&reader, |request| request.limit = Some(9));
    let fifth = all["turns"][4]["id"].as_str().unwrap().to_owned();
    let around = page(&reader, |request| request.around = Some(fifth.clone()));
    assert_eq!(
        (asked(&around).join(" ").as_str(), around["around"].as_str()),
        ("3 4 5 6", Some(fifth.as_str()))
    );
    assert!(around["older"].is_string() && around["newer"].is_string());
    for limit in [1, 2] {
        let around = page(&reader, |request| {
            request.around = Some(fifth.clone());
            request.limit = Some(limit);
        });
        assert!(
            around["older"].is_string() && around["newer"].is_string(),
            "{limit}: {around}"
        );
    }
    let whole = page(&reader, |request| {
        request.around = Some(fifth);
        request.limit = Some(99);
    });
    assert_eq!(
        (asked(&whole).len(), &whole["older"], &whole["newer"]),
        (9, &Value::Null, &Value::Null)
    );
}

#[test]
fn a_page_is_of_one_place_only() {
    let (_folder, reader) = reader();
    let request = TimelineRequest {
        before: Some("5-5".to_owned()),
        after: Some("5-5".to_owned()),
        ..TimelineRequest::default()
    };
    assert!(matches!(timeline(&reader, &request), Err(ControlError::Senseless(_))));
    let unknown = TimelineRequest {
        around: Some("ffff".to_owned()),
        ..TimelineRequest::default()
    };
    assert!(matches!(timeline(&reader, &unknown), Err(ControlError::Unknown(_))));
}

#[rstest]
#[case::all(Narrowing::default(), &["s0", "s2", "s1"])]
#[case::early(Narrowing { until_ms: Some(3), ..Narrowing::default() }, &["s2", "s1"])]
#[case::none(Narrowing { since_ms: Some(99), ..Narrowing::default() }, &[])]
fn sessions_are_paged_latest_first(#[case] narrowing: Narrowing, #[case] expected: &[&str]) {
    let (_folder, reader) = reader();
    let mut request = SessionsRequest {
        narrowing,
        limit: Some(1),
        before: None,
    };
    let mut found = Vec::new();
    loop {
        let page = sessions(&reader, &request).unwrap();
        found.extend(
            page["sessions"]
                .as_array()
                .unwrap()
                .iter()
                .map(|session| session["id"].as_str().unwrap().to_owned()),
        );
        match page["older"].as_str() {
            Some(place) => request.before = Some(place.to_owned()),
            None => break,
        }
    }
    assert_eq!(found, expected);
}

#[test]
fn a_session_is_told_by_its_ends_and_its_first_question() {
    let (_folder, reader) = reader();
    let page = sessions(&reader, &SessionsRequest::default()).unwrap();
    let first = &page["sessions"][0];
    assert_eq!(
        (&first["turns"], &first["asked"], &first["agent"]),
        (&json!(3), &json!("question 3"), &json!("claude-code"))
    );
    assert_eq!(first["begin"], super::rfc3339(UnixMillis(3)));
}

/// A line of the longest that there can be, in JSON, times all that a page may hold.
#[test]
fn the_largest_page_fits_into_a_reply() {
    let line = LONGEST_LINE * 6 + 2 * 256 + 400 + 200;
    assert!(MOST_TURNS * line < remembrancer_hooks::protocol::MAX_REPLY_BYTES);
    assert!(MOST_SESSIONS * 2 * line < remembrancer_hooks::protocol::MAX_REPLY_BYTES);
}
