//! Ends and beginnings of the process: an orderly stop, one daemon a user, remains of a dead one taken over.

use std::time::Duration;

use remembrancer_tests::{Sandbox, eventually, sandbox, topic};
use rustix::process::Signal;

use crate::{LENIENCY, PATIENCE};

/// What an orderly stop may take, see `remembrancer::STOP`.
const STOP: Duration = Duration::from_secs(5);

#[test]
fn sigterm_during_a_backfill() {
    stops_in_order(Signal::TERM);
}

#[test]
fn sigint_during_a_backfill() {
    stops_in_order(Signal::INT);
}

fn stops_in_order(signal: Signal) {
    let sandbox = sandbox!();
    for number in 0..6 {
        sandbox
            .transcript(&format!("old-{number}"), "shop")
            .topics(number * 100..(number + 1) * 100);
    }
    let daemon = sandbox.start();
    daemon.wait_for_model();
    eventually("the backfill to run", PATIENCE, || {
        (daemon.status()["embedded"].as_u64() > Some(0)).then_some(())
    });
    let socket = socket(&sandbox);
    let log = sandbox.places();
    let (status, took) = daemon.stop(signal);
    eprintln!("stopped by {signal:?} after {took:?}");
    assert_eq!(status.code(), Some(0));
    assert!(took <= STOP * LENIENCY, "{took:?}");
    assert!(!socket.exists(), "the socket is gone");
    // Closed in order: nothing is left in the log, so a reader needs no recovery.
    let wal = format!("{}-wal", log.database_file().display());
    assert_eq!(
        fs_err::metadata(&wal).map_or(0, |metadata| metadata.len()),
        0,
        "the database was closed in order"
    );
    assert!(sandbox.run(&["status"]).status.success());
}

#[test]
fn sigterm_while_the_store_is_being_opened() {
    let sandbox = sandbox!();
    let database = sandbox.places().database_file();
    fs_err::create_dir_all(database.parent().unwrap()).unwrap();
    // Another process that opens it, and takes its time.
    let lock = fs_err::File::create(format!("{}.lock", database.display())).unwrap();
    lock.file().lock().unwrap();
    let daemon = sandbox.start_unready();
    let socket = socket(&sandbox);
    eventually("the socket", PATIENCE, || socket.exists().then_some(()));
    let (status, took) = daemon.stop(Signal::TERM);
    assert_eq!(status.code(), Some(0), "it was told to");
    assert!(took <= STOP * LENIENCY, "{took:?}");
    assert!(!socket.exists(), "the socket is gone");
}

#[test]
fn a_second_daemon_is_refused_with_the_first_one_s_pid() {
    let sandbox = sandbox!();
    let first = sandbox.start();
    let output = sandbox.run(&["run"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(5), "{said}");
    assert!(said.contains(&format!("process id {}", first.pid())), "{said}");
    assert!(first.status()["daemon"]["pid"] == first.pid(), "the first goes on");
}

#[test]
fn tc_39_what_a_dead_daemon_left_is_taken_over() {
    let sandbox = sandbox!();
    sandbox.transcript("older", "shop").topics(0..2);
    let daemon = sandbox.start();
    daemon.flush();
    let (_, socket) = (daemon.stop(Signal::KILL), socket(&sandbox));
    let lock = sandbox.places().data_dir().join("daemon.lock");
    assert!(socket.exists() && lock.exists());
    // The pid in it may be a stranger's by now; it is never signalled. This test's own would be noticed.
    fs_err::write(&lock, format!("{}\n", std::process::id())).unwrap();
    let daemon = sandbox.start();
    daemon.flush();
    assert_eq!(sandbox.episodes().len(), 2);
    assert_eq!(fs_err::read_to_string(&lock).unwrap().trim(), daemon.pid().to_string());
}

#[test]
fn tc_39_twenty_hooks_at_once_start_no_daemon() {
    let sandbox = sandbox!();
    let shop = sandbox.project("shop");
    let (home, prompt) = (&sandbox, topic(0).0);
    std::thread::scope(|scope| {
        for number in 0..20 {
            let (shop, prompt) = (&shop, &prompt);
            scope.spawn(move || assert_eq!(home.hook(&format!("s-{number}"), shop, prompt).stdout, ""));
        }
    });
    assert!(
        !sandbox.places().data_dir().exists(),
        "no daemon was started, nothing was made"
    );
    assert!(sandbox.places().socket_candidates().iter().all(|path| !path.exists()));
}

#[test]
fn hooks_are_answered_while_the_daemon_stops_and_starts() {
    let sandbox = sandbox!();
    sandbox.transcript("older", "shop").topics(0..20);
    let shop = sandbox.project("shop");
    for round in 0..3 {
        let daemon = sandbox.start();
        let home = &sandbox;
        std::thread::scope(|scope| {
            for number in 0..4 {
                let shop = &shop;
                // Whatever it says, it exits with 0 and writes nothing to stderr.
                scope.spawn(move || home.hook(&format!("s-{round}-{number}"), shop, &topic(number).0));
            }
            let (status, _) = daemon.stop(Signal::TERM);
            assert_eq!(status.code(), Some(0));
        });
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_crash_leaves_no_core_dump() {
    let sandbox = sandbox!();
    let daemon = sandbox.start();
    let limits = fs_err::read_to_string(format!("/proc/{}/limits", daemon.pid())).unwrap();
    let core = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
    assert_eq!(
        core.split_whitespace().skip(4).take(2).collect::<Vec<_>>(),
        ["0", "0"],
        "{core}"
    );
    // A collector is handed nothing, either.
    let owner = fs_err::metadata(format!("/proc/{}/environ", daemon.pid())).unwrap();
    assert_eq!(std::os::unix::fs::MetadataExt::uid(&owner), 0, "the process is dumpable");
}

fn socket(sandbox: &Sandbox) -> std::path::PathBuf {
    sandbox.places().socket_candidates().remove(0)
}
