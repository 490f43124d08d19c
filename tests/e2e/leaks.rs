//! A secret of every rule, put wherever a text comes from: none of its bytes is in any file that this program writes, whatever befalls it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use remembrancer_processor::ingest::testing::example_secrets;
use remembrancer_processor::ingest::{redact, redact_folder};
use remembrancer_tests::{Sandbox, Transcript, eventually, sandbox};
use rustix::process::Signal;
use serde_json::json;

use crate::PATIENCE;

/// As many bytes of a secret together are of use to whoever finds them.
const WINDOW: usize = 8;

/// What no file may hold, with the rule that should have found it.
struct Needles {
    windows: HashMap<[u8; WINDOW], &'static str>,
    /// How any of them begins: most of a file does not.
    begins: Vec<bool>,
}

impl Needles {
    fn of(secrets: &[(&'static str, String, Vec<String>)]) -> Self {
        let mut windows = HashMap::new();
        let mut begins = vec![false; 1 << 16];
        for (rule, _, made) in secrets {
            let words = made.join(" ");
            let long: Vec<&str> = made.iter().map(String::as_str).filter(|made| made.len() >= WINDOW).collect();
            let long = if long.is_empty() { vec![words.as_str()] } else { long };
            for window in long.into_iter().flat_map(|made| made.as_bytes().windows(WINDOW)) {
                let window = lower(window);
                begins[beginning(&window)] = true;
                windows.insert(window, *rule);
            }
        }
        Self { windows, begins }
    }

    /// The rules of which bytes are left, in capitals or not, one byte or two a character.
    fn in_bytes(&self, bytes: &[u8]) -> Vec<&'static str> {
        let lowered: Vec<u8> = bytes.iter().map(u8::to_ascii_lowercase).collect();
        let narrow: Vec<u8> = lowered.iter().copied().filter(|byte| *byte != 0).collect();
        let windows = lowered.windows(WINDOW).chain(narrow.windows(WINDOW));
        let likely = windows.filter(|window| self.begins[beginning(window)]);
        let mut found: Vec<&str> = likely.filter_map(|window| self.windows.get(window).copied()).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Every file of this home and the daemon's log, but for what is not ours: transcripts, projects, and what `others` are.
    fn in_files(&self, sandbox: &Sandbox, others: &[PathBuf]) -> Vec<(PathBuf, Vec<&'static str>)> {
        let not_ours = [sandbox.home().join(".claude"), sandbox.home().join("work")];
        let is_ours = |path: &Path| !not_ours.iter().chain(others).any(|other| path == other);
        let top = sandbox.home().parent().unwrap().to_owned();
        let entries = walkdir::WalkDir::new(top)
            .into_iter()
            .filter_entry(move |entry| is_ours(entry.path()));
        let files = entries.flatten().filter(|entry| entry.file_type().is_file());
        let found = files.map(|entry| {
            let bytes = fs_err::read(entry.path()).unwrap_or_default();
            (entry.into_path(), bytes)
        });
        let found = found.map(|(path, bytes)| {
            let rules = self.in_bytes(&bytes);
            (path, rules)
        });
        found.filter(|(_, rules)| !rules.is_empty()).collect()
    }
}

fn lower(window: &[u8]) -> [u8; WINDOW] {
    std::array::from_fn(|at| window[at].to_ascii_lowercase())
}

fn beginning(window: &[u8]) -> usize {
    usize::from(window[0]) << 8 | usize::from(window[1])
}

impl Needles {
    fn nowhere(&self, sandbox: &Sandbox, others: &[PathBuf], when: &str) {
        let found = self.in_files(sandbox, others);
        assert!(found.is_empty(), "{when}: {found:?}");
    }

    /// `before`, the text and `after`, where the rules tell the secret in such surroundings; else without it: a password of
    /// a certain file is none in the middle of a sentence.
    fn placed(&self, before: &str, text: &str, after: &str) -> String {
        let whole = format!("{before}{text}{after}");
        if self.in_bytes(redact(&whole).as_bytes()).is_empty() {
            whole
        } else {
            format!("{before}it{after}")
        }
    }

    /// A folder that is called so, where such a text can be the name of one that the rules tell.
    fn folder(&self, text: &str) -> Option<String> {
        let folder = format!("/srv/{text}/src");
        let can_be = text.len() < 200 && !text.contains(['/', '\\', '\n']);
        (can_be && self.in_bytes(redact_folder(&folder).as_bytes()).is_empty()).then_some(folder)
    }
}

/// A transcript of its own folder whose session works in `cwd`.
fn with_folder(sandbox: &Sandbox, session: &str, cwd: &str) -> Transcript {
    let mut written = Transcript::new(&sandbox.root(), session, "/stands/for/it");
    let lines = [
        written.prompt_line("Why does the till of this folder print the total twice?"),
        written.answer_line("The till printed once for the drawer, too; it has a flag now, and a test."),
    ];
    for line in lines {
        written.raw(&line.replace("\"/stands/for/it\"", &serde_json::to_string(cwd).unwrap()));
    }
    written
}

/// The secret in the title, prompt, tool calls, results, errors, answer and branch of a session, and in a line that is no record.
fn with_secret(sandbox: &Sandbox, needles: &Needles, session: &str, text: &str) -> Transcript {
    let placed = |before: &str, after: &str| needles.placed(before, text, after);
    assert_eq!(placed("", ""), text, "every rule tells its example");
    let prompt = placed(
        &format!("Why is this refused by the gateway of {session}?\n"),
        "\nIt was printed by the till.",
    );
    let answer = placed("It was refused since it is void.\n\n", "\n\nThere is another one now.");
    let command = json!({"command": placed("deploy --with ", "")});
    let edit = json!({"file_path": placed("/srv/", ""), "new_string": text});
    let title = json!({"type": "custom-title", "sessionId": session, "customTitle": placed("On ", "")});
    let unknown = json!({"type": text, "sessionId": session});
    let mut transcript = sandbox.transcript(session, "shop");
    transcript
        .prompt(&prompt)
        .tool("Bash", &command, &placed("error: refused:\n", "\n"), true)
        .tool("Edit", &edit, text, false)
        .answer(&answer)
        .raw(&format!("{title}\n"))
        .raw(&format!("{{\"type\": \"user\", \"message\": {text}\n"))
        .raw(&format!("{unknown}\n"));
    transcript
}

/// What a user asks the program tells no secret, and what it writes holds none.
fn commands_tell_none(sandbox: &Sandbox, needles: &Needles) {
    let export = sandbox.home().join("export.jsonl");
    let markdown = sandbox.home().join("export.md");
    for arguments in [
        &["backup"][..],
        &["export", export.to_str().unwrap()],
        &["export", "--format", "markdown", markdown.to_str().unwrap()],
        &["doctor"],
        &["status"],
        &["audit"],
        &["stats"],
        &["logs"],
        &["why"],
        &["explain"],
        &["explain", "--list"],
        &["explain", "why was the key refused by the gateway?"],
        &["recall", "why was the key refused by the gateway?"],
    ] {
        let output = sandbox.run(arguments);
        let said = [output.stdout, output.stderr].concat();
        assert_eq!(needles.in_bytes(&said), Vec::<&str>::new(), "{arguments:?}");
    }
    assert!(export.exists() && markdown.exists());
}

/// Nor does what the user has remembered, with a secret in it, or what another's export brings.
fn what_is_told_by_hand_holds_none(sandbox: &Sandbox, needles: &Needles, secrets: &[(&'static str, String, Vec<String>)]) {
    let export = sandbox.home().join("export.jsonl");
    let mut line: serde_json::Value =
        serde_json::from_str(fs_err::read_to_string(&export).unwrap().lines().next().unwrap()).unwrap();
    let foreign = sandbox.home().join("foreign.jsonl");
    let mut lines = String::new();
    for (number, (_, text, _)) in secrets.iter().enumerate() {
        let said = needles.placed("The gateway is asked with ", text, "");
        let told = sandbox.run(&["remember", &said, "--everywhere"]);
        assert_eq!(needles.in_bytes(&[told.stdout, told.stderr].concat()), Vec::<&str>::new());
        let mut turn = [9; 16];
        turn[..8].copy_from_slice(&(number as u64).to_be_bytes());
        let turn = remembrancer_schema::TurnUid(turn);
        line["turn_id"] = turn.to_string().into();
        line["id"] = remembrancer_schema::EpisodeUid::of(&turn, 0).to_string().into();
        line["part"] = 0.into();
        line["prompt"] = said.clone().into();
        line["answer"] = needles.placed("It was void:\n", text, "\n").into();
        line["facets"] = json!({"files": [said], "commands": [text], "errors": [text], "tools": []});
        line["session_title"] = needles.placed("On ", text, "").into();
        lines.push_str(&line.to_string());
        lines.push('\n');
    }
    fs_err::write(&foreign, lines).unwrap();
    let told = sandbox.run(&["import", foreign.to_str().unwrap()]);
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    assert_eq!(needles.in_bytes(&[told.stdout, told.stderr].concat()), Vec::<&str>::new());
    // It is the user's file, and not ours.
    fs_err::remove_file(&foreign).unwrap();
    assert!(fs_err::metadata(format!("{}.facts", sandbox.places().database_file().display())).is_ok());
}

#[test]
fn tc_41_no_file_holds_a_secret_of_any_rule() {
    let sandbox = sandbox!();
    let secrets = example_secrets();
    assert!(secrets.len() > 100, "{}", secrets.len());
    let needles = Needles::of(&secrets);
    let mut folders = 0;
    for (number, (_, text, _)) in secrets.iter().enumerate() {
        with_secret(&sandbox, &needles, &format!("s{number}"), text);
        if let Some(folder) = needles.folder(text) {
            with_folder(&sandbox, &format!("f{number}"), &folder);
            folders += 1;
        }
    }
    assert!(folders > 50, "{folders} folders");
    assert!(
        !needles
            .in_bytes(sandbox.transcript("s0", "shop").content().as_bytes())
            .is_empty(),
        "it finds what is there"
    );

    // Settings that are refused quote what is wrong with them; they are the user's file.
    let bad: Vec<String> = secrets
        .iter()
        .map(|(_, text, _)| serde_json::to_string(text).unwrap())
        .collect();
    let settings = sandbox.places().config_file();
    for text in bad.iter().step_by(9) {
        sandbox.configure(&format!("[backfill]\ncpu = {text}\n"));
        let mut refused = sandbox.start_unready();
        let ended = eventually("the daemon to refuse its settings", PATIENCE, || refused.ended());
        assert!(!ended.success());
    }
    needles.nowhere(&sandbox, std::slice::from_ref(&settings), "after settings that are refused");
    sandbox.configure("[backfill]\ncpu = \"100%\"\n");

    let daemon = sandbox.start();
    eventually("some of it to be stored", PATIENCE, || {
        (daemon.status()["episodes"].as_u64() > Some(20)).then_some(())
    });
    let shop = sandbox.project("shop");
    for (number, (_, text, _)) in secrets.iter().enumerate().step_by(7) {
        let prompt = needles.placed("why was this refused?\n", text, "");
        sandbox.hook(&format!("early{number}"), &shop, &prompt);
    }
    daemon.stop(Signal::KILL);
    needles.nowhere(&sandbox, &[], "after a kill in the middle");

    let daemon = sandbox.start();
    daemon.wait_for_model();
    daemon.embed_all();
    for (number, (_, text, _)) in secrets.iter().enumerate() {
        let cwd = needles.folder(text).unwrap_or_else(|| shop.clone());
        let prompt = needles.placed(&format!("why was this refused by the gateway of s{number}?\n"), text, "");
        let output = sandbox.hook(&format!("asks{number}"), &cwd, &prompt);
        assert_eq!(
            needles.in_bytes(output.stdout.as_bytes()),
            Vec::<&str>::new(),
            "what is injected"
        );
    }
    commands_tell_none(&sandbox, &needles);
    what_is_told_by_hand_holds_none(&sandbox, &needles, &secrets);
    needles.nowhere(&sandbox, &[], "while the daemon runs");
    // One forgotten turn has index, pages and log rewritten whole.
    sandbox.json(&["forget", "--yes", "--session", "s0"]);
    daemon.stop(Signal::TERM);
    needles.nowhere(&sandbox, &[], "after the end");
    let stored = sandbox.episodes();
    assert!(stored.len() >= secrets.len() - 1, "{} of {}", stored.len(), secrets.len());
    let (rules, windows) = (secrets.len(), needles.windows.len());
    eprintln!(
        "{rules} rules, {folders} folders, {} episodes, {windows} windows looked for",
        stored.len()
    );
}
