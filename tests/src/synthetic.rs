//! Episodes without end for benches: sentences of real texts recombined, the same every time.
//!
//! Runs of sentences that belong together are put together anew, so that terms keep the frequencies that they have in real
//! text. Real stores also go on meeting new names, so every episode brings identifiers: every other one of its own, the rest
//! taken from any episode before. Where the shared texts are absent, a few dozen sentences of our own are recombined: enough
//! to exercise the path, not to speak of its speed on real text.

mod store;
mod vectors;

use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use remembrancer_schema::{
    EpisodeUid, Facets, Importance, NewEpisode, Origin, ProjectId, ProjectRef, SessionKey, TurnUid, TurnUpsert, UnixMillis,
};

use crate::corpus::{self, Numbers};
use crate::shared;

pub use store::{PROJECTS, Store, Stores, Written, cwd};
pub use vectors::{MODEL, Vectors};

/// Judged sets whose documents are taken apart, beside the transcripts.
const SETS: [&str; 5] = ["lme-s-dev", "scifact", "cosqa-dev", "nl2bash-dev", "locomo-dev"];
/// Bytes of a sentence beyond which it is cut at a word: data and code without a full stop.
const LONGEST_SENTENCE: usize = 300;
/// Turns in a session.
const SESSION: u64 = 20;
/// Makes the numbers of prompts others than those of episodes.
const PROMPT_SEED: u64 = 1 << 40;

/// The texts that episodes and prompts are made of.
#[derive(Debug)]
pub struct Synthetic {
    /// Sentences of each text, in order.
    texts: Vec<Vec<String>>,
}

impl Synthetic {
    /// Reads the shared texts, else takes our own.
    ///
    /// # Panics
    /// Where a shared text can't be read.
    pub fn new() -> Self {
        let mut texts: Vec<Vec<String>> = corpus::pairs()
            .iter()
            .map(|pair| sentences(&format!("{}\n{}", pair.prompt, pair.answer)))
            .collect();
        for set in SETS {
            if let Some(file) = shared(&format!("eval/{set}/corpus.jsonl.gz")) {
                texts.extend(documents(&file).iter().map(|text| sentences(text)));
            }
        }
        texts.retain(|text| !text.is_empty());
        Self { texts }
    }

    /// Turn `number` (from 0), in the project that [`Synthetic::project`] gives it.
    pub fn turn(&self, number: u64, project: ProjectId, cwd: &str) -> TurnUpsert {
        let mut numbers = Numbers::new(number + 1);
        let (prompt_length, answer_length) = (1 + numbers.below(3), 4 + numbers.below(13));
        let mut prompt = self.run(prompt_length, &mut numbers);
        let mut answer = self.run(answer_length, &mut numbers);
        let name = self.identifier(number, &mut numbers);
        let place = if numbers.below(2) == 0 { &mut prompt } else { &mut answer };
        place.push(' ');
        place.push_str(&name);
        let facets = Facets {
            files: vec![format!("src/{}/{name}.rs", self.word(&mut numbers))],
            ..Facets::default()
        };
        let turn_uid = turn_uid(number);
        TurnUpsert {
            turn_uid,
            session: SessionKey {
                agent: "claude-code".to_owned(),
                external_id: format!("synthetic-{}", number / SESSION),
            },
            cwd: Some(cwd.to_owned()),
            told_cwd: None,
            git_branch: None,
            project: Some(ProjectRef::Known(project)),
            episodes: vec![NewEpisode {
                uid: EpisodeUid::of(&turn_uid, 0),
                turn_uid,
                part: 0,
                turn: (number % SESSION) as u32,
                origin: Origin::User,
                importance: Importance::Normal,
                importance_rule: "default".to_owned(),
                created_at: created_at(number),
                prompt,
                answer,
                facets,
            }],
        }
    }

    /// A prompt of `words` words; prompts of other numbers are others.
    pub fn prompt(&self, number: u64, words: usize) -> String {
        let mut numbers = Numbers::new(PROMPT_SEED + number);
        let mut prompt: Vec<String> = Vec::new();
        while prompt.len() < words {
            let run = self.run(2, &mut numbers);
            prompt.extend(run.split_whitespace().map(str::to_owned));
        }
        prompt.truncate(words);
        prompt.join(" ")
    }

    /// The `count` most frequent words in this many texts, as a prompt: what costs a full-text search most.
    pub fn common_words(&self, count: usize) -> String {
        let mut frequencies = std::collections::BTreeMap::<String, usize>::new();
        for text in &self.texts {
            for term in remembrancer_schema::query_terms(&text.join(" "), usize::MAX) {
                *frequencies.entry(term).or_default() += 1;
            }
        }
        let mut terms: Vec<(String, usize)> = frequencies.into_iter().collect();
        terms.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let terms: Vec<String> = terms.into_iter().take(count).map(|(term, _)| term).collect();
        terms.join(" ")
    }

    /// The sentences of a text that follow each other.
    fn run(&self, length: usize, numbers: &mut Numbers) -> String {
        let text = &self.texts[numbers.below(self.texts.len())];
        let first = numbers.below(text.len());
        text[first..text.len().min(first + length)].join(" ")
    }

    fn word(&self, numbers: &mut Numbers) -> String {
        let run = self.run(1, numbers);
        let words: Vec<&str> = run
            .split(|c: char| !c.is_ascii_alphabetic())
            .filter(|word| (3..12).contains(&word.len()))
            .collect();
        words
            .get(numbers.below(words.len()))
            .map_or("main", |word| *word)
            .to_lowercase()
    }

    /// A name of this episode's own, or one that an episode before brought.
    fn identifier(&self, number: u64, numbers: &mut Numbers) -> String {
        let brought_by = if numbers.below(2) == 0 {
            number
        } else {
            numbers.below(number as usize + 1) as u64
        };
        let mut numbers = Numbers::new(u64::MAX / 2 - brought_by);
        format!("{}_{}_{brought_by}", self.word(&mut numbers), self.word(&mut numbers))
    }
}

impl Default for Synthetic {
    fn default() -> Self {
        Self::new()
    }
}

/// When a turn began: one a minute.
fn created_at(number: u64) -> UnixMillis {
    UnixMillis(1_600_000_000_000 + number as i64 * 60_000)
}

fn turn_uid(number: u64) -> TurnUid {
    let mut uid = [0; 16];
    uid[..8].copy_from_slice(&number.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes());
    uid[8..].copy_from_slice(&number.to_be_bytes());
    TurnUid(uid)
}

fn sentences(text: &str) -> Vec<String> {
    text.split_inclusive(['\n', '.', '?', '!'])
        .map(str::trim)
        .filter(|sentence| sentence.len() > 2)
        .map(|sentence| sentence[..sentence.floor_char_boundary(LONGEST_SENTENCE)].to_owned())
        .collect()
}

fn documents(file: &Path) -> Vec<String> {
    let mut lines = String::new();
    GzDecoder::new(fs_err::File::open(file).unwrap())
        .read_to_string(&mut lines)
        .unwrap();
    lines
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .filter_map(|document| document["text"].as_str().map(str::to_owned))
        .collect()
}
