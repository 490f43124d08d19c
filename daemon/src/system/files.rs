//! Whose a file is, which it is, and what others may do with it.

use std::fs::{Metadata, Permissions};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::Path;

use fs_err::os::unix::fs::OpenOptionsExt;
use rustix::fs::OFlags;
use rustix::io::Errno;

/// The user id of a file's owner.
pub(crate) fn owner(metadata: &Metadata) -> u32 {
    metadata.uid()
}

/// What owner, group and others may do with a file: the last twelve bits of its mode.
pub(crate) fn mode(metadata: &Metadata) -> u32 {
    metadata.mode() & 0o7777
}

/// The permissions of this mode.
pub(crate) fn permissions(mode: u32) -> Permissions {
    Permissions::from_mode(mode)
}

/// Device and inode: which file it is, whatever it is called.
pub(crate) fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

/// How many names a file has.
pub(crate) fn names(metadata: &Metadata) -> u64 {
    metadata.nlink()
}

/// Options for opening a file that, where it is made, is made with this mode. A link is not followed.
pub(crate) fn opening(mode: u32) -> fs_err::OpenOptions {
    let mut options = fs_err::OpenOptions::new();
    options.mode(mode).custom_flags(OFlags::NOFOLLOW.bits() as i32);
    options
}

/// What it is that can't be read as a file, in words; `None` where it is one.
pub(crate) fn other_than_a_file(metadata: &Metadata) -> Option<&'static str> {
    let kind = metadata.file_type();
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

/// Whether it is a socket.
pub(crate) fn is_socket(metadata: &Metadata) -> bool {
    metadata.file_type().is_socket()
}

/// Why this process can't make files in `folder`; `None` where it can.
pub(crate) fn why_not_writable(folder: &Path) -> Option<std::io::Error> {
    rustix::fs::access(folder, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK)
        .err()
        .map(std::io::Error::from)
}

/// Bytes that the user may still write to the file system of `folder`, where it tells.
pub(crate) fn room(folder: &Path) -> Option<u64> {
    let system = rustix::fs::statvfs(folder).ok()?;
    Some(system.f_bavail.saturating_mul(system.f_frsize))
}

/// How many folders all programs of the user may watch; `None` where the system sets no such bound.
pub(crate) fn allowed_watches() -> Option<usize> {
    let text = fs_err::read_to_string("/proc/sys/fs/inotify/max_user_watches").ok()?;
    text.trim().parse().ok()
}

/// Whether the system has no more watches on files, or no more watchers, to give.
pub(crate) fn is_limit_of_watches(error: &std::io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::NOSPC | Errno::MFILE))
}
