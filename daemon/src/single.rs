//! One daemon a user: an operating system's lock decides, not the existence of a file, so that what a dead daemon left is
//! taken over safely and no stranger is ever signalled.

use std::error::Error;
use std::fs::TryLockError;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use fs_err::File;
use remembrancer_hooks::places::Places;
use remembrancer_schema::{PARTING, part_database};

use crate::files::{self, is_not_ours, private_folder, secure};
use crate::socket::{SocketFile, bind};
use crate::system::{self, Listener};

/// The lock of the one daemon, held until it is dropped.
#[derive(Debug)]
pub(crate) struct Single {
    file: File,
    /// The lock file as it was, where it had a second name: locked as well, for who opened it before it was replaced.
    _with_other_name: Option<File>,
}

impl Drop for Single {
    /// Whoever reads it afterwards finds nobody's process id; only one that was killed leaves its own.
    fn drop(&mut self) {
        self.file.set_len(0).ok();
    }
}

/// Why this process can't be the one.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SingleError {
    /// Another daemon runs.
    #[error("a daemon runs already, with process id {pid} (its lock is {})", path.display())]
    Running {
        /// Its process id, as it wrote it.
        pid: String,
        /// The lock.
        path: PathBuf,
    },
    /// The memory's folder, or what lies in it, is open to others in a way that can't be mended from here.
    #[error("the memory's folder is not safe to use")]
    Unsafe {
        /// What, and what to do.
        #[source]
        source: std::io::Error,
    },
    /// The lock can't be made.
    #[error("cannot lock {}", path.display())]
    Lock {
        /// The lock.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// What has a second name can't be parted from it, and is not written to.
    #[error("a file of the memory has a second name (a hard link, as in a copy by `cp -al`), by which it would be changed too")]
    Linked {
        /// What, and why.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// No socket can be bound.
    #[error("cannot listen at any of: {tried}; set REMEMBRANCER_SOCKET to a path in a private folder")]
    Socket {
        /// The places and their errors.
        tried: String,
    },
}

/// Who the lock is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Holder {
    /// Nobody, or the lock can't be read.
    Nobody,
    /// The process of this id, as it wrote it.
    Process(String),
    /// A process of this id that is gone, and was killed: one that ends in order leaves none.
    Gone(String),
}

impl Single {
    /// Who has the lock in `data_dir`, by a look alone: nothing is made or changed.
    pub(crate) fn holder(data_dir: &Path) -> Holder {
        let path = data_dir.join("daemon.lock");
        let mut pid = String::new();
        let opened = File::open(&path).and_then(|mut file| file.read_to_string(&mut pid).map(|_| file));
        let pid = pid.trim().to_owned();
        // Shared, so that one who looks takes no other for a daemon; a daemon that starts meanwhile tries more than once.
        match opened.map(|file| file.file().try_lock_shared()) {
            Ok(Err(TryLockError::WouldBlock)) => Holder::Process(pid),
            Ok(Ok(())) if !pid.is_empty() => Holder::Gone(pid),
            _ => Holder::Nobody,
        }
    }

    /// Takes the lock in `data_dir`, and sees to it that nobody else can read or change what lies there.
    ///
    /// # Errors
    /// [`SingleError::Running`] where another process holds it, [`SingleError::Unsafe`] where something there is another user's.
    pub(crate) fn take(data_dir: &Path) -> Result<Self, SingleError> {
        let path = data_dir.join("daemon.lock");
        let fail = |source| SingleError::Lock {
            path: path.clone(),
            source,
        };
        let tightened = private_folder(data_dir).and_then(|()| secure(data_dir));
        let tightened = tightened.map_err(|source| {
            if is_not_ours(&source) {
                SingleError::Unsafe { source }
            } else {
                fail(source)
            }
        })?;
        if tightened > 0 {
            tracing::warn!(tightened, folder = %data_dir.display(), "files of the memory were open to other users, and no longer are");
        }
        let mut file = open_lock(&path).map_err(fail)?;
        lock(&mut file, &path, || std::thread::sleep(LOOK))?;
        let mut with_other_name = None;
        // A file with a second name (a hard link) is not written to: it may be anybody's.
        if system::names(&file.metadata().map_err(fail)?) > 1 {
            let fresh = lock_in_place(&path).map_err(fail)?;
            with_other_name = Some(std::mem::replace(&mut file, fresh));
        }
        file.set_len(0).map_err(fail)?;
        file.seek(SeekFrom::Start(0)).map_err(fail)?;
        writeln!(file, "{}", std::process::id()).map_err(fail)?;
        Ok(Self {
            file,
            _with_other_name: with_other_name,
        })
    }

    /// Gives what lies in `folder` and has a second name elsewhere (a hard link, as in a copy by `cp -al`) a file of its own, the
    /// `database` as well, before anything is written to it.
    ///
    /// # Errors
    /// [`SingleError::Linked`]: nothing was written to what has a second name.
    #[expect(
        clippy::unused_self,
        reason = "whoever has the lock may put other files in their places, and nobody else"
    )]
    pub(crate) fn part(&self, folder: &Path, database: &Path) -> Result<(), SingleError> {
        let linked = |source: Box<dyn Error + Send + Sync>| SingleError::Linked { source };
        let files = part_database(database).map_err(|error| linked(error.into()))?;
        let files = files + files::part(folder, database).map_err(|error| linked(error.into()))?;
        if files > 0 {
            tracing::warn!(
                files,
                folder = %folder.display(),
                "files had a second name elsewhere, as in a copy by `cp -al`, and are files of their own now; the others keep what they held"
            );
        }
        Ok(())
    }

    /// Listens at the first usable place. Only the holder of the lock calls this, so a socket file that nobody answers at
    /// is a dead daemon's, and is replaced; one that is answered is left alone.
    ///
    /// # Errors
    /// [`SingleError::Socket`] where none is usable.
    #[expect(
        clippy::unused_self,
        reason = "whoever has the lock may take over a socket, and nobody else"
    )]
    pub(crate) fn listen(&self, places: &Places) -> Result<(Listener, SocketFile), SingleError> {
        let mut tried = Vec::new();
        for path in places.socket_candidates() {
            match bind(&path, places.uid()) {
                Ok(listener) => return Ok((listener, SocketFile::own(&path))),
                Err(error) => tried.push(format!("{} ({error})", path.display())),
            }
        }
        Err(SingleError::Socket { tried: tried.join(", ") })
    }
}

fn open_lock(path: &Path) -> std::io::Result<File> {
    let mut options = system::opening(0o600);
    options.read(true).write(true).create(true).truncate(false).open(path)
}

/// Longer than anybody holds the lock who only looks whose it is.
const LOOK: Duration = Duration::from_millis(50);
/// How often the lock is tried, in case somebody looks.
const TRIES: usize = 3;

/// Locks the lock file, or says who holds it. Calls `wait` between two tries.
fn lock(file: &mut File, path: &Path, mut wait: impl FnMut()) -> Result<(), SingleError> {
    let fail = |source| SingleError::Lock {
        path: path.to_owned(),
        source,
    };
    let mut locked = file.file().try_lock();
    for _ in 1..TRIES {
        if matches!(locked, Err(TryLockError::WouldBlock)) {
            wait();
            locked = file.file().try_lock();
        }
    }
    match locked {
        Ok(()) => Ok(()),
        Err(TryLockError::Error(error)) => Err(fail(error)),
        Err(TryLockError::WouldBlock) => {
            let mut pid = String::new();
            file.read_to_string(&mut pid).map_err(fail)?;
            Err(SingleError::Running {
                pid: pid.trim().to_owned(),
                path: path.to_owned(),
            })
        }
    }
}

/// Puts a new, locked file in the place of the lock file at `path`.
fn lock_in_place(path: &Path) -> std::io::Result<File> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(PARTING);
    let temporary = PathBuf::from(temporary);
    match fs_err::remove_file(&temporary) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let fresh = system::opening(0o600)
        .read(true)
        .write(true)
        .create_new(true)
        .open(&temporary)?;
    fresh.file().try_lock()?;
    fs_err::rename(&temporary, path)?;
    Ok(fresh)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tc_29_a_lock_with_a_second_name_is_replaced_and_holds() {
        let place = tempfile::tempdir().unwrap();
        let victim = tempfile::NamedTempFile::new_in(place.path()).unwrap();
        fs_err::write(victim.path(), "a year's work").unwrap();
        let data = place.path().join("data");
        fs_err::create_dir(&data).unwrap();
        let lock = data.join("daemon.lock");
        fs_err::hard_link(victim.path(), &lock).unwrap();
        let mut earlier = open_lock(&lock).unwrap();
        let first = Single::take(&data).unwrap();
        assert_eq!(fs_err::read_to_string(victim.path()).unwrap(), "a year's work");
        assert_eq!(system::names(&fs_err::metadata(&lock).unwrap()), 1);
        let second = Single::take(&data).unwrap_err();
        assert!(second.to_string().contains(&std::process::id().to_string()), "{second}");
        let with_old_file = super::lock(&mut earlier, &lock, || {}).unwrap_err();
        assert!(matches!(with_old_file, SingleError::Running { .. }), "{with_old_file}");
        drop(first);
        Single::take(&data).unwrap();
    }

    #[test]
    fn a_second_daemon_is_told_the_first_one_s_pid() {
        let place = tempfile::tempdir().unwrap();
        let first = Single::take(place.path()).unwrap();
        assert_eq!(Single::holder(place.path()), Holder::Process(std::process::id().to_string()));
        let second = Single::take(place.path()).unwrap_err();
        assert!(second.to_string().contains(&std::process::id().to_string()), "{second}");
        drop(first);
        assert_eq!(fs_err::read_to_string(place.path().join("daemon.lock")).unwrap(), "");
        Single::take(place.path()).unwrap();
    }

    #[test]
    fn who_only_looks_keeps_no_daemon_from_starting() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("daemon.lock");
        let mut file = open_lock(&path).unwrap();
        let looks = open_lock(&path).unwrap();
        looks.file().try_lock_shared().unwrap();
        assert_eq!(Single::holder(place.path()), Holder::Nobody, "one who looks is no daemon");
        let mut looks = Some(looks);
        super::lock(&mut file, &path, || drop(looks.take())).unwrap();
        assert!(matches!(Single::holder(place.path()), Holder::Process(_)));
    }

    #[test]
    fn tc_29_a_lock_that_is_a_link_is_not_followed() {
        let place = tempfile::tempdir().unwrap();
        let victim = tempfile::NamedTempFile::new().unwrap();
        fs_err::write(victim.path(), "a year's work").unwrap();
        fs_err::os::unix::fs::symlink(victim.path(), place.path().join("daemon.lock")).unwrap();
        let refused = Single::take(place.path()).unwrap_err();
        assert!(matches!(refused, SingleError::Lock { .. }), "{refused}");
        assert_eq!(fs_err::read_to_string(victim.path()).unwrap(), "a year's work");
    }

    #[test]
    fn tc_39_a_lock_file_of_a_dead_daemon_is_taken_over() {
        let place = tempfile::tempdir().unwrap();
        fs_err::write(place.path().join("daemon.lock"), "1\n").unwrap();
        assert_eq!(Single::holder(place.path()), Holder::Gone("1".to_owned()));
        Single::take(place.path()).unwrap();
        assert_eq!(Single::holder(place.path()), Holder::Nobody);
    }
}
