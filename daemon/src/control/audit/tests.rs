use std::path::PathBuf;

use remembrancer_schema::{EmbeddedEpisode, EpisodeUid, Reader, TurnUid, Writer};
use tempfile::TempDir;

use super::*;
use crate::sample_rows::{batch, turn};

const MODEL: &str = "model";
const LONG: Duration = Duration::from_mins(1);

struct Store {
    _folder: TempDir,
    path: PathBuf,
    writer: Writer,
}

impl Store {
    /// Turns with these prompts, one after another.
    fn of(prompts: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store/memory.db");
        let mut writer = Writer::open(&path).unwrap();
        let turns = prompts.iter().zip(1..).map(|(prompt, number)| {
            let mut turn = turn(number, "/home/ada/shop");
            turn.episodes[0].prompt = (*prompt).to_owned();
            turn
        });
        writer.ingest(&batch(turns.collect())).unwrap();
        Self {
            _folder: folder,
            path,
            writer,
        }
    }

    /// Gives each episode, in the order of ids, one of these vectors.
    fn embed(&mut self, vectors: &[Vec<f32>]) {
        self.writer.set_embedding_model(MODEL, vectors[0].len()).unwrap();
        let mut rows = self.reader().embedding_backlog(MODEL, 100).unwrap();
        rows.sort_by_key(|row| row.id);
        let rows: Vec<EmbeddedEpisode> = rows
            .into_iter()
            .zip(vectors)
            .map(|(row, vector)| EmbeddedEpisode {
                id: row.id,
                content_hash: row.content_hash,
                vector: vector.clone(),
            })
            .collect();
        self.writer.store_embeddings(MODEL, &rows).unwrap();
    }

    fn reader(&self) -> Reader {
        Reader::open(&self.path).unwrap()
    }

    fn audit(&self) -> Value {
        audit(&self.reader(), LONG, &mut |_| {}).unwrap()
    }
}

/// The short id of the episode of turn `number`.
fn id(number: u8) -> String {
    EpisodeUid::of(&TurnUid([number; 16]), 0).short()
}

fn finding<'a>(audit: &'a Value, kind: &str) -> &'a Value {
    let findings = audit["findings"].as_array().unwrap();
    findings
        .iter()
        .find(|finding| finding["kind"] == kind)
        .unwrap_or_else(|| panic!("no {kind} in {audit:#}"))
}

/// A unit vector of 64 dimensions at this angle, in degrees, from the first axis toward all others.
fn vector(degrees: f32) -> Vec<f32> {
    let (sin, cos) = degrees.to_radians().sin_cos();
    let rest = sin / 63.0_f32.sqrt();
    std::iter::once(cos).chain(std::iter::repeat_n(rest, 63)).collect()
}

#[test]
fn an_empty_memory_has_nothing_to_mend_and_is_looked_at_whole() {
    let audit = Store::of(&[]).audit();
    assert_eq!(audit["looked_at"]["complete"], true, "{audit:#}");
    for finding in audit["findings"].as_array().unwrap() {
        assert_eq!(
            (&finding["count"], finding["items"].as_array().unwrap().len()),
            (&json!(0), 0),
            "{finding:#}"
        );
    }
    let kinds = audit["findings"].as_array().unwrap().iter().map(|finding| &finding["kind"]);
    assert_eq!(kinds.filter(|kind| **kind == "muted").count(), 1);
}

#[test]
fn copies_are_told_with_the_command_that_removes_the_older() {
    let audit = Store::of(&["same", "other", "same"]).audit();
    let exact = finding(&audit, "exact-duplicates");
    assert_eq!((&exact["count"], &exact["surplus"]), (&json!(1), &json!(1)), "{exact:#}");
    let item = &exact["items"][0];
    assert_eq!(
        (&item["id"], &item["asked"]),
        (&json!(id(3)), &json!("same")),
        "the newest stays"
    );
    assert_eq!(
        (&item["copies"], &item["mend"]),
        (&json!([id(1)]), &json!(format!("remembrancer forget {}", id(1))))
    );
}

#[test]
fn what_is_near_by_its_vector_is_told_in_groups_and_no_copy_twice() {
    let mut store = Store::of(&["one", "two", "far", "one"]);
    store.embed(&[vector(10.0), vector(20.0), vector(80.0), vector(10.0)]);
    let audit = store.audit();
    assert_eq!(audit["looked_at"]["vectors"], 3, "the older copy is told already: {audit:#}");
    let near = finding(&audit, "near-duplicates");
    assert_eq!((&near["count"], &near["surplus"]), (&json!(1), &json!(1)), "{near:#}");
    let item = &near["items"][0];
    assert_eq!((&item["id"], &item["copies"]), (&json!(id(4)), &json!([id(2)])), "{near:#}");
    assert!(
        (item["cosine"].as_f64().unwrap() - 10_f64.to_radians().cos()).abs() < 0.001,
        "{item}"
    );
}

#[test]
fn secrets_are_counted_by_kind_and_never_told() {
    let token = concat!("gh", "p_0123456789abcdefghijABCDEFGHIJ012345");
    let store = Store::of(&[&format!("use {token}"), "plain"]);
    let audit = store.audit();
    let secrets = finding(&audit, "secrets");
    assert_eq!(
        (&secrets["count"], &secrets["kinds"]),
        (&json!(1), &json!({"github-token": 1})),
        "{secrets:#}"
    );
    assert_eq!(secrets["items"][0]["kinds"], json!({"github-token": 1}));
    assert!(!audit.to_string().contains("0123456789abcdef"), "{audit:#}");
}

#[test]
fn text_of_our_own_is_found() {
    let audit = Store::of(&[
        "<remembrancer-recollections>\nx",
        "plain",
        "Notes from this user's earlier sessions that",
    ])
    .audit();
    let echo = finding(&audit, "self-echo");
    assert_eq!(
        (&echo["count"], &echo["kinds"]),
        (&json!(2), &json!({"marker": 1, "preface": 1})),
        "{echo:#}"
    );
}

#[test]
fn what_was_never_shown_is_told_where_it_is_old() {
    let audit = Store::of(&["old"]).audit();
    let never = finding(&audit, "never-recalled");
    assert_eq!(never["count"], 1, "{never:#}");
    assert!(never["mend"].as_str().unwrap().contains("retention.max_size"), "{never:#}");
}

#[test]
fn lists_are_bounded_and_counts_are_not() {
    let prompts: Vec<String> = (0..60).map(|number| format!("prompt {}", number / 2)).collect();
    let audit = Store::of(&prompts.iter().map(String::as_str).collect::<Vec<_>>()).audit();
    let exact = finding(&audit, "exact-duplicates");
    assert_eq!(
        (&exact["count"], exact["items"].as_array().unwrap().len()),
        (&json!(30), TOLD),
        "{exact:#}"
    );
    assert_eq!(finding(&audit, "never-recalled")["count"], 60);
}

#[test]
fn a_deadline_that_is_over_leaves_everything_unfinished_and_says_so() {
    let mut store = Store::of(&["one", "two"]);
    store.embed(&[vector(10.0), vector(20.0)]);
    let audit = audit(&store.reader(), Duration::ZERO, &mut |_| {}).unwrap();
    assert_eq!(audit["looked_at"]["complete"], false, "{audit:#}");
    let unfinished = audit["looked_at"]["unfinished"].as_array().unwrap();
    assert!(
        unfinished.contains(&json!("secrets")) && unfinished.contains(&json!("near-duplicates")),
        "{audit:#}"
    );
}
