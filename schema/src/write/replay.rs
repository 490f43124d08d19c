//! The journal and the database brought to agree, at each opening for writing: the database first does what stands in the journal
//! and it has not followed yet (it was killed between the two, put back from an older copy, or made anew); then the journal is told
//! what only the database knows (it is new, or an older version, which knows no journal, was at work meanwhile).
//! In go the journal's lines, out go rows and lines. That a turn was forgotten is taken from either side; of all else the
//! database, which by then has followed, is right.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, OptionalExtension};

use super::{PAUSED, Unwanted, Writer, empty_log, exclusion, forget, instructions, pause_value, steer};
use crate::error::OpenError;
use crate::ids::TurnUid;
use crate::journal::{Choice, Number};
use crate::kept::{Spared, forget_in_copies};
use crate::migrate::{meta, set_meta};
use crate::query::settings::{stored_instruction_files, stored_pause, stored_tombstones};
use crate::query::steering::stored_steered;
use crate::rows::{InstructionFile, Pause, SessionKey, Steering};
use crate::units::UnixMillis;

/// Key in `_meta`: how far the database has followed which journal.
pub(super) const JOURNAL: &str = "journal";
/// Turns in a line.
const TURNS: usize = 1_000;

/// A name for a new journal, by SQLite's random source.
pub(super) fn new_id(db: &Connection) -> rusqlite::Result<String> {
    db.query_row("SELECT lower(hex(randomblob(8)))", [], |row| row.get(0))
}

/// What the journal says of forgotten turns.
pub(super) fn forgotten(turns: &[TurnUid], now: UnixMillis) -> Choice {
    Choice::Forget {
        turns: turns.iter().map(TurnUid::to_string).collect(),
        at: now.0,
    }
}

/// What the journal says of a pause, or of its end.
pub(super) fn pause_choice(pause: Option<Pause>) -> Choice {
    match pause {
        None => Choice::Resume,
        Some(Pause::Indefinite) => Choice::Pause { until: None },
        Some(Pause::Until(until)) => Choice::Pause { until: Some(until.0) },
    }
}

/// What the journal says of a turn that is muted or boosted, or no more.
pub(super) fn steered(turn: TurnUid, steering: Steering, now: UnixMillis) -> Choice {
    let (turn, at) = (turn.to_string(), now.0);
    match steering {
        Steering::Mute => Choice::Mute { turn, at },
        Steering::Unmute => Choice::Unmute { turn },
        Steering::Boost => Choice::Boost { turn, at },
        Steering::Unboost => Choice::Unboost { turn },
    }
}

/// What [`steered`] said.
fn steering_of(choice: &Choice) -> Option<(TurnUid, Steering, UnixMillis)> {
    let (turn, steering, at) = match choice {
        Choice::Mute { turn, at } => (turn, Steering::Mute, *at),
        Choice::Unmute { turn } => (turn, Steering::Unmute, 0),
        Choice::Boost { turn, at } => (turn, Steering::Boost, *at),
        Choice::Unboost { turn } => (turn, Steering::Unboost, 0),
        _ => return None,
    };
    Some((turn.parse().ok()?, steering, UnixMillis(at)))
}

impl Writer {
    /// Brings journal and database to agree.
    ///
    /// # Errors
    /// What SQLite or the file system reports.
    pub(super) fn follow_journal(&mut self, lines: &[(Number, Choice)]) -> Result<(), OpenError> {
        let path = self.path.clone();
        let sqlite = OpenError::of_rows(&path, "bring the journal's choices into");
        let position = meta(&self.db, JOURNAL).map_err(&sqlite)?;
        let followed = self.journal.number_in(position.as_deref());
        let told = Told::of(lines.iter().map(|(_, choice)| choice));
        let open: Vec<&Choice> = lines
            .iter()
            .filter(|(number, _)| *number > followed)
            .map(|(_, choice)| choice)
            .collect();
        let left = forget::unscrubbed(&self.db).map_err(&sqlite)?;
        let spared = match (position.is_some(), left) {
            // Of a database that was made anew just now the damaged file stays: it may be all that is left of others.
            (false, _) => Spared::SetAside,
            // What a restore set aside knew of the forgetting.
            (true, None) => Spared::Replaced,
            (true, Some(spared)) => spared,
        };
        let removed = self.follow(&open, &told, spared).map_err(&sqlite)?;
        self.forgot_at_opening = removed > 0;
        if removed > 0 {
            tracing::warn!(
                episodes = removed,
                "what you forgot was in the memory again, as in an older copy, and is deleted"
            );
        }
        if removed > 0 || left.is_some() {
            let emptied = self.scrub().and_then(|()| empty_log(&self.db)).map_err(&sqlite)?;
            let unwanted = Unwanted::of(&self.db).map_err(&sqlite)?;
            let cleaned = forget_in_copies(&path, &unwanted, spared);
            if let Err(error) = &cleaned {
                tracing::warn!(%error, "a copy of the database still holds what you forgot; it is tried again");
            }
            // Where another program reads the log, or a copy can't be rewritten now, upkeep ends it.
            let finished = emptied && cleaned.is_ok_and(|done| done);
            forget::note(&self.db, (!finished).then_some(spared)).map_err(&sqlite)?;
        }
        self.journal.skip_to(followed);
        let news = told.news(&self.db).map_err(&sqlite)?;
        self.journal.append(&news).map_err(OpenError::journal(&path))?;
        let position_now = self.journal.position();
        if position.as_deref() != Some(position_now.as_str()) {
            set_meta(&self.db, JOURNAL, &position_now).map_err(&sqlite)?;
        }
        Ok(())
    }

    /// Does what the database has not followed, in one transaction; gives how many episodes were forgotten once more. What may be left of
    /// them then, and what of the copies is `spared`, is noted with it: a kill may follow.
    fn follow(&mut self, open: &[&Choice], told: &Told, spared: Spared) -> rusqlite::Result<u64> {
        let lost = told.lost(&self.db)?;
        if open.is_empty() && lost.is_empty() {
            return Ok(0);
        }
        let tx = self.db.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        let mut removed = 0;
        for choice in open {
            removed += apply(&tx, choice)?;
        }
        removed += forget::forget_again(&tx, &lost, UnixMillis(told.forgot_last))?;
        if removed > 0 {
            forget::note(&tx, Some(spared))?;
        }
        tx.commit()?;
        Ok(removed)
    }
}

/// Does one choice, whatever of it is done already; gives how many episodes were forgotten.
fn apply(db: &Connection, choice: &Choice) -> rusqlite::Result<u64> {
    match choice {
        Choice::Forget { turns, at } => return forget::forget_again(db, &uids(turns), UnixMillis(*at)),
        Choice::Exclude { path, at } => exclusion::exclude_path(db, path, UnixMillis(*at)).map(drop)?,
        Choice::Include { path } => exclusion::include_path(db, path).map(drop)?,
        Choice::ExcludeSession { agent, session } => exclusion::exclude_session(db, &key(agent, session)).map(drop)?,
        Choice::IncludeSession { agent, session } => exclusion::include_session(db, &key(agent, session)).map(drop)?,
        Choice::Pause { until } => {
            let pause = until.map_or(Pause::Indefinite, |until| Pause::Until(UnixMillis(until)));
            set_meta(db, PAUSED, &pause_value(Some(pause)))?;
        }
        Choice::Resume => set_meta(db, PAUSED, "")?,
        Choice::Instruct { at, .. } => {
            if let Some(file) = instruction_file(choice) {
                instructions::add(db, &file, UnixMillis(*at))?;
            }
        }
        Choice::Uninstruct { path, line } => instructions::remove(db, path, line.as_deref())?,
        Choice::Mute { .. } | Choice::Unmute { .. } | Choice::Boost { .. } | Choice::Unboost { .. } => {
            if let Some((turn, steering, at)) = steering_of(choice) {
                steer::steer(db, turn, steering, at)?;
            }
        }
        Choice::Begin { .. } | Choice::Unknown => {}
    }
    Ok(0)
}

fn key(agent: &str, session: &str) -> SessionKey {
    SessionKey {
        agent: agent.to_owned(),
        external_id: session.to_owned(),
    }
}

fn uids(turns: &[String]) -> Vec<TurnUid> {
    turns.iter().filter_map(|turn| turn.parse().ok()).collect()
}

fn instruction_file(choice: &Choice) -> Option<InstructionFile> {
    let Choice::Instruct {
        path,
        line,
        folder,
        made,
        tracked,
        ..
    } = choice
    else {
        return None;
    };
    Some(InstructionFile {
        path: path.clone(),
        line: line.clone(),
        folder: folder.clone(),
        made: made.clone(),
        tracked: *tracked,
    })
}

/// What a journal tells in the end: of each thing the last that was said of it.
#[derive(Default)]
struct Told {
    forgotten: BTreeSet<TurnUid>,
    /// When turns were forgotten last.
    forgot_last: i64,
    folders: BTreeSet<String>,
    sessions: BTreeSet<SessionKey>,
    pause: Option<Pause>,
    files: BTreeMap<(String, Option<String>), InstructionFile>,
    /// Turns that are muted, and since when.
    muted: BTreeMap<TurnUid, UnixMillis>,
    /// Turns that are boosted, and since when.
    boosted: BTreeMap<TurnUid, UnixMillis>,
}

impl Told {
    fn of<'c>(choices: impl Iterator<Item = &'c Choice>) -> Self {
        let mut told = Self::default();
        choices.for_each(|choice| told.hear(choice));
        told
    }

    fn hear(&mut self, choice: &Choice) {
        match choice {
            Choice::Forget { turns, at } => {
                for turn in uids(turns) {
                    self.muted.remove(&turn);
                    self.boosted.remove(&turn);
                    self.forgotten.insert(turn);
                }
                self.forgot_last = self.forgot_last.max(*at);
            }
            Choice::Exclude { path, .. } => {
                self.folders.insert(path.clone());
            }
            Choice::Include { path } => {
                self.folders.remove(path);
            }
            Choice::ExcludeSession { agent, session } => {
                self.sessions.insert(key(agent, session));
            }
            Choice::IncludeSession { agent, session } => {
                self.sessions.remove(&key(agent, session));
            }
            Choice::Pause { until } => {
                self.pause = Some(until.map_or(Pause::Indefinite, |until| Pause::Until(UnixMillis(until))));
            }
            Choice::Resume => self.pause = None,
            Choice::Instruct { path, line, .. } => {
                if let Some(file) = instruction_file(choice) {
                    self.files.insert((path.clone(), line.clone()), file);
                }
            }
            Choice::Uninstruct { path, line } => {
                self.files.remove(&(path.clone(), line.clone()));
            }
            Choice::Mute { .. } | Choice::Unmute { .. } | Choice::Boost { .. } | Choice::Unboost { .. } => {
                self.hear_of_a_turn(choice);
            }
            Choice::Begin { .. } | Choice::Unknown => {}
        }
    }

    /// What was forgotten is steered no more.
    fn hear_of_a_turn(&mut self, choice: &Choice) {
        let Some((turn, steering, at)) = steering_of(choice).filter(|(turn, ..)| !self.forgotten.contains(turn)) else {
            return;
        };
        let turns = match steering {
            Steering::Mute | Steering::Unmute => &mut self.muted,
            Steering::Boost | Steering::Unboost => &mut self.boosted,
        };
        if matches!(steering, Steering::Mute | Steering::Boost) {
            turns.insert(turn, at);
        } else {
            turns.remove(&turn);
        }
    }

    /// Forgotten turns of which the database does not know that they are.
    fn lost(&self, db: &Connection) -> rusqlite::Result<Vec<TurnUid>> {
        let known: BTreeSet<TurnUid> = stored_tombstones(db)?.into_iter().collect();
        Ok(self.forgotten.difference(&known).copied().collect())
    }

    /// What the database knows and the journal does not, as choices.
    fn news(&self, db: &Connection) -> rusqlite::Result<Vec<Choice>> {
        let mut news = Vec::new();
        let forgotten: Vec<TurnUid> = stored_tombstones(db)?
            .into_iter()
            .filter(|turn| !self.forgotten.contains(turn))
            .collect();
        let at = forgotten_at(db)?;
        news.extend(forgotten.chunks(TURNS).map(|turns| self::forgotten(turns, at)));
        self.news_of_folders(db, &mut news)?;
        self.news_of_sessions(db, &mut news)?;
        let pause = stored_pause(db)?;
        if pause != self.pause {
            news.push(pause_choice(pause));
        }
        self.news_of_files(db, &mut news)?;
        self.news_of_turns(db, &mut news)?;
        Ok(news)
    }

    fn news_of_turns(&self, db: &Connection, news: &mut Vec<Choice>) -> rusqlite::Result<()> {
        let (mut muted, mut boosted) = (self.muted.clone(), self.boosted.clone());
        for steered in stored_steered(db)? {
            let turn = steered.turn_uid;
            for (told, found, steering) in [
                (&mut muted, steered.muted_at, Steering::Mute),
                (&mut boosted, steered.boosted_at, Steering::Boost),
            ] {
                if let Some(at) = found
                    && told.remove(&turn).is_none()
                {
                    news.push(self::steered(turn, steering, at));
                }
            }
        }
        let no_more = |turns: BTreeMap<TurnUid, UnixMillis>, steering| {
            turns
                .into_keys()
                .map(move |turn| self::steered(turn, steering, UnixMillis(0)))
        };
        news.extend(no_more(muted, Steering::Unmute));
        news.extend(no_more(boosted, Steering::Unboost));
        Ok(())
    }

    fn news_of_folders(&self, db: &Connection, news: &mut Vec<Choice>) -> rusqlite::Result<()> {
        let mut gone = self.folders.clone();
        let mut excluded = Vec::new();
        let mut statement = db.prepare_cached("SELECT path, created_at FROM exclusions ORDER BY path")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (path, at): (String, i64) = (row.get(0)?, row.get(1)?);
            if !gone.remove(&path) {
                excluded.push(Choice::Exclude { path, at });
            }
        }
        // Where journal and database call one folder by two names, as a kill between their redactions leaves it, both lines are about
        // the same folder once the names are one: the last counts, and it is kept out.
        news.extend(gone.into_iter().map(|path| Choice::Include { path }));
        news.extend(excluded);
        Ok(())
    }

    fn news_of_sessions(&self, db: &Connection, news: &mut Vec<Choice>) -> rusqlite::Result<()> {
        let mut gone = self.sessions.clone();
        let mut statement = db.prepare_cached("SELECT agent, external_id FROM sessions WHERE excluded = 1 ORDER BY id")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let session = SessionKey {
                agent: row.get(0)?,
                external_id: row.get(1)?,
            };
            if !gone.remove(&session) {
                news.push(Choice::ExcludeSession {
                    agent: session.agent,
                    session: session.external_id,
                });
            }
        }
        news.extend(gone.into_iter().map(|session| Choice::IncludeSession {
            agent: session.agent,
            session: session.external_id,
        }));
        Ok(())
    }

    fn news_of_files(&self, db: &Connection, news: &mut Vec<Choice>) -> rusqlite::Result<()> {
        let mut gone = self.files.clone();
        for file in stored_instruction_files(db)? {
            let known = gone.remove(&(file.path.clone(), file.line.clone()));
            if known.as_ref() != Some(&file) {
                news.push(Choice::Instruct {
                    path: file.path,
                    line: file.line,
                    folder: file.folder,
                    made: file.made,
                    tracked: file.tracked,
                    at: 0,
                });
            }
        }
        news.extend(gone.into_keys().map(|(path, line)| Choice::Uninstruct { path, line }));
        Ok(())
    }
}

/// When something was forgotten last.
fn forgotten_at(db: &Connection) -> rusqlite::Result<UnixMillis> {
    db.query_row("SELECT max(created_at) FROM tombstones", [], |row| {
        row.get::<_, Option<i64>>(0)
    })
    .optional()
    .map(|at| UnixMillis(at.flatten().unwrap_or_default()))
}

#[cfg(test)]
mod tests;
