//! The command line: what a person reads, with a daemon and without.

use remembrancer_tests::{sandbox, topic};
use rustix::process::Signal;

#[test]
fn help_and_version() {
    let sandbox = sandbox!();
    let help = sandbox.run(&["--help"]);
    assert_eq!(help.status.code(), Some(0));
    let text = String::from_utf8(help.stdout).unwrap();
    for command in [
        "try",
        "run",
        "install",
        "uninstall",
        "instruct",
        "recall",
        "why",
        "search",
        "last",
        "explain",
        "show",
        "timeline",
        "sessions",
        "status",
        "pause",
        "resume",
        "exclude",
        "include",
        "remember",
        "mute",
        "unmute",
        "boost",
        "unboost",
        "forget",
        "export",
        "import",
    ] {
        assert!(
            text.lines().any(|line| line.trim_start().starts_with(&format!("{command} "))),
            "no {command} in:\n{text}"
        );
        assert_eq!(sandbox.run(&[command, "--help"]).status.code(), Some(0), "{command}");
    }
    let version = String::from_utf8(sandbox.run(&["--version"]).stdout).unwrap();
    assert_eq!(version.trim(), format!("remembrancer {}", remembrancer_hooks::VERSION));
    let hook = sandbox.hook_command().arg("--version").output().unwrap();
    assert_eq!(
        String::from_utf8(hook.stdout).unwrap().trim(),
        format!("remembrancer-hook {}", remembrancer_hooks::VERSION)
    );
    for wrong in [
        &["remember"][..],
        &["mute"],
        &["unboost"],
        &["import"],
        &["forget"],
        &["recall"],
        &["reminisce"],
        &[],
    ] {
        assert_eq!(sandbox.run(wrong).status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn try_shows_a_recollection_and_leaves_nothing_behind() {
    let sandbox = sandbox!();
    let temporary = sandbox.home().join("tmp");
    fs_err::create_dir_all(&temporary).unwrap();
    let files = || {
        walkdir::WalkDir::new(sandbox.home())
            .into_iter()
            .flatten()
            .map(walkdir::DirEntry::into_path)
            .collect::<Vec<_>>()
    };
    let before = files();
    let output = sandbox
        .command(&["try", "--samples"])
        .env("TMPDIR", &temporary)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(
        text.contains("<remembrancer-recollections ") && text.contains("kiosk"),
        "{text}"
    );
    assert!(text.contains("How each was ranked"), "{text}");
    assert_eq!(files(), before);
}

#[test]
fn try_reads_nothing_that_is_excluded() {
    let sandbox = sandbox!();
    let (secret, attic) = (sandbox.project("secret"), sandbox.project("attic"));
    sandbox.configure(&format!("[transcripts]\nexclude = [{secret:?}]\n"));
    sandbox.transcript("hidden", "secret").topics(0..2);
    sandbox.transcript("old", "attic").topics(2..4);
    sandbox.transcript("open", "shop").topics(4..6);
    let daemon = sandbox.start();
    daemon.flush();
    sandbox.json(&["exclude", &attic]);
    let listed = serde_json::json!([{"path": attic, "by": "exclude"}, {"path": secret, "by": "settings"}]);
    assert_eq!(sandbox.json(&["exclude", "--list"])["folders"], listed);
    daemon.stop(Signal::TERM);
    assert_eq!(sandbox.json(&["exclude", "--list"])["folders"], listed);
    let temporary = sandbox.home().join("tmp");
    fs_err::create_dir_all(&temporary).unwrap();
    let output = sandbox
        .command(&["try", &topic(4).0])
        .env("TMPDIR", &temporary)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("Read 2 episodes of "), "{text}");
    for number in 0..4 {
        assert!(!text.contains(&format!("case{number} ")), "{text}");
    }
}

#[test]
fn a_recall_by_the_command_line_leaves_no_trace() {
    let sandbox = sandbox!();
    sandbox.transcript("older", "shop").topics(0..3);
    let shop = sandbox.project("shop");
    let daemon = sandbox.start();
    daemon.wait_for_model();
    daemon.embed_all();
    let ids: Vec<_> = sandbox.episodes().iter().map(|episode| episode.id).collect();
    let traces = || {
        let reader = sandbox.reader();
        let accessed: Vec<_> = reader
            .candidates(&ids, "")
            .unwrap()
            .iter()
            .map(|row| (row.accessed_at, row.access_count))
            .collect();
        let files = fs_err::read_dir(sandbox.places().recollections_dir()).unwrap().count();
        (
            accessed,
            files,
            reader.stats().unwrap().sessions,
            reader.last_recollection(None).unwrap(),
        )
    };
    let before = traces();
    let answer = remembrancer_tests::eventually("an answer in time", crate::PATIENCE, || {
        let answer = sandbox.json(&["recall", &topic(1).0, "--cwd", &shop]);
        (answer["reason"] != "out-of-time").then_some(answer)
    });
    assert_eq!(
        (&answer["daemon"], &answer["shown"][0]["id"].is_string()),
        (&true.into(), &true),
        "{answer}"
    );
    // A daemon that stops stores first what it has still to store.
    daemon.stop(Signal::TERM);
    assert_eq!(traces(), before);
}

#[test]
fn recall_without_a_daemon_keeps_still_where_the_user_said_so() {
    let sandbox = sandbox!();
    sandbox.transcript("older", "shop").topics(0..3);
    let shop = sandbox.project("shop");
    let daemon = sandbox.start();
    daemon.flush();
    daemon.stop(Signal::TERM);
    let reason = || sandbox.json(&["recall", &topic(1).0, "--cwd", &shop])["reason"].clone();
    assert_eq!(reason(), serde_json::Value::Null);
    sandbox.json(&["pause"]);
    assert_eq!(reason(), "paused");
    sandbox.json(&["resume"]);
    sandbox.json(&["exclude", &shop]);
    assert_eq!(reason(), "excluded");
}

#[test]
fn recall_why_and_show_with_and_without_a_daemon() {
    let sandbox = sandbox!();
    sandbox.transcript("older", "shop").topics(0..6);
    let shop = sandbox.project("shop");
    let daemon = sandbox.start();
    daemon.wait_for_model();
    daemon.embed_all();
    let reply = daemon.recall("asks", &shop, &topic(2).0);
    let id = reply.shown[0].id.clone();
    daemon.why("asks");

    let asked = |arguments: &[&str]| sandbox.json(&[&["recall", &topic(2).0, "--cwd", &shop], arguments].concat());
    let online = remembrancer_tests::eventually("an answer in time", crate::PATIENCE, || {
        let answer = asked(&[]);
        (answer["reason"] != "out-of-time").then_some(answer)
    });
    let whys = sandbox.json(&["why", "--session", "asks"]);
    let shown = sandbox.json(&["show", &id]);
    daemon.stop(Signal::TERM);
    let (offline, embedded) = (asked(&[]), asked(&["--embed"]));

    assert_eq!((&online["daemon"], &offline["daemon"]), (&true.into(), &false.into()));
    for answer in [&online, &offline, &embedded] {
        assert!(answer["context"].as_str().unwrap().contains("case2"), "{answer}");
        assert_eq!(answer["shown"][0]["id"], id.as_str(), "{answer}");
    }
    assert_eq!(offline["degradations"], serde_json::json!(["no-model"]));
    assert_eq!(embedded["degradations"], serde_json::json!([]));

    assert_eq!(sandbox.json(&["why", "--session", "asks"])["candidates"], whys["candidates"]);
    assert_eq!(whys["candidates"][0]["shown"], 1, "{whys}");
    assert!(whys["candidates"][0]["ranks"]["vector"].is_number(), "{whys}");
    assert!(
        shown["prompt"].as_str().unwrap().contains("case2") && shown["importance_rule"].is_string(),
        "{shown}"
    );
    assert_eq!(sandbox.json(&["show", &id]), shown);
    for (command, part) in [
        (&["why"][..], "milliseconds: "),
        (&["show", &id], "answer:"),
        (&["recall", "ok"], "Nothing to recall: chatter"),
    ] {
        let text = String::from_utf8(sandbox.run(command).stdout).unwrap();
        assert!(text.contains(part), "{command:?}: {text}");
    }
    assert_eq!(sandbox.run(&["show", "ffffffffffff"]).status.code(), Some(3));
}

#[test]
fn to_show_an_episode_is_to_use_it() {
    let sandbox = sandbox!();
    sandbox.transcript("older", "shop").topics(0..3);
    let daemon = sandbox.start();
    daemon.flush();
    let episode = sandbox.episodes().remove(1);
    sandbox.json(&["show", &episode.uid.to_string()]);
    let rows = sandbox.reader().candidates(&[episode.id], "").unwrap();
    assert_eq!(rows[0].access_count, 1);
}

#[test]
fn status_as_json_has_what_scripts_need() {
    let sandbox = sandbox!();
    sandbox.transcript("older", "shop").topics(0..3);
    let daemon = sandbox.start();
    let flushed = sandbox.json(&["status", "--flush"]);
    assert_eq!(flushed["episodes"], 3);
    assert_eq!(flushed["daemon"]["pid"], daemon.pid());
    daemon.stop(Signal::TERM);
    let offline = sandbox.json(&["status"]);
    assert_eq!(
        (&offline["episodes"], &offline["daemon"]),
        (&3.into(), &serde_json::Value::Null)
    );
    for key in [
        "sessions",
        "embedded",
        "embedding_backlog",
        "transcripts_missing",
        "skipped_lines",
        "database_bytes",
        "schema_version",
        "excluded",
        "instructed",
        "passed_over",
        "notices",
        "problems_by_file",
    ] {
        assert_eq!(flushed.get(key).is_some(), offline.get(key).is_some(), "{key}");
        assert!(offline.get(key).is_some(), "no {key}");
    }
}
