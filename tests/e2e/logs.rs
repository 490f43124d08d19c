//! `logs`: the daemon's log wherever it goes, by level and as JSON, and what is said where there is none.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use remembrancer_tests::{Sandbox, sandbox};
use rustix::process::Signal;
use serde_json::Value;

/// A unit of systemd's in this home, and a `journalctl` that says what it was asked and three lines.
fn with_journal(sandbox: &Sandbox) -> String {
    let units = sandbox.home().join(".config/systemd/user");
    fs_err::create_dir_all(&units).unwrap();
    fs_err::write(units.join("remembrancer.service"), "[Service]\n").unwrap();
    let programs = sandbox.home().join("bin");
    fs_err::create_dir_all(&programs).unwrap();
    let journal = programs.join("journalctl");
    let lines = "echo \"$*\" > \"$HOME/asked\"\n\
         echo '2026-11-29T06:00:00.000000Z  INFO it began'\n\
         echo '2026-11-29T06:00:01.000000Z  WARN it was slow'\n\
         echo '2026-11-29T06:00:02.000000Z  INFO it went on'\n";
    fs_err::write(&journal, format!("#!/bin/sh\n{lines}")).unwrap();
    fs_err::set_permissions(&journal, std::fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:/usr/bin:/bin", programs.display())
}

#[test]
fn the_file_of_a_running_daemon_is_found_and_its_last_lines_shown() {
    if !cfg!(target_os = "linux") {
        eprintln!("skipped: only Linux tells where a daemon's standard error goes");
        return;
    }
    let sandbox = sandbox!();
    let daemon = sandbox.start();
    daemon.wait_for_model();
    let said = String::from_utf8(sandbox.run(&["logs"]).stdout).unwrap();
    assert!(
        !said.is_empty() && daemon.log().contains(said.lines().next().unwrap()),
        "{said}"
    );
    let one = String::from_utf8(sandbox.run(&["logs", "-n", "1"]).stdout).unwrap();
    assert_eq!(one.lines().count(), 1, "{one}");
    let told = sandbox.json(&["logs", "--level", "info"]);
    let lines = told["lines"].as_array().unwrap();
    assert!(
        !lines.is_empty() && lines.iter().all(|line| line["level"] != "debug"),
        "{told:#}"
    );
    assert!(lines[0]["at"].is_string(), "{told:#}");
    let errors = sandbox.json(&["logs", "--level", "error"]);
    assert_eq!(errors["lines"].as_array().map(Vec::len), Some(0), "{errors:#}");
}

#[test]
fn what_is_logged_from_now_on_is_followed() {
    if !cfg!(target_os = "linux") {
        eprintln!("skipped: only Linux tells where a daemon's standard error goes");
        return;
    }
    let sandbox = sandbox!();
    let daemon = sandbox.start();
    let mut following = sandbox
        .command(&["logs", "--follow", "-n", "1", "--json"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(following.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    // The last line is there once the file is open: what comes now is followed.
    let last = next();
    assert_eq!(last["schema"], "remembrancer/logs/1");
    daemon.signal(Signal::TERM);
    let added = next();
    assert!(added["text"].is_string() && added["text"] != last["text"], "{added}");
    following.kill().unwrap();
    following.wait().unwrap();
}

#[test]
fn the_journal_is_asked_where_a_service_is_set_up() {
    if cfg!(target_os = "macos") {
        eprintln!("skipped: there is no systemd");
        return;
    }
    let sandbox = sandbox!();
    let path = with_journal(&sandbox);
    let run = |arguments: &[&str]| {
        let output = sandbox.command(arguments).env("PATH", &path).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(run(&["logs"]).lines().count(), 3);
    let asked = fs_err::read_to_string(sandbox.home().join("asked")).unwrap();
    assert!(
        asked.contains("--user -u remembrancer") && asked.contains("-n 100"),
        "{asked}"
    );
    let warnings = run(&["logs", "--level", "warn"]);
    assert!(
        warnings.contains("it was slow") && warnings.lines().count() == 1,
        "{warnings}"
    );
    let told: Value = serde_json::from_str(&run(&["logs", "--json"])).unwrap();
    assert_eq!(
        (&told["lines"][1]["level"], told["lines"].as_array().unwrap().len()),
        (&"warn".into(), 3)
    );
    assert_eq!(
        run(&["logs", "--follow", "-n", "1"]).lines().count(),
        4,
        "one of the last, and then three"
    );
}

#[test]
fn without_a_log_it_is_said_what_to_do() {
    let sandbox = sandbox!();
    let output = sandbox.run(&["logs"]);
    assert_eq!(output.status.code(), Some(3));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("there is no log") && said.contains("hint: "), "{said}");
}
