//! What the user decides: pause, exclude, forget. Each through the daemon, and without one.

use remembrancer_hooks::protocol::{Answer, Reply, Request};
use remembrancer_tests::{DaemonProcess, Sandbox, any_file_holds, eventually, sandbox, topic};
use rstest::rstest;
use rustix::process::Signal;

use crate::PATIENCE;

#[test]
fn a_pause_stops_reading_and_recalling_until_resumed() {
    let sandbox = sandbox!();
    let mut transcript = sandbox.transcript("live", "shop");
    transcript.topics(0..2);
    let daemon = sandbox.start();
    daemon.flush();
    let shop = sandbox.project("shop");
    assert_eq!(sandbox.json(&["pause"])["paused"], true);
    transcript.topics(2..3);
    let flushed = daemon.ask(&Request::Flush);
    assert_eq!((&flushed["flushed"], &flushed["paused"]), (&false.into(), &true.into()));
    assert_eq!(sandbox.episodes().len(), 2);
    let reply = daemon.recall("asks", &shop, &topic(0).0);
    assert_eq!((reply.context.as_str(), reply.reason.as_deref()), ("", Some("paused")));
    eventually("the reason in the log", PATIENCE, || {
        (daemon.why("asks")["reason"] == "paused").then_some(())
    });
    assert_eq!(sandbox.hook("asks-too", &shop, &topic(0).0).stdout, "");
    eventually("the reason in the file", PATIENCE, || {
        daemon.recall("asks-too", &shop, &topic(1).0);
        sandbox.recollection_file("asks-too").filter(|file| file.contains("(paused)"))
    });
    assert!(String::from_utf8(sandbox.run(&["status"]).stdout).unwrap().contains("PAUSED"));
    daemon.stop(Signal::TERM);

    // A pause outlives the daemon, and can be ended without one.
    let daemon = sandbox.start();
    daemon.flush();
    assert_eq!(sandbox.episodes().len(), 2);
    daemon.stop(Signal::TERM);
    assert_eq!(sandbox.json(&["resume"])["paused"], false);
    // Begun and ended without one, too.
    assert_eq!(sandbox.json(&["pause"])["paused"], true);
    assert_eq!(sandbox.json(&["status"])["paused"], "until resumed");
    sandbox.json(&["resume"]);
    let daemon = sandbox.start();
    eventually("what was written meanwhile", PATIENCE, || {
        (daemon.status()["episodes"] == 3).then_some(())
    });
    assert!(daemon.recall("asks", &shop, &topic(2).0).context.contains("case2"));
}

#[test]
fn a_pause_for_a_while_ends_by_itself() {
    let sandbox = sandbox!();
    let daemon = sandbox.start();
    // The first look at the folders ends before the pause begins: what is in hand then is finished.
    daemon.flush();
    sandbox.json(&["pause", "--for", "1s"]);
    sandbox.transcript("live", "shop").topics(0..1);
    eventually("the end of the pause", PATIENCE, || {
        (daemon.status()["episodes"] == 1).then_some(())
    });
    assert_eq!(daemon.status()["paused"], serde_json::Value::Null);
}

#[test]
fn exclude_hides_and_include_brings_back() {
    let sandbox = sandbox!();
    let daemon = excluded(&sandbox, Some);
    let secret = sandbox.project("secret");
    sandbox.json(&["include", &secret]);
    brought_back(&sandbox, &daemon);
}

#[test]
fn exclude_and_include_without_a_daemon() {
    let sandbox = sandbox!();
    let daemon = excluded(&sandbox, |daemon| {
        daemon.stop(Signal::TERM);
        None
    });
    daemon.stop(Signal::TERM);
    let secret = sandbox.project("secret");
    sandbox.json(&["include", &secret]);
    let daemon = sandbox.start();
    brought_back(&sandbox, &daemon);
}

/// Two turns in an excluded project, one from before, one written while it was excluded.
fn excluded<'a>(sandbox: &'a Sandbox, before: impl FnOnce(DaemonProcess<'a>) -> Option<DaemonProcess<'a>>) -> DaemonProcess<'a> {
    sandbox.transcript("open", "shop").topics(10..12);
    let mut transcript = sandbox.transcript("hidden", "secret");
    transcript.topics(0..1);
    let daemon = sandbox.start();
    daemon.flush();
    let secret = sandbox.project("secret");
    let reply = daemon.recall("asked-before", &secret, &topic(0).0);
    assert!(reply.context.contains("case0 "), "{reply:?}");
    assert!(sandbox.recollection_file("asked-before").is_some());
    let daemon = before(daemon);
    assert_eq!(sandbox.json(&["exclude", &secret])["hidden"], 1);
    assert_eq!(
        sandbox.recollection_file("asked-before"),
        None,
        "it quotes what is hidden now"
    );
    let daemon = daemon.unwrap_or_else(|| sandbox.start());
    transcript.topics(1..2);
    daemon.flush();
    let status = daemon.status();
    assert_eq!(
        (&status["episodes"], &status["hidden"]),
        (&3.into(), &1.into()),
        "nothing of it was stored"
    );
    assert_eq!(
        daemon.recall("asks", &secret, &topic(0).0).reason.as_deref(),
        Some("excluded")
    );
    let shop = sandbox.project("shop");
    for number in 0..2 {
        let reply = daemon.recall("asks", &shop, &topic(number).0);
        assert!(!reply.context.contains(&format!("case{number} ")), "{reply:?}");
    }
    daemon
}

fn brought_back(sandbox: &Sandbox, daemon: &DaemonProcess<'_>) {
    daemon.flush();
    let status = daemon.status();
    assert_eq!(
        (&status["episodes"], &status["hidden"]),
        (&4.into(), &0.into()),
        "what was written meanwhile, too"
    );
    assert_eq!(status["records"], 8, "a record is counted once");
    let secret = sandbox.project("secret");
    for number in 0..2 {
        let reply = daemon.recall(&format!("later-{number}"), &secret, &topic(number).0);
        assert!(reply.context.contains(&format!("case{number} ")), "{reply:?}");
    }
}

#[test]
fn a_folder_excluded_by_the_settings_is_never_read() {
    let sandbox = sandbox!();
    // Below a link, as a home may lie.
    let link = sandbox.home().join("link");
    fs_err::os::unix::fs::symlink(sandbox.home().join("work"), &link).unwrap();
    sandbox.configure("[transcripts]\nexclude = [\"~/link/secret\"]\n");
    sandbox.transcript("hidden", "secret").topics(0..2);
    sandbox.transcript("open", "shop").topics(2..4);
    let daemon = sandbox.start();
    daemon.flush();
    assert_eq!(
        sandbox
            .episodes()
            .iter()
            .filter(|episode| episode.session == "hidden")
            .count(),
        0
    );
    assert_eq!(sandbox.episodes().len(), 2);
}

/// A word that only the forgotten turn holds; one that the tokeniser leaves whole.
const SECRET: &str = "xylophonequartz";

/// Forgets by the arguments that `which` gives for an episode's id, with or without a daemon, and looks everywhere.
fn check_forget(with_daemon: bool, which: impl Fn(&Sandbox, &str) -> Vec<String>) {
    let sandbox = sandbox!();
    sandbox.transcript("stays", "shop").topics(0..3);
    let mut transcript = sandbox.transcript("goes", "secret");
    transcript.turn(
        &format!("Please rotate the {SECRET} key of the gateway"),
        &format!("The gateway has a new key now; {SECRET} was taken out of the vault, and the old one is void."),
    );
    let daemon = sandbox.start();
    daemon.wait_for_model();
    daemon.embed_all();
    let secret = sandbox.project("secret");
    let reply = daemon.recall("asks", &secret, "which key of the gateway was rotated?");
    assert!(reply.context.contains(SECRET), "{reply:?}");
    daemon.why("asks");
    assert!(
        any_file_holds(&sandbox.places().data_dir(), SECRET.as_bytes()).is_some(),
        "the test looks in the right place"
    );

    let daemon = if with_daemon {
        Some(daemon)
    } else {
        daemon.stop(Signal::TERM);
        None
    };
    let arguments = which(&sandbox, &reply.shown[0].id);
    let arguments: Vec<&str> = ["forget", "--yes"]
        .into_iter()
        .chain(arguments.iter().map(String::as_str))
        .collect();
    assert_eq!(sandbox.json(&arguments)["forgotten"], 1, "{arguments:?}");
    nothing_holds_it(&sandbox);

    // The transcript still holds it, and is read again: at once, after it grew, and after a restart.
    let daemon = daemon.unwrap_or_else(|| sandbox.start());
    transcript.topics(7..8);
    daemon.flush();
    daemon.stop(Signal::TERM);
    let daemon = sandbox.start();
    daemon.flush();
    assert_eq!(daemon.status()["episodes"], 4);
    assert_eq!(
        daemon
            .recall("later", &secret, "which key of the gateway was rotated?")
            .context,
        ""
    );
    daemon.stop(Signal::TERM);
    nothing_holds_it(&sandbox);
}

fn nothing_holds_it(sandbox: &Sandbox) {
    for folder in [sandbox.places().data_dir(), sandbox.places().state_dir()] {
        assert_eq!(any_file_holds(&folder, SECRET.as_bytes()), None);
    }
}

#[test]
fn forget_an_episode_by_its_id() {
    check_forget(true, |_, id| vec![id.to_owned()]);
}

#[test]
fn forget_a_session() {
    check_forget(true, |_, _| vec!["--session".to_owned(), "goes".to_owned()]);
}

#[test]
fn forget_a_folder_without_a_daemon() {
    check_forget(false, |sandbox, _| vec!["--path".to_owned(), sandbox.project("secret")]);
}

#[test]
fn forget_what_words_find() {
    check_forget(true, |_, _| vec!["--matching".to_owned(), SECRET.to_owned()]);
}

#[test]
fn forget_a_project_without_a_daemon() {
    check_forget(false, |_, _| vec!["--project".to_owned(), "secret".to_owned()]);
}

#[test]
fn a_forgotten_project_goes_on() {
    let sandbox = sandbox!();
    sandbox.transcript("stays", "shop").topics(0..3);
    let mut transcript = sandbox.transcript("goes", "secret");
    transcript.topics(5..7);
    let daemon = sandbox.start();
    daemon.wait_for_model();
    daemon.embed_all();
    assert_eq!(sandbox.json(&["forget", "--yes", "--project", "secret"])["forgotten"], 2);
    transcript.topics(8..9);
    daemon.embed_all();
    let episodes = sandbox.episodes();
    let projects: Vec<_> = episodes
        .iter()
        .filter(|episode| episode.session == "goes")
        .map(|episode| episode.project_name.as_deref())
        .collect();
    assert_eq!(
        (episodes.len(), projects),
        (4, vec![Some("secret")]),
        "what comes afterwards is remembered"
    );
    assert_eq!(daemon.status()["problems"], serde_json::json!([]));
    let reply = daemon.recall("asks", &sandbox.project("secret"), &topic(8).0);
    assert!(reply.context.contains("case8 "), "{reply:?}");
}

#[test]
fn exclude_while_the_backlog_is_embedded() {
    const TURNS: u32 = 300;
    let sandbox = sandbox!();
    sandbox.configure("[backfill]\ncpu = \"1%\"\n");
    sandbox.transcript("open", "shop").topics(900..902);
    // Newer, so that it is embedded first.
    sandbox.transcript("hidden", "secret").on_day(9).topics(0..TURNS);
    let daemon = sandbox.start();
    daemon.flush();
    eventually("the first vectors", PATIENCE, || {
        (daemon.status()["embedded"].as_u64() > Some(0)).then_some(())
    });
    let secret = sandbox.project("secret");
    assert_eq!(sandbox.json(&["exclude", &secret])["hidden"], TURNS);
    daemon.embed_all();
    let status = daemon.status();
    assert_eq!(
        (&status["embedded"], &status["hidden"]),
        (&2.into(), &TURNS.into()),
        "what was in hand was not stored"
    );
    let in_this_run = status["ingest"]["episodes_embedded"].as_u64().unwrap();
    assert!(in_this_run < u64::from(TURNS), "the backlog ended before the exclusion began");
    let shop = sandbox.project("shop");
    for number in (0..TURNS).step_by(50).chain([TURNS - 1]) {
        let reply = daemon.recall(&format!("asks-{number}"), &shop, &topic(number).0);
        assert!(!reply.context.contains(&format!("case{number} ")), "{reply:?}");
    }
    let reply = daemon.recall("asks", &shop, &topic(900).0);
    assert!(reply.context.contains("case900 "), "{reply:?}");
}

#[test]
fn forget_asks_first() {
    let sandbox = sandbox!();
    sandbox.transcript("live", "shop").topics(0..2);
    let daemon = sandbox.start();
    daemon.flush();
    let output = sandbox.run(&["forget", "--all"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("--yes"));
    assert_eq!(daemon.status()["episodes"], 2);
    let output = sandbox.run(&["forget", "ffffffff"]);
    assert_ne!(output.status.code(), Some(0), "an id that names nothing is an error");
    assert_eq!(sandbox.json(&["forget", "--all", "--yes"])["forgotten"], 2);
}

#[rstest]
#[case::too_short_to_show(&["show", "abc"], "4 hexadecimal digits")]
#[case::too_short_to_forget(&["forget", "abc"], "4 hexadecimal digits")]
#[case::no_id(&["show", "shopping"], "4 hexadecimal digits")]
#[case::unknown_session(&["forget", "--yes", "--session", "nosuch"], "no session has the id nosuch")]
#[case::never_excluded(&["include", "/nowhere/at/all"], "was not excluded")]
fn what_names_nothing_is_an_error(#[case] arguments: &[&str], #[case] says: &str) {
    let sandbox = sandbox!();
    sandbox.transcript("live", "shop").topics(0..1);
    let check = || {
        let output = sandbox.run(arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), error.contains(says)), (Some(3), true), "{error}");
    };
    let daemon = sandbox.start();
    daemon.flush();
    check();
    daemon.stop(Signal::TERM);
    check();
}

#[test]
fn a_pause_without_sense_is_refused() {
    let sandbox = sandbox!();
    let daemon = sandbox.start();
    for until_ms in [Some(0), Some(i64::MAX), Some(i64::MIN)] {
        let reply = daemon.try_ask(&Request::Pause { until_ms }).unwrap();
        assert!(matches!(&reply, Reply::Answer(Answer { ok: false, .. })), "{reply:?}");
    }
    assert_eq!(daemon.status()["paused"], serde_json::Value::Null);
    assert_eq!(sandbox.run(&["pause", "--for", "100000h"]).status.code(), Some(2));
}

#[test]
fn a_tilde_between_quotes_is_the_home_folder() {
    let sandbox = sandbox!();
    sandbox.transcript("hidden", "secret").topics(0..1);
    let daemon = sandbox.start();
    daemon.flush();
    assert_eq!(sandbox.json(&["exclude", "~/work/secret"])["hidden"], 1);
}
