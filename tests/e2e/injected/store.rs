//! The store can't be written: no space, no right, another process at work in it.

use std::time::Duration;

use remembrancer_schema::ForeignWriter;
use remembrancer_tests::injected::{Call, Class, Rule, used};
use remembrancer_tests::{eventually, sandbox, timed, topic};
use rustix::io::Errno;
use rustix::process::Signal;

use super::{all_there, controlled, four_read, problems, start, told};
use crate::{LENIENCY, PATIENCE};

/// How long the other process keeps the store.
const HELD: Duration = Duration::from_secs(10);
/// What a daemon that waits may take of a processor (TC-36).
const WAITING: f64 = 0.05;

#[test]
fn tc_40_without_space_lines_wait_and_the_old_recollection_goes() {
    let sandbox = sandbox!();
    let Some((control, mut live, daemon)) = four_read(&sandbox) else {
        return;
    };
    let shop = sandbox.project("shop");
    daemon.recall("asks", &shop, &topic(1).0);
    assert!(sandbox.recollection_file("asks").unwrap().contains("case1"));

    let full = |class| Rule::fail(Call::Write, class, Errno::NOSPC);
    control.arm(&[
        full(Class::Wal),
        full(Class::Database),
        full(Class::Recollection),
        full(Class::Shm),
    ]);
    live.topics(4..8);
    eventually("the problem in the status", PATIENCE, || {
        problems(&daemon).contains("disk is full").then_some(())
    });
    // A session that goes on meanwhile must not have the store tried, and the failure told, with every line.
    let tried = control.fired(0);
    for number in 8..28 {
        live.topics(number..number + 1);
        daemon.status();
    }
    assert!(
        control.fired(0) <= tried + 4,
        "{} writes were tried anew",
        control.fired(0) - tried
    );
    // A second attempt may fail in another act, and say so.
    assert!(told(&daemon, "can't be stored") <= 2, "{}", daemon.log());
    // The hook takes the old file away before it asks, and is answered though no new one can be written.
    let output = sandbox.hook("asks", &shop, &topic(2).0);
    assert!(output.took <= sandbox.budget() * LENIENCY, "{:?}", output.took);
    assert_eq!(sandbox.recollection_file("asks"), None);
    let left = fs_err::read_dir(sandbox.places().recollections_dir()).unwrap().count();
    assert_eq!(left, 0, "nothing is left of a write");

    control.disarm();
    daemon.recall("asks-too", &shop, &topic(3).0);
    all_there(&daemon, 28);
    assert_eq!(daemon.status()["records"], 56, "read once");
    assert_eq!(told(&daemon, "is stored again"), 1, "{}", daemon.log());
    daemon.recall("asks", &shop, &topic(3).0);
    assert!(sandbox.recollection_file("asks").unwrap().contains("case3"));
}

#[test]
fn tc_40_a_read_only_home_ends_the_daemon_by_name() {
    let sandbox = sandbox!();
    let Some(control) = controlled(&sandbox) else { return };
    let refused = |call, class| Rule::fail(call, class, Errno::ROFS);
    control.arm(&[
        refused(Call::Mkdir, Class::Other),
        refused(Call::Open, Class::Lock),
        refused(Call::Open, Class::Database),
    ]);
    let mut command = sandbox.command(&["run"]);
    control.surround(&mut command);
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    let errors: Vec<&str> = said.lines().filter(|line| line.to_lowercase().contains("error")).collect();
    assert_eq!(errors.len(), 1, "{said}");
    assert!(
        errors[0].contains("Read-only file system") && errors[0].contains("remembrancer"),
        "{said}"
    );
    assert!(sandbox.places().socket_candidates().iter().all(|socket| !socket.exists()));
}

#[test]
fn tc_40_a_home_that_becomes_read_only_is_told_and_read_on() {
    let sandbox = sandbox!();
    let Some((control, mut live, daemon)) = four_read(&sandbox) else {
        return;
    };
    let refused = |call, class| Rule::fail(call, class, Errno::ROFS);
    control.arm(&[
        refused(Call::Write, Class::Wal),
        refused(Call::Write, Class::Database),
        refused(Call::Open, Class::Recollection),
        refused(Call::Mkdir, Class::Recollection),
    ]);
    live.topics(4..6);
    eventually("the problem in the status", PATIENCE, || {
        (problems(&daemon) != "[]").then_some(())
    });
    let shop = sandbox.project("shop");
    let reply = daemon.recall("asks", &shop, &topic(1).0);
    assert!(reply.context.contains("case1"), "answered from what is stored: {reply:?}");
    control.disarm();
    daemon.recall("asks-too", &shop, &topic(2).0);
    all_there(&daemon, 6);
}

#[test]
fn tc_36_a_lock_held_for_ten_seconds_is_waited_for() {
    let sandbox = sandbox!();
    let Some((_control, mut live, daemon)) = four_read(&sandbox) else {
        return;
    };
    let database = sandbox.places().database_file();
    let before = std::os::unix::fs::MetadataExt::ino(&fs_err::metadata(&database).unwrap());
    let (shop, pid) = (sandbox.project("shop"), daemon.pid());
    let other = ForeignWriter::open(&database);
    other.lock();
    live.topics(4..8);
    let share = used(pid, HELD, || {
        let output = sandbox.hook("asks", &shop, &topic(1).0);
        assert!(output.took <= sandbox.budget() * LENIENCY, "{:?}", output.took);
        daemon.status()
    });
    assert_eq!(
        daemon.status()["episodes"],
        4,
        "nothing is written into another's transaction"
    );
    assert!(share <= WAITING, "{:.1} % of a processor while it waits", share * 100.0);
    other.unlock();
    drop(other);
    let ((), took) = timed(|| all_there(&daemon, 8));
    assert_eq!(daemon.status()["records"], 16, "written once");
    let after = std::os::unix::fs::MetadataExt::ino(&fs_err::metadata(&database).unwrap());
    assert_eq!(before, after, "a database that is locked is never set aside");
    assert!(told(&daemon, " WARN ") <= 3, "{}", daemon.log());
    eprintln!(
        "{:.1} % of a processor while the store was locked, all there {took:?} after",
        share * 100.0
    );
}

#[test]
fn a_disk_that_fails_to_read_for_a_while_is_no_damage() {
    let sandbox = sandbox!();
    let Some((control, mut live, daemon)) = four_read(&sandbox) else {
        return;
    };
    let unreadable = |class| Rule::fail(Call::Read, class, Errno::IO);
    control.arm(&[unreadable(Class::Wal), unreadable(Class::Database)]);
    live.topics(4..6);
    eventually("damage in the log", PATIENCE, || {
        (told(&daemon, "found the store damaged") > 0).then_some(())
    });
    control.disarm();
    all_there(&daemon, 6);
    assert!(told(&daemon, "the database is whole") > 0, "{}", daemon.log());
    daemon.stop(Signal::KILL);

    // A start that has to look through the store, on the same disk, from its first read on and from the middle on: nobody is told
    // to move the database aside.
    let reads = || control.count(Call::Read, Class::Wal) + control.count(Call::Read, Class::Database);
    let before = reads();
    let daemon = start(&sandbox, &control);
    let made = reads() - before;
    daemon.stop(Signal::KILL);
    for from in [1, made / 4] {
        control.arm(&[
            unreadable(Class::Wal).from_the(from),
            unreadable(Class::Database).from_the(from),
        ]);
        let mut command = sandbox.command(&["run"]);
        control.surround(&mut command);
        let output = command.output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && said.contains("error: cannot "), "{said}");
        assert!(said.contains("/O error") || said.contains("Input/output error"), "{said}");
        assert!(!said.contains("move it aside"), "{said}");
    }
    control.disarm();
    let daemon = start(&sandbox, &control);
    all_there(&daemon, 6);
}
