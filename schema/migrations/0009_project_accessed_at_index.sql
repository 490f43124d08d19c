-- The same within one project: with a project filter the index over all of them would be walked whole.
CREATE INDEX IF NOT EXISTS idx_episodes_project_accessed_at ON episodes (project_id, accessed_at DESC)
WHERE embedding IS NOT NULL;
