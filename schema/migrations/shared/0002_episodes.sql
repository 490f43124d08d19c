-- What is shared: episodes, the marks of what was taken back, and what is on its way in.
BEGIN;
SET LOCAL search_path = pg_catalog, pg_temp;
SET LOCAL client_min_messages = warning;
SET LOCAL ROLE remembrancer_owner;
DO $$ BEGIN PERFORM remembrancer.begin_migration(2); END $$;

-- `kind`: 0 live, 1 withdrawn, 2 forgotten. What is not live keeps where it stood and whose it was, and no text at all. A team's rows
-- lie in one of the parts, so that each query looks at one. In a sealed team all that can be read is in `sealed`.
CREATE TABLE IF NOT EXISTS remembrancer.episodes (
    team int NOT NULL,
    uid bytea NOT NULL CHECK (octet_length(uid) = 16),
    turn_uid bytea NOT NULL CHECK (octet_length(turn_uid) = 16),
    member int NOT NULL,
    machine bytea NOT NULL CHECK (octet_length(machine) = 16),
    seq bigint NOT NULL,
    kind smallint NOT NULL DEFAULT 0 CHECK (kind BETWEEN 0 AND 2),
    origin smallint,
    importance smallint,
    turn int,
    part int,
    created_at bigint,
    updated_at bigint,
    project_keys text[],
    project_name text,
    agent text,
    session text,
    importance_rule text,
    git_branch text,
    content_hash bytea,
    prompt text,
    answer text,
    facets text,
    sealed bytea,
    -- Long texts are found by their beginnings: a document of words has at most 1 MiB.
    words tsvector GENERATED ALWAYS AS (
        setweight(to_tsvector('pg_catalog.english'::regconfig, left(coalesce(prompt, ''), 20000)), 'A')
        || setweight(to_tsvector('pg_catalog.english'::regconfig, left(coalesce(answer, ''), 60000)), 'B')
        || setweight(to_tsvector('pg_catalog.english'::regconfig, left(coalesce(facets, ''), 20000)), 'C')
    ) STORED,
    PRIMARY KEY (team, uid),
    CONSTRAINT live_is_whole CHECK (kind <> 0 OR num_nulls(origin, importance, turn, part, created_at, updated_at, project_keys,
        project_name, agent, session, importance_rule, content_hash, prompt, answer, facets) = 0),
    CONSTRAINT gone_is_empty CHECK (kind = 0 OR num_nonnulls(origin, importance, turn, part, created_at, updated_at, project_keys,
        project_name, agent, session, importance_rule, git_branch, content_hash, prompt, answer, facets, sealed) = 0)
) PARTITION BY HASH (team);

DO $$
DECLARE
    part text;
BEGIN
    FOR n IN 0..15 LOOP
        part := format('remembrancer.episodes_%s', lpad(n::text, 2, '0'));
        EXECUTE format('CREATE TABLE IF NOT EXISTS %s PARTITION OF remembrancer.episodes FOR VALUES WITH (MODULUS 16, REMAINDER %s)', part, n);
        -- Reached through the whole alone: a part has no policy, and lets nobody in.
        EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', part);
        EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', part);
    END LOOP;
END
$$;

CREATE UNIQUE INDEX IF NOT EXISTS idx_episodes_seq ON remembrancer.episodes (team, seq);
-- What was taken back, for who pulls that alone.
CREATE INDEX IF NOT EXISTS idx_episodes_withdrawn ON remembrancer.episodes (team, seq) WHERE kind = 1;
CREATE INDEX IF NOT EXISTS idx_episodes_turn ON remembrancer.episodes (team, turn_uid);
CREATE INDEX IF NOT EXISTS idx_episodes_member ON remembrancer.episodes (team, member);
CREATE INDEX IF NOT EXISTS idx_episodes_words ON remembrancer.episodes USING gin (words) WITH (fastupdate = off);

-- Turns that a member wants never to be here again. What is here of them is of kind 2; the mark is what travels.
CREATE TABLE IF NOT EXISTS remembrancer.forgotten (
    team int NOT NULL,
    member int NOT NULL,
    turn_uid bytea NOT NULL CHECK (octet_length(turn_uid) = 16),
    machine bytea NOT NULL,
    seq bigint NOT NULL,
    at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (team, member, turn_uid)
);
CREATE UNIQUE INDEX IF NOT EXISTS idx_forgotten_seq ON remembrancer.forgotten (team, seq);

-- Where COPY puts what is pushed, for the rest of its transaction: `push` takes it from here. Who put it there and when are the
-- server's words. Members may put and not read, so there is no policy (COPY would not go with one). What a transaction left that
-- never pushed is removed by the next push of anybody.
CREATE UNLOGGED TABLE IF NOT EXISTS remembrancer.incoming (
    xact xid8 NOT NULL DEFAULT pg_current_xact_id(),
    login name NOT NULL DEFAULT session_user,
    team int,
    uid bytea,
    turn_uid bytea,
    project_keys text[],
    project_name text,
    agent text,
    session text,
    origin smallint,
    turn int,
    part int,
    importance smallint,
    importance_rule text,
    created_at bigint,
    updated_at bigint,
    git_branch text,
    prompt text,
    answer text,
    facets text,
    content_hash bytea,
    sealed bytea,
    model text,
    embedding real[]
) WITH (
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
    toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 5000
);
CREATE INDEX IF NOT EXISTS idx_incoming_xact ON remembrancer.incoming (xact);

-- Bounds what comes in before any of it is stored: a value of the wrong size is an error that names it.
CREATE OR REPLACE FUNCTION remembrancer.bound_incoming() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    wrong text;
BEGIN
    -- Each condition holds where all is well; one that is null does not hold.
    wrong := CASE
        WHEN (NEW.team > 0) IS NOT TRUE THEN 'team'
        WHEN (octet_length(NEW.uid) = 16) IS NOT TRUE THEN 'uid (16 bytes)'
        WHEN (octet_length(NEW.turn_uid) = 16) IS NOT TRUE THEN 'turn_uid (16 bytes)'
        WHEN (cardinality(NEW.project_keys) <= 16 AND coalesce(array_ndims(NEW.project_keys), 1) = 1
            AND array_position(NEW.project_keys, NULL) IS NULL
            AND octet_length(array_to_string(NEW.project_keys, '')) <= 8192) IS NOT TRUE
            THEN 'project_keys (at most 16 of 8 KiB together)'
        -- A key that is a path is a folder of somebody's machine.
        WHEN ('/' = ANY (SELECT left(key, 1) FROM unnest(NEW.project_keys) AS key)) THEN 'project_keys (a path)'
        WHEN (octet_length(NEW.project_name) <= 1024) IS NOT TRUE THEN 'project_name (1 KiB)'
        WHEN (octet_length(NEW.agent) <= 128) IS NOT TRUE THEN 'agent (128 bytes)'
        WHEN (octet_length(NEW.session) <= 1024) IS NOT TRUE THEN 'session (1 KiB)'
        WHEN (NEW.origin BETWEEN 0 AND 1) IS NOT TRUE THEN 'origin (0 or 1)'
        WHEN (NEW.turn >= 0) IS NOT TRUE THEN 'turn (0 or more)'
        WHEN (NEW.part >= 0) IS NOT TRUE THEN 'part (0 or more)'
        WHEN (NEW.importance BETWEEN 0 AND 2) IS NOT TRUE THEN 'importance (0 to 2)'
        WHEN (octet_length(NEW.importance_rule) <= 256) IS NOT TRUE THEN 'importance_rule (256 bytes)'
        WHEN (NEW.created_at IS NULL) THEN 'created_at'
        WHEN (NEW.updated_at IS NULL) THEN 'updated_at'
        WHEN (octet_length(NEW.git_branch) > 1024) THEN 'git_branch (1 KiB)'
        WHEN (octet_length(NEW.prompt) <= 1048576) IS NOT TRUE THEN 'prompt (1 MiB)'
        WHEN (octet_length(NEW.answer) <= 1048576) IS NOT TRUE THEN 'answer (1 MiB)'
        WHEN (octet_length(NEW.facets) <= 1048576) IS NOT TRUE THEN 'facets (1 MiB)'
        WHEN (octet_length(NEW.content_hash) = 32) IS NOT TRUE THEN 'content_hash (32 bytes)'
        WHEN (octet_length(NEW.sealed) NOT BETWEEN 41 AND 8388608) THEN 'sealed (41 bytes to 8 MiB)'
        WHEN ((NEW.model IS NULL) <> (NEW.embedding IS NULL)) THEN 'model and embedding (both or neither)'
        WHEN (octet_length(NEW.model) > 256) THEN 'model (256 bytes)'
        WHEN (NOT (cardinality(NEW.embedding) BETWEEN 1 AND 4000 AND array_ndims(NEW.embedding) = 1
            AND array_position(NEW.embedding, NULL) IS NULL)) THEN 'embedding (1 to 4000 numbers)'
    END;
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION 'an episode has a value that the shared store does not take: %', wrong
            USING ERRCODE = 'RM006', DETAIL = format('uid %s', encode(substring(NEW.uid FROM 1 FOR 16), 'hex'));
    END IF;
    RETURN NEW;
END
$$;
REVOKE ALL ON FUNCTION remembrancer.bound_incoming() FROM PUBLIC;
CREATE OR REPLACE TRIGGER bound BEFORE INSERT ON remembrancer.incoming
    FOR EACH ROW EXECUTE FUNCTION remembrancer.bound_incoming();

-- Nobody puts anything there who is in no team (any more).
CREATE OR REPLACE FUNCTION remembrancer.admit_incoming() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF cardinality(remembrancer.my_teams()) = 0 THEN
        RAISE EXCEPTION 'the login % is in no team of this shared store', session_user
            USING ERRCODE = 'RM001', HINT = 'Have one who looks after a team add it: remembrancer share add-member.';
    END IF;
    RETURN NULL;
END
$$;
REVOKE ALL ON FUNCTION remembrancer.admit_incoming() FROM PUBLIC;
CREATE OR REPLACE TRIGGER admit BEFORE INSERT ON remembrancer.incoming
    FOR EACH STATEMENT EXECUTE FUNCTION remembrancer.admit_incoming();

DO $$
BEGIN
    PERFORM remembrancer.close_table('remembrancer.episodes');
    PERFORM remembrancer.close_table('remembrancer.forgotten');
    PERFORM remembrancer.show_to_members('remembrancer.episodes', 'team = ANY ((SELECT remembrancer.my_teams())::int[])');
    PERFORM remembrancer.show_to_members('remembrancer.forgotten', 'team = ANY ((SELECT remembrancer.my_teams())::int[])');
END
$$;

GRANT SELECT ON remembrancer.episodes, remembrancer.forgotten TO remembrancer_member;
GRANT INSERT (team, uid, turn_uid, project_keys, project_name, agent, session, origin, turn, part, importance, importance_rule,
    created_at, updated_at, git_branch, prompt, answer, facets, content_hash, sealed, model, embedding)
    ON remembrancer.incoming TO remembrancer_member;

DO $$ BEGIN PERFORM remembrancer.end_migration(2); END $$;
COMMIT;
