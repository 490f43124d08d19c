-- Turns that retention removed: like what was forgotten they don't come back by reading, but they are counted apart. And
-- sessions of which a turn was forgotten: a title tells what a session was about, so they get none any more.
CREATE TABLE IF NOT EXISTS retired_turns (
    uid BLOB PRIMARY KEY CHECK (length(uid) = 16),
    retired_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS untitled_sessions (
    session_id INTEGER PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE
) STRICT;
