//! The migrations on a real server: from nothing, twice, from each older version, and broken off at any statement.

use std::sync::{Mutex, MutexGuard, PoisonError};

use postgres::{Client, NoTls};
use remembrancer_schema::shared::{READ_VERSION, SHARED_MIGRATIONS, SHARED_VERSION, SharedMigration};
use remembrancer_tests::postgres::Database;

use crate::store::{refused, server};

/// Roles belong to the server: who runs migrations in one database waits for who does in another.
static ROLES: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ROLES.lock().unwrap_or_else(PoisonError::into_inner)
}

fn empty() -> Option<(Database<'static>, Client)> {
    // The roles are made here, so that no test is the first to do so.
    drop(server()?.fresh_database().unwrap());
    let database = server()?.empty_database().unwrap();
    let client = Client::connect(&database.admin_url(), NoTls).unwrap();
    Some((database, client))
}

/// The version; 0 where there is no table of it.
fn version(client: &mut Client) -> i32 {
    let is_there: bool = client
        .query_one("SELECT to_regclass('remembrancer.meta') IS NOT NULL", &[])
        .unwrap()
        .get(0);
    if !is_there {
        return 0;
    }
    client.query_one(READ_VERSION, &[]).unwrap().get(0)
}

/// All that migrations make, in words.
fn shape(client: &mut Client) -> Vec<String> {
    let sql = "SELECT format('%s %s', c.relkind, c.oid::regclass) FROM pg_class c WHERE c.relnamespace = 'remembrancer'::regnamespace
        UNION ALL SELECT format('%s %s', p.oid::regprocedure, md5(p.prosrc)) FROM pg_proc p WHERE p.pronamespace = 'remembrancer'::regnamespace
        UNION ALL SELECT format('%s %s %s', polrelid::regclass, polname, pg_get_expr(polqual, polrelid)) FROM pg_policy
        UNION ALL SELECT format('%s %s', c.oid::regclass, c.relacl) FROM pg_class c WHERE c.relnamespace = 'remembrancer'::regnamespace
        ORDER BY 1";
    client.query(sql, &[]).unwrap().iter().map(|row| row.get(0)).collect()
}

#[test]
fn each_migration_runs_twice_and_notes_its_number() {
    let Some((_database, mut client)) = empty() else { return };
    let _one = alone();
    refused(client.query(READ_VERSION, &[]), "42P01");
    for SharedMigration { number, sql, .. } in SHARED_MIGRATIONS {
        client.batch_execute(sql).unwrap();
        assert_eq!(version(&mut client), *number);
        let once = shape(&mut client);
        client.batch_execute(sql).unwrap();
        assert_eq!(version(&mut client), *number);
        assert_eq!(shape(&mut client), once, "migration {number}");
    }
    assert_eq!(version(&mut client), SHARED_VERSION);
}

#[test]
fn from_each_older_version_on_the_end_is_the_same() {
    let Some((_database, mut client)) = empty() else { return };
    let _one = alone();
    for migration in SHARED_MIGRATIONS {
        client.batch_execute(migration.sql).unwrap();
    }
    let whole = shape(&mut client);
    for older in 1..SHARED_VERSION {
        let (database, mut client) = empty().unwrap();
        for migration in SHARED_MIGRATIONS.iter().filter(|migration| migration.number <= older) {
            client.batch_execute(migration.sql).unwrap();
        }
        // Another session, as after an update of the program.
        let mut later = Client::connect(&database.admin_url(), NoTls).unwrap();
        let found = version(&mut later);
        assert_eq!(found, older);
        for migration in SHARED_MIGRATIONS.iter().filter(|migration| migration.number > found) {
            later.batch_execute(migration.sql).unwrap();
        }
        assert_eq!(shape(&mut later), whole, "from version {older}");
    }
}

#[test]
fn nothing_is_left_out_and_nothing_is_taken_back() {
    let Some((_database, mut client)) = empty() else { return };
    let _one = alone();
    client.batch_execute(SHARED_MIGRATIONS[0].sql).unwrap();
    refused(client.batch_execute(SHARED_MIGRATIONS[2].sql), "RM008");
    client.batch_execute("ROLLBACK").unwrap();
    assert_eq!(version(&mut client), 1);
    for migration in &SHARED_MIGRATIONS[1..] {
        client.batch_execute(migration.sql).unwrap();
    }
    let whole = shape(&mut client);
    for migration in &SHARED_MIGRATIONS[..5] {
        refused(client.batch_execute(migration.sql), "RM008");
        client.batch_execute("ROLLBACK").unwrap();
    }
    assert_eq!((version(&mut client), shape(&mut client)), (SHARED_VERSION, whole));
}

/// Where each statement of a migration ends: at the end of a line, outside of a body.
fn ends(sql: &str) -> Vec<usize> {
    let mut ends = Vec::new();
    let (mut at, mut is_quoted) = (0, false);
    for line in sql.split_inclusive('\n') {
        at += line.len();
        is_quoted ^= line.matches("$$").count() % 2 == 1;
        if !is_quoted && line.trim_end().ends_with(';') && !line.trim_start().starts_with("--") {
            ends.push(at);
        }
    }
    ends
}

#[test]
fn broken_off_after_any_statement_it_leaves_the_version_before() {
    let Some((database, mut client)) = empty() else { return };
    let _one = alone();
    let mut broken = 0;
    for SharedMigration { number, sql, .. } in SHARED_MIGRATIONS {
        let before = if *number == 1 { Vec::new() } else { shape(&mut client) };
        let ends = ends(sql);
        // All but the last, which is the commit.
        for end in &ends[..ends.len() - 1] {
            let mut killed = Client::connect(&database.admin_url(), NoTls).unwrap();
            killed.batch_execute(&sql[..*end]).unwrap();
            // As if the process had been killed: the session goes without a word.
            drop(killed);
            broken += 1;
        }
        client.batch_execute("SELECT pg_advisory_xact_lock(7306915, 1)").unwrap();
        assert_eq!(version(&mut client), number - 1);
        if *number > 1 {
            assert_eq!(shape(&mut client), before, "migration {number}");
        }
        client.batch_execute(sql).unwrap();
        assert_eq!(version(&mut client), *number);
    }
    assert!(broken > 60, "{broken} statements");
}

#[test]
fn a_pgvector_that_is_too_old_is_refused_with_the_remedy() {
    let Some((_database, mut client)) = empty() else { return };
    let _one = alone();
    client
        .batch_execute("CREATE EXTENSION vector; UPDATE pg_extension SET extversion = '0.6.2' WHERE extname = 'vector'")
        .unwrap();
    let error = client.batch_execute(SHARED_MIGRATIONS[0].sql).unwrap_err();
    let said = error.as_db_error().unwrap();
    assert_eq!(said.code().code(), "RM008");
    assert!(said.message().contains("0.6.2"), "{}", said.message());
    assert!(said.hint().unwrap().contains("ALTER EXTENSION vector UPDATE"));
    client.batch_execute("ROLLBACK").unwrap();
    assert_eq!(version(&mut client), 0);
}

#[test]
fn an_owner_who_is_no_superuser_migrates_where_the_extension_is_there() {
    let Some(server) = server() else { return };
    let (database, mut admin) = empty().unwrap();
    let _one = alone();
    let name = database.name().to_owned();
    let owner = format!("{name}_owner");
    server.create_login(&owner).unwrap();
    admin
        .batch_execute(&format!(
            "GRANT remembrancer_owner TO {owner} WITH ADMIN OPTION; GRANT remembrancer_member TO {owner} WITH ADMIN OPTION;
             ALTER DATABASE {name} OWNER TO {owner}"
        ))
        .unwrap();
    let mut client = Client::connect(&database.login_url(&owner), NoTls).unwrap();
    let said = refused(client.batch_execute(SHARED_MIGRATIONS[0].sql), "RM008");
    assert!(said.contains("pgvector"), "{said}");
    client.batch_execute("ROLLBACK").unwrap();
    // Wherever it lies.
    admin
        .batch_execute(
            "CREATE SCHEMA elsewhere; CREATE EXTENSION vector SCHEMA elsewhere; GRANT USAGE ON SCHEMA elsewhere TO PUBLIC",
        )
        .unwrap();
    for migration in SHARED_MIGRATIONS {
        client.batch_execute(migration.sql).unwrap();
    }
    assert_eq!(version(&mut client), SHARED_VERSION);
    let model: i32 = client
        .query_one("SELECT remembrancer.register_model('m', 3)", &[])
        .unwrap()
        .get(0);
    assert_eq!(model, 1);
}
