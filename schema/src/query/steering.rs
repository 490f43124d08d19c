//! What the user decided of single memories: which are muted and boosted, and which facts there are.
//! In goes nothing or a key, out come ids, turns and facts. What is muted is asked for by every recall: an empty table where the user
//! muted nothing.

use std::collections::HashSet;

use rusqlite::{Connection, OptionalExtension, Row, named_params};

use super::Reader;
use crate::error::QueryError;
use crate::ids::{EpisodeId, EpisodeUid, ProjectId, TurnUid};
use crate::rows::{EVERYWHERE_KEY, Fact, ProjectNames, REMEMBERED_SESSION, SessionKey, Steered, SteeredTurn, USER_AGENT};

const MUTED: &str = "SELECT episodes.id FROM steered_turns
    JOIN episodes ON episodes.turn_uid = steered_turns.turn_uid WHERE muted_at IS NOT NULL";
const STEERED: &str = "SELECT steered_turns.turn_uid, muted_at, boosted_at,
        (SELECT uid FROM episodes WHERE episodes.turn_uid = steered_turns.turn_uid ORDER BY part LIMIT 1)
    FROM steered_turns ORDER BY max(coalesce(muted_at, 0), coalesce(boosted_at, 0)) DESC, steered_turns.turn_uid";
const OF_EPISODE: &str = "SELECT muted_at, boosted_at, boosted_episodes.importance, boosted_episodes.importance_rule
    FROM episodes
    LEFT JOIN steered_turns ON steered_turns.turn_uid = episodes.turn_uid
    LEFT JOIN boosted_episodes ON boosted_episodes.episode_id = episodes.id
    WHERE episodes.id = :id";
const FACTS: &str = "SELECT turn_uid, created_at, prompt, episode_texts.cwd, episodes.project_id FROM sessions
    JOIN episodes ON episodes.session_id = sessions.id
    JOIN episode_texts ON episode_texts.episode_id = episodes.id
    WHERE agent = :agent AND external_id = :session AND generation <> -2 ORDER BY episodes.id";
/// A project's keys in the order in which they tell: an address, a first commit, a repository, a folder alone.
const KEYS: &str = "SELECT key FROM project_aliases WHERE project_id = :project
    ORDER BY CASE substr(key, 1, instr(key, ':')) WHEN 'everywhere:' THEN 0 WHEN 'url:' THEN 1 WHEN 'root:' THEN 2
        WHEN 'git:' THEN 3 ELSE 4 END, key";

impl Reader {
    /// The episodes of muted turns: what no prompt is answered with.
    ///
    /// # Errors
    /// What SQLite reports; [`QueryError::Interrupted`].
    pub fn muted_episodes(&self) -> Result<HashSet<EpisodeId>, QueryError> {
        self.run("read what is muted", |db| {
            db.prepare_cached(MUTED)?.query_map([], |row| row.get(0))?.collect()
        })
    }

    /// The project whose episodes are recalled in all projects; `None` where nothing was remembered so.
    ///
    /// # Errors
    /// What SQLite reports; [`QueryError::Interrupted`].
    pub fn everywhere(&self) -> Result<Option<ProjectId>, QueryError> {
        self.project_by_key(EVERYWHERE_KEY)
    }

    /// The turns that are muted or boosted, the latest decision first.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn steered_turns(&self) -> Result<Vec<SteeredTurn>, QueryError> {
        self.run("read what is steered", stored_steered)
    }

    /// What the user decided of an episode's turn; nothing of one that is not there.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn steered(&self, episode: EpisodeId) -> Result<Steered, QueryError> {
        self.run("read what was decided of an episode", |db| steered(db, episode))
    }
}

/// As [`Reader::steered_turns`].
pub(crate) fn stored_steered(db: &Connection) -> rusqlite::Result<Vec<SteeredTurn>> {
    let read = |row: &Row<'_>| {
        let turn_uid: TurnUid = row.get(0)?;
        let stored: Option<EpisodeUid> = row.get(3)?;
        Ok(SteeredTurn {
            turn_uid,
            episode: stored.unwrap_or_else(|| EpisodeUid::of(&turn_uid, 0)),
            muted_at: row.get(1)?,
            boosted_at: row.get(2)?,
        })
    };
    db.prepare_cached(STEERED)?.query_map([], read)?.collect()
}

/// As [`Reader::steered`].
pub(super) fn steered(db: &Connection, episode: EpisodeId) -> rusqlite::Result<Steered> {
    db.prepare_cached(OF_EPISODE)?
        .query_row(named_params! {":id": episode}, |row| {
            Ok(Steered {
                muted_at: row.get(0)?,
                boosted_at: row.get(1)?,
                by_rules: match row.get(2)? {
                    Some(importance) => Some((importance, row.get(3)?)),
                    None => None,
                },
            })
        })
        .optional()
        .map(Option::unwrap_or_default)
}

/// The keys of a project, the most telling first.
pub(crate) fn project_keys(db: &Connection, project: ProjectId) -> rusqlite::Result<Vec<String>> {
    db.prepare_cached(KEYS)?
        .query_map(named_params! {":project": project}, |row| row.get(0))?
        .collect()
}

/// Every fact that is stored and is not another's, in the order in which they came.
pub(crate) fn stored_facts(db: &Connection) -> rusqlite::Result<Vec<Fact>> {
    type Told = (Fact, Option<ProjectId>);
    let read = |row: &Row<'_>| -> rusqlite::Result<Told> {
        let fact = Fact {
            turn_uid: row.get(0)?,
            at: row.get(1)?,
            text: row.get(2)?,
            cwd: row.get(3)?,
            project: ProjectNames::everywhere(),
        };
        let project: Option<ProjectId> = row.get(4)?;
        Ok((fact, project))
    };
    let told: Vec<Told> = db
        .prepare_cached(FACTS)?
        .query_map(named_params! {":agent": USER_AGENT, ":session": REMEMBERED_SESSION}, read)?
        .collect::<Result<_, _>>()?;
    let mut facts = Vec::with_capacity(told.len());
    for (mut fact, project) in told {
        let names = project.map(|project| names_of(db, project)).transpose()?.flatten();
        // Where the project's row is lost, what is of a folder is of that folder still, and not of all.
        if let Some(names) = names.or_else(|| fact.cwd.as_deref().map(names_by_folder)) {
            fact.project = names;
        }
        facts.push(fact);
    }
    Ok(facts)
}

/// The project that is known by a folder alone.
pub(crate) fn names_by_folder(folder: &str) -> ProjectNames {
    let name = folder.trim_end_matches('/').rsplit('/').next().unwrap_or(folder);
    ProjectNames {
        keys: vec![format!("cwd:{folder}")],
        name: name.to_owned(),
        root: Some(folder.to_owned()),
    }
}

/// How a project is known; `None` where nothing names it.
fn names_of(db: &Connection, project: ProjectId) -> rusqlite::Result<Option<ProjectNames>> {
    let keys = project_keys(db, project)?;
    if keys.is_empty() {
        return Ok(None);
    }
    db.prepare_cached("SELECT name, root FROM projects WHERE id = :id")?
        .query_row([project], |row| {
            Ok(ProjectNames {
                keys,
                name: row.get(0)?,
                root: row.get(1)?,
            })
        })
        .optional()
}

/// Whether the user keeps a session out; one that is not known is not.
pub(crate) fn excluded_session(db: &Connection, session: &SessionKey) -> rusqlite::Result<bool> {
    db.prepare_cached("SELECT 1 FROM sessions WHERE agent = :agent AND external_id = :id AND excluded = 1")?
        .exists(named_params! {":agent": session.agent, ":id": session.external_id})
}

#[cfg(test)]
mod tests {
    use crate::testing::{Store, batch, turn, turn_uid};
    use crate::{EpisodeUid, Importance, ProjectNames, Steering, UnixMillis};

    #[test]
    fn a_muted_turn_is_all_of_its_parts_and_nothing_else() {
        let mut store = Store::new();
        let turns = vec![turn(1, "s", &["one", "two"]), turn(2, "s", &["three"])];
        store.writer.ingest(&batch(turns)).expect("stores");
        assert!(store.reader().muted_episodes().expect("reads").is_empty());
        store
            .writer
            .steer(&[turn_uid(1)], Steering::Mute, UnixMillis(5))
            .expect("mutes");
        let muted = store.reader().muted_episodes().expect("reads");
        assert_eq!(muted, [store.id(1, 0), store.id(1, 1)].into());
        assert_eq!(store.found("one").len(), 1, "what is looked for is found");
    }

    #[test]
    fn what_is_steered_is_listed_latest_first_even_if_nothing_of_it_is_stored() {
        let mut store = Store::new();
        store.fill(&["one", "two"]);
        store
            .writer
            .steer(&[turn_uid(0)], Steering::Mute, UnixMillis(5))
            .expect("mutes");
        store
            .writer
            .steer(&[turn_uid(9)], Steering::Boost, UnixMillis(7))
            .expect("boosts");
        let listed = store.reader().steered_turns().expect("reads");
        let told: Vec<_> = listed
            .iter()
            .map(|turn| (turn.turn_uid, turn.muted_at, turn.boosted_at))
            .collect();
        assert_eq!(
            told,
            [
                (turn_uid(9), None, Some(UnixMillis(7))),
                (turn_uid(0), Some(UnixMillis(5)), None)
            ]
        );
        assert_eq!(listed[0].episode, EpisodeUid::of(&turn_uid(9), 0));
    }

    #[test]
    fn what_was_decided_of_an_episode_is_told_with_what_the_rules_said() {
        let mut store = Store::new();
        let ids = store.fill(&["one", "two"]);
        store
            .writer
            .steer(&[turn_uid(0)], Steering::Boost, UnixMillis(5))
            .expect("boosts");
        let reader = store.reader();
        let boosted = reader.steered(ids[0]).expect("reads");
        assert_eq!((boosted.boosted_at, boosted.muted_at), (Some(UnixMillis(5)), None));
        assert_eq!(boosted.by_rules, Some((Importance::Normal, "default".to_owned())));
        assert_eq!(reader.steered(ids[1]).expect("reads"), crate::Steered::default());
    }

    #[test]
    fn what_holds_everywhere_has_a_project_of_its_own_while_there_is_any() {
        let mut store = Store::new();
        assert_eq!(store.reader().everywhere().expect("reads"), None);
        let everywhere = ProjectNames::everywhere();
        store
            .writer
            .remember("tabs are four blanks", None, &everywhere, UnixMillis(5))
            .expect("remembers");
        let project = store.reader().everywhere().expect("reads").expect("is there");
        assert_eq!(
            store.reader().project_name(project).expect("reads").as_deref(),
            Some("everywhere")
        );
        store
            .writer
            .forget(&crate::ForgetTarget::Project(project), UnixMillis(6))
            .expect("forgets");
        assert_eq!(store.reader().everywhere().expect("reads"), None);
    }
}
