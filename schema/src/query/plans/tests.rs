//! The plans of the hot queries, pinned: a lost index fails here.

use crate::{Reader, Writer};

#[test]
#[expect(clippy::too_many_lines, reason = "a snapshot of all plans")]
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

    older turns:
    SEARCH episodes USING COVERING INDEX idx_episodes_time (created_at>? AND created_at<?)
    LIST SUBQUERY 1
    SEARCH sessions USING COVERING INDEX sqlite_autoindex_sessions_1 (agent=?)
    CREATE BLOOM FILTER
    USE TEMP B-TREE FOR LAST TERM OF ORDER BY

    older turns of a project:
    SEARCH episodes USING COVERING INDEX idx_episodes_project_time (project_id=? AND created_at>? AND created_at<?)
    LIST SUBQUERY 1
    SEARCH sessions USING COVERING INDEX sqlite_autoindex_sessions_1 (agent=?)
    CREATE BLOOM FILTER
    USE TEMP B-TREE FOR LAST TERM OF ORDER BY

    newer turns:
    SEARCH episodes USING COVERING INDEX idx_episodes_time (created_at>? AND created_at<?)
    LIST SUBQUERY 1
    SEARCH sessions USING COVERING INDEX sqlite_autoindex_sessions_1 (agent=?)
    CREATE BLOOM FILTER
    USE TEMP B-TREE FOR LAST TERM OF ORDER BY

    newer turns of a project:
    SEARCH episodes USING COVERING INDEX idx_episodes_project_time (project_id=? AND created_at>? AND created_at<?)
    LIST SUBQUERY 1
    SEARCH sessions USING COVERING INDEX sqlite_autoindex_sessions_1 (agent=?)
    CREATE BLOOM FILTER
    USE TEMP B-TREE FOR LAST TERM OF ORDER BY

    latest sessions:
    SEARCH last USING COVERING INDEX idx_episodes_time (created_at>? AND created_at<?)
    LIST SUBQUERY 1
    SEARCH sessions USING COVERING INDEX sqlite_autoindex_sessions_1 (agent=?)
    CREATE BLOOM FILTER
    CORRELATED SCALAR SUBQUERY 2
    SEARCH later USING INDEX idx_episodes_session (session_id=? AND created_at>? AND created_at<?)
    USE TEMP B-TREE FOR LAST TERM OF ORDER BY

    latest sessions of a project:
    SEARCH last USING COVERING INDEX idx_episodes_project_time (project_id=? AND created_at>? AND created_at<?)
    LIST SUBQUERY 1
    SEARCH sessions USING COVERING INDEX sqlite_autoindex_sessions_1 (agent=?)
    CREATE BLOOM FILTER
    CORRELATED SCALAR SUBQUERY 2
    SEARCH later USING INDEX idx_episodes_session (session_id=? AND created_at>? AND created_at<?)
    USE TEMP B-TREE FOR LAST TERM OF ORDER BY

    a session:
    SEARCH last USING INTEGER PRIMARY KEY (rowid=?)
    SEARCH sessions USING INTEGER PRIMARY KEY (rowid=?)
    CORRELATED SCALAR SUBQUERY 1
    SEARCH projects USING INTEGER PRIMARY KEY (rowid=?)
    CORRELATED SCALAR SUBQUERY 2
    SEARCH episodes USING COVERING INDEX idx_episodes_session (session_id=?)
    CORRELATED SCALAR SUBQUERY 3
    SEARCH episodes USING COVERING INDEX idx_episodes_session (session_id=?)
    CORRELATED SCALAR SUBQUERY 4
    SEARCH episodes USING INDEX idx_episodes_session (session_id=?)
    CORRELATED SCALAR SUBQUERY 5
    SEARCH episodes USING INDEX idx_episodes_session (session_id=?)
    CORRELATED SCALAR SUBQUERY 6
    SEARCH first USING INDEX idx_episodes_session (session_id=?)
    SEARCH episode_texts USING INTEGER PRIMARY KEY (rowid=?)

    last turn of a session:
    SEARCH episodes USING INDEX idx_episodes_session (session_id=?)
    SCALAR SUBQUERY 1
    SEARCH sessions USING COVERING INDEX sqlite_autoindex_sessions_1 (agent=? AND external_id=?)

    turns of a session:
    CO-ROUTINE (subquery-4)
    MERGE (UNION)
    LEFT
    SEARCH episodes USING INDEX idx_episodes_session (session_id=? AND created_at>?)
    SCALAR SUBQUERY 1
    SEARCH sessions USING COVERING INDEX sqlite_autoindex_sessions_1 (agent=? AND external_id=?)
    USE TEMP B-TREE FOR ORDER BY
    RIGHT
    SEARCH session_copies USING PRIMARY KEY (session_id=?)
    SCALAR SUBQUERY 3
    SEARCH sessions USING COVERING INDEX sqlite_autoindex_sessions_1 (agent=? AND external_id=?)
    SEARCH episodes USING INTEGER PRIMARY KEY (rowid=?)
    USE TEMP B-TREE FOR ORDER BY
    SCAN (subquery-4)
    USE TEMP B-TREE FOR ORDER BY

    turn before a turn:
    SEARCH this USING INTEGER PRIMARY KEY (rowid=?)
    SEARCH near USING INDEX idx_episodes_session (session_id=? AND created_at<?)

    turn after a turn:
    SEARCH this USING INTEGER PRIMARY KEY (rowid=?)
    SEARCH near USING INDEX idx_episodes_session (session_id=? AND created_at>?)

    episodes in scope:
    SEARCH episodes USING COVERING INDEX idx_episodes_time (created_at>? AND created_at<?)
    LIST SUBQUERY 1
    SEARCH sessions USING COVERING INDEX sqlite_autoindex_sessions_1 (agent=?)
    CREATE BLOOM FILTER

    episodes in scope of a project:
    SEARCH episodes USING COVERING INDEX idx_episodes_project_time (project_id=? AND created_at>? AND created_at<?)
    LIST SUBQUERY 1
    SEARCH sessions USING COVERING INDEX sqlite_autoindex_sessions_1 (agent=?)
    CREATE BLOOM FILTER
    ");
}
