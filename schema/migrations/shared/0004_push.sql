-- What members may do: say who they are, bring episodes, take them back; and who looks after teams. Each checks who is logged in, and
-- does with the owner's rights only what it says. `session_user` is the login whatever role it plays.
BEGIN;
SET LOCAL search_path = pg_catalog, pg_temp;
SET LOCAL client_min_messages = warning;
SET LOCAL ROLE remembrancer_owner;
DO $$ BEGIN PERFORM remembrancer.begin_migration(4); END $$;

-- The member that is logged in, who must be in the team. Whether there is such a team is not told to who is not.
CREATE OR REPLACE FUNCTION remembrancer.acting_in(in_team int) RETURNS int
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    me int := remembrancer.my_member();
BEGIN
    IF me IS NULL THEN
        RAISE EXCEPTION 'the login % is no member of this shared store', session_user
            USING ERRCODE = 'RM001', HINT = 'Have one who looks after a team add it: remembrancer share add-member.';
    END IF;
    IF (in_team = ANY (remembrancer.my_teams())) IS NOT TRUE THEN
        RAISE EXCEPTION 'there is no such team, or % is not in it', session_user
            USING ERRCODE = 'RM002', HINT = 'Check share.team, or have one who looks after it add the login: remembrancer share add-member.';
    END IF;
    RETURN me;
END
$$;

-- The same, where a machine acts, which must be the member's.
CREATE OR REPLACE FUNCTION remembrancer.acting(in_team int, in_machine bytea) RETURNS int
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    me int := remembrancer.acting_in(in_team);
BEGIN
    IF NOT EXISTS (SELECT FROM remembrancer.machines m WHERE m.id = in_machine AND m.member = me) THEN
        RAISE EXCEPTION 'this machine is not one of %', session_user
            USING ERRCODE = 'RM004', HINT = 'Say hello first. Where the memory was copied from another machine, have it made a machine of its own.';
    END IF;
    RETURN me;
END
$$;

-- Raises where a list has more than its bound, or is none.
CREATE OR REPLACE FUNCTION remembrancer.bounded(things bytea[]) RETURNS void
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF (cardinality(things) <= 10000) IS NOT TRUE OR array_position(things, NULL) IS NOT NULL
        OR EXISTS (SELECT FROM unnest(things) AS thing WHERE octet_length(thing) <> 16) THEN
        RAISE EXCEPTION 'at most 10000 uids of 16 bytes each are taken at once' USING ERRCODE = 'RM006';
    END IF;
END
$$;

-- How many rows one statement takes back, so that it ends soon and holds nobody up for long.
CREATE OR REPLACE FUNCTION remembrancer.step(most int) RETURNS int
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT least(greatest(coalesce(most, 0), 1), 10000);
$$;

-- Who a machine is, and where the team stands. Notes the machine.
CREATE OR REPLACE FUNCTION remembrancer.hello(in_machine bytea, in_machine_name text, in_team text, in_client_version int)
RETURNS TABLE (server_version int, oldest_client int, team_id int, member_id int, member_login text, sealed boolean, key_check bytea, head bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '10s' AS $$
#variable_conflict use_column
DECLARE
    me int;
    its_team remembrancer.teams;
    served int := (SELECT value::int FROM remembrancer.meta WHERE key = 'oldest_client');
    known boolean;
BEGIN
    IF (in_client_version >= served) IS NOT TRUE THEN
        RAISE EXCEPTION 'this shared store serves machines of version % and newer, and this one is of %', served, in_client_version
            USING ERRCODE = 'RM003', HINT = 'Install a newer Remembrancer.';
    END IF;
    IF (octet_length(in_machine) = 16 AND in_machine <> decode(repeat('00', 16), 'hex') AND length(in_machine_name) <= 200) IS NOT TRUE THEN
        RAISE EXCEPTION 'a machine has an id of 16 bytes, which are not all zero, and a name of at most 200 characters' USING ERRCODE = 'RM006';
    END IF;
    SELECT * INTO its_team FROM remembrancer.teams t WHERE t.name = in_team;
    me := remembrancer.acting_in(its_team.id);
    SELECT m.member = me INTO known FROM remembrancer.machines m WHERE m.id = in_machine;
    IF known IS NULL THEN
        IF (SELECT count(*) FROM remembrancer.machines m WHERE m.member = me) >= 1000 THEN
            RAISE EXCEPTION '% has 1000 machines, and no more are taken', session_user USING ERRCODE = 'RM006';
        END IF;
        INSERT INTO remembrancer.machines (id, member, name) VALUES (in_machine, me, in_machine_name) ON CONFLICT (id) DO NOTHING;
        INSERT INTO remembrancer.audit (team, member, machine, act, count) VALUES (its_team.id, me, in_machine, 'machine', 1);
        SELECT m.member = me INTO known FROM remembrancer.machines m WHERE m.id = in_machine;
    END IF;
    IF known IS NOT TRUE THEN
        RAISE EXCEPTION 'this machine''s id is another member''s'
            USING ERRCODE = 'RM004', HINT = 'Where the memory was copied from another machine, have it made a machine of its own.';
    END IF;
    UPDATE remembrancer.machines m SET name = in_machine_name, last_seen = now() WHERE m.id = in_machine;
    RETURN QUERY SELECT (SELECT value::int FROM remembrancer.meta WHERE key = 'version'), served, its_team.id, me, session_user::text,
        its_team.sealed, its_team.key_check, its_team.seq;
END
$$;

-- Takes from `incoming` what this transaction and login put there for the team. What is the same already is left as it is, and is this
-- machine's from then on; what the member wants forgotten, or another member shares, is refused. What another took back is free.
CREATE OR REPLACE FUNCTION remembrancer.push(in_team int, in_machine bytea) RETURNS TABLE (taken bigint, unchanged bigint, refused bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '10s' AS $$
#variable_conflict use_column
DECLARE
    me int := remembrancer.acting(in_team, in_machine);
    this xid8 := pg_current_xact_id();
    is_sealed boolean;
    base bigint;
    given bigint;
    different bigint;
    wrong bytea;
    new_uids bytea[];
    told_anew bytea[];
    same_uids bytea[];
    kept bigint;
    detail jsonb;
BEGIN
    -- What of another transaction can be seen here was left by one that is over; what somebody else removes just now is not waited for.
    DELETE FROM remembrancer.incoming i WHERE i.ctid = ANY (ARRAY(
        SELECT o.ctid FROM remembrancer.incoming o WHERE o.xact < this LIMIT 5000 FOR UPDATE SKIP LOCKED));

    SELECT t.sealed, t.seq INTO is_sealed, base FROM remembrancer.teams t WHERE t.id = in_team FOR NO KEY UPDATE;
    SELECT count(*), count(DISTINCT i.uid) INTO given, different
        FROM remembrancer.incoming i WHERE i.xact = this AND i.login = session_user AND i.team = in_team;
    IF given > 10000 THEN
        RAISE EXCEPTION 'at most 10000 episodes are taken at once, and these are %', given USING ERRCODE = 'RM006';
    END IF;
    SELECT i.uid INTO wrong FROM remembrancer.incoming i
        WHERE i.xact = this AND i.login = session_user AND i.team = in_team AND NOT CASE
            WHEN is_sealed THEN i.sealed IS NOT NULL AND i.prompt = '' AND i.answer = '' AND i.facets IN ('', '{}')
                AND coalesce(i.git_branch, '') = '' AND i.project_name = '' AND i.session ~ '^h:[0-9a-f]{32}$'
                AND NOT EXISTS (SELECT FROM unnest(i.project_keys) AS key WHERE key !~ '^h:[0-9a-f]{32}$')
            ELSE i.sealed IS NULL
        END LIMIT 1;
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION 'the team is %, and an episode is not', CASE WHEN is_sealed THEN 'sealed' ELSE 'in the clear' END
            USING ERRCODE = 'RM005', DETAIL = format('uid %s', encode(wrong, 'hex')), HINT = 'Check share.key_file.';
    END IF;
    SELECT i.uid INTO wrong FROM remembrancer.incoming i JOIN remembrancer.models m ON m.name = i.model
        WHERE i.xact = this AND i.login = session_user AND i.team = in_team AND cardinality(i.embedding) <> m.dimension LIMIT 1;
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION 'an episode''s vector has another length than its model''s' USING ERRCODE = 'RM006', DETAIL = format('uid %s', encode(wrong, 'hex'));
    END IF;
    IF different < given THEN
        -- Of two with one uid the later one counts.
        DELETE FROM remembrancer.incoming i WHERE i.xact = this AND i.login = session_user AND i.team = in_team AND EXISTS (
            SELECT FROM remembrancer.incoming l WHERE l.xact = this AND l.login = session_user AND l.team = in_team
                AND l.uid = i.uid AND l.ctid > i.ctid);
    END IF;

    BEGIN
        -- Laterals with a limit have the stored row looked up by its key, whatever the planner thinks that it knows of `incoming`.
        -- Sealed texts differ each time that they are sealed, so their length and their content's hash are compared.
        SELECT array_agg(j.uid) FILTER (WHERE j.verdict = 0), array_agg(j.uid) FILTER (WHERE j.verdict = 0 AND j.told_anew),
            array_agg(j.uid) FILTER (WHERE j.verdict = 1)
        INTO new_uids, told_anew, same_uids
        FROM (
            SELECT i.uid, e.content_hash IS DISTINCT FROM i.content_hash AS told_anew, CASE
                WHEN (e.kind = 2 AND e.member = me) OR (e.kind = 0 AND e.member <> me) THEN 2
                WHEN EXISTS (SELECT FROM remembrancer.forgotten f WHERE f.team = in_team AND f.member = me AND f.turn_uid = i.turn_uid) THEN 2
                WHEN e.kind = 0 AND e.turn_uid = i.turn_uid AND e.content_hash = i.content_hash AND e.updated_at = i.updated_at
                    AND e.created_at = i.created_at AND e.origin = i.origin AND e.turn = i.turn AND e.part = i.part
                    AND e.importance = i.importance AND e.importance_rule = i.importance_rule AND e.project_keys = i.project_keys
                    AND e.project_name = i.project_name AND e.agent = i.agent AND e.session = i.session
                    AND e.git_branch IS NOT DISTINCT FROM i.git_branch
                    AND e.prompt = i.prompt AND e.answer = i.answer AND e.facets = i.facets
                    AND octet_length(e.sealed) IS NOT DISTINCT FROM octet_length(i.sealed)
                    AND (m.id IS NULL OR v.embedding = remembrancer.as_stored(i.embedding)) THEN 1
                ELSE 0
            END AS verdict
            FROM remembrancer.incoming i
            LEFT JOIN remembrancer.models m ON m.name = i.model
            LEFT JOIN LATERAL (SELECT * FROM remembrancer.episodes s WHERE s.team = in_team AND s.uid = i.uid LIMIT 1) e ON true
            LEFT JOIN LATERAL (SELECT s.embedding::real[] AS embedding FROM remembrancer.vectors s
                WHERE s.team = in_team AND s.uid = i.uid AND s.model = m.id LIMIT 1) v ON true
            WHERE i.xact = this AND i.login = session_user AND i.team = in_team
        ) j;
        new_uids := coalesce(new_uids, '{}');
        kept := coalesce(cardinality(same_uids), 0);
        -- Who brought it last takes it back: nobody else has to be told.
        UPDATE remembrancer.episodes e SET machine = in_machine
        WHERE e.team = in_team AND e.uid = ANY (same_uids) AND e.machine <> in_machine;

        INSERT INTO remembrancer.episodes (team, uid, turn_uid, member, machine, seq, kind, origin, importance, turn, part, created_at,
            updated_at, project_keys, project_name, agent, session, importance_rule, git_branch, content_hash, prompt, answer, facets, sealed)
        SELECT in_team, i.uid, i.turn_uid, me, in_machine, base + row_number() OVER (ORDER BY i.created_at, i.turn_uid, i.part, i.uid), 0,
            i.origin, i.importance, i.turn, i.part, i.created_at, i.updated_at, i.project_keys, i.project_name, i.agent, i.session,
            i.importance_rule, i.git_branch, i.content_hash, i.prompt, i.answer, i.facets, i.sealed
        FROM remembrancer.incoming i
        WHERE i.xact = this AND i.login = session_user AND i.team = in_team AND i.uid = ANY (new_uids)
        ON CONFLICT (team, uid) DO UPDATE SET turn_uid = excluded.turn_uid, member = excluded.member, machine = excluded.machine,
            seq = excluded.seq, kind = 0, origin = excluded.origin, importance = excluded.importance, turn = excluded.turn, part = excluded.part,
            created_at = excluded.created_at, updated_at = excluded.updated_at, project_keys = excluded.project_keys,
            project_name = excluded.project_name, agent = excluded.agent, session = excluded.session,
            importance_rule = excluded.importance_rule, git_branch = excluded.git_branch, content_hash = excluded.content_hash,
            prompt = excluded.prompt, answer = excluded.answer, facets = excluded.facets, sealed = excluded.sealed;

        -- What a vector was made from has to be what is there.
        DELETE FROM remembrancer.vectors v WHERE v.team = in_team AND v.uid = ANY (told_anew);
        INSERT INTO remembrancer.vectors (team, uid, model, embedding)
        SELECT in_team, i.uid, m.id, i.embedding FROM remembrancer.incoming i JOIN remembrancer.models m ON m.name = i.model
        WHERE i.xact = this AND i.login = session_user AND i.team = in_team AND i.uid = ANY (new_uids)
        ON CONFLICT (team, uid, model) DO UPDATE SET embedding = excluded.embedding
            WHERE vectors.embedding::real[] IS DISTINCT FROM excluded.embedding::real[];
    EXCEPTION WHEN data_exception THEN
        RAISE EXCEPTION 'an episode''s vector has a number that the shared store does not take: %', SQLERRM
            USING ERRCODE = 'RM006', HINT = 'Numbers are finite and at most 65504.';
    END;

    taken := cardinality(new_uids);
    unchanged := kept;
    refused := different - taken - kept;
    IF taken > 0 THEN
        UPDATE remembrancer.teams t SET seq = base + taken WHERE t.id = in_team;
        SELECT jsonb_object_agg(p.key, p.count) INTO detail FROM (
            SELECT coalesce(i.project_keys[1], '') AS key, count(*) FROM remembrancer.incoming i
            WHERE i.xact = this AND i.login = session_user AND i.team = in_team AND i.uid = ANY (new_uids)
            GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20) p;
        INSERT INTO remembrancer.audit (team, member, machine, act, count, detail) VALUES (in_team, me, in_machine, 'push', taken, detail);
        PERFORM pg_notify('remembrancer', in_team::text);
    END IF;
    DELETE FROM remembrancer.incoming i WHERE i.xact = this AND i.login = session_user AND i.team = in_team;
    RETURN NEXT;
END
$$;

-- Empties rows of a team, whose row is locked: as withdrawn (1), with numbers after `base`; or as forgotten (2), with those that they have.
-- A mark is not told to the machine that is noted in it; 16 zero bytes are none, so that all of them are told.
CREATE OR REPLACE FUNCTION remembrancer.empty_rows(in_team int, uids bytea[], new_kind smallint, in_machine bytea, base bigint) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE remembrancer.episodes e SET kind = new_kind, seq = CASE new_kind WHEN 1 THEN base + u.n ELSE e.seq END,
        machine = coalesce(in_machine, decode(repeat('00', 16), 'hex')), origin = NULL, importance = NULL, turn = NULL, part = NULL,
        created_at = NULL, updated_at = NULL, project_keys = NULL, project_name = NULL, agent = NULL, session = NULL, importance_rule = NULL,
        git_branch = NULL, content_hash = NULL, prompt = NULL, answer = NULL, facets = NULL, sealed = NULL
    FROM unnest(uids) WITH ORDINALITY AS u (uid, n)
    WHERE e.team = in_team AND e.uid = u.uid;
    DELETE FROM remembrancer.vectors v WHERE v.team = in_team AND v.uid = ANY (uids);
END
$$;

-- Withdraws rows that the caller chose, and notes and tells it: to all machines, or (`everywhere` false) to all but the one that acts.
-- Returns how many.
CREATE OR REPLACE FUNCTION remembrancer.withdraw_rows(in_team int, uids bytea[], in_machine bytea, by_member int, everywhere boolean,
    in_act text, in_detail jsonb)
RETURNS bigint LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    base bigint := (SELECT t.seq FROM remembrancer.teams t WHERE t.id = in_team);
    gone bigint := coalesce(cardinality(uids), 0);
BEGIN
    IF gone > 0 THEN
        PERFORM remembrancer.empty_rows(in_team, uids, 1::smallint, CASE WHEN everywhere THEN NULL ELSE in_machine END, base);
        UPDATE remembrancer.teams t SET seq = base + gone WHERE t.id = in_team;
        INSERT INTO remembrancer.audit (team, member, machine, act, count, detail)
            VALUES (in_team, by_member, in_machine, in_act, gone, in_detail);
        PERFORM pg_notify('remembrancer', in_team::text);
    END IF;
    RETURN gone;
END
$$;

-- Takes back what this machine shared, or (`everywhere`) any machine of the member, as far as it is here. Returns how many. It may come
-- back by a push.
CREATE OR REPLACE FUNCTION remembrancer.withdraw(in_team int, in_machine bytea, uids bytea[], everywhere boolean) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '10s' AS $$
DECLARE
    me int := remembrancer.acting(in_team, in_machine);
BEGIN
    PERFORM remembrancer.bounded(uids);
    PERFORM FROM remembrancer.teams t WHERE t.id = in_team FOR NO KEY UPDATE;
    RETURN remembrancer.withdraw_rows(in_team, ARRAY(
        SELECT e.uid FROM remembrancer.episodes e WHERE e.team = in_team AND e.uid = ANY (uids) AND e.member = me AND e.kind = 0
            AND (coalesce(everywhere, false) OR e.machine = in_machine)
    ), in_machine, me, coalesce(everywhere, false), 'withdraw', NULL);
END
$$;

-- Takes back what the member shared of projects with one of these keys, of all where there are none: at most so many at once. Returns how
-- many; it is called again until that is 0.
CREATE OR REPLACE FUNCTION remembrancer.withdraw_all(in_team int, in_machine bytea, in_project_keys text[], most int) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '10s' AS $$
DECLARE
    me int := remembrancer.acting(in_team, in_machine);
BEGIN
    PERFORM FROM remembrancer.teams t WHERE t.id = in_team FOR NO KEY UPDATE;
    RETURN remembrancer.withdraw_rows(in_team, ARRAY(
        SELECT e.uid FROM remembrancer.episodes e WHERE e.team = in_team AND e.member = me AND e.kind = 0
            AND (in_project_keys IS NULL OR e.project_keys && in_project_keys)
        LIMIT remembrancer.step(most)
    ), in_machine, me, true, 'withdraw_all', to_jsonb(in_project_keys[:20]));
END
$$;

-- Has turns never be here again: what of them is here and the member's loses its text, and what comes later is refused. Returns how
-- many turns were not forgotten yet. A turn that was never here is marked, too: it may be another machine's of the member.
CREATE OR REPLACE FUNCTION remembrancer.forget(in_team int, in_machine bytea, turns bytea[]) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '10s' AS $$
DECLARE
    me int := remembrancer.acting(in_team, in_machine);
    base bigint;
    gone bigint;
BEGIN
    PERFORM remembrancer.bounded(turns);
    SELECT t.seq INTO base FROM remembrancer.teams t WHERE t.id = in_team FOR NO KEY UPDATE;
    INSERT INTO remembrancer.forgotten (team, member, turn_uid, machine, seq)
    SELECT in_team, me, n.turn_uid, in_machine, base + row_number() OVER (ORDER BY n.turn_uid)
    FROM (SELECT DISTINCT given AS turn_uid FROM unnest(turns) AS given) n
    WHERE NOT EXISTS (SELECT FROM remembrancer.forgotten f WHERE f.team = in_team AND f.member = me AND f.turn_uid = n.turn_uid);
    GET DIAGNOSTICS gone = ROW_COUNT;
    IF gone > 0 THEN
        PERFORM remembrancer.empty_rows(in_team, ARRAY(
            SELECT e.uid FROM remembrancer.episodes e WHERE e.team = in_team AND e.turn_uid = ANY (turns) AND e.member = me AND e.kind < 2
        ), 2::smallint, in_machine, base);
        UPDATE remembrancer.teams t SET seq = base + gone WHERE t.id = in_team;
        INSERT INTO remembrancer.audit (team, member, machine, act, count) VALUES (in_team, me, in_machine, 'forget', gone);
        PERFORM pg_notify('remembrancer', in_team::text);
    END IF;
    RETURN gone;
END
$$;

-- The team of that name, for the owner and for who looks after it; an error for anybody else.
CREATE OR REPLACE FUNCTION remembrancer.looked_after(in_team text) RETURNS int
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    found int := (SELECT t.id FROM remembrancer.teams t WHERE t.name = in_team);
BEGIN
    IF pg_has_role(session_user, 'remembrancer_owner', 'USAGE') THEN
        IF found IS NULL THEN
            RAISE EXCEPTION 'there is no team %', in_team USING ERRCODE = 'RM002', HINT = 'Make it: remembrancer share add-team.';
        END IF;
    ELSIF (found = ANY (remembrancer.my_admin_teams())) IS NOT TRUE THEN
        RAISE EXCEPTION '% does not look after such a team', session_user
            USING ERRCODE = 'RM007', HINT = 'Have the store''s owner do it, or one who looks after the team.';
    END IF;
    RETURN found;
END
$$;

-- Makes a team. Returns its id. For the owner alone.
CREATE OR REPLACE FUNCTION remembrancer.add_team(in_name text, in_sealed boolean, in_key_check bytea) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    made int;
BEGIN
    IF NOT pg_has_role(session_user, 'remembrancer_owner', 'USAGE') THEN
        RAISE EXCEPTION '% may not make a team', session_user USING ERRCODE = 'RM007', HINT = 'Have the store''s owner do it.';
    END IF;
    IF (length(in_name) BETWEEN 1 AND 200 AND in_sealed = (in_key_check IS NOT NULL)
        AND coalesce(octet_length(in_key_check), 16) = 16) IS NOT TRUE THEN
        RAISE EXCEPTION 'a team has a name of 1 to 200 characters, and a key''s check of 16 bytes if and only if it is sealed'
            USING ERRCODE = 'RM006';
    END IF;
    INSERT INTO remembrancer.teams (name, sealed, key_check) VALUES (in_name, in_sealed, in_key_check)
        ON CONFLICT (name) DO NOTHING RETURNING id INTO made;
    IF made IS NULL THEN
        RAISE EXCEPTION 'there is a team % already', in_name USING ERRCODE = 'RM006', HINT = 'Choose another name.';
    END IF;
    INSERT INTO remembrancer.audit (team, member, act, count, detail)
        VALUES (made, remembrancer.my_member(), 'add_team', 1, jsonb_build_object('team', in_name, 'sealed', in_sealed, 'by', session_user));
    RETURN made;
END
$$;

-- Takes a login into a team, or changes whether it looks after it. Returns the member's id.
CREATE OR REPLACE FUNCTION remembrancer.add_member(in_team text, in_login name, in_admin boolean) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    its_team int := remembrancer.looked_after(in_team);
    added int;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles r WHERE r.rolname = in_login AND r.rolcanlogin) THEN
        RAISE EXCEPTION 'there is no login % on this server', in_login
            USING ERRCODE = 'RM006', HINT = format('Make it first: CREATE ROLE %I LOGIN PASSWORD …', in_login);
    END IF;
    IF NOT pg_has_role(in_login, 'remembrancer_member', 'USAGE') THEN
        EXECUTE format('GRANT remembrancer_member TO %I', in_login);
    END IF;
    INSERT INTO remembrancer.members (login) VALUES (in_login) ON CONFLICT (login) DO NOTHING;
    SELECT m.id INTO added FROM remembrancer.members m WHERE m.login = in_login;
    INSERT INTO remembrancer.team_members (team, member, admin) VALUES (its_team, added, coalesce(in_admin, false))
        ON CONFLICT (team, member) DO UPDATE SET admin = excluded.admin, left_at = NULL;
    INSERT INTO remembrancer.audit (team, member, act, count, detail) VALUES (its_team, remembrancer.my_member(), 'add_member', 1,
        jsonb_build_object('login', in_login, 'admin', coalesce(in_admin, false), 'by', session_user));
    RETURN added;
END
$$;

-- Takes a login out of a team: at once it reads nothing there, and brings nothing. What it shared is withdrawn by `withdraw_member`, unless
-- it is to be kept, which is noted. Returns 0. It stays in the role `remembrancer_member`, by which it may be in a shared store of another
-- database.
CREATE OR REPLACE FUNCTION remembrancer.remove_member(in_team text, in_login name, in_keep boolean) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    its_team int := remembrancer.looked_after(in_team);
    removed int;
BEGIN
    PERFORM FROM remembrancer.teams t WHERE t.id = its_team FOR NO KEY UPDATE;
    UPDATE remembrancer.team_members tm SET left_at = now(), admin = false FROM remembrancer.members m
        WHERE tm.team = its_team AND tm.member = m.id AND m.login = in_login AND tm.left_at IS NULL RETURNING m.id INTO removed;
    IF removed IS NULL THEN
        RAISE EXCEPTION '% is not in the team %', in_login, in_team USING ERRCODE = 'RM006';
    END IF;
    INSERT INTO remembrancer.audit (team, member, act, count, detail) VALUES (its_team, remembrancer.my_member(), 'remove_member', 1,
        jsonb_build_object('login', in_login, 'kept', coalesce(in_keep, false), 'by', session_user));
    RETURN 0;
END
$$;

-- Takes back what one shared who left the team: at most so many at once. Returns how many; it is called again until that is 0.
CREATE OR REPLACE FUNCTION remembrancer.withdraw_member(in_team text, in_login name, most int) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '10s' AS $$
DECLARE
    its_team int := remembrancer.looked_after(in_team);
    gone_member int;
BEGIN
    PERFORM FROM remembrancer.teams t WHERE t.id = its_team FOR NO KEY UPDATE;
    SELECT m.id INTO gone_member FROM remembrancer.team_members tm JOIN remembrancer.members m ON m.id = tm.member
        WHERE tm.team = its_team AND m.login = in_login AND tm.left_at IS NOT NULL;
    IF gone_member IS NULL THEN
        RAISE EXCEPTION '% has not left the team %', in_login, in_team
            USING ERRCODE = 'RM006', HINT = 'Take the login out of it first: remembrancer share remove-member.';
    END IF;
    RETURN remembrancer.withdraw_rows(its_team, ARRAY(
        SELECT e.uid FROM remembrancer.episodes e WHERE e.team = its_team AND e.member = gone_member AND e.kind = 0
        LIMIT remembrancer.step(most)
    ), NULL, gone_member, true, 'withdraw_all', jsonb_build_object('by', session_user));
END
$$;

DO $$
DECLARE
    inner_ones text := 'remembrancer.acting_in(int), remembrancer.acting(int, bytea), remembrancer.bounded(bytea[]),
        remembrancer.empty_rows(int, bytea[], smallint, bytea, bigint),
        remembrancer.withdraw_rows(int, bytea[], bytea, int, boolean, text, jsonb), remembrancer.step(int),
        remembrancer.looked_after(text)';
    outer_ones text := 'remembrancer.hello(bytea, text, text, int), remembrancer.push(int, bytea),
        remembrancer.withdraw(int, bytea, bytea[], boolean), remembrancer.withdraw_all(int, bytea, text[], int),
        remembrancer.forget(int, bytea, bytea[]),
        remembrancer.add_team(text, boolean, bytea), remembrancer.add_member(text, name, boolean),
        remembrancer.remove_member(text, name, boolean), remembrancer.withdraw_member(text, name, int)';
BEGIN
    EXECUTE format('REVOKE ALL ON FUNCTION %s, %s FROM PUBLIC', inner_ones, outer_ones);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO remembrancer_member', outer_ones);
END
$$;

DO $$ BEGIN PERFORM remembrancer.end_migration(4); END $$;
COMMIT;
