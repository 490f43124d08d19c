//! Descriptors run out, by the system's own limit, which Linux lets another process set.

use remembrancer_tests::{DaemonProcess, sandbox, topic};
use rustix::process::{Pid, Resource, Rlimit, prlimit};

use super::{controlled, start, told};
use crate::LENIENCY;

#[test]
fn tc_39_without_descriptors_hooks_are_shed_and_served_afterwards() {
    let sandbox = sandbox!();
    let Some(control) = controlled(&sandbox) else { return };
    sandbox.transcript("older", "shop").topics(0..8);
    let daemon = start(&sandbox, &control);
    daemon.flush();
    let shop = sandbox.project("shop");
    let normal = limit_descriptors(&daemon, open_descriptors(&daemon) as u64 + 1);
    let home = &sandbox;
    std::thread::scope(|scope| {
        for number in 0..20 {
            let shop = &shop;
            scope.spawn(move || {
                let output = home.hook(&format!("shed-{number}"), shop, &topic(number % 8).0);
                output.context();
                assert!(output.took <= home.budget() * LENIENCY, "{:?}", output.took);
            });
        }
    });
    assert!(told(&daemon, "not accepted") <= 3, "{}", daemon.log());
    limit_descriptors(&daemon, normal);
    fs_err::remove_file(sandbox.places().backoff_file()).ok();
    let reply = daemon.recall("asks", &shop, &topic(1).0);
    assert!(reply.context.contains("case1"), "{reply:?}");
    assert!(!daemon.log().contains("panicked"), "{}", daemon.log());
}

fn open_descriptors(daemon: &DaemonProcess<'_>) -> usize {
    fs_err::read_dir(format!("/proc/{}/fd", daemon.pid())).unwrap().count()
}

/// Sets how many descriptors the daemon may have. Returns how many it might before.
fn limit_descriptors(daemon: &DaemonProcess<'_>, most: u64) -> u64 {
    let pid = Pid::from_raw(daemon.pid() as i32);
    let before = rustix::process::getrlimit(Resource::Nofile);
    let limit = Rlimit {
        current: Some(most),
        maximum: before.maximum,
    };
    prlimit(pid, Resource::Nofile, limit).unwrap().current.unwrap()
}
