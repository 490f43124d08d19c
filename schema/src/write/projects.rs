//! Projects and the keys that name them. In go keys, the most telling first; out comes the project.

use rusqlite::{Connection, OptionalExtension, named_params};

use super::index;
use crate::ids::{EpisodeId, ProjectId};
use crate::units::UnixMillis;

/// The project of the first of `keys` that is known here, else one that only others told of by one of them, which is one's own from then
/// on, else a new one; then all keys name it, but for those that name another project already. Where what they name was made of the folder
/// alone, it is taken into this one.
pub(super) fn resolve(
    db: &Connection,
    keys: &[String],
    name: &str,
    root: Option<&str>,
    now: UnixMillis,
) -> rusqlite::Result<ProjectId> {
    let project = match known(db, keys)? {
        Some(project) => {
            tell_root(db, project, root)?;
            project
        }
        None => match known_from_outside_alone(db, keys)? {
            Some(project) => {
                db.prepare_cached("UPDATE projects SET name = :name, root = :root WHERE id = :id")?
                    .execute(named_params! {":id": project, ":name": name, ":root": root})?;
                project
            }
            None => add(db, name, root, now)?,
        },
    };
    for outside in known_elsewhere(db, keys, project)? {
        move_all(db, outside, project)?;
        db.prepare_cached("DELETE FROM projects WHERE id = :id")?.execute([outside])?;
    }
    // A folder alone says nothing of what else may be of its repository.
    for key in keys.iter().skip(1) {
        for stray in strays(db, key, project)? {
            take_in(db, &stray, key, project)?;
        }
    }
    let mut alias = db.prepare_cached("INSERT OR IGNORE INTO project_aliases (key, project_id) VALUES (:key, :project)")?;
    let mut outside = db.prepare_cached("DELETE FROM shared_keys WHERE key = :key")?;
    for key in keys {
        alias.execute(named_params! {":key": key, ":project": project})?;
        // It is told here from now on, which is what counts.
        outside.execute([key])?;
    }
    Ok(project)
}

fn add(db: &Connection, name: &str, root: Option<&str>, now: UnixMillis) -> rusqlite::Result<ProjectId> {
    db.prepare_cached("INSERT INTO projects (name, root, created_at) VALUES (:name, :root, :now) RETURNING id")?
        .query_row(named_params! {":name": name, ":root": root, ":now": now}, |row| row.get(0))
}

/// The project of an episode that a member shared, by `keys` that were told from outside: one that is known by one of them, as it is, or a
/// new one. Nothing that others say becomes a key of a project of one's own, or joins two of them.
pub(super) fn resolve_shared(
    db: &Connection,
    keys: &[String],
    name: &str,
    member: i32,
    now: UnixMillis,
) -> rusqlite::Result<ProjectId> {
    let project = match known_to_any(db, keys)? {
        Some(project) => project,
        None => add(db, name, None, now)?,
    };
    if !db
        .prepare_cached("SELECT 1 FROM project_aliases WHERE project_id = :id")?
        .exists([project])?
    {
        let mut told = db.prepare_cached(
            "INSERT OR IGNORE INTO shared_keys (key, project_id, member) SELECT :key, :project, :member
             WHERE NOT EXISTS (SELECT 1 FROM project_aliases WHERE key = :key)",
        )?;
        for key in keys {
            told.execute(named_params! {":key": key, ":project": project, ":member": member})?;
        }
    }
    Ok(project)
}

/// The project of the first of `keys` that is known here, else of the first that is known from outside.
pub(super) fn known_to_any(db: &Connection, keys: &[String]) -> rusqlite::Result<Option<ProjectId>> {
    match known(db, keys)? {
        Some(project) => Ok(Some(project)),
        None => first(db, "SELECT project_id FROM shared_keys WHERE key = :key", keys),
    }
}

/// The project of the first of `keys` that others alone told of.
fn known_from_outside_alone(db: &Connection, keys: &[String]) -> rusqlite::Result<Option<ProjectId>> {
    let sql = "SELECT project_id FROM shared_keys WHERE key = :key
         AND NOT EXISTS (SELECT 1 FROM project_aliases WHERE project_aliases.project_id = shared_keys.project_id)";
    first(db, sql, keys)
}

/// Projects other than `project` that others alone told of, by one of `keys`.
fn known_elsewhere(db: &Connection, keys: &[String], project: ProjectId) -> rusqlite::Result<Vec<ProjectId>> {
    let mut others = Vec::new();
    for key in keys {
        let other = known_from_outside_alone(db, std::slice::from_ref(key))?;
        others.extend(other.filter(|other| *other != project && !others.contains(other)));
    }
    Ok(others)
}

/// What stands for the keys of a project of which a member told the name alone: no key that a folder has.
pub(super) fn name_of_member(member: i32, name: &str) -> String {
    format!("name:{member}:{name}")
}

/// A project that was made of what others shared has no folder until one is told here.
fn tell_root(db: &Connection, project: ProjectId, root: Option<&str>) -> rusqlite::Result<()> {
    if let Some(root) = root {
        db.prepare_cached("UPDATE projects SET root = :root WHERE id = :id AND root IS NULL")?
            .execute(named_params! {":id": project, ":root": root})?;
    }
    Ok(())
}

/// The project of the first of `keys` that is known here.
pub(super) fn known(db: &Connection, keys: &[String]) -> rusqlite::Result<Option<ProjectId>> {
    first(db, "SELECT project_id FROM project_aliases WHERE key = :key", keys)
}

fn first(db: &Connection, sql: &str, keys: &[String]) -> rusqlite::Result<Option<ProjectId>> {
    let mut statement = db.prepare_cached(sql)?;
    for key in keys {
        if let Some(project) = statement.query_row([key], |row| row.get(0)).optional()? {
            return Ok(Some(project));
        }
    }
    Ok(None)
}

/// A project that was made of a folder alone, since its file system did not answer when the folder was first looked at.
struct Stray {
    id: ProjectId,
    /// Whether its key still names it. Where it does not, it was taken in before, and nobody can be about to store in it any more but
    /// who learnt its id before that.
    is_named: bool,
}

/// Projects other than `project` that are of the folder of this key, and have no other key.
fn strays(db: &Connection, key: &str, project: ProjectId) -> rusqlite::Result<Vec<Stray>> {
    let Some(folder) = key.strip_prefix("cwd:") else {
        return Ok(Vec::new());
    };
    db.prepare_cached(
        "SELECT id, EXISTS (SELECT 1 FROM project_aliases WHERE project_id = projects.id) FROM projects
         WHERE root = :folder AND id != :project
             AND NOT EXISTS (SELECT 1 FROM project_aliases WHERE project_id = projects.id AND key != :key)",
    )?
    .query_map(named_params! {":folder": folder, ":project": project, ":key": key}, |row| {
        Ok(Stray {
            id: row.get(0)?,
            is_named: row.get(1)?,
        })
    })?
    .collect()
}

/// Gives all that is of one project to another.
fn move_all(db: &Connection, from: ProjectId, project: ProjectId) -> rusqlite::Result<()> {
    let moved: Vec<EpisodeId> = db
        .prepare_cached("SELECT id FROM episodes WHERE project_id = :stray ORDER BY id")?
        .query_map([from], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let shown: Vec<EpisodeId> = db
        .prepare_cached("SELECT id FROM episodes WHERE project_id = :stray AND hidden = 0 ORDER BY id")?
        .query_map([from], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    // The project is indexed with the texts.
    index::remove(db, &moved)?;
    for table in ["episodes", "sessions", "recollections"] {
        db.prepare_cached(&format!("UPDATE {table} SET project_id = :project WHERE project_id = :stray"))?
            .execute(named_params! {":project": project, ":stray": from})?;
    }
    index::insert_stored(db, &shown)
}

/// Gives all that is a stray's, its key as well, to `project`.
fn take_in(db: &Connection, stray: &Stray, key: &str, project: ProjectId) -> rusqlite::Result<()> {
    move_all(db, stray.id, project)?;
    if stray.is_named {
        // Turns that were read before may be about to be stored in it: it stays, without a name, until the next look at the folder.
        db.prepare_cached("UPDATE project_aliases SET project_id = :project WHERE key = :key")?
            .execute(named_params! {":project": project, ":key": key})?;
    } else {
        db.prepare_cached("DELETE FROM projects WHERE id = :stray")?
            .execute([stray.id])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::query_terms;
    use crate::fts_query::MatchExpression;
    use crate::query::{FieldWeights, Scope};
    use crate::testing::{Store, batch, in_project, turn};

    fn resolve(store: &mut Store, keys: &[&str], root: &str) -> ProjectId {
        let keys: Vec<String> = keys.iter().map(|&key| key.to_owned()).collect();
        let resolved = store.writer.resolve_project(&keys, "name", Some(root), UnixMillis(1));
        resolved.expect("resolves")
    }

    fn of(store: &Store, project: ProjectId) -> i64 {
        let count = "SELECT count(*) FROM episodes WHERE project_id = :project";
        let told = store.writer.db.query_row(count, [project], |row| row.get(0));
        told.expect("counts")
    }

    #[test]
    fn what_a_silent_file_system_made_a_project_of_its_own_comes_to_the_right_one() {
        let mut store = Store::new();
        let right = resolve(&mut store, &["url:shop", "cwd:/a"], "/a");
        // The folder's file system does not answer, so nothing but its path is known.
        let stray = resolve(&mut store, &["cwd:/b"], "/b");
        assert_ne!(right, stray);
        let turns = vec![
            in_project(turn(1, "s", &["quokka"]), stray),
            in_project(turn(2, "s", &["numbat"]), right),
        ];
        store.writer.ingest(&batch(turns)).expect("stores");
        assert_eq!(resolve(&mut store, &["url:shop", "git:/b", "cwd:/b"], "/b"), right);
        assert_eq!((of(&store, right), of(&store, stray)), (2, 0));
        let named = |store: &Store| store.reader().project_by_key("cwd:/b").expect("reads");
        assert_eq!(named(&store), Some(right), "prompts look for the folder first");
        let found = |project: ProjectId| {
            let expression =
                MatchExpression::any_of(&query_terms("quokka", 64), Scope::Project(Some(project))).expect("has terms");
            let found = store.reader().bm25(&expression, FieldWeights::EQUAL, 50);
            found.expect("searches").hits.len()
        };
        assert_eq!((found(right), found(stray)), (1, 0), "it is indexed under the right project");

        // What was read before that, and is stored after it, comes to it at the next look, and then nothing of the stray is left.
        let late = in_project(turn(3, "s", &["bilby"]), stray);
        store.writer.ingest(&batch(vec![late])).expect("stores");
        assert_eq!(resolve(&mut store, &["url:shop", "git:/b", "cwd:/b"], "/b"), right);
        assert_eq!((of(&store, right), named(&store)), (3, Some(right)));
        assert_eq!(store.reader().projects().expect("reads").len(), 1);
    }

    #[test]
    fn a_project_that_has_another_key_is_nobody_s_stray() {
        let mut store = Store::new();
        let one = resolve(&mut store, &["url:one", "cwd:/a"], "/a");
        let two = resolve(&mut store, &["url:two", "cwd:/b"], "/b");
        // The clone in the folder is another one now.
        assert_eq!(resolve(&mut store, &["url:two", "cwd:/a"], "/a"), two);
        assert_eq!(store.reader().project_by_key("cwd:/a").expect("reads"), Some(one));
        // A folder below a repository is no stray of the folder that it is asked for.
        let below = resolve(&mut store, &["cwd:/b/c"], "/elsewhere");
        assert_eq!(resolve(&mut store, &["url:two", "cwd:/b/c"], "/b"), two);
        assert_eq!(store.reader().project_by_key("cwd:/b/c").expect("reads"), Some(below));
    }
}
