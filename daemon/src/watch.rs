//! The file watcher: its events are hints only. Each marks a path as changed or, where it can't say which, asks for a
//! rescan; the scan is the truth.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use notify::event::{MetadataKind, ModifyKind, RemoveKind};
use notify::{Config, ErrorKind, Event, EventKind, NullWatcher, RecommendedWatcher, RecursiveMode, Watcher};
use walkdir::WalkDir;

use crate::mailbox::Mailbox;
use crate::progress::MOST_TOLD;
use crate::roots::Roots;
use crate::system;

/// How often everything is looked at where the system's watcher can't be used. The scan does it, which tells a change by size and
/// milliseconds; the polling watcher of `notify` tells it by whole seconds, and would miss what is written in the second of its look.
pub(crate) const POLL: Duration = Duration::from_secs(5);

/// Tells a folder from one that was made in its place, which needs a new watch: device, inode, and, since an inode is soon
/// used again, when it was made, where the file system knows.
type Identity = ((u64, u64), Option<SystemTime>);

/// The identity of a folder; `None` where there is none.
fn identity(folder: &Path) -> Option<Identity> {
    let metadata = fs_err::metadata(folder).ok().filter(std::fs::Metadata::is_dir)?;
    Some((system::identity(&metadata), metadata.created().ok()))
}

/// A running watcher. Dropping it ends the watch.
pub(crate) struct Watch {
    watcher: Box<dyn Watcher + Send>,
    /// Whose transcripts are where: of other files no change is told.
    roots: Arc<Roots>,
    watched: BTreeMap<PathBuf, Identity>,
    /// Folders in which one that does not exist yet will appear, itself or the next on the way to it.
    awaited: BTreeMap<PathBuf, Identity>,
    /// Folders that can't be watched, by the root that they are of or lie in. The log tells once of each.
    refused: BTreeMap<PathBuf, BTreeSet<PathBuf>>,
    /// Whether the system's watcher can't be used: then everything is to be looked at every [`POLL`].
    pub polling: bool,
    /// Whether the system refused a watch for a folder that appeared later: only the watcher's own thread is told.
    at_limit: Arc<AtomicBool>,
}

impl Watch {
    /// Starts to watch; folders are added by [`Watch::follow`]. Where the system gives no watcher, [`Watch::polling`] says so.
    pub(crate) fn start(mailbox: Arc<Mailbox>, roots: Arc<Roots>) -> Self {
        let for_events = Arc::clone(&roots);
        let at_limit = Arc::new(AtomicBool::new(false));
        let reached = Arc::clone(&at_limit);
        let tell = move |event| {
            if matches!(&event, Err(error) if is_limit(error)) {
                reached.store(true, Ordering::Relaxed);
            }
            post(&mailbox, &for_events, event);
        };
        match RecommendedWatcher::new(tell, Config::default()) {
            Ok(watcher) => Self {
                at_limit,
                ..Self::with(Box::new(watcher), roots, false)
            },
            Err(error) => {
                let remedy = if is_limit(&error) { SYSCTL } else { "" };
                tracing::warn!(%error, "the system's file watcher can't be used; looking every {POLL:?} instead. {remedy}");
                Self::with(Box::new(NullWatcher), roots, true)
            }
        }
    }

    fn with(watcher: Box<dyn Watcher + Send>, roots: Arc<Roots>, polling: bool) -> Self {
        Self {
            watcher,
            roots,
            watched: BTreeMap::new(),
            awaited: BTreeMap::new(),
            refused: BTreeMap::new(),
            polling,
            at_limit: Arc::default(),
        }
    }

    /// Watches `folder` and all below it, of a flat root only itself, from now on; one that does not exist yet is waited for, and
    /// watched by the call that follows its appearance. Falls back to polling where the system's watch limit is reached; what can't be watched
    /// for another reason, such as a folder that may not be read, is left to the rescan, and tried again at the next call.
    pub(crate) fn follow(&mut self, folder: &Path) {
        if !self.polling && self.at_limit.swap(false, Ordering::Relaxed) {
            tracing::warn!("no more folders can be watched; looking every {POLL:?} instead. {SYSCTL}");
            self.fall_back();
        }
        let Some(identity) = identity(folder) else {
            return self.wait_for(folder);
        };
        if self.watched.get(folder) == Some(&identity) {
            return self.follow_below(folder);
        }
        let mode = if self.roots.is_flat(folder) {
            RecursiveMode::NonRecursive
        } else {
            RecursiveMode::Recursive
        };
        match self.watcher.watch(folder, mode) {
            Ok(()) => {
                self.watched.insert(folder.to_owned(), identity);
                self.refused.remove(folder);
            }
            Err(error) if !self.polling && is_limit(&error) => {
                tracing::warn!(folder = %folder.display(), %error, "cannot watch; looking every {POLL:?} instead. {SYSCTL}");
                self.fall_back();
            }
            // One folder below that may not be read has the whole of it refused.
            Err(_) if mode == RecursiveMode::Recursive && fs_err::read_dir(folder).is_ok() => {
                self.watched.insert(folder.to_owned(), identity);
                self.refused.entry(folder.to_owned()).or_default();
                self.follow_below(folder);
            }
            Err(error) => {
                let known = self.refused.entry(folder.to_owned()).or_default();
                if known.insert(folder.to_owned()) {
                    tracing::warn!(folder = %folder.display(), %error, "cannot watch; changes are found by the regular rescan");
                }
            }
        }
    }

    /// Watches each folder below a root by itself, where the root can't be watched as a whole; again at each look, since there may be new
    /// ones, and what could not be read may be opened.
    fn follow_below(&mut self, root: &Path) {
        if !self.refused.contains_key(root) {
            return;
        }
        let mut refused = BTreeSet::new();
        for entry in WalkDir::new(root) {
            let (path, is_read) = match &entry {
                Ok(entry) if entry.file_type().is_dir() => (entry.path(), true),
                Ok(_) => continue,
                Err(error) => (error.path().unwrap_or(root), false),
            };
            let Some(identity) = identity(path) else { continue };
            if is_read && path != root && self.watched.get(path) == Some(&identity) {
                continue;
            }
            match self.watcher.watch(path, RecursiveMode::NonRecursive) {
                Ok(()) if is_read => {
                    self.watched.insert(path.to_owned(), identity);
                }
                Err(error) if !self.polling && is_limit(&error) => {
                    tracing::warn!(folder = %path.display(), %error, "cannot watch; looking every {POLL:?} instead. {SYSCTL}");
                    return self.fall_back();
                }
                _ => {
                    refused.insert(path.to_owned());
                }
            }
        }
        let news = refused.iter().filter(|folder| !self.refused[root].contains(*folder));
        for folder in news.take(MOST_TOLD) {
            tracing::warn!(folder = %folder.display(), "cannot watch; changes below it are found by the regular rescan, where it can be read");
        }
        self.refused.insert(root.to_owned(), refused);
    }

    /// The folders that can't be watched.
    pub(crate) fn unwatched(&self) -> Vec<PathBuf> {
        self.refused.values().flatten().cloned().collect()
    }

    /// Whether changes are looked for at intervals, since the system's own watcher can't be used.
    pub(crate) fn is_polling(&self) -> bool {
        self.polling
    }

    /// Watches the nearest folder above that exists, without what lies below: so the next on the way is noticed.
    fn wait_for(&mut self, folder: &Path) {
        let nearest = || folder.ancestors().skip(1).find_map(|above| Some((above, identity(above)?)));
        // One that appears between the look and the watch has no event, so it is looked at again.
        while let Some((above, identity)) = nearest().filter(|(above, identity)| self.awaited.get(*above) != Some(identity)) {
            self.awaited.insert(above.to_owned(), identity);
            match self.watcher.watch(above, RecursiveMode::NonRecursive) {
                Ok(()) => {}
                Err(error) if !self.polling && is_limit(&error) => {
                    tracing::warn!(folder = %above.display(), %error, "cannot watch; looking every {POLL:?} instead. {SYSCTL}");
                    return self.fall_back();
                }
                Err(error) => {
                    tracing::debug!(folder = %above.display(), %error, "cannot watch; a new folder is found by the regular rescan");
                }
            }
        }
    }

    /// Gives all watches back, some of which would only seem to be enough.
    fn fall_back(&mut self) {
        self.watcher = Box::new(NullWatcher);
        self.polling = true;
        self.refused.clear();
    }
}

/// Whether the system has no more watches, or no more watchers, to give: only polling helps then.
fn is_limit(error: &notify::Error) -> bool {
    match &error.kind {
        ErrorKind::MaxFilesWatch => true,
        ErrorKind::Io(error) => system::is_limit_of_watches(error),
        _ => false,
    }
}

const SYSCTL: &str = "On Linux, raise fs.inotify.max_user_watches and fs.inotify.max_user_instances.";

fn post(mailbox: &Mailbox, roots: &Roots, event: notify::Result<Event>) {
    match event {
        Ok(event) if event.need_rescan() => mailbox.rescan(),
        Ok(event) if event.kind.is_access() => {}
        Ok(event) => {
            let is_removal_of_a_folder = event.kind.is_remove() && event.kind != EventKind::Remove(RemoveKind::File);
            let of_what_it_holds = is_of_what_a_folder_holds(event.kind);
            for path in event.paths {
                if let Some(transcript) = roots.changed_by(path.clone()) {
                    mailbox.changed(transcript);
                } else if !roots.concern(&path) {
                    // The home folder is watched for folders that may appear in it, and much else happens there.
                } else if path.is_dir() {
                    if !of_what_it_holds {
                        mailbox.folder_appeared();
                    }
                } else if is_removal_of_a_folder {
                    mailbox.rescan();
                }
            }
        }
        Err(_) => mailbox.rescan(),
    }
}

/// Whether such an event of a folder tells only that something in it changed, which has events of its own.
fn is_of_what_a_folder_holds(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::Modify(ModifyKind::Data(_) | ModifyKind::Metadata(MetadataKind::WriteTime | MetadataKind::AccessTime))
    )
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use notify::event::{CreateKind, DataChange, RenameMode};

    use remembrancer_processor::ingest::Agent;
    use rstest::rstest;
    use rustix::io::Errno;

    use super::*;
    use crate::roots::Root;

    /// Refuses every watch with the kind of error that it holds.
    struct Refuses(Arc<Mutex<Option<ErrorKind>>>);

    impl Watcher for Refuses {
        fn new<F: notify::EventHandler>(_: F, _: Config) -> notify::Result<Self> {
            Ok(Self(Arc::default()))
        }

        fn watch(&mut self, _: &Path, _: RecursiveMode) -> notify::Result<()> {
            match self.0.lock().unwrap().take() {
                Some(kind) => Err(notify::Error::new(kind)),
                None => Ok(()),
            }
        }

        fn unwatch(&mut self, _: &Path) -> notify::Result<()> {
            Ok(())
        }

        fn kind() -> notify::WatcherKind {
            notify::WatcherKind::NullWatcher
        }
    }

    fn io(errno: Errno) -> ErrorKind {
        ErrorKind::Io(errno.into())
    }

    #[rstest]
    #[case::watches(ErrorKind::MaxFilesWatch, true)]
    #[case::space(io(Errno::NOSPC), true)]
    #[case::watchers(io(Errno::MFILE), true)]
    #[case::unreadable(io(Errno::ACCESS), false)]
    #[case::gone(ErrorKind::PathNotFound, false)]
    #[case::other(ErrorKind::Generic("else".to_owned()), false)]
    fn only_a_limit_leads_to_polling(#[case] kind: ErrorKind, #[case] polling: bool) {
        let folder = tempfile::tempdir().unwrap();
        let refusal = Arc::new(Mutex::new(Some(kind)));
        let mut watch = Watch::with(Box::new(Refuses(Arc::clone(&refusal))), Arc::default(), false);
        watch.follow(folder.path());
        assert_eq!(watch.polling, polling);
        // What was refused for another reason is tried again.
        watch.follow(folder.path());
        assert!(watch.watched.contains_key(folder.path()));
    }

    /// Watches by itself every folder but the locked one, and nothing as a whole, as the system does where one can't be read.
    struct AllBut(Arc<Mutex<BTreeSet<PathBuf>>>);

    impl Watcher for AllBut {
        fn new<F: notify::EventHandler>(_: F, _: Config) -> notify::Result<Self> {
            Ok(Self(Arc::default()))
        }

        fn watch(&mut self, path: &Path, mode: RecursiveMode) -> notify::Result<()> {
            if mode == RecursiveMode::Recursive || path.ends_with("locked") {
                return Err(notify::Error::new(io(Errno::ACCESS)));
            }
            self.0.lock().unwrap().insert(path.to_owned());
            Ok(())
        }

        fn unwatch(&mut self, _: &Path) -> notify::Result<()> {
            Ok(())
        }

        fn kind() -> notify::WatcherKind {
            notify::WatcherKind::NullWatcher
        }
    }

    #[test]
    fn a_folder_that_may_not_be_read_keeps_no_other_from_being_watched() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for name in ["a", "a/below", "locked", "z"] {
            fs_err::create_dir(root.join(name)).unwrap();
        }
        let watched = Arc::default();
        let mut watch = Watch::with(Box::new(AllBut(Arc::clone(&watched))), Arc::default(), false);
        let now = || watched.lock().unwrap().clone();
        let paths = |names: &[&str]| names.iter().map(|name| root.join(name)).collect::<BTreeSet<_>>();
        watch.follow(root);
        assert!(now().is_superset(&paths(&["a", "a/below", "z"])), "{:?}", now());
        assert_eq!(watch.unwatched(), [root.join("locked")]);
        // What is new is watched by the look that its appearance leads to, and what is opened is no finding any more.
        fs_err::create_dir(root.join("new")).unwrap();
        fs_err::rename(root.join("locked"), root.join("opened")).unwrap();
        watch.follow(root);
        assert!(now().is_superset(&paths(&["new", "opened"])), "{:?}", now());
        assert!(watch.unwatched().is_empty());
    }

    #[rstest]
    #[case::made(EventKind::Create(CreateKind::Folder), true)]
    #[case::moved_here(EventKind::Modify(ModifyKind::Name(RenameMode::To)), true)]
    #[case::opened_to_us(EventKind::Modify(ModifyKind::Metadata(MetadataKind::Any)), true)]
    #[case::unknown(EventKind::Any, true)]
    #[case::a_file_made_in_it(EventKind::Modify(ModifyKind::Metadata(MetadataKind::WriteTime)), false)]
    #[case::content(EventKind::Modify(ModifyKind::Data(DataChange::Any)), false)]
    fn a_folder_is_looked_through_where_it_is_new(#[case] kind: EventKind, #[case] expected: bool) {
        let folder = tempfile::tempdir().unwrap();
        let mailbox = Mailbox::default();
        post(
            &mailbox,
            &root_in(folder.path()),
            Ok(Event::new(kind).add_path(folder.path().to_owned())),
        );
        let mail = mailbox.take(Duration::ZERO);
        assert_eq!((mail.rescan, mail.folder_appeared), (expected, expected));
    }

    /// A root in a folder that is watched for it.
    fn root_in(folder: &Path) -> Roots {
        Roots::new(vec![Root {
            agent: Agent::CLAUDE_CODE,
            folder: folder.join("projects"),
            flat: false,
        }])
    }

    #[rstest]
    #[case::a_file_removed_at_home("scratch.tmp", EventKind::Remove(RemoveKind::File), false)]
    #[case::a_folder_made_beside("downloads", EventKind::Create(CreateKind::Folder), false)]
    #[case::a_file_removed_below("projects/-x/notes.md", EventKind::Remove(RemoveKind::File), false)]
    #[case::a_folder_removed_below("projects/-x", EventKind::Remove(RemoveKind::Folder), true)]
    #[case::the_root_removed("projects", EventKind::Remove(RemoveKind::Folder), true)]
    fn only_what_concerns_a_root_is_looked_through(#[case] name: &str, #[case] kind: EventKind, #[case] expected: bool) {
        let folder = tempfile::tempdir().unwrap();
        if name == "downloads" {
            fs_err::create_dir(folder.path().join(name)).unwrap();
        }
        let mailbox = Mailbox::default();
        let event = Event::new(kind).add_path(folder.path().join(name));
        post(&mailbox, &root_in(folder.path()), Ok(event));
        assert_eq!(mailbox.take(Duration::ZERO).rescan, expected);
    }
}
