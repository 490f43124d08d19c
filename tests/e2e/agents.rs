//! Transcripts of every agent, as it writes them below a home, through the real daemon: read once, and again as they grow.

use std::path::{Path, PathBuf};

use remembrancer_processor::ingest::Agent;
use remembrancer_schema::{ForeignWriter, Reader};
use remembrancer_tests::{DaemonProcess, Sandbox, sandbox};
use rustix::process::Signal;

/// The fixture of an agent: its folders below a home.
fn fixture(agent: Agent) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../processor/tests/fixtures/agents")
        .join(agent.id())
}

/// Lays the fixtures of all agents into the home, makes the databases that they have scripts of, and gives the other files.
fn move_in(sandbox: &Sandbox) -> Vec<PathBuf> {
    let mut laid = Vec::new();
    for agent in Agent::ALL {
        let fixture = fixture(*agent);
        let files = walkdir::WalkDir::new(&fixture).into_iter().map(Result::unwrap);
        for file in files.filter(|entry| entry.file_type().is_file()) {
            let path = sandbox.home().join(file.path().strip_prefix(&fixture).unwrap());
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            if path.extension().is_some_and(|extension| extension == "sql") {
                ForeignWriter::open(&path.with_extension("")).run(&fs_err::read_to_string(file.path()).unwrap());
            } else {
                fs_err::copy(file.path(), &path).unwrap();
                laid.push(path);
            }
        }
    }
    laid
}

fn episodes(daemon: &DaemonProcess<'_>) -> u64 {
    daemon.status()["episodes"].as_u64().unwrap()
}

#[test]
fn every_agents_transcripts_are_read_once() {
    let sandbox = sandbox!();
    let files = move_in(&sandbox);
    let daemon = sandbox.start();
    daemon.flush();
    let reader = Reader::open(&sandbox.places().database_file()).unwrap();
    let sources = reader.sources().unwrap();
    for agent in Agent::ALL {
        assert!(sources.iter().any(|source| source.agent == agent.id()), "{agent:?}");
    }
    let once = episodes(&daemon);
    assert!(once >= 2 * Agent::ALL.len() as u64, "{once}");
    // Written anew as they are, documents above all: that adds nothing, and loses nothing.
    for file in &files {
        let content = fs_err::read(file).unwrap();
        fs_err::write(file, content).unwrap();
    }
    daemon.flush();
    assert_eq!(episodes(&daemon), once);
    daemon.stop(Signal::TERM);
    let daemon = sandbox.start();
    daemon.flush();
    assert_eq!(episodes(&daemon), once, "a second start adds nothing");
}

#[test]
fn a_rollout_that_goes_on_after_a_restart_keeps_its_session_and_folder() {
    let sandbox = sandbox!();
    let files = move_in(&sandbox);
    let rollout = files
        .iter()
        .find(|file| file.to_string_lossy().contains("rollout-2026-03-01T11-00-00"))
        .unwrap();
    let whole = fs_err::read_to_string(rollout).unwrap();
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    let (before, after) = lines.split_at(lines.len() - 10);
    fs_err::write(rollout, before.concat()).unwrap();
    let daemon = sandbox.start();
    daemon.flush();
    daemon.stop(Signal::TERM);
    fs_err::write(rollout, before.concat() + &after.concat()).unwrap();
    let daemon = sandbox.start();
    daemon.flush();
    let reader = Reader::open(&sandbox.places().database_file()).unwrap();
    let key = remembrancer_schema::SessionKey {
        agent: "codex".to_owned(),
        external_id: "019ca000-0000-7000-8000-000000000001".to_owned(),
    };
    let texts = reader.texts(&reader.live_context(&key).unwrap()).unwrap();
    let told: Vec<_> = texts.iter().map(|text| (text.prompt.as_str(), text.cwd.as_deref())).collect();
    assert!(told.contains(&("And in the till?", Some("/home/ada/till"))), "{told:?}");
    drop(daemon);
}
