-- What the user decided of single turns, by their uids, so that it holds whatever becomes of their rows: muted ones are never
-- recalled, boosted ones count as important. What the rules said of a boosted episode is kept, to be given back.
CREATE TABLE IF NOT EXISTS steered_turns (
    turn_uid BLOB PRIMARY KEY CHECK (length(turn_uid) = 16),
    muted_at INTEGER,
    boosted_at INTEGER,
    CHECK (muted_at IS NOT NULL OR boosted_at IS NOT NULL)
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS boosted_episodes (
    episode_id INTEGER PRIMARY KEY REFERENCES episodes (id) ON DELETE CASCADE,
    importance INTEGER NOT NULL CHECK (importance IN (0, 1, 2)),
    importance_rule TEXT NOT NULL
) STRICT;

-- Uses that an import brought: of showings that another store has logged.
CREATE TABLE IF NOT EXISTS imported_uses (
    id INTEGER PRIMARY KEY,
    episode_id INTEGER NOT NULL REFERENCES episodes (id) ON DELETE CASCADE,
    at INTEGER NOT NULL,
    evidence TEXT NOT NULL
) STRICT;

CREATE INDEX IF NOT EXISTS idx_imported_uses_episode ON imported_uses (episode_id);
