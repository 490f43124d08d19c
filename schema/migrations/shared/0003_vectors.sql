-- What episodes mean: vectors by model, never two models in one part, and so never compared. Each model has a part of its own, made
-- when it is registered; below it a team's vectors lie in one of four, each with an index by graph (HNSW).
BEGIN;
SET LOCAL search_path = pg_catalog, pg_temp;
SET LOCAL client_min_messages = warning;
SET LOCAL ROLE remembrancer_owner;
DO $$ BEGIN PERFORM remembrancer.begin_migration(3); END $$;

CREATE TABLE IF NOT EXISTS remembrancer.models (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE CHECK (octet_length(name) BETWEEN 1 AND 256),
    dimension int NOT NULL CHECK (dimension BETWEEN 1 AND 4000)
);

-- The extension lies where its owner put it: its names are written with their schema, which is looked up.
CREATE OR REPLACE FUNCTION remembrancer.vector_schema() RETURNS name
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector';
$$;
REVOKE ALL ON FUNCTION remembrancer.vector_schema() FROM PUBLIC;

DO $$
DECLARE
    home name := remembrancer.vector_schema();
BEGIN
    -- Without a dimension here, as parts of different ones hang below it.
    EXECUTE format('CREATE TABLE IF NOT EXISTS remembrancer.vectors (
        team int NOT NULL,
        uid bytea NOT NULL,
        model int NOT NULL,
        embedding %I.halfvec NOT NULL,
        PRIMARY KEY (team, uid, model)
    ) PARTITION BY LIST (model)', home);
    -- A vector as it comes back from here: numbers of half the precision.
    EXECUTE format('CREATE OR REPLACE FUNCTION remembrancer.as_stored(given real[]) RETURNS real[]
        LANGUAGE sql IMMUTABLE STRICT SET search_path = pg_catalog, pg_temp AS $f$ SELECT (given::%I.halfvec)::real[] $f$', home);
    PERFORM remembrancer.close_table('remembrancer.models');
    PERFORM remembrancer.close_table('remembrancer.vectors');
    PERFORM remembrancer.show_to_members('remembrancer.models', 'true');
    PERFORM remembrancer.show_to_members('remembrancer.vectors', 'team = ANY ((SELECT remembrancer.my_teams())::int[])');
END
$$;
REVOKE ALL ON FUNCTION remembrancer.as_stored(real[]) FROM PUBLIC;
GRANT SELECT ON remembrancer.models, remembrancer.vectors TO remembrancer_member;

-- Registers a model, or finds the one of that name. Returns its id. For the owner, and for who looks after a team.
CREATE OR REPLACE FUNCTION remembrancer.register_model(in_name text, in_dimension int) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '10s' AS $$
DECLARE
    home name := remembrancer.vector_schema();
    found record;
    part text;
BEGIN
    IF NOT pg_has_role(session_user, 'remembrancer_owner', 'USAGE') AND cardinality(remembrancer.my_admin_teams()) = 0 THEN
        RAISE EXCEPTION '% may not register a model', session_user
            USING ERRCODE = 'RM007', HINT = 'Have one who looks after a team do it.';
    END IF;
    IF (octet_length(in_name) BETWEEN 1 AND 256 AND in_dimension BETWEEN 1 AND 4000) IS NOT TRUE THEN
        RAISE EXCEPTION 'a model has a name of 1 to 256 bytes and 1 to 4000 dimensions' USING ERRCODE = 'RM006';
    END IF;
    -- Two who register take turns.
    PERFORM pg_advisory_xact_lock(7306915, 2);
    SELECT id, dimension INTO found FROM remembrancer.models WHERE name = in_name;
    IF found.id IS NOT NULL THEN
        IF found.dimension <> in_dimension THEN
            RAISE EXCEPTION 'the model % has % dimensions here, not %', in_name, found.dimension, in_dimension
                USING ERRCODE = 'RM006', HINT = 'Give another model another name.';
        END IF;
        RETURN found.id;
    END IF;
    IF (SELECT count(*) FROM remembrancer.models) >= 64 THEN
        RAISE EXCEPTION 'there are 64 models, and no more are taken' USING ERRCODE = 'RM006';
    END IF;
    INSERT INTO remembrancer.models (name, dimension) VALUES (in_name, in_dimension) RETURNING id, dimension INTO found;
    part := format('remembrancer.vectors_%s', found.id);
    EXECUTE format('CREATE TABLE %s PARTITION OF remembrancer.vectors (CONSTRAINT of_the_model CHECK (%I.vector_dims(embedding) = %s))
        FOR VALUES IN (%s) PARTITION BY HASH (team)', part, home, in_dimension, found.id);
    FOR n IN 0..3 LOOP
        EXECUTE format('CREATE TABLE %s_%s PARTITION OF %1$s FOR VALUES WITH (MODULUS 4, REMAINDER %2$s)', part, n);
        EXECUTE format('ALTER TABLE %s_%s ENABLE ROW LEVEL SECURITY', part, n);
        EXECUTE format('ALTER TABLE %s_%s FORCE ROW LEVEL SECURITY', part, n);
    END LOOP;
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', part);
    EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', part);
    EXECUTE format('CREATE INDEX ON %1$s USING hnsw ((embedding::%2$I.halfvec(%3$s)) %2$I.halfvec_cosine_ops)
        WITH (m = 16, ef_construction = 64)', part, home, in_dimension);
    INSERT INTO remembrancer.audit (member, act, count, detail)
        VALUES (remembrancer.my_member(), 'register_model', 1, jsonb_build_object('model', in_name, 'dimension', in_dimension));
    RETURN found.id;
END
$$;
REVOKE ALL ON FUNCTION remembrancer.register_model(text, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION remembrancer.register_model(text, int) TO remembrancer_member;

DO $$ BEGIN PERFORM remembrancer.end_migration(3); END $$;
COMMIT;
