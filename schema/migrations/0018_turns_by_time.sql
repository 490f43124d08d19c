-- Turns by time, over all projects and within one, each with its session: what lists them looks at no row that it does not give.
CREATE INDEX IF NOT EXISTS idx_episodes_time ON episodes (created_at, part, session_id);
CREATE INDEX IF NOT EXISTS idx_episodes_project_time ON episodes (project_id, created_at, part, session_id);
-- The second of them begins with the same column.
DROP INDEX IF EXISTS idx_episodes_project;
