//! What the agent did with a recollection counts as a use, or doesn't: seen from the transcript, once a showing.

use remembrancer_hooks::clock::unix_millis;
use remembrancer_schema::UnixMillis;
use remembrancer_tests::{DaemonProcess, Sandbox, sandbox};

const PROMPT: &str = "Why does the invoice exporter drop the last row of the table?";
const ANSWER: &str = "The pagination cursor of the exporter was exclusive at its upper bound. It is inclusive now, and \
                      a regression fixture with a lone customer holds it.";
const ASKED: &str = "the invoice exporter drops the last row again";
const USES_IT: &str = "As noted in an earlier session, the pagination cursor was exclusive at its upper bound; somebody \
                       took the inclusive bound out, and the regression fixture with it.";
const IGNORES_IT: &str = "The spreadsheet template has a hidden footer, and Excel counts it. I removed the footer.";

fn with_memory(sandbox: &Sandbox) -> DaemonProcess<'_> {
    let mut older = sandbox.transcript("older", "shop");
    older.turn(PROMPT, ANSWER).topics(0..3);
    let daemon = sandbox.start();
    daemon.wait_for_model();
    daemon.embed_all();
    daemon
}

/// How often the episode that was asked for was used.
fn uses(sandbox: &Sandbox) -> u64 {
    let reader = sandbox.reader();
    let episode = sandbox
        .episodes()
        .into_iter()
        .find(|episode| episode.prompt == PROMPT)
        .unwrap();
    reader.candidates(&[episode.id], "").unwrap()[0].access_count
}

/// The session `asks` is shown the episode, then answers.
fn answered(sandbox: &Sandbox, daemon: &DaemonProcess<'_>, answer: &str) -> u64 {
    let shop = sandbox.project("shop");
    let shown = daemon.recall("asks", &shop, ASKED);
    assert!(shown.context.contains("pagination cursor"), "{:?}", shown.reason);
    // The log is written after the reply.
    assert_eq!(daemon.why("asks")["session"], "asks");
    assert_eq!(uses(sandbox), 0, "to be shown is no use");
    let mut live = sandbox.transcript("asks", "shop");
    live.at(UnixMillis(unix_millis())).turn(ASKED, answer);
    daemon.flush();
    let counted = uses(sandbox);
    live.answer(answer);
    daemon.flush();
    assert_eq!(uses(sandbox), counted, "a showing counts once, however the turn goes on");
    counted
}

#[test]
fn an_answer_that_takes_up_what_was_shown_is_a_use() {
    let sandbox = sandbox!();
    let daemon = with_memory(&sandbox);
    assert_eq!(answered(&sandbox, &daemon, USES_IT), 1);
    assert_eq!(daemon.status()["recalls"]["recollections_used"], 1);
    let status = String::from_utf8(sandbox.run(&["status"]).stdout).unwrap();
    assert!(status.contains("1 recollection was used"), "{status}");
}

#[test]
fn an_answer_that_goes_its_own_way_is_none() {
    let sandbox = sandbox!();
    let daemon = with_memory(&sandbox);
    assert_eq!(answered(&sandbox, &daemon, IGNORES_IT), 0);
    assert_eq!(daemon.status()["recalls"]["recollections_used"], 0);
}
