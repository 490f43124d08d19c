//! Instruction files: written at the user's word, brought up to date after a turn, emptied of what is forgotten, given back.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use remembrancer_tests::{Sandbox, eventually, sandbox, topic};
use rustix::process::Signal;

use crate::PATIENCE;

const RULES: &str = "# Rules\n\nBe brief.\n";

/// A project with one turn in the memory, and a file of rules.
fn shop(sandbox: &Sandbox) -> PathBuf {
    sandbox.transcript("first", "shop").topics(0..1);
    let folder = PathBuf::from(sandbox.project("shop"));
    fs_err::write(folder.join("AGENTS.md"), RULES).unwrap();
    fs_err::set_permissions(folder.join("AGENTS.md"), std::fs::Permissions::from_mode(0o644)).unwrap();
    folder
}

/// What `remembrancer instruct` in `folder` says, and whether it did all.
fn instruct(sandbox: &Sandbox, folder: &Path, arguments: &[&str]) -> (String, bool) {
    let folder = folder.to_str().unwrap();
    let output = sandbox.run(&[&["instruct", folder], arguments].concat());
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    (said.concat(), output.status.success())
}

fn read(folder: &Path, file: &str) -> String {
    fs_err::read_to_string(folder.join(file)).unwrap()
}

fn git(folder: &Path, arguments: &[&str]) {
    let status = Command::new("git").arg("-C").arg(folder).args(arguments).status().unwrap();
    assert!(status.success(), "{arguments:?}");
}

#[test]
fn a_file_follows_the_project_and_is_given_back() {
    let sandbox = sandbox!();
    let folder = shop(&sandbox);
    let daemon = sandbox.start();
    daemon.flush();
    let (said, done) = instruct(&sandbox, &folder, &["--agent", "codex", "--agent", "cursor", "--yes"]);
    assert!(done, "{said}");
    let rule = ".cursor/rules/remembrancer.mdc";
    let (agents, cursor) = (read(&folder, "AGENTS.md"), read(&folder, rule));
    assert!(
        agents.starts_with(&format!("{RULES}\n<remembrancer-recollections>\n")) && agents.contains("case0 "),
        "{agents}"
    );
    assert!(
        cursor.starts_with("---\n") && cursor.contains("alwaysApply: true\n---\n\n<remembrancer") && cursor.contains("case0 ")
    );
    let metadata = fs_err::metadata(folder.join("AGENTS.md")).unwrap();
    assert_eq!(metadata.permissions().mode() & 0o777, 0o644);
    daemon.flush();
    assert_eq!(
        fs_err::metadata(folder.join("AGENTS.md")).unwrap().ino(),
        metadata.ino(),
        "nothing changed, nothing is written"
    );

    sandbox.transcript("second", "shop").on_day(2).topics(1..2);
    eventually("the next turn in the file", PATIENCE, || {
        read(&folder, "AGENTS.md").contains("case1 ").then_some(())
    });
    assert!(read(&folder, rule).contains("case1 "));

    sandbox.json(&["forget", "--session", "second", "--yes"]);
    for file in ["AGENTS.md", rule] {
        assert!(
            !read(&folder, file).contains("case1 "),
            "{file} still shows what is forgotten"
        );
    }
    assert!(
        sandbox.json(&["status"])["instructed"]
            .as_array()
            .is_some_and(|files| files.len() == 2)
    );
    let (said, done) = instruct(&sandbox, &folder, &["--remove", "--yes"]);
    assert!(done, "{said}");
    assert_eq!(read(&folder, "AGENTS.md"), RULES);
    assert!(!folder.join(".cursor").exists());
    assert_eq!(sandbox.json(&["instruct", "--list"])["files"], serde_json::json!([]));
}

#[test]
fn a_pause_and_an_exclusion_keep_a_file_silent() {
    let sandbox = sandbox!();
    let folder = shop(&sandbox);
    let daemon = sandbox.start();
    daemon.flush();
    assert!(instruct(&sandbox, &folder, &["--agent", "codex", "--yes"]).1);
    sandbox.json(&["pause"]);
    let before = read(&folder, "AGENTS.md");
    daemon.flush();
    assert_eq!(read(&folder, "AGENTS.md"), before);
    sandbox.json(&["resume"]);
    sandbox.json(&["exclude", folder.to_str().unwrap()]);
    assert!(read(&folder, "AGENTS.md").contains("has none now"));
    sandbox.json(&["include", folder.to_str().unwrap()]);
    daemon.flush();
    assert_eq!(read(&folder, "AGENTS.md"), before);
}

#[test]
fn an_import_keeps_what_is_remembered_out_of_the_shared_file() {
    let sandbox = sandbox!();
    let folder = shop(&sandbox);
    fs_err::write(folder.join("GEMINI.md"), RULES).unwrap();
    let daemon = sandbox.start();
    daemon.flush();
    assert!(instruct(&sandbox, &folder, &["--agent", "gemini-cli", "--agent", "qwen-code", "--yes"]).1);
    assert_eq!(read(&folder, "GEMINI.md"), format!("{RULES}\n@./.remembrancer.md\n"));
    assert!(read(&folder, ".remembrancer.md").contains("case0 "));
    assert!(instruct(&sandbox, &folder, &["--remove", "--agent", "qwen-code", "--yes"]).1);
    assert!(
        !folder.join("QWEN.md").exists() && folder.join(".remembrancer.md").exists(),
        "another imports it still"
    );
    daemon.stop(Signal::TERM);

    // Without a daemon, what is forgotten goes all the same.
    sandbox.json(&["forget", "--session", "first", "--yes"]);
    assert!(read(&folder, ".remembrancer.md").contains("has none now"));
    assert!(instruct(&sandbox, &folder, &["--remove", "--yes"]).1);
    assert_eq!(read(&folder, "GEMINI.md"), RULES);
    assert!(!folder.join(".remembrancer.md").exists());
    assert!(
        !instruct(&sandbox, &folder, &["--remove", "--yes"]).1,
        "there is nothing left"
    );
}

#[test]
fn a_tracked_file_is_written_only_when_that_is_asked_for() {
    let sandbox = sandbox!();
    let folder = shop(&sandbox);
    git(&folder, &["init", "--quiet"]);
    git(&folder, &["add", "AGENTS.md"]);
    let (said, done) = instruct(&sandbox, &folder, &["--agent", "codex", "--yes"]);
    assert!(!done && said.contains("AGENTS.md is tracked by git"), "{said}");
    assert_eq!(read(&folder, "AGENTS.md"), RULES);
    let (said, done) = instruct(&sandbox, &folder, &["--agent", "codex", "--tracked", "--dry-run"]);
    assert!(done && said.contains("\n+<remembrancer-recollections>\n"), "{said}");
    assert_eq!(read(&folder, "AGENTS.md"), RULES);

    let exclude = read(&folder, ".git/info/exclude");
    let (said, done) = instruct(&sandbox, &folder, &["--agent", "cline", "--agent", "windsurf", "--yes"]);
    assert!(done && said.contains("git sees "), "{said}");
    let (said, done) = instruct(
        &sandbox,
        &folder,
        &["--agent", "cline", "--agent", "windsurf", "--git-exclude", "--yes"],
    );
    assert!(done && !said.contains("git sees "), "{said}");
    let status = Command::new("git")
        .arg("-C")
        .arg(&folder)
        .args(["status", "--porcelain"])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(status.stdout).unwrap(), "A  AGENTS.md\n");
    let (said, done) = instruct(&sandbox, &folder, &["--remove", "--yes"]);
    assert!(done, "{said}");
    assert_eq!(read(&folder, ".git/info/exclude"), exclude);
    assert!(!folder.join(".clinerules").exists() && !folder.join(".windsurf").exists());
}

#[test]
fn a_file_that_was_edited_is_left_alone_and_said() {
    let sandbox = sandbox!();
    let folder = shop(&sandbox);
    let daemon = sandbox.start();
    daemon.flush();
    assert!(instruct(&sandbox, &folder, &["--agent", "codex", "--file", "docs/memory.md", "--yes"]).1);
    // One taken out, one with half of its markers.
    fs_err::write(folder.join("AGENTS.md"), RULES).unwrap();
    let memory = read(&folder, "docs/memory.md").replace("</remembrancer-recollections>\n", "");
    fs_err::write(folder.join("docs/memory.md"), &memory).unwrap();
    sandbox.transcript("second", "shop").on_day(2).topics(1..2);
    daemon.flush();
    assert_eq!(
        (read(&folder, "AGENTS.md").as_str(), read(&folder, "docs/memory.md")),
        (RULES, memory)
    );
    let problems = daemon.status()["problems"].to_string();
    assert!(problems.contains("holds nothing of Remembrancer any more"), "{problems}");
    assert!(
        problems.contains("opens a block of Remembrancer that no line closes"),
        "{problems}"
    );
    let forgotten = sandbox.run(&["forget", "--session", "first", "--yes"]);
    let said = String::from_utf8(forgotten.stderr).unwrap();
    assert!(
        !forgotten.status.success() && said.contains("docs/memory.md"),
        "it still shows it: {said}"
    );
    assert!(!said.contains("AGENTS.md"), "that one shows nothing: {said}");
    assert_eq!(sandbox.prompts(), [topic(1).0], "it is forgotten all the same");
}
