//! The budget of a prompt holds while a backfill runs.

use std::time::Duration;

use remembrancer_hooks::clock::BUDGET;
use remembrancer_tests::{eventually, sandbox, topic};

use crate::PATIENCE;

const FILES: u32 = 15;
const TURNS: u32 = 100;
const PROMPTS: u32 = 60;

/// What the parent sees beyond the hook's own budget: a process starts before its first act and ends after its last.
const SLACK: Duration = Duration::from_millis(60);

#[test]
fn a_prompt_is_answered_within_its_budget_during_a_backfill() {
    let sandbox = sandbox!(alone);
    for number in 0..FILES {
        sandbox
            .transcript(&format!("old-{number}"), "shop")
            .topics(number * TURNS..(number + 1) * TURNS);
    }
    let daemon = sandbox.start();
    daemon.wait_for_model();
    eventually("the first episodes", PATIENCE, || {
        (daemon.status()["episodes"].as_u64() > Some(100)).then_some(())
    });
    let shop = sandbox.project("shop");
    let mut times = Vec::new();
    let mut answered = 0;
    for number in 0..PROMPTS {
        let output = sandbox.hook(&format!("asks-{number}"), &shop, &topic(number * 7).0);
        answered += u32::from(!output.context().is_empty());
        times.push(output.took);
    }
    let status = daemon.status();
    let left = status["embedding_backlog"].as_u64().unwrap() + status["ingest"]["transcripts_waiting"].as_u64().unwrap();
    times.sort_unstable();
    let (p50, worst) = (times[times.len() / 2], times[times.len() - 1]);
    eprintln!("the hook during a backfill: p50 {p50:?}, worst {worst:?}; {answered} of {PROMPTS} shown something");
    assert!(left > 0, "the backfill ended before the prompts did: they measured nothing");
    assert!(worst <= BUDGET + SLACK, "{times:?}");
    assert!(answered > 0, "{status}");
}
