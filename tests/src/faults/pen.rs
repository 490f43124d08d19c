//! Writes transcripts as agents do, and tells the truth of each line: whole files, forks, subagents' files, and live ones that grow by
//! half lines.

use std::path::PathBuf;

use super::truth::Truth;
use crate::corpus::Numbers;
use crate::{Sandbox, Transcript, topic};

/// Topics are numbered from here on, so that all numbers have the same length and none is part of another.
const FIRST_TOPIC: u32 = 100_000;
/// Whole files are of the days before it.
const LAST_DAY: u32 = 28;
/// Transcripts that grow while a daemon runs.
const LIVE: usize = 3;
/// Of so many lines that are written live, one is written in two halves.
const HALVES: usize = 3;

/// A transcript that grows.
#[derive(Debug)]
struct Live {
    transcript: Transcript,
    /// The topic whose prompt was written and whose answer was not.
    open: Option<u32>,
    /// The rest of a line of which only a half was written, and the topic that it answers.
    rest: Option<(String, Option<u32>)>,
}

/// Writes transcripts below one home.
#[derive(Debug)]
pub struct Pen {
    root: PathBuf,
    cwd: String,
    scratch: PathBuf,
    next_topic: u32,
    next_session: u32,
    live: Vec<Live>,
    /// Sessions of whole files, with the file of each.
    whole: Vec<(String, PathBuf)>,
}

impl Pen {
    /// A pen for this home.
    pub fn new(sandbox: &Sandbox) -> Self {
        Self {
            root: sandbox.root(),
            cwd: sandbox.project("shop"),
            scratch: sandbox.home().join("scratch"),
            next_topic: FIRST_TOPIC,
            next_session: 0,
            live: Vec::new(),
            whole: Vec::new(),
        }
    }

    /// The working folder of every session.
    pub fn cwd(&self) -> &str {
        &self.cwd
    }

    /// Sessions whose files were written whole.
    pub fn sessions(&self) -> impl Iterator<Item = &str> {
        self.whole.iter().map(|(session, _)| session.as_str())
    }

    /// Writes a new file of so many turns.
    pub fn file(&mut self, truth: &mut Truth, turns: u32) {
        let mut transcript = self.begin();
        self.turns(truth, &mut transcript, turns);
        self.whole
            .push((transcript.session().to_owned(), transcript.path().to_owned()));
    }

    /// Writes a file that repeats the first one of all, record for record, under a session of its own, and goes on (TC-09).
    ///
    /// # Panics
    /// Where a transcript can't be read or written.
    pub fn fork(&mut self, truth: &mut Truth, turns: u32) {
        let Some((session, path)) = self.whole.first() else { return };
        let copied = fs_err::read_to_string(path).unwrap();
        let named = |session: &str| format!("\"sessionId\":\"{session}\"");
        let session = named(session);
        // What is new is younger than what it repeats: an older record that follows none is taken for a copy of an earlier turn.
        let mut transcript = self.begin().on_day(LAST_DAY);
        transcript.raw(&copied.replace(&session, &named(transcript.session())));
        self.turns(truth, &mut transcript, turns);
    }

    /// Writes so many subagents' files of one turn each, all with the session id of their parent (TC-08).
    ///
    /// # Panics
    /// Where a transcript can't be read or written.
    pub fn subagents(&mut self, truth: &mut Truth, files: u32) {
        let Some((parent, path)) = self.whole.last().cloned() else {
            return;
        };
        let folder = path.with_extension("").join("subagents");
        fs_err::create_dir_all(&folder).unwrap();
        for _ in 0..files {
            let name = format!("agent-{}", self.next_session);
            self.next_session += 1;
            let mut transcript = Transcript::new(&self.scratch, &name, &self.cwd);
            self.turns(truth, &mut transcript, 1);
            let text = transcript.content();
            let text = text.replace(&format!("\"sessionId\":\"{name}\""), &format!("\"sessionId\":\"{parent}\""));
            let text = text.replace(
                "\"isSidechain\":false",
                &format!("\"isSidechain\":true,\"agentId\":\"{name}\""),
            );
            fs_err::write(folder.join(format!("{name}.jsonl")), text).unwrap();
        }
    }

    /// Lets one of the live transcripts grow by a line or by a half of one.
    pub fn step(&mut self, truth: &mut Truth, dice: &mut Numbers) {
        while self.live.len() < LIVE {
            let transcript = self.begin();
            self.live.push(Live {
                transcript,
                open: None,
                rest: None,
            });
        }
        let topics = &mut self.next_topic;
        let live = &mut self.live[dice.below(LIVE)];
        if let Some((rest, answers)) = live.rest.take() {
            live.transcript.raw(&rest);
            live.told(truth, answers);
            return;
        }
        let (text, answers) = if let Some(number) = live.open {
            (live.transcript.answer_line(&topic(number).1), Some(number))
        } else {
            let number = *topics;
            *topics += 1;
            let prompt = topic(number).0;
            truth.prompt(live.transcript.session(), &prompt);
            live.open = Some(number);
            (live.transcript.prompt_line(&prompt), None)
        };
        if dice.below(HALVES) == 0 {
            let (half, rest) = text.split_at(1 + dice.below(text.len() - 2));
            live.transcript.raw(half);
            live.rest = Some((rest.to_owned(), answers));
        } else {
            live.transcript.raw(&text);
            live.told(truth, answers);
        }
    }

    /// The word of a prompt that no other prompt holds; the index has it, too.
    pub fn mark(prompt: &str) -> Option<&str> {
        prompt.split_whitespace().find(|word| word.starts_with("case"))
    }

    fn begin(&mut self) -> Transcript {
        let session = format!("s-{}", self.next_session);
        self.next_session += 1;
        Transcript::new(&self.root, &session, &self.cwd).on_day(1 + self.next_session % (LAST_DAY - 1))
    }

    fn turns(&mut self, truth: &mut Truth, transcript: &mut Transcript, turns: u32) {
        let mut text = String::new();
        for number in self.next_topic..self.next_topic + turns {
            let (prompt, answer) = topic(number);
            truth.prompt(transcript.session(), &prompt);
            text += &transcript.prompt_line(&prompt);
            text += &transcript.answer_line(&answer);
            truth.answered(&prompt, &answer);
        }
        self.next_topic += turns;
        transcript.raw(&text);
    }
}

impl Live {
    /// A whole line stands there now.
    fn told(&mut self, truth: &mut Truth, answers: Option<u32>) {
        if let Some(number) = answers {
            let (prompt, answer) = topic(number);
            truth.answered(&prompt, &answer);
            self.open = None;
        }
    }
}
