-- What was shown and why, for the last prompts: ids, scores and times, never the prompt's text.
CREATE TABLE IF NOT EXISTS recollections (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    session_id INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    project_id INTEGER REFERENCES projects (id) ON DELETE SET NULL,
    prompt_hash BLOB NOT NULL,
    terms TEXT NOT NULL,
    reason TEXT,
    pool INTEGER NOT NULL,
    stages TEXT NOT NULL,
    degradations TEXT NOT NULL
) STRICT;

CREATE INDEX IF NOT EXISTS idx_recollections_session ON recollections (session_id, at);
CREATE INDEX IF NOT EXISTS idx_recollections_project ON recollections (project_id);

CREATE TABLE IF NOT EXISTS recollection_candidates (
    recollection_id INTEGER NOT NULL REFERENCES recollections (id) ON DELETE CASCADE,
    place INTEGER NOT NULL,
    episode_id INTEGER NOT NULL REFERENCES episodes (id) ON DELETE CASCADE,
    fused REAL NOT NULL,
    bm25 REAL,
    cosine REAL,
    bm25_rank INTEGER,
    vector_rank INTEGER,
    recency_rank INTEGER,
    access_rank INTEGER,
    gate TEXT,
    position INTEGER,
    PRIMARY KEY (recollection_id, place)
) STRICT, WITHOUT ROWID;

CREATE INDEX IF NOT EXISTS idx_recollection_candidates_episode ON recollection_candidates (episode_id);

-- What a session has seen outlives the log of single prompts.
CREATE TABLE IF NOT EXISTS session_shown (
    session_id INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    episode_id INTEGER NOT NULL REFERENCES episodes (id) ON DELETE CASCADE,
    at INTEGER NOT NULL,
    PRIMARY KEY (session_id, episode_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX IF NOT EXISTS idx_session_shown_episode ON session_shown (episode_id);
