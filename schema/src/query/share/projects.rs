//! The projects of this memory, by what decides whether they are shared. In go the globs of what may be shared, out come the projects with
//! what each comes to, and the globs that come to nothing.

use std::collections::BTreeMap;

use rusqlite::{Connection, named_params};

use super::super::Reader;
use super::super::steering::project_keys;
use super::allowed::{may_be_shared, shown};
use crate::error::QueryError;
use crate::ids::ProjectId;
use crate::rows::{EVERYWHERE_KEY, ProjectToShare};

/// Those of which a key was told here, and those of which copies are here. How many there are is counted at one go.
const PROJECTS: &str = "SELECT id, name, coalesce(counted.own, 0), coalesce(counted.taken, 0)
    FROM projects LEFT JOIN (
        SELECT project_id, sum(generation <> -2) AS own, sum(generation = -2) AS taken
            FROM episodes WHERE hidden = 0 GROUP BY project_id
        ) AS counted ON counted.project_id = projects.id
    WHERE (EXISTS (SELECT 1 FROM project_aliases WHERE project_id = projects.id)
            OR counted.taken > 0 AND EXISTS (SELECT 1 FROM shared_keys WHERE project_id = projects.id))
        AND NOT EXISTS (SELECT 1 FROM project_aliases WHERE project_id = projects.id AND key = :everywhere)
    ORDER BY name, id";
const PUSHED: &str =
    "SELECT project_id, count(*) FROM share_pushed WHERE state > 0 AND project_id IS NOT NULL GROUP BY project_id";
/// The keys of all projects, told here or by others.
const KEYS: &str = "SELECT key FROM project_aliases
        WHERE project_id NOT IN (SELECT project_id FROM project_aliases WHERE key = :everywhere)
    UNION SELECT key FROM shared_keys
        WHERE key <> :everywhere AND project_id NOT IN (SELECT project_id FROM project_aliases WHERE key = :everywhere)
    ORDER BY key";
/// Addresses before first commits, as of keys that were told here.
const TOLD_BY_OTHERS: &str = "SELECT key FROM shared_keys WHERE project_id = :project ORDER BY key LIKE 'url:%' DESC, key";

impl Reader {
    /// The projects of this memory by name, each with whether `globs` allow it to be shared: by the keys that were told here alone, so that
    /// they never allow one of which there are only copies. What holds everywhere is left out, which is never shared.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn share_projects(&self, globs: &[String]) -> Result<Vec<ProjectToShare>, QueryError> {
        self.run("read which projects may be shared", |db| {
            let snapshot = db.unchecked_transaction()?;
            let projects = share_projects(&snapshot, globs)?;
            snapshot.finish()?;
            Ok(projects)
        })
    }

    /// Those of `globs` that match no key of a project, in their order. A key that others told counts: it is one that a project here will
    /// have once something is told of it here.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn unmatched_globs(&self, globs: &[String]) -> Result<Vec<String>, QueryError> {
        self.run("look for projects by their keys", |db| {
            let keys: Vec<String> = db
                .prepare_cached(KEYS)?
                .query_map(named_params! {":everywhere": EVERYWHERE_KEY}, |row| row.get(0))?
                .collect::<Result<_, _>>()?;
            let keys: Vec<&String> = keys.iter().collect();
            let matches = |glob: &String| may_be_shared(std::slice::from_ref(glob), &keys);
            Ok(globs.iter().filter(|glob| !matches(glob)).cloned().collect())
        })
    }
}

fn share_projects(db: &Connection, globs: &[String]) -> rusqlite::Result<Vec<ProjectToShare>> {
    let pushed: BTreeMap<ProjectId, i64> = db
        .prepare_cached(PUSHED)?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_, _>>()?;
    let mut statement = db.prepare_cached(PROJECTS)?;
    let mut rows = statement.query(named_params! {":everywhere": EVERYWHERE_KEY})?;
    let mut projects = Vec::new();
    while let Some(row) = rows.next()? {
        let id: ProjectId = row.get(0)?;
        let mut keys = project_keys(db, id)?;
        let allowed = may_be_shared(globs, &keys.iter().collect::<Vec<_>>());
        if keys.is_empty() {
            keys = told_by_others(db, id)?;
        }
        projects.push(ProjectToShare {
            name: row.get(1)?,
            keys: keys.iter().map(|key| shown(key).to_owned()).collect(),
            allowed,
            episodes: row.get::<_, i64>(2)? as u64,
            pushed: pushed.get(&id).copied().unwrap_or_default() as u64,
            taken: row.get::<_, i64>(3)? as u64,
        });
    }
    Ok(projects)
}

/// The keys by which others name a project.
fn told_by_others(db: &Connection, project: ProjectId) -> rusqlite::Result<Vec<String>> {
    db.prepare_cached(TOLD_BY_OTHERS)?
        .query_map(named_params! {":project": project}, |row| row.get(0))?
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::testing::{Store, batch, in_project, turn, turn_uid};
    use crate::{
        EpisodeUid, Facets, Importance, Origin, ProjectToShare, PulledChange, PulledPage, ShareOrigin, ShareSetup, SharedEpisode,
        UnixMillis,
    };

    /// What Bob shared as turn `number` of a project of these keys.
    fn of_bob(number: u8, keys: &[&str]) -> PulledChange {
        let turn_uid = turn_uid(number);
        PulledChange::Live {
            seq: i64::from(number),
            from: ShareOrigin {
                member: 2,
                member_login: "bob".to_owned(),
                machine: [9; 16],
                machine_name: "den".to_owned(),
            },
            episode: Box::new(SharedEpisode {
                uid: EpisodeUid::of(&turn_uid, 0),
                turn_uid,
                project_keys: texts(keys),
                project_name: "tool".to_owned(),
                agent: "codex".to_owned(),
                session: "of-bob".to_owned(),
                origin: Origin::User,
                turn: u32::from(number),
                part: 0,
                importance: Importance::Normal,
                importance_rule: "default".to_owned(),
                created_at: UnixMillis(i64::from(number)),
                updated_at: UnixMillis(i64::from(number)),
                git_branch: None,
                prompt: "why is the sky blue".to_owned(),
                answer: "it scatters".to_owned(),
                facets: Facets::default(),
                content_hash: [number; 32],
                embedding: None,
            }),
        }
    }

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|&text| text.to_owned()).collect()
    }

    /// A store of Ada's with one turn of her own, which took `changes`.
    fn store(changes: Vec<PulledChange>) -> Store {
        let mut store = Store::new();
        let setup = ShareSetup {
            team_key: "db.example.org/shared/team".to_owned(),
            allowed: texts(&["example.org/*"]),
        };
        store.writer.set_sharing(Some(&setup), [1; 16]).expect("sets");
        store.writer.note_member(1, "ada").expect("notes");
        let keys = texts(&["url:example.org/acme/app", "cwd:/home/ada/app"]);
        let app = store
            .writer
            .resolve_project(&keys, "app", Some("/home/ada/app"), UnixMillis(1));
        let own = in_project(turn(1, "s", &["one"]), app.expect("resolves"));
        store.writer.ingest(&batch(vec![own])).expect("stores");
        let place = store.reader().share_place().expect("reads").expect("shares");
        let page = PulledPage {
            after: place.cursor,
            sent: place.sent,
            changes,
            cursor: 9,
            head: 9,
            marks_only: false,
        };
        store.writer.apply_pulled(&page, UnixMillis(5)).expect("applies");
        store
    }

    #[test]
    fn a_project_of_which_there_are_only_copies_is_told_with_the_keys_of_others_and_never_allowed() {
        let tool = &["root:1f0c9a", "url:example.org/bob/tool"];
        let store = store(vec![
            of_bob(2, tool),
            of_bob(3, tool),
            of_bob(4, &["url:example.org/acme/app"]),
        ]);
        let told = store.reader().share_projects(&texts(&["example.org/*"])).expect("reads");
        let expected = [
            ProjectToShare {
                name: "app".to_owned(),
                keys: texts(&["example.org/acme/app", "/home/ada/app"]),
                allowed: true,
                episodes: 1,
                pushed: 0,
                taken: 1,
            },
            ProjectToShare {
                name: "tool".to_owned(),
                keys: texts(&["example.org/bob/tool", "1f0c9a"]),
                allowed: false,
                episodes: 0,
                pushed: 0,
                taken: 2,
            },
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn a_pattern_matches_what_was_only_taken() {
        let globs = texts(&["example.org/BOB/*", "1f0c9a", "example.org/eve/*"]);
        let unmatched = |store: &Store| store.reader().unmatched_globs(&globs).expect("reads");
        assert_eq!(unmatched(&store(Vec::new())), globs);
        let taken = store(vec![of_bob(2, &["root:1f0c9a", "url:example.org/bob/tool"])]);
        assert_eq!(unmatched(&taken), texts(&["example.org/eve/*"]));
    }
}
