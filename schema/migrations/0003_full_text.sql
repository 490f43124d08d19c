-- The full-text index over analysed text, written by code: tokens come space-joined, and every mark that an
-- analysed token may hold is a token character here, so that what is written is what is indexed.
CREATE VIRTUAL TABLE IF NOT EXISTS episodes_fts USING fts5 (
    prompt,
    answer,
    facets,
    project,
    content = '',
    contentless_delete = 1,
    tokenize = "ascii tokenchars '_-./:+#='"
);

CREATE VIRTUAL TABLE IF NOT EXISTS episodes_fts_vocab USING fts5vocab ('episodes_fts', 'row');
