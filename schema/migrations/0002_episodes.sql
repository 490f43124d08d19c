-- The unit of memory. Texts lie apart, so that scoring never reads through them.
CREATE TABLE IF NOT EXISTS embedding_models (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE IF NOT EXISTS episodes (
    -- AUTOINCREMENT, since a reused id would point a stale code at another episode.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
    turn_uid BLOB NOT NULL CHECK (length(turn_uid) = 16),
    session_id INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    project_id INTEGER REFERENCES projects (id) ON DELETE SET NULL,
    source_id INTEGER REFERENCES sources (id) ON DELETE SET NULL,
    generation INTEGER NOT NULL,
    origin TEXT NOT NULL CHECK (origin IN ('user', 'subagent')),
    turn INTEGER NOT NULL,
    part INTEGER NOT NULL,
    importance INTEGER NOT NULL CHECK (importance IN (0, 1, 2)),
    importance_rule TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    accessed_at INTEGER NOT NULL,
    access_count INTEGER NOT NULL DEFAULT 0,
    shown_count INTEGER NOT NULL DEFAULT 0,
    hidden INTEGER NOT NULL DEFAULT 0 CHECK (hidden IN (0, 1)),
    content_hash BLOB NOT NULL CHECK (length(content_hash) = 32),
    embedding_model INTEGER REFERENCES embedding_models (id),
    embedding BLOB,
    -- Zero bytes, as many as the embedding will take: storing it then changes no row's size. Without them a backfill
    -- splits nearly every page, and leaves the table half empty (3.8 KB an episode instead of 2).
    room BLOB,
    CHECK ((embedding IS NULL) = (embedding_model IS NULL)),
    CHECK (embedding IS NULL OR room IS NULL),
    CHECK (hidden = 0 OR embedding IS NULL)
) STRICT;

CREATE INDEX IF NOT EXISTS idx_episodes_turn ON episodes (turn_uid);
CREATE INDEX IF NOT EXISTS idx_episodes_session ON episodes (session_id, created_at);
CREATE INDEX IF NOT EXISTS idx_episodes_source ON episodes (source_id, generation);
CREATE INDEX IF NOT EXISTS idx_episodes_project ON episodes (project_id);

-- The working folder stands first, so that a search by folder leaves the texts' overflow pages alone.
CREATE TABLE IF NOT EXISTS episode_texts (
    episode_id INTEGER PRIMARY KEY REFERENCES episodes (id) ON DELETE CASCADE,
    cwd TEXT,
    git_branch TEXT,
    prompt TEXT NOT NULL,
    answer TEXT NOT NULL,
    facets TEXT NOT NULL
) STRICT;
