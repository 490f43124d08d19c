//! What follows a removal, whoever removed: the files that a host may read tell nothing more of what left the memory. (What memory holds of
//! it is brought in step by who removed it.)

use std::io;
use std::path::Path;

use remembrancer_hooks::clock::BUDGET;

use crate::instructions::Refresher;
use crate::recollection_files;
use crate::threads::Panicked;

/// Has the files that a host may read tell nothing more that is not recalled any more: the instruction files, and the recollection files in
/// `folder`. `removed` is what came of the first removal of these, by who knows when it is due.
///
/// # Errors
/// Which files may still tell it, and why.
pub(crate) async fn files_tell_no_more(refresher: &Refresher, folder: &Path, removed: io::Result<()>) -> io::Result<()> {
    let removed = removed.and(refresher.after_removal().await);
    // A prompt that was searched for meanwhile may have written its file since; by now it has, or never will.
    tokio::time::sleep(BUDGET).await;
    removed.and(remove_recollection_files(folder).await)
}

/// Removes the recollection files in `folder`, on a thread that may be kept waiting.
///
/// # Errors
/// The file system's error, naming the path.
pub(crate) async fn remove_recollection_files(folder: &Path) -> io::Result<()> {
    let folder = folder.to_owned();
    tokio::task::spawn_blocking(move || recollection_files::remove_all(&folder))
        .await
        .unwrap_or_else(|_| Err(io::Error::other(Panicked)))
}
