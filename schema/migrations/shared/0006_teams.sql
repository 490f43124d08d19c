-- What the store's owner does with whole teams: makes them by names that the settings take, takes them away, and says that the store was
-- put back from a copy. Who acts meanwhile in a team that goes is told so.
BEGIN;
SET LOCAL search_path = pg_catalog, pg_temp;
SET LOCAL client_min_messages = warning;
SET LOCAL ROLE remembrancer_owner;
DO $$ BEGIN PERFORM remembrancer.begin_migration(6); END $$;

-- `epoch` names the store's life: machines that know another one tell all again. A copy that is put back has that of the store it is of,
-- so that its owner gives it another: `restored`.
INSERT INTO remembrancer.meta (key, value) VALUES ('epoch', gen_random_uuid()::text) ON CONFLICT (key) DO NOTHING;

-- The machines of marks that are told to all are none. (Of what is there already nothing is asked: it is not let in any more.)
ALTER TABLE remembrancer.machines DROP CONSTRAINT IF EXISTS is_no_mark;
ALTER TABLE remembrancer.machines ADD CONSTRAINT is_no_mark
    CHECK (id <> decode(repeat('00', 16), 'hex') AND id <> decode(repeat('ff', 16), 'hex')) NOT VALID;

-- The member that is logged in, where a machine of it acts in a team. It has the team to itself from here on: who waited for it is asked
-- again whether it is there, and in it.
CREATE OR REPLACE FUNCTION remembrancer.acting(in_team int, in_machine bytea) RETURNS int
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    me int := remembrancer.acting_in(in_team);
BEGIN
    IF NOT EXISTS (SELECT FROM remembrancer.machines m WHERE m.id = in_machine AND m.member = me) THEN
        RAISE EXCEPTION 'this machine is not one of %', session_user
            USING ERRCODE = 'RM004', HINT = 'Say hello first. Where the memory was copied from another machine, have it made a machine of its own.';
    END IF;
    PERFORM FROM remembrancer.teams t WHERE t.id = in_team FOR NO KEY UPDATE;
    RETURN remembrancer.acting_in(in_team);
END
$$;

-- Raises for anybody but the owner. What is not allowed is told in words that follow on the login's.
CREATE OR REPLACE FUNCTION remembrancer.owned(in_act text) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT pg_has_role(session_user, 'remembrancer_owner', 'USAGE') THEN
        RAISE EXCEPTION '% may not %', session_user, in_act USING ERRCODE = 'RM007', HINT = 'Have the store''s owner do it.';
    END IF;
END
$$;

-- Makes a team. Returns its id. For the owner alone. Its name is one that `share.team` takes: of what lies beyond ASCII, what is a blank,
-- a sign or for private use is refused by its block.
CREATE OR REPLACE FUNCTION remembrancer.add_team(in_name text, in_sealed boolean, in_key_check bytea) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    made int;
    signs text := '\u0080-\u00A9\u00AB-\u00B1\u00B4\u00B6-\u00B8\u00BB\u00BF\u00D7\u00F7\u2000-\u206F\u20A0-\u20CF\u2190-\u245F'
        '\u2500-\u2775\u2794-\u2BFF\u2E00-\u2E2E\u2E30-\u3004\u3008-\u3020\u3030\uE000-\uF8FF\uFE10-\uFE1F\uFE30-\uFE6F\uFF01-\uFF0F'
        '\uFF1A-\uFF20\uFF3B-\uFF40\uFF5B-\uFF65\uFFE0-\uFFFF\U0001F000-\U0001F0FF\U0001F110-\U0001F12F\U0001F18A-\U0001FBEF'
        '\U000E0000-\U0010FFFF';
BEGIN
    PERFORM remembrancer.owned('make a team');
    IF (length(in_name) BETWEEN 1 AND 64 AND in_name ~ '^[A-Za-z0-9\u0080-\U0010FFFF][A-Za-z0-9._\u0080-\U0010FFFF-]*$'
        AND in_name !~ ('[' || signs || ']')) IS NOT TRUE THEN
        RAISE EXCEPTION 'a team can''t be called %', quote_literal(left(in_name, 200)) USING ERRCODE = 'RM006',
            HINT = 'Use 1 to 64 letters, digits, ''.'', ''_'' or ''-'', beginning with a letter or a digit.';
    END IF;
    IF (in_sealed = (in_key_check IS NOT NULL) AND coalesce(octet_length(in_key_check), 16) = 16) IS NOT TRUE THEN
        RAISE EXCEPTION 'a team has a key''s check of 16 bytes if and only if it is sealed' USING ERRCODE = 'RM006';
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

-- Takes a team away with all that is shared there, and whoever is in it out of it. Returns how many episodes went that were shared. What was
-- done in it stays noted. For the owner alone.
CREATE OR REPLACE FUNCTION remembrancer.remove_team(in_name text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '10s' AS $$
DECLARE
    gone_team int;
    gone bigint;
BEGIN
    PERFORM remembrancer.owned('take a team away');
    -- Who changes something in the team comes first, or finds it gone.
    SELECT t.id INTO gone_team FROM remembrancer.teams t WHERE t.name = in_name FOR UPDATE;
    IF gone_team IS NULL THEN
        RAISE EXCEPTION 'there is no team %', in_name
            USING ERRCODE = 'RM002', HINT = 'Check its name, which is written as when it was made: capitals count.';
    END IF;
    DELETE FROM remembrancer.team_members tm WHERE tm.team = gone_team;
    SELECT count(*) INTO gone FROM remembrancer.episodes e WHERE e.team = gone_team AND e.kind = 0;
    DELETE FROM remembrancer.vectors v WHERE v.team = gone_team;
    DELETE FROM remembrancer.episodes e WHERE e.team = gone_team;
    DELETE FROM remembrancer.forgotten f WHERE f.team = gone_team;
    DELETE FROM remembrancer.incoming i WHERE i.team = gone_team;
    DELETE FROM remembrancer.teams t WHERE t.id = gone_team;
    INSERT INTO remembrancer.audit (team, member, act, count, detail) VALUES (gone_team, remembrancer.my_member(), 'remove_team', gone,
        jsonb_build_object('team', in_name, 'by', session_user));
    PERFORM pg_notify('remembrancer', gone_team::text);
    RETURN gone;
END
$$;

-- Notes that the store was put back from a copy: every machine tells all again, those that are connected at once. For the owner alone.
CREATE OR REPLACE FUNCTION remembrancer.restored() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM remembrancer.owned('say that the store was put back');
    UPDATE remembrancer.meta SET value = gen_random_uuid()::text WHERE key = 'epoch';
    INSERT INTO remembrancer.audit (member, act, count, detail)
        VALUES (remembrancer.my_member(), 'restored', 1, jsonb_build_object('by', session_user));
    PERFORM pg_notify('remembrancer', t.id::text) FROM remembrancer.teams t;
END
$$;

-- Takes a login out of a team: at once it reads nothing there, and brings nothing. What it shared is withdrawn by `withdraw_member`, unless
-- it is to be kept, which is noted. Returns 0. It stays in the role `remembrancer_member`, by which it may be in a shared store of another
-- database.
CREATE OR REPLACE FUNCTION remembrancer.remove_member(in_team text, in_login name, in_keep boolean) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    its_team int := remembrancer.looked_after(in_team);
    its_member remembrancer.team_members;
BEGIN
    PERFORM FROM remembrancer.teams t WHERE t.id = its_team FOR NO KEY UPDATE;
    SELECT tm.* INTO its_member FROM remembrancer.team_members tm JOIN remembrancer.members m ON m.id = tm.member
        WHERE tm.team = its_team AND m.login = in_login;
    IF its_member.member IS NULL THEN
        RAISE EXCEPTION 'the login % is not in the team %', in_login, in_team
            USING ERRCODE = 'RM002', HINT = 'Check the login, which is written as the server has it: capitals count.';
    END IF;
    IF its_member.left_at IS NOT NULL THEN
        RAISE EXCEPTION 'the login % is not in the team % any more: it was taken out on %', in_login, in_team, its_member.left_at::date
            USING ERRCODE = 'RM002', HINT = 'What it shared is taken back by: remembrancer share remove-member, once more, without --keep.';
    END IF;
    UPDATE remembrancer.team_members tm SET left_at = now(), admin = false WHERE tm.team = its_team AND tm.member = its_member.member;
    INSERT INTO remembrancer.audit (team, member, act, count, detail) VALUES (its_team, remembrancer.my_member(), 'remove_member', 1,
        jsonb_build_object('login', in_login, 'kept', coalesce(in_keep, false), 'by', session_user));
    RETURN 0;
END
$$;

-- Takes back what one shared who left the team: at most so many at once. Returns how many; it is called again until that is 0. The marks name
-- the machine of 16 bytes of all ones, which is none: machines of a member that is let in again share what these take back, which they do
-- not where their own member took it back from all. For the owner, for who looks after the team, and for the login that left it itself.
CREATE OR REPLACE FUNCTION remembrancer.withdraw_member(in_team text, in_login name, most int) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '10s' AS $$
DECLARE
    -- Of a team that one has not left oneself the same is said as of one that is not there.
    its_team int := (SELECT t.id FROM remembrancer.teams t JOIN remembrancer.team_members tm ON tm.team = t.id
        WHERE t.name = in_team AND in_login = session_user AND tm.member = remembrancer.my_member() AND tm.left_at IS NOT NULL);
    gone_member int;
BEGIN
    IF its_team IS NULL THEN
        its_team := remembrancer.looked_after(in_team);
    END IF;
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
    ), decode(repeat('ff', 16), 'hex'), gone_member, false, 'withdraw_all', jsonb_build_object('by', session_user));
END
$$;

REVOKE ALL ON FUNCTION remembrancer.owned(text), remembrancer.remove_team(text), remembrancer.restored() FROM PUBLIC;
-- Who may not is told so in words.
GRANT EXECUTE ON FUNCTION remembrancer.remove_team(text), remembrancer.restored() TO remembrancer_member;

DO $$ BEGIN PERFORM remembrancer.end_migration(6); END $$;
COMMIT;
