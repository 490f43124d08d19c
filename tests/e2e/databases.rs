//! Databases of agents that have them open and write into them, through the real daemon: read as they grow, never touched.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use remembrancer_schema::ForeignWriter;
use remembrancer_tests::{DaemonProcess, Sandbox, eventually, sandbox};
use rstest::rstest;
use rustix::process::Signal;

use crate::PATIENCE;

const OPENCODE: &str = include_str!("../../processor/tests/fixtures/agents/opencode/.local/share/opencode/opencode.db.sql");
const OPENCODE_TURN: &str = include_str!("../../processor/tests/fixtures/databases/opencode_turn.sql");
const OPENCODE_DELETES: &str = include_str!("../../processor/tests/fixtures/databases/opencode_deletes.sql");
const GOOSE: &str = include_str!("../../processor/tests/fixtures/agents/goose/.local/share/goose/sessions/sessions.db.sql");
const GOOSE_TURN: &str = include_str!("../../processor/tests/fixtures/databases/goose_turn.sql");
const CURSOR: &str =
    include_str!("../../processor/tests/fixtures/agents/cursor/.config/Cursor/User/globalStorage/state.vscdb.sql");
const CURSOR_TURN: &str = include_str!("../../processor/tests/fixtures/databases/cursor_turn.sql");

/// Prompts and answers that have no words in common.
const SAID: [(&str, &str); 3] = [
    (
        "Why does the label printer skip every tenth voucher?",
        "Its ribbon sensor was dusty; it is cleaned and skips nothing now.",
    ),
    (
        "How are the nightly totals sent to the accountant?",
        "A timer mails the ledger as a signed archive at two.",
    ),
    (
        "Which barcode scheme do the garden centre plants use?",
        "They carry EAN-8, since the tags are too narrow for more.",
    ),
];

/// An agent with its database open.
struct Agent {
    path: PathBuf,
    writer: ForeignWriter,
    turn: &'static str,
}

impl Agent {
    fn start(sandbox: &Sandbox, path: &str, made: &str, turn: &'static str) -> Self {
        let path = sandbox.home().join(path);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        let writer = ForeignWriter::open(&path);
        writer.run(&made.replace("/home/ada/shop", &sandbox.project("shop")));
        Self { path, writer, turn }
    }

    fn says(&self, number: usize) {
        let (prompt, answer) = SAID[number];
        let turn = self.turn.replace("NUMBER", &format!("{number:04}"));
        self.writer.run(&turn.replace("PROMPT", prompt).replace("ANSWER", answer));
    }

    /// The files beside the database, and it.
    fn files(&self) -> BTreeMap<PathBuf, u64> {
        let entries = fs_err::read_dir(self.path.parent().unwrap()).unwrap().map(Result::unwrap);
        entries.map(|entry| (entry.path(), entry.metadata().unwrap().len())).collect()
    }
}

fn opencode(sandbox: &Sandbox) -> Agent {
    Agent::start(sandbox, ".local/share/opencode/opencode-dev.db", OPENCODE, OPENCODE_TURN)
}

fn goose(sandbox: &Sandbox) -> Agent {
    Agent::start(sandbox, ".local/share/goose/sessions/sessions.db", GOOSE, GOOSE_TURN)
}

fn cursor(sandbox: &Sandbox) -> Agent {
    Agent::start(sandbox, ".config/Cursor/User/globalStorage/state.vscdb", CURSOR, CURSOR_TURN)
}

fn is_known(sandbox: &Sandbox, number: usize) -> bool {
    sandbox.prompts().iter().any(|prompt| prompt == SAID[number].0)
}

fn recalled(daemon: &DaemonProcess<'_>, sandbox: &Sandbox, number: usize) -> String {
    daemon
        .recall(&format!("asks-{number}"), &sandbox.project("shop"), SAID[number].0)
        .context
}

#[rstest]
#[case::opencode(opencode, 6)]
#[case::goose(goose, 3)]
#[case::cursor(cursor, 4)]
fn a_database_is_read_as_it_grows(#[case] agent: fn(&Sandbox) -> Agent, #[case] at_first: usize) {
    let sandbox = sandbox!();
    let agent = agent(&sandbox);
    let daemon = sandbox.start();
    daemon.flush();
    assert_eq!(sandbox.prompts().len(), at_first, "{:?}", sandbox.prompts());
    // Noticed by the watcher alone.
    agent.says(0);
    eventually("what was said", PATIENCE, || is_known(&sandbox, 0).then_some(()));
    assert!(recalled(&daemon, &sandbox, 0).contains("ribbon sensor"));
    // Killed, it goes on from where the store stands.
    daemon.stop(Signal::KILL);
    agent.says(1);
    let daemon = sandbox.start();
    daemon.flush();
    assert!(recalled(&daemon, &sandbox, 1).contains("signed archive"));
    agent.says(2);
    daemon.flush();
    assert!(recalled(&daemon, &sandbox, 2).contains("EAN-8"));
    assert_eq!(
        sandbox.prompts().len(),
        at_first + SAID.len(),
        "nothing is lost, nothing doubled"
    );
    assert!(!daemon.log().contains(SAID[2].0), "no text in the log");
    assert_eq!(daemon.status()["problems"], serde_json::json!([]));
    daemon.stop(Signal::TERM);
}

#[test]
fn a_database_is_left_as_it_was() {
    let sandbox = sandbox!();
    let agent = opencode(&sandbox);
    let daemon = sandbox.start();
    let in_use = agent.files();
    assert_eq!(in_use.len(), 3, "a database, its log, and its shared memory: {in_use:?}");
    daemon.flush();
    assert_eq!(agent.files(), in_use);
    let Agent { path, writer, .. } = agent;
    drop(writer);
    assert_eq!(names(&path), ["opencode-dev.db"], "the agent could close it in order");
    daemon.stop(Signal::TERM);
    let before = fs_err::read(&path).unwrap();
    // Nobody has it open now, and it was never seen by this daemon.
    let daemon = sandbox.start();
    daemon.flush();
    assert_eq!(names(&path), ["opencode-dev.db"]);
    assert!(fs_err::read(&path).unwrap() == before);
    daemon.stop(Signal::TERM);
}

fn names(path: &Path) -> Vec<String> {
    let entries = fs_err::read_dir(path.parent().unwrap()).unwrap().map(Result::unwrap);
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_session_that_is_deleted_is_still_recalled() {
    let sandbox = sandbox!();
    let agent = opencode(&sandbox);
    agent.says(0);
    let daemon = sandbox.start();
    daemon.flush();
    agent.writer.run(OPENCODE_DELETES);
    daemon.flush();
    assert_eq!(daemon.status()["transcripts_missing"], 1);
    assert!(recalled(&daemon, &sandbox, 0).contains("ribbon sensor"));
    daemon.stop(Signal::TERM);
}
