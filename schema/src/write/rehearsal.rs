//! A database opened as the next start will open it, before it takes the place of another: migrated, looked through, its index made
//! anew where that has to be, and brought to agree with copies of the other's journal and facts. In go two paths; what comes out is a database of
//! which the opening is known to succeed, or why it would not. The other database, its journal and its facts are only read.

use std::io;
use std::path::Path;

use rusqlite::{Connection, ffi};

use super::{Writer, empty_log, forget};
use crate::error::OpenError;
use crate::facts::FactsFile;
use crate::journal::Journal;
use crate::kept::Spared;
use crate::migrate::set_meta;
use crate::open::CLEAN_SHUTDOWN;

/// Opens the `candidate` for the place of `database`. Where the journal removes something from it, that is noted in it: the opening in
/// its place then has the copies lose it, too, but for those that are `spared`.
///
/// # Errors
/// [`OpenError`] of the candidate, which is then not fit for the place.
pub(crate) fn rehearse(candidate: &Path, database: &Path, spared: Spared) -> Result<(), OpenError> {
    let beside = [Journal::path_of, FactsFile::path_of];
    let failed = |act, path: &Path| {
        let path = path.to_owned();
        move |source| OpenError::Io { act, path, source }
    };
    for path_of in beside {
        let path = path_of(candidate);
        copy(&path_of(database), &path).map_err(failed("copy what was decided to", &path))?;
    }
    let writer = Writer::open(candidate)?;
    if writer.forgot_at_opening {
        forget::note(&writer.db, Some(spared)).map_err(OpenError::at(candidate, "write to"))?;
    }
    close(writer.db).map_err(OpenError::at(candidate, "close"))?;
    beside.into_iter().try_for_each(|path_of| {
        let path = path_of(candidate);
        remove(&path).map_err(failed("remove", &path))
    })
}

/// Closes it as one file that was closed in order: what its log held is in it.
fn close(db: Connection) -> rusqlite::Result<()> {
    set_meta(&db, CLEAN_SHUTDOWN, "1")?;
    if !empty_log(&db)? {
        return Err(rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_BUSY), None));
    }
    db.close().map_err(|(_, error)| error)
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    remove(to)?;
    match fs_err::read(from) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        read => {
            let bytes = read?;
            let mut file = crate::system::private_file().write(true).create_new(true).open(to)?;
            io::Write::write_all(&mut file, &bytes)
        }
    }
}

fn remove(file: &Path) -> io::Result<()> {
    match fs_err::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
