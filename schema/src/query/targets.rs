//! Which episodes a request to forget or to exclude is about; shared by the writer, which acts on it, and by readers,
//! which tell beforehand.
//! In goes a target, out come ids, hidden episodes included.

use std::cmp::Reverse;
use std::collections::HashSet;

use rusqlite::{Connection, named_params};

use super::{Reader, Scope};
use crate::analysis::terms;
use crate::error::QueryError;
use crate::fts_query::MatchExpression;
use crate::ids::{EpisodeId, prefix_bounds};
use crate::rows::{ForgetTarget, TargetedEpisode};

/// Hexadecimal digits by which an episode is named at least: fewer would name too much.
pub const SHORTEST_PREFIX: usize = 4;

impl Reader {
    /// The episodes that [`crate::Writer::forget`] would begin from; it then takes their whole turns.
    ///
    /// # Errors
    /// What SQLite reports.
    #[cfg(any(test, feature = "testing"))]
    pub fn episodes_of(&self, target: &ForgetTarget) -> Result<Vec<EpisodeId>, QueryError> {
        self.run("find what to forget", |db| of(db, target))
    }

    /// The working folders of all that is stored, each once.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn working_folders(&self) -> Result<Vec<String>, QueryError> {
        self.run("read the working folders", |db| {
            db.prepare_cached(
                "SELECT cwd FROM episode_texts WHERE cwd IS NOT NULL
                 UNION SELECT cwd FROM sessions WHERE cwd IS NOT NULL",
            )?
            .query_map([], |row| row.get(0))?
            .collect()
        })
    }

    /// The episodes that [`crate::Writer::forget`] would remove, newest first: all parts of the turns that `target` is about.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn turns_of(&self, target: &ForgetTarget) -> Result<Vec<TargetedEpisode>, QueryError> {
        self.run("find what to forget", |db| whole_turns(db, &of(db, target)?))
    }
}

/// The episodes of the turns of `ids`, newest first, the parts of a turn in order.
fn whole_turns(db: &Connection, ids: &[EpisodeId]) -> rusqlite::Result<Vec<TargetedEpisode>> {
    let mut found = Vec::with_capacity(ids.len());
    let mut known = HashSet::with_capacity(ids.len());
    let mut statement = db.prepare_cached(
        "SELECT id, turn_uid, part, session_id, created_at FROM episodes
         WHERE turn_uid = (SELECT turn_uid FROM episodes WHERE id = :id)",
    )?;
    for id in ids {
        if known.contains(id) {
            continue;
        }
        let mut rows = statement.query([id])?;
        while let Some(row) = rows.next()? {
            let episode = TargetedEpisode {
                id: row.get(0)?,
                turn_uid: row.get(1)?,
                part: row.get(2)?,
                session: row.get(3)?,
                created_at: row.get(4)?,
            };
            if known.insert(episode.id) {
                found.push(episode);
            }
        }
    }
    found.sort_unstable_by_key(|episode| (Reverse(episode.created_at), episode.turn_uid, episode.part));
    Ok(found)
}

/// The episodes of a target.
pub(crate) fn of(db: &Connection, target: &ForgetTarget) -> rusqlite::Result<Vec<EpisodeId>> {
    match target {
        ForgetTarget::Episode(prefix) => by_prefix(db, prefix),
        ForgetTarget::Session { agent, external_id } => db
            .prepare_cached(
                "SELECT episodes.id FROM sessions JOIN episodes ON episodes.session_id = sessions.id
                 WHERE external_id = :id AND (:agent IS NULL OR sessions.agent = :agent)
                 UNION
                 SELECT episode_id FROM sessions JOIN session_copies ON session_copies.session_id = sessions.id
                 WHERE external_id = :id AND (:agent IS NULL OR sessions.agent = :agent)",
            )?
            .query_map(named_params! {":id": external_id, ":agent": agent}, |row| row.get(0))?
            .collect(),
        ForgetTarget::Project(project) => db
            .prepare_cached("SELECT id FROM episodes WHERE project_id = :project")?
            .query_map([project], |row| row.get(0))?
            .collect(),
        ForgetTarget::Path(path) => under_path(db, path),
        ForgetTarget::Matching(text) => matching(db, text),
        ForgetTarget::After(at) => db
            .prepare_cached("SELECT id FROM episodes WHERE created_at >= :at")?
            .query_map([at], |row| row.get(0))?
            .collect(),
        ForgetTarget::Before(at) => db
            .prepare_cached("SELECT id FROM episodes WHERE created_at < :at")?
            .query_map([at], |row| row.get(0))?
            .collect(),
        ForgetTarget::AllOf(targets) => in_all(db, targets),
        ForgetTarget::AnyOf(targets) => in_any(db, targets),
        ForgetTarget::All => db
            .prepare_cached("SELECT id FROM episodes")?
            .query_map([], |row| row.get(0))?
            .collect(),
    }
}

/// The episodes that every one of `targets` names.
fn in_all(db: &Connection, targets: &[ForgetTarget]) -> rusqlite::Result<Vec<EpisodeId>> {
    let Some((first, others)) = targets.split_first() else {
        return Ok(Vec::new());
    };
    let mut ids = of(db, first)?;
    for target in others {
        let named: HashSet<EpisodeId> = of(db, target)?.into_iter().collect();
        ids.retain(|id| named.contains(id));
    }
    Ok(ids)
}

/// The episodes that at least one of `targets` names, each once.
fn in_any(db: &Connection, targets: &[ForgetTarget]) -> rusqlite::Result<Vec<EpisodeId>> {
    let mut ids = Vec::new();
    for target in targets {
        ids.extend(of(db, target)?);
    }
    ids.sort_unstable();
    ids.dedup();
    Ok(ids)
}

/// The episodes whose uid begins with a prefix of at least 4 hexadecimal digits.
pub(crate) fn by_prefix(db: &Connection, prefix: &str) -> rusqlite::Result<Vec<EpisodeId>> {
    let Some((low, high)) = prefix_bounds(prefix).filter(|_| prefix.len() >= SHORTEST_PREFIX) else {
        return Ok(Vec::new());
    };
    db.prepare_cached("SELECT id FROM episodes WHERE uid BETWEEN :low AND :high ORDER BY uid")?
        .query_map(named_params! {":low": low, ":high": high}, |row| row.get(0))?
        .collect()
}

/// The episodes whose working folder or transcript lies at or under a path; where no folder is known of an episode, its session's, and
/// of what others shared that of its project.
pub(crate) fn under_path(db: &Connection, path: &str) -> rusqlite::Result<Vec<EpisodeId>> {
    let mut statement = db.prepare_cached(
        "SELECT episodes.id, coalesce(episode_texts.cwd, iif(episodes.generation = -2, projects.root, NULL), sessions.cwd), sources.path
         FROM episodes
         JOIN episode_texts ON episode_texts.episode_id = episodes.id
         JOIN sessions ON sessions.id = episodes.session_id
         LEFT JOIN projects ON projects.id = episodes.project_id
         LEFT JOIN sources ON sources.id = episodes.source_id",
    )?;
    let mut rows = statement.query([])?;
    let mut ids = Vec::new();
    while let Some(row) = rows.next()? {
        let places = [row.get_ref(1)?.as_str_or_null()?, row.get_ref(2)?.as_str_or_null()?];
        if places.into_iter().flatten().any(|place| is_under(place, path)) {
            ids.push(row.get(0)?);
        }
    }
    Ok(ids)
}

/// Whether `path` is `folder` or lies below it, by whole components.
pub(crate) fn is_under(path: &str, folder: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    path.strip_prefix(folder)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The episodes that hold all words of a text: by the index, and by reading those that are hidden from it.
fn matching(db: &Connection, text: &str) -> rusqlite::Result<Vec<EpisodeId>> {
    let words = terms(text);
    let Some(expression) = MatchExpression::all_of(&words, Scope::All) else {
        return Ok(Vec::new());
    };
    let mut ids: Vec<EpisodeId> = db
        .prepare_cached("SELECT rowid FROM episodes_fts WHERE episodes_fts MATCH :expression")?
        .query_map([expression.to_fts5()], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let mut statement = db.prepare_cached(
        "SELECT id, prompt || char(10) || answer || char(10) || facets
         FROM episodes JOIN episode_texts ON episode_texts.episode_id = episodes.id WHERE hidden = 1",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let held: HashSet<String> = terms(row.get_ref(1)?.as_str()?).into_iter().collect();
        if words.iter().all(|word| held.contains(word)) {
            ids.push(row.get(0)?);
        }
    }
    Ok(ids)
}
