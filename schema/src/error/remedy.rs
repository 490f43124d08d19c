//! What a person may do about a database that can't be used: a path comes in, half a sentence goes out.

use std::path::Path;

use crate::kept::{backups, newest_set_aside};

/// Of one that is damaged.
pub(super) fn corrupt_remedy(path: &Path) -> String {
    // Where it can't be told, it is not promised.
    let has_backups = backups(path, false).is_ok_and(|found| !found.is_empty());
    let backup = if has_backups {
        "run `remembrancer restore --latest` to go back to the last backup, or "
    } else {
        ""
    };
    let replaced = replaced(path);
    let path = path.display();
    format!(
        "{backup}start the daemon, which sets it aside and makes it anew from what can be read of it; or move it aside yourself \
         (mv '{path}' '{path}.damaged'), and the daemon makes it anew from backups and transcripts{replaced}"
    )
}

/// Of one that is gone.
pub(super) fn lost_remedy(path: &Path) -> String {
    let folder = path.parent().unwrap_or(Path::new(".")).display();
    format!(
        "start the daemon, which makes it anew from the latest good backup, the transcripts and what you decided; to begin with \
         nothing instead, remove the whole folder {folder}{}",
        replaced(path)
    )
}

/// Of one that a newer version wrote.
pub(super) fn future_remedy(path: &Path, backup: Option<&Path>) -> String {
    let Some(backup) = backup else {
        let path = path.display();
        return format!("install the newer version again, or move it aside (mv '{path}' '{path}.newer')");
    };
    format!(
        "install the newer version again, or stop the daemon and run `remembrancer restore --pre-migration` to go back to \
         the copy made before the migration ({})",
        backup.display()
    )
}

/// Where the memory is that another took the place of.
fn replaced(path: &Path) -> String {
    newest_set_aside(path).ok().flatten().map_or_else(String::new, |aside| {
        format!(
            "; the memory that was there before the last restore is {}, and `remembrancer restore` goes back to it",
            aside.display()
        )
    })
}
