-- What waits to be told stays urgent however it is touched again; a vector that comes later shares nothing anew; and what is at the
-- shared store of a team that was left stays known.
DROP TRIGGER IF EXISTS share_episode_added;
DROP TRIGGER IF EXISTS share_episode_changed;
DROP TRIGGER IF EXISTS share_episode_removed;
DROP TRIGGER IF EXISTS share_branch_changed;
DROP TRIGGER IF EXISTS share_turn_forgotten;
DROP TRIGGER IF EXISTS share_project_renamed;
DROP TRIGGER IF EXISTS share_key_added;
DROP TRIGGER IF EXISTS share_key_changed;
DROP TRIGGER IF EXISTS share_key_removed;

-- An episode has one entry after each statement, and two within one: the newer is made from what the older says before that goes. Numbers
-- go on from where they were, since none is given again.
CREATE TABLE IF NOT EXISTS share_outbox_anew (
    change INTEGER PRIMARY KEY AUTOINCREMENT,
    uid BLOB NOT NULL CHECK (length(uid) = 16),
    turn_uid BLOB NOT NULL CHECK (length(turn_uid) = 16),
    urgent INTEGER NOT NULL DEFAULT 0 CHECK (urgent IN (0, 1))
) STRICT;
INSERT INTO share_outbox_anew (change, uid, turn_uid, urgent) SELECT change, uid, turn_uid, urgent FROM share_outbox;
DELETE FROM sqlite_sequence WHERE name = 'share_outbox_anew';
INSERT INTO sqlite_sequence (name, seq) SELECT 'share_outbox_anew', seq FROM sqlite_sequence WHERE name = 'share_outbox';
DROP TABLE share_outbox;
ALTER TABLE share_outbox_anew RENAME TO share_outbox;

CREATE INDEX IF NOT EXISTS idx_share_outbox_urgent ON share_outbox (urgent DESC, change);
CREATE INDEX IF NOT EXISTS idx_share_outbox_uid ON share_outbox (uid, urgent);

-- What the shared store may have of this memory for a team that the settings name no more, and what was withdrawn there, with the states of
-- `share_pushed`: it is told of it once they name it again.
CREATE TABLE IF NOT EXISTS share_former (
    team_key TEXT NOT NULL,
    uid BLOB NOT NULL CHECK (length(uid) = 16),
    turn_uid BLOB NOT NULL CHECK (length(turn_uid) = 16),
    state INTEGER NOT NULL CHECK (state IN (0, 1, 2)),
    PRIMARY KEY (team_key, uid)
) STRICT, WITHOUT ROWID;

-- What the shared store last said of itself, and of this member, and whether this memory has left the team: one row. `next_epoch` is noted
-- where the shared store was found to be another one than before, until all has been begun anew.
CREATE TABLE IF NOT EXISTS share_server (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    put_out INTEGER NOT NULL DEFAULT 0 CHECK (put_out IN (0, 1)),
    unknown_model TEXT,
    epoch TEXT,
    next_epoch TEXT,
    has_left INTEGER NOT NULL DEFAULT 0 CHECK (has_left IN (0, 1))
) STRICT;

-- Insert, then delete the older, never `OR REPLACE`: the conflict clause of the statement that fires a trigger overrides those within.
CREATE TRIGGER IF NOT EXISTS share_episode_added AFTER INSERT ON episodes
WHEN NEW.generation <> -2 AND EXISTS (SELECT 1 FROM share_target WHERE active = 1)
BEGIN
    INSERT INTO share_outbox (uid, turn_uid, urgent)
        VALUES (NEW.uid, NEW.turn_uid, EXISTS (SELECT 1 FROM share_outbox WHERE uid = NEW.uid AND urgent = 1));
    DELETE FROM share_outbox WHERE uid = NEW.uid AND change < (SELECT max(change) FROM share_outbox WHERE uid = NEW.uid);
END;

-- A vector is told of with what is told, or was, and shares nothing that was taken back.
CREATE TRIGGER IF NOT EXISTS share_episode_changed
AFTER UPDATE OF content_hash, hidden, importance, importance_rule, project_id, session_id, turn, generation, embedding_model
ON episodes
WHEN NEW.generation <> -2 AND EXISTS (SELECT 1 FROM share_target WHERE active = 1)
    AND ((OLD.content_hash, OLD.hidden, OLD.importance, OLD.importance_rule, OLD.project_id, OLD.session_id, OLD.turn,
            OLD.generation = -2)
        IS NOT (NEW.content_hash, NEW.hidden, NEW.importance, NEW.importance_rule, NEW.project_id, NEW.session_id, NEW.turn, 0)
        OR (OLD.embedding_model IS NOT NEW.embedding_model
            AND (EXISTS (SELECT 1 FROM share_pushed WHERE uid = NEW.uid AND state > 0)
                OR EXISTS (SELECT 1 FROM share_outbox WHERE uid = NEW.uid))))
BEGIN
    INSERT INTO share_outbox (uid, turn_uid, urgent)
        VALUES (NEW.uid, NEW.turn_uid, NEW.hidden OR (OLD.project_id IS NOT NULL AND OLD.project_id IS NOT NEW.project_id)
            OR EXISTS (SELECT 1 FROM share_outbox WHERE uid = NEW.uid AND urgent = 1));
    DELETE FROM share_outbox WHERE uid = NEW.uid AND change < (SELECT max(change) FROM share_outbox WHERE uid = NEW.uid);
END;

CREATE TRIGGER IF NOT EXISTS share_episode_removed AFTER DELETE ON episodes
WHEN OLD.generation <> -2 AND EXISTS (SELECT 1 FROM share_target WHERE active = 1)
BEGIN
    INSERT INTO share_outbox (uid, turn_uid, urgent) VALUES (OLD.uid, OLD.turn_uid, 1);
    DELETE FROM share_outbox WHERE uid = OLD.uid AND change < (SELECT max(change) FROM share_outbox WHERE uid = OLD.uid);
END;

CREATE TRIGGER IF NOT EXISTS share_branch_changed AFTER UPDATE OF git_branch ON episode_texts
WHEN OLD.git_branch IS NOT NEW.git_branch AND EXISTS (SELECT 1 FROM share_target WHERE active = 1)
BEGIN
    INSERT INTO share_outbox (uid, turn_uid, urgent)
        SELECT uid, turn_uid, hidden OR EXISTS (SELECT 1 FROM share_outbox AS before WHERE before.uid = episodes.uid AND urgent = 1)
        FROM episodes WHERE id = NEW.episode_id AND generation <> -2;
    DELETE FROM share_outbox WHERE uid = (SELECT uid FROM episodes WHERE id = NEW.episode_id)
        AND change < (SELECT max(change) FROM share_outbox AS later WHERE later.uid = share_outbox.uid);
END;

-- The rows of the turn go after its tombstone came: here it is still known what it was. That a fact was forgotten is told where it was
-- shared, and nowhere else: neither to the team that the settings name next.
CREATE TRIGGER IF NOT EXISTS share_turn_forgotten AFTER INSERT ON tombstones
BEGIN
    DELETE FROM share_turns WHERE turn_uid = NEW.uid AND what = 'passed';
    INSERT INTO share_turns (turn_uid, what)
        SELECT NEW.uid, 'untold' WHERE NOT EXISTS (SELECT 1 FROM share_turns WHERE turn_uid = NEW.uid AND what = 'untold')
            AND EXISTS (SELECT 1 FROM episodes JOIN sessions ON sessions.id = episodes.session_id
                WHERE turn_uid = NEW.uid AND generation <> -2 AND agent = 'user' AND external_id = 'remembered');
    INSERT INTO share_outbox (uid, turn_uid, urgent)
        SELECT NEW.uid, NEW.uid, 1 WHERE EXISTS (SELECT 1 FROM share_target WHERE active = 1)
            AND (NOT EXISTS (SELECT 1 FROM share_turns WHERE turn_uid = NEW.uid AND what = 'untold')
                OR EXISTS (SELECT 1 FROM share_pushed WHERE turn_uid = NEW.uid));
    DELETE FROM share_outbox WHERE uid = NEW.uid AND change < (SELECT max(change) FROM share_outbox WHERE uid = NEW.uid);
END;

-- What a project is called says whether it is shared, and goes along.
CREATE TRIGGER IF NOT EXISTS share_project_renamed AFTER UPDATE OF name, root ON projects
WHEN (OLD.name, OLD.root) IS NOT (NEW.name, NEW.root) AND EXISTS (SELECT 1 FROM share_target WHERE active = 1)
BEGIN
    INSERT INTO share_outbox (uid, turn_uid, urgent)
        SELECT uid, turn_uid, hidden OR EXISTS (SELECT 1 FROM share_outbox AS before WHERE before.uid = episodes.uid AND urgent = 1)
        FROM episodes WHERE project_id = NEW.id AND generation <> -2;
    DELETE FROM share_outbox WHERE uid IN (SELECT uid FROM episodes WHERE project_id = NEW.id AND generation <> -2)
        AND change < (SELECT max(change) FROM share_outbox AS later WHERE later.uid = share_outbox.uid);
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
    INSERT INTO share_outbox (uid, turn_uid, urgent)
        SELECT uid, turn_uid, hidden OR EXISTS (SELECT 1 FROM share_outbox AS before WHERE before.uid = episodes.uid AND urgent = 1)
        FROM episodes WHERE project_id = NEW.project_id AND generation <> -2;
    DELETE FROM share_outbox WHERE uid IN (SELECT uid FROM episodes WHERE project_id = NEW.project_id AND generation <> -2)
        AND change < (SELECT max(change) FROM share_outbox AS later WHERE later.uid = share_outbox.uid);
END;

CREATE TRIGGER IF NOT EXISTS share_key_changed AFTER UPDATE ON project_aliases
WHEN (OLD.key, OLD.project_id) IS NOT (NEW.key, NEW.project_id) AND EXISTS (SELECT 1 FROM share_target WHERE active = 1)
BEGIN
    INSERT INTO share_outbox (uid, turn_uid, urgent)
        SELECT uid, turn_uid, hidden OR EXISTS (SELECT 1 FROM share_pushed WHERE share_pushed.uid = episodes.uid AND state > 0)
            OR EXISTS (SELECT 1 FROM share_outbox AS before WHERE before.uid = episodes.uid AND urgent = 1)
        FROM episodes WHERE project_id IN (OLD.project_id, NEW.project_id) AND generation <> -2;
    DELETE FROM share_outbox
        WHERE uid IN (SELECT uid FROM episodes WHERE project_id IN (OLD.project_id, NEW.project_id) AND generation <> -2)
            AND change < (SELECT max(change) FROM share_outbox AS later WHERE later.uid = share_outbox.uid);
END;

CREATE TRIGGER IF NOT EXISTS share_key_removed AFTER DELETE ON project_aliases
WHEN EXISTS (SELECT 1 FROM share_target WHERE active = 1)
BEGIN
    INSERT INTO share_outbox (uid, turn_uid, urgent)
        SELECT uid, turn_uid, hidden OR EXISTS (SELECT 1 FROM share_pushed WHERE share_pushed.uid = episodes.uid AND state > 0)
            OR EXISTS (SELECT 1 FROM share_outbox AS before WHERE before.uid = episodes.uid AND urgent = 1)
        FROM episodes WHERE project_id = OLD.project_id AND generation <> -2;
    DELETE FROM share_outbox WHERE uid IN (SELECT uid FROM episodes WHERE project_id = OLD.project_id AND generation <> -2)
        AND change < (SELECT max(change) FROM share_outbox AS later WHERE later.uid = share_outbox.uid);
END;
