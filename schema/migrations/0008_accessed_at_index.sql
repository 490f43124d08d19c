-- The most recently accessed episodes with an embedding, over all projects.
CREATE INDEX IF NOT EXISTS idx_episodes_accessed_at ON episodes(accessed_at DESC) WHERE embedding IS NOT NULL;
