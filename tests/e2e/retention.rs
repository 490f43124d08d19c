//! Retention: what is beyond its bounds leaves the memory, gives its space back, and does not come back.

use remembrancer_tests::{Sandbox, eventually, sandbox, topic};
use rustix::process::Signal;
use serde_json::Value;

use crate::PATIENCE;

fn database_bytes(sandbox: &Sandbox) -> u64 {
    fs_err::metadata(sandbox.places().database_file()).unwrap().len()
}

#[test]
fn without_bounds_nothing_goes_and_nothing_is_said() {
    let sandbox = sandbox!();
    sandbox.transcript("live", "shop").topics(0..2);
    let daemon = sandbox.start();
    daemon.flush();
    assert_eq!(sandbox.json(&["status"])["retention"], Value::Null);
}

#[test]
fn what_is_too_old_leaves_and_does_not_come_back() {
    let sandbox = sandbox!();
    let mut old = sandbox.transcript("old", "shop");
    old.topics(0..60);
    let mut young = sandbox.transcript("young", "shop");
    young.at(remembrancer_schema::UnixMillis(
        remembrancer_hooks::clock::unix_millis() - 3_600_000,
    ));
    young.topics(70..73);
    let daemon = sandbox.start();
    daemon.wait_for_model();
    daemon.embed_all();
    daemon.stop(Signal::TERM);

    sandbox.configure("[retention]\nmax_age = \"2d\"\n");
    let status = sandbox.json(&["status"]);
    assert_eq!(status["retention"]["turns_too_old"], 60, "told beforehand");
    assert_eq!(status["episodes"], 63);
    let daemon = sandbox.start();
    eventually("the old to leave", PATIENCE, || {
        (daemon.status()["episodes"] == 3).then_some(())
    });
    let status = sandbox.json(&["status"]);
    assert_eq!(
        (&status["retention"]["turns_removed"], &status["retention"]["turns_too_old"]),
        (&60.into(), &0.into())
    );
    assert_eq!(status["forgotten_turns"], 0, "counted apart");
    let said = String::from_utf8(sandbox.run(&["status"]).stdout).unwrap();
    assert!(said.contains("0 turns older than 2 days; removed so far: 60 turns"), "{said}");
    let shop = sandbox.project("shop");
    assert!(!daemon.recall("asks", &shop, &topic(5).0).context.contains("case5 "));
    assert!(daemon.recall("asks", &shop, &topic(71).0).context.contains("case71 "));

    // Read on, read again from the beginning, and repeated by a fork.
    old.topics(60..61);
    let fork = old.content().replace("\"sessionId\":\"old\"", "\"sessionId\":\"fork\"");
    sandbox.transcript("fork", "shop").raw(&fork);
    daemon.flush();
    daemon.stop(Signal::TERM);
    let daemon = sandbox.start();
    daemon.flush();
    let mut prompts = sandbox.prompts();
    prompts.retain(|prompt| !prompt.contains("case60 "));
    assert_eq!(prompts.len(), 3, "{prompts:?}");
}

#[test]
fn where_it_is_too_large_the_least_worth_leaves_and_the_file_shrinks() {
    let sandbox = sandbox!();
    // Long texts that no compression of the index makes small.
    let long = |number: u32| {
        let words: Vec<String> = (0..2_500)
            .map(|word| format!("word{}", (number * 7_919 + word * 104_729) % 1_000_003))
            .collect();
        words.join(" ")
    };
    let mut transcript = sandbox.transcript("long", "shop");
    transcript.turn("Remember: amounts of case-kept are always integer cents.", &long(0));
    for number in 1..260 {
        transcript.turn(&topic(number).0, &long(number));
    }
    sandbox.configure("[backfill]\ncpu = \"1%\"\n");
    let daemon = sandbox.start();
    daemon.flush();
    daemon.stop(Signal::TERM);
    let before = database_bytes(&sandbox);
    assert!(before > 12_000_000, "the store is too small for this test: {before}");
    sandbox.configure("[backfill]\ncpu = \"100%\"\n[retention]\nmax_size = \"10MB\"\n");
    let daemon = sandbox.start();
    let stored = |status: &Value| status["retention"]["turns_removed"].as_u64().unwrap();
    eventually("the file to fit", PATIENCE, || {
        let status = sandbox.json(&["status"]);
        (stored(&status) > 0 && status["retention"]["bytes_too_many"] == 0).then_some(())
    });
    daemon.stop(Signal::TERM);
    let after = database_bytes(&sandbox);
    eprintln!("{before} bytes became {after}, of {} turns", sandbox.prompts().len());
    assert!(after <= 10_500_000, "{after}");
    let prompts = sandbox.prompts();
    assert!(
        prompts.iter().any(|prompt| prompt.contains("case-kept")),
        "what matters most stays, though it is the oldest"
    );
    assert!(
        prompts.iter().any(|prompt| prompt.contains("case259 ")),
        "and so does what is new"
    );
    assert!(
        !prompts.iter().any(|prompt| prompt.contains("case1 ")),
        "the oldest of the rest went"
    );
    assert!(prompts.len() > 100, "no more than was needed: {}", prompts.len());
}
