//! What only some operating systems have, as plain functions: the one module of this crate that names one. Today that is Unix; a system
//! without unix sockets needs these functions and no others.

#![expect(
    clippy::disallowed_methods,
    reason = "the hook links no fs-err; its errors are never shown, so they need no path"
)]

pub(crate) mod clock;
pub(crate) mod stream;

use std::fs::{DirBuilder, File, OpenOptions, symlink_metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

/// The real user id of this process.
pub(crate) fn user_id() -> u32 {
    rustix::process::getuid().as_raw()
}

/// The bytes by which the system knows a path.
pub(crate) fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

/// Whether `folder` is a real folder of the user `uid` that nobody else may enter.
pub(crate) fn is_private_folder(folder: &Path, uid: u32) -> io::Result<bool> {
    let metadata = symlink_metadata(folder)?;
    Ok(metadata.is_dir() && metadata.uid() == uid && metadata.mode() & 0o777 == 0o700)
}

/// Makes `folder` and what is missing above it, each for its owner alone.
pub(crate) fn create_private_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Options for a file that, where it is made, is made for its owner alone. A link is not followed, and a pipe not waited for.
pub(crate) fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options
        .mode(0o600)
        .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32);
    options
}

/// Whether an open file is a plain one of the user `uid`, without a second name under which it is another's.
pub(crate) fn is_own_file(file: &File, uid: u32) -> io::Result<bool> {
    let metadata = file.metadata()?;
    Ok(metadata.is_file() && metadata.uid() == uid && metadata.nlink() == 1)
}
