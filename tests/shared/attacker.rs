//! What somebody with a valid login tries: to read, change or take what is not theirs, and to have the store's own functions do it.

use postgres::{Client, Error};
use remembrancer_schema::shared::{
    ADD_MEMBER, ADD_TEAM, FORGET, HELLO, PULL, PUSH, REGISTER_MODEL, REMOVE_MEMBER, REMOVE_TEAM, RESTORED, SEARCH, SHARED_EPOCH,
    WITHDRAW, WITHDRAW_ALL, WITHDRAW_MEMBER,
};

use crate::store::{AUDIT, Episode, MODEL, Member, Store, bring, changes, id, push, pushed, refused, short};

/// Two teams: ann's, with an episode; and eve's, who attacks.
struct Scene {
    store: Store,
    ann: Member,
    eve: Member,
}

fn scene() -> Option<Scene> {
    let mut store = Store::new()?;
    let team = store.team("victims");
    store.team("attackers");
    let mut ann = store.keeper("victims", "ann", "laptop");
    ann.push(&[Episode::of(team, "a").saying("a secret plan").pointing(0)])
        .unwrap();
    ann.forget(&["z"]).unwrap();
    let eve = store.member("attackers", "eve", "cellar");
    Some(Scene { store, ann, eve })
}

fn count(client: &mut Client, what: &str) -> Result<i64, Error> {
    client
        .query_one(format!("SELECT count(*) FROM {what}").as_str(), &[])
        .map(|row| row.get(0))
}

#[test]
fn rows_of_other_teams_are_not_there() {
    let Some(Scene { mut ann, mut eve, .. }) = scene() else {
        return;
    };
    for table in ["episodes", "forgotten", "vectors"] {
        assert_eq!(
            count(&mut eve.client, &format!("remembrancer.{table}")).unwrap(),
            0,
            "{table}"
        );
        assert_eq!(
            count(&mut ann.client, &format!("remembrancer.{table}")).unwrap(),
            1,
            "{table}"
        );
    }
    for (table, seen) in [("teams", 1), ("members", 1), ("audit", 1), ("models", 1)] {
        assert_eq!(
            count(&mut eve.client, &format!("remembrancer.{table}")).unwrap(),
            seen,
            "{table}"
        );
    }
    assert_eq!(
        eve.client
            .query("SELECT id, name FROM remembrancer.machines", &[])
            .unwrap()
            .len(),
        1
    );
    let head = "SELECT seq FROM remembrancer.teams WHERE id = $1";
    assert!(eve.client.query(head, &[&ann.team]).unwrap().is_empty());
    assert!(eve.client.query(AUDIT, &[&ann.team]).unwrap().is_empty());
}

#[test]
fn a_cheap_function_in_a_condition_is_shown_no_row_of_others() {
    let Some(Scene { ann, mut eve, .. }) = scene() else { return };
    eve.push(&[Episode::of(eve.team, "own").saying("my own words")]).unwrap();
    eve.client
        .batch_execute(
            "CREATE TEMP TABLE seen (told text);
             CREATE FUNCTION pg_temp.leak(told text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS
             $$ BEGIN INSERT INTO pg_temp.seen VALUES (told); RETURN true; END $$",
        )
        .unwrap();
    eve.client
        .query("SELECT uid FROM remembrancer.episodes WHERE pg_temp.leak(prompt)", &[])
        .unwrap();
    eve.client
        .query(
            "SELECT uid FROM remembrancer.episodes WHERE team = $1 AND pg_temp.leak(prompt)",
            &[&ann.team],
        )
        .unwrap();
    let seen: Vec<String> = eve
        .client
        .query("SELECT told FROM pg_temp.seen", &[])
        .unwrap()
        .iter()
        .map(|row| row.get(0))
        .collect();
    assert_eq!(seen, ["my own words"]);
}

#[test]
fn functions_refuse_other_teams_in_the_same_words_as_teams_that_are_not() {
    let Some(Scene { ann, mut eve, mut store }) = scene() else {
        return;
    };
    let none: Option<Vec<f32>> = None;
    let mut said = Vec::new();
    for team in [ann.team, 999_999, -1, 0] {
        let (uids, keys, terms) = (vec![id("a")], None::<Vec<&str>>, vec!["secret"]);
        let (client, machine) = (&mut eve.client, &eve.machine);
        said.push(refused(
            client.query(PULL, &[&team, machine, &0_i64, &10_i32, &MODEL, &true]),
            "RM002",
        ));
        said.push(refused(
            client.query(SEARCH, &[&team, &terms, &none, &MODEL, &10_i32]),
            "RM002",
        ));
        said.push(refused(client.query(PUSH, &[&team, machine]), "RM002"));
        said.push(refused(client.query(WITHDRAW, &[&team, machine, &uids, &true]), "RM002"));
        said.push(refused(
            client.query(WITHDRAW_ALL, &[&team, machine, &keys, &10_i32]),
            "RM002",
        ));
        said.push(refused(client.query(FORGET, &[&team, machine, &uids]), "RM002"));
    }
    for name in ["victims", "no such team", ""] {
        said.push(refused(eve.hello(name), "RM002"));
    }
    said.dedup();
    assert_eq!(said.len(), 1, "{said:?}");
    assert_eq!(store.count("SELECT count(*) FROM remembrancer.episodes WHERE kind = 0"), 1);
}

#[test]
fn a_machine_of_another_member_is_not_lent() {
    let Some(Scene { mut store, ann, .. }) = scene() else { return };
    let team = ann.team;
    let mut bob = store.member("victims", "bob", "desk");
    let (uids, keys) = (vec![id("a")], None::<Vec<&str>>);
    for machine in [ann.machine.clone(), id("never seen"), Vec::new()] {
        refused(bob.client.query(PUSH, &[&team, &machine]), "RM004");
        refused(bob.client.query(WITHDRAW, &[&team, &machine, &uids, &true]), "RM004");
        refused(bob.client.query(WITHDRAW_ALL, &[&team, &machine, &keys, &10_i32]), "RM004");
        refused(bob.client.query(FORGET, &[&team, &machine, &uids]), "RM004");
    }
    let hello = bob.client.query(HELLO, &[&ann.machine, &"mine now", &"victims", &1_i32]);
    refused(hello, "RM004");
    let name: String = store
        .admin
        .query_one("SELECT name FROM remembrancer.machines WHERE id = $1", &[&ann.machine])
        .unwrap()
        .get(0);
    assert_eq!(name, "a machine");
}

#[test]
fn tables_are_changed_by_no_statement_of_a_member() {
    let Some(Scene { mut eve, mut store, .. }) = scene() else {
        return;
    };
    let statements = [
        "INSERT INTO remembrancer.episodes (team, uid, turn_uid, member, machine, seq) VALUES (1, '', '', 1, '', 1)",
        "UPDATE remembrancer.episodes SET prompt = ''",
        "DELETE FROM remembrancer.episodes",
        "TRUNCATE remembrancer.episodes",
        "DELETE FROM remembrancer.forgotten",
        "INSERT INTO remembrancer.forgotten VALUES (1, 1, '', '', 1)",
        "DELETE FROM remembrancer.vectors",
        "DELETE FROM remembrancer.audit",
        "UPDATE remembrancer.teams SET seq = 0",
        "UPDATE remembrancer.meta SET value = '9'",
        "INSERT INTO remembrancer.members (login) VALUES ('mallory')",
        "INSERT INTO remembrancer.team_members (team, member) VALUES (1, 2)",
        "SELECT * FROM remembrancer.team_members",
        "SELECT last_seen FROM remembrancer.machines",
        "SELECT * FROM remembrancer.incoming",
        "DELETE FROM remembrancer.incoming",
        "SELECT * FROM remembrancer.episodes_00",
        "SELECT * FROM remembrancer.vectors_1",
        "SELECT * FROM remembrancer.vectors_1_0",
        "SELECT setval('remembrancer.teams_id_seq', 1)",
        "LOCK remembrancer.episodes IN ACCESS EXCLUSIVE MODE",
        "ALTER TABLE remembrancer.episodes DISABLE ROW LEVEL SECURITY",
        "CREATE POLICY mine ON remembrancer.episodes USING (true)",
        "CREATE TABLE remembrancer.mine ()",
        "CREATE FUNCTION remembrancer.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "CREATE TRIGGER mine BEFORE INSERT ON remembrancer.incoming FOR EACH ROW EXECUTE FUNCTION remembrancer.bound_incoming()",
        "DROP SCHEMA remembrancer CASCADE",
    ];
    let before = store.count("SELECT sum(hashtext(e::text)) FROM remembrancer.episodes e");
    for statement in statements {
        refused(eve.client.batch_execute(&format!("BEGIN; {statement}")), "42501");
        eve.client.batch_execute("ROLLBACK").unwrap();
    }
    assert_eq!(
        store.count("SELECT sum(hashtext(e::text)) FROM remembrancer.episodes e"),
        before
    );
}

#[test]
fn inner_functions_and_other_roles_are_out_of_reach() {
    let Some(Scene { mut eve, store, .. }) = scene() else { return };
    let as_ann = format!("SET ROLE {}", store.login("ann"));
    let session_of_ann = format!("SET SESSION AUTHORIZATION {}", store.login("ann"));
    let statements = [
        "SELECT remembrancer.acting(1, '')",
        "SELECT remembrancer.acting_in(1)",
        "SELECT remembrancer.empty_rows(1, '{}', 1::smallint, '', 1)",
        "SELECT remembrancer.withdraw_rows(1, '{}', '', 1, true, '', NULL)",
        "SELECT remembrancer.step(1)",
        "SELECT remembrancer.looked_after('victims')",
        "SELECT remembrancer.owned('do it')",
        "SELECT remembrancer.begin_migration(6)",
        "SELECT remembrancer.end_migration(6)",
        "SELECT remembrancer.close_table('remembrancer.meta')",
        "SELECT remembrancer.show_to_members('remembrancer.episodes', 'true')",
        "SET ROLE remembrancer_owner",
        "SET ROLE postgres",
        &as_ann,
        &session_of_ann,
        "GRANT remembrancer_owner TO CURRENT_USER",
    ];
    for statement in statements {
        refused(eve.client.batch_execute(statement), "42501");
    }
    // To play the role of all members changes nothing: who is logged in counts.
    eve.client.batch_execute("SET ROLE remembrancer_member").unwrap();
    assert_eq!(count(&mut eve.client, "remembrancer.episodes").unwrap(), 0);
    eve.push(&Episode::all(eve.team, &["own"])).unwrap();
    assert_eq!(short(&eve.pull(0, 10).unwrap()), changes(&[]));
}

#[test]
fn objects_of_ones_own_do_not_stand_in_for_the_store_s() {
    let Some(Scene { mut eve, mut store, .. }) = scene() else {
        return;
    };
    eve.client
        .batch_execute(
            "CREATE TEMP TABLE incoming (LIKE remembrancer.episodes);
             CREATE TEMP TABLE team_members (team int, member int, admin boolean, left_at timestamptz);
             INSERT INTO team_members VALUES (1, 2, true, NULL);
             CREATE FUNCTION pg_temp.pg_has_role(name, text, text) RETURNS boolean LANGUAGE sql AS 'SELECT true';
             CREATE FUNCTION pg_temp.cardinality(int[]) RETURNS int LANGUAGE sql AS 'SELECT 1';
             CREATE FUNCTION pg_temp.my_teams() RETURNS int[] LANGUAGE sql AS 'SELECT ARRAY[1, 2]';
             CREATE FUNCTION pg_temp.same(int, int) RETURNS boolean LANGUAGE sql AS 'SELECT true';
             CREATE OPERATOR pg_temp.= (LEFTARG = int, RIGHTARG = int, FUNCTION = pg_temp.same);
             SET search_path = pg_temp, pg_catalog",
        )
        .unwrap();
    refused(eve.client.query(REGISTER_MODEL, &[&"mine", &3_i32]), "RM007");
    refused(eve.client.query(ADD_TEAM, &[&"mine", &false, &None::<Vec<u8>>]), "RM007");
    let (login, team) = (store.login("eve"), 1_i32);
    refused(eve.client.query(ADD_MEMBER, &[&"victims", &login, &true]), "RM007");
    refused(
        eve.client
            .query(PULL, &[&team, &eve.machine, &0_i64, &10_i32, &MODEL, &false]),
        "RM002",
    );
    assert_eq!(count(&mut eve.client, "remembrancer.episodes").unwrap(), 0);
    assert_eq!(eve.push(&Episode::all(eve.team, &["own"])).unwrap(), pushed(1, 0, 0));
    assert_eq!(store.count("SELECT count(*) FROM remembrancer.episodes"), 2);
}

#[test]
fn policies_can_t_be_switched_off() {
    let Some(Scene { mut eve, .. }) = scene() else { return };
    eve.client.batch_execute("SET row_security = off").unwrap();
    refused(count(&mut eve.client, "remembrancer.episodes"), "42501");
    refused(eve.client.batch_execute("SET session_replication_role = replica"), "42501");
}

#[test]
fn who_brought_a_row_and_when_is_not_for_the_member_to_say() {
    let Some(Scene {
        mut ann,
        mut eve,
        mut store,
    }) = scene()
    else {
        return;
    };
    for column in ["xact", "login"] {
        let statement = format!("INSERT INTO remembrancer.incoming ({column}, team) VALUES ('1', 1)");
        refused(eve.client.batch_execute(&statement), "42501");
    }
    refused(
        eve.client
            .batch_execute("INSERT INTO remembrancer.incoming (team) VALUES (1) RETURNING login"),
        "42501",
    );
    // What is left there, for another team at that, is taken by nobody, and removed by the next push.
    let mut transaction = eve.client.transaction().unwrap();
    bring(
        &mut transaction,
        &[Episode::of(ann.team, "planted"), Episode::of(eve.team, "late")],
    )
    .unwrap();
    transaction.commit().unwrap();
    assert_eq!(store.count("SELECT count(*) FROM remembrancer.incoming"), 2);
    assert_eq!(eve.push(&[]).unwrap(), pushed(0, 0, 0));
    assert_eq!(store.count("SELECT count(*) FROM remembrancer.incoming"), 0);
    let mut transaction = eve.client.transaction().unwrap();
    bring(&mut transaction, &Episode::all(ann.team, &["planted"])).unwrap();
    transaction.commit().unwrap();
    assert_eq!(ann.push(&Episode::all(ann.team, &["mine"])).unwrap(), pushed(1, 0, 0));
    // Nor does a row for another team go along with one's own.
    let mut transaction = eve.client.transaction().unwrap();
    bring(
        &mut transaction,
        &[Episode::of(ann.team, "planted"), Episode::of(eve.team, "own")],
    )
    .unwrap();
    assert_eq!(push(&mut transaction, eve.team, &eve.machine).unwrap(), pushed(1, 0, 0));
    transaction.commit().unwrap();
    ann.push(&[]).unwrap();
    let planted: i64 = store
        .admin
        .query_one("SELECT count(*) FROM remembrancer.episodes WHERE uid = $1", &[&id("planted")])
        .unwrap()
        .get(0);
    assert_eq!((planted, store.count("SELECT count(*) FROM remembrancer.incoming")), (0, 0));
}

#[test]
fn a_login_in_no_team_is_told_so_and_gets_nothing() {
    let Some(Scene { mut store, .. }) = scene() else { return };
    let mut stranger = store.stranger("stranger");
    let machine = id("anywhere");
    refused(stranger.query(HELLO, &[&machine, &"x", &"victims", &1_i32]), "42501");
    store
        .admin
        .batch_execute(&format!("GRANT remembrancer_member TO {}", store.login("stranger")))
        .unwrap();
    refused(stranger.query(HELLO, &[&machine, &"x", &"victims", &1_i32]), "RM001");
    let mut transaction = stranger.transaction().unwrap();
    refused(bring(&mut transaction, &Episode::all(1, &["a"])), "RM001");
    drop(transaction);
    for table in ["episodes", "forgotten", "vectors", "teams", "members", "audit"] {
        assert_eq!(count(&mut stranger, &format!("remembrancer.{table}")).unwrap(), 0, "{table}");
    }
}

#[test]
fn only_who_looks_after_a_team_changes_who_is_in_it() {
    let Some(Scene {
        mut store,
        mut ann,
        mut eve,
    }) = scene()
    else {
        return;
    };
    let mut bob = store.member("victims", "bob", "desk");
    let (of_ann, of_eve) = (store.login("ann"), store.login("eve"));
    for client in [&mut bob.client, &mut eve.client] {
        refused(client.query(ADD_MEMBER, &[&"victims", &of_eve, &false]), "RM007");
        refused(client.query(REMOVE_MEMBER, &[&"victims", &of_ann, &false]), "RM007");
        refused(client.query(WITHDRAW_MEMBER, &[&"victims", &of_ann, &10_i32]), "RM007");
        refused(client.query(ADD_MEMBER, &[&"no such team", &of_eve, &false]), "RM007");
        refused(client.query(ADD_TEAM, &[&"mine", &false, &None::<Vec<u8>>]), "RM007");
        refused(client.query(REGISTER_MODEL, &[&"mine", &3_i32]), "RM007");
    }
    // To look after one is not to look after another, nor to make new ones.
    refused(ann.client.query(ADD_MEMBER, &[&"attackers", &of_ann, &true]), "RM007");
    refused(ann.client.query(ADD_TEAM, &[&"mine", &false, &None::<Vec<u8>>]), "RM007");
}

#[test]
fn what_is_for_the_owner_is_for_nobody_else_however_much_they_look_after() {
    let Some(Scene {
        mut store,
        mut ann,
        mut eve,
    }) = scene()
    else {
        return;
    };
    let all =
        "SELECT (SELECT sum(hashtext(e::text)) FROM remembrancer.episodes e) + (SELECT count(*) FROM remembrancer.team_members)
        + (SELECT sum(hashtext(m::text)) FROM remembrancer.meta m)";
    let before = store.count(all);
    for client in [&mut ann.client, &mut eve.client] {
        client.query_one(SHARED_EPOCH, &[]).unwrap();
        for team in ["victims", "attackers", "no such team"] {
            let said = refused(client.query(REMOVE_TEAM, &[&team]), "RM007");
            assert!(said.contains("may not take a team away"), "{said}");
        }
        refused(client.query(RESTORED, &[]), "RM007");
    }
    assert_eq!(store.count(all), before);
}

#[test]
fn nothing_is_open_by_oversight() {
    let Some(Scene { mut store, .. }) = scene() else { return };
    let all = |client: &mut Client, sql: &str| -> Vec<String> {
        client.query(sql, &[]).unwrap().iter().map(|row| row.get(0)).collect()
    };
    let tables = "SELECT c.relname::text FROM pg_class c WHERE c.relnamespace = 'remembrancer'::regnamespace AND c.relkind IN ('r', 'p') \
         AND NOT (c.relrowsecurity AND c.relforcerowsecurity)";
    assert_eq!(
        all(&mut store.admin, tables),
        ["incoming"],
        "COPY does not go with policies; nobody may read it"
    );
    let ours = "FROM pg_proc p JOIN pg_roles o ON o.oid = p.proowner WHERE p.pronamespace = 'remembrancer'::regnamespace \
         AND o.rolname = 'remembrancer_owner'";
    let open = format!(
        "SELECT p.proname::text {ours} AND (p.proacl IS NULL OR EXISTS (SELECT FROM aclexplode(p.proacl) a WHERE a.grantee = 0))"
    );
    assert_eq!(all(&mut store.admin, &open), Vec::<String>::new());
    let astray =
        format!("SELECT p.proname::text {ours} AND NOT coalesce('search_path=pg_catalog, pg_temp' = ANY (p.proconfig), false)");
    assert_eq!(all(&mut store.admin, &astray), Vec::<String>::new());
    let owners = "SELECT DISTINCT o.rolname::text FROM pg_class c JOIN pg_roles o ON o.oid = c.relowner \
         WHERE c.relnamespace = 'remembrancer'::regnamespace";
    assert_eq!(all(&mut store.admin, owners), ["remembrancer_owner"]);
    let owner =
        "SELECT rolname::text FROM pg_roles WHERE rolname LIKE 'remembrancer_%' AND (rolcanlogin OR rolsuper OR rolbypassrls)";
    assert_eq!(all(&mut store.admin, owner), Vec::<String>::new());
    let for_members =
        format!("SELECT p.proname::text {ours} AND has_function_privilege('remembrancer_member', p.oid, 'EXECUTE') ORDER BY 1");
    let expected = [
        "add_member",
        "add_team",
        "forget",
        "hello",
        "my_admin_teams",
        "my_fellows",
        "my_member",
        "my_teams",
        "pull",
        "push",
        "register_model",
        "remove_member",
        "remove_team",
        "restored",
        "search",
        "withdraw",
        "withdraw_all",
        "withdraw_member",
    ];
    assert_eq!(all(&mut store.admin, &for_members), expected);
}
