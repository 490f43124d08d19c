//! A transcript that grows: halves of lines, fused lines, line ends, characters of every kind.

use remembrancer_tests::{DaemonProcess, Sandbox, Transcript, sandbox, topic};
use rustix::process::Signal;
use serde_json::json;

/// The prompts that the store has once all is read.
fn prompts(sandbox: &Sandbox, daemon: &DaemonProcess<'_>) -> Vec<String> {
    daemon.flush();
    sandbox.prompts()
}

#[test]
fn tc_01_half_a_line_waits_for_its_rest() {
    let sandbox = sandbox!();
    let mut transcript = sandbox.transcript("tail", "shop");
    transcript.topics(0..1);
    let daemon = sandbox.start();
    let line = transcript.prompt_line(&topic(1).0);
    let (head, rest) = line.split_at(line.len() / 2);
    transcript.raw(head);
    assert_eq!(prompts(&sandbox, &daemon), [topic(0).0]);
    transcript.raw(rest).answer(&topic(1).1).topics(2..3);
    assert_eq!(prompts(&sandbox, &daemon), sorted([0, 1, 2]));
    assert_eq!(daemon.status()["skipped_lines"], 0);
}

#[test]
fn tc_02_a_fused_line_costs_itself_alone() {
    let sandbox = sandbox!();
    let mut transcript = sandbox.transcript("tail", "shop");
    transcript.topics(0..1);
    let lost = transcript.prompt_line("this record was cut by a full disk in the middle of its text");
    let fused_at = transcript.content().len();
    transcript.raw(&lost[..lost.len() / 2]);
    transcript.topics(1..3);
    for _ in 0..2 {
        let daemon = sandbox.start();
        let found = prompts(&sandbox, &daemon);
        assert!(found.contains(&topic(0).0) && found.contains(&topic(2).0), "{found:?}");
        let status = daemon.status();
        assert_eq!(status["skipped_lines"], 1, "{status}");
        let problem = &status["problems_by_file"][0];
        assert_eq!(
            (&problem["count"], &problem["first_offset"], &problem["first_line"]),
            (&1.into(), &fused_at.into(), &3.into())
        );
        assert!(!daemon.log().contains("cut by a full disk"), "a line's text is never logged");
        daemon.stop(Signal::TERM);
    }
}

#[test]
fn tc_03_only_a_newline_ends_a_line() {
    let sandbox = sandbox!();
    let text = "Why does the\u{2028}parser\u{2029}split\u{85}here, of all places?";
    sandbox.transcript("tail", "shop").turn(text, &topic(0).1).topics(1..2);
    let daemon = sandbox.start();
    let found = prompts(&sandbox, &daemon);
    assert_eq!(found.len(), 2);
    assert!(found.iter().any(|prompt| prompt == text), "{found:?}");
    assert_eq!(daemon.status()["skipped_lines"], 0);
}

#[test]
fn tc_04_half_a_surrogate_costs_its_character() {
    let sandbox = sandbox!();
    let mut transcript = sandbox.transcript("tail", "shop");
    transcript.topics(0..1);
    let line = transcript.prompt_line("Why does HERE break the emoji PAIR in the exporter?");
    transcript
        .raw(&line.replace("HERE", "\\ud83d").replace("PAIR", "\\ud83d\\ude00"))
        .answer(&topic(1).1);
    transcript.topics(2..3);
    let daemon = sandbox.start();
    let found = prompts(&sandbox, &daemon);
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(
        found
            .iter()
            .any(|prompt| prompt == "Why does \u{fffd} break the emoji 😀 in the exporter?"),
        "{found:?}"
    );
    assert_eq!(daemon.status()["skipped_lines"], 0);
}

#[test]
fn tc_05_invalid_bytes_cost_their_characters_and_no_offset() {
    let sandbox = sandbox!();
    let mut transcript = sandbox.transcript("tail", "shop");
    transcript.topics(0..1);
    let line = transcript.prompt_line("Why does HERE break the importer of case77?");
    let (before, after) = line.split_once("HERE").unwrap();
    transcript
        .raw(before)
        .bytes(&[0xff, 0xfe, 0xe2, 0x82])
        .raw(after)
        .answer(&topic(1).1);
    let daemon = sandbox.start();
    let found = prompts(&sandbox, &daemon);
    assert!(
        found
            .iter()
            .any(|prompt| prompt.contains('\u{fffd}') && prompt.ends_with("break the importer of case77?")),
        "{found:?}"
    );
    daemon.stop(Signal::TERM);

    transcript.topics(2..3);
    let daemon = sandbox.start();
    assert_eq!(prompts(&sandbox, &daemon).len(), 3);
    let status = daemon.status();
    assert_eq!(
        (&status["skipped_lines"], &status["records"]),
        (&0.into(), &6.into()),
        "read once, all of it"
    );
}

#[test]
fn tc_05_a_character_at_the_end_of_what_is_read_at_once_stays_whole() {
    // What is read at once; see `CHUNK_BYTES` in the daemon.
    const CHUNK: usize = 1 << 20;
    let sandbox = sandbox!();
    let write = |transcript: &mut Transcript, output: &str| {
        transcript.topics(0..1);
        transcript.tool("Bash", &json!({"command": "make"}), output, false);
        transcript.prompt_line("Why is the price of HERE case78 shown twice in the basket?")
    };
    let mut model = Transcript::new(&sandbox.home().join("elsewhere"), "tail", &sandbox.project("shop"));
    let line = write(&mut model, "");
    let before = model.content().len() + line.find("HERE").unwrap();
    // The first byte of a character of four is the last of the first mebibyte.
    let mut transcript = sandbox.transcript("tail", "shop");
    let line = write(&mut transcript, &"x".repeat(CHUNK - 1 - before));
    transcript.raw(&line.replace("HERE", "😀")).answer(&topic(1).1);
    assert_eq!(transcript.content().find('😀'), Some(CHUNK - 1));
    let daemon = sandbox.start();
    let found = prompts(&sandbox, &daemon);
    assert!(
        found
            .iter()
            .any(|prompt| prompt == "Why is the price of 😀 case78 shown twice in the basket?"),
        "{found:?}"
    );
    assert_eq!(daemon.status()["skipped_lines"], 0);
}

#[test]
fn tc_06_crlf_gives_the_episodes_of_lf() {
    let stored = |line_end: &str| {
        let sandbox = sandbox!();
        let place = sandbox.root().join("-srv-shop");
        let mut model = Transcript::new(&sandbox.home().join("elsewhere"), "twin", "/srv/shop");
        model.topics(0..4);
        fs_err::create_dir_all(&place).unwrap();
        fs_err::write(place.join("twin.jsonl"), model.content().replace('\n', line_end)).unwrap();
        let daemon = sandbox.start();
        daemon.flush();
        assert_eq!(daemon.status()["skipped_lines"], 0);
        sandbox
            .episodes()
            .into_iter()
            .map(|episode| (episode.uid, episode.prompt, episode.answer))
            .collect::<Vec<_>>()
    };
    let unix = stored("\n");
    assert_eq!(unix.len(), 4);
    assert_eq!(stored("\r\n"), unix);
}

fn sorted<const N: usize>(numbers: [u32; N]) -> Vec<String> {
    let mut prompts: Vec<String> = numbers.into_iter().map(|number| topic(number).0).collect();
    prompts.sort();
    prompts
}
