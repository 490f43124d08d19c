//! How long it takes from a written line to its recollection: by words within a second, by meaning within five.

use std::time::Duration;

use remembrancer_tests::{DaemonProcess, Sandbox, eventually, sandbox, timed};

use crate::{LENIENCY, PATIENCE};

/// What the design promises, see its §9.
const LEXICALLY: Duration = Duration::from_secs(1);
const SEMANTICALLY: Duration = Duration::from_secs(5);

const PROMPT: &str = "How can I back up the Postgres database every night?";
const ANSWER: &str = "I added a cron job that dumps Postgres at 2 am, compresses the dump and keeps seven copies.";
/// Shares no word with the turn.
const REWORDED: &str = "save our relational data automatically each evening";

#[test]
fn a_line_is_recalled_in_time() {
    let sandbox = sandbox!(alone);
    sandbox.transcript("other", "shop").topics(0..3);
    let daemon = sandbox.start();
    daemon.wait_for_model();
    daemon.embed_all();
    measure(&sandbox, &daemon, "idle");
}

#[test]
fn a_line_is_recalled_in_time_during_a_backfill() {
    let sandbox = sandbox!(alone);
    for number in 0..5 {
        sandbox
            .transcript(&format!("old-{number}"), "shop")
            .topics(number * 120..(number + 1) * 120);
    }
    let daemon = sandbox.start();
    daemon.wait_for_model();
    measure(&sandbox, &daemon, "during a backfill");
    let left = daemon.status()["embedding_backlog"].as_u64().unwrap();
    assert!(left > 0, "the backfill ended before the measurement did: it measured nothing");
}

fn measure(sandbox: &Sandbox, daemon: &DaemonProcess<'_>, when: &str) {
    let shop = sandbox.project("shop");
    // The newest of all, as what was just written is.
    sandbox.transcript("live", "shop").on_day(28).turn(PROMPT, ANSWER);
    let mut asked = 0;
    let mut ask = |prompt: &str, enough: &dyn Fn(&str) -> bool| {
        asked += 1;
        let session = format!("asks-{asked}");
        let reply = daemon.recall(&session, &shop, prompt);
        (reply.context.contains("seven copies") && enough(&session)).then_some(())
    };
    let ((), lexically) = timed(|| eventually("the words", PATIENCE, || ask(PROMPT, &|_| true)));
    let ((), semantically) = timed(|| {
        eventually("the meaning", PATIENCE, || {
            ask(REWORDED, &|session| {
                daemon.why(session)["candidates"][0]["cosine"].is_number()
            })
        });
    });
    let semantically = lexically + semantically;
    eprintln!("from line to recollection, {when}: {lexically:?} by words, {semantically:?} by meaning");
    assert!(lexically <= LEXICALLY * LENIENCY, "{lexically:?}");
    assert!(semantically <= SEMANTICALLY * LENIENCY, "{semantically:?}");
}
