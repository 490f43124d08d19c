//! The sessions of a soak, in two folders of one user: what is written, what is taken back, and so what must be remembered.

use std::collections::BTreeMap;

use remembrancer_schema::{ForgetTarget, UnixMillis};
use serde_json::json;

use crate::corpus::Numbers;
use crate::{Sandbox, Transcript, topic};

/// Sessions that are open at once.
const OPEN: usize = 12;
/// Turns of a session that ended long ago.
const OLD_TURNS: u32 = 50;
/// When the first session begins (the first of January 2026), and how much later each begins than the one before: what is new in a
/// fork is younger than what it repeats, or it would be taken for a copy.
const BEGIN: i64 = 1_767_225_600_000;
const LATER: i64 = 6 * 3_600_000;

/// A session and what of it stands in its file.
struct Session {
    transcript: Transcript,
    /// The turns that it told first, and the file's length after each.
    turns: Vec<(u32, u64)>,
    /// The rest of a line that is half written.
    rest: Option<String>,
    /// Whether a fork copies its turns: then nothing of it is taken back.
    is_forked: bool,
    /// Whether all of it was read.
    was_read: bool,
}

impl Session {
    fn length(&self) -> u64 {
        fs_err::metadata(self.transcript.path()).map_or(0, |metadata| metadata.len())
    }

    /// Completes a half-written line: its turn stands there then.
    fn complete(&mut self) {
        if let Some(rest) = self.rest.take() {
            self.transcript.raw(&rest);
        }
    }
}

/// The transcripts of a soak.
pub(super) struct World<'a> {
    sandbox: &'a Sandbox,
    cwd: String,
    open: Vec<Session>,
    closed: Vec<Session>,
    begun: u32,
    /// Of them, those of the past.
    old: u32,
    /// The number of the next turn.
    next: u32,
    /// Turns that must be remembered, or must not.
    truth: BTreeMap<u32, bool>,
    counts: BTreeMap<&'static str, u32>,
}

impl<'a> World<'a> {
    /// A world with a second folder of transcripts beside the usual one.
    pub(super) fn new(sandbox: &'a Sandbox, seed: u64) -> Self {
        let second = sandbox.home().join("second/projects");
        fs_err::create_dir_all(&second).unwrap();
        sandbox.configure(&format!(
            "[transcripts]\nfolders = {{ claude-code = [{:?}] }}\n",
            second.display().to_string()
        ));
        Self {
            sandbox,
            cwd: sandbox.project(&format!("shop-{seed}")),
            open: Vec::new(),
            closed: Vec::new(),
            begun: 0,
            old: 0,
            next: 0,
            truth: BTreeMap::new(),
            counts: BTreeMap::new(),
        }
    }

    /// Writes so many turns of sessions that ended long ago.
    pub(super) fn begin_with(&mut self, turns: u32) {
        let last = self.next + turns;
        while self.next < last {
            let mut session = Session {
                transcript: self.fresh(),
                turns: Vec::new(),
                rest: None,
                is_forked: false,
                was_read: false,
            };
            for number in self.next..last.min(self.next + OLD_TURNS) {
                session.transcript.topics(number..number + 1);
                session.turns.push((number, session.length()));
                self.truth.insert(number, true);
                self.next += 1;
            }
            self.closed.push(session);
        }
        self.old = self.begun;
    }

    /// The project of all sessions.
    pub(super) fn project(&self) -> &str {
        &self.cwd
    }

    /// Sessions that were begun, without those of the past.
    pub(super) fn begun(&self) -> u32 {
        self.begun - self.old
    }

    /// Turns that were written.
    pub(super) fn written(&self) -> u32 {
        self.next
    }

    /// What was done, by name.
    pub(super) fn done(&self) -> Vec<(&'static str, u32)> {
        let mut done: Vec<_> = self.counts.iter().map(|(name, times)| (*name, *times)).collect();
        done.extend([
            ("sessions", self.begun()),
            ("turns of the past", self.old * OLD_TURNS),
            ("turns", self.next),
        ]);
        done
    }

    /// Begins a session; the oldest open one ends, some as an agent that was killed ends: in the middle of a line.
    pub(super) fn begin(&mut self) {
        let transcript = self.fresh();
        self.open.push(Session {
            transcript,
            turns: Vec::new(),
            rest: None,
            is_forked: false,
            was_read: false,
        });
        if self.open.len() > OPEN {
            let mut ended = self.open.remove(0);
            ended.complete();
            if self.begun.is_multiple_of(5) {
                let line = ended.transcript.prompt_line("this was never written to its end");
                ended.transcript.raw(&line[..line.len() / 2]);
                self.count("broken off");
            }
            self.closed.push(ended);
        }
    }

    fn fresh(&mut self) -> Transcript {
        let number = self.begun;
        self.begun += 1;
        let root = if number.is_multiple_of(2) {
            self.sandbox.root()
        } else {
            self.sandbox.home().join("second/projects")
        };
        let mut transcript = Transcript::new(&root, &format!("soak-{number}"), &self.cwd);
        transcript.at(UnixMillis(BEGIN + i64::from(number) * LATER));
        transcript
    }

    fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    /// One thing happens, mostly a turn.
    pub(super) fn step(&mut self, numbers: &mut Numbers) {
        match numbers.below(120) {
            0..3 => self.compact(numbers),
            3..6 => self.rewind(numbers),
            6..9 => self.fork(numbers),
            9..12 => self.delete(numbers),
            12..14 => self.forget(numbers),
            _ => self.turn(numbers),
        }
    }

    fn turn(&mut self, numbers: &mut Numbers) {
        let number = self.next;
        let Some(session) = pick(&mut self.open, numbers) else {
            return;
        };
        self.next += 1;
        session.complete();
        let (prompt, answer) = topic(number);
        session.transcript.prompt(&prompt);
        if numbers.below(5) == 0 {
            let output = format!("error: case{number} failed\n{}", "x".repeat(numbers.below(40_000)));
            session
                .transcript
                .tool("Bash", &json!({"command": format!("cargo test case{number}")}), &output, true);
        }
        if numbers.below(7) == 0 {
            let line = session.transcript.answer_line(&answer);
            let (half, rest) = line.split_at(line.len() / 2);
            session.transcript.raw(half);
            session.rest = Some(rest.to_owned());
        } else {
            session.transcript.answer(&answer);
        }
        let length = session.length() + session.rest.as_ref().map_or(0, |rest| rest.len() as u64);
        session.turns.push((number, length));
        self.truth.insert(number, true);
    }

    fn compact(&mut self, numbers: &mut Numbers) {
        let Some(session) = pick(&mut self.open, numbers) else {
            return;
        };
        session.complete();
        session.transcript.compaction();
        if let Some((_, length)) = session.turns.last_mut() {
            *length = fs_err::metadata(session.transcript.path()).map_or(0, |metadata| metadata.len());
        }
        self.count("compactions");
    }

    /// Takes back the last turns of a session, as an agent's rewind does: the file is cut, and grows again.
    fn rewind(&mut self, numbers: &mut Numbers) {
        let Some(session) = pick(&mut self.open, numbers).filter(|session| !session.is_forked && session.turns.len() > 3) else {
            return;
        };
        session.complete();
        let kept = session.turns.len() - 1 - numbers.below(3);
        let (_, length) = session.turns[kept - 1];
        let file = fs_err::OpenOptions::new()
            .write(true)
            .open(session.transcript.path())
            .unwrap();
        file.set_len(length).unwrap();
        let taken_back = session.turns.split_off(kept);
        self.truth.extend(taken_back.into_iter().map(|(number, _)| (number, false)));
        self.count("rewinds");
    }

    /// A new session begins with the records of an ended one.
    fn fork(&mut self, numbers: &mut Numbers) {
        let mut transcript = self.fresh();
        let Some(original) = pick(&mut self.closed, numbers).filter(|session| session.transcript.path().exists()) else {
            self.begun -= 1;
            return;
        };
        original.is_forked = true;
        let whole: String = original
            .transcript
            .content()
            .split_inclusive('\n')
            .filter(|line| line.ends_with('\n'))
            .collect();
        let (old, new) = (original.transcript.session(), transcript.session());
        let copies = whole.replace(&format!("\"sessionId\":\"{old}\""), &format!("\"sessionId\":\"{new}\""));
        transcript.raw(&copies);
        self.open.push(Session {
            transcript,
            turns: Vec::new(),
            rest: None,
            is_forked: true,
            was_read: false,
        });
        self.count("forks");
    }

    /// An agent deletes the transcript of a session that ended long ago.
    fn delete(&mut self, numbers: &mut Numbers) {
        let Some(session) = pick(&mut self.closed, numbers).filter(|session| session.was_read) else {
            return;
        };
        if fs_err::remove_file(session.transcript.path()).is_ok() {
            self.count("deletions");
        }
    }

    /// The user has a session forgotten.
    fn forget(&mut self, numbers: &mut Numbers) {
        let index = numbers.below(self.closed.len());
        if self
            .closed
            .get(index)
            .is_none_or(|session| session.is_forked || !session.was_read)
        {
            return;
        }
        let session = self.closed.swap_remove(index);
        let held = self.sandbox.reader().episodes_of(&ForgetTarget::Session {
            agent: None,
            external_id: session.transcript.session().to_owned(),
        });
        // One of which every turn was taken back holds nothing, and to forget nothing is an error.
        if held.unwrap().is_empty() {
            return;
        }
        let output = self
            .sandbox
            .run(&["forget", "--session", session.transcript.session(), "--yes"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        self.truth
            .extend(session.turns.into_iter().map(|(number, _)| (number, false)));
        self.count("forgotten sessions");
    }

    /// Completes what is half written.
    pub(super) fn end(&mut self) {
        self.open.iter_mut().for_each(Session::complete);
    }

    /// All that was written is read now.
    pub(super) fn was_read(&mut self) {
        for session in &mut self.closed {
            session.was_read = true;
        }
    }

    /// What of the turns is not among `prompts` and must be, is there twice, or must not be there.
    pub(super) fn compare(&self, prompts: &[String]) -> (Vec<u32>, Vec<u32>, Vec<u32>) {
        let mut held: BTreeMap<&str, usize> = BTreeMap::new();
        for prompt in prompts {
            *held.entry(prompt).or_default() += 1;
        }
        let times = |number: u32| held.get(topic(number).0.as_str()).copied().unwrap_or_default();
        let those = |wrong: &dyn Fn(u32, bool) -> bool| {
            let turns = self.truth.iter().filter(|(number, wanted)| wrong(**number, **wanted));
            turns.map(|(number, _)| *number).collect()
        };
        (
            those(&|number, wanted| wanted && times(number) == 0),
            those(&|number, _| times(number) > 1),
            those(&|number, wanted| !wanted && times(number) > 0),
        )
    }
}

fn pick<'s>(sessions: &'s mut [Session], numbers: &mut Numbers) -> Option<&'s mut Session> {
    let index = numbers.below(sessions.len());
    sessions.get_mut(index)
}
