//! From nothing: a home without transcripts, then the first one appears. What is made is private.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use remembrancer_tests::{eventually, sandbox};

use crate::PATIENCE;

const PROMPT: &str = "Why does the receipt printer cut the last line?";
const ANSWER: &str = "The driver closed the port before its buffer was flushed; it waits for the printer's ready byte now.";

#[test]
fn the_first_transcript_of_all_is_remembered() {
    let sandbox = sandbox!();
    fs_err::remove_dir_all(sandbox.home().join(".claude")).unwrap();
    let daemon = sandbox.start();
    let status = daemon.status();
    assert_eq!(
        (&status["episodes"], &status["transcripts"], &status["problems"]),
        (&0.into(), &0.into(), &serde_json::json!([]))
    );
    let shop = sandbox.project("shop");
    assert_eq!(sandbox.hook("first", &shop, PROMPT).context(), "");

    sandbox.transcript("older", "shop").turn(PROMPT, ANSWER);
    eventually("the first episode, without any command", PATIENCE, || {
        (daemon.status()["episodes"] == 1).then_some(())
    });
    daemon.embed_all();
    let reply = daemon.recall("second", &shop, "the receipt printer cuts the last line again");
    assert!(reply.context.contains("ready byte"), "{reply:?}");
    assert_eq!(sandbox.recollection_file("second").as_ref(), Some(&reply.context));

    let screen = String::from_utf8(sandbox.run(&["status"]).stdout).unwrap();
    for expected in [
        &format!("running, process {}", daemon.pid()),
        "1 episode of ",
        "in 1 project; 1 with a vector",
    ] {
        assert!(screen.contains(expected), "no {expected:?} in:\n{screen}");
    }
}

#[test]
fn a_newcomer_without_a_daemon_is_told_what_to_do() {
    let sandbox = sandbox!();
    for command in [
        &["status"][..],
        &["recall", "anything"],
        &["why"],
        &["explain"],
        &["explain", "anything"],
        &["last"],
    ] {
        let output = sandbox.run(command);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(4), "{command:?}: {said}");
        assert!(said.contains("start the daemon once"), "{command:?}: {said}");
    }
    assert!(!sandbox.places().data_dir().exists(), "a question makes nothing");
}

#[test]
fn tc_40_all_that_is_made_is_private() {
    let sandbox = sandbox!();
    let places = sandbox.places();
    // A data folder that an older umask left open is tightened.
    fs_err::create_dir_all(places.data_dir()).unwrap();
    fs_err::set_permissions(places.data_dir(), std::fs::Permissions::from_mode(0o755)).unwrap();
    sandbox.transcript("older", "shop").turn(PROMPT, ANSWER);
    let daemon = sandbox.start();
    daemon.flush();
    let reply = daemon.recall("now", &sandbox.project("shop"), PROMPT);
    assert!(!reply.context.is_empty(), "{reply:?}");

    let database = places.database_file().display().to_string();
    for file in [&database, &format!("{database}-wal"), &format!("{database}-shm")] {
        assert_eq!(mode(Path::new(file)), 0o600, "{file}");
    }
    let recollections = places.recollections_dir();
    assert_eq!(mode(&places.data_dir()), 0o700);
    assert_eq!(mode(&recollections), 0o700);
    assert_eq!(mode(&places.recollection_path("claude-code", "now")), 0o600);
    let socket = places.socket_candidates().into_iter().find(|path| path.exists()).unwrap();
    assert_eq!((mode(&socket), mode(socket.parent().unwrap())), (0o600, 0o700));
}

fn mode(path: &Path) -> u32 {
    fs_err::metadata(path).unwrap().permissions().mode() & 0o777
}
