//! What `forget`, `exclude`, `pause` and `<private>` promise: nothing of it is left in any file of ours, and nothing brings it back.

use remembrancer_hooks::protocol::Request;
use remembrancer_schema::Writer;
use remembrancer_tests::{DaemonProcess, Sandbox, Transcript, any_own_file_holds, eventually, sandbox, topic};
use rustix::process::Signal;
use serde_json::json;

use crate::PATIENCE;

/// A word that only what is private holds; one that the tokeniser leaves whole.
const SECRET: &str = "xylophonequartz";
/// What finds the turn that holds it, without saying it.
const QUESTION: &str = "which key of the gateway was rotated?";

/// A transcript whose one turn holds the secret wherever a turn can: prompt, answer, command, file, error; and so does the title.
fn secret_turn(sandbox: &Sandbox, session: &str) -> Transcript {
    let mut transcript = sandbox.transcript(session, "secret");
    let command = json!({"command": format!("vault rotate {SECRET}")});
    transcript
        .prompt(&format!(
            "Please rotate the {SECRET} key of the gateway, since it was printed in a log"
        ))
        .tool("Bash", &command, &format!("error: no key {SECRET} in the vault"), true)
        .tool("Edit", &json!({"file_path": format!("/srv/{SECRET}.toml")}), "done", false)
        .answer(&format!(
            "The gateway has a new key now; {SECRET} was taken out of the vault, and the old one is void."
        ))
        .raw(&title(session));
    transcript
}

/// The line that names a session; agents write it again and again.
fn title(session: &str) -> String {
    let record = json!({"type": "custom-title", "sessionId": session, "customTitle": format!("Rotate {SECRET}")});
    format!("{record}\n")
}

fn nothing_holds_it(sandbox: &Sandbox, when: &str) {
    assert_eq!(any_own_file_holds(sandbox, SECRET.as_bytes()), None, "{when}");
}

fn instruct(sandbox: &Sandbox, project: &str) -> std::path::PathBuf {
    let output = sandbox.run(&["instruct", project, "--agent", "codex", "--yes"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::path::Path::new(project).join("AGENTS.md")
}

/// A daemon that has stored, embedded, shown and written down the secret: in a recollection file of another session, in the log
/// of recollections, and in an instruction file.
fn remembered(sandbox: &Sandbox) -> (DaemonProcess<'_>, Transcript) {
    sandbox.transcript("stays", "shop").topics(0..3);
    let transcript = secret_turn(sandbox, "goes");
    let daemon = sandbox.start();
    daemon.wait_for_model();
    daemon.embed_all();
    let secret = sandbox.project("secret");
    let reply = daemon.recall("asks", &secret, &format!("{QUESTION} was it {SECRET}?"));
    assert!(reply.context.contains(SECRET), "{reply:?}");
    daemon.why("asks");
    let file = instruct(sandbox, &secret);
    assert!(
        fs_err::read_to_string(file).unwrap().contains(SECRET),
        "the instruction file tells of it"
    );
    assert!(
        any_own_file_holds(sandbox, SECRET.as_bytes()).is_some(),
        "the test looks in the right places"
    );
    (daemon, transcript)
}

#[test]
fn what_was_forgotten_is_nowhere_and_never_comes_back() {
    let sandbox = sandbox!();
    let (daemon, mut transcript) = remembered(&sandbox);
    let done = sandbox.json(&["forget", "--yes", "--matching", SECRET]);
    assert_eq!((&done["turns"], &done["caught_up"]), (&1.into(), &true.into()), "{done}");
    nothing_holds_it(&sandbox, "after the command");
    let instructed = std::path::Path::new(&sandbox.project("secret")).join("AGENTS.md");
    assert!(!fs_err::read_to_string(&instructed).unwrap().contains(SECRET));

    transcript.topics(7..8).raw(&title("goes"));
    daemon.flush();
    nothing_holds_it(&sandbox, "after the transcript grew");
    // A fork copies the records into a session of its own.
    let copies = transcript
        .content()
        .replace("\"sessionId\":\"goes\"", "\"sessionId\":\"fork\"");
    sandbox.transcript("fork", "secret").on_day(9).raw(&copies).topics(30..31);
    daemon.flush();
    nothing_holds_it(&sandbox, "after a fork was read");
    // The transcript is another file under another name.
    let renamed = transcript.path().with_file_name("renamed.jsonl");
    fs_err::rename(transcript.path(), &renamed).unwrap();
    daemon.flush();
    nothing_holds_it(&sandbox, "after the transcript was renamed");
    daemon.stop(Signal::TERM);
    nothing_holds_it(&sandbox, "after the daemon ended");

    let database = sandbox.places().database_file();
    let mut writer = Writer::open(&database).unwrap();
    writer.rebuild_index().unwrap();
    writer.close().unwrap();
    nothing_holds_it(&sandbox, "after the index was made anew");
    let daemon = sandbox.start();
    daemon.embed_all();
    let reply = daemon.recall("later", &sandbox.project("secret"), QUESTION);
    assert!(!reply.context.contains("new key"), "{reply:?}");
    let stored = sandbox.episodes().len();
    daemon.stop(Signal::TERM);
    nothing_holds_it(&sandbox, "after a restart");

    // All is read anew into a new database, which the journal tells what was forgotten.
    for suffix in ["", "-wal", "-shm"] {
        let mut name = database.clone().into_os_string();
        name.push(suffix);
        fs_err::remove_file(name).ok();
    }
    let daemon = sandbox.start();
    daemon.embed_all();
    assert_eq!(sandbox.episodes().len(), stored);
    daemon.stop(Signal::TERM);
    nothing_holds_it(&sandbox, "after all was read anew");
}

#[test]
fn a_turn_that_is_forgotten_while_it_grows_stays_out() {
    let sandbox = sandbox!();
    let mut transcript = sandbox.transcript("goes", "secret");
    transcript
        .topics(0..1)
        .prompt(&format!("Please rotate the {SECRET} key of the gateway"))
        .answer("I look for it in the vault first.");
    let daemon = sandbox.start();
    daemon.flush();
    let done = sandbox.json(&["forget", "--yes", "--matching", SECRET]);
    assert_eq!(done["turns"], 1);
    transcript.answer(&format!("The key {SECRET} is void now, and the gateway has another one."));
    daemon.flush();
    nothing_holds_it(&sandbox, "after its next line");
    assert_eq!(sandbox.episodes().len(), 1);
    transcript.topics(1..2);
    daemon.flush();
    assert_eq!(sandbox.episodes().len(), 2, "the next turn is remembered");
    nothing_holds_it(&sandbox, "after the next turn");
}

#[test]
fn what_a_transcript_holds_unread_is_read_before_it_is_forgotten() {
    let sandbox = sandbox!();
    let daemon = sandbox.start();
    daemon.flush();
    secret_turn(&sandbox, "goes");
    let done = sandbox.json(&["forget", "--yes", "--all"]);
    assert_eq!((&done["turns"], &done["caught_up"]), (&1.into(), &true.into()), "{done}");
    daemon.flush();
    assert_eq!(sandbox.episodes().len(), 0);
    nothing_holds_it(&sandbox, "though it was written a moment before");
}

#[test]
fn a_reader_that_keeps_the_log_delays_it_only() {
    let sandbox = sandbox!();
    let (daemon, _) = remembered(&sandbox);
    let mut done = None;
    let reader = sandbox.reader();
    // While its codes are read one by one, a reader holds the log.
    reader
        .for_each_code(|_, _, _| {
            done.get_or_insert_with(|| sandbox.json(&["forget", "--yes", "--matching", SECRET]));
        })
        .unwrap();
    let done = done.unwrap();
    assert_eq!((&done["turns"], &done["log_emptied"]), (&1.into(), &false.into()), "{done}");
    eventually("the log to be emptied", PATIENCE, || {
        any_own_file_holds(&sandbox, SECRET.as_bytes()).is_none().then_some(())
    });
    drop(daemon);
}

/// Makes a backup, and has it not looked at until what is given is moved back to where it was: to look there is to follow a link without
/// an end, which even root can't.
fn backup_out_of_sight(sandbox: &Sandbox) -> [std::path::PathBuf; 2] {
    let backup = std::path::PathBuf::from(sandbox.json(&["backup"])["path"].as_str().unwrap());
    let elsewhere = sandbox.home().join("work/elsewhere.db");
    fs_err::rename(&backup, &elsewhere).unwrap();
    fs_err::os::unix::fs::symlink(&backup, &backup).unwrap();
    [elsewhere, backup]
}

fn ends_once_it_is_back(sandbox: &Sandbox, [elsewhere, backup]: [std::path::PathBuf; 2]) {
    assert!(backup.symlink_metadata().is_ok(), "it is not removed for that");
    fs_err::rename(elsewhere, &backup).unwrap();
    eventually("the backup to be cleaned", PATIENCE, || {
        any_own_file_holds(sandbox, SECRET.as_bytes()).is_none().then_some(())
    });
    assert!(backup.exists());
}

#[test]
fn what_follows_a_forgetting_follows_also_where_a_copy_cant_be_cleaned() {
    let sandbox = sandbox!();
    let (daemon, _) = remembered(&sandbox);
    let backup = backup_out_of_sight(&sandbox);
    let output = sandbox.run(&["forget", "--yes", "--matching", SECRET]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains("tried again"), "{said}");
    nothing_holds_it(&sandbox, "neither a recollection file nor an instruction file");
    ends_once_it_is_back(&sandbox, backup);
    drop(daemon);
}

#[test]
fn tc_19_what_follows_a_guarded_session_follows_also_where_a_copy_cant_be_cleaned() {
    let sandbox = sandbox!();
    let (daemon, _) = remembered(&sandbox);
    let backup = backup_out_of_sight(&sandbox);
    let payload =
        json!({"session_id": "goes", "cwd": sandbox.project("secret"), "hook_event_name": "UserPromptSubmit", "prompt": "go on"});
    sandbox.hook_with(payload.to_string().as_bytes(), &[("REMEMBRANCER_GUARD", "1")]);
    eventually("all but the backup to be clean", PATIENCE, || {
        any_own_file_holds(&sandbox, SECRET.as_bytes()).is_none().then_some(())
    });
    eventually("the failure to be told", PATIENCE, || {
        (daemon.status()["counted"]["guard-failed"] == 1).then_some(())
    });
    ends_once_it_is_back(&sandbox, backup);
    drop(daemon);
}

#[test]
fn forget_by_time_with_and_without_a_daemon() {
    let sandbox = sandbox!();
    for (day, session) in [(1, "first"), (5, "second"), (9, "third")] {
        sandbox.transcript(session, "shop").on_day(day).topics(day * 10..day * 10 + 2);
    }
    secret_turn(&sandbox, "goes");
    let daemon = sandbox.start();
    daemon.flush();
    let preview = sandbox.json(&["forget", "--dry-run", "--before", "2026-08-07", "--project", "shop"]);
    let would = &preview["would_forget"];
    assert_eq!((&would["turns"], &would["sessions"]), (&4.into(), &2.into()), "{preview}");
    assert_eq!(would["newest"].as_array().unwrap().len(), 4);
    let shown = String::from_utf8(sandbox.run(&["forget", "--dry-run", "--all"]).stdout).unwrap();
    assert!(
        shown.contains("This would delete 7 episodes: 7 turns of 4 sessions") && shown.contains("and 2 older"),
        "{shown}"
    );
    assert_eq!(sandbox.episodes().len(), 7, "a dry run deletes nothing");

    let between = ["forget", "--yes", "--after", "2026-08-03", "--before", "2026-08-07T12:00"];
    assert_eq!(sandbox.json(&between)["turns"], 2);
    assert_eq!(sandbox.json(&["forget", "--yes", "--last", "2h"])["turns"], 0);
    daemon.stop(Signal::TERM);
    assert_eq!(
        sandbox.json(&["forget", "--yes", "--before", "2026-08-03", "--matching", SECRET])["turns"],
        1
    );
    nothing_holds_it(&sandbox, "without a daemon");
    assert_eq!(
        sandbox.json(&["forget", "--yes", "--session", "third", "--after", "2026-08-03"])["turns"],
        2
    );
    assert_eq!(sandbox.episodes().len(), 2, "the first session is left");
    for wrong in [
        &["--before", "yesterday"][..],
        &["--after", "2026-08-03", "--before", "2026-08-03"],
        &["--last", "2h", "--after", "2026-08-03"],
        &["--all", "--before", "2026-08-03"],
        &["--yes"],
    ] {
        let output = sandbox.run(&[&["forget"], wrong].concat());
        assert_eq!(output.status.code(), Some(2), "{wrong:?}: {output:?}");
    }
    assert_eq!(sandbox.episodes().len(), 2);
}

#[test]
fn tc_41_a_private_span_is_nowhere() {
    let sandbox = sandbox!();
    let private = format!("<private note=\"x\">\n{SECRET}\n<private>{SECRET}</private> {SECRET}\n</private>");
    let unclosed = format!("and at the end <PRIVATE>{SECRET}");
    sandbox
        .transcript("live", "shop")
        .turn(
            &format!("Why does the importer of case1 stop? {private} It began on Monday."),
            &format!("The importer of case1 had no queue. ```\n{private}\n``` It has one now, {unclosed}"),
        )
        .prompt("Make the exporter of case2 write its totals to the ledger")
        .tool(
            "Bash",
            &json!({"command": format!("make {private}")}),
            &format!("error: {private}"),
            true,
        )
        .answer("The exporter of case2 writes its totals now.");
    let daemon = sandbox.start();
    daemon.wait_for_model();
    daemon.embed_all();
    let shop = sandbox.project("shop");
    let asked = format!("why did the importer of case1 stop? {private} {unclosed}");
    assert!(daemon.recall("asks", &shop, &asked).context.contains("It began on Monday."));
    sandbox.hook("fires", &shop, &asked);
    let why = daemon.why("asks");
    assert!(!why.to_string().contains(SECRET), "{why}");
    let prompts = sandbox.prompts();
    assert!(prompts[1].contains("[redacted:private] It began on Monday."), "{prompts:?}");
    daemon.stop(Signal::TERM);
    nothing_holds_it(&sandbox, "neither of a transcript nor of a prompt");
}

#[test]
fn tc_19_what_was_stored_of_a_guarded_session_is_deleted() {
    let sandbox = sandbox!();
    sandbox.transcript("stays", "shop").topics(0..2);
    let mut transcript = secret_turn(&sandbox, "child");
    let daemon = sandbox.start();
    daemon.wait_for_model();
    daemon.embed_all();
    assert!(any_own_file_holds(&sandbox, SECRET.as_bytes()).is_some());
    let payload = json!({"session_id": "child", "cwd": sandbox.project("secret"), "hook_event_name": "UserPromptSubmit", "prompt": "go on"});
    let output = sandbox.hook_with(payload.to_string().as_bytes(), &[("REMEMBRANCER_GUARD", "1")]);
    assert_eq!(output.stdout, "");
    eventually("the session to be gone", PATIENCE, || {
        (daemon.status()["episodes"] == 2).then_some(())
    });
    eventually("its bytes to be gone", PATIENCE, || {
        any_own_file_holds(&sandbox, SECRET.as_bytes()).is_none().then_some(())
    });
    transcript.topics(5..6);
    daemon.flush();
    assert_eq!(daemon.status()["episodes"], 2, "what it says later is kept out, too");
    daemon.stop(Signal::TERM);
    nothing_holds_it(&sandbox, "after the daemon ended");
}

#[test]
fn exclude_takes_paths_as_people_write_them() {
    let sandbox = sandbox!();
    let secret = sandbox.project("secret");
    sandbox.transcript("hidden", "secret").topics(0..1);
    let daemon = sandbox.start();
    daemon.flush();
    let link = sandbox.home().join("link");
    fs_err::os::unix::fs::symlink(sandbox.home().join("work"), &link).unwrap();
    // The commands run in the home folder.
    for path in ["link/secret", "work/../work/secret", "~/work/secret", secret.as_str()] {
        let excluded = sandbox.json(&["exclude", path]);
        assert_eq!(
            (&excluded["excluded"], &excluded["hidden"]),
            (&secret.as_str().into(), &1.into()),
            "{path}"
        );
        assert_eq!(sandbox.json(&["include", path])["restored"], 1, "{path}");
        daemon.flush();
    }
    let output = sandbox.run(&["exclude", "work/nowhere"]);
    assert!(output.status.success());
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("warning: there is no "),
        "{output:?}"
    );
    assert_eq!(sandbox.json(&["exclude", "~"])["hidden"], 1, "all below the home folder");
    assert_eq!(sandbox.json(&["include", "~"])["restored"], 1);
}

#[test]
fn once_it_is_paused_nothing_is_stored() {
    const TURNS: u32 = 6_400;
    let sandbox = sandbox!();
    sandbox.configure("[backfill]\ncpu = \"100%\"\n");
    for session in 0..8 {
        sandbox
            .transcript(&format!("s{session}"), "shop")
            .topics(session * TURNS / 8..(session + 1) * TURNS / 8);
    }
    let daemon = sandbox.start();
    eventually("the first turns", PATIENCE, || (!sandbox.prompts().is_empty()).then_some(()));
    daemon.ask(&Request::Pause { until_ms: None });
    let stored = sandbox.episodes().len();
    let flushed = daemon.ask(&Request::Flush);
    assert_eq!(flushed["paused"], true);
    assert_eq!(sandbox.episodes().len(), stored, "nothing more was stored");
    eprintln!("{stored} of {TURNS} turns were stored before the pause");
    sandbox.json(&["resume"]);
    daemon.flush();
    assert_eq!(sandbox.episodes().len(), TURNS as usize, "and nothing is lost by it");
    assert_eq!(daemon.status()["records"], 2 * TURNS, "a record is counted once");
}

#[test]
fn what_is_said_in_a_pause_is_put_off_not_kept_out() {
    let sandbox = sandbox!();
    let daemon = sandbox.start();
    daemon.flush();
    sandbox.json(&["pause"]);
    sandbox.transcript("live", "shop").turn(&topic(3).0, &topic(3).1);
    daemon.flush();
    assert_eq!(sandbox.episodes().len(), 0);
    sandbox.json(&["resume"]);
    daemon.flush();
    assert_eq!(sandbox.prompts(), [topic(3).0]);
    let help = String::from_utf8(sandbox.run(&["pause", "--help"]).stdout).unwrap();
    assert!(help.contains("is read when the pause ends"), "{help}");
}
