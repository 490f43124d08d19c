//! Memory never feeds on itself: what was recalled and came back in a transcript is not remembered again.

use remembrancer_processor::FENCE_OPEN_PREFIX;
use remembrancer_tests::{sandbox, topic};
use rustix::process::Signal;

const PROMPT: &str = "Why does the invoice exporter drop the last row of the table?";
const ANSWER: &str = "The loop of the exporter stopped one row early. It runs to the end now, and a test with one row holds it.";
const MARK: &str = "stopped one row early";
const ROUNDS: usize = 15;

#[test]
fn tc_16_fifteen_rounds_of_recall_and_ingest() {
    let sandbox = sandbox!();
    sandbox.transcript("older", "shop").turn(PROMPT, ANSWER);
    let daemon = sandbox.start();
    daemon.wait_for_model();
    daemon.embed_all();
    let shop = sandbox.project("shop");
    let mut shown = 0;
    for round in 0..ROUNDS {
        let session = format!("round-{round}");
        let request = format!("The invoice exporter drops its last row in round {round}, why?");
        let block = daemon.recall(&session, &shop, &request).context;
        shown += usize::from(block.contains(MARK));
        // As the hosts write it: before the request, in the hook's element, or in a reminder behind the request.
        let written = match round % 3 {
            0 => format!("{block}\n{request}"),
            1 => format!("<user-prompt-submit-hook>{block}</user-prompt-submit-hook>\n{request}"),
            _ => format!("{request}\n<system-reminder>UserPromptSubmit hook additional context: {block}</system-reminder>"),
        };
        sandbox
            .transcript(&session, "shop")
            .on_day(2 + round as u32)
            .turn(&written, &topic(round as u32).1);
        daemon.flush();
    }
    eprintln!("the first episode was shown in {shown} of {ROUNDS} rounds");
    assert!(shown > 0, "nothing was shown, so nothing was tested");
    let episodes = sandbox.episodes();
    assert_eq!(episodes.len(), 1 + ROUNDS, "the count grows by what the user said");
    for episode in &episodes[1..] {
        let text = format!("{}\n{}", episode.prompt, episode.answer);
        assert!(!text.contains(FENCE_OPEN_PREFIX) && !text.contains(MARK), "{text}");
        assert!(
            episode
                .prompt
                .starts_with("The invoice exporter drops its last row in round "),
            "{}",
            episode.prompt
        );
    }
    let reader = sandbox.reader();
    let ids: Vec<_> = episodes.iter().map(|episode| episode.id).collect();
    let rows = reader.candidates(&ids, "").unwrap();
    assert!(
        rows.iter().all(|row| row.access_count == 0),
        "neither showing nor ingest is a use"
    );
    let (status, _) = daemon.stop(Signal::TERM);
    assert!(status.success());
}

#[test]
fn tc_17_the_request_around_a_block_is_kept() {
    let sandbox = sandbox!();
    let closed = "<remembrancer-recollections prompt=\"0\">\nold words\n</remembrancer-recollections>\nPlease mend the importer of case1 now.";
    let unclosed = "Please mend the exporter of case2 now.\n<remembrancer-recollections prompt=\"0\">\nold words without an end";
    sandbox
        .transcript("live", "shop")
        .turn(closed, &topic(1).1)
        .turn(unclosed, &topic(2).1);
    let daemon = sandbox.start();
    daemon.flush();
    assert_eq!(
        sandbox.prompts(),
        [
            "Please mend the exporter of case2 now.",
            "Please mend the importer of case1 now."
        ]
    );
}

#[test]
fn tc_18_what_our_own_commands_print_is_not_indexed() {
    let sandbox = sandbox!();
    let printed = format!("{FENCE_OPEN_PREFIX} prompt=\"0\">\nAnswer: zanzibar protocol\n</remembrancer-recollections>");
    sandbox
        .transcript("live", "shop")
        .prompt("What do we remember about the importer of case1?")
        .tool(
            "Bash",
            &serde_json::json!({"command": "remembrancer recall importer"}),
            &printed,
            false,
        )
        .answer("The importer of case1 was mended in spring: it has a bounded queue now.");
    let daemon = sandbox.start();
    daemon.flush();
    let episodes = sandbox.episodes();
    assert_eq!(episodes.len(), 1);
    assert!(!format!("{:?}", episodes[0]).contains("zanzibar"), "{:?}", episodes[0]);
}
