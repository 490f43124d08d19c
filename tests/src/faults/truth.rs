//! What must be in the memory, as a harness knows it: what it wrote into transcripts, what a reader saw in the store, what it had
//! forgotten. It grows while daemons come and go, and is what a store is held against.

use std::collections::{BTreeMap, BTreeSet};

use remembrancer_hooks::places::Places;
use remembrancer_schema::{Audit, EpisodeUid, ForgetTarget, Reader, TurnUid};

/// What became of a turn by the user's word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// It is to be remembered.
    Kept,
    /// It was to be forgotten, and nobody said that it was: either is right, and nothing between.
    Forgetting,
    /// It was forgotten, as was acknowledged or seen.
    Forgotten,
}

/// A turn of a transcript: a prompt that no other turn has, and what was answered.
#[derive(Debug, Clone)]
pub struct Turn {
    /// The session in whose transcript it stands first; a copy in another may be the one that is stored.
    pub session: String,
    /// The answer; `None` while no whole line of it is written.
    pub answer: Option<String>,
    /// Whether it is to be remembered.
    pub wish: Wish,
}

/// What must be in the memory.
#[derive(Debug, Clone, Default)]
pub struct Truth {
    /// The turns that stand in transcripts, by prompt.
    pub turns: BTreeMap<String, Turn>,
    /// The episodes that a reader saw, with their prompts.
    pub seen: BTreeMap<EpisodeUid, String>,
    /// The forgotten turns that a reader saw.
    pub buried: BTreeSet<TurnUid>,
    /// The last prompt of each session for which a hook was fired.
    pub asked: BTreeMap<String, String>,
}

impl Truth {
    /// Notes that the line of a prompt is about to be written.
    pub fn prompt(&mut self, session: &str, prompt: &str) {
        let turn = Turn {
            session: session.to_owned(),
            answer: None,
            wish: Wish::Kept,
        };
        self.turns.insert(prompt.to_owned(), turn);
    }

    /// Notes that the answer to `prompt` is written, to the end of its line.
    pub fn answered(&mut self, prompt: &str, answer: &str) {
        if let Some(turn) = self.turns.get_mut(prompt) {
            turn.answer = Some(answer.to_owned());
        }
    }

    /// Sets what becomes of all turns of a session.
    pub fn wish(&mut self, session: &str, wish: Wish) {
        for turn in self.turns.values_mut().filter(|turn| turn.session == session) {
            turn.wish = wish;
        }
    }

    /// Sees the store at `places` as any reader does, beside a writer or without one: what is seen must never be lost. A store that
    /// can't be opened at this moment shows nothing.
    pub fn witness(&mut self, places: &Places) {
        let Ok(reader) = Reader::open(&places.database_file()) else {
            return;
        };
        let texts = reader.episodes_of(&ForgetTarget::All).and_then(|ids| reader.texts(&ids));
        self.seen
            .extend(texts.unwrap_or_default().into_iter().map(|text| (text.uid, text.prompt)));
        self.buried.extend(reader.tombstones().unwrap_or_default());
    }

    /// Learns from a look through the store what can't be known otherwise: whether a turn that was to be forgotten when the
    /// writer died was forgotten. What it holds now must be there from now on, but for what the journal says is forgotten
    /// (`decided`): the next writer does that.
    pub fn learn(&mut self, audit: &Audit, decided: &BTreeSet<String>) {
        let stays = audit
            .episodes
            .iter()
            .filter(|episode| !decided.contains(&episode.turn_uid.to_string()));
        let stays: BTreeSet<&str> = stays.map(|episode| episode.prompt.as_str()).collect();
        let stored: BTreeSet<&str> = audit.episodes.iter().map(|episode| episode.prompt.as_str()).collect();
        let seen = audit.episodes.iter().map(|episode| (episode.uid, episode.prompt.clone()));
        self.seen.extend(seen);
        self.buried.extend(&audit.tombstones);
        let seen: BTreeSet<&str> = self.seen.values().map(String::as_str).collect();
        for (prompt, turn) in self.turns.iter_mut().filter(|(_, turn)| turn.wish == Wish::Forgetting) {
            if stays.contains(prompt.as_str()) {
                turn.wish = Wish::Kept;
            } else if !stored.contains(prompt.as_str()) && seen.contains(prompt.as_str()) {
                turn.wish = Wish::Forgotten;
            }
        }
    }

    /// Forgets what was seen, for a store that is removed on purpose and will be made anew from the transcripts.
    pub fn store_is_removed(&mut self) {
        self.seen.clear();
        self.buried.clear();
        for turn in self.turns.values_mut() {
            turn.wish = Wish::Kept;
        }
    }
}
