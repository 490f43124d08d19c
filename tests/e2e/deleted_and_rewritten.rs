//! Transcripts that are deleted, cut by a rewind, or replaced: what the user took back goes, everything else stays.

use remembrancer_tests::{Transcript, eventually, sandbox, topic};
use rustix::process::Signal;

use crate::PATIENCE;

#[test]
fn tc_15_a_deleted_transcript_keeps_its_episodes() {
    let sandbox = sandbox!();
    let mut transcript = sandbox.transcript("old", "shop");
    transcript.topics(0..3);
    let daemon = sandbox.start();
    daemon.flush();
    fs_err::remove_file(transcript.path()).unwrap();
    daemon.flush();
    let status = daemon.status();
    assert_eq!((&status["episodes"], &status["transcripts_missing"]), (&3.into(), &1.into()));
    // Then the whole root goes, as an unmounted disk does, and the daemon starts again.
    daemon.stop(Signal::TERM);
    fs_err::remove_dir_all(sandbox.root()).unwrap();
    let daemon = sandbox.start();
    daemon.flush();
    assert_eq!(daemon.status()["episodes"], 3);
    daemon.wait_for_model();
    let reply = daemon.recall("asks", &sandbox.project("shop"), &topic(1).0);
    assert!(reply.context.contains("case1"), "{reply:?}");
    // What can't be read any more can be forgotten.
    assert!(sandbox.run(&["forget", "--matching", "case2", "--yes"]).status.success());
    let forgotten = daemon.recall("asks again", &sandbox.project("shop"), &topic(2).0);
    assert!(
        daemon.status()["episodes"] == 2 && !forgotten.context.contains("case2"),
        "{forgotten:?}"
    );

    transcript.topics(3..4);
    daemon.flush();
    let status = daemon.status();
    assert_eq!(
        (&status["episodes"], &status["transcripts_missing"]),
        (&3.into(), &0.into()),
        "it is back, as another file"
    );
}

#[test]
fn tc_11_what_a_rewind_took_back_is_gone() {
    let sandbox = sandbox!();
    let mut transcript = sandbox.transcript("live", "shop");
    transcript.topics(0..6);
    let daemon = sandbox.start();
    daemon.flush();
    let old_size = transcript.content().len();
    let kept: String = transcript.content().split_inclusive('\n').take(4).collect();

    // The same session goes on from its second turn, with other records, past its old size.
    let mut branch = Transcript::new(&sandbox.home().join("elsewhere"), "live", &sandbox.project("shop")).on_day(2);
    branch.topics(10..20);
    let rewritten = kept + &branch.content();
    assert!(rewritten.len() > old_size);
    fs_err::write(transcript.path(), rewritten).unwrap();
    daemon.flush();
    let mut expected: Vec<String> = (0..2).chain(10..20).map(|number| topic(number).0).collect();
    expected.sort();
    assert_eq!(sandbox.prompts(), expected);
    daemon.stop(Signal::TERM);

    // And cut while no daemon runs.
    let kept: String = fs_err::read_to_string(transcript.path())
        .unwrap()
        .split_inclusive('\n')
        .take(8)
        .collect();
    fs_err::write(transcript.path(), kept).unwrap();
    let daemon = sandbox.start();
    daemon.flush();
    assert_eq!(sandbox.prompts().len(), 4);
}

#[test]
fn another_file_under_the_same_name_adds_to_the_old() {
    let sandbox = sandbox!();
    let transcript_path = {
        let mut transcript = sandbox.transcript("name", "shop");
        transcript.topics(0..5);
        transcript.path().to_owned()
    };
    let daemon = sandbox.start();
    daemon.flush();
    let mut other = Transcript::new(&sandbox.home().join("elsewhere"), "another-session", &sandbox.project("shop")).on_day(3);
    other.topics(5..8);
    fs_err::rename(other.path(), &transcript_path).unwrap();
    daemon.flush();
    assert_eq!(
        sandbox.prompts().len(),
        8,
        "the old file's episodes have no other place any more"
    );
}

#[test]
fn a_root_that_is_deleted_and_made_again_is_watched_again() {
    let sandbox = sandbox!();
    sandbox.transcript("old", "shop").topics(0..2);
    let daemon = sandbox.start();
    daemon.flush();
    fs_err::remove_dir_all(sandbox.home().join(".claude")).unwrap();
    eventually("the loss to be noticed", PATIENCE, || {
        (daemon.status()["transcripts_missing"] == 1).then_some(())
    });
    // No flush: the watcher has to notice.
    let mut transcript = sandbox.transcript("new", "shop");
    transcript.topics(2..4);
    eventually("what is written there", PATIENCE, || {
        (daemon.status()["episodes"] == 4).then_some(())
    });
    transcript.topics(4..5);
    eventually("what is appended there", PATIENCE, || {
        (daemon.status()["episodes"] == 5).then_some(())
    });
}
