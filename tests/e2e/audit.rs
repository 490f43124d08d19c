//! `audit` and `stats`: what there is to mend and what there is, with a daemon and without, and what they never tell or change.

use remembrancer_tests::{Sandbox, sandbox, topic};
use rustix::process::Signal;
use serde_json::{Value, json};

fn finding<'a>(audit: &'a Value, kind: &str) -> &'a Value {
    let findings = audit["findings"].as_array().unwrap();
    findings
        .iter()
        .find(|finding| finding["kind"] == kind)
        .unwrap_or_else(|| panic!("no {kind} in {audit:#}"))
}

/// What is near to nothing else.
const OTHERS: [(&str, &str); 5] = [
    (
        "Which wood is best for the garden bench?",
        "Oak: it stays outside for decades without paint.",
    ),
    (
        "The night train to Vienna was cancelled, what now?",
        "Take the morning train over Salzburg; the ticket holds.",
    ),
    (
        "Why does the sourdough not rise?",
        "The kitchen is too cold. Put it on the radiator overnight.",
    ),
    (
        "How many strings has a theorbo?",
        "Fourteen, as a rule; six of them are on the neck.",
    ),
    (
        "Tune the telescope mount for the comet",
        "The polar axis was off by two degrees; it is aligned now.",
    ),
];

/// Two sessions that say the same, one that says nearly the same, and some that say something else.
fn stored(sandbox: &Sandbox) {
    let (prompt, answer) = topic(0);
    sandbox.transcript("first", "shop").on_day(1).turn(&prompt, &answer);
    sandbox.transcript("again", "shop").on_day(2).turn(&prompt, &answer);
    sandbox
        .transcript("nearly", "shop")
        .on_day(3)
        .turn(&prompt.replace("an upgrade", "the upgrade"), &answer);
    let mut others = sandbox.transcript("others", "attic").on_day(4);
    for (prompt, answer) in OTHERS {
        others.turn(prompt, answer);
    }
}

#[test]
fn copies_are_found_and_the_commands_that_are_named_remove_them() {
    let sandbox = sandbox!();
    stored(&sandbox);
    let daemon = sandbox.start();
    daemon.wait_for_model();
    daemon.embed_all();
    let audit = sandbox.json(&["audit"]);
    assert_eq!(audit["looked_at"]["complete"], true, "{audit:#}");
    assert_eq!(
        (&audit["looked_at"]["episodes"], &audit["looked_at"]["texts"]),
        (&json!(8), &json!(8))
    );
    let exact = finding(&audit, "exact-duplicates");
    assert_eq!((&exact["count"], &exact["surplus"]), (&json!(1), &json!(1)), "{exact:#}");
    let near = finding(&audit, "near-duplicates");
    assert_eq!((&near["count"], &near["surplus"]), (&json!(1), &json!(1)), "{near:#}");
    assert!(near["items"][0]["cosine"].as_f64().unwrap() >= 0.95, "{near:#}");
    // What is printed can be run as it stands.
    for item in [&exact["items"][0], &near["items"][0]] {
        let command = item["mend"].as_str().unwrap();
        let words: Vec<&str> = command.split(' ').skip(1).collect();
        assert_eq!(words[0], "forget", "{command}");
        let output = sandbox.run(&words);
        assert!(
            output.status.success(),
            "{command}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    let audit = sandbox.json(&["audit"]);
    for kind in ["exact-duplicates", "near-duplicates"] {
        assert_eq!(finding(&audit, kind)["count"], 0, "{kind}: {audit:#}");
    }
    assert_eq!(sandbox.json(&["status"])["episodes"], 6);
}

#[test]
fn an_audit_changes_nothing_and_needs_no_daemon() {
    let sandbox = sandbox!();
    stored(&sandbox);
    let daemon = sandbox.start();
    daemon.flush();
    daemon.stop(Signal::TERM);
    let file = sandbox.places().database_file();
    let before = fs_err::read(&file).unwrap();
    let audit = sandbox.json(&["audit"]);
    assert_eq!(finding(&audit, "exact-duplicates")["count"], 1, "{audit:#}");
    assert!(fs_err::read(&file).unwrap() == before, "the database is as it was");
    let said = String::from_utf8(sandbox.run(&["audit"]).stdout).unwrap();
    for part in [
        "exact duplicates: 1 text, 1 episode more than needed",
        "remembrancer forget ",
        "Looked at 8 texts",
    ] {
        assert!(said.contains(part), "no {part:?} in:\n{said}");
    }
    let sizes = finding(&audit, "sizes");
    assert_eq!(sizes["count"], 2, "{sizes:#}");
    let mend = sizes["items"][0]["mend"].as_str().unwrap().to_owned();
    let words: Vec<&str> = mend.split(' ').skip(1).collect();
    assert!(sandbox.run(&words).status.success(), "{mend}");
}

#[test]
fn a_short_look_says_that_it_is_one_and_ends_well() {
    let sandbox = sandbox!();
    stored(&sandbox);
    let daemon = sandbox.start();
    daemon.flush();
    let output = sandbox.run(&["audit", "--within", "0s"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("not finished"), "{said}");
    assert_eq!(sandbox.run(&["audit", "--within", "-5s"]).status.code(), Some(2));
}

#[test]
fn without_a_memory_it_can_not_look_and_says_so() {
    let sandbox = sandbox!();
    for command in ["audit", "stats"] {
        let output = sandbox.run(&[command]);
        assert_eq!(output.status.code(), Some(4), "{command}: {output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).starts_with("error: "), "{output:?}");
    }
}

#[test]
fn the_numbers_are_those_of_the_store() {
    let sandbox = sandbox!();
    stored(&sandbox);
    let attic = sandbox.project("attic");
    let daemon = sandbox.start();
    daemon.wait_for_model();
    daemon.embed_all();
    let reply = daemon.recall("asks", &attic, "Which wood was best for the garden bench?");
    assert!(!reply.shown.is_empty(), "{reply:?}");
    daemon.why("asks");
    for with_daemon in [true, false] {
        let stats = sandbox.json(&["stats"]);
        assert_eq!(
            (
                &stats["episodes"],
                &stats["turns"],
                &stats["sessions"],
                &stats["projects"],
                &stats["agents"]
            ),
            (&json!(8), &json!(8), &json!(4), &json!(2), &json!(1)),
            "with a daemon: {with_daemon}: {stats:#}"
        );
        assert_eq!(stats["by_agent"][0]["agent"], "claude-code");
        let shown = stats["recollections"]["last_7_days"]["shown"].as_u64().unwrap();
        assert!(shown >= reply.shown.len() as u64, "{stats:#}");
        assert!(stats["recall_times"]["p99_millis"].as_f64() > Some(0.0), "{stats:#}");
        assert!(stats["bytes"]["vectors"].as_u64() >= Some(8 * 384 * 4), "{stats:#}");
        if with_daemon {
            rustix::process::kill_process(rustix::process::Pid::from_raw(daemon.pid() as i32).unwrap(), Signal::TERM).unwrap();
            remembrancer_tests::eventually("the daemon's end", crate::PATIENCE, || {
                sandbox.json(&["status"])["daemon"].is_null().then_some(())
            });
        }
    }
    let said = String::from_utf8(sandbox.run(&["stats"]).stdout).unwrap();
    assert!(
        said.starts_with("8 episodes (8 turns) of 4 sessions in 2 projects, of 1 agent\n"),
        "{said}"
    );
}
