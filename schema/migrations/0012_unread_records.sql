-- Of problems that are records of a kind that nobody knows: how much they hold, and which version of the agent wrote the last.
CREATE TABLE IF NOT EXISTS unread_records (
    source_id INTEGER NOT NULL,
    kind TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    version TEXT NOT NULL,
    PRIMARY KEY (source_id, kind),
    FOREIGN KEY (source_id, kind) REFERENCES source_problems (source_id, kind) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
