-- The shared store: one PostgreSQL, to which the machines of a team bring their episodes, and from which they take the others'.
-- Here: its roles, who is in which team, and what was done. Everything lies in the schema `remembrancer` and is owned by
-- `remembrancer_owner`, a role that nobody logs in as. A member is a login in `remembrancer_member`; who it is, is always told by
-- `session_user`, which a login can't change. Members read what policies show them, and change nothing but by functions.
--
-- To be run by whoever may make roles here and is, or may make, the extension `vector`: a superuser, or the owner of a managed
-- database. Each migration is one transaction and may be run twice.
BEGIN;
SET LOCAL search_path = pg_catalog, pg_temp;
SET LOCAL client_min_messages = warning;

DO $$
DECLARE
    found int[];
BEGIN
    -- Two who run migrations take turns.
    PERFORM pg_advisory_xact_lock(7306915, 1);
    IF current_setting('server_version_num')::int < 150000 THEN
        RAISE EXCEPTION 'the shared store needs PostgreSQL 15 or newer, and this is %', current_setting('server_version')
            USING ERRCODE = 'RM008', HINT = 'Use a newer server.';
    END IF;
    IF current_setting('server_encoding') <> 'UTF8' THEN
        RAISE EXCEPTION 'the shared store needs a database in UTF8, and this one is in %', current_setting('server_encoding')
            USING ERRCODE = 'RM008', HINT = 'Make another: CREATE DATABASE … ENCODING ''UTF8'' TEMPLATE template0.';
    END IF;
    IF NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'vector')
        AND NOT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'vector') THEN
        RAISE EXCEPTION 'the shared store needs the extension pgvector, which this server does not have'
            USING ERRCODE = 'RM008', HINT = 'Install pgvector 0.7 or newer on the server (such as the package postgresql-16-pgvector), or choose it in your provider''s settings.';
    END IF;

    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'remembrancer_owner') THEN
        CREATE ROLE remembrancer_owner NOLOGIN;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'remembrancer_member') THEN
        CREATE ROLE remembrancer_member NOLOGIN;
    END IF;
    IF NOT pg_has_role(current_user, 'remembrancer_owner', 'USAGE') THEN
        EXECUTE format('GRANT remembrancer_owner TO %I', current_user);
    END IF;
    -- By which `add_member` makes a login a member.
    IF NOT pg_has_role('remembrancer_owner', 'remembrancer_member', 'MEMBER WITH ADMIN OPTION') THEN
        GRANT remembrancer_member TO remembrancer_owner WITH ADMIN OPTION;
    END IF;
    CREATE SCHEMA IF NOT EXISTS remembrancer AUTHORIZATION remembrancer_owner;

    IF NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'vector') THEN
        BEGIN
            CREATE EXTENSION vector SCHEMA remembrancer;
        EXCEPTION WHEN insufficient_privilege THEN
            RAISE EXCEPTION 'the extension pgvector is not in this database, and % may not make it', current_user
                USING ERRCODE = 'RM008', HINT = 'Have a superuser run CREATE EXTENSION vector in this database, then run this again.';
        END;
    END IF;
    SELECT string_to_array(substring(extversion FROM '^\d+\.\d+'), '.')::int[] INTO found FROM pg_extension WHERE extname = 'vector';
    IF found IS NULL OR found < ARRAY[0, 7] THEN
        RAISE EXCEPTION 'the shared store needs pgvector 0.7 or newer, and this database has %',
            (SELECT extversion FROM pg_extension WHERE extname = 'vector')
            USING ERRCODE = 'RM008', HINT = 'Install a newer one on the server, then run ALTER EXTENSION vector UPDATE in this database.';
    END IF;
END
$$;

SET LOCAL ROLE remembrancer_owner;

REVOKE ALL ON SCHEMA remembrancer FROM PUBLIC;
GRANT USAGE ON SCHEMA remembrancer TO remembrancer_member;

-- What holds for all: `version`, the newest migration that was run; `oldest_client`, the oldest one that is still served.
CREATE TABLE IF NOT EXISTS remembrancer.meta (
    key text PRIMARY KEY,
    value text NOT NULL
);

-- Opens a migration after the first: raises where the one before it is missing or a newer one was run.
CREATE OR REPLACE FUNCTION remembrancer.begin_migration(number int) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    found int;
BEGIN
    PERFORM pg_advisory_xact_lock(7306915, 1);
    SELECT value::int INTO found FROM remembrancer.meta WHERE key = 'version';
    IF coalesce(found, 0) < number - 1 THEN
        RAISE EXCEPTION 'the shared store is of version %, and migration % follows on %', coalesce(found, 0), number, number - 1
            USING ERRCODE = 'RM008', HINT = 'Run the migrations in order: remembrancer share init.';
    END IF;
    IF found > number THEN
        RAISE EXCEPTION 'the shared store is of version % already: migration % would take it back', found, number
            USING ERRCODE = 'RM008', HINT = 'Leave it as it is.';
    END IF;
END
$$;

-- Ends one: notes its number.
CREATE OR REPLACE FUNCTION remembrancer.end_migration(number int) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    INSERT INTO remembrancer.meta (key, value) VALUES ('version', number::text)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value;
$$;

REVOKE ALL ON FUNCTION remembrancer.begin_migration(int), remembrancer.end_migration(int) FROM PUBLIC;

DO $$ BEGIN PERFORM remembrancer.begin_migration(1); END $$;

-- `seq` is the number of the last change. Who changes something in a team locks its row first and keeps it to the commit, so that
-- numbers become visible in their order. `key_check` tells a machine of a sealed team whether it has the team's key.
CREATE TABLE IF NOT EXISTS remembrancer.teams (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 200),
    seq bigint NOT NULL DEFAULT 0,
    sealed boolean NOT NULL DEFAULT false,
    key_check bytea CHECK (octet_length(key_check) BETWEEN 8 AND 64),
    CHECK (sealed = (key_check IS NOT NULL))
) WITH (fillfactor = 50);

CREATE TABLE IF NOT EXISTS remembrancer.members (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    login name NOT NULL UNIQUE
);

-- Who left stays, so that what they left has a name.
CREATE TABLE IF NOT EXISTS remembrancer.team_members (
    team int NOT NULL REFERENCES remembrancer.teams (id),
    member int NOT NULL REFERENCES remembrancer.members (id),
    admin boolean NOT NULL DEFAULT false,
    left_at timestamptz,
    PRIMARY KEY (team, member)
);
CREATE INDEX IF NOT EXISTS idx_team_members_member ON remembrancer.team_members (member);

CREATE TABLE IF NOT EXISTS remembrancer.machines (
    id bytea PRIMARY KEY CHECK (octet_length(id) = 16),
    member int NOT NULL REFERENCES remembrancer.members (id),
    name text NOT NULL CHECK (length(name) <= 200),
    first_seen timestamptz NOT NULL DEFAULT now(),
    last_seen timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX IF NOT EXISTS idx_machines_member ON remembrancer.machines (member);

-- Who shared what, and what else was done; no text. `count` of what, and `detail` as JSON, say the acts themselves.
CREATE TABLE IF NOT EXISTS remembrancer.audit (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT now(),
    team int,
    member int,
    machine bytea,
    act text NOT NULL,
    count bigint NOT NULL DEFAULT 0,
    detail jsonb
);
CREATE INDEX IF NOT EXISTS idx_audit_team ON remembrancer.audit (team, id);
CREATE INDEX IF NOT EXISTS idx_audit_member ON remembrancer.audit (member, id);

-- What policies ask. A policy puts each into a sub-select of its own, so that it is asked once a statement and not once a row.

-- The member that is logged in; null for any other login.
CREATE OR REPLACE FUNCTION remembrancer.my_member() RETURNS int
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT m.id FROM remembrancer.members m WHERE m.login = session_user;
$$;

-- The teams that it is in.
CREATE OR REPLACE FUNCTION remembrancer.my_teams() RETURNS int[]
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(array_agg(tm.team), '{}') FROM remembrancer.team_members tm JOIN remembrancer.members m ON m.id = tm.member
    WHERE m.login = session_user AND tm.left_at IS NULL;
$$;

-- Those among them that it looks after.
CREATE OR REPLACE FUNCTION remembrancer.my_admin_teams() RETURNS int[]
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(array_agg(tm.team), '{}') FROM remembrancer.team_members tm JOIN remembrancer.members m ON m.id = tm.member
    WHERE m.login = session_user AND tm.left_at IS NULL AND tm.admin;
$$;

-- All who are or were in its teams.
CREATE OR REPLACE FUNCTION remembrancer.my_fellows() RETURNS int[]
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(array_agg(DISTINCT tm.member), '{}') FROM remembrancer.team_members tm
    WHERE tm.team = ANY (remembrancer.my_teams());
$$;

REVOKE ALL ON FUNCTION remembrancer.my_member(), remembrancer.my_teams(), remembrancer.my_admin_teams(), remembrancer.my_fellows()
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION remembrancer.my_member(), remembrancer.my_teams(), remembrancer.my_admin_teams(), remembrancer.my_fellows()
    TO remembrancer_member;

-- Closes a table: nobody passes its policies, its owner neither, who is let through by one of its own.
CREATE OR REPLACE FUNCTION remembrancer.close_table(closed regclass) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', closed);
    EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', closed);
    EXECUTE format('DROP POLICY IF EXISTS owner_all ON %s', closed);
    EXECUTE format('CREATE POLICY owner_all ON %s TO remembrancer_owner USING (true) WITH CHECK (true)', closed);
END
$$;

-- Lets members read the rows of a closed table of which `shown` holds.
CREATE OR REPLACE FUNCTION remembrancer.show_to_members(closed regclass, shown text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format('DROP POLICY IF EXISTS member_reads ON %s', closed);
    EXECUTE format('CREATE POLICY member_reads ON %s FOR SELECT TO remembrancer_member USING (%s)', closed, shown);
END
$$;

REVOKE ALL ON FUNCTION remembrancer.close_table(regclass), remembrancer.show_to_members(regclass, text) FROM PUBLIC;

DO $$
DECLARE
    closed text;
BEGIN
    FOREACH closed IN ARRAY ARRAY['meta', 'teams', 'members', 'team_members', 'machines', 'audit'] LOOP
        PERFORM remembrancer.close_table(('remembrancer.' || closed)::regclass);
    END LOOP;
    PERFORM remembrancer.show_to_members('remembrancer.meta', 'true');
    PERFORM remembrancer.show_to_members('remembrancer.teams', 'id = ANY ((SELECT remembrancer.my_teams())::int[])');
    PERFORM remembrancer.show_to_members('remembrancer.members', 'id = ANY ((SELECT remembrancer.my_fellows())::int[])');
    PERFORM remembrancer.show_to_members('remembrancer.machines', 'member = ANY ((SELECT remembrancer.my_fellows())::int[])');
    PERFORM remembrancer.show_to_members('remembrancer.audit',
        'member = (SELECT remembrancer.my_member()) OR team = ANY ((SELECT remembrancer.my_admin_teams())::int[])');
END
$$;

GRANT SELECT ON remembrancer.meta, remembrancer.teams, remembrancer.members, remembrancer.audit TO remembrancer_member;
-- When a machine was last there is nobody else's business.
GRANT SELECT (id, member, name) ON remembrancer.machines TO remembrancer_member;

INSERT INTO remembrancer.meta (key, value) VALUES ('oldest_client', '1') ON CONFLICT (key) DO NOTHING;
DO $$ BEGIN PERFORM remembrancer.end_migration(1); END $$;
COMMIT;
