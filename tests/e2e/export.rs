//! `export`: every episode once, in lines that are read again, in a file of the user's own.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;

use remembrancer_tests::{Sandbox, sandbox, topic};
use rustix::process::Signal;
use serde_json::{Value, json};

const STORED: u32 = 700;

fn stored(sandbox: &Sandbox) {
    for session in 0..4 {
        sandbox
            .transcript(&format!("s{session}"), if session == 0 { "secret" } else { "shop" })
            .on_day(1 + 2 * session)
            .topics(session * STORED / 4..(session + 1) * STORED / 4);
    }
    sandbox
        .transcript("odd", "shop")
        .on_day(20)
        .turn(
            "Why does the \u{1b}[31mred\u{1b}[0m line of case-odd blink?\u{202e}",
            "It held an escape.\n\n# Not a heading\n\u{7}",
        )
        .tool("Bash", &json!({"command": "make test"}), "ok", false);
}

fn lines(bytes: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(bytes).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn export(sandbox: &Sandbox, arguments: &[&str]) -> Vec<Value> {
    let output = sandbox.run(&[&["export"], arguments].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    lines(&output.stdout)
}

#[test]
fn every_episode_is_written_once_and_comes_back_as_it_is_stored() {
    let sandbox = sandbox!();
    stored(&sandbox);
    let daemon = sandbox.start();
    daemon.flush();
    let exported = export(&sandbox, &[]);
    let episodes = sandbox.episodes();
    assert_eq!(exported.len(), episodes.len());
    let times: Vec<i64> = exported.iter().map(|line| line["at_ms"].as_i64().unwrap()).collect();
    assert!(times.is_sorted(), "oldest first");
    for episode in &episodes {
        let uid = episode.uid.to_string();
        let line: Vec<&Value> = exported.iter().filter(|line| line["id"] == uid.as_str()).collect();
        assert_eq!(line.len(), 1, "{uid}");
        let line = line[0];
        assert_eq!(
            (line["v"].as_i64(), line["prompt"].as_str()),
            (Some(1), Some(&*episode.prompt))
        );
        assert_eq!(line["answer"].as_str(), Some(&*episode.answer));
        assert_eq!(line["facets"], serde_json::to_value(&episode.facets).unwrap());
        assert_eq!(
            (line["session"].as_str(), line["project"].as_str()),
            (Some(&*episode.session), episode.project_name.as_deref())
        );
    }
    // Every member is in the table of the documentation.
    let documentation = include_str!("../../docs/export.md");
    for member in exported[0].as_object().unwrap().keys() {
        assert!(documentation.contains(&format!("| `{member}` |")), "{member}");
    }
    daemon.stop(Signal::TERM);
    // (Some may have got their vectors meanwhile.)
    let texts = |lines: &[Value]| -> Vec<Value> {
        lines
            .iter()
            .map(|line| json!([line["id"], line["prompt"], line["answer"]]))
            .collect()
    };
    assert_eq!(
        texts(&export(&sandbox, &["-"])),
        texts(&exported),
        "the same without a daemon"
    );
}

#[test]
fn a_part_is_chosen_as_for_forget() {
    let sandbox = sandbox!();
    stored(&sandbox);
    let daemon = sandbox.start();
    daemon.flush();
    let sessions = |arguments: &[&str]| -> BTreeSet<String> {
        let lines = export(&sandbox, arguments);
        lines
            .iter()
            .map(|line| line["session"].as_str().unwrap().to_owned())
            .collect()
    };
    let of = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(sessions(&["--session", "s1"]), of(&["s1"]));
    assert_eq!(sessions(&["--project", "secret"]), of(&["s0"]));
    assert_eq!(
        sessions(&["--project", "shop", "--after", "2026-08-04", "--before", "2026-08-10"]),
        of(&["s2", "s3"])
    );
    assert_eq!(export(&sandbox, &["--matching", "case42 "]).len(), 1);
    assert_eq!(export(&sandbox, &["--last", "1h"]).len(), 0);
    assert_eq!(sandbox.run(&["export", "--session", "nosuch"]).status.code(), Some(3));

    sandbox.json(&["exclude", &sandbox.project("secret")]);
    let all = sandbox.episodes().len() + STORED as usize / 4;
    let output = sandbox.run(&["export"]);
    assert_eq!(lines(&output.stdout).len(), all - STORED as usize / 4);
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("175 episodes that are hidden"),
        "{output:?}"
    );
    let with_excluded = export(&sandbox, &["--with-excluded"]);
    assert_eq!(
        with_excluded.iter().filter(|line| line["excluded"] == true).count(),
        STORED as usize / 4
    );
    assert_eq!(with_excluded.len(), all);
    daemon.stop(Signal::TERM);
}

#[test]
fn a_file_is_private_and_never_written_over() {
    let sandbox = sandbox!();
    sandbox.transcript("live", "shop").turn(&topic(0).0, &topic(0).1);
    let daemon = sandbox.start();
    daemon.flush();
    let file = sandbox.home().join("memory.jsonl");
    let path = file.to_str().unwrap();
    let run = |arguments: &[&str]| sandbox.run(&[&["export", path], arguments].concat());
    let output = run(&[]);
    assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("Wrote 1 episode to "),
        "{output:?}"
    );
    assert_eq!(fs_err::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(lines(&fs_err::read(&file).unwrap()).len(), 1);

    fs_err::write(&file, "mine").unwrap();
    let output = run(&[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--force"), "{output:?}");
    assert_eq!(fs_err::read_to_string(&file).unwrap(), "mine");
    assert!(run(&["--force", "--format", "markdown"]).status.success());
    let markdown = fs_err::read_to_string(&file).unwrap();
    assert!(
        markdown.starts_with("## 2026-08-01T") && markdown.contains("\n> Why does the parser of case0 "),
        "{markdown}"
    );
    assert_eq!(fs_err::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let beside: Vec<_> = fs_err::read_dir(sandbox.home())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert!(
        beside.iter().all(|name| !name.to_string_lossy().contains(".part")),
        "{beside:?}"
    );
    let output = sandbox.run(&["export", sandbox.home().join("no/such/folder/x").to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    drop(daemon);
}

#[test]
fn markdown_obeys_nothing_that_was_said() {
    let sandbox = sandbox!();
    stored(&sandbox);
    let daemon = sandbox.start();
    daemon.flush();
    let output = sandbox.run(&["export", "--format", "markdown", "--session", "odd"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        !text.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}'),
        "{text:?}"
    );
    assert_eq!(text.lines().filter(|line| line.starts_with('#')).count(), 1, "{text}");
    assert!(text.contains("\n> # Not a heading\n"), "{text}");
    drop(daemon);
}
