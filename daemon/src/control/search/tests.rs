//! What a search tells, what it lacks without a model, and its pages.

use remembrancer_hooks::protocol::{Answer, Narrowing, Reply};
use remembrancer_schema::Writer;
use rstest::rstest;

use super::*;
use crate::sample_rows::{batch, turn};

fn reader() -> (tempfile::TempDir, Reader) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let mut writer = Writer::open(&path).unwrap();
    let turns = (1..=30)
        .map(|number| {
            let mut turn = turn(number, "/srv/shop");
            turn.episodes[0].prompt = format!("question {number}");
            turn.episodes[0].answer = format!(
                "{} the login test hangs {}",
                "word ".repeat(200),
                "word ".repeat(usize::from(number))
            );
            turn
        })
        .collect();
    writer.ingest(&batch(turns)).unwrap();
    drop(writer);
    (folder, Reader::open(&path).unwrap())
}

fn request(query: &str, mode: Asked) -> SearchRequest {
    SearchRequest {
        query: query.to_owned(),
        mode,
        ..SearchRequest::default()
    }
}

fn offline(reader: &Reader, request: &SearchRequest) -> Result<Value, ControlError> {
    search_offline(reader, Err(Degradation::NoModel), request, UnixMillis(1_000))
}

#[test]
fn a_result_tells_where_the_words_stand() {
    let (_folder, reader) = reader();
    let found = offline(&reader, &request("why does the login hang", Asked::Lexical)).unwrap();
    assert_eq!(
        (&found["mode"], &found["terms"], &found["found"]),
        (&json!("lexical"), &json!(["login", "hang"]), &json!(30))
    );
    let first = &found["results"][0];
    assert_eq!(
        (&first["field"], &first["asked"]),
        (&json!("answer"), &json!("question 1")),
        "the shortest text first"
    );
    let snippet: Vec<char> = first["snippet"].as_str().unwrap().chars().collect();
    let marked: Vec<String> = first["matches"]
        .as_array()
        .unwrap()
        .iter()
        .map(|mark| {
            snippet[mark[0].as_u64().unwrap() as usize..mark[1].as_u64().unwrap() as usize]
                .iter()
                .collect()
        })
        .collect();
    assert_eq!(marked, ["login", "hangs"]);
    assert!(snippet.len() <= SNIPPET);
    assert_eq!(
        (&first["ranks"]["bm25"], &first["ranks"]["vector"], &first["cosine"]),
        (&json!(1), &Value::Null, &Value::Null)
    );
}

#[test]
fn pages_are_of_one_order_and_end() {
    let (_folder, reader) = reader();
    let mut ids = Vec::new();
    let mut request = SearchRequest {
        limit: Some(7),
        ..request("login", Asked::Lexical)
    };
    loop {
        let page = offline(&reader, &request).unwrap();
        ids.extend(
            page["results"]
                .as_array()
                .unwrap()
                .iter()
                .map(|result| result["id"].as_str().unwrap().to_owned()),
        );
        match page["next"].as_u64() {
            Some(next) => request.offset = Some(next as u32),
            None => break,
        }
    }
    assert_eq!(ids.len(), 30);
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 30);
    let beyond = SearchRequest {
        offset: Some(999),
        ..request
    };
    let page = offline(&reader, &beyond).unwrap();
    assert_eq!((&page["results"], &page["next"]), (&json!([]), &Value::Null));
}

#[test]
fn without_a_model_a_hybrid_search_goes_by_words_and_says_so() {
    let (_folder, reader) = reader();
    let found = offline(&reader, &request("login", Asked::Hybrid)).unwrap();
    assert_eq!(
        (&found["mode"], &found["degradations"]),
        (&json!("lexical"), &json!(["no-model"]))
    );
    let error = offline(&reader, &request("login", Asked::Semantic)).unwrap_err().to_string();
    assert!(error.contains("no-model") && error.contains("lexical"), "{error}");
}

#[rstest]
#[case::nothing("  ")]
#[case::no_words("?!")]
fn a_query_without_words_is_refused(#[case] query: &str) {
    let (_folder, reader) = reader();
    assert!(matches!(
        offline(&reader, &request(query, Asked::Hybrid)),
        Err(ControlError::Senseless(_))
    ));
}

#[test]
fn time_narrows_a_search() {
    let (_folder, reader) = reader();
    let narrowed = SearchRequest {
        narrowing: Narrowing {
            since_ms: Some(29),
            ..Narrowing::default()
        },
        ..request("login", Asked::Lexical)
    };
    assert_eq!(offline(&reader, &narrowed).unwrap()["found"], 2);
}

#[test]
fn the_largest_page_fits_into_a_reply() {
    let (_folder, reader) = reader();
    let most = SearchRequest {
        limit: Some(u32::MAX),
        ..request("login", Asked::Lexical)
    };
    let found = offline(&reader, &most).unwrap();
    let of_a_result = Reply::from(Answer::done(found)).to_line().unwrap().len() / 30;
    // Six bytes for each character of a text, where it can't be written otherwise.
    assert!(of_a_result * 6 * MOST_RESULTS < remembrancer_hooks::protocol::MAX_REPLY_BYTES);
}
