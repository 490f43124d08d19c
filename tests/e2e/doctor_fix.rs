//! `doctor --fix`: each thing is broken first, then looked at. What would be done is told without a change, what was done is done, and
//! a second time there is nothing to mend.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Output;
use std::time::{Duration, SystemTime};

use remembrancer_schema::{damage_index, damage_vectors};
use remembrancer_tests::{Sandbox, eventually, sandbox, topic};
use rustix::process::Signal;
use serde_json::Value;

use crate::PATIENCE;
use crate::doctor::{edit, holds, set_up};
use crate::install::{Installed, said};

/// Bytes of a page of the database.
const PAGE: usize = 8_192;

/// What `doctor --fix` says: its repairs, its checks, and whether it ends with success.
fn fix(installed: &Installed<'_>, arguments: &[&str]) -> (Vec<Value>, Vec<Value>, bool) {
    read(&installed.run(&[&["doctor", "--fix", "--json"], arguments].concat()))
}

fn read(output: &Output) -> (Vec<Value>, Vec<Value>, bool) {
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", said(output)));
    let list = |name: &str| report[name].as_array().unwrap().clone();
    (list("repairs"), list("checks"), output.status.success())
}

fn told(repairs: &[Value], outcome: &str, part: &str) -> bool {
    let is_it = |repair: &&Value| repair["outcome"] == outcome && repair["found"].as_str().unwrap().contains(part);
    repairs.iter().any(|repair| is_it(&repair))
}

fn mode(path: &Path) -> u32 {
    fs_err::metadata(path).unwrap().permissions().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    fs_err::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// A memory of some turns, each with its vector, whose daemon was killed.
fn lived_in(sandbox: &Sandbox) {
    sandbox.transcript("older", "shop").topics(0..12);
    let daemon = sandbox.start();
    daemon.embed_all();
    daemon.stop(Signal::KILL);
}

/// Checks that all of this would be mended, and then is.
fn check(installed: &Installed<'_>, found: &[&str], untouched: impl Fn()) {
    let (repairs, _, passed) = fix(installed, &["--dry-run"]);
    for part in found {
        assert!(told(&repairs, "would-mend", part), "{part}: {repairs:#?}");
    }
    assert!(!passed && !told(&repairs, "mended", ""), "{repairs:#?}");
    untouched();
    let (repairs, checks, passed) = fix(installed, &[]);
    for part in found {
        assert!(told(&repairs, "mended", part), "{part}: {repairs:#?}");
    }
    // A daemon is not ours to start.
    assert!(!passed && holds(&checks, "daemon", "FAILED", "no daemon"), "{checks:#?}");
    let (repairs, ..) = fix(installed, &[]);
    assert_eq!(repairs, [] as [Value; 0]);
}

#[test]
fn what_is_broken_while_no_daemon_runs_is_mended() {
    let sandbox = sandbox!();
    let installed = set_up(&sandbox);
    lived_in(&sandbox);
    let places = sandbox.places();
    let (data, database, socket) = (
        places.data_dir(),
        places.database_file(),
        places.socket_candidates().remove(0),
    );
    let log = || fs_err::metadata(data.join("memory.db-wal")).map_or(0, |metadata| metadata.len());
    let left = [
        "its log holds",
        "nobody answers at the socket",
        "which does not hold it any more",
    ];
    check(&installed, &left, || assert!(log() > 0 && socket.exists()));
    assert_eq!(log(), 0, "the log is in the database");
    assert!(!socket.exists());
    assert_eq!(fs_err::read_to_string(data.join("daemon.lock")).unwrap(), "");

    damage_vectors(&database);
    damage_index(&database);
    let part = data.join("backups/.memory-2026-11-28T210345Z.db.2147483647.part");
    fs_err::create_dir_all(part.parent().unwrap()).unwrap();
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_hours(24 * 365 * 50);
    fs_err::File::create(&part).unwrap().set_modified(long_ago).unwrap();
    set_mode(&data, 0o755);
    set_mode(&data.join("backups"), 0o500);
    set_mode(&database, 0o644);
    let settings = sandbox.home().join(".claude/settings.json");
    edit(&settings, &sandbox.home().join("bin").display().to_string(), "/nowhere");
    edit(&settings, "\"compact|resume\"", "\"startup\"");
    edit(&settings, "\"timeout\": 2", "\"timeout\": 0.1");
    let as_it_was = fs_err::read(&settings).unwrap();
    let broken = [
        "not yours alone",
        "was left half written",
        "the full-text index is damaged",
        "is not run for compact, resume",
    ];
    check(&installed, &broken, || {
        assert_eq!((mode(&data), mode(&database), part.exists()), (0o755, 0o644, true));
        assert_eq!(fs_err::read(&settings).unwrap(), as_it_was);
    });
    assert_eq!(
        (mode(&data), mode(&part.with_file_name("")), mode(&database)),
        (0o700, 0o700, 0o600)
    );
    assert!(!part.exists());
    let text = fs_err::read_to_string(&settings).unwrap();
    assert!(
        !text.contains("/nowhere") && text.contains("compact|resume") && !text.contains("0.1"),
        "{text}"
    );
    let reader = sandbox.reader();
    assert_eq!(reader.damage().unwrap(), None);
    assert_eq!(
        reader.derived_faults().unwrap(),
        remembrancer_schema::DerivedFaults::default()
    );
    drop(reader);

    let daemon = sandbox.start();
    daemon.embed_all();
    let (repairs, checks, passed) = fix(&installed, &[]);
    assert!(passed && repairs.is_empty(), "{repairs:#?} {checks:#?}");
    let human = said(&installed.run(&["doctor", "--fix"]));
    assert!(human.starts_with("Nothing to mend.\n"), "{human}");
}

#[test]
fn the_running_daemon_mends_its_memory_and_what_is_the_user_s_is_told() {
    let sandbox = sandbox!();
    let installed = set_up(&sandbox);
    lived_in(&sandbox);
    let database = sandbox.places().database_file();
    let daemon = sandbox.start();
    daemon.embed_all();
    damage_vectors(&database);
    // A prefix is the user's own, and stays; one that ends the hook too early is told.
    let hook = sandbox.home().join("bin/remembrancer-hook").display().to_string();
    let cursor = sandbox.home().join(".cursor/hooks.json");
    edit(&cursor, &format!("\"{hook}"), &format!("\"env A=1 nice -n 1 {hook}"));
    edit(&cursor, &format!("\"{hook}"), &format!("\"timeout 0.1 {hook}"));
    let with_prefixes = fs_err::read(&cursor).unwrap();
    // Nobody but its user says yes to an entry, or to an agent.
    fs_err::write(sandbox.home().join(".codex/config.toml"), "").unwrap();
    fs_err::remove_file(sandbox.home().join(".copilot/hooks/remembrancer.json")).unwrap();

    let (repairs, checks, passed) = fix(&installed, &["--dry-run"]);
    assert!(
        !passed && told(&repairs, "would-mend", "1 vector is none, 1 code "),
        "{repairs:#?}"
    );
    assert!(holds(&checks, "memory", "FAILED", "1 vector is none"), "{checks:#?}");
    damage_index(&database);
    let (repairs, checks, passed) = fix(&installed, &[]);
    for found in ["the full-text index is damaged", "1 vector is none, 1 code "] {
        assert!(told(&repairs, "mended", found), "{repairs:#?}");
    }
    assert!(!passed && holds(&checks, "codex", "FAILED", "not trusted"), "{checks:#?}");
    assert!(holds(&checks, "copilot-cli", "FAILED", "not registered"), "{checks:#?}");
    assert!(!sandbox.home().join(".copilot/hooks/remembrancer.json").exists());
    assert!(holds(&checks, "cursor", "ok", "registered for"), "{checks:#?}");
    assert!(holds(&checks, "cursor", "ok", "is version"), "{checks:#?}");
    assert!(
        holds(&checks, "cursor", "warning", "ends the hook after 100 ms"),
        "{checks:#?}"
    );
    assert_eq!(fs_err::read(&cursor).unwrap(), with_prefixes);
    let again = installed.run(&["install", "--agent", "cursor"]);
    assert!(said(&again).contains("nothing to do"), "{}", said(&again));

    daemon.embed_all();
    let (repairs, ..) = fix(&installed, &[]);
    assert_eq!(repairs, [] as [Value; 0]);
    assert_eq!(daemon.status()["embedded"], 12);
    let reply = daemon.recall("asks", &sandbox.project("shop"), &topic(3).0);
    assert!(reply.context.contains("case3"), "{reply:?}");
}

#[test]
fn tc_37_a_damaged_database_is_set_aside_by_the_command_as_by_a_start() {
    let sandbox = sandbox!();
    let installed = set_up(&sandbox);
    sandbox.transcript("older", "shop").topics(0..60);
    let daemon = sandbox.start();
    daemon.flush();
    daemon.stop(Signal::TERM);
    let database = sandbox.places().database_file();
    let mut bytes = fs_err::read(&database).unwrap();
    // The daemon ended in order: at an opening the file would be trusted.
    let middle = bytes.len() / PAGE / 2 * PAGE;
    bytes[middle..middle + 3 * PAGE].fill(0x5a);
    fs_err::write(&database, &bytes).unwrap();

    let (repairs, ..) = fix(&installed, &["--dry-run"]);
    assert!(told(&repairs, "would-mend", "the database is damaged"), "{repairs:#?}");
    assert_eq!(fs_err::read(&database).unwrap(), bytes);
    let (repairs, checks, _) = fix(&installed, &[]);
    let repair = repairs
        .iter()
        .find(|repair| repair["found"].as_str().unwrap().contains("the database is damaged"))
        .unwrap();
    assert_eq!(repair["outcome"], "mended", "{repairs:#?}");
    let done = repair["done"].as_str().unwrap();
    assert!(
        done.contains("made anew") && done.contains(".damaged-") && done.contains("rm -f"),
        "{done}"
    );
    assert!(holds(&checks, "memory", "ok", "the database is whole"), "{checks:#?}");
    assert!(
        holds(&checks, "memory", "warning", "made anew"),
        "what may be deleted is told: {checks:#?}"
    );
    let (repairs, ..) = fix(&installed, &[]);
    assert_eq!(repairs, [] as [Value; 0]);
    let daemon = sandbox.start();
    daemon.flush();
    eventually("the transcripts to be read again", PATIENCE, || {
        (daemon.status()["ingest"]["transcripts_waiting"] == 0).then_some(())
    });
    assert_eq!(sandbox.prompts().len(), 60);
}

/// Wherever the damage is, whatever of the database can't be read any more, all else is still looked at.
#[test]
fn tc_37_damage_anywhere_is_told_and_keeps_nothing_else_from_being_told() {
    let sandbox = sandbox!();
    let installed = set_up(&sandbox);
    sandbox.transcript("older", "shop").topics(0..60);
    let daemon = sandbox.start();
    daemon.flush();
    daemon.stop(Signal::TERM);
    let database = sandbox.places().database_file();
    let whole = fs_err::read(&database).unwrap();
    let pages = whole.len() / PAGE;
    for page in (0..pages).step_by((pages / 24).max(1)) {
        let mut bytes = whole.clone();
        bytes[page * PAGE..(page + 1) * PAGE].fill(0x5a);
        fs_err::write(&database, &bytes).unwrap();
        let (repairs, checks, _) = fix(&installed, &["--dry-run"]);
        // A page that nothing refers to may hold anything.
        let is_whole = repairs.is_empty() && holds(&checks, "memory", "ok", "the database is whole");
        assert!(
            is_whole || holds(&checks, "memory", "FAILED", ""),
            "page {page}: {repairs:#?} {checks:#?}"
        );
        assert!(holds(&checks, "claude-code", "ok", ""), "page {page}: {checks:#?}");
    }
}

/// A `systemctl` that says a service runs once it was started.
fn service_manager(folder: &Path) {
    fs_err::create_dir_all(folder).unwrap();
    let started = folder.join("started");
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in\n*is-active*) test -e {0} ;;\n*restart*) echo > {0} ;;\nesac\n",
        started.display()
    );
    fs_err::write(folder.join("systemctl"), script).unwrap();
    set_mode(&folder.join("systemctl"), 0o755);
}

#[test]
#[cfg(target_os = "linux")]
fn a_service_that_is_incomplete_or_does_not_run_is_started() {
    let sandbox = sandbox!();
    let installed = set_up(&sandbox);
    let folder = sandbox.home().join("manager");
    service_manager(&folder);
    let run = |arguments: &[&str]| {
        let path = format!("{}:/usr/bin:/bin", folder.display());
        installed.command(arguments).env("PATH", path).output().unwrap()
    };
    let fix = |arguments: &[&str]| read(&run(&[&["doctor", "--fix", "--json"], arguments].concat())).0;
    assert!(run(&["install", "--service", "--yes", "--agent", "cursor"]).status.success());
    let unit = sandbox.home().join(".config/systemd/user/remembrancer.service");
    let text = fs_err::read_to_string(&unit).unwrap();
    let started = folder.join("started");
    fs_err::remove_file(&started).unwrap();

    assert!(told(&fix(&["--dry-run"]), "would-mend", "the service does not run"));
    assert!(!started.exists());
    assert!(told(&fix(&[]), "mended", "the service does not run"));
    assert!(started.exists());
    let daemon = sandbox.start();
    assert_eq!(fix(&[]), [] as [Value; 0]);
    edit(
        &unit,
        &sandbox.home().join("bin").canonicalize().unwrap().display().to_string(),
        "/gone",
    );
    assert!(told(&fix(&[]), "mended", "starts /gone/remembrancer, which is not there"));
    assert_eq!(fs_err::read_to_string(&unit).unwrap(), text);
    assert_eq!(fix(&[]), [] as [Value; 0]);
    drop(daemon);
}
