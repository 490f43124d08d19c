//! What the shared store last said of itself and of this member, noted so that it is known after a start, too. In go its words, out comes
//! whether they are others than before.

use rusqlite::{Connection, OptionalExtension, named_params};

use super::super::Writer;
use crate::error::QueryError;

impl Writer {
    /// Notes whether the shared store lets this member in no more. Nothing is written where that is as it was.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn note_put_out(&mut self, is_put_out: bool) -> Result<(), QueryError> {
        self.within("note whether one is in the team", |db| {
            db.prepare_cached(
                "INSERT INTO share_server (id, put_out) SELECT 1, :put_out WHERE :put_out OR EXISTS (SELECT 1 FROM share_server)
                 ON CONFLICT (id) DO UPDATE SET put_out = excluded.put_out WHERE put_out <> excluded.put_out",
            )?
            .execute(named_params! {":put_out": is_put_out})
            .map(drop)
        })
    }

    /// Notes the model whose vectors the shared store does not take; `None` where it takes those of the current one. Nothing is written
    /// where that is as it was.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn note_unknown_model(&mut self, model: Option<&str>) -> Result<(), QueryError> {
        self.within("note which vectors are taken", |db| {
            db.prepare_cached(
                "INSERT INTO share_server (id, unknown_model)
                 SELECT 1, :model WHERE :model IS NOT NULL OR EXISTS (SELECT 1 FROM share_server)
                 ON CONFLICT (id) DO UPDATE SET unknown_model = excluded.unknown_model
                     WHERE unknown_model IS NOT excluded.unknown_model",
            )?
            .execute(named_params! {":model": model})
            .map(drop)
        })
    }

    /// Notes which life the shared store is in ([`SHARED_EPOCH`](crate::shared::SHARED_EPOCH)), and says whether another one was known: it
    /// was put back from a copy, and [`Writer::begin_again`] has to follow. Until that is done it says so each time, whatever comes between.
    /// The first one is noted, and no more.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn note_epoch(&mut self, epoch: &str) -> Result<bool, QueryError> {
        self.within("note which life the shared store is in", |db| {
            let known = known_epoch(db)?;
            let is_another = known.as_deref().is_some_and(|known| known != epoch);
            let sql = if is_another {
                "UPDATE share_server SET next_epoch = :epoch WHERE next_epoch IS NOT :epoch"
            } else {
                "INSERT INTO share_server (id, epoch) VALUES (1, :epoch)
                 ON CONFLICT (id) DO UPDATE SET epoch = excluded.epoch, next_epoch = NULL
                     WHERE epoch IS NOT excluded.epoch OR next_epoch IS NOT NULL"
            };
            db.prepare_cached(sql)?.execute(named_params! {":epoch": epoch})?;
            Ok(is_another)
        })
    }
}

fn known_epoch(db: &Connection) -> rusqlite::Result<Option<String>> {
    let read: Option<Option<String>> = db
        .prepare_cached("SELECT epoch FROM share_server")?
        .query_row([], |row| row.get(0))
        .optional()?;
    Ok(read.flatten())
}

/// Notes that all is begun anew with the shared store as it is now.
pub(super) fn take_epoch(db: &Connection) -> rusqlite::Result<()> {
    db.execute(
        "UPDATE share_server SET epoch = next_epoch, next_epoch = NULL WHERE next_epoch IS NOT NULL",
        [],
    )
    .map(drop)
}
