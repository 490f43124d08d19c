//! TC-09: a fork or a resume copies an old session's records into a new one. Only what is new there is an episode.

use remembrancer_tests::{Sandbox, Transcript, sandbox, topic};

/// Turns that the fork copies: 400 records.
const COPIED: u32 = 200;
/// Turns that it adds: 10 records.
const NEW: u32 = 5;

fn original(sandbox: &Sandbox) -> Transcript {
    let mut original = Transcript::new(&sandbox.home().join("elsewhere"), "original", &sandbox.project("shop"));
    original.topics(0..COPIED);
    original
}

fn fork(sandbox: &Sandbox, original: &Transcript) {
    let copies = original
        .content()
        .replace("\"sessionId\":\"original\"", "\"sessionId\":\"fork\"");
    sandbox
        .transcript("fork", "shop")
        .on_day(9)
        .raw(&copies)
        .topics(COPIED..COPIED + NEW);
}

fn put(sandbox: &Sandbox, original: &Transcript) {
    sandbox.transcript("original", "shop").raw(&original.content());
}

fn check(sandbox: &Sandbox, owner_of_the_first: &str) {
    let episodes = sandbox.episodes();
    assert_eq!(episodes.len(), (COPIED + NEW) as usize);
    let of_fork = |prompt: &str| {
        episodes
            .iter()
            .any(|episode| episode.prompt == prompt && episode.session == "fork")
    };
    assert!(
        (COPIED..COPIED + NEW).all(|number| of_fork(&topic(number).0)),
        "what is new belongs to the fork"
    );
    let first = episodes.iter().find(|episode| episode.prompt == topic(0).0).unwrap();
    assert_eq!(first.session, owner_of_the_first);
}

#[test]
fn tc_09_the_original_is_read_first() {
    let sandbox = sandbox!();
    let transcript = original(&sandbox);
    put(&sandbox, &transcript);
    let daemon = sandbox.start();
    daemon.flush();
    assert_eq!(sandbox.episodes().len(), COPIED as usize);
    fork(&sandbox, &transcript);
    daemon.flush();
    check(&sandbox, "original");

    let (shop, prompt) = (sandbox.project("shop"), topic(7).0);
    for (session, is_news) in [("fork", false), ("original", false), ("stranger", true)] {
        let reply = daemon.recall(session, &shop, &prompt);
        assert_eq!(reply.context.contains("of case7 "), is_news, "{session}: {reply:?}");
    }
}

#[test]
fn tc_09_the_fork_is_read_first() {
    let sandbox = sandbox!();
    let transcript = original(&sandbox);
    fork(&sandbox, &transcript);
    let daemon = sandbox.start();
    daemon.flush();
    put(&sandbox, &transcript);
    daemon.flush();
    check(&sandbox, "fork");
    let reply = daemon.recall("original", &sandbox.project("shop"), &topic(7).0);
    assert!(!reply.context.contains("of case7 "), "{reply:?}");
}

#[test]
fn tc_09_a_file_that_repeats_its_own_history_adds_nothing() {
    let sandbox = sandbox!();
    let mut transcript = sandbox.transcript("live", "shop");
    transcript.topics(0..10);
    let again = transcript.content();
    transcript.raw(&again).topics(10..12);
    let daemon = sandbox.start();
    daemon.flush();
    assert_eq!(sandbox.episodes().len(), 12);
}
