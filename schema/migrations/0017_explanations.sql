-- How the answer to a logged prompt came about: counts, scores, ranks and times as JSON, never a word of the prompt. A prompt
-- that was logged by an older version, or was not searched for, has no row.
CREATE TABLE IF NOT EXISTS recollection_traces (
    recollection_id INTEGER PRIMARY KEY REFERENCES recollections (id) ON DELETE CASCADE,
    trace TEXT NOT NULL CHECK (length(trace) <= 16384)
) STRICT;
