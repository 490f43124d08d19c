use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use rstest::rstest;
use tempfile::TempDir;

use super::*;

const CORPUS: &str = r#"{"_id":"d1","text":"We moved the cache to Redis.","session":"s1","timestamp":"2023-05-08T13:58:30","project":"p"}
{"_id":"d2","title":"Tea","text":"Green is best.","session":null,"timestamp":null}

{"_id":"d3","title":"","text":"Nothing."}
"#;
const QUERIES: &str = r#"{"_id":"q1","text":"Where is the cache?","category":"single-hop","timestamp":"2023-06-01T00:00:00","project":"p","answer":"Redis"}
{"_id":"q2","text":"Which coffee?"}
"#;
const QRELS: &str = "query\tdoc\tgrade\nq1\td1\t2\nq1\td2\t0\nq1\td3\t-1\n";

/// A folder with `files` over a set that is whole; an empty text removes a file.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    let whole = [("corpus.jsonl", CORPUS), ("queries.jsonl", QUERIES), ("qrels.tsv", QRELS)];
    for (name, text) in whole.iter().chain(files) {
        let path = folder.path().join(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        if text.is_empty() {
            fs_err::remove_file(&path).unwrap();
        } else if path.extension().unwrap() == "gz" {
            let mut encoder = GzEncoder::new(fs_err::File::create(&path).unwrap(), Compression::fast());
            encoder.write_all(text.as_bytes()).unwrap();
            encoder.finish().unwrap();
        } else {
            fs_err::write(&path, text).unwrap();
        }
    }
    folder
}

fn check_whole(dataset: &Dataset) {
    let texts: Vec<&str> = dataset.documents.iter().map(|document| document.text.as_str()).collect();
    assert_eq!(texts, ["We moved the cache to Redis.", "Tea\nGreen is best.", "Nothing."]);
    assert_eq!(dataset.documents[0].timestamp, Some(UnixMillis(1_683_554_310_000)));
    assert_eq!(dataset.documents[0].session.as_deref(), Some("s1"));
    assert_eq!(dataset.queries[0].category.as_deref(), Some("single-hop"));
    assert_eq!(dataset.queries[0].project.as_deref(), Some("p"));
    assert_eq!(dataset.queries[0].relevant, BTreeMap::from([(0, 2)]));
}

#[test]
fn a_folder_becomes_a_set() {
    let folder = folder(&[("qrels.session.tsv", "query\tsession\tgrade\nq1\ts1\t1\n")]);
    let dataset = Dataset::load(folder.path()).unwrap();
    check_whole(&dataset);
    assert_eq!(dataset.name, folder.path().file_name().unwrap().to_str().unwrap());
    assert_eq!(dataset.queries[0].relevant_sessions, BTreeSet::from(["s1".to_owned()]));
    assert!(dataset.queries[1].relevant.is_empty(), "a query without an answer stays");
}

#[test]
fn compressed_files_are_read() {
    let folder = folder(&[
        ("corpus.jsonl", ""),
        ("queries.jsonl", ""),
        ("qrels.tsv", ""),
        ("corpus.jsonl.gz", CORPUS),
        ("queries.jsonl.gz", QUERIES),
        ("qrels.tsv.gz", QRELS),
    ]);
    check_whole(&Dataset::load(folder.path()).unwrap());
}

#[test]
fn beir_s_split_names_the_queries_that_count() {
    let folder = folder(&[("qrels.tsv", ""), ("qrels/test.tsv", QRELS)]);
    let dataset = Dataset::load(folder.path()).unwrap();
    check_whole(&dataset);
    assert_eq!(dataset.queries.len(), 1);
}

#[test]
fn windows_line_ends_do_no_harm() {
    let folder = folder(&[("qrels.tsv", "query\tdoc\tgrade\r\nq1\td1\t2\r\n")]);
    check_whole(&Dataset::load(folder.path()).unwrap());
}

#[rstest]
#[case::not_json(
    "corpus.jsonl",
    "{\"_id\":\"d1\",\"text\":\"x\"}\n\n{oops\n",
    3,
    "key must be a string; each line is a JSON object"
)]
#[case::no_text("corpus.jsonl", "{\"_id\":\"d1\"}\n", 1, "missing field `text`; each line")]
#[case::no_id("queries.jsonl", "{\"text\":\"x\"}\n", 1, "missing field `_id`; each line")]
#[case::same_document(
    "corpus.jsonl",
    "{\"_id\":\"d1\",\"text\":\"x\"}\n{\"_id\":\"d1\",\"text\":\"y\"}\n",
    2,
    "the _id `d1` stands"
)]
#[case::same_query(
    "queries.jsonl",
    "{\"_id\":\"q\",\"text\":\"x\"}\n{\"_id\":\"q\",\"text\":\"y\"}\n",
    2,
    "the _id `q` stands"
)]
#[case::asks_nothing("queries.jsonl", "{\"_id\":\"q\",\"text\":\" \"}\n", 1, "the query `q` has no text")]
#[case::time(
    "corpus.jsonl",
    "{\"_id\":\"d1\",\"text\":\"x\",\"timestamp\":\"May\"}\n",
    1,
    "the timestamp `May` is not"
)]
#[case::unknown_document(
    "qrels.tsv",
    "query\tdoc\tgrade\nq1\td1\t1\nq1\td9\t1\n",
    3,
    "no document `d9` in the corpus"
)]
#[case::unknown_query("qrels.tsv", "query\tdoc\tgrade\nq9\td1\t1\n", 2, "no query `q9` among")]
#[case::grade("qrels.tsv", "query\tdoc\tgrade\nq1\td1\tyes\n", 2, "the grade `yes` is not")]
#[case::columns("qrels.tsv", "query\tdoc\tgrade\nq1 d1 1\n", 2, "1 columns instead of three")]
#[case::judged_twice(
    "qrels.tsv",
    "query\tdoc\tgrade\nq1\td1\t1\nq1\td1\t0\n",
    3,
    "`q1` and `d1` are judged in an earlier line"
)]
#[case::header("qrels.tsv", "q1\td1\t1\n", 1, "the first line names the columns")]
#[case::unknown_session(
    "qrels.session.tsv",
    "query\tdoc\tgrade\nq1\ts9\t1\n",
    2,
    "no document of the corpus is of session `s9`"
)]
fn a_line_that_is_wrong_is_named(#[case] file: &str, #[case] text: &str, #[case] line: usize, #[case] problem: &str) {
    let folder = folder(&[(file, text)]);
    let error = Dataset::load(folder.path()).unwrap_err().to_string();
    let expected = format!("{}:{line}: {problem}", folder.path().join(file).display());
    assert!(error.starts_with(&expected), "{error}\n{expected}");
}

#[rstest]
#[case::corpus("corpus.jsonl", "no corpus.jsonl (plain or .gz)")]
#[case::queries("queries.jsonl", "no queries.jsonl (plain or .gz)")]
#[case::qrels("qrels.tsv", "no qrels.tsv or qrels/test.tsv (plain or .gz)")]
fn a_file_that_is_missing_is_named(#[case] file: &str, #[case] problem: &str) {
    let folder = folder(&[(file, "")]);
    let error = Dataset::load(folder.path()).unwrap_err().to_string();
    assert!(error.contains(problem), "{error}");
}

#[test]
fn bytes_that_are_no_text_are_named() {
    let folder = folder(&[]);
    let path = folder.path().join("queries.jsonl");
    fs_err::write(&path, b"\n{\"_id\":\"q1\",\"text\":\"\xFF\"}\n").unwrap();
    let error = Dataset::load(folder.path()).unwrap_err().to_string();
    assert!(error.contains(":2: the line is not UTF-8"), "{error}");
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_first_line() {
    let marked = |text: &str| format!("\u{FEFF}{text}");
    let files = [("corpus.jsonl", CORPUS), ("queries.jsonl", QUERIES), ("qrels.tsv", QRELS)];
    let files = files.map(|(name, text)| (name, marked(text)));
    let folder = folder(&files.each_ref().map(|(name, text)| (*name, text.as_str())));
    check_whole(&Dataset::load(folder.path()).unwrap());
}

#[test]
fn a_set_that_judges_nothing_is_refused() {
    let folder = folder(&[("qrels.tsv", "query\tdoc\tgrade\nq1\td1\t0\n")]);
    let error = Dataset::load(folder.path()).unwrap_err();
    assert!(
        matches!(&error, DatasetError::NoJudgements { path } if path.ends_with("qrels.tsv")),
        "{error}"
    );
}

#[test]
fn a_damaged_archive_is_an_error_with_its_cause() {
    let folder = folder(&[("corpus.jsonl", "")]);
    fs_err::write(folder.path().join("corpus.jsonl.gz"), b"no archive").unwrap();
    let error = Dataset::load(folder.path()).unwrap_err();
    assert!(matches!(error, DatasetError::Read { .. }), "{error}");
}
