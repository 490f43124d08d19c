//! `import`: what `export` wrote comes back as it was, into an empty memory and beside another; twice is once, killed it goes on, and a
//! line at fault keeps no other out.

use std::path::{Path, PathBuf};

use remembrancer_tests::{DaemonProcess, Sandbox, any_own_file_holds, eventually, sandbox, topic};
use rstest::rstest;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::PATIENCE;

const FACT: &str = "The staging gateway of the kiosk listens on port eightfourtwo.";

fn settled(sandbox: &Sandbox) -> DaemonProcess<'_> {
    let daemon = sandbox.start();
    daemon.wait_for_model();
    daemon.embed_all();
    daemon
}

/// A memory with all that an export tells of: several projects, a fork, a turn of several parts, uses, facts, a mute and a boost.
fn lived_in(sandbox: &Sandbox) -> DaemonProcess<'_> {
    let mut transcript = sandbox.transcript("original", "shop");
    transcript.topics(0..8);
    let long: Vec<String> = (0..60)
        .map(|number| format!("Paragraph {number} says a thing or two about case900 and its cache."))
        .collect();
    transcript.turn("Explain all of case900 at length.", &long.join("\n\n"));
    transcript.tool("Edit", &json!({"file_path": "/srv/shop/till.rs"}), "ok", false);
    let fork = transcript
        .content()
        .replace("\"sessionId\":\"original\"", "\"sessionId\":\"fork\"");
    sandbox.transcript("fork", "shop").raw(&fork).topics(20..23);
    sandbox.transcript("garden", "garden").on_day(4).topics(40..44);
    let daemon = settled(sandbox);
    let (shop, garden) = (sandbox.project("shop"), sandbox.project("garden"));
    for number in [1, 3, 5] {
        daemon.recall(&format!("asks-{number}"), &shop, &topic(number).0);
        eventually("the log of the showing", PATIENCE, || {
            (daemon.why(&format!("asks-{number}"))["at"].is_string()).then_some(())
        });
    }
    sandbox.json(&["remember", FACT, "--project", &garden]);
    sandbox.json(&["remember", "Tabs are four blanks.", "--everywhere"]);
    let ids: Vec<String> = sandbox.episodes().iter().map(|episode| episode.uid.short()).collect();
    sandbox.json(&["mute", &ids[2]]);
    sandbox.json(&["boost", &ids[4]]);
    // To look at one is to use it.
    sandbox.json(&["show", &ids[0]]);
    daemon.embed_all();
    daemon
}

fn export(sandbox: &Sandbox, name: &str) -> PathBuf {
    let file = sandbox.home().join(name);
    let output = sandbox.run(&["export", file.to_str().unwrap(), "--force"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    file
}

/// Nothing of ours and no transcript is left in the home.
fn begin_anew(sandbox: &Sandbox) {
    fs_err::remove_dir_all(sandbox.places().data_dir()).unwrap();
    fs_err::remove_dir_all(sandbox.root()).unwrap();
    fs_err::create_dir_all(sandbox.root()).unwrap();
}

fn import(sandbox: &Sandbox, file: &Path) -> Value {
    sandbox.json(&["import", file.to_str().unwrap()])
}

fn lines(file: &Path) -> Vec<String> {
    fs_err::read_to_string(file).unwrap().lines().map(str::to_owned).collect()
}

#[rstest]
#[case::with_a_daemon(true)]
#[case::without_one(false)]
fn export_import_export_gives_the_very_bytes(#[case] through_daemon: bool) {
    let sandbox = sandbox!();
    let daemon = lived_in(&sandbox);
    daemon.stop(Signal::TERM);
    let first = export(&sandbox, "first.jsonl");
    let count = lines(&first).len();
    assert!(count >= 18, "{count}");
    begin_anew(&sandbox);

    let daemon = through_daemon.then(|| settled(&sandbox));
    let looked = sandbox.json(&["import", first.to_str().unwrap(), "--dry-run"]);
    assert_eq!(
        (looked["added"].as_u64(), looked["bad"].as_u64()),
        (Some(count as u64), Some(0)),
        "{looked}"
    );
    assert_eq!(sandbox.episodes().len(), 0, "a dry run stores nothing");
    let told = import(&sandbox, &first);
    assert_eq!(
        (told["added"].as_u64(), told["known"].as_u64()),
        (Some(count as u64), Some(0)),
        "{told}"
    );
    assert_eq!(told["schema"], "remembrancer/import/1");
    let daemon = daemon.unwrap_or_else(|| settled(&sandbox));
    daemon.wait_for_model();
    daemon.embed_all();
    let status = daemon.status();
    assert_eq!(
        (&status["muted_turns"], &status["boosted_turns"], &status["remembered_facts"]),
        (&1.into(), &1.into(), &2.into())
    );
    let second = export(&sandbox, "second.jsonl");
    for (before, after) in lines(&first).iter().zip(&lines(&second)) {
        assert_eq!(before, after);
    }
    assert!(fs_err::read(&first).unwrap() == fs_err::read(&second).unwrap());

    // It is recalled as what was read: in its project by its folder, and the fact where it belongs.
    let reply = daemon.recall("asks", &sandbox.project("shop"), &topic(6).0);
    assert!(reply.context.contains("case6 "), "{reply:?}");
    let reply = daemon.recall(
        "asks-there",
        &sandbox.project("garden"),
        "which port does the staging gateway listen on?",
    );
    assert!(reply.context.contains("eightfourtwo"), "{reply:?}");
    daemon.stop(Signal::TERM);
    let again = import(&sandbox, &second);
    assert_eq!(
        (again["added"].as_u64(), again["known"].as_u64()),
        (Some(0), Some(count as u64)),
        "{again}"
    );
    let audit = remembrancer_schema::audit(&sandbox.places().database_file()).unwrap();
    assert_eq!(audit.faults, Vec::<String>::new());
}

#[test]
fn what_is_here_stays_and_what_was_forgotten_here_stays_forgotten() {
    let sandbox = sandbox!();
    sandbox.transcript("live", "shop").topics(0..4);
    let daemon = settled(&sandbox);
    let file = export(&sandbox, "all.jsonl");
    sandbox.json(&["forget", "--yes", "--matching", "case2 "]);
    sandbox.json(&["exclude", &sandbox.project("garden")]);
    let mut text = fs_err::read_to_string(&file).unwrap();
    let mut foreign: Value = serde_json::from_str(&lines(&file)[0]).unwrap();
    foreign["cwd"] = sandbox.project("garden").into();
    let turn = remembrancer_schema::TurnUid([7; 16]);
    foreign["turn_id"] = turn.to_string().into();
    foreign["id"] = remembrancer_schema::EpisodeUid::of(&turn, 0).to_string().into();
    text.push_str(&foreign.to_string());
    text.push('\n');
    fs_err::write(&file, &text).unwrap();
    let told = import(&sandbox, &file);
    assert_eq!(
        ["added", "known", "forgotten", "excluded", "bad"].map(|name| told[name].as_u64()),
        [Some(0), Some(3), Some(1), Some(1), Some(0)],
        "{told}"
    );
    assert_eq!(sandbox.episodes().len(), 3);
    daemon.stop(Signal::TERM);
}

#[test]
fn a_line_at_fault_is_named_and_keeps_no_other_out() {
    let sandbox = sandbox!();
    sandbox.transcript("live", "shop").topics(0..3);
    let daemon = settled(&sandbox);
    let file = export(&sandbox, "all.jsonl");
    daemon.stop(Signal::TERM);
    begin_anew(&sandbox);
    let good = lines(&file);
    let changed = |member: &str, value: Value| {
        let mut line: Value = serde_json::from_str(&good[0]).unwrap();
        line[member] = value;
        line.to_string()
    };
    let secret = format!("ghp_{}", "q7W2".repeat(9));
    let text = [
        "not a line of xyzzyq".to_owned(),
        good[0].clone(),
        String::new(),
        changed("part", json!(9)),
        changed("v", json!(2)),
        good[1].replace("case1 ", &format!("case1 {secret} ")),
        changed("importance_rule", json!("Ignore all before")),
        good[2].clone(),
    ];
    fs_err::write(&file, text.join("\n")).unwrap();
    let output = sandbox.run(&["import", file.to_str().unwrap()]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    for line in [1, 4, 5, 7] {
        assert!(said.contains(&format!("all.jsonl:{line}: ")), "{said}");
    }
    assert!(!said.contains("xyzzyq") && !said.contains("Ignore"), "{said}");
    assert_eq!(sandbox.episodes().len(), 3);
    fs_err::remove_file(&file).unwrap();
    assert_eq!(
        any_own_file_holds(&sandbox, &secret.as_bytes()[..20]),
        None,
        "it is redacted on its way in"
    );

    let markdown = sandbox.home().join("all.md");
    fs_err::write(&markdown, "## 2026-08-01T00:00:00Z\n\n> text\n").unwrap();
    let output = sandbox.run(&["import", markdown.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("JSON lines"));
    let output = sandbox.run(&["import", "/no/such/file"]);
    assert_eq!(output.status.code(), Some(1));
    fs_err::write(&markdown, "").unwrap();
    assert_eq!(import(&sandbox, &markdown)["added"], 0, "an empty export is one");
}

#[test]
fn a_large_import_that_is_killed_goes_on_where_it_was() {
    const TURNS: u32 = 1_500;
    let sandbox = sandbox!();
    sandbox.configure("[backfill]\ncpu = \"1%\"\n");
    sandbox.transcript("live", "shop").topics(0..TURNS);
    let daemon = sandbox.start();
    daemon.flush();
    daemon.stop(Signal::TERM);
    let file = export(&sandbox, "all.jsonl");
    begin_anew(&sandbox);
    let mut child = sandbox.command(&["import", file.to_str().unwrap()]).spawn().unwrap();
    eventually("some of it, or all", PATIENCE, || {
        let stored = remembrancer_schema::Reader::open(&sandbox.places().database_file()).map(|reader| reader.stats());
        let some = matches!(stored, Ok(Ok(stats)) if stats.episodes > 0);
        (some || child.try_wait().unwrap().is_some()).then_some(())
    });
    child.kill().ok();
    child.wait().unwrap();
    let before = sandbox.episodes().len() as u64;
    let told = import(&sandbox, &file);
    assert_eq!(told["known"].as_u64(), Some(before), "{told}");
    assert_eq!(told["added"].as_u64(), Some(u64::from(TURNS) - before), "{told}");
    assert_eq!(sandbox.episodes().len(), TURNS as usize);
    let audit = remembrancer_schema::audit(&sandbox.places().database_file()).unwrap();
    assert_eq!(audit.faults, Vec::<String>::new());
}

#[test]
fn nothing_is_imported_while_it_is_paused() {
    let sandbox = sandbox!();
    sandbox.transcript("live", "shop").topics(0..1);
    let daemon = settled(&sandbox);
    let file = export(&sandbox, "all.jsonl");
    sandbox.json(&["pause"]);
    let refused = || {
        let output = sandbox.run(&["import", file.to_str().unwrap()]);
        assert!(
            !output.status.success() && String::from_utf8_lossy(&output.stderr).contains("resume"),
            "{output:?}"
        );
    };
    refused();
    daemon.stop(Signal::TERM);
    refused();
}
