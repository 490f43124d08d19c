//! Registers sqlite-vec, so that every connection opened afterwards knows `vec0` and `vec_bit`.
//! The one file of this crate with unsafe code. Nothing but the registration happens here.
#![expect(
    unsafe_code,
    reason = "sqlite-vec's entry point is a C symbol that its crate declares without its true signature"
)]

use std::ffi::{c_char, c_int};
use std::sync::OnceLock;

use rusqlite::auto_extension::{RawAutoExtension, register_auto_extension};
use rusqlite::ffi;

/// The signature that SQLite's header gives an extension's entry point.
type EntryPoint = unsafe extern "C" fn(*mut ffi::sqlite3, *mut *mut c_char, *const ffi::sqlite3_api_routines) -> c_int;

/// Registers the extension once for the whole process.
///
/// # Errors
/// What SQLite reports, at each call alike.
pub(crate) fn register() -> rusqlite::Result<()> {
    static REGISTERED: OnceLock<Result<(), c_int>> = OnceLock::new();
    let outcome = REGISTERED.get_or_init(|| {
        // SAFETY: `sqlite3_vec_init` is compiled with SQLITE_CORE as an ordinary entry point: sqlite-vec.c declares it
        // `int sqlite3_vec_init(sqlite3 *, char **, const sqlite3_api_routines *)`, which is `EntryPoint`. The crate's
        // own declaration only leaves the parameters out.
        let entry: RawAutoExtension =
            unsafe { std::mem::transmute::<*const (), EntryPoint>(sqlite_vec::sqlite3_vec_init as *const ()) };
        // SAFETY: the entry point opens and closes no connection, and leaves the list of extensions alone.
        unsafe { register_auto_extension(entry) }
            .map_err(|error| error.sqlite_error().map_or(ffi::SQLITE_ERROR, |error| error.extended_code))
    });
    outcome.map_err(|code| rusqlite::Error::SqliteFailure(ffi::Error::new(code), Some("sqlite-vec".to_owned())))
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_connection_knows_the_extension() {
        super::register().expect("registers");
        super::register().expect("and again");
        let db = rusqlite::Connection::open_in_memory().expect("opens");
        let version: String = db.query_row("SELECT vec_version()", [], |row| row.get(0)).expect("is there");
        assert_eq!(version, "v0.1.9");
    }
}
