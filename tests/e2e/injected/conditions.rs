//! What is around the daemon changes under it: permissions, the clock, the speed of the disk, the way to its socket.

use std::time::Duration;

use remembrancer_tests::injected::{Call, Class, Rule};
use remembrancer_tests::{eventually, sandbox, topic};
use rustix::io::Errno;
use rustix::process::Signal;

use super::{all_there, controlled, four_read, problems, start, told};
use crate::{LENIENCY, PATIENCE};

const DAY: i64 = 86_400;

#[test]
fn tc_40_permission_that_is_lost_and_given_back_loses_nothing() {
    let sandbox = sandbox!();
    let Some((control, mut live, daemon)) = four_read(&sandbox) else {
        return;
    };
    let denied = |call, class| Rule::fail(call, class, Errno::ACCESS);
    control.arm(&[
        denied(Call::Open, Class::Transcript),
        denied(Call::Stat, Class::Transcript),
        denied(Call::ReadFolder, Class::Folder),
        denied(Call::Stat, Class::Folder),
    ]);
    live.topics(4..6);
    sandbox.transcript("other", "shop").topics(6..8);
    eventually("the problem in the status", PATIENCE, || {
        problems(&daemon).contains("make it readable").then_some(())
    });
    assert_eq!(daemon.status()["episodes"], 4, "what was read stays");
    let reply = daemon.recall("asks", &sandbox.project("shop"), &topic(1).0);
    assert!(reply.context.contains("case1"), "{reply:?}");
    control.disarm();
    all_there(&daemon, 8);
    assert_eq!(daemon.status()["records"], 16, "read once");
}

#[test]
fn tc_35_a_clock_set_back_and_forth_loses_nothing_and_hangs_nothing() {
    let sandbox = sandbox!();
    let Some((control, mut live, daemon)) = four_read(&sandbox) else {
        return;
    };
    let shop = sandbox.project("shop");
    let mut stored = 4;
    for (number, days) in [-1, 0, 400, 0, -1].into_iter().enumerate() {
        control.set_clock(days * DAY);
        live.topics(stored..stored + 2);
        stored += 2;
        all_there(&daemon, stored as usize);
        let reply = daemon.recall(&format!("asks-{number}"), &shop, &topic(1).0);
        assert!(reply.context.contains("case1"), "{days} days: {reply:?}");
        let uptime = daemon.status()["daemon"]["uptime_seconds"].as_i64().unwrap();
        assert!(uptime >= 0, "up for {uptime} s");
    }
    // The order is that of the transcript, whatever the clock said as it was read.
    let read: Vec<String> = sandbox.episodes().into_iter().map(|episode| episode.prompt).collect();
    assert_eq!(read, (0..stored).map(|number| topic(number).0).collect::<Vec<_>>());
    assert_eq!(told(&daemon, " WARN "), 1, "that there is no model: {}", daemon.log());
    let (status, _) = daemon.stop(Signal::TERM);
    assert!(status.success());
    // The next start, with the clock a day behind what is stored.
    let daemon = start(&sandbox, &control);
    all_there(&daemon, stored as usize);
}

#[test]
fn tc_23_a_slow_disk_costs_the_prompt_no_more_than_its_budget() {
    let sandbox = sandbox!(alone);
    let Some(control) = controlled(&sandbox) else { return };
    sandbox.transcript("older", "shop").topics(0..40);
    let daemon = start(&sandbox, &control);
    daemon.flush();
    daemon.stop(Signal::TERM);
    let daemon = start(&sandbox, &control);
    let slow = |class| Rule::delay(Call::Read, class, Duration::from_millis(50));
    control.arm(&[slow(Class::Database), slow(Class::Wal)]);
    let shop = sandbox.project("shop");
    for number in 0..5 {
        let output = sandbox.hook(&format!("asks-{number}"), &shop, &topic(number).0);
        assert!(output.took <= sandbox.budget() * LENIENCY, "{:?}", output.took);
    }
    assert!(control.fired(0) + control.fired(1) > 0, "the disk was not asked");
    control.disarm();
    fs_err::remove_file(sandbox.places().backoff_file()).ok();
    let reply = daemon.recall("asks", &shop, &topic(1).0);
    assert!(reply.context.contains("case1"), "{reply:?}");
}

#[test]
fn tc_23_a_daemon_that_is_slow_to_accept_costs_the_budget() {
    let sandbox = sandbox!(alone);
    let Some(control) = controlled(&sandbox) else { return };
    sandbox.transcript("older", "shop").topics(0..4);
    let daemon = start(&sandbox, &control);
    daemon.flush();
    let shop = sandbox.project("shop");
    for millis in [100, 400] {
        control.arm(&[Rule::delay(Call::Accept, Class::Socket, Duration::from_millis(millis))]);
        let output = sandbox.hook(&format!("asks-{millis}"), &shop, &topic(1).0);
        assert!(output.took <= sandbox.budget() * LENIENCY, "{millis} ms: {:?}", output.took);
        assert!(control.fired(0) > 0);
        control.disarm();
        fs_err::remove_file(sandbox.places().backoff_file()).ok();
    }
    let reply = daemon.recall("asks", &shop, &topic(1).0);
    assert!(reply.context.contains("case1"), "{reply:?}");
}
