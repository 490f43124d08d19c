//! Whole copies of a database that is in use, and what is in one: a path comes in; a private, whole, synced file that was looked
//! through goes out, or nothing. The source is only read, in one snapshot, so that whoever writes it waits for nobody and a copy
//! is of one moment, however long it takes.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rusqlite::backup::{Backup, StepResult};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::error::{CopyError, OpenError};
use crate::kept::{backups_folder, is_of_rows, remove_copy};
use crate::open;
use crate::sqlite_error::SqliteError;
use crate::system::means_gone;
use crate::units::UnixMillis;
use crate::{integrity, migrate, system, vec_extension};

/// Pages copied between two looks at the pace: 2 MB.
const STEP_PAGES: i32 = 256;
/// How long a lock on the source is waited for before it is tried again.
const LOCKED: Duration = Duration::from_millis(20);

/// The parts of the copies that this process is making now, by [`whole_path`]: a part with its number that is not among them was left by
/// another of that number, as all have it that run in a container.
static BEING_MADE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// What a database holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contents {
    /// Bytes of its pages.
    pub bytes: u64,
    /// The version of its schema.
    pub schema_version: u32,
    /// How many episodes.
    pub episodes: u64,
    /// When the youngest of them began; `None` where there is none.
    pub newest: Option<UnixMillis>,
    /// Changes with whatever the user would miss: episodes, their texts, and what the user has chosen.
    pub state: [i64; 6],
}

/// How far a copy is, in pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyProgress {
    /// Pages copied.
    pub done: u64,
    /// Pages in all.
    pub all: u64,
}

/// A copy that is complete and whole, and not yet in its place. Dropped, it is gone.
#[derive(Debug)]
pub struct FreshCopy {
    temporary: PathBuf,
    /// What stands for it in [`BEING_MADE`].
    mark: PathBuf,
    /// What it holds.
    pub contents: Contents,
}

impl FreshCopy {
    /// Copies the database at `source` to a file of its own in the folder of `target`. After every step `pace` is asked whether
    /// to go on, and may rest. The copy is looked through before it counts: a damaged source gives none, but for a damaged
    /// full-text index, which the next opening makes anew.
    ///
    /// # Errors
    /// [`CopyError`]; nothing is left then.
    pub fn make(source: &Path, target: &Path, pace: &mut dyn FnMut(CopyProgress) -> ControlFlow<()>) -> Result<Self, CopyError> {
        let folder = target.parent().unwrap_or(Path::new("."));
        if !folder.is_dir() {
            system::create_private_folder(folder).map_err(io("create the folder of"))?;
        }
        let temporary = part_of(target);
        // What a crash of a process with the same number left is ours, and no copy.
        remove_copy(&temporary).map_err(io("remove what was left of"))?;
        let mark = whole_path(&temporary);
        being_made(|marks| marks.push(mark.clone()));
        let mut copy = Self {
            temporary,
            mark,
            contents: Contents::NONE,
        };
        copy.contents = copy.fill(source, pace)?;
        Ok(copy)
    }

    fn fill(&self, source: &Path, pace: &mut dyn FnMut(CopyProgress) -> ControlFlow<()>) -> Result<Contents, CopyError> {
        let file = system::private_file()
            .write(true)
            .create_new(true)
            .open(&self.temporary)
            .map_err(io("create"))?;
        let from = open_as_it_is(source).map_err(|error| CopyError::Open(Box::new(error)))?;
        let mut to = plain(&self.temporary, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(CopyError::Sqlite)?;
        copy_pages(&from, &mut to, pace)?;
        // One file, without a log beside it that could be left behind when it is moved.
        to.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()))
            .map_err(CopyError::Sqlite)?;
        let contents = look_through(&to, &self.temporary)?;
        drop(to);
        file.sync_all().map_err(io("sync"))?;
        Ok(contents)
    }

    /// Puts it at `target`, replacing what is there: see [`may_be_replaced`].
    ///
    /// # Errors
    /// [`CopyError::Io`].
    pub fn put_at(self, target: &Path) -> Result<Contents, CopyError> {
        fs_err::rename(&self.temporary, target).map_err(io("put in place"))?;
        sync_folder(target).map_err(io("sync the folder of"))?;
        Ok(self.contents.clone())
    }
}

impl Drop for FreshCopy {
    fn drop(&mut self) {
        // Renamed or in the way: a part counts for nothing and is removed with the next forgetting, or overwritten.
        drop(remove_copy(&self.temporary));
        being_made(|marks| {
            if let Some(place) = marks.iter().position(|mark| *mark == self.mark) {
                marks.swap_remove(place);
            }
        });
    }
}

/// Whether this process is making the copy of which `path` is a part, or belongs to one.
pub(crate) fn is_being_made(path: &Path) -> bool {
    let path = whole_path(path);
    let belongs_to = |mark: &PathBuf| {
        path.as_os_str()
            .as_encoded_bytes()
            .starts_with(mark.as_os_str().as_encoded_bytes())
    };
    being_made(|marks| marks.iter().any(belongs_to))
}

/// Whether this process is making a backup of `database`, in the folder of the backups or beside the database. Asked before copies are
/// listed: a copy that is not being made any more, and may hold what the database held before, has its name by then.
pub(crate) fn is_any_being_made(database: &Path) -> bool {
    let folders = [database.with_file_name(""), backups_folder(database)];
    let folders = folders.map(|folder| whole_path(&folder.join("any")));
    being_made(|marks| {
        marks
            .iter()
            .any(|mark| folders.iter().any(|folder| mark.parent() == folder.parent()))
    })
}

fn being_made<T>(act: impl FnOnce(&mut Vec<PathBuf>) -> T) -> T {
    act(&mut BEING_MADE.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The path of a file by its folder's own path, however it was named.
fn whole_path(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    folder.join(path.file_name().unwrap_or_default())
}

impl Contents {
    const NONE: Self = Self {
        bytes: 0,
        schema_version: 0,
        episodes: 0,
        newest: None,
        state: [0; 6],
    };

    /// What the database at `path` holds, of whatever version, as far as it can be told. It is not looked through.
    ///
    /// # Errors
    /// [`OpenError`]; a newer version is none.
    pub fn of(path: &Path) -> Result<Self, OpenError> {
        let db = open_as_it_is(path)?;
        contents(&db).map_err(OpenError::at(path, "read"))
    }

    /// What an open database holds, of whatever version.
    pub(crate) fn in_database(db: &Connection) -> rusqlite::Result<Self> {
        contents(db)
    }

    /// The same, after a look through all of it.
    ///
    /// # Errors
    /// [`CopyError::Damaged`] where it is not whole, or holds what this program never makes; [`CopyError::Missing`],
    /// [`CopyError::NoCopy`], [`CopyError::Open`]. Each speaks of a copy, and not of the memory.
    pub fn of_whole(path: &Path) -> Result<Self, CopyError> {
        let db = open_as_it_is(path).map_err(of_a_copy)?;
        look_through(&db, path)
    }
}

/// Why a copy can't be opened. What there is to be done about the memory is nothing to be done about a copy.
pub(crate) fn of_a_copy(error: OpenError) -> CopyError {
    match error {
        OpenError::Missing { path } => CopyError::Missing { path },
        OpenError::Corrupt { path, detail } => CopyError::NoCopy {
            path,
            why: format!("it is damaged, or no database ({detail})"),
        },
        OpenError::Foreign { path } => CopyError::NoCopy {
            path,
            why: "it is another program's database".to_owned(),
        },
        OpenError::NotAFile { path, what } => CopyError::NoCopy {
            path,
            why: format!("it is {what}"),
        },
        error => CopyError::Open(Box::new(error)),
    }
}

/// Whether a copy may be put at `target`: nothing is there, or a memory that is not `database` itself.
pub fn may_be_replaced(target: &Path, database: &Path) -> bool {
    let there = match fs_err::symlink_metadata(target) {
        Ok(there) => there,
        // What can't be looked at may be anything.
        Err(error) => return means_gone(&error),
    };
    // To open the database but by SQLite would drop SQLite's locks on it.
    let is_database = match fs_err::metadata(database) {
        Ok(metadata) => system::inode(&metadata) == system::inode(&there),
        Err(error) => !means_gone(&error),
    };
    there.is_file() && !is_database && open_as_it_is(target).is_ok()
}

fn copy_pages(
    from: &Connection,
    to: &mut Connection,
    pace: &mut dyn FnMut(CopyProgress) -> ControlFlow<()>,
) -> Result<(), CopyError> {
    // With a snapshot held by this connection no writer makes the copy begin anew.
    let snapshot = from.unchecked_transaction().map_err(CopyError::Sqlite)?;
    migrate::version(&snapshot).map_err(CopyError::Sqlite)?;
    let backup = Backup::new(&snapshot, to).map_err(CopyError::Sqlite)?;
    loop {
        match backup.step(STEP_PAGES).map_err(CopyError::Sqlite)? {
            StepResult::Done => return Ok(()),
            StepResult::Busy | StepResult::Locked => std::thread::sleep(LOCKED),
            _ => {}
        }
        let progress = backup.progress();
        let count = |pages: i32| u64::try_from(pages).unwrap_or_default();
        let progress = CopyProgress {
            done: count(progress.pagecount - progress.remaining),
            all: count(progress.pagecount),
        };
        if pace(progress).is_break() {
            return Err(CopyError::Stopped);
        }
    }
}

fn look_through(db: &Connection, path: &Path) -> Result<Contents, CopyError> {
    let damaged = |detail: String| CopyError::Damaged {
        path: path.to_owned(),
        detail,
    };
    // A lock or a missing right says nothing of what was looked through.
    let told = |error: rusqlite::Error| {
        let source = SqliteError::from(error);
        if is_of_rows(&source) {
            return damaged(source.to_string());
        }
        CopyError::Open(Box::new(OpenError::Sqlite {
            path: path.to_owned(),
            act: "look through",
            source,
        }))
    };
    // The full-text index is made anew at the next opening.
    match integrity::look_through(db).map_err(told)?.damage {
        Some(finding) => Err(damaged(finding)),
        None => contents(db).map_err(told),
    }
}

fn contents(db: &Connection) -> rusqlite::Result<Contents> {
    let number = |sql: &str| db.query_row(sql, [], |row| row.get::<_, Option<i64>>(0));
    let episodes = number("SELECT count(*) FROM episodes")?.unwrap_or_default();
    let count = |table: &str| -> rusqlite::Result<i64> {
        // An older version may lack it.
        if !db.table_exists(None, table)? {
            return Ok(0);
        }
        Ok(number(&format!("SELECT count(*) FROM {table}"))?.unwrap_or_default())
    };
    Ok(Contents {
        bytes: number("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")?
            .unwrap_or_default()
            .unsigned_abs(),
        schema_version: migrate::version(db)?,
        episodes: episodes.unsigned_abs(),
        newest: number("SELECT max(created_at) FROM episodes")?.map(UnixMillis),
        state: [
            episodes,
            number("SELECT max(id) FROM episodes")?.unwrap_or_default(),
            number("SELECT max(updated_at) FROM episodes")?.unwrap_or_default(),
            count("tombstones")?,
            count("exclusions")?,
            count("instruction_files")?,
        ],
    })
}

/// Opens a database of ours for reading, of whatever version.
pub(crate) fn open_as_it_is(path: &Path) -> Result<Connection, OpenError> {
    // Only what the system says is not there is missing: an error of the disk, or a folder that can't be entered, says nothing.
    match fs_err::metadata(path) {
        Err(error) if means_gone(&error) => return Err(OpenError::Missing { path: path.to_owned() }),
        Err(source) => {
            return Err(OpenError::Io {
                act: "look at",
                path: path.to_owned(),
                source,
            });
        }
        Ok(_) => {}
    }
    open::refuse_what_is_no_file(path)?;
    let db = plain(path, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(OpenError::at(path, "open"))?;
    match open::inspect(&db, path) {
        Ok(0) => Err(OpenError::Corrupt {
            path: path.to_owned(),
            detail: "it is empty".to_owned(),
        }),
        Ok(_) | Err(OpenError::Future { .. }) => Ok(db),
        Err(error) => Err(error),
    }
}

fn plain(path: &Path, access: OpenFlags) -> rusqlite::Result<Connection> {
    vec_extension::register()?;
    let db = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    db.busy_timeout(open::BUSY_TIMEOUT)?;
    db.pragma_update(None, "temp_store", "MEMORY")?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(db)
}

/// The name of a copy that is being made: hidden, and of this process alone.
fn part_of(target: &Path) -> PathBuf {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    target.with_file_name(format!(".{name}.{}.part", std::process::id()))
}

/// Makes a rename in the folder of `path` last.
pub(crate) fn sync_folder(path: &Path) -> std::io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    fs_err::File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

fn io(act: &'static str) -> impl Fn(std::io::Error) -> CopyError {
    move |source| CopyError::Io { act, source }
}

#[cfg(test)]
mod tests;
