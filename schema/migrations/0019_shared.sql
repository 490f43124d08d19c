-- Sharing with other memories by a shared store. What is set of it is one row; nothing below does anything while that row is
-- not there, or is not active. The machine is unknown (null) after the store was put back from a copy or made anew.
CREATE TABLE IF NOT EXISTS share_target (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    active INTEGER NOT NULL CHECK (active IN (0, 1)),
    team_key TEXT NOT NULL,
    machine BLOB CHECK (length(machine) = 16),
    member INTEGER,
    member_login TEXT,
    cursor INTEGER NOT NULL DEFAULT 0,
    -- Where pulling goes on once it is no longer paused: contents were passed over from there on.
    held INTEGER,
    -- Rises with all that is sent: a page that was asked for before says nothing of what came of it.
    sent INTEGER NOT NULL DEFAULT 0,
    head INTEGER NOT NULL DEFAULT 0,
    allowed TEXT NOT NULL,
    paused INTEGER NOT NULL DEFAULT 0 CHECK (paused IN (0, 1))
) STRICT;

-- What this memory was called before: what the shared store has of these is its own, and comes back as such.
CREATE TABLE IF NOT EXISTS share_machines (
    machine BLOB PRIMARY KEY CHECK (length(machine) = 16)
) STRICT, WITHOUT ROWID;

-- Episodes of which something may have changed that the shared store has to know, and forgotten turns by their own uid. A change
-- gets a new number, which is never given again: what was told of the number before says nothing of it. What may have to leave the
-- shared store is urgent, and goes before all contents.
CREATE TABLE IF NOT EXISTS share_outbox (
    change INTEGER PRIMARY KEY AUTOINCREMENT,
    uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
    turn_uid BLOB NOT NULL CHECK (length(turn_uid) = 16),
    urgent INTEGER NOT NULL DEFAULT 0 CHECK (urgent IN (0, 1))
) STRICT;

CREATE INDEX IF NOT EXISTS idx_share_outbox_urgent ON share_outbox (urgent DESC, change);

-- What the shared store may have of this memory, noted before it is sent: 1 under this name, 2 under one that it had before. What was
-- withdrawn there stays as 0: a shared store that is put back from a copy may have it again.
CREATE TABLE IF NOT EXISTS share_pushed (
    uid BLOB PRIMARY KEY CHECK (length(uid) = 16),
    turn_uid BLOB NOT NULL CHECK (length(turn_uid) = 16),
    project_id INTEGER,
    state INTEGER NOT NULL DEFAULT 1 CHECK (state IN (0, 1, 2))
) STRICT, WITHOUT ROWID;

CREATE INDEX IF NOT EXISTS idx_share_pushed_turn ON share_pushed (turn_uid);

-- Whose the pulled episodes are: those of the generation -2, and no others.
CREATE TABLE IF NOT EXISTS shared_episodes (
    episode_id INTEGER PRIMARY KEY REFERENCES episodes (id) ON DELETE CASCADE,
    member INTEGER NOT NULL,
    member_login TEXT NOT NULL,
    machine BLOB NOT NULL CHECK (length(machine) = 16),
    machine_name TEXT NOT NULL,
    seq INTEGER NOT NULL
) STRICT;

-- Turns that another member forgot: they leave the copies of this database, too. One's own forgotten turns are tombstones.
CREATE TABLE IF NOT EXISTS share_forgotten (
    turn_uid BLOB NOT NULL CHECK (length(turn_uid) = 16),
    member INTEGER NOT NULL,
    PRIMARY KEY (turn_uid, member)
) STRICT, WITHOUT ROWID;

-- Turns of which something else is known: `passed`, of which retention took copies, so that they are not taken again; `untold`, one's
-- own facts that were forgotten and never shared: their uids are made of what they said, and are told to nobody.
CREATE TABLE IF NOT EXISTS share_turns (
    turn_uid BLOB NOT NULL CHECK (length(turn_uid) = 16),
    what TEXT NOT NULL CHECK (what IN ('passed', 'untold')),
    PRIMARY KEY (turn_uid, what)
) STRICT, WITHOUT ROWID;

-- Keys by which others name projects, and the member who said so first. They find the project of what was pulled, and no more: what is
-- allowed, and what a project is called to others, is told by `project_aliases` alone.
CREATE TABLE IF NOT EXISTS shared_keys (
    key TEXT PRIMARY KEY,
    project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    member INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX IF NOT EXISTS idx_shared_keys_project ON shared_keys (project_id);

-- Delete and insert, never `OR REPLACE`: the conflict clause of the statement that fires a trigger overrides those within.
CREATE TRIGGER IF NOT EXISTS share_episode_added AFTER INSERT ON episodes
WHEN NEW.generation <> -2 AND EXISTS (SELECT 1 FROM share_target WHERE active = 1)
BEGIN
    DELETE FROM share_outbox WHERE uid = NEW.uid;
    INSERT INTO share_outbox (uid, turn_uid) VALUES (NEW.uid, NEW.turn_uid);
END;

CREATE TRIGGER IF NOT EXISTS share_episode_changed
AFTER UPDATE OF content_hash, hidden, importance, importance_rule, project_id, session_id, turn, generation, embedding_model
ON episodes
WHEN NEW.generation <> -2 AND EXISTS (SELECT 1 FROM share_target WHERE active = 1)
    AND (OLD.content_hash, OLD.hidden, OLD.importance, OLD.importance_rule, OLD.project_id, OLD.session_id, OLD.turn,
            OLD.generation = -2, OLD.embedding_model)
        IS NOT (NEW.content_hash, NEW.hidden, NEW.importance, NEW.importance_rule, NEW.project_id, NEW.session_id, NEW.turn,
            0, NEW.embedding_model)
BEGIN
    DELETE FROM share_outbox WHERE uid = NEW.uid;
    INSERT INTO share_outbox (uid, turn_uid, urgent)
        VALUES (NEW.uid, NEW.turn_uid, NEW.hidden OR (OLD.project_id IS NOT NULL AND OLD.project_id IS NOT NEW.project_id));
END;

CREATE TRIGGER IF NOT EXISTS share_episode_removed AFTER DELETE ON episodes
WHEN OLD.generation <> -2 AND EXISTS (SELECT 1 FROM share_target WHERE active = 1)
BEGIN
    DELETE FROM share_outbox WHERE uid = OLD.uid;
    INSERT INTO share_outbox (uid, turn_uid, urgent) VALUES (OLD.uid, OLD.turn_uid, 1);
END;

-- A transcript here tells a pulled episode.
CREATE TRIGGER IF NOT EXISTS share_episode_became_own AFTER UPDATE OF generation ON episodes
WHEN OLD.generation = -2 AND NEW.generation <> -2
BEGIN
    DELETE FROM shared_episodes WHERE episode_id = NEW.id;
END;

CREATE TRIGGER IF NOT EXISTS share_branch_changed AFTER UPDATE OF git_branch ON episode_texts
WHEN OLD.git_branch IS NOT NEW.git_branch AND EXISTS (SELECT 1 FROM share_target WHERE active = 1)
BEGIN
    DELETE FROM share_outbox WHERE uid = (SELECT uid FROM episodes WHERE id = NEW.episode_id AND generation <> -2);
    INSERT INTO share_outbox (uid, turn_uid, urgent)
        SELECT uid, turn_uid, hidden FROM episodes WHERE id = NEW.episode_id AND generation <> -2;
END;

-- The rows of the turn go after its tombstone came: here it is still known what it was.
CREATE TRIGGER IF NOT EXISTS share_turn_forgotten AFTER INSERT ON tombstones
BEGIN
    DELETE FROM share_turns WHERE turn_uid = NEW.uid AND what = 'passed';
    INSERT INTO share_turns (turn_uid, what)
        SELECT NEW.uid, 'untold' WHERE NOT EXISTS (SELECT 1 FROM share_turns WHERE turn_uid = NEW.uid AND what = 'untold')
            AND NOT EXISTS (SELECT 1 FROM share_pushed WHERE turn_uid = NEW.uid)
            AND EXISTS (SELECT 1 FROM episodes JOIN sessions ON sessions.id = episodes.session_id
                WHERE turn_uid = NEW.uid AND generation <> -2 AND agent = 'user' AND external_id = 'remembered');
    DELETE FROM share_outbox WHERE uid = NEW.uid;
    INSERT INTO share_outbox (uid, turn_uid, urgent)
        SELECT NEW.uid, NEW.uid, 1 WHERE EXISTS (SELECT 1 FROM share_target WHERE active = 1)
            AND NOT EXISTS (SELECT 1 FROM share_turns WHERE turn_uid = NEW.uid AND what = 'untold');
END;

-- What a project is called says whether it is shared, and goes along.
CREATE TRIGGER IF NOT EXISTS share_project_renamed AFTER UPDATE OF name, root ON projects
WHEN (OLD.name, OLD.root) IS NOT (NEW.name, NEW.root) AND EXISTS (SELECT 1 FROM share_target WHERE active = 1)
BEGIN
    DELETE FROM share_outbox WHERE uid IN (SELECT uid FROM episodes WHERE project_id = NEW.id AND generation <> -2);
    INSERT INTO share_outbox (uid, turn_uid, urgent)
        SELECT uid, turn_uid, hidden FROM episodes WHERE project_id = NEW.id AND generation <> -2;
END;

-- A key that is a path is told to nobody, and there is a new one for each folder: it counts where it is what allows the project.
CREATE TRIGGER IF NOT EXISTS share_key_added AFTER INSERT ON project_aliases
WHEN EXISTS (SELECT 1 FROM share_target WHERE active = 1)
    AND (NEW.key NOT GLOB '[cg][wi][dt]:*'
        OR (EXISTS (SELECT 1 FROM share_target, json_each(share_target.allowed) AS globs
                WHERE substr(NEW.key, 5) GLOB replace(replace(globs.value, '[', '[[]'), '?', '[?]')
                    OR NEW.key GLOB replace(replace(globs.value, '[', '[[]'), '?', '[?]'))
            AND NOT EXISTS (SELECT 1 FROM project_aliases, share_target, json_each(share_target.allowed) AS globs
                WHERE project_aliases.project_id = NEW.project_id AND project_aliases.key <> NEW.key
                    AND (substr(project_aliases.key, instr(project_aliases.key, ':') + 1)
                            GLOB replace(replace(globs.value, '[', '[[]'), '?', '[?]')
                        OR project_aliases.key GLOB replace(replace(globs.value, '[', '[[]'), '?', '[?]')))))
BEGIN
    DELETE FROM share_outbox WHERE uid IN (SELECT uid FROM episodes WHERE project_id = NEW.project_id AND generation <> -2);
    INSERT INTO share_outbox (uid, turn_uid, urgent)
        SELECT uid, turn_uid, hidden FROM episodes WHERE project_id = NEW.project_id AND generation <> -2;
END;

CREATE TRIGGER IF NOT EXISTS share_key_changed AFTER UPDATE ON project_aliases
WHEN (OLD.key, OLD.project_id) IS NOT (NEW.key, NEW.project_id) AND EXISTS (SELECT 1 FROM share_target WHERE active = 1)
BEGIN
    DELETE FROM share_outbox
        WHERE uid IN (SELECT uid FROM episodes WHERE project_id IN (OLD.project_id, NEW.project_id) AND generation <> -2);
    INSERT INTO share_outbox (uid, turn_uid, urgent)
        SELECT uid, turn_uid, hidden OR EXISTS (SELECT 1 FROM share_pushed WHERE share_pushed.uid = episodes.uid AND state > 0)
        FROM episodes WHERE project_id IN (OLD.project_id, NEW.project_id) AND generation <> -2;
END;

CREATE TRIGGER IF NOT EXISTS share_key_removed AFTER DELETE ON project_aliases
WHEN EXISTS (SELECT 1 FROM share_target WHERE active = 1)
BEGIN
    DELETE FROM share_outbox WHERE uid IN (SELECT uid FROM episodes WHERE project_id = OLD.project_id AND generation <> -2);
    INSERT INTO share_outbox (uid, turn_uid, urgent)
        SELECT uid, turn_uid, hidden OR EXISTS (SELECT 1 FROM share_pushed WHERE share_pushed.uid = episodes.uid AND state > 0)
        FROM episodes WHERE project_id = OLD.project_id AND generation <> -2;
END;
