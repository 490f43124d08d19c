//! What only some operating systems have, as plain functions: the one module of this crate that names one. Today that is Unix's way of
//! keeping files to their owner.

use std::fs::{Metadata, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::path::Path;

use fs_err::os::unix::fs::OpenOptionsExt;

use crate::copy::with_suffix;

/// Makes `folder` and what is missing above it, each for its owner alone.
pub(crate) fn create_private_folder(folder: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Options for a file that, where it is made, is made for its owner alone.
pub(crate) fn private_file() -> fs_err::OpenOptions {
    let mut options = fs_err::OpenOptions::new();
    options.mode(0o600);
    options
}

/// Whether group and others may do nothing with a file.
pub(crate) fn is_private(metadata: &Metadata) -> bool {
    metadata.permissions().mode() & 0o077 == 0
}

/// Whether a file's owner may not read or not write it.
pub(crate) fn lacks_owner_rights(metadata: &Metadata) -> bool {
    metadata.permissions().mode() & 0o600 != 0o600
}

/// Takes away from group and others what they may do with a file that exists.
pub(crate) fn tighten_file(path: &Path) -> io::Result<()> {
    if is_private(&fs_err::metadata(path)?) {
        return Ok(());
    }
    fs_err::set_permissions(path, permissions(0o600))
}

/// Has the disk know what the folder of `path` holds: a file that was renamed there stays so after a power cut.
pub(crate) fn sync_folder_of(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    fs_err::File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

/// Whether this error says that there is nothing, and not that it can't be told.
pub fn means_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// What is at `path` that can't be read as a file, in words; `None` where it is a file, and where nothing is there.
pub(crate) fn other_than_a_file(path: &Path) -> Option<&'static str> {
    let kind = fs_err::metadata(path).ok()?.file_type();
    if kind.is_file() {
        None
    } else if kind.is_dir() {
        Some("a folder")
    } else if kind.is_fifo() {
        Some("a named pipe")
    } else if kind.is_socket() {
        Some("a socket")
    } else {
        Some("a device")
    }
}

/// Why the system would open no file beside `path`, where it tells: SQLite keeps that to itself. The file is left alone, since closing
/// it would drop SQLite's locks on it.
pub(crate) fn why_unopenable(path: &Path) -> Option<io::Error> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let of_folder = fs_err::File::open(folder.unwrap_or(Path::new("."))).err();
    of_folder.or_else(|| {
        ["-wal", "-shm"]
            .into_iter()
            .find_map(|suffix| why_unwritable(&with_suffix(path, suffix)))
    })
}

/// Of a file that its owner may not read and write, its name and the remedy.
fn why_unwritable(path: &Path) -> Option<io::Error> {
    let metadata = fs_err::metadata(path).ok()?;
    let remedy = || {
        format!(
            "{0} can't be read and written by its owner; run `chmod 600 '{0}'`",
            path.display()
        )
    };
    lacks_owner_rights(&metadata).then(|| io::Error::new(io::ErrorKind::PermissionDenied, remedy()))
}

/// Which file it is in its file system, whatever it is called.
pub(crate) fn inode(metadata: &Metadata) -> u64 {
    metadata.ino()
}

/// Whether two paths lead to one file.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    let identity = |path: &Path| fs_err::metadata(path).ok().map(|found| (found.dev(), found.ino()));
    identity(one).is_some_and(|one| Some(one) == identity(other))
}

/// How many names a file has.
pub(crate) fn names(metadata: &Metadata) -> u64 {
    metadata.nlink()
}

/// A path's bytes, as the system has them.
pub(crate) fn path_bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

/// The permissions of this mode.
pub(crate) fn permissions(mode: u32) -> Permissions {
    Permissions::from_mode(mode)
}
