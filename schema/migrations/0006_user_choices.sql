-- What the user decided, and the episodes that forks and resumes share.
CREATE TABLE IF NOT EXISTS tombstones (
    uid BLOB PRIMARY KEY CHECK (length(uid) = 16),
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS exclusions (
    path TEXT PRIMARY KEY,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS session_copies (
    session_id INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    episode_id INTEGER NOT NULL REFERENCES episodes (id) ON DELETE CASCADE,
    PRIMARY KEY (session_id, episode_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX IF NOT EXISTS idx_session_copies_episode ON session_copies (episode_id);
