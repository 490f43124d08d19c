//! `explain` and `last`: how an answer came about, with a daemon and without, of prompts that got something, nothing, or too little;
//! and what of it goes when something is forgotten.

use remembrancer_hooks::protocol::{ExplainRequest, Request};
use remembrancer_schema::{SCHEMA_VERSION, make_older};
use remembrancer_tests::{DaemonProcess, Sandbox, eventually, sandbox, topic};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::PATIENCE;

fn text(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let output = sandbox.run(arguments);
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// A daemon with six episodes of the shop and three of an attic, and the prompts of `asks`: one that is shown something, then
/// chatter.
fn asked(sandbox: &Sandbox) -> DaemonProcess<'_> {
    sandbox.transcript("older", "shop").topics(0..6);
    sandbox.transcript("elsewhere", "attic").topics(10..13);
    let daemon = sandbox.start();
    daemon.wait_for_model();
    daemon.wait_for_vectors();
    daemon.embed_all();
    let reply = daemon.recall("asks", &sandbox.project("shop"), &topic(2).0);
    assert!(!reply.shown.is_empty(), "{reply:?}");
    daemon.why("asks");
    assert_eq!(
        daemon
            .recall("chats", &sandbox.project("shop"), "ok, continue")
            .reason
            .as_deref(),
        Some("chatter")
    );
    daemon.why("chats");
    daemon
}

/// Waits for `number` logged prompts: a log is written after the reply.
fn list(sandbox: &Sandbox, number: usize) -> Value {
    eventually("the log", PATIENCE, || {
        let list = sandbox.json(&["explain", "--list"]);
        (list["prompts"].as_array().unwrap().len() >= number).then_some(list)
    })
}

fn list_of<'a>(explanation: &'a Value, leg: &str) -> &'a Value {
    let lists = explanation["lists"].as_array().unwrap();
    lists.iter().find(|list| list["leg"] == leg).unwrap()
}

#[test]
fn a_logged_prompt_is_explained_with_a_daemon_and_without() {
    let sandbox = sandbox!();
    let daemon = asked(&sandbox);
    let listed = list(&sandbox, 2);
    assert_eq!(listed["schema"], "remembrancer/explanations/1");
    assert_eq!(
        (&listed["prompts"][0]["reason"], &listed["prompts"][0]["number"]),
        (&json!("chatter"), &json!(1))
    );
    let first = listed["prompts"][1]["number"].as_u64().unwrap().to_string();
    let explanation = sandbox.json(&["explain", &first]);
    let id = explanation["prompt"]["id"].as_str().unwrap().to_owned();
    assert_eq!(explanation["known"], "whole");
    assert_eq!(
        (&explanation["prompt"]["session"], &explanation["prompt"]["project"]),
        (&json!("asks"), &json!("shop"))
    );
    assert!(explanation["query"]["terms"][0]["episodes"].is_number(), "{explanation}");
    let shown = &explanation["candidates"][0];
    assert_eq!(shown["shown"], 1, "{explanation}");
    assert!(shown["asked"].as_str().unwrap().contains("case2"), "{shown}");
    assert!(shown["words"].as_array().is_some_and(|words| !words.is_empty()), "{shown}");
    let sum: f64 = shown["second_parts"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_f64)
        .sum();
    assert!((sum - shown["score"].as_f64().unwrap()).abs() < 0.01, "{shown}");
    assert_eq!(list_of(&explanation, "bm25")["top"][0]["id"], shown["id"]);
    let budget = sandbox.budget().as_micros() as u64;
    assert_eq!(explanation["times"]["budget_micros"], budget);
    assert!(
        explanation["times"]["whole_micros"].as_u64().unwrap() < budget,
        "{explanation}"
    );
    assert!(
        explanation["gates"]
            .as_array()
            .unwrap()
            .iter()
            .any(|gate| gate["name"] == "answer-probability")
    );
    // The latest is the chatter, which got nothing.
    let chatter = sandbox.json(&["explain"]);
    assert_eq!((&chatter["reason"], &chatter["candidates"]), (&json!("chatter"), &json!([])));
    // The last recollection is the one before.
    let last = sandbox.json(&["last"]);
    assert_eq!(
        (&last["schema"], &last["prompt"]["id"]),
        (&json!("remembrancer/last/1"), &json!(id))
    );

    daemon.stop(Signal::TERM);
    for arguments in [
        &["explain", id.as_str()][..],
        &["explain", "--session", "asks"],
        &["explain", &first],
    ] {
        let again = sandbox.json(arguments);
        assert_eq!(again, explanation, "{arguments:?}");
    }
    let told = text(&sandbox, &["last"]);
    let short = shown["id"].as_str().unwrap();
    for part in [
        "words: ",
        "meaning: cosine ",
        &format!("remembrancer show {short}"),
        &format!("remembrancer mute {short}"),
        &format!("remembrancer explain {id}"),
    ] {
        assert!(told.contains(part), "no {part:?} in:\n{told}");
    }
    for arguments in [&["explain", id.as_str()][..], &["explain"], &["last"], &["explain", "--list"]] {
        let told = text(&sandbox, arguments);
        let wide = told.lines().find(|line| line.chars().count() > 80);
        assert_eq!(wide, None, "{arguments:?} is wider than 80 columns");
    }
}

#[test]
fn a_new_prompt_is_explained_and_leaves_no_trace() {
    let sandbox = sandbox!();
    let daemon = asked(&sandbox);
    let shop = sandbox.project("shop");
    let before = (list(&sandbox, 2), daemon.status()["recalls"].clone());
    let prompt = format!("/review {}", topic(2).0);
    let ask = |arguments: &[&str]| sandbox.json(&[&["explain", &prompt, "--cwd", &shop], arguments].concat());
    let online = eventually("an answer in time", PATIENCE, || {
        let explanation = ask(&["--agent", "claude-code"]);
        (explanation["reason"] != "out-of-time").then_some(explanation)
    });
    assert_eq!(
        (&online["prompt"]["id"], &online["prompt"]["agent"]),
        (&Value::Null, &json!("claude-code"))
    );
    assert_eq!(
        (&online["query"]["command"], &online["prompt"]["project"]),
        (&json!(true), &json!("shop"))
    );
    let dropped = &online["query"]["stop_words"];
    assert_eq!(
        dropped["count"].as_u64(),
        dropped["words"].as_array().map(|words| words.len() as u64),
        "{dropped}"
    );
    assert!(
        online["candidates"][0]["asked"].as_str().unwrap().contains("case2"),
        "{online}"
    );
    // What is of another project is told apart, and why it fell.
    assert!(
        online["pool"]["other_projects"].as_u64().unwrap() > 0
            || online["candidates"]
                .as_array()
                .unwrap()
                .iter()
                .any(|one| one["other_project"] == true),
        "{online}"
    );
    // Neither a log, nor a count, nor a use, nor a file.
    assert_eq!(
        (sandbox.json(&["explain", "--list"]), daemon.status()["recalls"].clone()),
        before
    );
    assert_eq!(sandbox.recollection_file(""), None);
    // Nor has a session been told what another prompt was explained by: it is shown as if nothing had been asked.
    assert!(!daemon.recall("fresh", &shop, &topic(2).0).shown.is_empty());
    daemon.stop(Signal::TERM);

    let (offline, embedded) = (ask(&[]), ask(&["--embed"]));
    assert_eq!(offline["degradations"][0]["name"], "no-model");
    let meaning = offline["sources"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["name"] == "meaning")
        .unwrap();
    assert_eq!((&meaning["absent"], &meaning["found"]), (&json!("no-model"), &json!(0)));
    assert_eq!(list_of(&offline, "vector")["absent"], "no-model");
    assert_eq!(embedded["degradations"], json!([]));
    assert_eq!(embedded["candidates"][0]["id"], online["candidates"][0]["id"]);
    assert!(
        text(&sandbox, &["explain", &prompt, "--cwd", &shop]).contains("went without"),
        "in words, too"
    );
    // A number may be a prompt, too.
    let number = sandbox.json(&["explain", "--prompt", "17", "--cwd", &shop]);
    assert_eq!(
        (&number["prompt"]["id"], &number["reason"]),
        (&Value::Null, &json!("chatter"))
    );
}

#[test]
fn a_prompt_that_got_nothing_says_why() {
    let sandbox = sandbox!();
    let daemon = asked(&sandbox);
    let shop = sandbox.project("shop");
    let reply = daemon.recall(
        "haiku",
        &shop,
        "please write a haiku about the autumn moon over a quiet harbour",
    );
    assert_eq!(reply.reason.as_deref(), Some("nothing-relevant"));
    daemon.why("haiku");
    let explanation = sandbox.json(&["explain", "--session", "haiku"]);
    let candidates = explanation["candidates"].as_array().unwrap();
    assert!(!candidates.is_empty());
    for candidate in candidates {
        assert!(
            candidate["dropped"].is_string() && candidate["because"].is_string(),
            "{candidate}"
        );
    }
    let probability = &explanation["gates"].as_array().unwrap()[0];
    assert!(
        probability["threshold"].is_number() && probability["value"].is_number(),
        "{probability}"
    );
    // The same again, once it was shown: the session has it.
    daemon.recall("asks", &shop, &format!("{} And what of the ledger?", topic(2).0));
    let again = eventually("the log", PATIENCE, || {
        let explanation = sandbox.json(&["explain", "--session", "asks"]);
        (explanation["prompt"]["number"] == 1).then_some(explanation)
    });
    assert!(
        again["pool"]["shown_before"].as_u64().unwrap() > 0 || again["reason"] == "same-topic",
        "{again}"
    );
    // A pause is no search.
    sandbox.json(&["pause"]);
    daemon.recall("paused", &shop, &topic(3).0);
    daemon.why("paused");
    let paused = sandbox.json(&["explain", "--session", "paused"]);
    assert_eq!(
        (&paused["known"], &paused["reason"]),
        (&json!("not-searched"), &json!("paused"))
    );
    assert!(text(&sandbox, &["explain", "--session", "paused"]).contains("Nothing was shown (paused)"));
}

#[test]
fn a_degraded_prompt_says_what_was_missing() {
    let sandbox = sandbox!();
    sandbox.configure("[embedding]\nmodel_dir = \"/nowhere/at/all\"\n");
    sandbox.transcript("older", "shop").topics(0..5);
    let daemon = sandbox.start();
    daemon.flush();
    daemon.wait_for_model();
    let reply = daemon.recall("asks", &sandbox.project("shop"), &topic(3).0);
    assert!(reply.context.contains("case3"), "{reply:?}");
    daemon.why("asks");
    let explanation = sandbox.json(&["explain"]);
    assert_eq!(explanation["degradations"][0]["name"], "no-model");
    assert_eq!(list_of(&explanation, "vector")["absent"], "no-model");
    let told = text(&sandbox, &["last"]);
    assert!(told.contains("meaning: not compared"), "{told}");
    let fallen = explanation["candidates"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["dropped"] == "below-floor");
    if let Some(fallen) = fallen {
        assert!(fallen["because"].as_str().unwrap().contains("by words alone"), "{fallen}");
    }
}

#[test]
fn what_is_forgotten_goes_from_the_explanations() {
    let sandbox = sandbox!();
    let daemon = asked(&sandbox);
    let explanation = sandbox.json(&["explain", "--session", "asks"]);
    let (id, shown) = (explanation["prompt"]["id"].as_str().unwrap(), &explanation["candidates"][0]);
    let short = shown["id"].as_str().unwrap();
    sandbox.json(&["forget", "--yes", short]);
    let left = sandbox.json(&["explain", id]);
    assert_eq!(left["candidates"][0]["id"], Value::Null, "{left}");
    assert_eq!(left["candidates"][0]["asked"], Value::Null);
    assert_eq!(
        left["candidates"].as_array().unwrap().len(),
        explanation["candidates"].as_array().unwrap().len()
    );
    assert!(
        !left.to_string().contains(short) && !left.to_string().contains("case2"),
        "{left}"
    );
    assert!(
        left["query"]["terms"]
            .as_array()
            .unwrap()
            .iter()
            .all(|term| term["term"].is_null())
    );
    assert!(text(&sandbox, &["explain", id]).contains("gone"));
    // A project of which nothing is left has no prompts either.
    sandbox.json(&["forget", "--yes", "--project", "shop"]);
    assert_eq!(sandbox.run(&["explain", id]).status.code(), Some(3));
    sandbox.json(&["forget", "--yes", "--all"]);
    assert_eq!(sandbox.json(&["explain", "--list"])["prompts"], json!([]));
    drop(daemon);
}

#[test]
fn a_store_of_an_older_version_tells_what_it_has() {
    let sandbox = sandbox!();
    let daemon = asked(&sandbox);
    let whole = sandbox.json(&["explain", "--session", "asks"]);
    daemon.stop(Signal::TERM);
    // Before explanations there was no place for them; whatever came since, that version is the one before theirs.
    make_older(&sandbox.places().database_file(), (SCHEMA_VERSION - 1).min(15));
    let daemon = sandbox.start();
    let older = sandbox.json(&["explain", "--session", "asks"]);
    assert_eq!(older["known"], "older");
    let ids = |explanation: &Value| -> Vec<Value> {
        let candidates = explanation["candidates"].as_array().unwrap();
        candidates.iter().map(|candidate| candidate["id"].clone()).collect()
    };
    assert_eq!(ids(&older), ids(&whole));
    assert_eq!((&older["lists"], &older["gates"]), (&json!([]), &json!([])));
    let told = text(&sandbox, &["explain", "--session", "asks"]);
    assert!(told.contains("An older version logged it"), "{told}");
    text(&sandbox, &["last"]);
    drop(daemon);
}

#[test]
fn what_there_is_not_is_said_in_words() {
    let sandbox = sandbox!();
    let code = |arguments: &[&str]| sandbox.run(arguments).status.code();
    let daemon = sandbox.start();
    assert_eq!(
        (code(&["explain"]), code(&["last"]), code(&["explain", "p7"])),
        (Some(3), Some(3), Some(3))
    );
    assert!(text(&sandbox, &["explain", "--list"]).contains("No prompt has been answered yet"));
    assert_eq!(sandbox.json(&["explain", "what is there?"])["reason"], "nothing-found");
    for wrong in [
        &["explain", "0"][..],
        &["explain", "1", "--cwd", "/"],
        &["explain", "some text", "--session", "s"],
        &["explain", "--list", "1"],
        &["explain", "--list", "--limit", "1001"],
    ] {
        assert_eq!(code(wrong), Some(2), "{wrong:?}");
    }
    let refused = daemon.try_ask(&Request::Explain(ExplainRequest {
        id: Some("17".to_owned()),
        ..ExplainRequest::default()
    }));
    assert!(format!("{refused:?}").contains("is no id of a prompt"), "{refused:?}");
    daemon.stop(Signal::TERM);
    assert_eq!((code(&["explain"]), code(&["last"])), (Some(3), Some(3)));
}
