//! The key under which prompts are hashed for the log, so that the log tells equal prompts apart from different ones and
//! nothing else. Made once a database, by SQLite's random source; it never leaves the file.

use rusqlite::{OptionalExtension, named_params};

use super::Writer;
use crate::error::QueryError;

impl Writer {
    /// The database's key for hashes of prompts.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn log_key(&mut self) -> Result<[u8; 32], QueryError> {
        self.within("read the log's key", |db| {
            db.prepare_cached("INSERT OR IGNORE INTO _meta (key, value) VALUES (:key, hex(randomblob(32)))")?
                .execute(named_params! {":key": "log_key"})?;
            let hex: Option<String> = db
                .prepare_cached("SELECT value FROM _meta WHERE key = :key")?
                .query_row(named_params! {":key": "log_key"}, |row| row.get(0))
                .optional()?;
            let hex = hex.unwrap_or_default();
            let mut key = [0; 32];
            for (byte, digits) in key.iter_mut().zip(hex.as_bytes().chunks(2)) {
                let digits = std::str::from_utf8(digits).unwrap_or_default();
                *byte = u8::from_str_radix(digits, 16).unwrap_or_default();
            }
            Ok(key)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_made_once_a_database() {
        let place = tempfile::tempdir().unwrap();
        let open = |name: &str| Writer::open(&place.path().join(name).join("memory.db")).unwrap();
        let key = open("a").log_key().unwrap();
        assert_eq!(open("a").log_key().unwrap(), key);
        assert_ne!(open("b").log_key().unwrap(), key);
        assert_ne!(key, [0; 32]);
    }
}
