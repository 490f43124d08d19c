-- What the parser of a source takes over, where reading goes on, from the records before: their time, folder and session for
-- records that tell none of their own. A source without a row has none that is known.
CREATE TABLE IF NOT EXISTS source_states (
    source_id INTEGER PRIMARY KEY REFERENCES sources (id) ON DELETE CASCADE,
    state TEXT NOT NULL CHECK (length(state) <= 16384)
) STRICT;
