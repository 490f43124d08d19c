//! What is broken around the daemon: transcripts that are none, folders that can't be read, a damaged database, settings
//! with a mistake, a model that is not there. Each is told in words, and none takes anything else along.

use std::os::unix::fs::PermissionsExt;

use remembrancer_tests::{DaemonProcess, any_file_holds, eventually, sandbox, skip, topic};

use crate::PATIENCE;

#[test]
fn tc_07_a_line_of_sixty_megabytes_is_read_in_little_memory() {
    let sandbox = sandbox!();
    let daemon = sandbox.start();
    daemon.wait_for_model();
    let resident = |daemon: &DaemonProcess<'_>| daemon.status()["daemon"]["memory"]["resident_bytes"].as_u64();
    let before = resident(&daemon);
    let data = "iVBORw0KGgoAAAANSUhEUg".repeat(60_000_000 / 22);
    let mut transcript = sandbox.transcript("large", "shop");
    let line = transcript.prompt_line("What is in this picture of the heron?");
    let with_image = line.replace(
        "\"What is in this picture of the heron?\"",
        &format!(
            "[{{\"type\":\"image\",\"source\":{{\"type\":\"base64\",\"data\":\"{data}\"}}}},{{\"type\":\"text\",\"text\":\"What is in this picture of the heron?\"}}]"
        ),
    );
    assert!(with_image.len() > 60_000_000);
    transcript
        .raw(&with_image)
        .answer("A heron in the reeds.")
        .turn("And behind it?", "A boat.");
    daemon.flush();
    assert_eq!(sandbox.prompts(), ["And behind it?", "What is in this picture of the heron?"]);
    let held = any_file_holds(&sandbox.places().data_dir(), &data.as_bytes()[..256]);
    assert_eq!(held, None, "no data is stored");
    let status = daemon.status();
    assert_eq!(
        (&status["counted"]["line-shortened"], &status["skipped_lines"]),
        (&1.into(), &0.into())
    );
    if let (Some(before), Some(after)) = (before, resident(&daemon)) {
        assert!(after < before + (256 << 20), "{before} bytes resident became {after}");
    }
}

#[test]
fn a_file_that_is_no_transcript_spoils_nothing() {
    let sandbox = sandbox!();
    sandbox.transcript("good", "shop").topics(0..2);
    let mut garbage = sandbox.transcript("garbage", "shop");
    garbage
        .raw("this is no JSON\n[1, 2, 3]\n\"text\"\n{\"type\": \"unheard-of\"}\n{}\n")
        .bytes(&[0, 0xff, b'\n']);
    sandbox
        .transcript("binary", "shop")
        .bytes(&(0..=255).cycle().take(100_000).collect::<Vec<u8>>());
    sandbox.transcript("empty", "shop").raw("");
    let daemon = sandbox.start();
    daemon.flush();
    assert_eq!(sandbox.episodes().len(), 2);
    let status = daemon.status();
    assert_eq!(
        status["problems"],
        serde_json::json!([]),
        "a line that can't be read is counted, and no more"
    );
    let kinds: Vec<&str> = status["problems_by_file"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|problem| problem["kind"].as_str())
        .collect();
    for kind in ["malformed-json", "not-an-object", "unknown-record:unheard-of"] {
        assert!(kinds.contains(&kind), "no {kind} in {kinds:?}");
    }
    let skipped = status["skipped_lines"].clone();
    daemon.flush();
    assert_eq!(daemon.status()["skipped_lines"], skipped, "counted once");
}

#[test]
fn a_kind_that_holds_much_unread_text_is_noticed_once() {
    let sandbox = sandbox!();
    let mut transcript = sandbox.transcript("newer", "shop");
    transcript.topics(0..2);
    let unread = |text: &str| format!("{{\"type\": \"thought-stream\", \"version\": \"9.9.1\", \"text\": \"{text}\"}}\n");
    transcript.raw(&unread("nothing to speak of"));
    let daemon = sandbox.start();
    daemon.flush();
    let status = daemon.status();
    assert_eq!(status["notices"], serde_json::json!([]), "little was not read");
    let kind = &status["passed_over"][0];
    assert_eq!(
        (&kind["agent"], &kind["version"], &kind["kind"], &kind["count"]),
        (
            &"claude-code".into(),
            &"9.9.1".into(),
            &"unknown-record:thought-stream".into(),
            &1.into()
        )
    );
    for _ in 0..2 {
        transcript.raw(&unread(&"secretly ".repeat(20_000)));
        daemon.flush();
    }
    let status = daemon.status();
    let notice = status["notices"][0].as_str().unwrap();
    for part in ["claude-code 9.9.1", "unknown-record:thought-stream", "3 records"] {
        assert!(notice.contains(part), "{part}: {notice}");
    }
    let log = daemon.log();
    assert_eq!(log.matches("unknown-record:thought-stream").count(), 1, "{log}");
    assert!(!log.contains("secretly"), "{log}");
    let said = String::from_utf8(sandbox.run(&["status"]).stdout).unwrap();
    assert!(
        said.contains("passed over: 3 x unknown-record:thought-stream (claude-code 9.9.1), as at "),
        "{said}"
    );
    assert!(said.contains("notice:     "), "{said}");
}

#[test]
fn a_folder_without_permission_is_named_with_its_remedy() {
    if rustix::process::getuid().is_root() {
        return skip("root may read every folder");
    }
    let sandbox = sandbox!();
    sandbox.transcript("good", "shop").topics(0..2);
    let locked = sandbox.root().join("locked");
    fs_err::create_dir_all(&locked).unwrap();
    fs_err::set_permissions(&locked, std::fs::Permissions::from_mode(0o000)).unwrap();
    let daemon = sandbox.start();
    daemon.flush();
    let problems = daemon.status()["problems"].to_string();
    fs_err::set_permissions(&locked, std::fs::Permissions::from_mode(0o700)).unwrap();
    assert!(
        problems.contains("locked") && problems.contains("remembrancer exclude"),
        "{problems}"
    );
    assert_eq!(sandbox.episodes().len(), 2);
}

#[test]
fn what_is_no_database_is_set_aside_by_the_daemon_alone() {
    const LETTER: &str = "no database at all, but a letter to whom it may concern";
    let sandbox = sandbox!();
    let database = sandbox.places().database_file();
    fs_err::create_dir_all(database.parent().unwrap()).unwrap();
    fs_err::write(&database, LETTER.repeat(200)).unwrap();
    for command in [&["status"][..], &["recall", "anything"]] {
        let output = sandbox.run(command);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(4), "{command:?}: {said}");
        assert!(said.contains(&database.display().to_string()), "{command:?}: {said}");
    }
    assert_eq!(sandbox.hook("s", "/", "is anybody there who remembers?").stdout, "");
    assert!(
        fs_err::read(&database).unwrap().starts_with(LETTER.as_bytes()),
        "it is left as it was"
    );
    let daemon = sandbox.start();
    let aside = daemon.status()["recovery"]["set_aside"].as_str().unwrap().to_owned();
    assert_eq!(fs_err::read(aside).unwrap(), LETTER.repeat(200).as_bytes(), "nothing is lost");
}

#[test]
fn an_index_found_damaged_is_rebuilt_under_the_running_daemon() {
    const WORD: &[u8] = b"xylophonequartz";
    let sandbox = sandbox!();
    let mut transcript = sandbox.transcript("old", "shop");
    transcript.topics(0..20);
    // In capitals, so that it stands in small letters in the index alone.
    transcript.turn(
        "Please rotate the XYLOPHONEQUARTZ key of the gateway",
        "The gateway has a new XYLOPHONEQUARTZ key now, and the old one is void.",
    );
    let daemon = sandbox.start();
    daemon.flush();
    daemon.stop(rustix::process::Signal::TERM);
    let database = sandbox.places().database_file();
    let mut bytes = fs_err::read(&database).unwrap();
    let at = bytes.windows(WORD.len()).position(|bytes| bytes == WORD).unwrap();
    bytes[at - 4..at + 2 * WORD.len()].fill(0xff);
    fs_err::write(&database, bytes).unwrap();

    let daemon = sandbox.start();
    let shop = sandbox.project("shop");
    let prompt = "which XYLOPHONEQUARTZ key of the gateway was rotated?";
    let mut attempts = 0;
    eventually("the index to be rebuilt", PATIENCE, || {
        attempts += 1;
        daemon.recall(&format!("asks-{attempts}"), &shop, prompt);
        daemon.log().contains("the full-text index is rebuilt").then_some(())
    });
    let reply = daemon.recall("asks", &shop, prompt);
    assert!(reply.context.contains("XYLOPHONEQUARTZ"), "{reply:?}");
    assert_eq!(daemon.status()["problems"], serde_json::json!([]));
    daemon.stop(rustix::process::Signal::TERM);
    sandbox.start();
}

#[test]
fn a_mistake_in_the_settings_is_named_with_file_and_line() {
    let sandbox = sandbox!();
    let file = sandbox.places().config_file().display().to_string();
    for (text, expected) in [
        ("[recall]\nbugdet = \"240ms\"\n", format!("{file}:2: unknown field")),
        ("[recall]\n\nbudget = 240\n", format!("{file}:3: ")),
        ("[recall\n", format!("{file}:1: ")),
        ("[recall]\nbudget = \"3s\"\n", "recall.budget = 3s: ".to_owned()),
        ("[backfill]\ncpu = \"much\"\n", "backfill.cpu = much: ".to_owned()),
    ] {
        sandbox.configure(text);
        for command in [&["run"][..], &["status"]] {
            let output = sandbox.run(command);
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(2), "{text}: {said}");
            assert!(said.contains(&expected) && said.contains("hint:"), "{text}: {said}");
        }
    }
    let output = sandbox.run(&["--config", "/nowhere.toml", "status"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("/nowhere.toml"));
}

#[test]
fn tc_42_without_its_model_recall_goes_on_by_words() {
    let sandbox = sandbox!();
    sandbox.configure("[embedding]\nmodel_dir = \"/nowhere/at/all\"\n");
    sandbox.transcript("older", "shop").topics(0..5);
    let daemon = sandbox.start();
    daemon.flush();
    daemon.wait_for_model();
    let model = daemon.status()["daemon"]["model"].as_str().unwrap().to_owned();
    assert!(model.starts_with("none: ") && model.contains("/nowhere/at/all"), "{model}");
    let reply = daemon.recall("asks", &sandbox.project("shop"), &topic(3).0);
    assert!(reply.context.contains("case3"), "{reply:?}");
    assert_eq!(daemon.why("asks")["degradations"], serde_json::json!(["no-model"]));
    assert!(
        String::from_utf8(sandbox.run(&["status"]).stdout)
            .unwrap()
            .contains("/nowhere/at/all")
    );
    daemon.stop(rustix::process::Signal::TERM);
    // With a model again, what was stored without one gets its vectors.
    sandbox.configure("");
    let daemon = sandbox.start();
    daemon.wait_for_model();
    daemon.embed_all();
    assert_eq!(daemon.status()["embedded"], 5);
    let reply = daemon.recall("asks again", &sandbox.project("shop"), &topic(3).0);
    assert!(reply.context.contains("case3"), "{reply:?}");
}
