//! What of every table's text is rewritten when the rules grow, and what is exempt, and why: a new column has to be named here.

use std::collections::BTreeSet;

use rusqlite::Connection;

use crate::testing::Store;

/// What every table of the schema that holds text has of it: rewritten here, or why not.
const REWRITTEN: &[(&str, &[&str])] = &[
    ("episode_texts", &["cwd", "git_branch", "prompt", "answer", "facets"]),
    ("exclusions", &["path"]),
    ("project_aliases", &["key"]),
    ("projects", &["name", "root"]),
    ("recollections", &["terms"]),
    ("sessions", &["title", "cwd", "git_branch"]),
    ("shared_keys", &["key"]),
    ("source_problems", &["kind"]),
    ("unread_records", &["version"]),
];
const EXEMPT: &[(&str, &[&str], &str)] = &[
    ("_meta", &["key", "value"], "our own notes"),
    ("boosted_episodes", &["importance_rule"], "our own words"),
    ("counters", &["name"], "our own names"),
    ("embedding_models", &["name"], "names of models"),
    ("episodes", &["origin", "importance_rule"], "our own words"),
    (
        "episodes_fts",
        &["prompt", "answer", "facets", "project"],
        "made anew with the row's texts, and optimised at the end",
    ),
    ("episodes_fts_vocab", &["term"], "a view of the index"),
    ("imported_uses", &["evidence"], "our own words: an import takes no others"),
    (
        "instruction_files",
        &["path", "line", "folder", "made"],
        "files of the user's that have to be found, named by the user",
    ),
    ("recollection_candidates", &["gate"], "our own words"),
    ("recollection_traces", &["trace"], "numbers, and our own words"),
    ("recollection_uses", &["evidence"], "our own words"),
    ("recollections", &["reason", "stages", "degradations"], "our own words"),
    (
        "sessions",
        &["agent", "external_id"],
        "the agent's names of them, by which they are found again",
    ),
    (
        "share_target",
        &["team_key", "member_login", "allowed"],
        "what the user set, and must be found again as it was set",
    ),
    (
        "share_former",
        &["team_key"],
        "what the user set, and must be found again as it was set",
    ),
    (
        "share_server",
        &["unknown_model", "epoch", "next_epoch"],
        "a name of a model, and what the shared store calls itself",
    ),
    ("share_turns", &["what"], "our own words"),
    (
        "shared_episodes",
        &["member_login", "machine_name"],
        "names that members and machines have at the shared store, by which they are told apart",
    ),
    (
        "sources",
        &["agent", "path", "kind"],
        "files that have to be found to be read on",
    ),
    (
        "source_states",
        &["state"],
        "is emptied when the rules grow, and written anew",
    ),
    ("unread_records", &["kind"], "goes with its row of source_problems"),
];

/// Tables that SQLite, FTS5 and sqlite-vec keep for theirs: what is in them follows from the others.
fn is_derived(table: &str) -> bool {
    table.starts_with("sqlite_")
        || table.starts_with("episodes_vec")
        || table.starts_with("episodes_fts_") && table != "episodes_fts_vocab"
}

#[test]
fn every_column_that_holds_text_is_rewritten_or_named_as_exempt() {
    let store = Store::new();
    let db = Connection::open(&store.path).expect("opens");
    let mut tables = db
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
        .expect("prepares");
    let tables: Vec<String> = tables
        .query_map([], |row| row.get(0))
        .expect("reads")
        .map(Result::unwrap)
        .collect();
    let mut found = BTreeSet::new();
    for table in tables.iter().filter(|table| !is_derived(table)) {
        let mut columns = db.prepare("SELECT name, type FROM pragma_table_info(?1)").expect("prepares");
        let mut rows = columns.query([table]).expect("reads");
        while let Some(row) = rows.next().expect("reads") {
            let (column, kind): (String, String) = (row.get(0).unwrap(), row.get(1).unwrap());
            // Numbers and blobs hold no text: uids and hashes, times, vectors, lengths.
            if !matches!(kind.as_str(), "INTEGER" | "REAL" | "BLOB") {
                found.insert((table.clone(), column));
            }
        }
    }
    // The view counts, too.
    found.remove(&("episodes_fts_vocab".to_owned(), "doc".to_owned()));
    found.remove(&("episodes_fts_vocab".to_owned(), "cnt".to_owned()));
    let mut named = BTreeSet::new();
    let listed = REWRITTEN
        .iter()
        .copied()
        .chain(EXEMPT.iter().map(|(table, columns, _)| (*table, *columns)));
    for (table, columns) in listed {
        for column in columns {
            assert!(
                named.insert((table.to_owned(), (*column).to_owned())),
                "{table}.{column} is named twice"
            );
        }
    }
    assert_eq!(
        found, named,
        "a new column of text is rewritten, or named with the reason why not"
    );
}
