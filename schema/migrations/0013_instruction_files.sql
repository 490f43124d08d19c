-- What of ours stands in files of projects, at the user's word: the fenced block, or one line (empty: the block).
CREATE TABLE IF NOT EXISTS instruction_files (
    path TEXT NOT NULL,
    line TEXT NOT NULL,
    folder TEXT NOT NULL,
    made TEXT,
    tracked INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (path, line)
) STRICT, WITHOUT ROWID;
