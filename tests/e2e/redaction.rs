//! What older rules of redaction let through goes once the rules have grown, whenever the daemon is killed; and a secret in the name
//! of a folder is stored nowhere, while all that folders are good for still works.

use std::ops::ControlFlow;
use std::path::Path;

use remembrancer_processor::ingest::REDACTION_VERSION;
use remembrancer_schema::{
    EpisodeText, FreshCopy, IngestBatch, NewEpisode, Origin, ProjectRef, SessionKey, SourceUpdate, TurnUpsert, UnixMillis,
    Writer, backup_path, note_redaction,
};
use remembrancer_tests::{DaemonProcess, Sandbox, any_own_file_holds, eventually, sandbox};
use rustix::process::Signal;

use crate::PATIENCE;

/// A token of GitHub's shape, which today's rules find; put together here, so that none stands in this file.
fn token() -> String {
    format!("gh{}_{}", 'p', "xY1Lo2Ph3On4Eq5Ua6Rt7Zk8Wq9Vb0Nm1Cd2")
}

fn no_file_holds(sandbox: &Sandbox, secret: &str, when: &str) {
    assert_eq!(any_own_file_holds(sandbox, secret.as_bytes()), None, "{when}");
}

const TURNS: u32 = 2_000;

fn question(number: u32) -> String {
    format!("Why does the gateway of case{number} refuse the key")
}

/// A memory as an older program left it: every tenth turn holds the token, and so do a title, a backup, a recollection file. The
/// transcript is there to be read again.
fn of_older_rules(sandbox: &Sandbox) {
    let mut transcript = sandbox.transcript("old", "shop");
    for number in 0..TURNS {
        let holds = number % 10 == 3;
        let key = if holds { token() } else { "of last week".to_owned() };
        transcript.turn(
            &format!("{} {key}?", question(number)),
            &format!("The gateway of case{number} took {key} for another one's. It compares the whole key now."),
        );
    }
    let daemon = sandbox.start();
    daemon.flush();
    daemon.stop(Signal::TERM);
    no_file_holds(sandbox, &token(), "by today's rules");

    let database = sandbox.places().database_file();
    let reader = sandbox.reader();
    let source = reader.sources().unwrap().remove(0);
    let turns: Vec<TurnUpsert> = sandbox.episodes().into_iter().map(as_once_stored).collect();
    let batch = IngestBatch {
        now: UnixMillis(1),
        source: SourceUpdate {
            agent: source.agent,
            path: source.path,
            kind: source.kind,
            device: source.device,
            inode: source.inode,
            size: source.size,
            mtime: source.mtime,
            position: source.position,
            generation: source.generation,
            whole: false,
            records_delta: 0,
            skipped_delta: 0,
            problems: Vec::new(),
        },
        sessions: Vec::new(),
        turns,
        retire_older_generations: false,
    };
    drop(reader);
    let mut writer = Writer::open(&database).unwrap();
    assert_eq!(writer.ingest(&batch).unwrap().updated, u64::from(TURNS / 10));
    writer.close().unwrap();
    note_redaction(&database, Some(1));
    let backup = backup_path(&database, "2026-08-01T000000Z", false);
    let copy = FreshCopy::make(&database, &backup, &mut |_| ControlFlow::Continue(())).unwrap();
    copy.put_at(&backup).unwrap();
    let shown = sandbox.places().recollection_path("claude-code", "showed");
    fs_err::write(shown, format!("the key {}", token())).unwrap();
}

/// The turn of an episode as rules stored it that did not know the token.
fn as_once_stored(episode: EpisodeText) -> TurnUpsert {
    let raw = |text: &str| text.replace("[redacted:github-token]", &token());
    TurnUpsert {
        turn_uid: episode.turn_uid,
        session: SessionKey {
            agent: episode.agent,
            external_id: episode.session,
        },
        cwd: episode.cwd,
        told_cwd: None,
        git_branch: Some("main".to_owned()),
        project: episode.project.map(ProjectRef::Known),
        episodes: vec![NewEpisode {
            uid: episode.uid,
            turn_uid: episode.turn_uid,
            part: episode.part,
            turn: episode.turn,
            origin: Origin::User,
            importance: episode.importance,
            importance_rule: episode.importance_rule,
            created_at: episode.created_at,
            prompt: raw(&episode.prompt),
            answer: raw(&episode.answer),
            facets: episode.facets,
        }],
    }
}

fn is_done(daemon: &DaemonProcess<'_>) -> bool {
    daemon.status()["redaction"].is_null()
}

#[test]
fn what_older_rules_let_through_goes_though_the_daemon_is_killed() {
    let sandbox = sandbox!();
    of_older_rules(&sandbox);
    // Long rests between the steps, so that the kills come in the midst of them.
    sandbox.configure("[backfill]\ncpu = \"3%\"\n");
    assert!(
        any_own_file_holds(&sandbox, token().as_bytes()).is_some(),
        "the test looks in the right places"
    );
    let status = sandbox.json(&["status"]);
    assert_eq!(
        (&status["redaction"]["rows_under"], &status["redaction"]["rules"]),
        (&1.into(), &REDACTION_VERSION.into())
    );
    let shop = sandbox.project("shop");

    // Before its row is rewritten, and while rows are, nothing that today's rules find leaves.
    let mut daemon = sandbox.start();
    let reply = daemon.recall("asks", &shop, &format!("{}?", question(1_993)));
    assert!(
        reply.context.contains("case1993") && !reply.context.contains(&token()),
        "{reply:?}"
    );
    let mut kills = 0;
    while kills < 3 && !is_done(&daemon) {
        let reached = daemon.status()["redaction"]["rewritten_to"].as_u64().unwrap_or_default();
        eventually("a step more", PATIENCE, || {
            let now = daemon.status()["redaction"].clone();
            (now.is_null() || now["rewritten_to"].as_u64() > Some(reached)).then_some(())
        });
        daemon.stop(Signal::KILL);
        kills += 1;
        daemon = sandbox.start();
    }
    assert!(kills > 0, "it was over before it could be killed");
    eprintln!("killed {kills} times");
    daemon.stop(Signal::TERM);
    sandbox.configure("[backfill]\ncpu = \"100%\"\n");
    daemon = sandbox.start();
    eventually("all rows and files to be rewritten", PATIENCE, || {
        is_done(&daemon).then_some(())
    });
    no_file_holds(&sandbox, &token(), "while the daemon runs");
    assert!(sandbox.json(&["status"])["redaction"].is_null());
    let shown = String::from_utf8(sandbox.run(&["doctor"]).stdout).unwrap();
    assert!(!shown.contains("older texts"), "{shown}");

    daemon.wait_for_model();
    let reply = daemon.recall("asks-again", &shop, &format!("{}?", question(1_993)));
    let stages: Vec<_> = reply.stages.iter().map(|stage| (&*stage.name, stage.micros)).collect();
    eprintln!("the stages of a recall, in microseconds: {stages:?}");
    assert!(
        reply.context.contains("[redacted:github-token]"),
        "it is found as before: {reply:?}"
    );
    // The transcript is read again from its start, under another name.
    let transcript = sandbox.transcript("old", "shop");
    let renamed = transcript.path().with_file_name("again.jsonl");
    let content = fs_err::read(transcript.path()).unwrap();
    fs_err::write(&renamed, content).unwrap();
    daemon.flush();
    assert_eq!(sandbox.episodes().len(), TURNS as usize, "nothing is doubled");
    daemon.stop(Signal::TERM);
    no_file_holds(&sandbox, &token(), "after the end");
    assert_eq!(
        remembrancer_schema::audit(&sandbox.places().database_file()).unwrap().faults,
        Vec::<String>::new()
    );
    let backup = backup_path(&sandbox.places().database_file(), "2026-08-01T000000Z", false);
    assert_eq!(
        remembrancer_schema::Contents::of_whole(&backup).unwrap().episodes,
        u64::from(TURNS),
        "the backup is whole"
    );
}

/// A transcript whose session works in `cwd`; its own folder is called otherwise.
fn in_folder(sandbox: &Sandbox, session: &str, cwd: &str, turns: std::ops::Range<u32>) {
    const PLACE: &str = "/stands/for/it";
    let mut written = remembrancer_tests::Transcript::new(&sandbox.root(), session, PLACE);
    written.topics(turns);
    let content = written.content();
    let json = serde_json::to_string(cwd).unwrap();
    fs_err::write(written.path(), content.replace(&format!("\"{PLACE}\""), &json)).unwrap();
}

#[test]
fn a_secret_in_the_name_of_a_folder_is_stored_nowhere_and_the_folder_is_known() {
    let sandbox = sandbox!();
    let folder = sandbox.project(&format!("{}/shop", token()));
    let gone = "/srv/DB_PASSWORD=s3cr3tpw9xq".to_owned();
    let remote = sandbox.project("with-remote");
    fs_err::create_dir_all(Path::new(&remote).join(".git")).unwrap();
    let config = format!(
        "[remote \"origin\"]\n\turl = https://ada:s3cr3tpw9xq@example.org/team/{}.git\n",
        token()
    );
    fs_err::write(Path::new(&remote).join(".git/config"), config).unwrap();
    in_folder(&sandbox, "in-secret", &folder, 0..4);
    in_folder(&sandbox, "in-gone", &gone, 10..12);
    in_folder(&sandbox, "with-remote", &remote, 20..22);
    sandbox.transcript("plain", "plain").topics(30..34);
    let daemon = sandbox.start();
    daemon.wait_for_model();
    daemon.embed_all();
    let secrets = [token(), "s3cr3tpw9xq".to_owned()];
    let nowhere = |when: &str| secrets.iter().for_each(|secret| no_file_holds(&sandbox, secret, when));
    nowhere("after ingest");

    // The folder's own memories rank as those of its project, from the folder and from below it.
    for (session, cwd) in [("asks", folder.clone()), ("asks-below", format!("{folder}/src"))] {
        fs_err::create_dir_all(&cwd).unwrap();
        let (prompt, _) = remembrancer_tests::topic(2);
        let output = sandbox.hook(session, &cwd, &prompt);
        assert!(!output.stdout.contains(&token()), "{}", output.stdout);
    }
    let reply = daemon.recall("asks-here", &folder, &remembrancer_tests::topic(2).0);
    assert!(reply.context.contains("case2 "), "{reply:?}");
    assert_eq!(daemon.why("asks-here")["candidates"][0]["project"], "shop");
    let shown = sandbox.json(&["show", &reply.shown[0].id]);
    assert_eq!(shown["cwd"], folder.replace(&token(), "[redacted:github-token]"));
    let reply = daemon.recall("asks-remote", &remote, &remembrancer_tests::topic(21).0);
    assert!(
        reply
            .shown
            .iter()
            .any(|shown| shown.project.as_deref() == Some("[redacted:github-token]")),
        "{reply:?}"
    );

    assert_eq!(sandbox.json(&["exclude", &folder])["hidden"], 4);
    assert_eq!(
        daemon
            .recall("asks-out", &folder, &remembrancer_tests::topic(2).0)
            .reason
            .as_deref(),
        Some("excluded")
    );
    in_folder(&sandbox, "in-secret-later", &format!("{folder}/src"), 40..42);
    daemon.flush();
    assert_eq!(daemon.status()["episodes"], 12, "nothing more is stored there");
    nowhere("after the exclusion");
    assert_eq!(sandbox.json(&["include", &folder])["restored"], 4);
    daemon.flush();
    assert_eq!(daemon.status()["episodes"], 14);

    assert_eq!(sandbox.json(&["forget", "--yes", "--path", &gone])["turns"], 2);
    assert_eq!(
        sandbox.json(&["forget", "--yes", "--project", &token()])["turns"],
        2,
        "by the name of its remote"
    );
    assert_eq!(
        sandbox.json(&["forget", "--dry-run", "--path", &folder])["would_forget"]["turns"],
        6
    );
    assert_eq!(
        sandbox.json(&["forget", "--yes", "--project", &folder])["turns"],
        4,
        "by its root"
    );
    assert_eq!(
        sandbox.json(&["forget", "--yes", "--path", &format!("{folder}/src")])["turns"],
        2
    );
    assert_eq!(sandbox.episodes().len(), 4, "the others stay");
    daemon.stop(Signal::TERM);
    nowhere("after all of it");
    assert!(sandbox.json(&["status"])["redaction"].is_null());
}

#[test]
fn an_exclusion_that_no_transcript_could_be_matched_with_is_refused() {
    let sandbox = sandbox!();
    let folder = sandbox.root().join(token());
    let output = sandbox.run(&["exclude", &folder.display().to_string()]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("transcripts.exclude"), "{said}");
    let output = sandbox.run(&["exclude", "x"]);
    assert!(output.status.success(), "{output:?}");
}
