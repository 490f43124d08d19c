//! What lies beside a transcript: small files, and the names in folders.

use std::io::Read;
use std::path::Path;

use fs_err::File;

/// A file beside a transcript that is larger is not looked into.
pub(super) const LARGEST_BESIDE: u64 = 8 << 20;
/// Of lines only so much is read where they are more than that, the last of them cut: what they are wanted for stands early.
const HEAD: u64 = 256 << 10;

/// A file beside a transcript, or the names in a folder, a line each.
pub(super) fn beside(path: &Path) -> Option<Vec<u8>> {
    let metadata = fs_err::metadata(path).ok()?;
    if !metadata.is_dir() {
        let is_small = metadata.len() <= LARGEST_BESIDE;
        let has_lines = path.extension().is_some_and(|extension| extension == "jsonl");
        if !metadata.is_file() || !(is_small || has_lines) {
            return None;
        }
        let read = if is_small { fs_err::read(path) } else { head(path) };
        return read.ok();
    }
    let names = fs_err::read_dir(path)
        .ok()?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    Some(names.collect::<Vec<_>>().join("\n").into_bytes())
}

fn head(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut head = Vec::new();
    File::open(path)?.take(HEAD).read_to_end(&mut head)?;
    Ok(head)
}
