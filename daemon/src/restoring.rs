//! Going back to a backup: which can be used, and that it is done. The database is nobody's meanwhile: its lock is the caller's.

use std::path::{Path, PathBuf};

use remembrancer_schema::{Contents, CopyError, OpenError, RestoreError, Restored, SCHEMA_VERSION, Writer, backups, restore};

use crate::backups::{ROOM_LEFT, stamp};
use crate::control::REREADS_WANTED;
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
    #[error("{} has {:.1} GB free, and the restore needs {:.1} GB; make room there", folder.display(), *free as f64 / 1e9, *needed as f64 / 1e9)]
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
    /// The restored memory can't be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Nothing to go back to.
    #[error("there is no backup that is whole")]
    NoBackup,
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

/// Backups by the time in their names, the newest first, whoever had them made.
pub(crate) fn newest_first(mut backups: Vec<PathBuf>) -> Vec<PathBuf> {
    backups.sort_by(|one, other| other.file_name().cmp(&one.file_name()));
    backups
}

/// Puts `copy`, which holds `contents`, in the place of `database`.
///
/// # Errors
/// [`RestoringError`]; the memory is as it was.
pub(crate) fn restore_copy(database: &Path, copy: &Path, contents: &Contents) -> Result<Restored, RestoringError> {
    let folder = database.parent().unwrap_or(Path::new("/"));
    let needed = contents.bytes + ROOM_LEFT;
    if let Some(free) = system::room(folder).filter(|free| *free < needed) {
        return Err(RestoringError::NoRoom {
            folder: folder.to_owned(),
            free,
            needed,
        });
    }
    let restored = restore(database, copy, &stamp(clock::now()), clock::now())?;
    if restored.let_in > 0 {
        // What was passed over while it was kept out is to be read.
        let mut writer = Writer::open(database)?;
        writer.add_counter(REREADS_WANTED, 1).ok();
        writer.close().ok();
    }
    Ok(restored)
}

/// Puts the newest whole backup in the place of a damaged database. Gives which.
///
/// # Errors
/// [`RestoringError::NoBackup`], or what kept the newest whole one from being restored.
pub(crate) fn damaged_database(database: &Path) -> Result<(PathBuf, Restored), RestoringError> {
    let usable = newest_first(backups(database, false))
        .into_iter()
        .find_map(|copy| Some((usable(&copy).ok()?, copy)));
    let (contents, copy) = usable.ok_or(RestoringError::NoBackup)?;
    let restored = restore_copy(database, &copy, &contents)?;
    Ok((copy, restored))
}
