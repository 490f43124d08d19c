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

/// Those of which a key was told here: what only others named is theirs.
const PROJECTS: &str = "SELECT id, name,
        (SELECT count(*) FROM episodes WHERE project_id = projects.id AND generation <> -2 AND hidden = 0)
    FROM projects WHERE EXISTS (SELECT 1 FROM project_aliases WHERE project_id = projects.id)
        AND NOT EXISTS (SELECT 1 FROM project_aliases WHERE project_id = projects.id AND key = :everywhere)
    ORDER BY name, id";
const PUSHED: &str =
    "SELECT project_id, count(*) FROM share_pushed WHERE state > 0 AND project_id IS NOT NULL GROUP BY project_id";
const KEYS: &str = "SELECT key FROM project_aliases
    WHERE project_id NOT IN (SELECT project_id FROM project_aliases WHERE key = :everywhere) ORDER BY key";

impl Reader {
    /// The projects of this memory by name, each with whether `globs` allow it to be shared. What holds everywhere is left out, which is
    /// never shared, and so is what only others call a project.
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

    /// Those of `globs` that match no key of a project that could be shared, in their order.
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
        let keys = project_keys(db, id)?;
        let allowed = may_be_shared(globs, &keys.iter().collect::<Vec<_>>());
        projects.push(ProjectToShare {
            name: row.get(1)?,
            keys: keys.iter().map(|key| shown(key).to_owned()).collect(),
            allowed,
            episodes: row.get::<_, i64>(2)? as u64,
            pushed: pushed.get(&id).copied().unwrap_or_default() as u64,
        });
    }
    Ok(projects)
}
