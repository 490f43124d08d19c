//! What the ingest thread waits for: hints of the watcher, requests of the user's commands, the daemon's stop. What arrives
//! between two looks is taken together.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use remembrancer_processor::ingest::Agent;
use tokio::sync::oneshot;

/// Changed paths that are remembered one by one; beyond that a rescan is cheaper.
const MOST_PATHS: usize = 4_096;

/// The mailbox. Whoever fills it is never blocked.
#[derive(Default)]
pub(crate) struct Mailbox {
    mail: Mutex<Mail>,
    arrived: Condvar,
}

/// What arrived since the last look.
#[derive(Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "marks that are independent of one another, not a state"
)]
pub(crate) struct Mail {
    /// Transcripts that changed.
    pub changed: BTreeSet<PathBuf>,
    /// The transcript that each agent's hook named last.
    pub named: BTreeMap<&'static str, (Agent, PathBuf)>,
    /// Whether everything must be looked at.
    pub rescan: bool,
    /// Whether a folder appeared: what is written into it before its own watch begins has no event.
    pub folder_appeared: bool,
    /// How many changes were not remembered one by one: a look at everything finds them.
    pub overflowed: u64,
    /// How many times it was asked to read everything again from its start.
    pub rereads: u64,
    /// Whether what is remembered of projects may no longer hold.
    pub forget_projects: bool,
    /// Who waits until all that is on disk now is in the store.
    pub flushes: Vec<oneshot::Sender<()>>,
    /// Whether to stop.
    pub stop: bool,
}

impl Mail {
    fn is_empty(&self) -> bool {
        self.changed.is_empty() && !self.rescan && self.flushes.is_empty() && !self.stop
    }
}

impl Mailbox {
    /// Marks `path` as changed.
    pub(crate) fn changed(&self, path: PathBuf) {
        self.put(|mail| {
            if mail.changed.len() < MOST_PATHS {
                mail.changed.insert(path);
            } else {
                mail.overflowed += 1;
                mail.rescan = true;
            }
        });
    }

    /// Marks `path` as changed, which a hook of `agent` named: it may lie where nobody looks.
    pub(crate) fn named(&self, agent: Agent, path: PathBuf) {
        self.put(|mail| drop(mail.named.insert(agent.id(), (agent, path.clone()))));
        self.changed(path);
    }

    /// Asks for a look at everything.
    pub(crate) fn rescan(&self) {
        self.put(|mail| mail.rescan = true);
    }

    /// Asks for a look at everything, and for another a moment later.
    pub(crate) fn folder_appeared(&self) {
        self.put(|mail| {
            mail.rescan = true;
            mail.folder_appeared = true;
        });
    }

    /// Asks to read everything again from its start, as was asked `times`: what was passed over then may be wanted now.
    pub(crate) fn reread(&self, times: u64) {
        self.put(|mail| {
            mail.rescan = true;
            mail.rereads += times;
        });
    }

    /// Says that projects left the store, so that what is remembered of their ids no longer holds.
    pub(crate) fn forget_projects(&self) {
        self.put(|mail| mail.forget_projects = true);
    }

    /// Asks for a look at everything, and to be told when it is done.
    pub(crate) fn flush(&self, done: oneshot::Sender<()>) {
        self.put(|mail| {
            mail.rescan = true;
            mail.flushes.push(done);
        });
    }

    /// Asks the ingest thread to end.
    pub(crate) fn stop(&self) {
        self.put(|mail| mail.stop = true);
    }

    /// Whether the ingest thread is asked to end.
    pub(crate) fn stops(&self) -> bool {
        self.mail.lock().unwrap_or_else(PoisonError::into_inner).stop
    }

    /// Takes what has arrived, waiting at most `patience` for something.
    pub(crate) fn take(&self, patience: Duration) -> Mail {
        let mail = self.mail.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut mail, _) = self
            .arrived
            .wait_timeout_while(mail, patience, |mail| mail.is_empty())
            .unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *mail)
    }

    fn put(&self, change: impl FnOnce(&mut Mail)) {
        change(&mut self.mail.lock().unwrap_or_else(PoisonError::into_inner));
        self.arrived.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_paths_become_a_rescan() {
        let mailbox = Mailbox::default();
        for number in 0..=MOST_PATHS {
            mailbox.changed(PathBuf::from(number.to_string()));
        }
        let mail = mailbox.take(Duration::ZERO);
        assert!(mail.rescan);
        assert_eq!(mail.overflowed, 1);
        assert_eq!(mail.changed.len(), MOST_PATHS);
        assert!(mailbox.take(Duration::ZERO).is_empty());
    }

    #[test]
    fn a_flush_is_a_rescan_with_a_receipt() {
        let mailbox = Mailbox::default();
        let (done, _receipt) = oneshot::channel();
        mailbox.flush(done);
        let mail = mailbox.take(Duration::ZERO);
        assert!(mail.rescan && mail.flushes.len() == 1);
    }
}
