//! Killed at any moment of a backfill, the daemon goes on from where the store stands: nothing lost, nothing doubled.

use remembrancer_tests::{eventually, sandbox, topic};
use rustix::process::Signal;

use crate::PATIENCE;

const FILES: u32 = 12;
const TURNS: u32 = 50;

#[test]
fn tc_37_killed_during_a_backfill() {
    let sandbox = sandbox!();
    for number in 0..FILES {
        sandbox
            .transcript(&format!("old-{number}"), "shop")
            .topics(number * TURNS..(number + 1) * TURNS);
    }
    // Each daemon gets a little further: the first dies while it reads, the others while they embed.
    for round in 0..3_u64 {
        let daemon = sandbox.start();
        eventually("some progress", PATIENCE, || {
            let status = daemon.status();
            (status["episodes"].as_u64() > Some(0) && status["embedded"].as_u64() >= Some(round * 8)).then_some(())
        });
        daemon.stop(Signal::KILL);
    }
    let daemon = sandbox.start();
    daemon.flush();
    let mut expected: Vec<String> = (0..FILES * TURNS).map(|number| topic(number).0).collect();
    expected.sort();
    assert_eq!(sandbox.prompts(), expected);
    // The start after a kill looks through the whole file; that the index has every episode is not part of that.
    assert_eq!(sandbox.reader().indexed_episodes().unwrap(), u64::from(FILES * TURNS));
    let status = daemon.status();
    assert_eq!(
        (&status["records"], &status["skipped_lines"], &status["problems"]),
        (&(FILES * TURNS * 2).into(), &0.into(), &serde_json::json!([]))
    );
    let reply = daemon.recall("asks", &sandbox.project("shop"), &topic(123).0);
    assert!(reply.context.contains("case123"), "{reply:?}");
    let (status, _) = daemon.stop(Signal::TERM);
    assert!(status.success());
}
