//! A restart at any moment: in the middle of a line, of a turn, of a session. Nothing is lost, nothing is doubled.

use remembrancer_tests::{eventually, sandbox, topic};
use rustix::process::Signal;

use crate::PATIENCE;

#[test]
fn in_the_middle_of_a_line() {
    let sandbox = sandbox!();
    let mut transcript = sandbox.transcript("live", "shop");
    transcript.topics(0..1);
    let line = transcript.prompt_line(&topic(1).0);
    let (head, rest) = line.split_at(line.len() / 3);
    transcript.raw(head);
    let daemon = sandbox.start();
    daemon.flush();
    daemon.stop(Signal::TERM);

    transcript.raw(rest).answer(&topic(1).1);
    let daemon = sandbox.start();
    daemon.flush();
    assert_eq!(sandbox.episodes().len(), 2);
    assert_eq!(daemon.status()["skipped_lines"], 0);
}

#[test]
fn in_the_middle_of_a_turn() {
    let sandbox = sandbox!();
    let mut transcript = sandbox.transcript("live", "shop");
    transcript
        .topics(0..1)
        .prompt(&topic(1).0)
        .answer("The first finding: the handle of case1 is never closed on the error path.");
    let daemon = sandbox.start();
    daemon.flush();
    let before = sandbox.episodes();
    assert_eq!(before.len(), 2);
    daemon.stop(Signal::TERM);

    transcript.answer("The second finding: the retry of case1 opens another one.");
    let daemon = sandbox.start();
    daemon.flush();
    let after = sandbox.episodes();
    assert_eq!(
        after.iter().map(|episode| episode.uid).collect::<Vec<_>>(),
        before.iter().map(|episode| episode.uid).collect::<Vec<_>>()
    );
    assert!(
        after[1].answer.contains("first finding") && after[1].answer.contains("second finding"),
        "{:?}",
        after[1].answer
    );
    assert_eq!(daemon.status()["records"], 5, "a record is counted once");
}

#[test]
fn tc_10_a_session_that_grew_meanwhile_is_read_on() {
    let sandbox = sandbox!();
    let mut transcript = sandbox.transcript("live", "shop");
    transcript.topics(0..25);
    let daemon = sandbox.start();
    daemon.flush();
    let before = sandbox.episodes();
    assert_eq!(before.len(), 25);
    daemon.stop(Signal::TERM);

    transcript.topics(25..44);
    let daemon = sandbox.start();
    daemon.flush();
    assert_eq!(sandbox.episodes().len(), 44);
    // And one while it runs, with nobody who tells the daemon of it.
    transcript.topics(44..45);
    let after = eventually("the last turn", PATIENCE, || {
        let episodes = sandbox.episodes();
        (episodes.len() == 45 && episodes[44].answer.contains("case44")).then_some(episodes)
    });
    assert_eq!(
        after[..25].iter().map(|episode| episode.id).collect::<Vec<_>>(),
        before.iter().map(|episode| episode.id).collect::<Vec<_>>()
    );
    assert_eq!(daemon.status()["records"], 90);
    daemon.embed_all();
    let reply = daemon.recall("asks", &sandbox.project("shop"), &topic(44).0);
    assert!(reply.context.contains("case44"), "{reply:?}");
}
