//! Pulled episodes as rows: copies of what others have, each with a mark of whose it is. In go shared episodes with everything resolved;
//! out come row ids. Whether one is stored is decided by who calls; none is pushed, and none is taken for one's own.

use rusqlite::{Connection, OptionalExtension, named_params};

use super::super::forget::{self, Touched};
use super::super::row::{self, WholeEpisode};
use super::super::{content_hash, embeddings, index};
use crate::ids::{EpisodeId, EpisodeUid, ProjectId, SessionId, TurnUid};
use crate::rows::{Importance, PINNED, ShareOrigin, SharedEpisode};

/// The rules by which what is read gets its importance: others' words for theirs are not kept.
const RULES: [&str; 8] = [
    "user-said-remember",
    "user-decided",
    "error-fixed",
    "commit-made",
    "carried-summary",
    "unanswered",
    "chatter",
    "default",
];
/// The rule of what another member pinned: it is no word of one's own.
const PINNED_BY_ANOTHER: &str = "pinned-by-another";

/// An episode that is there under a uid, whosever it is.
pub(super) struct Known {
    pub(super) id: EpisodeId,
    pub(super) is_pulled: bool,
    pub(super) hidden: bool,
    pub(super) content_hash: [u8; 32],
    pub(super) project: Option<ProjectId>,
    pub(super) session: SessionId,
}

/// Where a pulled episode belongs here.
#[derive(Clone, Copy)]
pub(super) struct Home {
    pub(super) session: SessionId,
    pub(super) project: Option<ProjectId>,
    /// Whether its member is oneself.
    pub(super) is_mine: bool,
}

/// The episode of that uid.
pub(super) fn known(db: &Connection, uid: EpisodeUid) -> rusqlite::Result<Option<Known>> {
    db.prepare_cached("SELECT id, generation = -2, hidden, content_hash, project_id, session_id FROM episodes WHERE uid = :uid")?
        .query_row([uid], |row| {
            Ok(Known {
                id: row.get(0)?,
                is_pulled: row.get(1)?,
                hidden: row.get(2)?,
                content_hash: row.get(3)?,
                project: row.get(4)?,
                session: row.get(5)?,
            })
        })
        .optional()
}

/// The hash of the texts of a shared episode as they are stored here, and its facets as stored.
pub(super) fn content(episode: &SharedEpisode) -> rusqlite::Result<([u8; 32], String)> {
    let facets =
        serde_json::to_string(&episode.facets).map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
    Ok((content_hash([&episode.prompt, &episode.answer, &facets]), facets))
}

/// How much it matters here, and by which rule: what a user decided of a memory is nobody else's, and no rule but ours makes something
/// of another's important.
fn weight(episode: &SharedEpisode, is_mine: bool) -> (Importance, &str) {
    let rule = episode.importance_rule.as_str();
    if RULES.contains(&rule) || (is_mine && rule == PINNED) {
        return (episode.importance, rule);
    }
    let rule = if rule == PINNED { PINNED_BY_ANOTHER } else { "default" };
    (episode.importance.min(Importance::Normal), rule)
}

/// Stores one that is not there, as one of `generation`: a copy, or one's own that comes back. It is not indexed here.
pub(super) fn insert(
    db: &Connection,
    episode: &SharedEpisode,
    home: Home,
    generation: i64,
    room: i64,
) -> rusqlite::Result<EpisodeId> {
    let (importance, importance_rule) = weight(episode, home.is_mine);
    let whole = WholeEpisode {
        uid: episode.uid,
        turn_uid: episode.turn_uid,
        session: home.session,
        project: home.project,
        source: None,
        generation,
        origin: episode.origin,
        turn: episode.turn,
        part: episode.part,
        importance,
        importance_rule,
        created_at: episode.created_at,
        updated_at: episode.updated_at,
        accessed_at: episode.created_at,
        access_count: 0,
        shown_count: 0,
        cwd: None,
        git_branch: episode.git_branch.as_deref(),
        prompt: &episode.prompt,
        answer: &episode.answer,
        facets: &episode.facets,
    };
    row::insert(db, &whole, room)
}

/// Brings one that is there to what is shared now; its vector goes where its texts changed. It is not indexed here.
pub(super) fn replace(db: &Connection, known: &Known, episode: &SharedEpisode, home: Home) -> rusqlite::Result<()> {
    let (hash, facets) = content(episode)?;
    let (importance, rule) = weight(episode, home.is_mine);
    db.prepare_cached(
        "UPDATE episodes SET session_id = :session, project_id = :project, origin = :origin, turn = :turn,
             importance = :importance, importance_rule = :rule, created_at = :created, updated_at = :updated, content_hash = :hash,
             room = iif(content_hash = :hash, room, coalesce(room, zeroblob(length(embedding)))),
             embedding = iif(content_hash = :hash, embedding, NULL),
             embedding_model = iif(content_hash = :hash, embedding_model, NULL)
         WHERE id = :id",
    )?
    .execute(named_params! {
        ":id": known.id, ":session": home.session, ":project": home.project, ":origin": episode.origin, ":turn": episode.turn,
        ":importance": importance, ":rule": rule, ":created": episode.created_at,
        ":updated": episode.updated_at, ":hash": hash,
    })?;
    db.prepare_cached(
        "UPDATE episode_texts SET git_branch = :branch, prompt = :prompt, answer = :answer, facets = :facets
         WHERE episode_id = :id",
    )?
    .execute(named_params! {
        ":id": known.id, ":branch": episode.git_branch, ":prompt": episode.prompt, ":answer": episode.answer,
        ":facets": facets,
    })?;
    if known.content_hash != hash {
        embeddings::remove_code(db, known.id)?;
    }
    Ok(())
}

/// Notes whose it is.
pub(super) fn mark(db: &Connection, id: EpisodeId, from: &ShareOrigin, seq: i64) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT INTO shared_episodes (episode_id, member, member_login, machine, machine_name, seq)
         VALUES (:id, :member, :login, :machine, :name, :seq)
         ON CONFLICT (episode_id) DO UPDATE SET member = excluded.member, member_login = excluded.member_login,
             machine = excluded.machine, machine_name = excluded.machine_name, seq = excluded.seq",
    )?
    .execute(named_params! {
        ":id": id, ":member": from.member, ":login": from.member_login, ":machine": from.machine,
        ":name": from.machine_name, ":seq": seq,
    })?;
    Ok(())
}

/// The place of a copy in the order of all changes.
pub(super) fn seq(db: &Connection, id: EpisodeId) -> rusqlite::Result<Option<i64>> {
    db.prepare_cached("SELECT seq FROM shared_episodes WHERE episode_id = :id")?
        .query_row([id], |row| row.get(0))
        .optional()
}

/// The copies of a turn that are a member's.
pub(super) fn of_turn(db: &Connection, turn: TurnUid, member: i32) -> rusqlite::Result<Vec<EpisodeId>> {
    db.prepare_cached(
        "SELECT id FROM episodes JOIN shared_episodes ON episode_id = id
         WHERE turn_uid = :turn AND member = :member AND generation = -2 ORDER BY id",
    )?
    .query_map(named_params! {":turn": turn, ":member": member}, |row| row.get(0))?
    .collect()
}

/// Removes one with the rows that hang on it, all but its index row, and notes what it touched.
pub(super) fn remove(db: &Connection, id: EpisodeId, touched: &mut Touched) -> rusqlite::Result<()> {
    let (session, project): (SessionId, Option<ProjectId>) = db
        .prepare_cached("SELECT session_id, project_id FROM episodes WHERE id = :id")?
        .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))?;
    forget::remove_episode(db, id)?;
    touched.episodes.push(id);
    touched.sessions.push(session);
    touched.projects.extend(project);
    Ok(())
}

/// Removes copies, and what tells of nothing any more.
fn remove_whole(db: &Connection, ids: &[EpisodeId]) -> rusqlite::Result<Touched> {
    let mut touched = Touched::default();
    ids.iter().try_for_each(|id| remove(db, *id, &mut touched))?;
    index::remove(db, &touched.episodes)?;
    touched.sessions.sort_unstable();
    touched.sessions.dedup();
    touched.projects.sort_unstable();
    touched.projects.dedup();
    forget::tidy_emptied(db, &touched)?;
    Ok(touched)
}

/// Removes all copies; gives which went.
pub(super) fn remove_all(db: &Connection) -> rusqlite::Result<Vec<EpisodeId>> {
    let ids: Vec<EpisodeId> = db
        .prepare_cached("SELECT episode_id FROM shared_episodes ORDER BY episode_id")?
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    remove_whole(db, &ids).map(|touched| touched.episodes)
}

/// Removes the copies of these episodes that are of another machine of one's own; gives which went.
pub(super) fn remove_own_of(db: &Connection, uids: &[EpisodeUid]) -> rusqlite::Result<Vec<EpisodeId>> {
    let mut statement = db.prepare_cached(
        "SELECT id FROM episodes JOIN shared_episodes ON episode_id = id
         WHERE uid = :uid AND generation = -2 AND member = (SELECT member FROM share_target)",
    )?;
    let mut ids: Vec<EpisodeId> = Vec::new();
    for uid in uids {
        ids.extend(statement.query_row([uid], |row| row.get::<_, EpisodeId>(0)).optional()?);
    }
    remove_whole(db, &ids).map(|touched| touched.episodes)
}

/// Removes the copies of a turn that a member forgot; gives how many went.
pub(in crate::write) fn remove_of_turn(db: &Connection, turn: TurnUid, member: i32) -> rusqlite::Result<u64> {
    let ids = of_turn(db, turn, member)?;
    Ok(remove_whole(db, &ids)?.episodes.len() as u64)
}

/// Removes the copy of an episode that is about to be stored as one's own. What memory holds of it is a code that leads to nothing.
pub(in crate::write) fn give_way(db: &Connection, uid: EpisodeUid) -> rusqlite::Result<()> {
    match known(db, uid)? {
        Some(copy) if copy.is_pulled => {
            forget::remove_episode(db, copy.id)?;
            index::remove(db, &[copy.id])
        }
        _ => Ok(()),
    }
}
