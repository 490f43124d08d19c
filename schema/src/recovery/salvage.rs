//! The rows that can still be read of a damaged file, put into a whole database. An episode is taken where its uid follows from its
//! turn and its texts agree with their hash, so that nothing half read is ever remembered; of sessions, projects and transcripts what
//! there is. In goes a path, out come rows in an open database. The damaged file is only read.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::path::Path;

use rusqlite::{Connection, OptionalExtension, named_params};

use super::cells::{self, Row, Value};
use super::pages::Pages;
use super::removed::Removed;
use crate::ids::{EpisodeUid, ProjectId, SessionId, SourceId, TurnUid};
use crate::rows::{BOOSTED, EVERYWHERE_KEY};
use crate::vector_code::from_bytes;
use crate::write::{PULLED, content_hash, embedding_room, keep_session, note_former_team, settle_boosts};

/// The least moment that a time in a row may be, and the most that a rowid beside the same columns may be: 1973.
pub(super) const LEAST_TIME: i64 = 100_000_000_000;
/// What the keys of projects begin with.
const PROJECT_KEYS: [&str; 5] = ["cwd:", "url:", "root:", "git:", EVERYWHERE_KEY];
/// Between which lengths a vector is one: those of models have 1, and bytes that are none are far from it.
const LENGTHS: std::ops::Range<f32> = 0.5..2.0;

/// What was found in a damaged file.
#[derive(Default)]
pub(super) struct Found {
    sessions: BTreeMap<i64, Row>,
    projects: BTreeMap<i64, Row>,
    keys: Vec<(String, i64)>,
    sources: BTreeMap<i64, Row>,
    models: BTreeMap<i64, String>,
    tombstones: Vec<(TurnUid, i64)>,
    retired: Vec<(TurnUid, i64)>,
    exclusions: Vec<(String, i64)>,
    instructions: Vec<Row>,
    /// Turns that are muted and boosted, and since when.
    steered: Vec<(TurnUid, Option<i64>, Option<i64>)>,
    /// What the rules said of boosted episodes, by id.
    by_rules: HashMap<i64, (i64, String)>,
    pause: Option<String>,
    /// What the memory was called at a shared store, and turns that one is told of only where it has them.
    machines: Vec<[u8; 16]>,
    untold: Vec<TurnUid>,
    /// What the shared stores of teams that were left may have: the team, the episode, its turn, its state.
    left: Vec<(String, EpisodeUid, TurnUid, i64)>,
    /// Where the rows of episodes and of their texts are, by id.
    episodes: BTreeMap<i64, Place>,
    texts: HashMap<i64, Place>,
}

/// A page and a cell on it.
type Place = (u32, u16);

/// How many episodes were put back, and how many were there and could not be.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Salvaged {
    pub(super) episodes: u64,
    pub(super) unreadable: u64,
}

/// Puts what can be read of the file at `damaged` into `db`.
///
/// # Errors
/// Where the damaged file can't be opened; what SQLite reports of `db`.
pub(super) fn salvage(damaged: &Path, db: &Connection) -> Result<Salvaged, SalvageError> {
    let pages = Pages::open(damaged)?;
    let found = Found::look(&pages);
    let mut salvage = Salvage {
        sessions: HashMap::new(),
        projects: HashMap::new(),
        sources: HashMap::new(),
        forgotten: found.tombstones.iter().map(|(turn, _)| *turn).collect(),
        pages: &pages,
        found: &found,
        db,
    };
    salvage.choices()?;
    salvage.projects()?;
    salvage.sources()?;
    salvage.sessions()?;
    let salvaged = salvage.episodes()?;
    salvage.former_teams()?;
    Ok(salvaged)
}

/// Why nothing could be salvaged.
#[derive(Debug, thiserror::Error)]
pub(super) enum SalvageError {
    #[error("the damaged file can't be read")]
    Read(#[from] io::Error),
    #[error("what was read can't be stored")]
    Store(#[from] rusqlite::Error),
}

impl Found {
    fn look(pages: &Pages) -> Self {
        let mut found = Self::default();
        let mut removed = Removed::default();
        for number in 1..=pages.count() {
            let Some(page) = pages.read(number) else { continue };
            for cell in 0..cells::cells(number, &page) {
                if let Some(row) = cells::row(pages, number, &page, cell) {
                    removed.take(&row, number);
                    found.take(row, (number, cell));
                }
            }
        }
        (found.tombstones, found.retired) = removed.told_apart(pages);
        found
    }

    /// Knows a row by its columns: no two tables here have the same. (Those that do are the business of [`Removed`].)
    fn take(&mut self, row: Row, place: Place) {
        use Value::{Blob, Integer, Null, Text};
        match (row.id, row.values.as_slice()) {
            (Some(id), [Null, Blob(uid), Blob(turn), ..]) if row.values.len() >= 22 && uid.len() == 16 && turn.len() == 16 => {
                self.episodes.insert(id, place);
            }
            (Some(id), [Null, Text(_) | Null, Text(_) | Null, Text(_), Text(_), Text(_)]) => {
                self.texts.insert(id, place);
            }
            (Some(id), [Null, Text(_), Text(_), Text(_), Integer(_), ..]) if row.values.len() >= 22 => {
                self.sources.insert(id, row);
            }
            (Some(id), [Null, Text(_), Text(_), ..]) if row.values.len() == 10 => {
                self.sessions.insert(id, row);
            }
            (Some(id), [Null, Text(_), Text(_) | Null, Integer(_)]) => {
                self.projects.insert(id, row);
            }
            (Some(id), [Null, Text(model)]) if is_model(model) => {
                self.models.insert(id, model.clone());
            }
            (Some(id), [Null, Integer(importance), Text(rule)]) if (0..=2).contains(importance) => {
                self.by_rules.insert(id, (*importance, rule.clone()));
            }
            // An index of what waits for a shared store has such columns, too, and smaller numbers in them.
            (None, [Blob(turn), muted @ (Integer(_) | Null), boosted @ (Integer(_) | Null)])
                if [muted, boosted]
                    .iter()
                    .all(|at| at.integer().is_none_or(|at| at >= LEAST_TIME)) =>
            {
                if let Ok(turn) = <[u8; 16]>::try_from(turn.as_slice()) {
                    self.steered.push((TurnUid(turn), muted.integer(), boosted.integer()));
                }
            }
            (Some(1), [Null, Integer(_), Text(_), Blob(machine), ..]) if row.values.len() == 12 => {
                self.machines.extend(<[u8; 16]>::try_from(machine.as_slice()));
            }
            (None, [Blob(machine)]) => self.machines.extend(<[u8; 16]>::try_from(machine.as_slice())),
            (None, [Blob(turn), Text(what)]) if what == "untold" => {
                self.untold.extend(<[u8; 16]>::try_from(turn.as_slice()).map(TurnUid));
            }
            (None, [Text(team), Blob(uid), Blob(turn), Integer(state @ 0..=2)]) => {
                if let (Ok(uid), Ok(turn)) = (<[u8; 16]>::try_from(uid.as_slice()), <[u8; 16]>::try_from(turn.as_slice())) {
                    self.left.push((team.clone(), EpisodeUid(uid), TurnUid(turn), *state));
                }
            }
            (None, [Text(path), Integer(at)]) if *at >= LEAST_TIME && path.starts_with('/') => {
                self.exclusions.push((path.clone(), *at));
            }
            (None, [Text(key), Integer(project)]) if PROJECT_KEYS.iter().any(|prefix| key.starts_with(prefix)) => {
                self.keys.push((key.clone(), *project));
            }
            (None, [Text(key), Text(value)]) if key == crate::write::PAUSED => self.pause = Some(value.clone()),
            (None, [Text(_), Text(_), Text(_), Text(_) | Null, Integer(_), Integer(_)]) => self.instructions.push(row),
            _ => {}
        }
    }
}

/// Whether a text is the name of a model, and not the state of a parser, whose rows have the same columns: that is an object of JSON,
/// or empty where it counts no more.
fn is_model(text: &str) -> bool {
    !text.is_empty() && !text.starts_with('{')
}

struct Salvage<'a> {
    pages: &'a Pages,
    found: &'a Found,
    db: &'a Connection,
    forgotten: HashSet<TurnUid>,
    /// Old row ids to new ones.
    sessions: HashMap<i64, SessionId>,
    projects: HashMap<i64, ProjectId>,
    sources: HashMap<i64, SourceId>,
}

impl Salvage<'_> {
    /// What the user decided, as far as no journal tells it: where there is one, it is followed afterwards.
    fn choices(&self) -> rusqlite::Result<()> {
        let mut bury = self
            .db
            .prepare_cached("INSERT OR IGNORE INTO tombstones (uid, created_at) VALUES (:turn, :at)")?;
        for (turn, at) in &self.found.tombstones {
            bury.execute(named_params! {":turn": turn, ":at": at})?;
        }
        let mut retire = self
            .db
            .prepare_cached("INSERT OR IGNORE INTO retired_turns (uid, retired_at) VALUES (:turn, :at)")?;
        for (turn, at) in &self.found.retired {
            retire.execute(named_params! {":turn": turn, ":at": at})?;
        }
        let mut exclude = self
            .db
            .prepare_cached("INSERT OR IGNORE INTO exclusions (path, created_at) VALUES (:path, :at)")?;
        for (path, at) in &self.found.exclusions {
            exclude.execute(named_params! {":path": path, ":at": at})?;
        }
        let mut instruct = self.db.prepare_cached(
            "INSERT OR IGNORE INTO instruction_files (path, line, folder, made, tracked, created_at)
             VALUES (:path, :line, :folder, :made, :tracked, :at)",
        )?;
        for row in &self.found.instructions {
            let [path, line, folder, made, tracked, at] = row.values.as_slice() else {
                continue;
            };
            instruct.execute(named_params! {
                ":path": path.text(), ":line": line.text(), ":folder": folder.text(), ":made": made.text(),
                ":tracked": tracked.integer(), ":at": at.integer(),
            })?;
        }
        let mut steer = self.db.prepare_cached(
            "INSERT OR IGNORE INTO steered_turns (turn_uid, muted_at, boosted_at) VALUES (:turn, :muted, :boosted)",
        )?;
        for (turn, muted, boosted) in &self.found.steered {
            let says_something = muted.is_some() || boosted.is_some();
            if says_something && !self.forgotten.contains(turn) {
                steer.execute(named_params! {":turn": turn, ":muted": muted, ":boosted": boosted})?;
            }
        }
        self.shared_store()?;
        match &self.found.pause {
            Some(pause) => crate::migrate::set_meta(self.db, crate::write::PAUSED, pause),
            None => Ok(()),
        }
    }

    /// What has to be known where the memory is shared again: what it pushed is its own.
    fn shared_store(&self) -> rusqlite::Result<()> {
        let mut former = self
            .db
            .prepare_cached("INSERT OR IGNORE INTO share_machines (machine) VALUES (:machine)")?;
        for machine in &self.found.machines {
            former.execute(named_params! {":machine": machine})?;
        }
        let mut untold = self
            .db
            .prepare_cached("INSERT OR IGNORE INTO share_turns (turn_uid, what) VALUES (:turn, 'untold')")?;
        for turn in &self.found.untold {
            untold.execute(named_params! {":turn": turn})?;
        }
        Ok(())
    }

    /// What is at the shared stores of teams that were left, of what is here or is known to be gone.
    fn former_teams(&self) -> rusqlite::Result<()> {
        let mut left = self.found.left.iter();
        left.try_for_each(|(team, uid, turn, state)| note_former_team(self.db, team, *uid, *turn, *state))
    }

    fn projects(&mut self) -> rusqlite::Result<()> {
        for (old, row) in &self.found.projects {
            let [_, name, root, created] = row.values.as_slice() else {
                continue;
            };
            let known = self
                .db
                .prepare_cached("SELECT id FROM projects WHERE name = :name AND root IS :root")?
                .query_row(named_params! {":name": name.text(), ":root": root.text()}, |row| row.get(0))
                .optional()?;
            let id = match known {
                Some(id) => id,
                None => self
                    .db
                    .prepare_cached("INSERT INTO projects (name, root, created_at) VALUES (:name, :root, :at) RETURNING id")?
                    .query_row(
                        named_params! {":name": name.text(), ":root": root.text(), ":at": created.integer()},
                        |row| row.get(0),
                    )?,
            };
            self.projects.insert(*old, id);
        }
        for (key, old) in &self.found.keys {
            if let Some(project) = self.projects.get(old) {
                self.db
                    .prepare_cached("INSERT OR IGNORE INTO project_aliases (key, project_id) VALUES (:key, :project)")?
                    .execute(named_params! {":key": key, ":project": project})?;
            }
        }
        Ok(())
    }

    /// The transcripts, of which each is read from its beginning again.
    fn sources(&mut self) -> rusqlite::Result<()> {
        for (old, row) in &self.found.sources {
            let value = |column: usize| row.values.get(column).and_then(Value::integer).unwrap_or_default();
            let text = |column: usize| row.values.get(column).and_then(Value::text).unwrap_or_default();
            let id = self
                .db
                .prepare_cached(
                    "INSERT INTO sources (agent, path, kind, device, inode, size, mtime, read_offset, read_line,
                         committed_offset, committed_line, committed_turn, prefix_hash, prefix_len, tail_hash, tail_len,
                         generation, retire_from, records, skipped, missing)
                     VALUES (:agent, :path, :kind, :device, :inode, 0, 0, 0, 0, 0, 0, 0, x'', 0, x'', 0,
                         :generation, :retire_from, 0, 0, :missing)
                     ON CONFLICT (path) DO UPDATE SET generation = max(generation, excluded.generation),
                         retire_from = max(retire_from, excluded.retire_from)
                     RETURNING id",
                )?
                .query_row(
                    named_params! {
                        ":agent": text(1), ":path": text(2), ":kind": text(3), ":device": value(4), ":inode": value(5),
                        ":generation": value(17), ":retire_from": value(18), ":missing": i64::from(value(21) == 1),
                    },
                    |row| row.get(0),
                )?;
            self.sources.insert(*old, id);
        }
        Ok(())
    }

    fn sessions(&mut self) -> rusqlite::Result<()> {
        for (old, row) in &self.found.sessions {
            let text = |column: usize| row.values.get(column).and_then(Value::text);
            let value = |column: usize| row.values.get(column).and_then(Value::integer);
            let (Some(agent), Some(external_id)) = (text(1), text(2)) else {
                continue;
            };
            let id = keep_session(self.db, agent, external_id)?;
            let project = value(6).and_then(|project| self.projects.get(&project));
            self.db
                .prepare_cached(
                    "UPDATE sessions SET title = coalesce(:title, title), cwd = coalesce(:cwd, cwd),
                         git_branch = coalesce(:branch, git_branch), project_id = coalesce(:project, project_id),
                         started_at = coalesce(:started, started_at), compacted_at = coalesce(:compacted, compacted_at),
                         excluded = max(excluded, :excluded)
                     WHERE id = :id",
                )?
                .execute(named_params! {
                    ":id": id, ":title": text(3), ":cwd": text(4), ":branch": text(5), ":project": project,
                    ":started": value(7), ":compacted": value(8), ":excluded": i64::from(value(9) == Some(1)),
                })?;
            self.sessions.insert(*old, id);
        }
        Ok(())
    }

    fn episodes(&mut self) -> rusqlite::Result<Salvaged> {
        let mut salvaged = Salvaged::default();
        for (id, place) in &self.found.episodes {
            let texts = self.found.texts.get(id).and_then(|place| self.row(*place));
            let whole = self.row(*place).zip(texts);
            match whole.and_then(|(row, texts)| Episode::of(&row, &texts)) {
                Some(episode) if self.forgotten.contains(&episode.turn) => {}
                // Whose it is nobody knows any more: what others share is pulled again.
                Some(episode) if episode.number(6) == PULLED => {}
                Some(episode) => {
                    self.store(*id, &episode)?;
                    salvaged.episodes += 1;
                }
                None => salvaged.unreadable += 1,
            }
        }
        // Texts whose episode's row is gone: nobody knows when that was and in which session.
        salvaged.unreadable += self
            .found
            .texts
            .keys()
            .filter(|id| !self.found.episodes.contains_key(id))
            .count() as u64;
        // What a backup still had when retention took it away.
        self.db
            .execute("DELETE FROM episodes WHERE turn_uid IN (SELECT uid FROM retired_turns)", [])?;
        settle_boosts(self.db)?;
        Ok(salvaged)
    }

    fn row(&self, (page, cell): Place) -> Option<Row> {
        cells::row(self.pages, page, &self.pages.read(page)?, cell)
    }

    /// Stores an episode in place of what a backup has of it.
    fn store(&mut self, old: i64, episode: &Episode) -> rusqlite::Result<()> {
        let session = if let Some(session) = self.sessions.get(&episode.number(3)) {
            *session
        } else {
            // Its row could not be read: the transcript, where it is still there, notes the session it is of.
            let id = keep_session(self.db, "recovered", &format!("lost-{}", episode.number(3)))?;
            self.sessions.insert(episode.number(3), id);
            id
        };
        let known: Option<(i64, Vec<u8>, bool)> = self
            .db
            .prepare_cached("SELECT id, content_hash, generation = -2 FROM episodes WHERE uid = :uid")?
            .query_row([episode.uid], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .optional()?;
        if let Some((id, hash, is_pulled)) = known {
            if hash == episode.hash && !is_pulled {
                return Ok(());
            }
            self.db.prepare_cached("DELETE FROM episodes WHERE id = :id")?.execute([id])?;
        }
        let model = self.model_of(episode)?;
        let embedding = model.is_some().then_some(episode.vector.as_deref()).flatten();
        let room = if embedding.is_some() {
            None
        } else {
            Some(embedding_room(self.db)?)
        };
        self.db
            .prepare_cached(
                "INSERT INTO episodes (uid, turn_uid, session_id, project_id, source_id, generation, origin, turn, part,
                     importance, importance_rule, created_at, updated_at, accessed_at, access_count, shown_count, hidden,
                     content_hash, embedding_model, embedding, room)
                 VALUES (:uid, :turn_uid, :session, :project, :source, :generation, :origin, :turn, :part, :importance, :rule,
                     :created, :updated, :accessed, :uses, :shown, :hidden, :hash, :model, :embedding,
                     iif(:room IS NULL, NULL, zeroblob(:room)))",
            )?
            .execute(named_params! {
                ":uid": episode.uid, ":turn_uid": episode.turn, ":session": session,
                ":project": self.projects.get(&episode.number(4)), ":source": self.sources.get(&episode.number(5)),
                ":generation": episode.number(6), ":origin": episode.origin, ":turn": episode.number(8),
                ":part": episode.number(9), ":importance": episode.number(10).clamp(0, 2), ":rule": episode.rule,
                ":created": episode.number(12), ":updated": episode.number(13), ":accessed": episode.number(14),
                ":uses": episode.number(15), ":shown": episode.number(16), ":hidden": i64::from(episode.number(17) == 1),
                ":hash": episode.hash, ":model": model, ":embedding": embedding, ":room": room,
            })?;
        let id = self.db.last_insert_rowid();
        tracing::trace!(old, id, "an episode was salvaged");
        if let Some((importance, rule)) = self.found.by_rules.get(&old).filter(|_| episode.rule == BOOSTED) {
            self.db
                .prepare_cached(
                    "INSERT INTO boosted_episodes (episode_id, importance, importance_rule) VALUES (:id, :importance, :rule)",
                )?
                .execute(named_params! {":id": id, ":importance": importance, ":rule": rule})?;
        }
        self.db
            .prepare_cached(
                "INSERT INTO episode_texts (episode_id, cwd, git_branch, prompt, answer, facets)
                 VALUES (:id, :cwd, :branch, :prompt, :answer, :facets)",
            )?
            .execute(named_params! {
                ":id": id, ":cwd": episode.cwd, ":branch": episode.branch, ":prompt": episode.prompt,
                ":answer": episode.answer, ":facets": episode.facets,
            })?;
        Ok(())
    }

    /// The row of the model that made an episode's vector; `None` where that is not known, or the vector can't be right.
    fn model_of(&self, episode: &Episode) -> rusqlite::Result<Option<i64>> {
        let name = self
            .found
            .models
            .get(&episode.number(19))
            .filter(|_| episode.vector.is_some());
        let Some(name) = name.filter(|_| episode.number(17) == 0) else {
            return Ok(None);
        };
        self.db
            .prepare_cached("INSERT OR IGNORE INTO embedding_models (name) VALUES (:model)")?
            .execute([name])?;
        self.db
            .prepare_cached("SELECT id FROM embedding_models WHERE name = :model")?
            .query_row([name], |row| row.get(0))
            .optional()
    }
}

/// An episode that was read whole.
struct Episode {
    uid: EpisodeUid,
    turn: TurnUid,
    origin: String,
    rule: String,
    hash: Vec<u8>,
    vector: Option<Vec<u8>>,
    cwd: Option<String>,
    branch: Option<String>,
    prompt: String,
    answer: String,
    facets: String,
    numbers: Vec<i64>,
}

impl Episode {
    /// From its two rows, if its uid and its texts are what they have to be.
    fn of(row: &Row, texts: &Row) -> Option<Self> {
        let (uid, turn) = (EpisodeUid(row.values.get(1)?.blob()?), TurnUid(row.values.get(2)?.blob()?));
        let part = u32::try_from(row.values.get(9)?.integer()?).ok()?;
        let hash: [u8; 32] = row.values.get(18)?.blob()?;
        let text = |column: usize| texts.values.get(column).and_then(Value::text).map(str::to_owned);
        let (prompt, answer, facets) = (text(3)?, text(4)?, text(5)?);
        if uid != EpisodeUid::of(&turn, part) || hash != content_hash([&prompt, &answer, &facets]) {
            return None;
        }
        let origin = row
            .values
            .get(7)?
            .text()
            .filter(|origin| ["user", "subagent"].contains(origin))?;
        Some(Self {
            uid,
            turn,
            origin: origin.to_owned(),
            rule: row.values.get(11)?.text()?.to_owned(),
            hash: hash.to_vec(),
            vector: row.values.get(20).and_then(vector),
            cwd: text(1),
            branch: text(2),
            prompt,
            answer,
            facets,
            numbers: row.values.iter().map(|value| value.integer().unwrap_or_default()).collect(),
        })
    }

    fn number(&self, column: usize) -> i64 {
        self.numbers.get(column).copied().unwrap_or_default()
    }
}

/// An embedding as stored, if it has the length of one.
fn vector(value: &Value) -> Option<Vec<u8>> {
    let Value::Blob(bytes) = value else { return None };
    let length = from_bytes(bytes).iter().map(|value| value * value).sum::<f32>().sqrt();
    LENGTHS.contains(&length).then(|| bytes.clone())
}
