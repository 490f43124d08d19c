//! Going back to a backup: which can be used, and that it is done. The database is nobody's meanwhile: its lock is the caller's.

use std::path::{Path, PathBuf};

use remembrancer_schema::{Contents, CopyError, OpenError, RestoreError, Restored, SCHEMA_VERSION, Writer, restore};

use crate::backups::{ROOM_LEFT, stamp};
use crate::control::REREADS_WANTED;
use crate::sizes::size;
use crate::{clock, system};

/// Why a copy was not restored.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RestoringError {
    /// The copy can't be used.
    #[error("cannot restore {}", path.display())]
    Copy {
        /// The copy.
        path: PathBuf,
        /// Why.
        #[source]
        source: CopyError,
    },
    /// The copy is of a newer version.
    #[error("{} has schema version {found}, and this program knows up to {}: take another copy, or install the newer version", path.display(), SCHEMA_VERSION)]
    Newer {
        /// The copy.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// The disk has too little room.
    #[error("{} has {} free, and the restore needs {}; make room there", folder.display(), size(*free), size(*needed))]
    NoRoom {
        /// Where.
        folder: PathBuf,
        /// Bytes free.
        free: u64,
        /// Bytes needed.
        needed: u64,
    },
    /// It failed; the memory is as it was.
    #[error(transparent)]
    Restore(#[from] RestoreError),
    /// The restored memory can't be opened for now.
    #[error("the copy is in its place, and can't be opened yet; the next start goes on{}", told_aside(set_aside.as_deref()))]
    Open {
        /// Where what was there before is.
        set_aside: Option<PathBuf>,
        /// Why.
        #[source]
        source: Box<OpenError>,
    },
}

impl RestoringError {
    /// Whether it says nothing of the copy, as a lock, a full disk or a missing right: the same copy may do later.
    pub(crate) fn is_for_now(&self) -> bool {
        matches!(
            self,
            Self::Copy {
                source: CopyError::Open(_),
                ..
            }
        )
    }
}

fn told_aside(set_aside: Option<&Path>) -> String {
    set_aside.map_or_else(String::new, |aside| {
        let aside = aside.display();
        format!("; the memory that was there is {aside}, and `remembrancer restore {aside}` goes back to it")
    })
}

/// What a copy holds that is whole and of a version that this program reads.
///
/// # Errors
/// [`RestoringError::Copy`], [`RestoringError::Newer`].
pub(crate) fn usable(copy: &Path) -> Result<Contents, RestoringError> {
    let contents = Contents::of_whole(copy).map_err(|source| RestoringError::Copy {
        path: copy.to_owned(),
        source,
    })?;
    if contents.schema_version > SCHEMA_VERSION {
        return Err(RestoringError::Newer {
            path: copy.to_owned(),
            found: contents.schema_version,
        });
    }
    Ok(contents)
}

/// A restore that was done.
#[derive(Debug)]
pub(crate) struct Done {
    /// Where what was there before is, and whether the user's decisions are known.
    pub(crate) restored: Restored,
    /// Episodes of the copy that are gone again, forgotten or erased since.
    pub(crate) forgotten: u64,
}

/// Puts `copy`, which holds `contents`, in the place of `database`, and has it follow the journal of what was decided since. That it
/// can be opened there is tried before.
///
/// # Errors
/// [`RestoringError`]; the memory is as it was, but for [`RestoringError::Open`]: then the next start does the rest.
pub(crate) fn restore_copy(database: &Path, copy: &Path, contents: &Contents) -> Result<Done, RestoringError> {
    let folder = database.parent().unwrap_or(Path::new("/"));
    let needed = contents.bytes + ROOM_LEFT;
    if let Some(free) = system::room(folder).filter(|free| *free < needed) {
        return Err(RestoringError::NoRoom {
            folder: folder.to_owned(),
            free,
            needed,
        });
    }
    let restored = restore(database, copy, &stamp(clock::now()))?;
    match begin(database) {
        Ok(present) => Ok(Done {
            restored,
            forgotten: contents.episodes.saturating_sub(present),
        }),
        Err(source) => Err(RestoringError::Open {
            set_aside: restored.set_aside,
            source: Box::new(source),
        }),
    }
}

/// Opens what was restored, which follows the journal, and gives how many episodes are left of it.
fn begin(database: &Path) -> Result<u64, OpenError> {
    let mut writer = Writer::open(database)?;
    // What was passed over while it was kept out, or was asked to be read again since the copy was made, is to be read.
    writer.add_counter(REREADS_WANTED, 1).ok();
    writer.close().ok();
    Ok(Contents::of(database)?.episodes)
}
