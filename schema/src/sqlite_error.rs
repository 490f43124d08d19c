//! What SQLite reports, told without what its messages quote.
//!
//! SQLite's own messages may hold stored text: FTS5 quotes the term that it stumbled over, a conversion the value. In goes
//! the binding's error, out comes its code in words; so nothing that is made of an error can put text into a log.

use std::error::Error;
use std::fmt;

use rusqlite::ErrorCode;
use rusqlite::ffi::code_to_str;

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
            Some(code) => write!(f, "{} (SQLite's code {code})", code_to_str(code)),
            None => f.write_str("a value could not be converted"),
        }
    }
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
}
