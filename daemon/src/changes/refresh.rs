//! Looks at the folders that were asked about in the last hours, one after the other, and hands what is found to `Changes`. In bounded
//! time and number: a folder may lie on a file system that hangs, and nobody waits for a look.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use remembrancer_hooks::clock::monotonic_ns;
use remembrancer_schema::{EpisodeId, ProjectId, QueryError, Reader, Scope, UnixMillis};
use tokio_util::sync::CancellationToken;

use super::Changes;
use super::known::Known;
use super::look::{Wanted, look};
use super::paths::{absolute, below};
use crate::causes::with_causes;
use crate::clock;
use crate::progress::Progress;
use crate::project::Folders;
use crate::store::{NoAnswer, StoreHandle};
use crate::system;

/// How long a prompt is left alone with the machine: it is answered by then.
const CALM: Duration = Duration::from_millis(500);
/// How often it is asked whether a folder's time has come again.
const POLL: Duration = Duration::from_mins(1);
/// How long the look at one folder may take, git's parts with it.
const LOOK_PATIENCE: Duration = Duration::from_secs(20);
/// Episodes of a project whose files are looked at: those that were used last. Others are told nothing of.
const EPISODES: usize = 2_000;
/// Episodes that are read at once, since others wait for the thread.
const AT_ONCE: usize = 200;
/// Files of a project that are looked at.
const FILES: usize = 2_000;

/// Keeps [`Changes`] up to date.
pub(crate) struct Lookout {
    /// What is known.
    pub changes: Arc<Changes>,
    /// A reader for what may wait.
    pub background: StoreHandle<Reader>,
    /// Reaches folders: apart from those of prompts, which are not to wait for these.
    pub folders: Arc<Folders>,
    /// Tells whether all is paused.
    pub progress: Arc<Progress>,
}

/// Files of episodes, and when the oldest of these began.
#[derive(Debug)]
struct Files {
    paths: BTreeSet<String>,
    oldest: UnixMillis,
}

impl Lookout {
    /// Looks at what is due until `shutdown`.
    pub(crate) async fn run(self, shutdown: CancellationToken) {
        tokio::select! {
            biased;
            () = shutdown.cancelled() => {}
            () = self.look_on() => {}
        }
    }

    async fn look_on(&self) {
        loop {
            // Late or asked for, it is the same: what is due is looked at.
            drop(tokio::time::timeout(POLL, self.changes.asked.notified()).await);
            tokio::time::sleep(CALM).await;
            while !self.progress.is_paused(clock::now())
                && let Some((cwd, before)) = self.changes.next(monotonic_ns())
            {
                let found = self.look_at(&cwd, before).await.unwrap_or_default();
                self.changes.looked(&cwd, found, monotonic_ns());
            }
        }
    }

    /// What is found of the project around `cwd`; `None` where it is none, or does not answer.
    async fn look_at(&self, cwd: &str, before: Arc<Known>) -> Result<Option<Known>, NoAnswer> {
        let (folders, folder) = (Arc::clone(&self.folders), cwd.to_owned());
        let identified = tokio::task::spawn_blocking(move || folders.identify(&folder)).await;
        let Ok((Some(identity), true)) = identified else {
            return Ok(None);
        };
        let Some(root) = identity.root.to_str().map(str::to_owned) else {
            return Ok(None);
        };
        let files = match self.files(identity.keys, &root).await? {
            Ok(files) => files,
            Err(error) => {
                tracing::warn!(error = %with_causes(&error), "the files of a project can't be told");
                return Ok(None);
            }
        };
        let wanted = Wanted {
            root,
            paths: files.paths.into_iter().collect(),
            oldest: files.oldest,
            before,
            now: clock::now(),
        };
        let folders = Arc::clone(&self.folders);
        let job = move || {
            // Its thread, and the gits that it starts.
            system::lower_this_thread();
            look(&wanted)
        };
        let looked = tokio::task::spawn_blocking(move || folders.within(LOOK_PATIENCE, job)).await;
        Ok(looked.ok().flatten().flatten())
    }

    /// The files below `root` that the project's episodes speak of.
    async fn files(&self, keys: Vec<String>, root: &str) -> Result<Result<Files, QueryError>, NoAnswer> {
        let mut files = Files {
            paths: BTreeSet::new(),
            oldest: clock::now(),
        };
        let ids = match self.background.call(move |reader| episodes(reader, &keys)).await? {
            Ok(ids) => ids,
            Err(error) => return Ok(Err(error)),
        };
        for some in ids.chunks(AT_ONCE) {
            let (some, root) = (some.to_vec(), root.to_owned());
            match self.background.call(move |reader| touched(reader, &some, &root)).await? {
                Ok(touched) => files.add(touched),
                Err(error) => return Ok(Err(error)),
            }
            if files.paths.len() >= FILES {
                break;
            }
        }
        Ok(Ok(files))
    }
}

impl Files {
    fn add(&mut self, more: Vec<(UnixMillis, String)>) {
        for (at, path) in more {
            if self.paths.len() < FILES || self.paths.contains(&path) {
                self.oldest = self.oldest.min(at);
                self.paths.insert(path);
            }
        }
    }
}

/// The episodes of the project with one of these keys, those that were used last first.
fn episodes(reader: &Reader, keys: &[String]) -> Result<Vec<EpisodeId>, QueryError> {
    let mut project: Option<ProjectId> = None;
    for key in keys {
        project = project.or(reader.project_by_key(key)?);
    }
    match project {
        Some(project) => reader.recently_accessed(Scope::Project(Some(project)), EPISODES),
        None => Ok(Vec::new()),
    }
}

/// The files below `root` that these episodes touched, each with when the episode began.
fn touched(reader: &Reader, ids: &[EpisodeId], root: &str) -> Result<Vec<(UnixMillis, String)>, QueryError> {
    let mut touched = Vec::new();
    for episode in reader.texts(ids)? {
        let paths = episode
            .facets
            .files
            .iter()
            .filter_map(|file| absolute(episode.cwd.as_deref(), file));
        let inside = paths.filter(|path| below(root, path).is_some());
        touched.extend(inside.map(|path| (episode.created_at, path)));
    }
    Ok(touched)
}
