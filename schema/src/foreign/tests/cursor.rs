//! Cursor's store: keys and values, of which a look takes the keys alone.

use super::*;

/// Its tables, as far as they are read.
pub(super) const MADE: &str = "
    CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
    CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);";
/// The table that newer versions added.
pub(super) const HEADERS: &str = "
    CREATE TABLE composerHeaders (composerId TEXT PRIMARY KEY, workspaceId TEXT, createdAt INTEGER, lastUpdatedAt INTEGER,
        isArchived INTEGER, isSubagent INTEGER, recency INTEGER, checkpointAt INTEGER, value TEXT);";

#[test]
fn a_look_into_cursors_store_reads_keys_alone() {
    let place = Place::with(&format!("{MADE}{HEADERS}"));
    place
        .database()
        .within(|db| {
            for generation in Layout::Cursor.generations(db)? {
                for rows in generation.rows {
                    for query in [rows.all, rows.of_session] {
                        let plan = plan(db, query)?;
                        assert!(plan.contains("COVERING INDEX"), "{query}: {plan}");
                    }
                }
            }
            Ok(())
        })
        .unwrap();
}

/// What Cursor writes: a key with its value, anew where it was there.
fn keeps(key: &str, value: &Value) -> String {
    format!("INSERT INTO cursorDiskKV VALUES ('{key}', '{value}');")
}

#[test]
fn a_conversation_of_cursor_is_told_with_what_is_asked_for() {
    let place = Place::with(MADE);
    let database = ForeignDatabase::new(&place.path(), Layout::Cursor, || false);
    let writer = place.writer();
    writer.run(&keeps("composerData:c1", &json!({"name": "Till", "codeBlockData": {"a": 1}})));
    writer.run(&keeps(
        "bubbleId:c1:b2",
        &json!({"type": 2, "text": "two", "toolFormerData": {"name": "grep"}}),
    ));
    writer.run(&keeps(
        "bubbleId:c1:b1",
        &json!({"type": 1, "text": "one", "context": {"large": true}}),
    ));
    writer.run(&keeps("bubbleId:c10:b3", &json!({"type": 1, "text": "of another"})));
    writer.run("INSERT INTO cursorDiskKV VALUES ('bubbleId:c1:b3', x'00ff17'), ('bubbleId:c1:b4', NULL)");
    let told = database.session("c1").unwrap().unwrap();
    let record = parsed(&told.record);
    assert_eq!(record["composer"]["name"], "Till");
    assert_eq!(
        (&record["composer"]["codeBlockData"], &record["header"]),
        (&Value::Null, &Value::Null)
    );
    let ids: Vec<&str> = told.messages.iter().map(|message| message.id.as_str()).collect();
    assert_eq!(ids, ["b1", "b2", "b3"], "what is no JSON is handed on");
    let first = json!({"type": 1, "text": "one", "createdAt": null, "workspaceUris": null, "toolFormerData": null});
    assert_eq!(parsed(&told.messages[0].content), first);
    assert_eq!(parsed(&told.messages[1].content)["toolFormerData"], json!({"name": "grep"}));
    assert_eq!(
        stamps(&database).keys().collect::<Vec<_>>(),
        ["c1"],
        "messages alone are no conversation"
    );
    // What later versions added.
    writer.run(HEADERS);
    writer.run("INSERT INTO composerHeaders (composerId, lastUpdatedAt, isSubagent, value) VALUES ('c1', 700, 1, '{\"a\":1}'), ('c9', 800, 0, '{}')");
    let told = database.session("c1").unwrap().unwrap();
    let record = parsed(&told.record);
    assert_eq!((&record["isSubagent"], &record["header"]), (&json!(1), &json!({"a": 1})));
    assert_eq!(told.stamp.changed.0, 700);
    assert_eq!(of_one(&database, "c1"), told.stamp);
    assert_eq!(stamps(&database).len(), 1, "a header alone is no conversation");
}

fn of_one(database: &ForeignDatabase, id: &str) -> Stamp {
    stamps(database)[id]
}

#[rstest]
#[case::in_an_older_version("")]
#[case::in_a_newer_version(HEADERS)]
fn a_value_of_cursors_that_is_written_again_is_seen(#[case] headers: &str) {
    let place = Place::with(&format!("{MADE}{headers}"));
    let database = ForeignDatabase::new(&place.path(), Layout::Cursor, || false);
    let writer = place.writer();
    for id in 0..40 {
        writer.run(&keeps(&format!("composerData:c{id}"), &json!({"name": "Till"})));
        writer.run(&keeps(&format!("bubbleId:c{id}:b"), &json!({"text": "one"})));
    }
    let mut catalogue = Catalogue::default();
    database.look(&mut catalogue).unwrap();
    for key in ["bubbleId:c7:b", "bubbleId:c7:b", "composerData:c7", "agentKv:blob:7"] {
        let before = of(&catalogue);
        writer.run(&keeps(key, &json!({"text": "one, two"})));
        database.look(&mut catalogue).unwrap();
        let after = of(&catalogue);
        let changed: Vec<&String> = after.keys().filter(|id| after[*id] != before[*id]).collect();
        let expected: &[&str] = if key.starts_with("agentKv") { &[] } else { &["c7"] };
        assert_eq!(changed, expected, "{key}");
        assert_eq!(after, stamps(&database));
    }
}
