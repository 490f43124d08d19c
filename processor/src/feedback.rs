//! Whether a recollection was used, told from what the agent said and did after it was shown.
//!
//! In: the episode that was shown, the prompt and what followed it, and in how many episodes a term occurs. Out:
//! [`Evidence`], and the [`Use`] that it shows, if any. Pure. Precision goes before recall: a use that is missed costs
//! nothing, and one that is imagined raises what was merely on the topic.
//!
//! What the prompt itself brought along proves nothing, and neither does what much of the store speaks of: only what is
//! rare, and new since the prompt, can have come from the recollection. Terms are those of the full-text index.

use std::collections::{BTreeSet, HashMap, HashSet};

use remembrancer_schema::{EpisodeText, Facets, query_terms, terms};

/// A term is rare if it occurs in no more episodes than this: the recollection, the turn that used it, and a few beside.
/// In public transcripts twice as many let through several times as many imagined uses (ADR 13).
const RARE_EPISODES: u64 = 6;
/// In a small store a term is rare in no more than this share of its episodes, and one: six of sixty is half a project.
const RARE_SHARE: f64 = 0.03;
/// Rare words that must be said again: three occur by chance in one pair of forty.
const LEAST_WORDS: usize = 4;
/// The share of the recollection's rare words that these must be: a long answer meets four of a long recollection by chance.
const LEAST_SHARE: f64 = 0.2;
/// Rare files that must be touched or named. A file alone may have been found anyway: it counts beside words.
const LEAST_FILES: usize = 1;
/// Rare words that must be said beside a file.
const LEAST_WORDS_BESIDE_FILES: usize = 2;

/// What shows that a recollection was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// Its id is named.
    Id,
    /// A file of it came up that the prompt didn't name, beside rare words of it.
    Files,
    /// So many of its rare words came up that it is hardly chance.
    Words,
}

impl Use {
    /// The name in the store and in `why`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::Files => "files",
            Self::Words => "words",
        }
    }
}

/// A prompt, and what the agent said and did after it, as terms.
#[derive(Debug)]
pub struct Followed {
    asked: HashSet<String>,
    said: HashSet<String>,
    touched: HashSet<String>,
}

impl Followed {
    /// Analyses a prompt, the answer to it, and what was done. What was run counts as said. Error lines are left out: what
    /// fails, fails by itself.
    pub fn new(prompt: &str, answer: &str, facets: &Facets) -> Self {
        let commands = facets.commands.iter().map(String::as_str);
        Self {
            asked: terms(prompt).into_iter().collect(),
            said: std::iter::once(answer).chain(commands).flat_map(terms).collect(),
            touched: facets.files.iter().flat_map(|file| terms(file)).collect(),
        }
    }

    /// The rare term by which a word is known again: the first that was said, else the first. None for a word without a
    /// rare term, and for one that the prompt brought along, if only by a part of it.
    fn known_by<'a>(&self, word: &'a Word, is_rare: impl Fn(&&String) -> bool) -> Option<&'a String> {
        let rare: Vec<&String> = word.iter().filter(is_rare).collect();
        if rare.iter().any(|term| self.asked.contains(*term)) {
            return None;
        }
        rare.iter().find(|term| self.said.contains(**term)).or(rare.first()).copied()
    }
}

/// What an episode could be known by, when it comes up again.
#[derive(Debug)]
pub struct Traces {
    id: String,
    files: BTreeSet<Word>,
    words: BTreeSet<Word>,
}

/// The terms of one word: itself, then its parts.
type Word = Vec<String>;

/// How much of an episode came up again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Evidence {
    /// Whether its id was named.
    pub id: bool,
    /// Its rare files that were touched or named.
    pub files: usize,
    /// Its rare words that were said.
    pub words: usize,
    /// All its rare words that the prompt didn't hold.
    pub rare_words: usize,
}

impl Traces {
    /// The traces that `episode` may leave: its short id, the names of its files, and its words.
    pub fn of(episode: &EpisodeText) -> Self {
        let names = episode
            .facets
            .files
            .iter()
            .map(|file| file.rsplit('/').next().unwrap_or(file));
        let commands = episode.facets.commands.join("\n");
        Self {
            id: episode.uid.short(),
            files: names.map(terms).filter(|word| !word.is_empty()).collect(),
            words: words(&[&episode.prompt, &episode.answer, &commands].map(String::as_str).join("\n")),
        }
    }

    /// The terms whose frequency [`Traces::evidence`] asks for, each once.
    pub fn terms(&self) -> Vec<String> {
        let all: BTreeSet<&String> = self.files.iter().chain(&self.words).flatten().collect();
        all.into_iter().cloned().collect()
    }

    /// Looks for the traces in what followed. `frequencies` says in how many of the store's `episodes` a term occurs; one
    /// that is not there occurs in none.
    pub fn evidence(&self, followed: &Followed, frequencies: &HashMap<String, u64>, episodes: u64) -> Evidence {
        let most = RARE_EPISODES.min((episodes as f64 * RARE_SHARE).ceil() as u64 + 1);
        let is_rare = |term: &&String| frequencies.get(*term).is_none_or(|frequency| *frequency <= most);
        // Words that are known by the same part, as two flags of one program are, are one trace.
        let rare: BTreeSet<&String> = self
            .words
            .iter()
            .filter_map(|word| followed.known_by(word, is_rare))
            .collect();
        let came_up = |name: &&Word| {
            let whole = &name[0];
            is_rare(&whole)
                && followed.known_by(name, is_rare).is_some()
                && (followed.touched.contains(whole) || followed.said.contains(whole))
        };
        Evidence {
            id: followed.said.contains(&self.id) && !followed.asked.contains(&self.id),
            files: self.files.iter().filter(came_up).count(),
            words: rare.iter().filter(|term| followed.said.contains(**term)).count(),
            rare_words: rare.len(),
        }
    }
}

/// The words of a text, each once and without its stop words: a small store may hold one of these only twice.
fn words(text: &str) -> BTreeSet<Word> {
    let telling: HashSet<String> = query_terms(text, usize::MAX).into_iter().collect();
    let word = |word: &str| -> Word { terms(word).into_iter().filter(|term| telling.contains(term)).collect() };
    text.split_whitespace().map(word).filter(|word| !word.is_empty()).collect()
}

impl Evidence {
    /// The use that this shows.
    pub fn shows(&self) -> Option<Use> {
        let share = self.words as f64 / self.rare_words.max(1) as f64;
        if self.id {
            Some(Use::Id)
        } else if self.files >= LEAST_FILES && self.words >= LEAST_WORDS_BESIDE_FILES {
            Some(Use::Files)
        } else if self.words >= LEAST_WORDS && share >= LEAST_SHARE {
            Some(Use::Words)
        } else {
            None
        }
    }
}

/// How much an episode's count of uses says, for a ranking by it: 0 for none, then one more each time that it doubles.
///
/// Ranked by the bare count, what was shown first is used first, thus shown more, and so on: where all episodes are asked
/// for alike that costs nine points of recall (ADR 13). One that is asked for ten times as often as another still stands
/// above it, and no count is ever more than 64 ranks above none.
pub fn use_level(access_count: u64) -> u32 {
    u64::BITS - access_count.leading_zeros()
}

#[cfg(test)]
mod tests;
