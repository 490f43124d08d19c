//! A look through a whole store, for the tests that kill and starve the programs which write it: is it sound, and what is in it?
//!
//! In goes the path of a database, of this version or an older one; out come all contradictions and all episodes. Everything is
//! read, and compared with what the writer would have written: the index with the texts, the codes with the vectors, the
//! hashes with the contents. Nothing is written, but opening a database with a log may make SQLite's own `-shm`: whoever
//! wants the file left as a crash left it looks through a copy.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use crate::error::QueryError;
use crate::ids::{EpisodeId, EpisodeUid, TurnUid};
use crate::migrate::{self, LATEST, meta};
use crate::units::UnixMillis;
use crate::vec_extension;

mod index;
mod sharing;
mod steering;
mod vectors;

const ACT: &str = "look through the store";
/// Contradictions of one kind that are told; the rest is counted.
const TOLD: usize = 5;

/// What a look through a store found.
#[derive(Clone, Debug, Default)]
pub struct Audit {
    /// The schema version of the file; 0 where nothing was made yet.
    pub schema_version: u32,
    /// What is wrong in it, a sentence each, without any text of an episode.
    pub faults: Vec<String>,
    /// Every episode, hidden ones too, by row.
    pub episodes: Vec<AuditedEpisode>,
    /// Turns that were forgotten.
    pub tombstones: BTreeSet<TurnUid>,
    /// How far each transcript was read, in bytes, by path.
    pub read: BTreeMap<String, u64>,
}

/// An episode as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditedEpisode {
    /// Row id.
    pub id: EpisodeId,
    /// Identity of the episode.
    pub uid: EpisodeUid,
    /// Identity of its turn.
    pub turn_uid: TurnUid,
    /// The session id as the agent writes it.
    pub session: String,
    /// 0-based ordinal of the turn in its source.
    pub turn: u32,
    /// 0-based number of the part in its turn.
    pub part: u32,
    /// What was asked.
    pub prompt: String,
    /// What came of it.
    pub answer: String,
    /// Whether an exclusion hides it.
    pub hidden: bool,
    /// Whether it has a vector.
    pub embedded: bool,
    /// When its turn began.
    pub created_at: UnixMillis,
}

/// Looks through the database at `path`.
///
/// # Errors
/// What SQLite reports where it can't even be read: damage, or no database.
pub fn audit(path: &Path) -> Result<Audit, QueryError> {
    let failed = QueryError::at(ACT);
    vec_extension::register().map_err(&failed)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags).map_err(&failed)?;
    look_through(&db).map_err(&failed)
}

fn look_through(db: &Connection) -> rusqlite::Result<Audit> {
    let mut audit = Audit {
        schema_version: migrate::version(db)?,
        ..Audit::default()
    };
    let mut faults = Faults::default();
    for check in ["integrity_check(20)", "foreign_key_check"] {
        let mut statement = db.prepare(&format!("PRAGMA {check}"))?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let finding: String = row.get_ref(0)?.as_str()?.to_owned();
            if finding != "ok" {
                faults.add(check, finding);
            }
        }
    }
    if audit.schema_version > 0 {
        let noted = meta(db, "schema_version")?;
        if noted.as_deref() != Some(audit.schema_version.to_string().as_str()) {
            faults.add(
                "version",
                format!("the file has {}, its own note {noted:?}", audit.schema_version),
            );
        }
        audit.read = read_offsets(db)?;
    }
    if db.table_exists(None, "episode_texts")? {
        audit.episodes = episodes(db, &mut faults)?;
    }
    if db.table_exists(None, "tombstones")? {
        audit.tombstones = tombstones(db)?;
        for episode in audit
            .episodes
            .iter()
            .filter(|episode| audit.tombstones.contains(&episode.turn_uid))
        {
            faults.add("tombstone", format!("episode {} was forgotten and is there", episode.id));
        }
    }
    if audit.schema_version == LATEST {
        index::check(db, &mut faults)?;
        vectors::check(db, &mut faults)?;
        steering::check(db, &mut faults)?;
        sharing::check(db, &mut faults)?;
    }
    audit.faults = faults.told();
    Ok(audit)
}

/// Contradictions by kind, of which only the first few are told.
#[derive(Default)]
struct Faults(BTreeMap<&'static str, Vec<String>>);

impl Faults {
    fn add(&mut self, kind: &'static str, fault: String) {
        self.0.entry(kind).or_default().push(fault);
    }

    fn told(self) -> Vec<String> {
        let mut told = Vec::new();
        for (kind, faults) in self.0 {
            let more = faults.len().saturating_sub(TOLD);
            told.extend(faults.into_iter().take(TOLD).map(|fault| format!("{kind}: {fault}")));
            if more > 0 {
                told.push(format!("{kind}: {more} more"));
            }
        }
        told
    }
}

fn read_offsets(db: &Connection) -> rusqlite::Result<BTreeMap<String, u64>> {
    db.prepare("SELECT path, read_offset FROM sources")?
        .query_map([], |row| Ok((row.get(0)?, row.get::<_, i64>(1)? as u64)))?
        .collect()
}

fn tombstones(db: &Connection) -> rusqlite::Result<BTreeSet<TurnUid>> {
    db.prepare("SELECT uid FROM tombstones")?
        .query_map([], |row| row.get(0))?
        .collect()
}

/// Every episode; one without its text, or in the place of another, is a fault.
fn episodes(db: &Connection, faults: &mut Faults) -> rusqlite::Result<Vec<AuditedEpisode>> {
    let mut statement = db.prepare(
        "SELECT episodes.id, uid, turn_uid, external_id, turn, part, prompt, answer, hidden, embedding IS NOT NULL,
            episodes.created_at, facets, content_hash
         FROM episodes
         LEFT JOIN episode_texts ON episode_texts.episode_id = episodes.id
         LEFT JOIN sessions ON sessions.id = episodes.session_id
         ORDER BY episodes.id",
    )?;
    let mut rows = statement.query([])?;
    let (mut found, mut places) = (Vec::new(), BTreeSet::new());
    while let Some(row) = rows.next()? {
        let text = |column| row.get::<_, Option<String>>(column).map(Option::unwrap_or_default);
        let episode = AuditedEpisode {
            id: row.get(0)?,
            uid: row.get(1)?,
            turn_uid: row.get(2)?,
            session: text(3)?,
            turn: row.get(4)?,
            part: row.get(5)?,
            prompt: text(6)?,
            answer: text(7)?,
            hidden: row.get(8)?,
            embedded: row.get(9)?,
            created_at: row.get(10)?,
        };
        if row.get_ref(6)?.as_str_or_null()?.is_none() {
            faults.add("text", format!("episode {} has none", episode.id));
        } else if crate::write::content_hash([&episode.prompt, &episode.answer, &text(11)?]) != row.get::<_, [u8; 32]>(12)? {
            faults.add("text", format!("episode {} has another hash than its text", episode.id));
        }
        if EpisodeUid::of(&episode.turn_uid, episode.part) != episode.uid {
            faults.add(
                "uid",
                format!("episode {} is not the part of the turn that it says", episode.id),
            );
        }
        if !places.insert((episode.turn_uid, episode.part)) {
            faults.add(
                "doubled",
                format!("episode {} has the place of another in its turn", episode.id),
            );
        }
        found.push(episode);
    }
    Ok(found)
}

#[cfg(test)]
mod tests;
