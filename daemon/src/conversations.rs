//! What each conversation has been answered lately: the last prompt (a host may fire twice for one), the topic that was
//! answered, and what was shown but is not stored yet. In memory alone; what must survive a restart is in the store.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use remembrancer_hooks::recollection_file::SAME_FIRING;
use remembrancer_processor::embed::Embedding;
use remembrancer_schema::{EpisodeId, SessionKey, UnixMillis};

use crate::clock;

/// Conversations that are kept in mind; the one that has been silent longest goes first.
const MOST: usize = 512;

#[derive(Default)]
struct Conversation {
    last_prompt: Option<[u8; 32]>,
    last_ns: u64,
    answered_topic: Option<Embedding>,
    answered_at: UnixMillis,
    unstored: HashSet<EpisodeId>,
}

/// All conversations in mind. The lock is held for a few instructions.
#[derive(Default)]
pub(crate) struct Conversations(Mutex<HashMap<SessionKey, Conversation>>);

impl Conversations {
    /// Notes a prompt by its hash, at the monotonic instant `now_ns`. Returns whether it is the second firing for one
    /// message (CASES TC-46).
    pub(crate) fn note_prompt(&self, session: &SessionKey, hash: [u8; 32], now_ns: u64) -> bool {
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
        let again = conversation.last_prompt == Some(hash) && since < SAME_FIRING;
        if !again {
            conversation.last_prompt = Some(hash);
            conversation.last_ns = now_ns;
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

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionKey, Conversation>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(id: usize) -> SessionKey {
        SessionKey {
            agent: "claude-code".to_owned(),
            external_id: id.to_string(),
        }
    }

    #[test]
    fn tc_46_a_second_firing_is_known_within_two_seconds() {
        let conversations = Conversations::default();
        let second = 1_000_000_000;
        assert!(!conversations.note_prompt(&session(1), [1; 32], 10 * second));
        assert!(conversations.note_prompt(&session(1), [1; 32], 11 * second));
        assert!(
            !conversations.note_prompt(&session(2), [1; 32], 11 * second),
            "another session's prompt"
        );
        assert!(
            !conversations.note_prompt(&session(1), [2; 32], 11 * second),
            "another prompt"
        );
        assert!(
            !conversations.note_prompt(&session(1), [2; 32], 14 * second),
            "the same again, later"
        );
    }

    #[test]
    fn a_compaction_clears_what_was_told() {
        let conversations = Conversations::default();
        conversations.note_prompt(&session(1), [1; 32], 0);
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
            conversations.note_prompt(&session(id), [0; 32], id as u64 + 1);
        }
        let all = conversations.lock();
        assert_eq!(all.len(), MOST);
        assert!(!all.contains_key(&session(0)) && all.contains_key(&session(MOST)));
    }
}
