//! `--json`: what every command prints is an object that names its form, and every member of it is in `docs/json.md`.

use std::collections::BTreeSet;

use remembrancer_tests::{Sandbox, sandbox, topic};
use rustix::process::Signal;
use serde_json::{Value, json};

const PAGE: &str = include_str!("../../docs/json.md");

/// The members that the page tells of `command`.
fn documented(command: &str) -> Vec<String> {
    let Some((_, section)) = PAGE.split_once(&format!("\n## `{command}`\n")) else {
        panic!("docs/json.md has no section on {command}");
    };
    let section = section.split("\n## ").next().unwrap();
    let cells = section
        .lines()
        .filter(|line| line.starts_with("| `"))
        .filter_map(|line| line.split('|').nth(1));
    cells
        .flat_map(|cell| cell.split('`').skip(1).step_by(2).map(str::to_owned))
        .collect()
}

/// Every member of `value`, with the way to it.
fn members(value: &Value, way: &str, all: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                let way = if way.is_empty() {
                    name.clone()
                } else {
                    format!("{way}.{name}")
                };
                members(value, &way, all);
                all.insert(way);
            }
        }
        Value::Array(parts) => {
            for part in parts {
                members(part, &format!("{way}[]"), all);
            }
        }
        _ => {}
    }
}

/// `*` stands for one name, which is data; `**` for all that is below.
fn is_told(member: &str, told: &str) -> bool {
    let (mut names, mut patterns) = (member.split('.'), told.split('.'));
    loop {
        match (names.next(), patterns.next()) {
            (None, None) | (Some(_), Some("**")) => return true,
            (Some(_), Some("*")) => {}
            (Some(name), Some(pattern)) if name == pattern => {}
            _ => return false,
        }
    }
}

/// Checks what `command` printed.
fn check(command: &str, printed: &Value) {
    assert_eq!(printed["schema"], format!("remembrancer/{command}/1"), "{printed:#}");
    let told = documented(command);
    let mut all = BTreeSet::new();
    members(printed, "", &mut all);
    let untold: Vec<&String> = all
        .iter()
        .filter(|member| *member != "schema" && !told.iter().any(|told| is_told(member, told)))
        .collect();
    assert!(
        untold.is_empty(),
        "docs/json.md tells nothing of {untold:?} of {command}: {printed:#}"
    );
}

#[test]
fn a_member_is_told_by_its_way() {
    assert!(is_told("a.b[].c", "a.b[].c") && is_told("a.x.c", "a.*.c") && is_told("a.x.y", "a.**"));
    assert!(!is_told("a", "a.**") && !is_told("a.b", "a") && !is_told("a.x.d", "a.*.c"));
}

fn stored(sandbox: &Sandbox) {
    sandbox.transcript("older", "shop").topics(0..6);
    let (prompt, answer) = topic(0);
    sandbox.transcript("again", "shop").on_day(2).turn(&prompt, &answer);
    sandbox
        .transcript("odd", "attic")
        .topics(7..8)
        .raw("{\"type\": \"thought-stream\", \"uuid\": \"u1\"}\n")
        .raw("no json\n");
}

#[test]
fn every_member_that_is_printed_is_documented() {
    let sandbox = sandbox!();
    sandbox.configure("[retention]\nmax_age = \"20y\"\nmax_size = \"1GB\"\n");
    stored(&sandbox);
    let (shop, attic) = (sandbox.project("shop"), sandbox.project("attic"));
    let daemon = sandbox.start();
    daemon.wait_for_model();
    daemon.embed_all();
    let reply = daemon.recall("asks", &shop, &topic(2).0);
    daemon.why("asks");
    let id = reply.shown[0].id.clone();
    let run = |command: &str, arguments: &[&str]| check(command, &sandbox.json(arguments));
    let prompt = topic(3).0;
    for with_daemon in [true, false] {
        run("status", &["status"]);
        run("why", &["why"]);
        run("show", &["show", &id]);
        run("recall", &["recall", &prompt, "--cwd", &shop]);
        run("recall", &["recall", "ok"]);
        run("audit", &["audit"]);
        run("stats", &["stats"]);
        run("pause", &["pause", "--for", "2h"]);
        run("resume", &["resume"]);
        run("exclude", &["exclude", &attic]);
        run("exclude", &["exclude", "--list"]);
        run("include", &["include", &attic]);
        run("backup", &["backup"]);
        run("search", &["search", &prompt]);
        run("timeline", &["timeline", "--limit", "2"]);
        run("sessions", &["sessions"]);
        run("share-status", &["share", "status"]);
        run("share-projects", &["share", "projects"]);
        run("last", &["last"]);
        run("explanations", &["explain", "--list"]);
        for how in ["mute", "boost"] {
            run(how, &[how, &id]);
            run(how, &[how, "--list"]);
            let back = format!("un{how}");
            run(&back, &[&back, &id]);
        }
        run("remember", &["remember", "--everywhere", "Ports below 1024 are not ours."]);
        run("instruct", &["instruct", "--list"]);
        run("config", &["config"]);
        run("config", &["config", "show"]);
        run("config-check", &["config", "check"]);
        run("config-path", &["config", "path"]);
        run("forget", &["forget", "--session", "older", "--dry-run"]);
        if with_daemon {
            run("forget", &["forget", "--session", "again", "--yes"]);
            if cfg!(target_os = "linux") {
                run("logs", &["logs"]);
            }
            // It fails where no agent is set up, and prints all the same.
            let output = sandbox.run(&["doctor", "--json"]);
            check("doctor", &serde_json::from_slice(&output.stdout).unwrap());
            let output = sandbox.run(&["doctor", "--fix", "--dry-run", "--json"]);
            check("doctor", &serde_json::from_slice(&output.stdout).unwrap());
            daemon.signal(Signal::TERM);
            remembrancer_tests::eventually("the daemon's end", crate::PATIENCE, || {
                sandbox.json(&["status"])["daemon"].is_null().then_some(())
            });
        }
    }
    run("forget", &["forget", "--session", "odd", "--yes"]);
    run("restore", &["restore", "--latest", "--yes"]);
    let exported = String::from_utf8(sandbox.run(&["export"]).stdout).unwrap();
    let line: Value = serde_json::from_str(exported.lines().next().unwrap()).unwrap();
    assert_eq!(line["v"], 1, "an export has a version of its own: docs/export.md");
}

#[test]
fn an_evaluation_is_documented_too() {
    let sandbox = sandbox!();
    let set = sandbox.home().join("set");
    fs_err::create_dir_all(set.join("qrels")).unwrap();
    let lines = |of: &dyn Fn(u32) -> String| (0..6).map(of).collect::<Vec<_>>().join("\n");
    let corpus =
        lines(&|number| json!({"_id": format!("d{number}"), "title": topic(number).0, "text": topic(number).1}).to_string());
    let queries = lines(&|number| json!({"_id": format!("q{number}"), "text": topic(number).0}).to_string());
    let judged = lines(&|number| format!("q{number}\td{number}\t1"));
    fs_err::write(set.join("corpus.jsonl"), corpus).unwrap();
    fs_err::write(set.join("queries.jsonl"), queries).unwrap();
    fs_err::write(set.join("qrels/test.tsv"), format!("query-id\tcorpus-id\tscore\n{judged}")).unwrap();
    let set = set.to_str().unwrap();
    check("eval", &sandbox.json(&["eval", set, "--compare", "rrf,recency"]));
    check("eval", &sandbox.json(&["eval", set, "--sweep"]));
}

#[test]
fn every_command_with_json_has_a_section() {
    let sandbox = sandbox!();
    let help = String::from_utf8(sandbox.run(&["--help"]).stdout).unwrap();
    let commands = help.split_once("Commands:\n").unwrap().1.split("\n\n").next().unwrap();
    let names = commands
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next().filter(|name| !name.is_empty()));
    let mut with_json = 0;
    for name in names.filter(|name| *name != "help") {
        let help = String::from_utf8(sandbox.run(&[name, "--help"]).stdout).unwrap();
        if help.contains("--json") {
            with_json += 1;
            assert!(!documented(name).is_empty(), "{name}");
        }
    }
    assert!(with_json > 12, "{with_json}");
}
