//! Many episodes for benches: real ones replicated and varied, the same every time.
//!
//! Where the shared transcripts are absent, a few dozen sentences of our own are combined instead: enough to exercise the
//! path, not to speak of its speed on real text.

use std::path::Path;

use remembrancer_processor::ingest::{Agent, Context, ResumePoint, SourceInfo, SourceReader, episodes};
use remembrancer_schema::UnixMillis;

use crate::{Transcript, shared};

/// A question and its answer.
#[derive(Debug, Clone)]
pub struct Pair {
    /// The question.
    pub prompt: String,
    /// The answer.
    pub answer: String,
}

/// A small generator of numbers (xorshift64*), so that a corpus is the same on every machine.
#[derive(Debug, Clone)]
pub struct Numbers(u64);

impl Numbers {
    /// Begins a sequence.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// The next number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % bound.max(1)
    }
}

/// The pairs of the real transcripts, else our own.
///
/// # Panics
/// Where a shared transcript can't be read.
pub fn pairs() -> Vec<Pair> {
    let Some(folder) = shared("transcripts/claude") else {
        return own_pairs();
    };
    let mut pairs = Vec::new();
    let mut files: Vec<_> = walkdir::WalkDir::new(folder)
        .into_iter()
        .flatten()
        .filter(|entry| entry.path().extension().is_some_and(|extension| extension == "jsonl"))
        .map(walkdir::DirEntry::into_path)
        .collect();
    files.sort();
    for file in files {
        pairs.extend(pairs_of(&file));
    }
    pairs
}

fn pairs_of(file: &Path) -> Vec<Pair> {
    let info = SourceInfo {
        agent: Agent::CLAUDE_CODE,
        name: "bench".to_owned(),
        fallback_time: UnixMillis(0),
        context: Context::default(),
    };
    let mut reader = SourceReader::new(&info, ResumePoint::default());
    reader.push(&fs_err::read(file).unwrap());
    reader
        .drain()
        .turns
        .iter()
        .flat_map(episodes)
        .filter(|episode| !episode.prompt.is_empty() && !episode.answer.is_empty())
        .map(|episode| Pair {
            prompt: episode.prompt,
            answer: episode.answer,
        })
        .collect()
}

fn own_pairs() -> Vec<Pair> {
    let subjects = [
        "the cache",
        "the parser",
        "the login form",
        "the build",
        "the migration",
        "the scheduler",
        "the report",
    ];
    let troubles = [
        "is slow after a restart",
        "loses its last entry",
        "fails on Windows paths",
        "hangs under load",
    ];
    let causes = [
        "a lock was held too long",
        "the key lacked the locale",
        "a buffer was reused",
        "the timeout was in seconds",
    ];
    let mut pairs = Vec::new();
    for subject in subjects {
        for trouble in troubles {
            for cause in causes {
                pairs.push(Pair {
                    prompt: format!("Why is it that {subject} {trouble}?"),
                    answer: format!("It turned out that {cause}, so {subject} {trouble}. Fixed, with a test for it."),
                });
            }
        }
    }
    pairs
}

/// Writes `episodes` turns in sessions of twenty below `root`, over `projects`: each a real pair in which one word in eight
/// is replaced by a word of another pair.
///
/// # Panics
/// Where there is nothing to write from, or nothing can be written.
pub fn write(root: &Path, projects: &[String], episodes: usize) {
    let pairs = pairs();
    assert!(!pairs.is_empty(), "nothing to replicate");
    let mut numbers = Numbers::new(42);
    for session in 0..episodes.div_ceil(20) {
        let project = &projects[session % projects.len()];
        let mut transcript = Transcript::new(root, &format!("bench-{session:05}"), project).on_day(1 + (session % 28) as u32);
        for _ in 0..20.min(episodes - session * 20) {
            let pair = &pairs[numbers.below(pairs.len())];
            let other = &pairs[numbers.below(pairs.len())];
            let (prompt, answer) = (
                varied(&pair.prompt, &other.answer, &mut numbers),
                varied(&pair.answer, &other.answer, &mut numbers),
            );
            let prompt = transcript.prompt_line(&prompt);
            let answer = transcript.answer_line(&answer);
            transcript.raw(&(prompt + &answer));
        }
    }
}

fn varied(text: &str, other: &str, numbers: &mut Numbers) -> String {
    let words: Vec<&str> = other.split_whitespace().collect();
    text.split_inclusive(char::is_whitespace)
        .map(|word| {
            if words.is_empty() || numbers.below(8) > 0 {
                return word.to_owned();
            }
            let space: String = word.chars().filter(|c| c.is_whitespace()).collect();
            words[numbers.below(words.len())].to_owned() + &space
        })
        .collect()
}
