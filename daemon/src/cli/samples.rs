//! Sample transcripts for a newcomer who has none, and a prompt that they answer: four sessions in two invented projects,
//! written for this purpose.

use std::path::Path;

const FILES: &[(&str, &str)] = &[
    ("kiosk-rounding.jsonl", include_str!("samples/kiosk-rounding.jsonl")),
    ("kiosk-printer.jsonl", include_str!("samples/kiosk-printer.jsonl")),
    ("orrery-deadlock.jsonl", include_str!("samples/orrery-deadlock.jsonl")),
    ("orrery-release.jsonl", include_str!("samples/orrery-release.jsonl")),
];

/// A prompt in other words than those of the session that answers it.
pub(super) const PROMPT: &str = "customers say the amount on the bill is off by a penny, where do we cut instead of rounding?";

/// The project in which [`PROMPT`] is asked.
pub(super) const CWD: &str = "/home/sample/kiosk";

/// Writes the samples below `root` as the agent would.
pub(super) fn write(root: &Path) -> std::io::Result<()> {
    let folder = root.join("samples");
    fs_err::create_dir_all(&folder)?;
    FILES
        .iter()
        .try_for_each(|(name, text)| fs_err::write(folder.join(name), text))
}
