//! Single memories, as their user steers them: facts that are remembered, memories that are muted and boosted; with a daemon and without
//! one, over restarts, and over the loss of the database.

use std::io::Write;
use std::process::Stdio;

use remembrancer_hooks::protocol::{Answer, RecallReply, Reply, Request, Steering};
use remembrancer_tests::{DaemonProcess, Sandbox, any_own_file_holds, eventually, sandbox, topic};
use rstest::rstest;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::PATIENCE;

const FACT: &str = "The staging gateway of the kiosk listens on port eightfourtwo, and nowhere else.";
const QUESTION: &str = "which port does the staging gateway of the kiosk listen on?";

fn says(output: &std::process::Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// The id of the episode of a topic.
fn id_of(sandbox: &Sandbox, number: u32) -> String {
    let prompt = topic(number).0;
    let episodes = sandbox.episodes();
    let found = episodes.iter().find(|episode| episode.prompt == prompt);
    found.unwrap_or_else(|| panic!("no case{number}")).uid.short()
}

fn holds(reply: &RecallReply, number: u32) -> bool {
    reply.context.contains(&format!("case{number} "))
}

/// A daemon that has read and embedded what there is.
fn settled(sandbox: &Sandbox) -> DaemonProcess<'_> {
    let daemon = sandbox.start();
    daemon.wait_for_model();
    daemon.embed_all();
    daemon
}

#[rstest]
#[case::with_a_daemon(true)]
#[case::without_one(false)]
fn a_fact_is_remembered_once_recalled_in_its_project_and_forgotten(#[case] through_daemon: bool) {
    let sandbox = sandbox!();
    sandbox.transcript("live", "shop").topics(0..3);
    sandbox.transcript("other", "garden").topics(3..5);
    let (shop, garden) = (sandbox.project("shop"), sandbox.project("garden"));
    let mut daemon = Some(settled(&sandbox));
    if !through_daemon {
        daemon.take().unwrap().stop(Signal::TERM);
    }
    let remembered = sandbox.json(&["remember", FACT, "--project", &shop]);
    assert_eq!(
        (&remembered["new"], &remembered["project"], &remembered["everywhere"]),
        (&true.into(), &"shop".into(), &false.into()),
        "{remembered}"
    );
    let again = sandbox.json(&["remember", FACT, "--project", &shop]);
    assert_eq!((&again["new"], &again["id"]), (&false.into(), &remembered["id"]));
    let id = remembered["id"].as_str().unwrap().to_owned();
    let daemon = daemon.unwrap_or_else(|| sandbox.start());
    daemon.wait_for_model();
    daemon.embed_all();
    assert_eq!(daemon.status()["remembered_facts"], 1);

    let reply = daemon.recall("asks", &shop, QUESTION);
    assert!(reply.context.contains("Remembered: The staging gateway"), "{reply:?}");
    assert!(reply.context.contains("· remembered by you on "), "{reply:?}");
    let shown = sandbox.json(&["show", &id]);
    assert_eq!(
        (&shown["importance"], &shown["importance_rule"]),
        (&"high".into(), &"pinned".into())
    );
    assert!(shown["remembered_on"].is_string() && shown["muted"] == false, "{shown}");
    let reply = daemon.recall("asks-elsewhere", &garden, "what do I water first in the greenhouse?");
    assert!(!reply.context.contains("eightfourtwo"), "{reply:?}");

    sandbox.json(&["forget", &id]);
    let reply = daemon.recall("asks-again", &shop, QUESTION);
    assert!(!reply.context.contains("eightfourtwo"), "{reply:?}");
    daemon.stop(Signal::TERM);
    assert_eq!(any_own_file_holds(&sandbox, b"eightfourtwo"), None);
    let daemon = sandbox.start();
    daemon.flush();
    assert_eq!(daemon.status()["remembered_facts"], 0, "it stays forgotten");
    daemon.stop(Signal::TERM);
}

#[test]
fn what_holds_everywhere_is_recalled_in_a_project_that_is_new() {
    let sandbox = sandbox!();
    let daemon = settled(&sandbox);
    let remembered = sandbox.json(&["remember", FACT, "--everywhere"]);
    assert_eq!(
        (&remembered["project"], &remembered["everywhere"]),
        (&Value::Null, &true.into())
    );
    daemon.embed_all();
    let fresh = sandbox.project("fresh");
    let reply = daemon.recall("asks", &fresh, QUESTION);
    assert!(reply.context.contains("eightfourtwo"), "{reply:?}");
    assert!(sandbox.hook("by-hook", &fresh, QUESTION).context().contains("eightfourtwo"));
    daemon.stop(Signal::TERM);
    let found = sandbox.json(&["recall", QUESTION, "--cwd", &fresh]);
    assert!(found.to_string().contains("eightfourtwo"), "{found}");
}

#[test]
fn a_fact_comes_from_standard_input_without_its_secrets_and_private_text_is_refused() {
    let sandbox = sandbox!();
    let shop = sandbox.project("shop");
    let daemon = sandbox.start();
    daemon.flush();
    let secret = format!("ghp_{}", "q7W2".repeat(9));
    let mut child = sandbox
        .command(&["remember", "-", "--project", &shop, "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let text = format!("The mirror is read with {secret}\nand by nobody else.\n");
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&told["new"], &told["redacted"]), (&true.into(), &true.into()), "{told}");
    assert_eq!(told["schema"], "remembrancer/remember/1");

    let check = || {
        for (text, why) in [
            ("the alarm is <private>4711xyzzyq</private>", "private"),
            ("   ", "nothing"),
            ("<remembrancer-recollections>x</remembrancer-recollections>", "already"),
        ] {
            let output = sandbox.run(&["remember", text, "--project", &shop]);
            assert!(!output.status.success() && says(&output).contains(why), "{}", says(&output));
        }
        let home = sandbox.home().display().to_string();
        let output = sandbox.run(&["remember", "x", "--project", &home]);
        assert!(says(&output).contains("is no project"), "{}", says(&output));
    };
    check();
    daemon.stop(Signal::TERM);
    check();
    assert_eq!(any_own_file_holds(&sandbox, &secret.as_bytes()[..20]), None);
    assert_eq!(any_own_file_holds(&sandbox, b"4711xyzzyq"), None);
}

#[test]
fn nothing_is_remembered_of_what_is_kept_out_or_while_it_is_paused() {
    let sandbox = sandbox!();
    let secret = sandbox.project("secret");
    let daemon = sandbox.start();
    sandbox.json(&["exclude", &secret]);
    let output = sandbox.run(&["remember", FACT, "--project", &secret]);
    assert!(
        !output.status.success() && says(&output).contains("kept out"),
        "{}",
        says(&output)
    );
    sandbox.json(&["pause"]);
    let output = sandbox.run(&["remember", FACT, "--everywhere"]);
    assert!(
        !output.status.success() && says(&output).contains("resume"),
        "{}",
        says(&output)
    );
    daemon.stop(Signal::TERM);
    let output = sandbox.run(&["remember", FACT, "--everywhere"]);
    assert!(
        !output.status.success() && says(&output).contains("resume"),
        "{}",
        says(&output)
    );
    assert_eq!(any_own_file_holds(&sandbox, b"eightfourtwo"), None);
}

#[rstest]
#[case::with_a_daemon(true)]
#[case::without_one(false)]
fn what_is_muted_is_never_recalled_and_is_found_where_it_is_looked_for(#[case] through_daemon: bool) {
    let sandbox = sandbox!();
    let mut transcript = sandbox.transcript("live", "shop");
    transcript.topics(0..6);
    let shop = sandbox.project("shop");
    let mut daemon = Some(settled(&sandbox));
    let reply = daemon.as_ref().unwrap().recall("before", &shop, &topic(2).0);
    assert!(holds(&reply, 2), "{reply:?}");
    assert!(sandbox.recollection_file("before").unwrap().contains("case2 "));
    let id = id_of(&sandbox, 2);
    if !through_daemon {
        daemon.take().unwrap().stop(Signal::TERM);
    }
    let muted = sandbox.json(&["mute", &id]);
    assert_eq!(
        (&muted["changed"], &muted["turns"][0]["id"]),
        (&1.into(), &id.as_str().into())
    );
    assert_eq!(sandbox.json(&["mute", &id])["changed"], 0);
    assert_eq!(
        sandbox.recollection_file("before").filter(|file| file.contains("case2 ")),
        None,
        "no file tells it any more"
    );
    let daemon = daemon.unwrap_or_else(|| settled(&sandbox));
    let check = |daemon: &DaemonProcess<'_>, session: &str| {
        for number in 0..3 {
            let reply = daemon.recall(&format!("{session}-{number}"), &shop, &topic(2).0);
            assert!(!holds(&reply, 2), "{reply:?}");
        }
        assert_eq!(daemon.status()["muted_turns"], 1);
    };
    check(&daemon, "after");
    let reply = daemon.recall("another", &shop, &topic(4).0);
    assert!(holds(&reply, 4), "the others are as they were");
    assert_eq!(sandbox.json(&["show", &id])["muted"], true);
    let listed = sandbox.json(&["mute", "--list"]);
    assert_eq!(
        (listed["turns"].as_array().unwrap().len(), &listed["turns"][0]["id"]),
        (1, &id.as_str().into())
    );
    assert!(says(&sandbox.run(&["mute", "--list"])).contains("case2 "));
    assert!(says(&sandbox.run(&["export"])).contains("case2 "));

    // Its transcript is read again from its beginning, and goes on.
    daemon.stop(Signal::TERM);
    let content = transcript.content();
    fs_err::write(
        transcript.path(),
        content.replace("\"version\":\"2.1.200\"", "\"version\":\"2.1.201\""),
    )
    .unwrap();
    transcript.topics(6..7);
    let daemon = settled(&sandbox);
    check(&daemon, "read-again");
    // A fork repeats it.
    let fork = transcript
        .content()
        .replace("\"sessionId\":\"live\"", "\"sessionId\":\"fork\"");
    sandbox.transcript("fork", "shop").raw(&fork);
    daemon.embed_all();
    check(&daemon, "forked");

    assert_eq!(sandbox.json(&["unmute", &id])["changed"], 1);
    let reply = daemon.recall("at-last", &shop, &topic(2).0);
    assert!(holds(&reply, 2), "{reply:?}");
    assert_eq!(daemon.status()["muted_turns"], 0);
    daemon.stop(Signal::TERM);
}

#[rstest]
#[case::with_a_daemon(true)]
#[case::without_one(false)]
fn a_boost_makes_a_memory_important_and_is_given_back(#[case] through_daemon: bool) {
    let sandbox = sandbox!();
    sandbox.transcript("live", "shop").topics(0..4);
    let mut daemon = Some(settled(&sandbox));
    let id = id_of(&sandbox, 1);
    let before = sandbox.json(&["show", &id]);
    if !through_daemon {
        daemon.take().unwrap().stop(Signal::TERM);
    }
    assert_eq!(sandbox.json(&["boost", &id, &id])["changed"], 1);
    let boosted = sandbox.json(&["show", &id]);
    assert_eq!(
        (&boosted["importance"], &boosted["importance_rule"], &boosted["boosted"]),
        (&"high".into(), &"boosted-by-user".into(), &true.into())
    );
    assert_eq!(sandbox.json(&["boost", "--list"])["turns"][0]["id"], id.as_str());
    assert!(says(&sandbox.run(&["status"])).contains("1 turn boosted"));
    assert_eq!(sandbox.json(&["unboost", &id])["changed"], 1);
    assert_eq!(sandbox.json(&["show", &id]), before);
    assert!(says(&sandbox.run(&["boost", "--list"])).contains("Nothing is boosted."));
    drop(daemon);
}

#[test]
fn an_id_that_names_nothing_or_several_refuses_all() {
    let sandbox = sandbox!();
    sandbox.transcript("live", "shop").topics(0..40);
    let daemon = settled(&sandbox);
    let id = id_of(&sandbox, 1);
    let check = || {
        for arguments in [
            &["mute", id.as_str(), "ffffffffffff"][..],
            &["boost", "abc"],
            &["unmute", "nosuch"],
        ] {
            let output = sandbox.run(arguments);
            assert_eq!(output.status.code(), Some(3), "{}", says(&output));
        }
        assert_eq!(sandbox.json(&["mute", "--list"])["turns"], json!([]));
        assert_eq!(sandbox.run(&["mute"]).status.code(), Some(2));
        assert_eq!(sandbox.run(&["mute", &id, "--list"]).status.code(), Some(2));
    };
    check();
    let refused = daemon
        .try_ask(&Request::Steer {
            how: Steering::Mute,
            ids: Vec::new(),
        })
        .unwrap();
    assert!(matches!(refused, Reply::Answer(Answer { ok: false, .. })), "{refused:?}");
    daemon.stop(Signal::TERM);
    check();
}

#[test]
fn what_was_decided_survives_the_loss_of_the_database() {
    let sandbox = sandbox!();
    let mut transcript = sandbox.transcript("live", "shop");
    transcript.topics(0..5);
    let shop = sandbox.project("shop");
    let daemon = settled(&sandbox);
    let (muted, boosted) = (id_of(&sandbox, 1), id_of(&sandbox, 3));
    sandbox.json(&["mute", &muted]);
    sandbox.json(&["boost", &boosted]);
    let fact = sandbox.json(&["remember", FACT, "--project", &shop]);
    let forgotten = sandbox.json(&["remember", "The word of the day is xyzzyq.", "--everywhere"]);
    sandbox.json(&["forget", forgotten["id"].as_str().unwrap()]);
    daemon.stop(Signal::KILL);

    let database = sandbox.places().database_file();
    for suffix in ["", "-wal", "-shm"] {
        fs_err::remove_file(format!("{}{suffix}", database.display())).ok();
    }
    let daemon = settled(&sandbox);
    eventually("the transcript to be read again", PATIENCE, || {
        (daemon.status()["episodes"] == 6).then_some(())
    });
    daemon.embed_all();
    let status = daemon.status();
    assert_eq!(
        (&status["muted_turns"], &status["boosted_turns"], &status["remembered_facts"]),
        (&1.into(), &1.into(), &1.into())
    );
    assert_eq!(sandbox.json(&["show", &boosted])["importance_rule"], "boosted-by-user");
    assert_eq!(sandbox.json(&["show", fact["id"].as_str().unwrap()])["prompt"], FACT);
    let reply = daemon.recall("asks", &shop, QUESTION);
    assert!(reply.context.contains("eightfourtwo"), "{reply:?}");
    let reply = daemon.recall("asks-for-it", &shop, &topic(1).0);
    assert!(!holds(&reply, 1), "{reply:?}");
    daemon.stop(Signal::TERM);
    assert_eq!(any_own_file_holds(&sandbox, b"xyzzyq"), None);
}

#[test]
fn going_back_to_a_copy_keeps_what_was_decided_since() {
    let sandbox = sandbox!();
    sandbox.transcript("live", "shop").topics(0..3);
    let daemon = settled(&sandbox);
    let kept = sandbox.json(&["remember", FACT, "--everywhere"]);
    let gone = sandbox.json(&["remember", "The word of the day is xyzzyq.", "--everywhere"]);
    let copy = sandbox.json(&["backup"])["path"].as_str().unwrap().to_owned();
    sandbox.json(&["forget", gone["id"].as_str().unwrap()]);
    let since = sandbox.json(&["remember", "Releases are cut on Thursdays.", "--everywhere"]);
    let muted = id_of(&sandbox, 1);
    sandbox.json(&["mute", &muted]);
    daemon.stop(Signal::TERM);
    let output = sandbox.run(&["restore", &copy, "--yes"]);
    assert!(output.status.success(), "{}", says(&output));
    for fact in [&kept, &since] {
        assert!(sandbox.json(&["show", fact["id"].as_str().unwrap()])["remembered_on"].is_string());
    }
    assert_eq!(sandbox.json(&["show", &muted])["muted"], true);
    assert_eq!(sandbox.run(&["show", gone["id"].as_str().unwrap()]).status.code(), Some(3));
}

#[test]
fn a_fact_is_of_the_project_that_is_named_and_of_none_that_is_not_there() {
    let sandbox = sandbox!();
    sandbox.transcript("first", "shop").topics(0..2);
    let daemon = sandbox.start();
    daemon.flush();
    let said = sandbox.json(&["remember", FACT, "--project", "shop"]);
    assert_eq!((&said["project"], &said["new"]), (&json!("shop"), &json!(true)));
    let again = sandbox.json(&["remember", FACT, "--project", &sandbox.project("shop")]);
    assert_eq!((&again["id"], &again["new"]), (&said["id"], &json!(false)));
    let output = sandbox.run(&["remember", FACT, "--project", "attic-of-nobody"]);
    assert_eq!(output.status.code(), Some(3));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("attic-of-nobody") && told.contains("stats"), "{told}");
}
