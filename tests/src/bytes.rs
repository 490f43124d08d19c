//! Looking for bytes in files: what must not be on the disk any more.

use std::path::{Path, PathBuf};

use crate::sandbox::Sandbox;

/// Whether any file below `folder` holds `bytes`, in capitals or not: an index folds what it stores.
///
/// What can't be read any more has gone meanwhile, and holds nothing.
pub fn any_file_holds(folder: &Path, bytes: &[u8]) -> Option<PathBuf> {
    file_that_holds(walkdir::WalkDir::new(folder).into_iter(), bytes)
}

/// Whether any file of this home holds `bytes`, but for the transcripts and the projects, which are not ours: data, state, cache,
/// runtime folder, settings, and the daemon's log. What can't be read any more has gone meanwhile, and holds nothing.
pub fn any_own_file_holds(sandbox: &Sandbox, bytes: &[u8]) -> Option<PathBuf> {
    let others = [sandbox.home().join(".claude"), sandbox.home().join("work")];
    let ours = walkdir::WalkDir::new(sandbox.home().parent().unwrap_or(&sandbox.home()))
        .into_iter()
        .filter_entry(move |entry| !others.iter().any(|other| entry.path() == other));
    file_that_holds(ours, bytes)
}

fn file_that_holds(entries: impl Iterator<Item = walkdir::Result<walkdir::DirEntry>>, bytes: &[u8]) -> Option<PathBuf> {
    entries
        .flatten()
        .filter(|entry| entry.file_type().is_file())
        .find_map(|entry| {
            let content = fs_err::read(entry.path()).unwrap_or_default();
            content
                .windows(bytes.len())
                .any(|window| window.eq_ignore_ascii_case(bytes))
                .then(|| entry.into_path())
        })
}
