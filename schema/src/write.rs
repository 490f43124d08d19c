//! The one writer: opening, settings, and the small writes. Each act is one transaction: all of it is stored, or nothing.
//! In go rows of [`crate::rows`], out come outcomes. No text is changed here: what is handed in is redacted already.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, Transaction, TransactionBehavior, named_params};

use crate::analysis::ANALYSIS_VERSION;
use crate::damage::Damage;
use crate::error::{OpenError, QueryError};
use crate::ids::{EpisodeId, ProjectId, SessionId};
use crate::integrity;
use crate::journal::{Choice, Journal};
use crate::lengths;
use crate::migrate::{meta, set_meta};
use crate::open::{self, CLEAN_SHUTDOWN};
use crate::rows::{Pause, SessionKey};
use crate::units::UnixMillis;

mod embeddings;
mod exclusion;
mod facts;
mod forget;
mod import;
mod in_copies;
mod index;
mod ingest;
mod instructions;
mod known;
mod log_key;
mod projects;
mod recollection;
mod redact;
mod rehearsal;
mod replay;
mod retention;
mod row;
mod share;
mod sources;
mod steer;

pub(crate) use embeddings::{current_model, insert_code, rebuild_codes, remove_code};
pub(crate) use exclusion::excluded_paths;
pub(crate) use in_copies::{Unwanted, forget_in_copy};
#[cfg(any(test, feature = "testing"))]
pub(crate) use index::columns as indexed_columns;
pub(crate) use index::parse_facets;
pub(crate) use ingest::content_hash;
pub use ingest::content_hash_of;
pub use redact::{CleanupState, RedactionCleanup, RedactionStep};
pub(crate) use redact::{copy_is_due, redact_in_copy};
pub(crate) use rehearsal::rehearse;
pub(crate) use row::PULLED;
pub(crate) use share::{FormerSharing, forget_machine, note_former_team};
pub(crate) use steer::settle_boosts;

/// Key in `_meta`: until when ingest and embedding rest, or `indefinite`.
pub(crate) const PAUSED: &str = "paused";
/// Keys in `_meta`: the current embedding model and its dimension.
pub(crate) const EMBEDDING_MODEL: &str = "embedding_model";
const EMBEDDING_DIMENSION: &str = "embedding_dimension";
/// Keys in `_meta`: the analysis that all rows have, and how far a change of it has come.
pub(crate) const INDEX_ANALYSIS: &str = "analysis_version";
const REINDEXED_TO: &str = "reindexed_to";

/// The sole write connection. `Send`, not `Sync`.
#[derive(Debug)]
pub struct Writer {
    db: Connection,
    path: PathBuf,
    /// What the user decided, outside of the database.
    journal: Journal,
    damage: Option<Damage>,
    /// Whether the next opening is to look through the file, though this one ends in order.
    distrusted: bool,
    /// Whether this opening removed what the journal says was forgotten.
    forgot_at_opening: bool,
}

impl Writer {
    /// Opens the store for writing: makes the folder (0700) and the file (0600), tightens the modes of old ones,
    /// migrates an older file after copying it aside, and checks the file if the last writer did not close in order.
    /// A damaged full-text index is rebuilt at once, and what the journal beside the file says that the user decided is true of it
    /// afterwards, whatever the file is: fresh, or put back from an older copy.
    ///
    /// # Errors
    /// [`OpenError`], each with the path and, where there is one, the remedy.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let opened = open::open_writer(path)?;
        let new_id = replay::new_id(&opened.db).map_err(OpenError::at(path, "read"))?;
        let (journal, lines) = Journal::open(path, &new_id).map_err(OpenError::journal(path))?;
        let mut writer = Self {
            db: opened.db,
            path: path.to_owned(),
            journal,
            damage: None,
            distrusted: false,
            forgot_at_opening: false,
        };
        if opened.index_damaged {
            tracing::warn!("the full-text index is damaged and is rebuilt from the stored texts");
            index::rebuild(&mut writer.db).map_err(OpenError::of_rows(path, "rebuild the full-text index of"))?;
            // What was found of the index may have hidden what else there is.
            integrity::check(&writer.db, path)?;
        }
        lengths::fill(&mut writer.db).map_err(OpenError::of_rows(path, "measure the texts of"))?;
        // A store that has episodes and does not say who indexed them is older than the index: they are indexed step by step.
        if lacks_analysis(&writer.db).map_err(OpenError::at(path, "read"))? {
            let version = ANALYSIS_VERSION.to_string();
            set_meta(&writer.db, INDEX_ANALYSIS, &version).map_err(OpenError::at(path, "write to"))?;
        }
        writer.follow_journal(&lines)?;
        writer.follow_facts()?;
        drop(opened.lock);
        Ok(writer)
    }

    /// How many of the user's decisions could not be read any more at this opening: damaged lines of the journal, which are gone now.
    pub fn damaged_decisions(&self) -> u64 {
        self.journal.damaged()
    }

    /// Where the database is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The project of the first of `keys` that is known, else a new one; then all keys name it, but for those that
    /// name another project already. One that was made of the folder alone, before more was known, is taken into it, with its episodes.
    ///
    /// # Errors
    /// [`QueryError::Invalid`] without a key, else what SQLite reports.
    pub fn resolve_project(
        &mut self,
        keys: &[String],
        name: &str,
        root: Option<&str>,
        now: UnixMillis,
    ) -> Result<ProjectId, QueryError> {
        const ACT: &str = "resolve a project";
        if keys.is_empty() {
            return Err(QueryError::Invalid {
                act: ACT,
                detail: "a project needs a key".to_owned(),
            });
        }
        self.within(ACT, |db| projects::resolve(db, keys, name, root, now))
    }

    /// Counts a use by the user's own act (a `show`): `access_count` and `accessed_at`.
    ///
    /// # Errors
    /// What SQLite reports; an episode that is gone is none.
    pub fn record_use(&mut self, id: EpisodeId, now: UnixMillis) -> Result<(), QueryError> {
        self.within("record a use", |db| recollection::count_use(db, id, now))
    }

    /// Makes ingest and embedding rest, or (`None`) go on.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn set_paused(&mut self, pause: Option<Pause>) -> Result<(), QueryError> {
        let value = pause_value(pause);
        let choice = replay::pause_choice(pause);
        self.decide("set the pause", choice, |db| set_meta(db, PAUSED, &value))
    }

    /// Writes what stands there already: whether anything can be written.
    ///
    /// # Errors
    /// What SQLite reports, such as that the disk is full.
    pub fn try_to_write(&mut self) -> Result<(), QueryError> {
        self.within("write to the memory", |db| set_meta(db, CLEAN_SHUTDOWN, "0"))
    }

    /// Adds to a named counter.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn add_counter(&mut self, name: &str, delta: u64) -> Result<(), QueryError> {
        self.within("count", |db| {
            db.prepare_cached(
                "INSERT INTO counters (name, value) VALUES (:name, :delta)
                 ON CONFLICT (name) DO UPDATE SET value = value + excluded.value",
            )?
            .execute(named_params! {":name": name, ":delta": delta as i64})?;
            Ok(())
        })
    }

    /// For tests: puts tombstones there; what is stored of those turns stays until forgotten.
    ///
    /// # Errors
    /// What SQLite reports.
    #[cfg(any(test, feature = "testing"))]
    pub fn restore_tombstones(&mut self, turns: &[crate::TurnUid], now: UnixMillis) -> Result<(), QueryError> {
        self.within("restore tombstones", |db| {
            turns.iter().try_for_each(|turn| forget::bury(db, *turn, now))
        })
    }

    /// Re-analyses up to `limit` episodes of an index that older rules made, and says whether more are left. The index
    /// keeps serving, and an interrupted run goes on where it was. Nothing to do is `false`.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn reindex_step(&mut self, limit: usize) -> Result<bool, QueryError> {
        self.within("re-index episodes", |db| index::reindex_step(db, limit))
    }

    /// Makes the full-text index anew from the stored texts, all at once.
    ///
    /// # Errors
    /// What SQLite reports; the old index stays then.
    pub fn rebuild_index(&mut self) -> Result<(), QueryError> {
        index::rebuild(&mut self.db).map_err(QueryError::at("rebuild the full-text index"))
    }

    /// Moves the write-ahead log into the database and empties it; says whether it is empty now, which a reader in the
    /// way prevents.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn checkpoint(&mut self) -> Result<bool, QueryError> {
        empty_log(&self.db).map_err(QueryError::at("checkpoint"))
    }

    /// Lets SQLite refresh its statistics where they are out of date, in bounded time.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn optimize(&mut self) -> Result<(), QueryError> {
        self.db
            .execute_batch("PRAGMA analysis_limit = 400; PRAGMA optimize;")
            .map_err(QueryError::at("optimize"))
    }

    /// What writes found damaged since this was last asked.
    pub fn take_damage(&mut self) -> Option<Damage> {
        self.damage.take()
    }

    /// Has the next opening look through the file, whatever way this one ends: a connection found damage.
    pub fn distrust(&mut self) {
        self.distrusted = true;
    }

    /// Closes in order: statistics, log, and, unless damage was found, the mark that the next opening needs no check.
    ///
    /// # Errors
    /// What SQLite reports; the store is closed all the same.
    pub fn close(mut self) -> Result<(), QueryError> {
        self.optimize()?;
        if !self.distrusted {
            self.within("mark the end", |db| set_meta(db, CLEAN_SHUTDOWN, "1"))?;
        }
        self.checkpoint()?;
        self.db
            .close()
            .map_err(|(_, source)| QueryError::at("close the database")(source))
    }

    /// Does what the user decided: first the journal has it, on the disk, then `work` is done in one transaction. What is killed
    /// between the two is done by the next opening; what the database refuses is taken out of the journal again.
    fn decide<T>(
        &mut self,
        act: &'static str,
        choice: Choice,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, QueryError> {
        self.decide_all(act, &[choice], work)
    }

    /// As [`Writer::decide`], several choices in one transaction; it is an ordinary one where there is none.
    fn decide_all<T>(
        &mut self,
        act: &'static str,
        choices: &[Choice],
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, QueryError> {
        let mark = self.journal.append(choices).map_err(|source| QueryError::Journal {
            act,
            path: self.journal.path().to_owned(),
            source,
        })?;
        let position = self.journal.position();
        let done = self.within(act, |db| {
            let value = work(db)?;
            set_meta(db, replay::JOURNAL, &position)?;
            Ok(value)
        });
        if done.is_err()
            && let Err(error) = self.journal.take_back(mark)
        {
            tracing::warn!(act, %error, "what was refused stays in the journal: the next start does it");
        }
        done
    }

    /// Runs `work` in one immediate transaction.
    pub(crate) fn within<T>(
        &mut self,
        act: &'static str,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, QueryError> {
        let db = &mut self.db;
        let done = db.transaction_with_behavior(TransactionBehavior::Immediate).and_then(|tx| {
            let value = work(&tx)?;
            tx.commit()?;
            Ok(value)
        });
        done.map_err(QueryError::at(act)).inspect_err(|error| {
            self.damage = Damage::worse(self.damage, error);
            self.distrusted |= self.damage.is_some();
        })
    }
}

/// Whether the store is new: no analysis is noted, and nothing waits for one.
fn lacks_analysis(db: &Connection) -> rusqlite::Result<bool> {
    Ok(meta(db, INDEX_ANALYSIS)?.is_none() && !db.prepare("SELECT 1 FROM episodes")?.exists([])?)
}

/// The row of a session, made if there is none.
pub(crate) fn keep_session(db: &Connection, agent: &str, external_id: &str) -> rusqlite::Result<SessionId> {
    let key = SessionKey {
        agent: agent.to_owned(),
        external_id: external_id.to_owned(),
    };
    ingest::session_id(db, &key)
}

/// Bytes kept free in the row of an episode that has no embedding.
pub(crate) fn embedding_room(db: &Connection) -> rusqlite::Result<i64> {
    embeddings::embedding_size(db)
}

/// Makes anew what is made from the tables: the full-text index at once, and the codes of the vectors as soon as a model is set,
/// since then every vector of that model is given its code.
pub(crate) fn rebuild_derived(db: &mut Connection) -> rusqlite::Result<()> {
    index::rebuild(db)?;
    db.execute(
        "DELETE FROM _meta WHERE key IN (:model, :dimension, :journal)",
        [EMBEDDING_MODEL, EMBEDDING_DIMENSION, replay::JOURNAL],
    )?;
    Ok(())
}

/// A pause as it is stored.
fn pause_value(pause: Option<Pause>) -> String {
    match pause {
        None => String::new(),
        Some(Pause::Indefinite) => "indefinite".to_owned(),
        Some(Pause::Until(until)) => until.0.to_string(),
    }
}

/// Whether the log is empty after a checkpoint that asks for it.
fn empty_log(db: &Connection) -> rusqlite::Result<bool> {
    db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0))
        .map(|busy| busy == 0)
}

#[cfg(test)]
mod tests;
