//! What the system gives out runs out: watches on folders, and watchers.

use std::time::Duration;

use remembrancer_tests::injected::{Call, Class, Rule};
use remembrancer_tests::{eventually, sandbox, timed};
use rustix::io::Errno;

use super::{all_there, controlled, start, told};
use crate::PATIENCE;

/// How often the daemon looks where it can't watch, with room for a busy machine.
const POLLED: Duration = Duration::from_secs(5 * 3);

/// A rescan that is out of reach: only the polling can bring what is written.
const SELDOM: &str = "[embedding]\nmodel_dir = \"/nowhere/at/all\"\n[transcripts]\nrescan = \"1h\"\n";

/// With `rule` in force from the start on, a new line is stored soon and the log names the remedy.
fn polls(rule: Rule) {
    let sandbox = sandbox!();
    let Some(control) = controlled(&sandbox) else { return };
    sandbox.configure(SELDOM);
    let mut live = sandbox.transcript("live", "shop");
    live.topics(0..2);
    control.arm(&[rule]);
    let daemon = start(&sandbox, &control);
    eventually("what was there", PATIENCE, || {
        (daemon.status()["episodes"] == 2).then_some(())
    });
    assert!(control.fired(0) > 0);
    assert_eq!(told(&daemon, "fs.inotify.max_user"), 1, "{}", daemon.log());
    live.topics(2..4);
    let ((), took) = timed(|| all_there(&daemon, 4));
    eprintln!("a new line was stored after {took:?}");
    assert!(took <= POLLED, "{took:?}");
}

#[test]
fn without_watches_the_daemon_polls_and_names_the_limit() {
    polls(Rule::fail(Call::WatchAdd, Class::Folder, Errno::NOSPC));
}

#[test]
fn without_watchers_the_daemon_polls_and_names_the_limit() {
    polls(Rule::fail(Call::WatchInit, Class::Other, Errno::MFILE));
}

#[test]
fn a_folder_that_appears_when_no_watch_is_left_is_polled() {
    let sandbox = sandbox!();
    let Some(control) = controlled(&sandbox) else { return };
    sandbox.configure(SELDOM);
    sandbox.transcript("live", "shop").topics(0..2);
    let daemon = start(&sandbox, &control);
    daemon.flush();
    control.arm(&[Rule::fail(Call::WatchAdd, Class::Folder, Errno::NOSPC)]);
    let mut other = sandbox.transcript("other", "mill");
    other.topics(2..4);
    eventually("the warning", PATIENCE, || {
        (told(&daemon, "fs.inotify.max_user") == 1).then_some(())
    });
    other.topics(4..6);
    let ((), took) = timed(|| all_there(&daemon, 6));
    assert!(took <= POLLED, "{took:?}");
}
