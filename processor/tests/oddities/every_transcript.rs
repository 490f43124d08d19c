//! Every public transcript of every agent, read whole and in cuts: nothing panics, every line that gave nothing has a kind, and
//! a restart finds the same turns. Prints what was read of each agent.

use std::collections::{BTreeMap, BTreeSet};

use remembrancer_processor::ingest::{Advance, ResumePoint, Shape, SourceReader, Turn, episodes};

use super::shared::{Sample, report};
use super::{antigravity, claude_code, codex, copilot_cli, cursor, droid, gemini, grok, hermes, kimi, opencode, pi, qwen};

/// Each agent with public transcripts: its id, those of its transcripts that are sources, and how many turns they hold at least.
fn agents() -> [(&'static str, Vec<Sample>, usize); 14] {
    [
        ("claude-code", claude_code::samples(), 200),
        ("antigravity", antigravity::samples(), 3),
        ("codex", codex::samples(), 60),
        ("copilot-cli", copilot_cli::samples(), 15),
        ("cursor", cursor::samples(), 12),
        ("droid", droid::samples(), 7),
        ("gemini-cli", gemini::samples(), 10),
        ("grok", grok::samples(), 3),
        ("hermes", hermes::samples(), 3),
        ("kimi", kimi::samples(), 10),
        ("openclaw", pi::openclaw_samples(), 3),
        ("opencode", opencode::samples(), 4),
        ("pi", pi::samples(), 2),
        ("qwen-code", qwen::samples(), 6),
    ]
}

/// What an agent's transcripts gave, for people.
#[derive(Default)]
struct Totals {
    files: usize,
    records: u64,
    sessions: BTreeSet<String>,
    turns: usize,
    episodes: usize,
    problems: BTreeMap<String, usize>,
}

impl Totals {
    fn add(&mut self, advance: &Advance) {
        self.files += 1;
        self.records += advance.records;
        self.turns += advance.turns.len();
        for turn in &advance.turns {
            self.episodes += episodes(turn).len();
            self.sessions.insert(turn.session.clone());
        }
        for problem in &advance.problems {
            *self.problems.entry(problem.kind.as_str().into_owned()).or_default() += 1;
        }
    }

    fn row(&self, agent: &str) -> String {
        let problems: Vec<String> = self.problems.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
        format!(
            "| {agent} | {} | {} | {} | {} | {} | {} |",
            self.files,
            self.records,
            self.sessions.len(),
            self.turns,
            self.episodes,
            problems.join(", ")
        )
    }
}

#[test]
fn every_transcript_is_read() {
    report("| agent | files | records | sessions | turns | episodes | problems |");
    for (agent, samples, least) in agents() {
        let mut totals = Totals::default();
        for sample in &samples {
            let advance = sample.read();
            assert_eq!(advance.skipped, advance.problems.len() as u64);
            if sample.shape == Shape::Lines {
                assert_eq!(advance.read.offset.0, sample.content.len() as u64);
                let lines = sample.content.split(|byte| *byte == b'\n').count() as u64 - 1;
                let read = advance.records + advance.skipped;
                assert!(
                    read >= lines,
                    "every line is a record or has a kind: {}",
                    sample.path.display()
                );
            }
            totals.add(&advance);
        }
        report(&totals.row(agent));
        assert!(samples.is_empty() || totals.turns >= least, "{agent}: {} turns", totals.turns);
    }
}

#[test]
fn cuts_of_every_transcript_give_the_same_turns() {
    let samples = agents().into_iter().flat_map(|(_, samples, _)| samples);
    for sample in samples.filter(|sample| sample.shape == Shape::Lines) {
        let whole = sample.read().turns;
        // Primes, so that cuts fall everywhere in lines and characters.
        for step in [7_919, 65_537, sample.content.len() / 3 + 1] {
            let chunks: Vec<&[u8]> = sample.content.chunks(step).collect();
            let turns = read(sample_reader(&sample), &chunks).turns;
            assert_eq!(turns, whole, "{} by {step}", sample.path.display());
            restart_at(&sample, step, &whole);
        }
    }
}

fn sample_reader(sample: &Sample) -> SourceReader {
    SourceReader::new(&sample.info, ResumePoint::default())
}

fn read(mut reader: SourceReader, chunks: &[&[u8]]) -> Advance {
    for chunk in chunks {
        reader.push(chunk);
    }
    reader.drain()
}

/// Reads up to `at`, drops the reader, and reads the rest with a new one.
fn restart_at(sample: &Sample, at: usize, whole: &[Turn]) {
    let at = at.min(sample.content.len());
    let first = read(sample_reader(sample), &[&sample.content[..at]]);
    let rest = &sample.content[first.committed.offset.0 as usize..];
    let state = first.state.expect("a state of bounded size");
    let reader = SourceReader::resume(&sample.info, first.committed, &state).expect("a state that was written");
    let rest = read(reader, &[rest]);
    let mut turns: BTreeMap<u32, Turn> = BTreeMap::new();
    for turn in first.turns.into_iter().chain(rest.turns) {
        turns.insert(turn.ordinal, turn);
    }
    for (found, expected) in turns.into_values().zip(whole) {
        assert_eq!(&found, expected, "{}", sample.path.display());
    }
}
