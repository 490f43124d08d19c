-- What the store is about: its own facts, projects, sessions, and the sources that are read.
CREATE TABLE IF NOT EXISTS _meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS projects (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    root TEXT,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS project_aliases (
    key TEXT PRIMARY KEY,
    project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE INDEX IF NOT EXISTS idx_project_aliases_project ON project_aliases (project_id);

CREATE TABLE IF NOT EXISTS sessions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    agent TEXT NOT NULL,
    external_id TEXT NOT NULL,
    title TEXT,
    cwd TEXT,
    git_branch TEXT,
    project_id INTEGER REFERENCES projects (id) ON DELETE SET NULL,
    started_at INTEGER,
    compacted_at INTEGER,
    excluded INTEGER NOT NULL DEFAULT 0 CHECK (excluded IN (0, 1)),
    UNIQUE (agent, external_id)
) STRICT;

CREATE INDEX IF NOT EXISTS idx_sessions_external_id ON sessions (external_id);
CREATE INDEX IF NOT EXISTS idx_sessions_project ON sessions (project_id);

CREATE TABLE IF NOT EXISTS sources (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    agent TEXT NOT NULL,
    path TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    device INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    size INTEGER NOT NULL,
    mtime INTEGER NOT NULL,
    read_offset INTEGER NOT NULL,
    read_line INTEGER NOT NULL,
    committed_offset INTEGER NOT NULL,
    committed_line INTEGER NOT NULL,
    committed_turn INTEGER NOT NULL,
    prefix_hash BLOB NOT NULL,
    prefix_len INTEGER NOT NULL,
    tail_hash BLOB NOT NULL,
    tail_len INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    -- Older generations were of another file under the same name: their episodes stay whatever becomes of this one.
    retire_from INTEGER NOT NULL DEFAULT 0,
    records INTEGER NOT NULL,
    skipped INTEGER NOT NULL,
    missing INTEGER NOT NULL DEFAULT 0 CHECK (missing IN (0, 1))
) STRICT;
