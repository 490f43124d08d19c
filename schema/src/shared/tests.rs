use std::collections::BTreeSet;
use std::path::Path;

use super::*;

#[test]
fn migrations_are_numbered_without_gaps_and_each_notes_its_own_number() {
    for (index, migration) in SHARED_MIGRATIONS.iter().enumerate() {
        let number = index as i32 + 1;
        assert_eq!(migration.number, number, "{}", migration.name);
        for noted in [
            format!("remembrancer.begin_migration({number})"),
            format!("remembrancer.end_migration({number})"),
        ] {
            assert_eq!(migration.sql.matches(&noted).count(), 1, "{}: {noted}", migration.name);
        }
    }
    assert_eq!(SHARED_VERSION, SHARED_MIGRATIONS.last().unwrap().number);
    assert!((1..=SHARED_VERSION).contains(&OLDEST_SERVER));
}

#[test]
fn each_migration_is_one_transaction() {
    let alone = |sql: &str, word: &str| sql.lines().filter(|line| *line == word).count();
    for SharedMigration { name, sql, .. } in SHARED_MIGRATIONS {
        assert_eq!((alone(sql, "BEGIN;"), alone(sql, "COMMIT;")), (1, 1), "{name}");
        assert!(sql.trim_end().ends_with("COMMIT;"), "{name}");
        let before = sql.split_once("\nBEGIN;\n").unwrap().0;
        assert!(
            before.lines().all(|line| line.starts_with("--")),
            "{name}: something stands before it"
        );
    }
}

#[test]
fn every_file_is_a_migration() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations/shared");
    let files: BTreeSet<String> = fs_err::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let known = SHARED_MIGRATIONS
        .iter()
        .map(|SharedMigration { number, name, .. }| format!("{number:04}_{name}.sql"));
    assert_eq!(files, known.collect());
}

/// The SQLSTATEs that the migrations raise.
fn raised() -> BTreeSet<&'static str> {
    let after_words = SHARED_MIGRATIONS
        .iter()
        .flat_map(|migration| migration.sql.split("ERRCODE = '").skip(1));
    after_words.map(|rest| rest.split('\'').next().unwrap()).collect()
}

#[test]
fn every_state_that_is_raised_is_a_refusal_and_the_other_way_round() {
    assert_eq!(raised(), Refusal::ALL.into_iter().map(Refusal::sqlstate).collect());
    for refusal in Refusal::ALL {
        assert_eq!(Refusal::of(refusal.sqlstate()), Some(refusal));
        assert!(!refusal.remedy().is_empty());
        assert!(refusal.to_string().ends_with(refusal.remedy()));
    }
    assert_eq!(Refusal::of("42501"), None);
    // An exception without a state of ours would be P0001, of which nobody knows what it is.
    for SharedMigration { name, sql, .. } in SHARED_MIGRATIONS {
        let (raises, states) = (sql.matches("RAISE EXCEPTION").count(), sql.matches("ERRCODE = 'RM").count());
        assert_eq!(raises, states, "{name}");
    }
}

#[test]
fn every_function_has_its_names_looked_up_in_the_system_alone_and_is_closed_to_the_public() {
    for SharedMigration { name, sql, .. } in SHARED_MIGRATIONS {
        for function in sql.split("CREATE OR REPLACE FUNCTION ").skip(1) {
            let head = function.split_once(" AS $").unwrap().0;
            assert!(head.contains("SET search_path = pg_catalog, pg_temp"), "{name}: {head}");
        }
        assert!(!sql.contains("TO PUBLIC"), "{name}");
    }
}

#[test]
fn a_page_and_a_search_give_the_same_columns_first() {
    let columns = |statement: &'static str| {
        let listed = statement.strip_prefix("SELECT ").unwrap().split_once(" FROM ").unwrap().0;
        listed.split(", ").collect::<Vec<_>>()
    };
    let (page, search) = (columns(PULL), columns(SEARCH));
    assert_eq!(page.len(), 27);
    assert_eq!(search[..27], page[..]);
    assert_eq!(search[27..], ["words_rank", "meaning_rank"]);
    // Each is a column of the function's.
    let declared = SHARED_MIGRATIONS[4].sql;
    assert!(page.iter().all(|column| declared.contains(&format!("{column} "))));
    // 22 of them, as the one who writes them counts.
    let brought = COPY_INCOMING.split_once('(').unwrap().1.split_once(')').unwrap().0;
    assert_eq!(brought.split(", ").count(), 22);
    assert!(
        SHARED_MIGRATIONS[1]
            .sql
            .replace("\n    ", " ")
            .contains(&format!("GRANT INSERT ({brought})"))
    );
}
