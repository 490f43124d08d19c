//! What the browser looks at: a home with sample sessions in two invented projects, and a page that is served of it.

use remembrancer_tests::{DaemonProcess, Sandbox};

use crate::browser::Browser;

/// The samples that come with the program, by their names.
const SAMPLES: [(&str, &str); 4] = [
    (
        "kiosk-rounding",
        include_str!("../../daemon/src/cli/samples/kiosk-rounding.jsonl"),
    ),
    (
        "kiosk-printer",
        include_str!("../../daemon/src/cli/samples/kiosk-printer.jsonl"),
    ),
    (
        "orrery-deadlock",
        include_str!("../../daemon/src/cli/samples/orrery-deadlock.jsonl"),
    ),
    (
        "orrery-release",
        include_str!("../../daemon/src/cli/samples/orrery-release.jsonl"),
    ),
];

/// Further turns, so that there are twenty episodes.
const MORE: [(&str, &str); 13] = [
    (
        "Where do we keep the fonts of the receipts?",
        "In `assets/fonts`, two weights of one family; the printer has its own and ignores them.",
    ),
    (
        "Make the till remember the last customer's language.",
        // Wider than any telephone.
        "It is stored beside the session and read before the first screen is drawn.\n\n```ts\nconst language = session.get(\"language\") ?? customer?.language ?? navigator.languages.find((language) => translations.has(language)) ?? fallback.language;\n```",
    ),
    (
        "Why is the refund button grey on Mondays?",
        "It compared a local date with one in UTC; both are in UTC now, and a test runs at five past midnight.",
    ),
    (
        "Add a test for an empty basket.",
        "Added: an empty basket costs nothing, prints nothing and opens no drawer.",
    ),
    (
        "The drawer opens twice when the lid sticks.",
        "Two events came within ten milliseconds. The second is dropped now.",
    ),
    (
        "Can we drop the old tax table?",
        "Not yet: refunds of last year still read it. It is marked with the day on which it may go.",
    ),
    (
        "Decide: one currency a basket.",
        "Decided. A basket has the currency of its first line, and refuses lines in another.",
    ),
    (
        "Show me where the totals are cached.",
        "In `src/cart.ts`, a map from the basket's revision to its sum; it holds the last sixteen.",
    ),
    (
        "How large is the bundle now?",
        "184 kB, 41 of them the fonts. The largest module is the one for printing.",
    ),
    (
        "Rename `calcSum` to `basketTotal` everywhere.",
        "Done in nine files; the old name is gone, and the tests pass.",
    ),
    (
        "The scanner sends two codes at once.",
        "It sends them in one message, parted by a tab. The reader splits at the tab now.",
    ),
    (
        "Write down how a release is made.",
        "It is in `docs/release.md`: tag, wait for the checks, publish the archive, tell the shops.",
    ),
    (
        "What was the budget for opening the shift?",
        "Four hundred milliseconds to the first screen; it takes about half of that.",
    ),
];

/// A prompt in other words than those of the session that answers it.
const PROMPT: &str = "customers say the amount on the bill is off by a penny, where do we cut instead of rounding?";

/// How often the prompt is put.
const TRIES: usize = 20;

/// Writes the samples, so that the next start of the daemon reads twenty episodes.
pub(crate) fn write_samples(sandbox: &Sandbox) {
    let folder = sandbox.root().join("samples");
    fs_err::create_dir_all(&folder).unwrap();
    for (name, text) in SAMPLES {
        fs_err::write(folder.join(format!("{name}.jsonl")), text).unwrap();
    }
    let mut till = sandbox.transcript("till-day", "till");
    for (prompt, answer) in MORE {
        till.turn(prompt, answer);
    }
}

/// A daemon that has read the samples and embedded them, and was asked as an agent asks.
pub(crate) fn daemon_of_samples(sandbox: &Sandbox) -> DaemonProcess<'_> {
    write_samples(sandbox);
    let daemon = sandbox.start();
    daemon.wait_for_model();
    daemon.embed_all();
    daemon.wait_for_vectors();
    daemon.recall("asks", "/home/sample/kiosk", "yes, go on");
    // On a busy machine an answer may come too late.
    let in_time = (0..TRIES).map(|number| format!("asks-{number}")).find(|session| {
        let reply = daemon.recall(session, "/home/sample/kiosk", PROMPT);
        daemon.why(session);
        !reply.shown.is_empty()
    });
    assert!(in_time.is_some(), "nothing was recalled in {TRIES} tries");
    daemon
}

/// Opens the page by the address that was printed, and gives the folder of all its views.
pub(crate) fn enter(browser: &Browser, opening: &str) -> String {
    browser.goto(opening);
    let address = browser.address();
    assert!(!address.contains("token"), "the token stays in no address: {address}");
    address
}
