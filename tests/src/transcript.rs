//! Transcripts as Claude Code writes them: one JSON record a line, appended.

use std::io::Write;
use std::path::{Path, PathBuf};

use jiff::civil::date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use remembrancer_hooks::clock::unix_millis;
use remembrancer_schema::UnixMillis;
use serde_json::{Value, json};

/// A transcript that grows. Ids and times follow from the session and a counter, so that a file is the same every time.
#[derive(Debug, Clone)]
pub struct Transcript {
    path: PathBuf,
    session: String,
    cwd: String,
    next_at: Timestamp,
    records: u32,
    parent: Option<String>,
}

impl Transcript {
    /// A transcript of `session`, whose working directory is `cwd`, below `root`. Nothing is written yet.
    pub fn new(root: &Path, session: &str, cwd: &str) -> Self {
        let folder: String = cwd.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        Self {
            path: root.join(folder).join(format!("{session}.jsonl")),
            session: session.to_owned(),
            cwd: cwd.to_owned(),
            next_at: begin_of_day(1),
            records: 0,
            parent: None,
        }
    }

    /// The same, beginning on another day of August 2026 (1 to 28), for sessions of different ages.
    #[must_use]
    pub fn on_day(mut self, day: u32) -> Self {
        self.next_at = begin_of_day(day);
        self
    }

    /// Lets the next record be of this time, and those after it follow by the minute.
    ///
    /// # Panics
    /// Where the time is out of all bounds.
    pub fn at(&mut self, time: UnixMillis) -> &mut Self {
        self.next_at = Timestamp::from_millisecond(time.0).unwrap();
        self
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The session's id.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// Appends a turn: a prompt and its answer.
    pub fn turn(&mut self, prompt: &str, answer: &str) -> &mut Self {
        self.prompt(prompt).answer(answer)
    }

    /// Appends what the user typed.
    pub fn prompt(&mut self, text: &str) -> &mut Self {
        let line = self.prompt_line(text);
        self.raw(&line)
    }

    /// The line of a prompt, with its newline, not written yet.
    pub fn prompt_line(&mut self, text: &str) -> String {
        self.record("user", &json!({"role": "user", "content": text}))
    }

    /// Appends what the agent said.
    pub fn answer(&mut self, text: &str) -> &mut Self {
        let line = self.answer_line(text);
        self.raw(&line)
    }

    /// The line of an answer, with its newline, not written yet.
    pub fn answer_line(&mut self, text: &str) -> String {
        let id = format!("msg-{}-{}", self.session, self.records);
        self.record(
            "assistant",
            &json!({"id": id, "role": "assistant", "content": [{"type": "text", "text": text}]}),
        )
    }

    /// Appends one turn for each number, no two alike: see [`topic`].
    pub fn topics(&mut self, numbers: std::ops::Range<u32>) -> &mut Self {
        for number in numbers {
            let (prompt, answer) = topic(number);
            self.turn(&prompt, &answer);
        }
        self
    }

    /// Appends a tool's use and its result.
    pub fn tool(&mut self, name: &str, input: &Value, result: &str, is_error: bool) -> &mut Self {
        let id = format!("toolu-{}-{}", self.session, self.records);
        let used = json!({"id": format!("msg-{id}"), "role": "assistant", "content": [{"type": "tool_use", "id": id, "name": name, "input": input}]});
        let line = self.record("assistant", &used);
        self.raw(&line);
        let result = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": result, "is_error": is_error}]});
        let line = self.record("user", &result);
        self.raw(&line)
    }

    /// Appends a compaction that happens now: its boundary and the summary in the user's name.
    ///
    /// # Panics
    /// Where the clock is out of all bounds.
    pub fn compaction(&mut self) -> &mut Self {
        let timestamp = Timestamp::from_millisecond(unix_millis()).unwrap().to_string();
        let (uuid, _) = self.next();
        let boundary = json!({
            "type": "system", "subtype": "compact_boundary", "parentUuid": null, "uuid": uuid, "timestamp": timestamp,
            "sessionId": self.session, "cwd": self.cwd, "compactMetadata": {"trigger": "auto", "preTokens": 1000},
        });
        self.raw(&format!("{boundary}\n"));
        let text =
            "This session is being continued from a previous conversation that ran out of context.\nSummary: 1. Primary Request";
        let (uuid, _) = self.next();
        let summary = json!({
            "type": "user", "isCompactSummary": true, "uuid": uuid, "timestamp": timestamp, "sessionId": self.session,
            "cwd": self.cwd, "message": {"role": "user", "content": text},
        });
        self.raw(&format!("{summary}\n"))
    }

    /// Appends `text` as it is.
    pub fn raw(&mut self, text: &str) -> &mut Self {
        self.bytes(text.as_bytes())
    }

    /// Appends `bytes` as they are.
    ///
    /// # Panics
    /// Where they can't be written.
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        fs_err::create_dir_all(self.path.parent().expect("invariant: a transcript lies in a folder")).unwrap();
        let mut file = fs_err::OpenOptions::new().create(true).append(true).open(&self.path).unwrap();
        file.write_all(bytes).unwrap();
        self
    }

    /// What stands in the file.
    ///
    /// # Panics
    /// Where it can't be read.
    pub fn content(&self) -> String {
        fs_err::read_to_string(&self.path).unwrap()
    }

    fn record(&mut self, kind: &str, message: &Value) -> String {
        let parent = self.parent.clone();
        let (uuid, timestamp) = self.next();
        let record = json!({
            "type": kind, "uuid": uuid, "parentUuid": parent, "timestamp": timestamp, "sessionId": self.session,
            "cwd": self.cwd, "gitBranch": "main", "version": "2.1.200", "isSidechain": false, "userType": "external",
            "message": message,
        });
        format!("{record}\n")
    }

    fn next(&mut self) -> (String, String) {
        self.records += 1;
        let uuid = format!("uuid-{}-{}", self.session, self.records);
        self.parent = Some(uuid.clone());
        let timestamp = format!("{:.3}", self.next_at);
        self.next_at += BETWEEN_RECORDS;
        (uuid, timestamp)
    }
}

const BETWEEN_RECORDS: SignedDuration = SignedDuration::from_mins(1);

/// A minute after the beginning of a day of August 2026.
fn begin_of_day(day: u32) -> Timestamp {
    let midnight = date(2026, 8, day as i8).to_zoned(TimeZone::UTC).unwrap();
    midnight.timestamp() + BETWEEN_RECORDS
}

/// A prompt and an answer that are worth remembering; every number has its own, with its number in both.
pub fn topic(number: u32) -> (String, String) {
    const THINGS: [&str; 8] = [
        "parser",
        "cache",
        "scheduler",
        "ledger",
        "gateway",
        "renderer",
        "importer",
        "session store",
    ];
    const TROUBLES: [&str; 7] = [
        "drop its last entry",
        "answer twice",
        "run out of handles",
        "lose the time zone",
        "block on start",
        "round down",
        "leak a lock",
    ];
    const CURES: [&str; 5] = [
        "a bounded queue",
        "an explicit flush before the close",
        "one retry with a fresh handle",
        "a check at the border",
        "a stored offset",
    ];
    let pick = |of: &[&'static str], step: u32| of[(number / step) as usize % of.len()];
    let (thing, trouble, cure) = (pick(&THINGS, 1), pick(&TROUBLES, 8), pick(&CURES, 3));
    (
        format!("Why does the {thing} of case{number} {trouble} after an upgrade?"),
        format!("The {thing} of case{number} kept an old handle. It has {cure} now, and a test holds it down."),
    )
}
