//! What was recalled is told together with what has become of it: files that changed or are gone, and a later word on the matter.

use std::path::Path;
use std::process::Command;

use remembrancer_tests::{Sandbox, eventually, sandbox};
use rustix::process::Signal;
use serde_json::json;

use crate::PATIENCE;

const PROMPT: &str = "Why does the invoice exporter drop the last row of the table?";
const ANSWER: &str = "The loop of the exporter stopped one row early. It runs to the end now, and a test with one row holds it.";
const ASKED: &str = "The invoice exporter drops the last row of its table again, why?";

/// Runs git in `folder`, as of `day`, with nothing of the user's settings and nothing that the repository names.
fn git(folder: &str, day: &str, arguments: &[&str]) {
    let time = format!("{day}T12:00:00Z");
    let output = Command::new("git")
        .args([
            "-C",
            folder,
            "-c",
            "user.name=Ada",
            "-c",
            "user.email=ada@example.org",
            "-c",
            "core.fsmonitor=false",
        ])
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_AUTHOR_DATE", &time)
        .env("GIT_COMMITTER_DATE", &time)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn commit(folder: &str, day: &str) {
    git(folder, day, &["add", "--all"]);
    git(folder, day, &["commit", "--quiet", "--message", "change"]);
}

/// A repository with three files, in which a turn changed two of them on the first of August.
fn worked_on(sandbox: &Sandbox) -> String {
    let shop = sandbox.project("shop");
    let source = Path::new(&shop).join("src");
    fs_err::create_dir_all(&source).unwrap();
    for name in ["exporter.rs", "rows.rs", "same.rs"] {
        fs_err::write(source.join(name), "fn first() {}\n").unwrap();
    }
    git(&shop, "2026-07-01", &["init", "--quiet"]);
    commit(&shop, "2026-07-01");
    let edit = |name: &str| json!({"file_path": format!("{shop}/src/{name}"), "old_string": "a", "new_string": "b"});
    sandbox
        .transcript("older", "shop")
        .prompt(PROMPT)
        .tool("Edit", &edit("same.rs"), "done", false)
        .tool("Edit", &edit("rows.rs"), "done", false)
        .tool("Edit", &edit("exporter.rs"), "done", false)
        .answer(ANSWER);
    shop
}

#[test]
fn a_recollection_says_which_of_its_files_changed_or_are_gone() {
    let sandbox = sandbox!();
    let shop = worked_on(&sandbox);
    for (day, text) in [("2026-09-01", "fn second() {}\n"), ("2026-09-02", "fn third() {}\n")] {
        fs_err::write(format!("{shop}/src/exporter.rs"), text).unwrap();
        commit(&shop, day);
    }
    fs_err::remove_file(format!("{shop}/src/rows.rs")).unwrap();
    commit(&shop, "2026-09-03");
    // A repository may be anybody's.
    let marker = sandbox.home().join("was-run");
    let program = format!("touch '{}'; false", marker.display());
    for (key, value) in [
        ("core.fsmonitor", program.as_str()),
        ("log.showSignature", "true"),
        ("gpg.program", &program),
    ] {
        git(&shop, "2026-09-03", &["config", key, value]);
    }

    let daemon = sandbox.start();
    daemon.wait_for_model();
    daemon.embed_all();
    let first = daemon.recall("first", &shop, ASKED);
    assert!(first.context.contains("stopped one row early"), "{}", first.context);
    assert!(!first.context.contains("Since then:"), "a prompt waits for no look");
    let mut session = 0;
    let context = eventually("what has become of the files", PATIENCE, || {
        session += 1;
        let reply = daemon.recall(&format!("later-{session}"), &shop, ASKED);
        reply.context.contains("Since then:").then_some(reply.context)
    });
    let line = context.lines().find(|line| line.starts_with("Since then:")).unwrap();
    assert_eq!(line, "Since then: src/exporter.rs changed (2 commits), src/rows.rs is gone");
    assert!(!marker.exists(), "git ran what the repository names");
    let why = daemon.why(&format!("later-{session}"));
    eprintln!("stages with what has become of the files: {}", why["stages"]);
    let (status, _) = daemon.stop(Signal::TERM);
    assert!(status.success());
}

#[test]
fn of_what_is_not_known_nothing_is_said() {
    let sandbox = sandbox!();
    let shop = worked_on(&sandbox);
    // Its own commit, an hour after its beginning.
    fs_err::write(format!("{shop}/src/exporter.rs"), "fn second() {}\n").unwrap();
    let daemon = sandbox.start();
    daemon.wait_for_model();
    daemon.embed_all();
    let began = sandbox.episodes()[0].created_at;
    let hour_later = jiff::Timestamp::from_millisecond(began.0 + 3_600_000).unwrap();
    git(&shop, "2026-08-01", &["add", "--all"]);
    let date = format!("--date={hour_later:.0}");
    git(&shop, "2026-08-01", &["commit", "--quiet", "--message", "its own", &date]);
    // By what is said of this one it is known that the look is done.
    fs_err::remove_file(format!("{shop}/src/rows.rs")).unwrap();
    let mut session = 0;
    let context = eventually("what has become of one file", PATIENCE, || {
        session += 1;
        let reply = daemon.recall(&format!("later-{session}"), &shop, ASKED);
        reply.context.contains("Since then:").then_some(reply.context)
    });
    let line = context.lines().find(|line| line.starts_with("Since then:")).unwrap();
    assert_eq!(line, "Since then: src/rows.rs is gone");
    let (status, _) = daemon.stop(Signal::TERM);
    assert!(status.success());
}

#[test]
fn of_near_duplicates_the_newest_is_shown() {
    let sandbox = sandbox!();
    let long = "The loop of the exporter stopped one row early, since the length of the table was taken before its last row was added. It runs to the end now, a test with one row and a test with none hold it, and the header is written once";
    sandbox
        .transcript("first", "shop")
        .on_day(3)
        .turn(PROMPT, &format!("{long} again."));
    sandbox
        .transcript("second", "shop")
        .on_day(9)
        .turn(PROMPT, &format!("{long} only."));
    let daemon = sandbox.start();
    daemon.wait_for_model();
    daemon.embed_all();
    let shop = sandbox.project("shop");
    let reply = daemon.recall("asks", &shop, ASKED);
    assert_eq!(reply.shown.len(), 1, "{}", reply.context);
    assert!(reply.context.contains("[1] 2026-08-09"), "{}", reply.context);
    let why = daemon.why("asks").to_string();
    assert!(why.contains("duplicate-of"), "{why}");
    let (status, _) = daemon.stop(Signal::TERM);
    assert!(status.success());
}
