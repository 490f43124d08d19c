//! What has become of the files that episodes speak of: what is known of it, for recollections to tell.
//!
//! In go folders that prompts were typed in, and what a look at them found (`refresh`); out comes, for an episode, which of its files
//! are gone or were changed since. A prompt only reads what lies here in memory: it never waits for a look, and of what is not known
//! nothing is said. After a start nothing is known until the first prompt of a folder. See ADR 0048.

mod known;
mod look;
mod paths;
mod refresh;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use remembrancer_processor::recall::{Afterwards, Since};
use remembrancer_schema::{EpisodeText, UnixMillis};
use tokio::sync::Notify;

use known::Known;
pub(crate) use refresh::Lookout;

/// Folders that are kept in mind; the one that was asked about longest ago goes first. With two thousand files each (see `refresh`)
/// they come to some ten megabytes at the very most.
const MOST_FOLDERS: usize = 16;
/// Files of one episode that are sought.
const MOST_FILES: usize = 12;
/// What was written and committed in this time after an episode began is taken for its own work, and for that of the turns that
/// finished it: a turn's end is not stored, and its commit comes at its end or in the turn after. Of the turns in transcripts of
/// agents nearly all end within the hour.
const SETTLING: Duration = Duration::from_hours(2);
/// How long after a prompt its folder is looked at again every [`EVERY`], and from which age on at the next prompt.
const RECENT: Duration = Duration::from_hours(3);
const EVERY: Duration = Duration::from_mins(15);
const FRESH: Duration = Duration::from_mins(2);

/// A folder that prompts were typed in.
#[derive(Debug, Default)]
struct Folder {
    asked_ns: u64,
    looked_ns: Option<u64>,
    known: Arc<Known>,
}

impl Folder {
    /// Whether it is to be looked at now.
    fn is_due(&self, now_ns: u64) -> bool {
        let ago = |at_ns: u64| Duration::from_nanos(now_ns.saturating_sub(at_ns));
        let Some(looked_ns) = self.looked_ns else { return true };
        let since_look = ago(looked_ns);
        if self.asked_ns > looked_ns && since_look >= FRESH {
            return true;
        }
        since_look >= EVERY && ago(self.asked_ns) < RECENT
    }
}

/// What is known of the files in the folders that were asked about lately.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    folders: Mutex<BTreeMap<String, Folder>>,
    asked: Notify,
}

impl Changes {
    /// A prompt was typed in `cwd`, at the monotonic instant `now_ns`.
    pub(crate) fn asked(&self, cwd: &str, now_ns: u64) {
        let mut folders = self.lock();
        if folders.len() >= MOST_FOLDERS && !folders.contains_key(cwd) {
            let oldest = folders.iter().min_by_key(|(_, folder)| folder.asked_ns);
            let oldest = oldest.map(|(cwd, _)| cwd.clone());
            oldest.and_then(|cwd| folders.remove(&cwd));
        }
        folders.entry(cwd.to_owned()).or_default().asked_ns = now_ns;
        drop(folders);
        self.asked.notify_one();
    }

    /// The folder that is to be looked at now, the one that was asked about last before others, and what is known of it.
    fn next(&self, now_ns: u64) -> Option<(String, Arc<Known>)> {
        let folders = self.lock();
        let due = folders.iter().filter(|(_, folder)| folder.is_due(now_ns));
        due.max_by_key(|(_, folder)| folder.asked_ns)
            .map(|(cwd, folder)| (cwd.clone(), Arc::clone(&folder.known)))
    }

    /// `cwd` was looked at, at the monotonic instant `now_ns`. What is known stays where the look found nothing out.
    fn looked(&self, cwd: &str, found: Option<Known>, now_ns: u64) {
        if let Some(folder) = self.lock().get_mut(cwd) {
            folder.looked_ns = Some(now_ns);
            if let Some(found) = found {
                folder.known = Arc::new(found);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Folder>> {
        self.folders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Afterwards for Changes {
    fn since(&self, episode: &EpisodeText) -> Vec<Since> {
        let settled = UnixMillis(episode.created_at.0.saturating_add(SETTLING.as_millis() as i64));
        let folders = self.lock();
        let files = episode.facets.files.iter().take(MOST_FILES).enumerate();
        files
            .filter_map(|(file, name)| {
                let path = paths::absolute(episode.cwd.as_deref(), name)?;
                let state = folders.values().find_map(|folder| folder.known.of(&path))?;
                let fate = state.fate(settled)?;
                Some(Since { file, fate })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests;
