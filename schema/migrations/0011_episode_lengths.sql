-- How many terms the full-text index holds of each episode: 2,048 episodes a row, two bytes each, little-endian. A search reads
-- a block of them at a time, where the index's own table has a row an episode.
CREATE TABLE IF NOT EXISTS episode_lengths (
    block INTEGER PRIMARY KEY,
    lengths BLOB NOT NULL CHECK (length(lengths) = 4096)
) STRICT;
