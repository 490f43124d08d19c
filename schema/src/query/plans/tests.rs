//! The plans of the hot queries, pinned: a lost index fails here.

use crate::{Reader, Writer};

#[test]
fn hot_queries_have_their_indexes() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("memory.db");
    let _writer = Writer::open(&path).expect("opens");
    let plans = Reader::open(&path).expect("opens").query_plans().expect("explains");
    let text: Vec<String> = plans.iter().map(|(name, plan)| format!("{name}:\n{plan}")).collect();
    insta::assert_snapshot!(text.join("\n\n"), @r"
    bm25 by fts5:
    SCAN episodes_fts VIRTUAL TABLE INDEX 0:M4
    USE TEMP B-TREE FOR ORDER BY

    page of a term:
    SEARCH episodes_fts_idx USING PRIMARY KEY (segid=? AND term<?)

    page after a term:
    SEARCH episodes_fts_idx USING PRIMARY KEY (segid=? AND term>?)

    pages of postings:
    SEARCH episodes_fts_data USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)

    recently accessed:
    SCAN episodes USING INDEX idx_episodes_accessed_at

    recently accessed in a project:
    SEARCH episodes USING INDEX idx_episodes_project_accessed_at (project_id=?)

    embedding backlog:
    SCAN episodes USING INDEX idx_episodes_backlog
    SEARCH episode_texts USING INTEGER PRIMARY KEY (rowid=?)

    embedding backlog of another model:
    SEARCH episodes USING INDEX idx_episodes_model (embedding_model=?)
    SEARCH episode_texts USING INTEGER PRIMARY KEY (rowid=?)

    models in use:
    SEARCH episodes USING COVERING INDEX idx_episodes_model (embedding_model>?)

    episodes of the current model:
    SEARCH episodes USING COVERING INDEX idx_episodes_model (embedding_model=?)
    SCALAR SUBQUERY 1
    SEARCH embedding_models USING COVERING INDEX sqlite_autoindex_embedding_models_1 (name=?)

    nearest codes:
    SCAN episodes_vec VIRTUAL TABLE INDEX 0:3{___}___
    ");
}
