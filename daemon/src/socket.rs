//! The socket's file and whose it is. What the daemon made is the daemon's to make again and to remove; what a service manager holds
//! for it is neither, since the manager listens there before and after.

use std::path::{Path, PathBuf};

use remembrancer_hooks::places::verify_private_folder;

use crate::files::private_folder;
use crate::system::{self, Listener};

/// The file of the socket at which the daemon listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SocketFile {
    path: PathBuf,
    is_of_a_manager: bool,
}

impl SocketFile {
    /// One that the daemon made.
    pub(crate) fn own(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            is_of_a_manager: false,
        }
    }

    /// One that a service manager made.
    pub(crate) fn of_a_manager(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            is_of_a_manager: true,
        }
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether a service manager made it.
    pub(crate) fn is_of_a_manager(&self) -> bool {
        self.is_of_a_manager
    }

    /// Removes it, where it is the daemon's own.
    pub(crate) fn remove(&self) {
        if !self.is_of_a_manager && is_socket(&self.path) {
            fs_err::remove_file(&self.path).ok();
        }
    }
}

/// Listens at `path`, which nobody may answer at: a dead daemon's socket is replaced.
///
/// # Errors
/// Where the folder is not private, somebody answers, or the system refuses.
pub(crate) fn bind(path: &Path, uid: u32) -> std::io::Result<Listener> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    // A runtime folder that the system did not make is not ours to make: only what lies in it is.
    if folder
        .parent()
        .is_some_and(|above| above.starts_with("/run/user") && !above.is_dir())
    {
        return Err(std::io::Error::from(std::io::ErrorKind::NotFound));
    }
    if is_anothers(folder, uid) {
        return Err(std::io::Error::new(
            std::io::ErrorKind::PermissionDenied,
            "its folder is another user's",
        ));
    }
    private_folder(folder)?;
    verify_private_folder(folder, uid)?;
    if path.symlink_metadata().is_ok() {
        // It may be somebody's work, and never ours to remove.
        if !is_socket(path) {
            return Err(std::io::Error::new(
                std::io::ErrorKind::AlreadyExists,
                "what lies there is no socket; move it away",
            ));
        }
        if system::is_answered(path) {
            return Err(std::io::Error::new(
                std::io::ErrorKind::AddrInUse,
                "another program answers there",
            ));
        }
        fs_err::remove_file(path)?;
    }
    let listener = Listener::bind(path)?;
    fs_err::set_permissions(path, system::permissions(0o600))?;
    Ok(listener)
}

fn is_socket(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| system::is_socket(&metadata))
}

/// Whether a folder, or the nearest above it that exists, is neither this user's nor the system's: `sudo` may leave the runtime folder
/// of another user in the environment, and what root made there would be in that user's way.
fn is_anothers(folder: &Path, uid: u32) -> bool {
    let nearest = folder.ancestors().find_map(|above| fs_err::metadata(above).ok());
    nearest.is_some_and(|nearest| ![uid, 0].contains(&system::owner(&nearest)))
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[tokio::test]
    async fn what_is_no_socket_stays_where_it_is() {
        let place = tempfile::tempdir().unwrap();
        fs_err::set_permissions(place.path(), system::permissions(0o700)).unwrap();
        let uid = rustix::process::getuid().as_raw();
        let (file, link) = (place.path().join("thesis.txt"), place.path().join("link"));
        fs_err::write(&file, "a year's work").unwrap();
        fs_err::os::unix::fs::symlink("nowhere", &link).unwrap();
        for path in [&file, &link] {
            assert_eq!(bind(path, uid).unwrap_err().kind(), std::io::ErrorKind::AlreadyExists);
            SocketFile::own(path).remove();
            assert!(path.symlink_metadata().is_ok());
        }
    }

    #[tokio::test]
    async fn nothing_is_made_in_a_folder_of_another_user() {
        let place = tempfile::tempdir().unwrap();
        let uid = rustix::process::getuid().as_raw();
        let asker = if uid == 0 {
            std::os::unix::fs::chown(place.path(), Some(12_345), None).unwrap();
            0
        } else {
            uid + 1
        };
        let refused = bind(&place.path().join("s/x.sock"), asker).unwrap_err();
        assert_eq!(refused.kind(), std::io::ErrorKind::PermissionDenied);
        assert!(!place.path().join("s").exists());
    }

    #[tokio::test]
    async fn only_a_socket_of_our_own_is_removed() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("s/x.sock");
        let _listener = bind(&path, rustix::process::getuid().as_raw()).unwrap();
        SocketFile::of_a_manager(&path).remove();
        assert!(path.exists());
        SocketFile::own(&path).remove();
        assert!(!path.exists());
    }
}
