//! One daemon a user: an operating system's lock decides, not the existence of a file, so that what a dead daemon left is
//! taken over safely and no stranger is ever signalled.

use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use fs_err::File;
use fs_err::os::unix::fs::OpenOptionsExt;
use remembrancer_hooks::places::{Places, verify_private_folder};
use rustix::fs::{FlockOperation, flock};
use tokio::net::UnixListener;

use crate::files::private_folder;

/// The lock of the one daemon, held until it is dropped.
#[derive(Debug)]
pub(crate) struct Single {
    _file: File,
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
    /// The lock can't be made.
    #[error("cannot lock {}", path.display())]
    Lock {
        /// The lock.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// No socket can be bound.
    #[error("cannot listen at any of: {tried}; set REMEMBRANCER_SOCKET to a path in a private folder")]
    Socket {
        /// The places and their errors.
        tried: String,
    },
}

impl Single {
    /// Takes the lock in `data_dir`.
    ///
    /// # Errors
    /// [`SingleError::Running`] where another process holds it.
    pub(crate) fn take(data_dir: &Path) -> Result<Self, SingleError> {
        let path = data_dir.join("daemon.lock");
        let fail = |source| SingleError::Lock {
            path: path.clone(),
            source,
        };
        private_folder(data_dir).map_err(fail)?;
        let mut file = fs_err::OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(fail)?;
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            let mut pid = String::new();
            file.read_to_string(&mut pid).map_err(fail)?;
            return Err(SingleError::Running {
                pid: pid.trim().to_owned(),
                path,
            });
        }
        file.set_len(0).map_err(fail)?;
        file.seek(SeekFrom::Start(0)).map_err(fail)?;
        writeln!(file, "{}", std::process::id()).map_err(fail)?;
        Ok(Self { _file: file })
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
    pub(crate) fn listen(&self, places: &Places) -> Result<(UnixListener, PathBuf), SingleError> {
        let mut tried = Vec::new();
        for path in places.socket_candidates() {
            match bind(&path, places.uid()) {
                Ok(listener) => return Ok((listener, path)),
                Err(error) => tried.push(format!("{} ({error})", path.display())),
            }
        }
        Err(SingleError::Socket { tried: tried.join(", ") })
    }
}

/// Listens at `path`, which nobody may answer at: a dead daemon's socket is replaced.
///
/// # Errors
/// Where the folder is not private, somebody answers, or the system refuses.
pub(crate) fn bind(path: &Path, uid: u32) -> std::io::Result<UnixListener> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    // A runtime folder that the system did not make is not ours to make: only what lies in it is.
    if folder
        .parent()
        .is_some_and(|above| above.starts_with("/run/user") && !above.is_dir())
    {
        return Err(std::io::Error::from(std::io::ErrorKind::NotFound));
    }
    private_folder(folder)?;
    verify_private_folder(folder, uid)?;
    if path.exists() {
        if std::os::unix::net::UnixStream::connect(path).is_ok() {
            return Err(std::io::Error::new(
                std::io::ErrorKind::AddrInUse,
                "another program answers there",
            ));
        }
        fs_err::remove_file(path)?;
    }
    let listener = UnixListener::bind(path)?;
    fs_err::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    Ok(listener)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_daemon_is_told_the_first_one_s_pid() {
        let place = tempfile::tempdir().unwrap();
        let first = Single::take(place.path()).unwrap();
        let second = Single::take(place.path()).unwrap_err();
        assert!(second.to_string().contains(&std::process::id().to_string()), "{second}");
        drop(first);
        Single::take(place.path()).unwrap();
    }

    #[test]
    fn tc_39_a_lock_file_of_a_dead_daemon_is_taken_over() {
        let place = tempfile::tempdir().unwrap();
        fs_err::write(place.path().join("daemon.lock"), "1\n").unwrap();
        Single::take(place.path()).unwrap();
    }

    #[tokio::test]
    async fn tc_39_a_dead_socket_is_replaced_and_a_live_one_is_not() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("s/x.sock");
        let uid = rustix::process::getuid().as_raw();
        let listener = bind(&path, uid).unwrap();
        assert_eq!(bind(&path, uid).unwrap_err().kind(), std::io::ErrorKind::AddrInUse);
        drop(listener);
        bind(&path, uid).unwrap();
    }
}
