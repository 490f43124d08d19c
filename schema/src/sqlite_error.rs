//! What SQLite reports, told without what its messages quote.
//!
//! SQLite's own messages may hold stored text: FTS5 quotes the term that it stumbled over, a conversion the value. In goes
//! the binding's error, out comes its code in words; so nothing that is made of an error can put text into a log.

use std::error::Error;
use std::ffi::c_int;
use std::fmt;

use rusqlite::ErrorCode;
use rusqlite::ffi::{
    SQLITE_CANTOPEN, SQLITE_CANTOPEN_ISDIR, SQLITE_CANTOPEN_SYMLINK, SQLITE_IOERR_DIR_FSYNC, SQLITE_IOERR_FSYNC,
    SQLITE_IOERR_LOCK, SQLITE_IOERR_READ, SQLITE_IOERR_SHMLOCK, SQLITE_IOERR_SHMMAP, SQLITE_IOERR_SHMOPEN, SQLITE_IOERR_SHMSIZE,
    SQLITE_IOERR_SHORT_READ, SQLITE_IOERR_TRUNCATE, SQLITE_IOERR_WRITE, SQLITE_READONLY, SQLITE_READONLY_CANTINIT,
    SQLITE_READONLY_CANTLOCK, SQLITE_READONLY_DBMOVED, SQLITE_READONLY_DIRECTORY, SQLITE_READONLY_RECOVERY, code_to_str,
};

/// SQLite's error by its code, never by its message.
pub struct SqliteError(rusqlite::Error);

impl SqliteError {
    /// The primary code; `None` where it was not SQLite but a conversion of a value that failed.
    pub(crate) fn code(&self) -> Option<ErrorCode> {
        self.0.sqlite_error_code()
    }
}

impl From<rusqlite::Error> for SqliteError {
    fn from(error: rusqlite::Error) -> Self {
        Self(error)
    }
}

impl fmt::Display for SqliteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.sqlite_extended_error_code() {
            Some(code) => {
                write!(f, "{} (SQLite's code {code})", code_to_str(code))?;
                cause(code).map_or(Ok(()), |cause| write!(f, ": {cause}"))
            }
            None => f.write_str("a value could not be converted"),
        }
    }
}

/// What a person may look at, where the code tells it.
fn cause(code: c_int) -> Option<&'static str> {
    Some(match code {
        SQLITE_READONLY_DIRECTORY => "SQLite keeps files beside the database, and its folder can't be written to",
        SQLITE_READONLY_DBMOVED => "the file was moved, removed or replaced while it was open",
        SQLITE_READONLY | SQLITE_READONLY_CANTINIT | SQLITE_READONLY_CANTLOCK | SQLITE_READONLY_RECOVERY => {
            "the file or its folder can't be written to, or the disk is mounted for reading alone"
        }
        SQLITE_CANTOPEN => "is there a file, and may it and its folder be read and written?",
        SQLITE_CANTOPEN_ISDIR => "it is a folder",
        SQLITE_CANTOPEN_SYMLINK => "it is a link",
        SQLITE_IOERR_READ | SQLITE_IOERR_SHORT_READ => "the disk gives no answer to reading",
        SQLITE_IOERR_WRITE | SQLITE_IOERR_FSYNC | SQLITE_IOERR_DIR_FSYNC | SQLITE_IOERR_TRUNCATE => {
            "the disk does not take what is written"
        }
        SQLITE_IOERR_LOCK | SQLITE_IOERR_SHMLOCK | SQLITE_IOERR_SHMMAP | SQLITE_IOERR_SHMOPEN | SQLITE_IOERR_SHMSIZE => {
            "the file system has no locks or no shared memory, as some on a network"
        }
        _ => return None,
    })
}

/// As [`fmt::Display`]: a debug form ends in logs, too.
impl fmt::Debug for SqliteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error for SqliteError {}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use rusqlite::Connection;
    use rusqlite::types::Type;

    use super::*;

    fn syntax_error() -> rusqlite::Error {
        let db = Connection::open_in_memory().expect("opens");
        db.execute_batch("CREATE VIRTUAL TABLE t USING fts5 (text)").expect("makes");
        db.query_row("SELECT rowid FROM t WHERE t MATCH 'secretword \"'", [], |row| {
            row.get::<_, i64>(0)
        })
        .expect_err("is no expression")
    }

    fn conversion() -> rusqlite::Error {
        let cause = serde_json::from_str::<u8>("\"secretword\"").expect_err("is no number");
        rusqlite::Error::FromSqlConversionFailure(0, Type::Text, Box::new(cause))
    }

    #[rstest]
    #[case::a_syntax_error(syntax_error(), "SQL logic error (SQLite's code 1)")]
    #[case::a_conversion(conversion(), "a value could not be converted")]
    fn what_a_message_quotes_is_not_told(#[case] error: rusqlite::Error, #[case] expected: &str) {
        let quoted = error.to_string();
        let told = SqliteError(error);
        assert_eq!(
            (format!("{told}"), format!("{told:?}")),
            (expected.to_owned(), expected.to_owned()),
            "{quoted}"
        );
    }

    #[rstest]
    #[case::a_folder_that_cant_be_written(SQLITE_READONLY_DIRECTORY, "its folder can't be written to")]
    #[case::a_bad_disk(SQLITE_IOERR_READ, "the disk gives no answer")]
    fn a_code_is_told_with_what_it_comes_of(#[case] code: c_int, #[case] expected: &str) {
        let told = SqliteError(rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None)).to_string();
        assert!(
            told.contains(expected) && told.contains(&format!("SQLite's code {code})")),
            "{told}"
        );
    }
}
