//! Under a service manager: the socket that it holds is taken and left, what it must know it is told, and a prompt that comes while
//! the daemon starts or is wedged costs no more than its budget.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use remembrancer_hooks::clock::BUDGET;
use remembrancer_hooks::protocol::Request;
use remembrancer_tests::{DaemonProcess, ServiceManager, eventually, sandbox, skip, topic};
use rustix::process::Signal;
use serde_json::json;

use crate::PATIENCE;

/// A watchdog that waits long enough not to be of any matter.
const LONG: Duration = Duration::from_mins(10);
/// One that is heard of often.
const SHORT: Duration = Duration::from_millis(600);
/// From the budget's end to when the parent has noticed, on a busy machine.
const SLACK: Duration = Duration::from_millis(160);

#[test]
fn the_managers_socket_is_taken_at_once_and_left_at_the_end() {
    let sandbox = sandbox!(alone);
    let shop = sandbox.project("shop");
    sandbox.transcript("child", "shop").topics(0..2);
    let database = sandbox.places().database_file();
    fs_err::create_dir_all(database.parent().unwrap()).unwrap();
    let manager = ServiceManager::new(&sandbox);
    let inode = |path: &Path| fs_err::metadata(path).unwrap().ino();
    let before = inode(manager.socket());
    // Another process that opens the store, and takes its time.
    let lock = fs_err::File::create(format!("{}.lock", database.display())).unwrap();
    lock.file().lock().unwrap();
    let daemon = manager.start(1, LONG);

    let early = manager.wait_for("EXTEND_TIMEOUT_USEC=75000000").concat();
    assert!(
        early.contains("STATUS=opening the store\n") && !early.contains("READY"),
        "{early}"
    );
    let hook = sandbox.hook("early", &shop, &topic(0).0);
    eprintln!("the hook while the daemon starts: {:?}", hook.took);
    assert_eq!(hook.stdout, "");
    assert!(hook.took <= BUDGET + SLACK, "{:?}", hook.took);
    assert!(sandbox.places().backoff_file().exists(), "the next hooks do not wait");
    // What is only told waits in the socket.
    let child = json!({"session_id": "child", "cwd": shop, "hook_event_name": "UserPromptSubmit", "prompt": topic(5).0});
    sandbox.hook_with(child.to_string().as_bytes(), &[("REMEMBRANCER_GUARD", "1")]);

    std::thread::scope(|scope| {
        let asked = scope.spawn(|| daemon.ask(&Request::Ping));
        drop(lock);
        let ready = manager.wait_for("READY=1").concat();
        assert!(
            ready.contains(&format!("STATUS=listening at {}\n", manager.socket().display())),
            "{ready}"
        );
        assert_eq!(
            asked.join().unwrap()["pid"],
            daemon.pid(),
            "who asked before it was ready is answered"
        );
    });
    assert!(!sandbox.places().backoff_file().exists(), "hooks ask again");
    daemon.flush();
    eventually("the guarded session to be kept out", PATIENCE, || {
        let status = daemon.status();
        (status["episodes"] == status["hidden"]).then_some(())
    });

    let (status, _) = daemon.stop(Signal::TERM);
    assert_eq!(status.code(), Some(0));
    manager.wait_for("STOPPING=1");
    assert_eq!(inode(manager.socket()), before, "the socket is the manager's");
    let _next = manager.start(1, LONG);
    manager.wait_for("READY=1");
}

#[test]
fn a_wedged_daemon_gives_no_word() {
    let sandbox = sandbox!();
    let manager = ServiceManager::new(&sandbox);
    let daemon = manager.start(1, SHORT);
    manager.wait_for("READY=1");
    for _ in 0..2 {
        manager.wait_for("WATCHDOG=1");
    }
    daemon.signal(Signal::STOP);
    eventually("the daemon to stand still", PATIENCE, || is_stopped(&daemon).then_some(()));
    // What it said before.
    while manager.next(Duration::from_millis(1)).is_some() {}
    assert_eq!(manager.next(SHORT * 4), None);
    daemon.signal(Signal::CONT);
    manager.wait_for("WATCHDOG=1");
}

fn is_stopped(daemon: &DaemonProcess<'_>) -> bool {
    let stat = fs_err::read_to_string(format!("/proc/{}/stat", daemon.pid())).unwrap();
    stat.rsplit_once(')').unwrap().1.trim_start().starts_with('T')
}

#[test]
fn a_removed_socket_is_the_managers_to_make_again() {
    let sandbox = sandbox!();
    if sandbox.has_real_runtime_folder() {
        return skip("this user has a runtime folder, in which the daemon would listen");
    }
    let manager = ServiceManager::new(&sandbox);
    let daemon = manager.start(1, LONG);
    manager.wait_for("READY=1");
    fs_err::remove_file(manager.socket()).unwrap();
    eventually("an answer at another place", PATIENCE, || daemon.try_ask(&Request::Ping).ok());
    assert!(!manager.socket().exists());
    let instead = sandbox.places().data_dir().join("run/remembrancer.sock");
    assert!(instead.exists(), "{}", daemon.log());
    daemon.stop(Signal::TERM);
    assert!(!instead.exists());
}

#[test]
fn what_is_not_one_socket_is_refused() {
    let sandbox = sandbox!();
    let manager = ServiceManager::new(&sandbox);
    let mut daemon = manager.start(2, LONG);
    let status = eventually("the daemon's end", PATIENCE, || daemon.ended());
    assert_eq!(status.code(), Some(1));
    assert!(daemon.log().contains("more than one socket was passed"), "{}", daemon.log());
    assert!(manager.socket().exists());
}
