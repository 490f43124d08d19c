//! What each conversation has been answered lately: the last prompt (a host may fire twice for one) and what came of it, the topic
//! that was answered, and what was shown but is not stored yet. In memory alone; what must survive a restart is in the store.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use remembrancer_hooks::recollection_file::SAME_FIRING;
use remembrancer_processor::embed::Embedding;
use remembrancer_schema::{EpisodeId, SessionKey, UnixMillis};

use crate::clock;

/// Conversations that are kept in mind; the one that has been silent longest goes first.
const MOST: usize = 512;

/// A prompt as its host tells it: the hash of its text and, where the host has one, its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToldPrompt {
    /// [`prompt_hash`](remembrancer_hooks::recollection_file::prompt_hash) of the text.
    pub hash: [u8; 32],
    /// The same again where the host fires twice for one prompt.
    pub id: Option<String>,
}

/// What came of a conversation's last prompt, without a word of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LastAnswer {
    /// How many recollections were shown.
    pub shown: usize,
    /// How long it took.
    pub took: Duration,
    /// Why nothing was shown, by its name.
    pub reason: Option<String>,
    /// What had to be done without, by its names.
    pub degradations: Vec<String>,
}

impl LastAnswer {
    /// Nothing, for `reason`.
    pub(crate) fn nothing(reason: &str, took: Duration) -> Self {
        Self {
            shown: 0,
            took,
            reason: Some(reason.to_owned()),
            degradations: Vec::new(),
        }
    }
}

#[derive(Default)]
struct Conversation {
    last_prompt: Option<ToldPrompt>,
    last_ns: u64,
    last_answer: Option<LastAnswer>,
    answered_topic: Option<Embedding>,
    answered_at: UnixMillis,
    unstored: HashSet<EpisodeId>,
}

/// All conversations in mind. The lock is held for a few instructions.
#[derive(Default)]
pub(crate) struct Conversations(Mutex<HashMap<SessionKey, Conversation>>);

impl Conversations {
    /// Notes a prompt, at the monotonic instant `now_ns`. Returns whether it is the second firing for one message (CASES
    /// TC-46): the same text again, under the same id or within [`SAME_FIRING`]. Hosts give one id to all that is typed
    /// in a turn, so an id alone tells nothing.
    pub(crate) fn note_prompt(&self, session: &SessionKey, prompt: ToldPrompt, now_ns: u64) -> bool {
        let mut all = self.lock();
        if all.len() >= MOST && !all.contains_key(session) {
            let silent = all
                .iter()
                .min_by_key(|(_, conversation)| conversation.last_ns)
                .map(|(key, _)| key.clone());
            silent.and_then(|key| all.remove(&key));
        }
        let conversation = all.entry(session.clone()).or_default();
        let since = Duration::from_nanos(now_ns.saturating_sub(conversation.last_ns));
        let again = conversation
            .last_prompt
            .as_ref()
            .is_some_and(|last| last.hash == prompt.hash && (since < SAME_FIRING || last.id.is_some() && last.id == prompt.id));
        if !again {
            conversation.last_prompt = Some(prompt);
            conversation.last_ns = now_ns;
            conversation.last_answer = None;
        }
        again
    }

    /// The topic that was answered last, and what was shown but is not stored yet.
    pub(crate) fn state(&self, session: &SessionKey) -> (Option<Embedding>, HashSet<EpisodeId>) {
        let all = self.lock();
        all.get(session)
            .map(|conversation| (conversation.answered_topic.clone(), conversation.unstored.clone()))
            .unwrap_or_default()
    }

    /// Notes that a prompt was answered with `shown`.
    pub(crate) fn answered(&self, session: &SessionKey, topic: Option<Embedding>, shown: &[EpisodeId]) {
        if let Some(conversation) = self.lock().get_mut(session) {
            conversation.answered_topic = topic;
            conversation.answered_at = clock::now();
            conversation.unstored.extend(shown);
        }
    }

    /// Notes what came of the last prompt.
    pub(crate) fn note_answer(&self, session: &SessionKey, answer: LastAnswer) {
        if let Some(conversation) = self.lock().get_mut(session) {
            conversation.last_answer = Some(answer);
        }
    }

    /// What came of the last prompt: of the conversation with this id (of any agent), or of the one that spoke last. `None` where
    /// that is not known.
    pub(crate) fn last_answer(&self, session: Option<&str>) -> Option<LastAnswer> {
        let all = self.lock();
        let asked_for = all
            .iter()
            .filter(|(key, _)| session.is_none_or(|session| key.external_id == session));
        let (_, last) = asked_for.max_by_key(|(_, conversation)| conversation.last_ns)?;
        last.last_answer.clone()
    }

    /// Notes that the store knows now what was shown.
    pub(crate) fn stored(&self, session: &SessionKey, shown: &[EpisodeId]) {
        if let Some(conversation) = self.lock().get_mut(session) {
            for id in shown {
                conversation.unstored.remove(id);
            }
        }
    }

    /// The conversation was compacted at `at`: what it was told before is out of its context. A transcript is read after it
    /// was written, so an answer may have come since, which stays.
    pub(crate) fn compacted(&self, session: &SessionKey, at: UnixMillis) {
        let mut all = self.lock();
        if let Some(conversation) = all.get_mut(session).filter(|conversation| conversation.answered_at <= at) {
            conversation.answered_topic = None;
            conversation.unstored.clear();
        }
    }

    /// Something was forgotten: it may be what a conversation was answered last, and that topic is open again.
    pub(crate) fn forget_topics(&self) {
        self.lock()
            .values_mut()
            .for_each(|conversation| conversation.answered_topic = None);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionKey, Conversation>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn session(id: usize) -> SessionKey {
        SessionKey {
            agent: "claude-code".to_owned(),
            external_id: id.to_string(),
        }
    }

    fn prompt(text: u8, id: Option<&str>) -> ToldPrompt {
        ToldPrompt {
            hash: [text; 32],
            id: id.map(str::to_owned),
        }
    }

    #[rstest]
    #[case::the_same_at_once((1, None), (1, 1, None, 11), true)]
    #[case::another_session((1, None), (2, 1, None, 11), false)]
    #[case::another_prompt((1, None), (1, 2, None, 11), false)]
    #[case::the_same_later((1, None), (1, 1, None, 13), false)]
    #[case::the_same_by_its_id_later((1, Some("p")), (1, 1, Some("p"), 13), true)]
    #[case::typed_again_later((1, Some("p")), (1, 1, Some("q"), 13), false)]
    #[case::another_prompt_of_the_turn((1, Some("p")), (1, 2, Some("p"), 11), false)]
    #[case::told_without_its_id((1, Some("p")), (1, 1, None, 11), true)]
    fn tc_46_a_second_firing_is_known(
        #[case] first: (u8, Option<&str>),
        #[case] second: (usize, u8, Option<&str>, u64),
        #[case] again: bool,
    ) {
        let conversations = Conversations::default();
        assert!(!conversations.note_prompt(&session(1), prompt(first.0, first.1), 10 * SECOND));
        let (of, text, id, at) = second;
        assert_eq!(conversations.note_prompt(&session(of), prompt(text, id), at * SECOND), again);
    }

    #[test]
    fn a_compaction_clears_what_was_told() {
        let conversations = Conversations::default();
        conversations.note_prompt(&session(1), prompt(1, None), 0);
        conversations.answered(&session(1), None, &[EpisodeId(7)]);
        assert_eq!(conversations.state(&session(1)).1.len(), 1);
        let before = UnixMillis(clock::now().0 - 60_000);
        conversations.compacted(&session(1), before);
        assert_eq!(conversations.state(&session(1)).1.len(), 1, "the answer came after it");
        conversations.compacted(&session(1), clock::now());
        assert_eq!(conversations.state(&session(1)).1.len(), 0);
    }

    #[test]
    fn the_one_silent_longest_is_forgotten_first() {
        let conversations = Conversations::default();
        for id in 0..=MOST {
            conversations.note_prompt(&session(id), prompt(0, None), id as u64 + 1);
        }
        let all = conversations.lock();
        assert_eq!(all.len(), MOST);
        assert!(!all.contains_key(&session(0)) && all.contains_key(&session(MOST)));
    }
    #[test]
    fn the_last_answer_is_that_of_the_last_prompt() {
        let conversations = Conversations::default();
        assert_eq!(conversations.last_answer(None), None);
        conversations.note_prompt(&session(1), prompt(1, None), SECOND);
        let answer = LastAnswer::nothing("chatter", Duration::from_millis(3));
        conversations.note_answer(&session(1), answer.clone());
        conversations.note_answer(&session(2), answer.clone());
        assert_eq!(conversations.last_answer(Some("1")), Some(answer.clone()));
        assert_eq!(conversations.last_answer(None), Some(answer));
        assert_eq!(conversations.last_answer(Some("2")), None, "it asked nothing");
        conversations.note_prompt(&session(1), prompt(2, None), 20 * SECOND);
        assert_eq!(conversations.last_answer(Some("1")), None, "it is being answered");
    }
}
