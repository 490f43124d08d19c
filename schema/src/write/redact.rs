//! Rows that were stored under older rules of redaction are rewritten by newer ones, a few at a time: texts, folders, titles, and what
//! is made of them (hash, index row, vector).
//! In go the rules, out come the episodes that changed. The position is stored together with the rows, so that a kill costs nothing;
//! what an episode is known by does not depend on its text, so that reading its transcript again doubles nothing.

use std::borrow::Cow;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, Row, named_params};

use super::exclusion::{covers, excluded_paths, hide};
use super::{Writer, content_hash, embeddings, empty_log, forget, index, parse_facets};
use crate::error::QueryError;
use crate::facts::{Change, FactsFile};
use crate::ids::{EpisodeId, SessionId};
use crate::journal::Choice;
use crate::kept::redact_copies;
use crate::migrate::{set_meta, version};
use crate::open;
use crate::redaction::{
    Leftover, REDACTED_TO, REDACTION_VERSION, RedactionRules, Table, leftover, note_leftover, noted_version, position,
};
use crate::rows::{Facets, Fact, ProjectNames};
use crate::units::UnixMillis;
use crate::vec_extension;

/// Bytes of text after which a step ends, however many rows it may take.
const STEP_BYTES: usize = 1 << 20;
/// Rows, and bytes of text, of a step in a copy, which nobody waits for.
const COPY_ROWS: usize = 4_000;
const COPY_BYTES: usize = 8 << 20;

/// How long the log's readers are waited for: upkeep and the next try come soon enough.
const AT_ONCE: Duration = Duration::from_millis(50);

/// What a step of the rewriting did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RedactionStep {
    /// Episodes whose texts became others: they wait for their vectors, as new ones do.
    pub rewritten: Vec<EpisodeId>,
    /// Whether more rows are left.
    pub more: bool,
}

/// What came of a part of the cleaning up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RedactionCleanup {
    /// How far it is.
    pub state: CleanupState,
    /// Copies that this part removed, since they can't be rewritten; the log names them.
    pub copies_removed: u64,
}

/// How far the cleaning up is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CleanupState {
    /// Nothing is left to do.
    Done,
    /// The next part can be done at once.
    More,
    /// Somebody is in the way: a reader of the log, or a copy that is being made.
    Waits,
}

impl RedactionCleanup {
    fn of(state: CleanupState) -> Self {
        Self {
            state,
            copies_removed: 0,
        }
    }
}

impl Writer {
    /// Begins to bring `rules` to rows that were stored under older ones, or goes on with it: names of projects and folders at
    /// once, in the journal and with the texts in the file of facts, too, since new rows are compared with them. Gives whether rows are left for [`Writer::redact_step`].
    /// A store that was under newer rules is noted as one of these from here on, so that a newer program looks through it again.
    ///
    /// # Errors
    /// What SQLite reports; the journal's file system's.
    pub fn begin_redaction(&mut self, rules: &RedactionRules) -> Result<bool, QueryError> {
        const ACT: &str = "begin to redact older rows";
        if !is_due(&self.db, rules).map_err(QueryError::at(ACT))? {
            return self.within(ACT, |db| begin(db, rules));
        }
        let path = self.journal.path().to_owned();
        let journal = self.journal.change(|choice| redacted_choice(choice, rules));
        journal.map_err(|source| QueryError::Journal { act: ACT, path, source })?;
        let facts = FactsFile::of(&self.path);
        facts
            .change(|fact| redacted_fact(fact, rules))
            .map_err(|source| QueryError::Journal {
                act: ACT,
                path: facts.path().to_owned(),
                source,
            })?;
        self.within(ACT, |db| begin(db, rules))
    }

    /// Brings `rules` to the next rows, at most `limit` of them, after [`Writer::begin_redaction`].
    ///
    /// # Errors
    /// What SQLite reports; nothing is rewritten then.
    pub fn redact_step(&mut self, rules: &RedactionRules, limit: usize, now: UnixMillis) -> Result<RedactionStep, QueryError> {
        self.within("redact older rows", |db| step(db, rules, limit, STEP_BYTES, now))
    }

    /// Once no rows are left: has what they were leave the index's segments, freed pages, the log and our copies. Each call does a
    /// part of it, the database first, of which only the log is tried again.
    ///
    /// # Errors
    /// What SQLite or the file system reports, of copies the first error: all others are rewritten by then. It can be called again.
    pub fn finish_redaction(&mut self, rules: &RedactionRules, now: UnixMillis) -> Result<RedactionCleanup, QueryError> {
        let failed = QueryError::at("clean up after redacting older rows");
        if is_due(&self.db, rules).map_err(&failed)? {
            return Ok(RedactionCleanup::of(CleanupState::Waits));
        }
        let left = leftover(&self.db).map_err(&failed)?;
        if left == Some(Leftover::Everywhere) {
            clean(&self.db).map_err(&failed)?;
            note_leftover(&self.db, Some(Leftover::BesideTheFile)).map_err(&failed)?;
        }
        let log_emptied = left.is_none() || empty_log_at_once(&self.db).map_err(&failed)?;
        let copies = redact_copies(&self.path, rules, left.is_some(), now);
        let cleanup = |state| RedactionCleanup {
            state,
            copies_removed: copies.removed,
        };
        if copies.more || copies.removed > 0 {
            return Ok(cleanup(CleanupState::More));
        }
        if let Some(error) = copies.failed {
            return Err(error);
        }
        if copies.waits || !log_emptied {
            return Ok(cleanup(CleanupState::Waits));
        }
        if left.is_some() {
            note_leftover(&self.db, None).map_err(&failed)?;
            empty_log_at_once(&self.db).map_err(&failed)?;
        }
        Ok(cleanup(CleanupState::Done))
    }
}

/// Empties the log if nobody reads it: the one writer is not kept waiting for a reader.
fn empty_log_at_once(db: &Connection) -> rusqlite::Result<bool> {
    db.busy_timeout(AT_ONCE)?;
    let emptied = empty_log(db);
    db.busy_timeout(open::BUSY_TIMEOUT)?;
    emptied
}

/// Brings `rules` to the next rows of a copy of this version that nobody uses. Gives whether more are left.
pub(crate) fn redact_in_copy(path: &std::path::Path, rules: &RedactionRules, now: UnixMillis) -> rusqlite::Result<bool> {
    vec_extension::register()?;
    let mut db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    db.busy_timeout(open::BUSY_TIMEOUT)?;
    open::writer_pragmas(&db, version(&db)?)?;
    let tx = db.transaction()?;
    let more = begin(&tx, rules)? && step(&tx, rules, COPY_ROWS, COPY_BYTES, now)?.more;
    tx.commit()?;
    if !more && leftover(&db)?.is_some() {
        clean(&db)?;
        note_leftover(&db, None)?;
    }
    // One file again, without a log beside it.
    db.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()))?;
    Ok(more)
}

fn clean(db: &Connection) -> rusqlite::Result<()> {
    // Statistics hold samples of indexed values; `optimize` gathers them anew.
    if db.table_exists(None, "sqlite_stat4")? {
        db.execute("DELETE FROM sqlite_stat4", [])?;
    }
    forget::scrub(db)
}

/// Whether rows of a copy have not been through `rules`, or bytes of what rows were are left in it: it may have been made in the
/// midst of all this.
pub(crate) fn copy_is_due(db: &Connection, rules: &RedactionRules) -> rusqlite::Result<bool> {
    Ok(is_due(db, rules)? || leftover(db)?.is_some())
}

/// Whether rows may be left that have not been through `rules`.
fn is_due(db: &Connection, rules: &RedactionRules) -> rusqlite::Result<bool> {
    match noted_version(db)? {
        Some(noted) => Ok(noted < rules.version),
        None => db.query_row(
            "SELECT EXISTS (SELECT 1 FROM episodes) OR EXISTS (SELECT 1 FROM sessions)
                 OR EXISTS (SELECT 1 FROM projects) OR EXISTS (SELECT 1 FROM exclusions)",
            [],
            |row| row.get(0),
        ),
    }
}

fn begin(db: &Connection, rules: &RedactionRules) -> rusqlite::Result<bool> {
    if !is_due(db, rules)? {
        if noted_version(db)? != Some(rules.version) {
            set_meta(db, REDACTION_VERSION, &rules.version.to_string())?;
        }
        // What other rules, which are not at work now, had come to says nothing of the rows that these store: they begin anew.
        if position(db)?.is_some_and(|(version, ..)| version != rules.version) {
            db.execute("DELETE FROM _meta WHERE key = :key", [REDACTED_TO])?;
        }
        return Ok(false);
    }
    if position(db)?.is_none_or(|(version, ..)| version != rules.version) {
        redact_names(db, rules)?;
        // What a parser carries was told under older rules.
        forget::empty_states(db)?;
        note_position(db, rules, Table::Sessions, 0)?;
    }
    Ok(true)
}

fn note_position(db: &Connection, rules: &RedactionRules, table: Table, id: i64) -> rusqlite::Result<()> {
    set_meta(db, REDACTED_TO, &format!("{}:{}:{id}", rules.version, table.as_str()))
}

fn note_change(db: &Connection) -> rusqlite::Result<()> {
    note_leftover(db, Some(Leftover::Everywhere))
}

/// A choice about a folder, by the folder's redacted name; none where that is its name.
fn redacted_choice(choice: &Choice, rules: &RedactionRules) -> Option<Choice> {
    let changed = |path: &str| match (rules.folder)(path) {
        Cow::Borrowed(_) => None,
        Cow::Owned(path) => Some(path),
    };
    match choice {
        Choice::Exclude { path, at } => changed(path).map(|path| Choice::Exclude { path, at: *at }),
        Choice::Include { path } => changed(path).map(|path| Choice::Include { path }),
        _ => None,
    }
}

/// A fact as the rules would have it told.
fn redacted_fact(fact: &Fact, rules: &RedactionRules) -> Change {
    let project = &fact.project;
    let redacted = Fact {
        text: (rules.text)(&fact.text).into_owned(),
        cwd: fact.cwd.as_deref().map(|cwd| (rules.folder)(cwd).into_owned()),
        project: ProjectNames {
            keys: project
                .keys
                .iter()
                .map(|key| redacted_key(key, rules).unwrap_or_else(|| key.clone()))
                .collect(),
            name: (rules.text)(&project.name).into_owned(),
            root: project.root.as_deref().map(|root| (rules.folder)(root).into_owned()),
        },
        ..fact.clone()
    };
    if redacted == *fact {
        Change::Keep
    } else {
        Change::Replace(redacted)
    }
}

/// A project's key as the rules would have it; none where it is so.
fn redacted_key(key: &str, rules: &RedactionRules) -> Option<String> {
    match key.split_once(':') {
        Some((kind @ ("cwd" | "git"), folder)) => owned((rules.folder)(folder)).map(|folder| format!("{kind}:{folder}")),
        _ => owned((rules.text)(key)),
    }
}

/// What there is little of, in one go: projects and their keys, excluded folders, the terms of logged prompts, names of records that
/// nobody knows.
fn redact_names(db: &Connection, rules: &RedactionRules) -> rusqlite::Result<()> {
    let mut changed = 0;
    changed += each(
        db,
        "SELECT DISTINCT name FROM projects",
        "UPDATE projects SET name = :new WHERE name = :old",
        |name| owned((rules.text)(name)),
    )?;
    changed += each(
        db,
        "SELECT DISTINCT root FROM projects WHERE root IS NOT NULL",
        "UPDATE projects SET root = :new WHERE root = :old",
        |root| owned((rules.folder)(root)),
    )?;
    // What stands in the way goes by a statement of its own: a row that is replaced fires no trigger.
    each(
        db,
        "SELECT key FROM project_aliases",
        "DELETE FROM project_aliases WHERE key = :new AND :old IS NOT NULL",
        |key| redacted_key(key, rules),
    )?;
    changed += each(
        db,
        "SELECT key FROM project_aliases",
        "UPDATE project_aliases SET key = :new WHERE key = :old",
        |key| redacted_key(key, rules),
    )?;
    changed += each(
        db,
        "SELECT key FROM shared_keys",
        "UPDATE OR REPLACE shared_keys SET key = :new WHERE key = :old",
        |key| redacted_key(key, rules),
    )?;
    changed += each(
        db,
        "SELECT path FROM exclusions",
        "UPDATE OR REPLACE exclusions SET path = :new WHERE path = :old",
        |path| owned((rules.folder)(path)),
    )?;
    changed += each(
        db,
        "SELECT DISTINCT version FROM unread_records",
        "UPDATE unread_records SET version = :new WHERE version = :old",
        |version| owned((rules.text)(version)),
    )?;
    // A kind that is no word tells nothing by its placeholder; with it go its counts.
    changed += each(
        db,
        "SELECT DISTINCT kind FROM source_problems",
        "DELETE FROM source_problems WHERE kind = :old AND :new IS NOT NULL",
        |kind| owned((rules.text)(kind)),
    )?;
    if changed > 0 {
        note_change(db)?;
    }
    // They are pieces of words, by which no rule tells a secret: that they go says nothing of the copies, and condemns none.
    db.execute("UPDATE recollections SET terms = '[]' WHERE terms <> '[]'", [])?;
    Ok(())
}

fn owned(redacted: Cow<'_, str>) -> Option<String> {
    match redacted {
        Cow::Borrowed(_) => None,
        Cow::Owned(text) => Some(text),
    }
}

/// Runs `update` for each value of `select` of which `redact` makes another; gives how many rows changed.
fn each(db: &Connection, select: &str, update: &str, redact: impl Fn(&str) -> Option<String>) -> rusqlite::Result<usize> {
    let values: Vec<String> = db
        .prepare(select)?
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let mut update = db.prepare(update)?;
    let mut changed = 0;
    for old in values {
        if let Some(new) = redact(&old) {
            changed += update.execute(named_params! {":old": old, ":new": new})?;
        }
    }
    Ok(changed)
}

fn step(db: &Connection, rules: &RedactionRules, limit: usize, bytes: usize, now: UnixMillis) -> rusqlite::Result<RedactionStep> {
    let Some((_, table, after)) = position(db)?.filter(|(version, ..)| *version == rules.version) else {
        return Ok(RedactionStep::default());
    };
    match table {
        Table::Sessions => {
            let last = redact_sessions(db, rules, after, limit)?;
            match last {
                Some(last) => note_position(db, rules, Table::Sessions, last)?,
                None => note_position(db, rules, Table::Episodes, 0)?,
            }
            Ok(RedactionStep {
                rewritten: Vec::new(),
                more: true,
            })
        }
        Table::Episodes => {
            let (last, rewritten) = redact_episodes(db, rules, EpisodeId(after), (limit, bytes), now)?;
            if let Some(last) = last {
                note_position(db, rules, Table::Episodes, last.0)?;
            } else {
                set_meta(db, REDACTION_VERSION, &rules.version.to_string())?;
                db.execute("DELETE FROM _meta WHERE key = :key", [REDACTED_TO])?;
            }
            Ok(RedactionStep {
                rewritten,
                more: last.is_some(),
            })
        }
    }
}

/// Gives the last that it saw; none where there are no more.
fn redact_sessions(db: &Connection, rules: &RedactionRules, after: i64, limit: usize) -> rusqlite::Result<Option<i64>> {
    type Session = (SessionId, Option<String>, Option<String>, Option<String>);
    let sessions: Vec<Session> = db
        .prepare_cached("SELECT id, title, cwd, git_branch FROM sessions WHERE id > :after ORDER BY id LIMIT :limit")?
        .query_map(named_params! {":after": after, ":limit": limit as i64}, |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })?
        .collect::<Result<_, _>>()?;
    let mut changed = 0;
    for (id, title, cwd, branch) in &sessions {
        let title = title.as_deref().and_then(|title| owned((rules.text)(title)));
        let cwd = cwd.as_deref().and_then(|cwd| owned((rules.folder)(cwd)));
        let branch = branch.as_deref().and_then(|branch| owned((rules.text)(branch)));
        if title.is_some() || cwd.is_some() || branch.is_some() {
            changed += db
                .prepare_cached(
                    "UPDATE sessions SET title = coalesce(:title, title), cwd = coalesce(:cwd, cwd),
                         git_branch = coalesce(:branch, git_branch) WHERE id = :id",
                )?
                .execute(named_params! {":id": id, ":title": title, ":cwd": cwd, ":branch": branch})?;
        }
    }
    if changed > 0 {
        note_change(db)?;
    }
    Ok(sessions.last().map(|(id, ..)| id.0))
}

/// An episode as it stands.
struct Stored {
    id: EpisodeId,
    hidden: bool,
    cwd: Option<String>,
    branch: Option<String>,
    prompt: String,
    answer: String,
    facets: String,
}

impl Stored {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get(0)?,
            hidden: row.get(1)?,
            cwd: row.get(2)?,
            branch: row.get(3)?,
            prompt: row.get(4)?,
            answer: row.get(5)?,
            facets: row.get(6)?,
        })
    }

    fn bytes(&self) -> usize {
        self.prompt.len() + self.answer.len() + self.facets.len()
    }
}

/// Gives the last that it saw, none where there are no more; and those whose texts became others.
fn redact_episodes(
    db: &Connection,
    rules: &RedactionRules,
    after: EpisodeId,
    (limit, bytes): (usize, usize),
    now: UnixMillis,
) -> rusqlite::Result<(Option<EpisodeId>, Vec<EpisodeId>)> {
    let mut statement = db.prepare_cached(
        "SELECT id, hidden, cwd, git_branch, prompt, answer, facets
         FROM episodes JOIN episode_texts ON episode_texts.episode_id = episodes.id WHERE id > :after ORDER BY id LIMIT :limit",
    )?;
    let mut rows = statement.query(named_params! {":after": after, ":limit": limit as i64})?;
    let (mut last, mut rewritten, mut seen) = (None, Vec::new(), 0);
    let (mut visible, mut kept_out) = (Vec::new(), Vec::new());
    let exclusions = excluded_paths(db)?;
    while seen < bytes
        && let Some(row) = rows.next()?
    {
        let stored = Stored::read(row)?;
        seen += stored.bytes();
        last = Some(stored.id);
        let cwd = stored.cwd.as_deref().and_then(|cwd| owned((rules.folder)(cwd)));
        if covers(&exclusions, cwd.as_deref()) {
            // The user excluded it by what it is called now.
            kept_out.push(stored.id);
        }
        if redact_episode(db, rules, &stored, now)? {
            rewritten.push(stored.id);
            if !stored.hidden {
                visible.push(stored.id);
            }
        }
    }
    drop(rows);
    index::remove(db, &visible)?;
    index::insert_stored(db, &visible)?;
    hide(db, &kept_out)?;
    Ok((last, rewritten))
}

/// Rewrites one episode where the rules make another of it; gives whether its texts did. Its index row is the caller's.
fn redact_episode(db: &Connection, rules: &RedactionRules, stored: &Stored, now: UnixMillis) -> rusqlite::Result<bool> {
    let facets = redacted_facets(&stored.facets, rules)?;
    let (prompt, answer) = ((rules.text)(&stored.prompt), (rules.text)(&stored.answer));
    let texts_differ = facets.is_some() || matches!(prompt, Cow::Owned(_)) || matches!(answer, Cow::Owned(_));
    let cwd = stored.cwd.as_deref().map(rules.folder);
    let branch = stored.branch.as_deref().map(rules.text);
    let places_differ = [&cwd, &branch]
        .into_iter()
        .flatten()
        .any(|place| matches!(place, Cow::Owned(_)));
    if !texts_differ && !places_differ {
        return Ok(false);
    }
    let facets = facets.as_deref().unwrap_or(&stored.facets);
    db.prepare_cached(
        "UPDATE episode_texts SET cwd = :cwd, git_branch = :branch, prompt = :prompt, answer = :answer, facets = :facets
         WHERE episode_id = :id",
    )?
    .execute(named_params! {
        ":id": stored.id, ":cwd": cwd, ":branch": branch, ":prompt": prompt, ":answer": answer, ":facets": facets,
    })?;
    note_change(db)?;
    if texts_differ {
        db.prepare_cached(
            "UPDATE episodes SET updated_at = :now, content_hash = :hash, room = coalesce(room, zeroblob(length(embedding))),
                 embedding = NULL, embedding_model = NULL
             WHERE id = :id",
        )?
        .execute(named_params! {":id": stored.id, ":now": now, ":hash": content_hash([&prompt, &answer, facets])})?;
        embeddings::remove_code(db, stored.id)?;
    }
    Ok(texts_differ)
}

/// The facets as they are stored, where the rules make others of them: each once, as ingest keeps them.
fn redacted_facets(json: &str, rules: &RedactionRules) -> rusqlite::Result<Option<String>> {
    let mut facets: Facets = parse_facets(json)?;
    let mut changed = false;
    let Facets {
        files,
        commands,
        errors,
        tools,
    } = &mut facets;
    for list in [files, commands, errors, tools] {
        let mut kept: Vec<String> = Vec::with_capacity(list.len());
        for value in std::mem::take(list) {
            let redacted = owned((rules.text)(&value));
            changed |= redacted.is_some();
            let value = redacted.unwrap_or(value);
            if !kept.contains(&value) {
                kept.push(value);
            }
        }
        *list = kept;
    }
    if !changed {
        return Ok(None);
    }
    let json = serde_json::to_string(&facets).map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
    Ok(Some(json))
}

#[cfg(test)]
mod tests;
