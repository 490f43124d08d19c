-- How members read: page by page in the order of changes, and by a search over all that their team shares.
BEGIN;
SET LOCAL search_path = pg_catalog, pg_temp;
SET LOCAL client_min_messages = warning;
SET LOCAL ROLE remembrancer_owner;
DO $$ BEGIN PERFORM remembrancer.begin_migration(5); END $$;

-- A page of the changes after a number, as this statement sees the store, with the rights of who asks. What the machine itself brought
-- is left out; forgotten turns are not. Without contents it is what was withdrawn and forgotten alone. A page ends early after 8 MiB of
-- text, and looks at 20,000 numbers. Where nothing is left behind it, its last row is of kind 3 and has the number that the team has
-- come to, which what was left out has moved, too; where only those numbers are, of kind 5 and has the last of them.
CREATE OR REPLACE FUNCTION remembrancer.pull(in_team int, in_machine bytea, after bigint, most int, in_model text, in_contents boolean)
RETURNS TABLE (seq bigint, kind smallint, uid bytea, turn_uid bytea, member int, member_login text, machine bytea, machine_name text,
    project_keys text[], project_name text, agent text, session text, origin smallint, turn int, part int, importance smallint,
    importance_rule text, created_at bigint, updated_at bigint, git_branch text, prompt text, answer text, facets text,
    content_hash bytea, sealed bytea, embedding real[], head bigint)
LANGUAGE plpgsql STABLE SECURITY INVOKER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    rows int := least(greatest(coalesce(most, 0), 1), 1000);
    now_at bigint := (SELECT t.seq FROM remembrancer.teams t WHERE t.id = in_team);
    model_id int := (SELECT m.id FROM remembrancer.models m WHERE m.name = in_model);
    -- The numbers that nothing has any more cost nothing.
    up_to bigint := 20000 + coalesce(least(
        (SELECT e.seq FROM remembrancer.episodes e WHERE e.team = in_team AND e.seq > after ORDER BY e.seq LIMIT 1),
        (SELECT f.seq FROM remembrancer.forgotten f WHERE f.team = in_team AND f.seq > after ORDER BY f.seq LIMIT 1)), after);
BEGIN
    IF now_at IS NULL THEN
        RAISE EXCEPTION 'there is no such team, or % is not in it', session_user
            USING ERRCODE = 'RM002', HINT = 'Check share.team, or have one who looks after it add the login: remembrancer share add-member.';
    END IF;
    IF in_contents IS FALSE THEN
        RETURN QUERY
        WITH found AS MATERIALIZED (
            SELECT * FROM (
                (SELECT e.seq, e.kind, e.uid, e.turn_uid, e.member, e.machine FROM remembrancer.episodes e
                WHERE e.team = in_team AND e.seq > after AND e.machine <> in_machine AND e.kind = 1
                ORDER BY e.seq LIMIT rows)
                UNION ALL
                (SELECT f.seq, 2::smallint, NULL, f.turn_uid, f.member, f.machine
                FROM remembrancer.forgotten f WHERE f.team = in_team AND f.seq > after ORDER BY f.seq LIMIT rows)
            ) both_kinds ORDER BY seq LIMIT rows
        )
        SELECT f.seq, f.kind, f.uid, f.turn_uid, f.member, (SELECT m.login::text FROM remembrancer.members m WHERE m.id = f.member),
            f.machine, (SELECT m.name FROM remembrancer.machines m WHERE m.id = f.machine), NULL::text[], NULL::text, NULL::text,
            NULL::text, NULL::smallint, NULL::int, NULL::int, NULL::smallint, NULL::text, NULL::bigint, NULL::bigint, NULL::text,
            NULL::text, NULL::text, NULL::text, NULL::bytea, NULL::bytea, NULL::real[], now_at
        FROM found f
        UNION ALL
        SELECT now_at, 3::smallint, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
            NULL, NULL, NULL, NULL, NULL, NULL, NULL, now_at
        WHERE (SELECT count(*) FROM found) < rows
        ORDER BY 1, 2;
        RETURN;
    END IF;
    RETURN QUERY
    WITH found AS MATERIALIZED (
        SELECT * FROM (
            (SELECT e.seq, e.kind, e.uid, e.turn_uid, e.member, e.machine, e.project_keys, e.project_name, e.agent, e.session, e.origin,
                e.turn, e.part, e.importance, e.importance_rule, e.created_at, e.updated_at, e.git_branch, e.prompt, e.answer, e.facets,
                e.content_hash, e.sealed
            FROM remembrancer.episodes e
            WHERE e.team = in_team AND e.seq > after AND e.seq <= up_to AND e.machine <> in_machine AND e.kind < 2
            ORDER BY e.seq LIMIT rows)
            UNION ALL
            (SELECT f.seq, 2::smallint, NULL, f.turn_uid, f.member, f.machine, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                NULL, NULL, NULL, NULL, NULL, NULL, NULL
            FROM remembrancer.forgotten f WHERE f.team = in_team AND f.seq > after AND f.seq <= up_to ORDER BY f.seq LIMIT rows)
        ) both_kinds ORDER BY seq LIMIT rows
    ), sized AS MATERIALIZED (
        SELECT f.seq, coalesce(octet_length(f.prompt), 0) + coalesce(octet_length(f.answer), 0) + coalesce(octet_length(f.facets), 0)
            + coalesce(octet_length(f.sealed), 0) AS size FROM found f
    ), last AS MATERIALIZED (
        SELECT max(w.seq) AS seq, count(*) AS count FROM (
            SELECT s.seq, sum(s.size) OVER (ORDER BY s.seq) - s.size AS before FROM sized s) w WHERE w.before < 8388608
    )
    SELECT f.seq, f.kind, f.uid, f.turn_uid, f.member, (SELECT m.login::text FROM remembrancer.members m WHERE m.id = f.member), f.machine,
        (SELECT m.name FROM remembrancer.machines m WHERE m.id = f.machine), f.project_keys, f.project_name, f.agent, f.session, f.origin,
        f.turn, f.part, f.importance, f.importance_rule, f.created_at, f.updated_at, f.git_branch, f.prompt, f.answer, f.facets,
        f.content_hash, f.sealed,
        CASE WHEN f.kind = 0 THEN (SELECT v.embedding::real[] FROM remembrancer.vectors v
            WHERE v.team = in_team AND v.uid = f.uid AND v.model = model_id) END,
        now_at
    FROM found f WHERE f.seq <= (SELECT l.seq FROM last l)
    UNION ALL
    SELECT least(now_at, up_to), CASE WHEN up_to < now_at THEN 5 ELSE 3 END::smallint, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
        NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, now_at
    FROM last l WHERE l.count < rows AND l.count = (SELECT count(*) FROM found)
    ORDER BY 1, 2;
END
$$;

-- The best of all that a team shares: by words, all of them first and then any, and by meaning, within one model. Ranks begin at 1;
-- what only one of the two found has none in the other. Of words that very many rows have, only some are ranked.
CREATE OR REPLACE FUNCTION remembrancer.search(in_team int, terms text[], in_embedding real[], in_model text, most int)
RETURNS TABLE (seq bigint, kind smallint, uid bytea, turn_uid bytea, member int, member_login text, machine bytea, machine_name text,
    project_keys text[], project_name text, agent text, session text, origin smallint, turn int, part int, importance smallint,
    importance_rule text, created_at bigint, updated_at bigint, git_branch text, prompt text, answer text, facets text,
    content_hash bytea, sealed bytea, embedding real[], head bigint, words_rank int, meaning_rank int)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    me int := remembrancer.acting_in(in_team);
    home name := remembrancer.vector_schema();
    rows int := least(greatest(coalesce(most, 0), 1), 200);
    its_model remembrancer.models;
    term text;
    one tsquery;
    all_words tsquery;
    any_word tsquery;
    by_words bytea[] := '{}';
    by_meaning bytea[] := '{}';
BEGIN
    IF cardinality(terms) > 64 THEN
        RAISE EXCEPTION 'at most 64 terms are searched for, and these are %', cardinality(terms) USING ERRCODE = 'RM006';
    END IF;
    FOREACH term IN ARRAY coalesce(terms, '{}') LOOP
        one := plainto_tsquery('pg_catalog.english'::regconfig, left(term, 200));
        IF numnode(one) > 0 THEN
            all_words := coalesce(all_words && one, one);
            any_word := coalesce(any_word || one, one);
        END IF;
    END LOOP;
    IF all_words IS NOT NULL THEN
        -- Planned for these words: how often they are decides how to find them.
        EXECUTE 'SELECT ARRAY(SELECT c.uid FROM (
                SELECT e.uid, e.seq, e.words FROM remembrancer.episodes e WHERE e.team = $1 AND e.words @@ $2 LIMIT 20000) c
            ORDER BY ts_rank(c.words, $2) DESC, c.seq DESC LIMIT $3)' INTO by_words USING in_team, all_words, rows;
        IF cardinality(by_words) < rows AND any_word <> all_words THEN
            EXECUTE 'SELECT $4 || ARRAY(SELECT c.uid FROM (
                    SELECT e.uid, e.seq, e.words FROM remembrancer.episodes e
                    WHERE e.team = $1 AND e.words @@ $2 AND e.uid <> ALL ($4) LIMIT 20000) c
                ORDER BY ts_rank(c.words, $2) DESC, c.seq DESC LIMIT $3)'
                INTO by_words USING in_team, any_word, rows - cardinality(by_words), by_words;
        END IF;
    END IF;

    SELECT * INTO its_model FROM remembrancer.models m WHERE m.name = in_model;
    IF in_embedding IS NOT NULL AND its_model.id IS NOT NULL THEN
        IF cardinality(in_embedding) <> its_model.dimension THEN
            RAISE EXCEPTION 'the model % has % dimensions, not %', in_model, its_model.dimension, cardinality(in_embedding)
                USING ERRCODE = 'RM006';
        END IF;
        BEGIN
            PERFORM remembrancer.as_stored(in_embedding);
            PERFORM set_config('hnsw.ef_search', '100', true);
            -- Other teams' vectors lie in the same graph: the search goes on until it has enough of this one (pgvector 0.8).
            IF current_setting('hnsw.iterative_scan', true) IS NOT NULL THEN
                PERFORM set_config('hnsw.iterative_scan', 'strict_order', true);
            END IF;
            EXECUTE format('SELECT ARRAY(SELECT v.uid FROM remembrancer.vectors v WHERE v.model = %1$s AND v.team = $1
                    ORDER BY v.embedding::%2$I.halfvec(%3$s) OPERATOR(%2$I.<=>) $2::%2$I.halfvec(%3$s) LIMIT $3)',
                its_model.id, home, its_model.dimension) INTO by_meaning USING in_team, in_embedding, rows;
        EXCEPTION WHEN data_exception THEN
            RAISE EXCEPTION 'the vector has a number that the shared store does not take: %', SQLERRM
                USING ERRCODE = 'RM006', HINT = 'Numbers are finite and at most 65504.';
        END;
    END IF;

    RETURN QUERY
    SELECT e.seq, e.kind, e.uid, e.turn_uid, e.member, (SELECT m.login::text FROM remembrancer.members m WHERE m.id = e.member), e.machine,
        (SELECT m.name FROM remembrancer.machines m WHERE m.id = e.machine), e.project_keys, e.project_name, e.agent, e.session, e.origin,
        e.turn, e.part, e.importance, e.importance_rule, e.created_at, e.updated_at, e.git_branch, e.prompt, e.answer, e.facets,
        e.content_hash, e.sealed,
        (SELECT v.embedding::real[] FROM remembrancer.vectors v WHERE v.team = in_team AND v.uid = e.uid AND v.model = its_model.id),
        (SELECT t.seq FROM remembrancer.teams t WHERE t.id = in_team), r.words_rank, r.meaning_rank
    FROM (
        SELECT b.uid, min(b.words_rank) AS words_rank, min(b.meaning_rank) AS meaning_rank FROM (
            SELECT w.uid, w.n::int AS words_rank, NULL::int AS meaning_rank FROM unnest(by_words) WITH ORDINALITY AS w (uid, n)
            UNION ALL
            SELECT s.uid, NULL, s.n::int FROM unnest(by_meaning) WITH ORDINALITY AS s (uid, n)) b
        GROUP BY b.uid
    ) r
    CROSS JOIN LATERAL (SELECT * FROM remembrancer.episodes s WHERE s.team = in_team AND s.uid = r.uid AND s.kind = 0 LIMIT 1) e
    ORDER BY least(r.words_rank, r.meaning_rank), r.meaning_rank, e.uid;
END
$$;

REVOKE ALL ON FUNCTION remembrancer.pull(int, bytea, bigint, int, text, boolean),
    remembrancer.search(int, text[], real[], text, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION remembrancer.pull(int, bytea, bigint, int, text, boolean), remembrancer.search(int, text[], real[], text, int)
    TO remembrancer_member;

DO $$ BEGIN PERFORM remembrancer.end_migration(5); END $$;
COMMIT;
