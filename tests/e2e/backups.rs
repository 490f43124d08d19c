//! Backups and going back to one, with the real binaries.

use remembrancer_tests::{eventually, sandbox, topic};
use rustix::process::Signal;
use serde_json::json;

use crate::PATIENCE;

#[test]
fn a_backup_while_the_daemon_reads_is_gone_back_to_and_brings_nothing_forgotten_back() {
    let sandbox = sandbox!();
    sandbox.transcript("older", "shop").topics(0..6);
    let daemon = sandbox.start();
    daemon.flush();
    for number in 0..4 {
        sandbox
            .transcript(&format!("new-{number}"), "shop")
            .on_day(20)
            .topics(100 * (number + 1)..100 * (number + 1) + 40);
    }
    let made = sandbox.json(&["backup"]);
    let copied = made["episodes"].as_u64().unwrap();
    assert!(copied >= 6, "{made}");
    let refused = sandbox.run(&["restore", "--latest", "--yes"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(5), "{said}");
    assert!(
        said.contains(&daemon.pid().to_string()) && said.contains("stop it:"),
        "{said}"
    );
    daemon.flush();
    let all = sandbox.prompts();
    assert_eq!(all.len(), 166);
    daemon.stop(Signal::TERM);

    let backup = made["path"].as_str().unwrap();
    let elsewhere = sandbox.home().join("elsewhere.db");
    fs_err::copy(backup, &elsewhere).unwrap();
    let forgotten = sandbox.json(&["forget", "--matching", "case3", "--yes"]);
    assert_eq!(forgotten["forgotten"], 1);
    let nobody = sandbox.run(&["restore", elsewhere.to_str().unwrap()]);
    assert_eq!(nobody.status.code(), Some(2), "there is nobody to ask");
    let restored = sandbox.json(&["restore", elsewhere.to_str().unwrap(), "--yes"]);
    assert_eq!(restored["forgotten_again"], 1);
    assert!(fs_err::metadata(restored["set_aside"].as_str().unwrap()).is_ok());
    assert_eq!(sandbox.episodes().len() as u64, copied - 1);
    let daemon = sandbox.start();
    daemon.flush();
    let kept: Vec<String> = all.into_iter().filter(|prompt| *prompt != topic(3).0).collect();
    assert_eq!(
        sandbox.prompts(),
        kept,
        "the transcripts give the rest, and not what was forgotten"
    );
    let shop = sandbox.project("shop");
    assert!(daemon.recall("asks", &shop, &topic(1).0).context.contains("case1"));
}

#[test]
fn a_backup_never_overwrites_what_is_none() {
    let sandbox = sandbox!();
    sandbox.transcript("older", "shop").topics(0..2);
    let daemon = sandbox.start();
    daemon.flush();
    let letter = sandbox.home().join("letter.txt");
    fs_err::write(&letter, "dear reader").unwrap();
    let refused = sandbox.run(&["backup", letter.to_str().unwrap()]);
    assert!(!refused.status.success());
    assert_eq!(fs_err::read_to_string(&letter).unwrap(), "dear reader");
    let backup = sandbox.home().join("backup.db");
    for _ in 0..2 {
        assert_eq!(
            sandbox.json(&["backup", backup.to_str().unwrap()])["episodes"],
            2,
            "over an older one, too"
        );
    }
    daemon.stop(Signal::TERM);
    assert_eq!(
        sandbox.json(&["backup", backup.to_str().unwrap()])["episodes"],
        2,
        "and without a daemon"
    );
}

#[test]
fn daily_backups_are_made_when_something_changed_and_never_more_than_are_kept() {
    let sandbox = sandbox!();
    sandbox.configure("[backup]\nkeep = 2\nevery = \"1s\"\n");
    let mut transcript = sandbox.transcript("live", "shop");
    let daemon = sandbox.start();
    let folder = sandbox.places().data_dir().join("backups");
    let names = || -> Vec<_> {
        let entries = fs_err::read_dir(&folder).into_iter().flatten().flatten();
        let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
        names.sort();
        names.retain(|name| name.to_string_lossy().ends_with("-daily.db"));
        names
    };
    let mut seen = std::collections::BTreeSet::new();
    for number in 0..4 {
        transcript.topics(number..number + 1);
        daemon.flush();
        eventually("another daily backup", PATIENCE, || {
            let now = names();
            // The new one stands before the oldest goes.
            assert!(now.len() <= 3, "{now:?}");
            let before = seen.len();
            seen.extend(now);
            (seen.len() > before).then_some(())
        });
    }
    eventually("the oldest to go", PATIENCE, || (names().len() <= 2).then_some(()));
    assert!(daemon.status()["counted"]["backup-failed"].is_null());
}

#[test]
fn tc_38_a_newer_memory_is_left_alone_and_the_copy_before_its_migration_is_gone_back_to() {
    let sandbox = sandbox!();
    sandbox.transcript("older", "shop").topics(0..3);
    let daemon = sandbox.start();
    daemon.flush();
    daemon.stop(Signal::TERM);
    let database = sandbox.places().database_file();
    let version = remembrancer_schema::SCHEMA_VERSION;
    let copy = database.with_file_name(format!("memory.db.v{version}.bak"));
    sandbox.json(&["backup", copy.to_str().unwrap()]);
    // The header's `user_version`: big-endian, at byte 60.
    let mut bytes = fs_err::read(&database).unwrap();
    bytes[60..64].copy_from_slice(&(version + 1).to_be_bytes());
    fs_err::write(&database, &bytes).unwrap();
    let refused = sandbox.run(&["status"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(4), "{said}");
    assert!(said.contains("`remembrancer restore --pre-migration`"), "{said}");
    assert!(!sandbox.run(&["run"]).status.success());
    let shop = sandbox.project("shop");
    assert_eq!(sandbox.hook("asks", &shop, &topic(1).0).stdout, "");
    assert_eq!(fs_err::read(&database).unwrap(), bytes, "nothing in it was changed");
    let restored = sandbox.json(&["restore", "--pre-migration", "--yes"]);
    assert_eq!(
        (&restored["episodes"], &restored["decisions_known"]),
        (&json!(3), &json!(true))
    );
    assert_eq!(fs_err::read(restored["set_aside"].as_str().unwrap()).unwrap(), bytes);
    let daemon = sandbox.start();
    daemon.flush();
    assert_eq!(daemon.status()["episodes"], 3);
}

#[test]
fn what_is_no_copy_is_refused_in_words_about_a_copy_and_the_memory_stays() {
    let sandbox = sandbox!();
    sandbox.transcript("older", "shop").topics(0..3);
    let daemon = sandbox.start();
    daemon.flush();
    daemon.stop(Signal::TERM);
    let database = sandbox.places().database_file();
    let garbage = sandbox.home().join("garbage.db");
    fs_err::write(&garbage, vec![7; 20_000]).unwrap();
    let pipe = sandbox.home().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let refused = |copy: &std::path::Path| {
        let output = sandbox.run(&["restore", copy.to_str().unwrap(), "--yes"]);
        assert!(!output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    for (copy, expected) in [
        (garbage.as_path(), "is no copy of a memory: it is damaged, or no database"),
        (&sandbox.home().join("nofile"), "there is no copy at"),
        (&sandbox.home(), "it is a folder"),
        (&pipe, "it is a named pipe"),
        (std::path::Path::new("/dev/zero"), "it is a device"),
        (&database, "is the memory itself"),
    ] {
        let said = refused(copy);
        assert!(said.contains(expected), "{said}");
        assert!(!said.contains("start the daemon") && !said.contains("mv '"), "{said}");
    }
    assert!(!database.with_file_name("restoring").exists());
    assert_eq!(sandbox.episodes().len(), 3);
    sandbox.start().flush();
}
