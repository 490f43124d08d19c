//! Sharing, as it is read: what the shared store has to know next, how far both ways have come, and whose pulled episodes are.
//! In go bounds and ids, out come rows. What is to be pushed is told by what is true now: an entry of the outbox says no more than that
//! something may have changed.

use std::collections::{BTreeMap, HashMap};

use rusqlite::{Connection, OptionalExtension, Row, named_params};
use sha2::{Digest, Sha256};

use super::Reader;
use super::episodes::by_ids;
use super::steering::project_keys;
use crate::error::QueryError;
use crate::ids::{EpisodeId, EpisodeUid, ProjectId, TurnUid};
use crate::rows::{FormerTeam, OwnEpisode, ShareOrigin, SharePlace, ShareState, SharedEpisode, ToPush};
use crate::vector_code::from_bytes;
use crate::write::parse_facets;

mod allowed;
mod projects;

pub(crate) use allowed::allowed_projects;
use allowed::may_be_shared;
pub use allowed::may_be_told;

/// Entries of the outbox with what is true of each now: whether its turn is forgotten and that may be told (of what is not told as a rule,
/// where the shared store may have it), what is to be seen of it, whether it is kept out, and whether the shared store may have it (1 under
/// this name, 2 under another).
macro_rules! entries {
    () => {
        "SELECT change, uid, turn_uid,
            EXISTS (SELECT 1 FROM tombstones WHERE tombstones.uid = share_outbox.turn_uid)
                AND (NOT EXISTS (SELECT 1 FROM share_turns
                        WHERE share_turns.turn_uid = share_outbox.turn_uid AND what = 'untold')
                    OR EXISTS (SELECT 1 FROM share_pushed WHERE share_pushed.turn_uid = share_outbox.turn_uid))
                AS forgotten,
            (SELECT id FROM episodes WHERE episodes.uid = share_outbox.uid AND generation <> -2 AND hidden = 0
                AND project_id IN (SELECT value FROM json_each(:projects))) AS live,
            EXISTS (SELECT 1 FROM episodes WHERE episodes.uid = share_outbox.uid AND generation <> -2 AND hidden = 1) AS kept_out,
            coalesce((SELECT state FROM share_pushed WHERE share_pushed.uid = share_outbox.uid), 0) AS pushed
        FROM share_outbox"
    };
}
/// What is to leave first, then the others, each in their order.
const NEXT: &str = concat!(entries!(), " ORDER BY urgent DESC, change LIMIT :most");
/// What is to leave alone: it is among what is urgent.
const NEXT_TO_LEAVE: &str = concat!(
    "SELECT change, uid, turn_uid, forgotten, live, kept_out, pushed FROM (",
    entries!(),
    " WHERE urgent = 1) WHERE forgotten OR live IS NULL ORDER BY change LIMIT :most"
);
/// What a boosted episode was by the rules is what is told of it.
const OWN: &str = "SELECT uid, turn_uid, coalesce(projects.name, ''), agent, external_id, origin, turn, part,
        coalesce(boosted_episodes.importance, episodes.importance),
        coalesce(boosted_episodes.importance_rule, episodes.importance_rule), episodes.created_at, updated_at,
        episode_texts.git_branch, prompt, answer, facets, content_hash, embedding_models.name, embedding, episodes.project_id,
        projects.root
    FROM episodes
    JOIN episode_texts ON episode_texts.episode_id = episodes.id
    JOIN sessions ON sessions.id = episodes.session_id
    LEFT JOIN projects ON projects.id = episodes.project_id
    LEFT JOIN boosted_episodes ON boosted_episodes.episode_id = episodes.id
    LEFT JOIN embedding_models ON embedding_models.id = episodes.embedding_model
    WHERE episodes.id = :id";
/// One's own, or a copy that is as new.
const HERE: &str = "SELECT id FROM episodes LEFT JOIN shared_episodes ON episode_id = id
    WHERE uid = :uid AND hidden = 0 AND (generation <> -2 OR seq >= :seq)";
/// The state of what the shared store has by a name that this memory had before: nobody but who withdraws everywhere reaches it.
const BY_FORMER_NAME: i64 = 2;
const TARGET: &str = "SELECT active, team_key, machine, allowed, member, member_login, cursor, head, paused,
        coalesce(put_out, 0), unknown_model, coalesce(has_left, 0) FROM share_target LEFT JOIN share_server ON share_server.id = share_target.id";
const ORIGIN: &str = "SELECT episode_id, member, member_login, machine, machine_name FROM shared_episodes
    WHERE ?1 IS NULL AND episode_id IN ";
const BY_ORIGIN: &str = "SELECT member, member_login, machine, machine_name, count(*) FROM shared_episodes
    GROUP BY member, member_login, machine, machine_name ORDER BY member_login, machine_name, machine";
const PUSHED_BY_PROJECT: &str = "SELECT coalesce(name, ''), count(*) FROM share_pushed
    LEFT JOIN projects ON projects.id = project_id WHERE state > 0 GROUP BY project_id";
const FORMER: &str = "SELECT team_key, count(*) FROM share_former WHERE state > 0 GROUP BY team_key ORDER BY team_key";
const PULLED_BY_PROJECT: &str = "SELECT coalesce(name, ''), count(*) FROM shared_episodes
    JOIN episodes ON episodes.id = episode_id LEFT JOIN projects ON projects.id = project_id GROUP BY project_id";

impl Reader {
    /// The next of what the shared store has to know, at most `most` entries of the outbox; with `only_removals` what is to be withdrawn
    /// and forgotten alone, and the rest waits. Nothing where nothing is shared. It is to go through [`crate::Writer::pushing`] before
    /// it is sent.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn next_to_push(&self, most: usize, only_removals: bool) -> Result<ToPush, QueryError> {
        self.run("read what to share", |db| {
            let snapshot = db.unchecked_transaction()?;
            let next = next_to_push(&snapshot, most, only_removals)?;
            snapshot.finish()?;
            Ok(next)
        })
    }

    /// How far sharing has come; `None` where nothing is shared.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn share_place(&self) -> Result<Option<SharePlace>, QueryError> {
        self.run("read how far sharing is", share_place)
    }

    /// How far sharing has come, where a prompt in this project, or in a folder of these keys, may be told to the shared store: of a
    /// project that may be shared, and while sharing is not paused.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn place_to_ask(&self, project: Option<ProjectId>, keys: &[String]) -> Result<Option<SharePlace>, QueryError> {
        self.run("read whether to ask the shared store", |db| {
            let Some(place) = share_place(db)?.filter(|place| !place.paused) else {
                return Ok(None);
            };
            let globs = globs(db)?.unwrap_or_default();
            let stored = project.map(|project| project_keys(db, project)).transpose()?;
            let keys: Vec<&String> = stored.iter().flatten().chain(keys).collect();
            Ok(may_be_shared(&globs, &keys).then_some(place))
        })
    }

    /// Where episodes of the shared store are here, in their order, each by its uid and its place in the order of all changes; `None` where
    /// one is not, is older here, or not to be recalled.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn found_here(&self, found: &[(EpisodeUid, i64)]) -> Result<Vec<Option<EpisodeId>>, QueryError> {
        self.run("look for what was found", |db| {
            let mut statement = db.prepare_cached(HERE)?;
            let here = |(uid, seq): &(EpisodeUid, i64)| {
                let read = statement.query_row(named_params! {":uid": uid, ":seq": seq}, |row| row.get::<_, EpisodeId>(0));
                read.optional()
            };
            found.iter().map(here).collect()
        })
    }

    /// What is shared, in numbers; `None` where nothing is.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn share_state(&self) -> Result<Option<ShareState>, QueryError> {
        let state = self.run("read what is shared", share_state)?;
        Ok(state.filter(|state| state.active))
    }

    /// How many episodes of this memory are still at a shared store with which it does not share any more; none where that did not let this
    /// member in, as far as it last said: nothing can be taken back from there.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn share_left_there(&self) -> Result<u64, QueryError> {
        let state = self.run("read what is still shared", share_state)?;
        let is_there = |state: &ShareState| !state.active && !state.is_put_out;
        Ok(state.filter(is_there).map_or(0, |state| state.pushed))
    }

    /// Whose the pulled ones of these episodes are; one's own are left out.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn shared_origin(&self, ids: &[EpisodeId]) -> Result<HashMap<EpisodeId, ShareOrigin>, QueryError> {
        let found = self.run("read whose episodes are", |db| {
            let read = |row: &Row<'_>| {
                let id: EpisodeId = row.get(0)?;
                Ok((id, (id, origin(row, 1)?)))
            };
            by_ids(db, ORIGIN, None, ids, read)
        })?;
        Ok(found.into_iter().collect())
    }
}

/// Whose an episode is, from four columns.
fn origin(row: &Row<'_>, first: usize) -> rusqlite::Result<ShareOrigin> {
    Ok(ShareOrigin {
        member: row.get(first)?,
        member_login: row.get(first + 1)?,
        machine: row.get(first + 2)?,
        machine_name: row.get(first + 3)?,
    })
}

fn next_to_push(db: &Connection, most: usize, only_removals: bool) -> rusqlite::Result<ToPush> {
    let Some(globs) = globs(db)? else {
        return Ok(ToPush::default());
    };
    let projects = allowed_projects(db, &globs)?;
    let mut next = ToPush::default();
    let mut statement = db.prepare_cached(if only_removals { NEXT_TO_LEAVE } else { NEXT })?;
    let mut rows = statement.query(named_params! {":projects": projects, ":most": most as i64})?;
    while let Some(row) = rows.next()? {
        let (change, uid, turn): (i64, EpisodeUid, TurnUid) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let (forgotten, live): (bool, Option<EpisodeId>) = (row.get(3)?, row.get(4)?);
        let (kept_out, pushed): (bool, i64) = (row.get(5)?, row.get(6)?);
        next.entries.push((change, uid));
        if forgotten {
            if !next.forget.contains(&turn) {
                next.forget.push(turn);
            }
        } else if let Some(id) = live {
            next.live.push(own(db, id)?);
        } else if pushed == BY_FORMER_NAME || (pushed > 0 && kept_out) {
            next.withdraw_everywhere.push(uid);
        } else if pushed > 0 {
            next.withdraw.push(uid);
        }
    }
    Ok(next)
}

/// The globs of what may be shared: none after this memory has left; `None` where nothing is shared.
pub(crate) fn globs(db: &Connection) -> rusqlite::Result<Option<Vec<String>>> {
    let allowed: Option<String> = db
        .prepare_cached(
            "SELECT iif(EXISTS (SELECT 1 FROM share_server WHERE has_left = 1), '[]', allowed) FROM share_target WHERE active = 1",
        )?
        .query_row([], |row| row.get(0))
        .optional()?;
    allowed.as_deref().map(parse_globs).transpose()
}

/// The globs as they are stored.
pub(crate) fn parse_globs(json: &str) -> rusqlite::Result<Vec<String>> {
    serde_json::from_str(json)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, Box::new(error)))
}

fn own(db: &Connection, id: EpisodeId) -> rusqlite::Result<OwnEpisode> {
    let mut own = db.prepare_cached(OWN)?.query_row(named_params! {":id": id}, read_own)?;
    if let Some(project) = own.project_id {
        let keys = project_keys(db, project)?;
        own.episode.project_keys = keys.into_iter().filter(|key| may_be_told(key)).collect();
    }
    Ok(own)
}

fn read_own(row: &Row<'_>) -> rusqlite::Result<OwnEpisode> {
    let session: String = row.get(4)?;
    let model: Option<String> = row.get(17)?;
    let vector = row.get_ref(18)?.as_blob_or_null()?.map(from_bytes);
    let episode = SharedEpisode {
        uid: row.get(0)?,
        turn_uid: row.get(1)?,
        project_keys: Vec::new(),
        project_name: row.get(2)?,
        agent: row.get(3)?,
        session: told_session(session),
        origin: row.get(5)?,
        turn: row.get(6)?,
        part: row.get(7)?,
        importance: row.get(8)?,
        importance_rule: row.get(9)?,
        created_at: row.get(10)?,
        updated_at: row.get(11)?,
        git_branch: row.get(12)?,
        prompt: row.get(13)?,
        answer: row.get(14)?,
        facets: parse_facets(row.get_ref(15)?.as_str()?)?,
        content_hash: row.get(16)?,
        embedding: model.zip(vector),
    };
    let project_id: Option<ProjectId> = row.get(19)?;
    Ok(OwnEpisode {
        episode,
        project_root: row.get(20)?,
        project_id,
    })
}

/// A session's name as it is told: one that is a path tells where a transcript lies.
fn told_session(session: String) -> String {
    if !session.contains(['/', '\\']) {
        return session;
    }
    let mut name = [0; 16];
    name.copy_from_slice(&Sha256::digest(session.as_bytes())[..16]);
    TurnUid(name).to_string()
}

/// As [`Reader::share_place`].
pub(crate) fn share_place(db: &Connection) -> rusqlite::Result<Option<SharePlace>> {
    let read = |row: &Row<'_>| {
        Ok(SharePlace {
            machine: row.get(0)?,
            member: row.get(1)?,
            cursor: row.get(2)?,
            sent: row.get(3)?,
            paused: row.get(4)?,
            has_changes: row.get(5)?,
        })
    };
    db.prepare_cached(
        "SELECT machine, member, cursor, sent, paused, EXISTS (SELECT 1 FROM share_outbox) FROM share_target
         WHERE active = 1 AND machine IS NOT NULL",
    )?
    .query_row([], read)
    .optional()
}

/// As [`Reader::share_state`], also where sharing has stopped.
pub(crate) fn share_state(db: &Connection) -> rusqlite::Result<Option<ShareState>> {
    let read = |row: &Row<'_>| {
        let machine: Option<[u8; 16]> = row.get(2)?;
        let allowed: String = row.get(3)?;
        Ok(ShareState {
            active: row.get(0)?,
            team_key: row.get(1)?,
            machine: machine.unwrap_or_default(),
            allowed: parse_globs(&allowed)?,
            member: row.get(4)?,
            member_login: row.get(5)?,
            cursor: row.get(6)?,
            head: row.get(7)?,
            paused: row.get(8)?,
            is_put_out: row.get(9)?,
            unknown_model: row.get(10)?,
            has_left: row.get(11)?,
            ..ShareState::default()
        })
    };
    let Some(mut state) = db.prepare_cached(TARGET)?.query_row([], read).optional()? else {
        return Ok(None);
    };
    state.outbox = count(db, "SELECT count(*) FROM share_outbox")?;
    state.pushed = count(db, "SELECT count(*) FROM share_pushed WHERE state > 0")?;
    state.pulled = count(db, "SELECT count(*) FROM shared_episodes")?;
    state.by_project = by_project(db)?;
    state.former = db
        .prepare_cached(FORMER)?
        .query_map([], |row| {
            Ok(FormerTeam {
                team_key: row.get(0)?,
                pushed: row.get::<_, i64>(1)? as u64,
            })
        })?
        .collect::<Result<_, _>>()?;
    state.by_origin = db
        .prepare_cached(BY_ORIGIN)?
        .query_map([], |row| Ok((origin(row, 0)?, row.get::<_, i64>(4)? as u64)))?
        .collect::<Result<_, _>>()?;
    Ok(Some(state))
}

fn by_project(db: &Connection) -> rusqlite::Result<Vec<(String, u64, u64)>> {
    let mut projects: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for (sql, is_pushed) in [(PUSHED_BY_PROJECT, true), (PULLED_BY_PROJECT, false)] {
        let mut statement = db.prepare_cached(sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (name, number): (String, i64) = (row.get(0)?, row.get(1)?);
            let (pushed, pulled) = projects.entry(name).or_default();
            *(if is_pushed { pushed } else { pulled }) += number as u64;
        }
    }
    Ok(projects
        .into_iter()
        .map(|(name, (pushed, pulled))| (name, pushed, pulled))
        .collect())
}

fn count(db: &Connection, sql: &str) -> rusqlite::Result<u64> {
    db.query_row(sql, [], |row| row.get::<_, i64>(0)).map(|count| count as u64)
}
