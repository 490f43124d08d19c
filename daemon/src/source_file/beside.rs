//! What lies beside a transcript: small files, and the names in folders.

use std::path::Path;

/// A file beside a transcript that is larger is not looked into.
pub(super) const LARGEST_BESIDE: u64 = 8 << 20;

/// A file beside a transcript, or the names in a folder, a line each.
pub(super) fn beside(path: &Path) -> Option<Vec<u8>> {
    let metadata = fs_err::metadata(path).ok()?;
    if !metadata.is_dir() {
        let is_small = metadata.is_file() && metadata.len() <= LARGEST_BESIDE;
        return is_small.then(|| fs_err::read(path).ok()).flatten();
    }
    let names = fs_err::read_dir(path)
        .ok()?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    Some(names.collect::<Vec<_>>().join("\n").into_bytes())
}
