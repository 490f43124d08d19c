//! Whose a file is, which it is, and what others may do with it.

use std::fs::{Metadata, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use fs_err::os::unix::fs::OpenOptionsExt;
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

/// Options for opening a file that, where it is made, is made with this mode.
pub(crate) fn opening(mode: u32) -> fs_err::OpenOptions {
    let mut options = fs_err::OpenOptions::new();
    options.mode(mode);
    options
}

/// Whether the system has no more watches on files, or no more watchers, to give.
pub(crate) fn is_limit_of_watches(error: &std::io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::NOSPC | Errno::MFILE))
}
