//! A database that is damaged under the daemon, or while none runs: set aside at the next start, made anew from all that is left, and
//! never silently. What the user decided holds, and what was forgotten stays so.

use std::ops::Range;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use remembrancer_hooks::protocol::Request;
use remembrancer_tests::{DaemonProcess, Sandbox, any_file_holds, eventually, sandbox, topic};
use rstest::rstest;
use rustix::process::Signal;
use serde_json::Value;

use crate::PATIENCE;

const PAGE: usize = 8_192;
/// The topics of the transcript that is deleted, of the one that stays, and of the one that is kept out.
const GONE: Range<u32> = 0..60;
const LIVE: Range<u32> = 100..140;
const HIDDEN: Range<u32> = 300..303;
/// More of those that stay, where the end of the file is cut off: it begins with a page of each table, and what is stored first must not
/// all stand at its end.
const MANY: Range<u32> = 100..260;
/// One of those that stay, which the user forgets.
const FORGOTTEN: u32 = 110;

/// A memory of three transcripts, of which one is deleted since; the user has forgotten a turn, kept a folder out and made a pause.
fn lived_in(sandbox: &Sandbox, end: Signal) -> Lived {
    lived_in_with(sandbox, LIVE, end)
}

/// As [`lived_in`], with these topics that stay.
fn lived_in_with(sandbox: &Sandbox, live: Range<u32>, end: Signal) -> Lived {
    sandbox.transcript("gone", "shop").topics(GONE);
    let daemon = sandbox.start();
    daemon.flush();
    sandbox.transcript("live", "shop").topics(live.clone());
    sandbox.transcript("hidden", "secret").topics(HIDDEN);
    eventually("the three to be stored", PATIENCE, || {
        daemon.flush();
        (sandbox.prompts().len() == [GONE, live.clone(), HIDDEN].map(|topics| topics.len()).iter().sum::<usize>()).then_some(())
    });
    fs_err::remove_file(sandbox.transcript("gone", "shop").path()).unwrap();
    let forgotten = id_of(sandbox, &topic(FORGOTTEN).0);
    assert_eq!(sandbox.json(&["forget", &forgotten, "--yes"])["forgotten"], 1);
    let secret = sandbox.project("secret");
    assert_eq!(sandbox.json(&["exclude", &secret])["hidden"], 3);
    sandbox.json(&["pause"]);
    daemon.flush();
    daemon.stop(end);
    Lived {
        database: sandbox.places().database_file(),
        secret,
        live,
    }
}

struct Lived {
    database: PathBuf,
    secret: String,
    live: Range<u32>,
}

impl Lived {
    fn damage(&self, of: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = fs_err::read(&self.database).unwrap();
        of(&mut bytes);
        fs_err::write(&self.database, bytes).unwrap();
    }
}

fn id_of(sandbox: &Sandbox, prompt: &str) -> String {
    let found = sandbox
        .episodes()
        .into_iter()
        .find(|episode| episode.prompt == prompt)
        .unwrap();
    found.uid.to_string()
}

fn garbage(bytes: &mut [u8]) {
    for (place, byte) in bytes.iter_mut().enumerate() {
        *byte = (place * 37 + place / 11) as u8;
    }
}

/// Starts a daemon on what is damaged, and gives it with what its status says of it.
fn start_on_damage(sandbox: &Sandbox) -> (DaemonProcess<'_>, Value) {
    // Until a daemon has made it anew, a hook is silent.
    let shop = sandbox.project("shop");
    assert_eq!(sandbox.hook("asks-early", &shop, &topic(1).0).stdout, "");
    let daemon = sandbox.start();
    let status = daemon.status();
    let log = daemon.log();
    assert!(log.contains("ERROR") && log.contains("set aside"), "{log}");
    (daemon, status)
}

#[rstest]
#[case::the_first_page(0.0, 0.0)]
#[case::pages_in_the_middle(0.45, 0.6)]
fn tc_37_damaged_pages(#[case] from: f64, #[case] to: f64) {
    let sandbox = sandbox!();
    let lived = lived_in(&sandbox, Signal::KILL);
    fold_in(&sandbox);
    lived.damage(|bytes| {
        let page = |share: f64| (bytes.len() as f64 * share) as usize / PAGE;
        let range = page(from) * PAGE..page(to).max(page(from) + 1) * PAGE;
        garbage(&mut bytes[range]);
    });
    came_back(&sandbox, &lived, 20);
}

#[test]
fn tc_37_a_file_that_lost_its_last_quarter() {
    let sandbox = sandbox!();
    let lived = lived_in_with(&sandbox, MANY, Signal::TERM);
    lived.damage(|bytes| bytes.truncate(bytes.len() * 3 / 4));
    came_back(&sandbox, &lived, 5);
}

/// Moves what the log of a killed daemon holds into the file, so that damage of the file is damage; then another is killed, which
/// leaves its mark in the log: without it the file is trusted.
fn fold_in(sandbox: &Sandbox) {
    sandbox.start().stop(Signal::TERM);
    sandbox.start().stop(Signal::KILL);
}

/// Checks that a daemon starts on it, what it tells, and what came back; of the deleted transcript at least so many episodes.
fn came_back(sandbox: &Sandbox, lived: &Lived, at_least: u64) {
    let (daemon, status) = start_on_damage(sandbox);
    let recovery = status["recovery"].clone();
    let aside = recovery["set_aside"].as_str().unwrap().to_owned();
    assert!(
        aside.starts_with(&format!("{}.damaged-", lived.database.display())),
        "{aside}"
    );
    let mode = fs_err::metadata(&aside).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let notices = status["notices"].to_string();
    assert!(notices.contains(&aside) && notices.contains("made anew"), "{notices}");
    // What the user decided.
    assert_eq!(status["paused"], "until resumed");
    assert_eq!(status["excluded"], serde_json::json!([lived.secret]));
    sandbox.json(&["resume"]);
    daemon.flush();
    eventually("the transcripts to be read again", PATIENCE, || {
        (daemon.status()["ingest"]["transcripts_waiting"] == 0).then_some(())
    });
    let prompts = sandbox.prompts();
    let has = |number: u32| prompts.contains(&topic(number).0);
    assert!(!has(FORGOTTEN), "what was forgotten, though its transcript is there");
    assert!(
        lived.live.clone().filter(|number| *number != FORGOTTEN).all(has),
        "what is still in a transcript"
    );
    assert_eq!(HIDDEN.filter(|number| has(*number)).count(), 0, "what is kept out");
    let gone = GONE.filter(|number| has(*number)).count() as u64;
    assert!(gone >= at_least, "{gone} of the deleted transcript came back; {recovery}");
    let mut unique = prompts.clone();
    unique.dedup();
    assert_eq!(unique, prompts, "nothing twice");
    assert_eq!(daemon.status()["problems"], serde_json::json!([]));
    // Found by its words, as anything else.
    let kept = GONE.filter(|number| has(*number)).min().unwrap();
    let reply = daemon.recall("asks", &sandbox.project("shop"), &topic(kept).0);
    assert!(reply.context.contains(&format!("case{kept}")), "{reply:?}");
    let doctor = String::from_utf8(sandbox.run(&["doctor"]).stdout).unwrap();
    assert!(doctor.contains(&aside) && doctor.contains("rm -f"), "{doctor}");
    forget_reaches_it(sandbox, &daemon, kept, &aside);
}

/// What is forgotten is nowhere, the damaged file included, and the notice ends with it.
fn forget_reaches_it(sandbox: &Sandbox, daemon: &DaemonProcess<'_>, kept: u32, aside: &str) {
    let id = id_of(sandbox, &topic(kept).0);
    let done = sandbox.json(&["forget", &id, "--yes"]);
    assert_eq!((&done["forgotten"], &done["set_aside_removed"]), (&1.into(), &1.into()));
    assert!(!std::path::Path::new(aside).exists());
    let words = format!("case{kept} ");
    eventually("no file to hold it", PATIENCE, || {
        any_file_holds(&sandbox.places().data_dir(), words.as_bytes())
            .is_none()
            .then_some(())
    });
    let status = daemon.status();
    assert_eq!(
        (&status["recovery"], &status["notices"]),
        (&Value::Null, &serde_json::json!([]))
    );
}

#[test]
fn tc_15_a_deleted_transcript_keeps_its_episodes_through_damage() {
    let sandbox = sandbox!();
    let lived = lived_in(&sandbox, Signal::TERM);
    // The header alone: every row can be read.
    lived.damage(|bytes| garbage(&mut bytes[..100]));
    let (daemon, status) = start_on_damage(&sandbox);
    assert_eq!(
        (&status["recovery"]["salvaged"], &status["recovery"]["unreadable"]),
        (&102.into(), &0.into())
    );
    sandbox.json(&["resume"]);
    daemon.flush();
    let status = daemon.status();
    assert_eq!((&status["episodes"], &status["hidden"]), (&102.into(), &3.into()));
    assert_eq!(status["transcripts_missing"], 1, "it is known whose transcript is gone");
    let session = sandbox
        .episodes()
        .into_iter()
        .find(|episode| episode.prompt == topic(5).0)
        .unwrap()
        .session;
    assert_eq!(session, "gone");
    daemon.embed_all();
    assert_eq!(daemon.status()["embedded"], 99);
}

/// Removes the database, and leaves what lies beside it.
fn remove_database(lived: &Lived) {
    for suffix in ["", "-wal", "-shm"] {
        fs_err::remove_file(format!("{}{suffix}", lived.database.display())).ok();
    }
}

#[test]
fn tc_37_choices_survive_a_database_that_was_removed() {
    let sandbox = sandbox!();
    let lived = lived_in(&sandbox, Signal::TERM);
    remove_database(&lived);
    let (daemon, status) = start_on_damage(&sandbox);
    assert!(
        status["recovery"]["found"].as_str().unwrap().contains("memory.db.journal"),
        "{status}"
    );
    assert_eq!(status["paused"], "until resumed");
    sandbox.json(&["resume"]);
    daemon.flush();
    daemon.ask(&Request::Flush);
    let prompts = sandbox.prompts();
    assert_eq!(prompts.len(), 39);
    assert!(!prompts.contains(&topic(FORGOTTEN).0));
}

#[rstest]
#[case::gone(false)]
#[case::empty(true)]
fn a_database_that_is_gone_beside_its_backup_is_no_first_start(#[case] is_empty: bool) {
    let sandbox = sandbox!();
    let lived = lived_in(&sandbox, Signal::TERM);
    let made = sandbox.json(&["backup"]);
    remove_database(&lived);
    if is_empty {
        fs_err::write(&lived.database, "").unwrap();
    }
    let said = sandbox.run(&["status"]);
    let said = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(
        said.contains("there was one") && said.contains("remove the whole folder"),
        "{said}"
    );
    let paused = sandbox.run(&["pause"]);
    assert!(!paused.status.success(), "no command makes an empty memory in its place");
    let (daemon, status) = start_on_damage(&sandbox);
    assert_eq!(status["recovery"]["backup"], made["path"]);
    let notices = status["notices"].to_string();
    assert!(
        notices.contains("it was gone or empty") && notices.contains("backup"),
        "{notices}"
    );
    sandbox.json(&["resume"]);
    daemon.flush();
    eventually("the transcripts to be read again", PATIENCE, || {
        (daemon.status()["ingest"]["transcripts_waiting"] == 0).then_some(())
    });
    let prompts = sandbox.prompts();
    assert_eq!(prompts.len(), 99, "those whose transcript is gone come from the backup");
    assert!(!prompts.contains(&topic(FORGOTTEN).0), "and what was forgotten does not");
    let doctor = String::from_utf8(sandbox.run(&["doctor"]).stdout).unwrap();
    assert!(doctor.contains("it was gone or empty"), "{doctor}");
}

#[test]
fn a_pipe_in_the_place_of_a_file_is_told_at_once() {
    let sandbox = sandbox!();
    let pipe = |path: &std::path::Path| {
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    };
    for path in [sandbox.places().database_file(), sandbox.places().config_file()] {
        pipe(&path);
        for command in [&["status"][..], &["run"]] {
            // A command that waits is ended by the test's own time; this one answers.
            let output = sandbox.run(command);
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(!output.status.success());
            assert!(
                said.contains(&format!("{} is a named pipe", path.display())),
                "{command:?}: {said}"
            );
        }
        fs_err::remove_file(&path).unwrap();
    }
}
