-- What went wrong, counted; and the two queues of the embedder: episodes without an embedding, and those of each model.
CREATE TABLE IF NOT EXISTS source_problems (
    source_id INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    count INTEGER NOT NULL,
    first_line INTEGER NOT NULL,
    first_offset INTEGER NOT NULL,
    PRIMARY KEY (source_id, kind)
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS counters (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX IF NOT EXISTS idx_episodes_backlog ON episodes (created_at DESC)
WHERE embedding IS NULL AND hidden = 0;

CREATE INDEX IF NOT EXISTS idx_episodes_model ON episodes (embedding_model, created_at DESC, project_id)
WHERE embedding_model IS NOT NULL;
