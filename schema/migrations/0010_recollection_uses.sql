-- Which showings of an episode turned out to be uses, and by what it was told: one row a showing at most, so that a turn
-- that is read again counts once.
CREATE TABLE IF NOT EXISTS recollection_uses (
    recollection_id INTEGER NOT NULL REFERENCES recollections (id) ON DELETE CASCADE,
    episode_id INTEGER NOT NULL REFERENCES episodes (id) ON DELETE CASCADE,
    evidence TEXT NOT NULL,
    PRIMARY KEY (recollection_id, episode_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX IF NOT EXISTS idx_recollection_uses_episode ON recollection_uses (episode_id);
