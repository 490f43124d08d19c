//! What others shared, taken into the memory: a page of changes in one transaction with the cursor. In go pages, out come the episodes
//! that came, changed and went.
//!
//! One's own reading is never replaced. What is forgotten, retired or kept out here is passed over. A turn that another machine of
//! one's own forgot is forgotten here, in the way of `forget.rs`.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, named_params};

use super::super::forget::{self, Touched};
use super::super::ingest::session_id;
use super::super::known::{is_forgotten, is_passed, is_retired, is_untold};
use super::super::row::{NO_GENERATION, PULLED};
use super::super::{Writer, current_model, embeddings, exclusion, index, projects, replay, steer};
use super::copies::{self, Home, Known};
use super::enqueue_one;
use crate::error::QueryError;
use crate::ids::{EpisodeId, EpisodeUid, ProjectId, SessionId, TurnUid};
use crate::journal::Choice;
use crate::migrate::{meta, set_meta};
use crate::query::share::{may_be_told, share_place};
use crate::query::steering::excluded_session;
use crate::rows::{
    Applied, EmbeddedEpisode, ForgetTarget, FoundEpisode, PulledChange, PulledPage, REMEMBERED_SESSION, SessionKey, ShareOrigin,
    SharePlace, SharedEpisode, USER_AGENT,
};
use crate::units::UnixMillis;

mod marks;

const ACT: &str = "store what was shared";
/// States of what the shared store may have of this memory: by the name that it has, and by one that it had.
const BY_THIS_NAME: i64 = 1;
const BY_FORMER_NAME: i64 = 2;
/// Key in `_meta`: `1` from the first page that leaves something to clean up to the last.
const CLEAN_UP_WAITS: &str = "share_clean_up_waits";

impl Writer {
    /// Stores a page of what others shared, with the cursor. A page that was asked from another place than pulling has come to, or before
    /// something was sent, is left alone, and said to be stale: the next is asked from [`Applied::cursor`].
    ///
    /// # Errors
    /// [`QueryError::Invalid`] before [`Writer::note_member`]; what SQLite or the journal reports: nothing is stored then.
    pub fn apply_pulled(&mut self, page: &PulledPage, now: UnixMillis) -> Result<Applied, QueryError> {
        let failed = QueryError::at(ACT);
        let place = match share_place(&self.db).map_err(&failed)? {
            Some(place) if (place.cursor, place.sent) == (page.after, page.sent) => place,
            other => {
                return Ok(Applied {
                    stale: true,
                    cursor: other.map_or(0, |place| place.cursor),
                    ..Applied::default()
                });
            }
        };
        let Some(member) = place.member else {
            let detail = "who shares is not known yet: connect first".to_owned();
            return Err(QueryError::Invalid { act: ACT, detail });
        };
        let forgotten = newly_forgotten(&self.db, page, member).map_err(&failed)?;
        let choices: Vec<Choice> = forgotten.chunks(TURNS).map(|turns| replay::forgotten(turns, now)).collect();
        let applied = self.decide_all(ACT, &choices, |db| Applying::begin(db, &place, member, now)?.page(page))?;
        if !forgotten.is_empty()
            && let Err(error) = self.forget_facts(&forgotten)
        {
            tracing::warn!(%error, "what another machine of yours forgot leaves the file of facts at the next start");
        }
        Ok(applied)
    }
}

/// Turns in a line of the journal.
const TURNS: usize = 1_000;

/// The turns of a page that one forgot elsewhere and not yet here, each once.
fn newly_forgotten(db: &Connection, page: &PulledPage, own: i32) -> rusqlite::Result<Vec<TurnUid>> {
    let mut turns = BTreeSet::new();
    for change in &page.changes {
        if let PulledChange::Forgotten { turn_uid, member, .. } = change
            && *member == own
            && !is_forgotten(db, *turn_uid)?
        {
            turns.insert(*turn_uid);
        }
    }
    Ok(turns.into_iter().collect())
}

/// What tells where an episode belongs: its session, the keys and the name of its project, and whether it becomes one's own.
type Belongs = (SessionKey, Vec<String>, String, bool);

/// What others shared, while it is stored.
pub(super) struct Applying<'db> {
    db: &'db Connection,
    member: i32,
    /// What this memory is called.
    machine: [u8; 16],
    paused: bool,
    now: UnixMillis,
    exclusions: Vec<String>,
    model: Option<(String, usize)>,
    room: i64,
    any_boosted: bool,
    /// Where what was stored of the page belongs, and since when its session is known to be there.
    homes: BTreeMap<Belongs, (Home, UnixMillis)>,
    applied: Applied,
    /// What was withdrawn or forgotten by others.
    gone: Touched,
    /// What was forgotten by oneself.
    forgot: Touched,
    /// What the page changes of the index, written at its end.
    unindexed: BTreeSet<EpisodeId>,
    indexed: BTreeSet<EpisodeId>,
    /// Whether words that may repeat what others forgot are to go.
    forgets_words: bool,
}

impl<'db> Applying<'db> {
    pub(super) fn begin(db: &'db Connection, place: &SharePlace, member: i32, now: UnixMillis) -> rusqlite::Result<Self> {
        Ok(Self {
            db,
            member,
            machine: place.machine,
            paused: place.paused,
            now,
            exclusions: exclusion::excluded_paths(db)?,
            model: current_model(db)?,
            room: embeddings::embedding_size(db)?,
            any_boosted: steer::any_boosted(db)?,
            homes: BTreeMap::new(),
            applied: Applied::default(),
            gone: Touched::default(),
            forgot: Touched::default(),
            unindexed: BTreeSet::new(),
            indexed: BTreeSet::new(),
            forgets_words: false,
        })
    }

    fn page(mut self, page: &PulledPage) -> rusqlite::Result<Applied> {
        for change in &page.changes {
            match change {
                PulledChange::Live { seq, from, episode } => self.live(*seq, from, episode)?,
                PulledChange::Withdrawn {
                    seq,
                    uid,
                    member,
                    machine,
                } => self.withdrawn(*seq, *uid, *member, *machine)?,
                PulledChange::Forgotten { turn_uid, member, .. } => self.forgotten(*turn_uid, *member)?,
            }
        }
        self.finish(page)
    }

    fn live(&mut self, seq: i64, from: &ShareOrigin, episode: &SharedEpisode) -> rusqlite::Result<()> {
        let known = copies::known(self.db, episode.uid)?;
        let is_mine = from.member == self.member;
        let is_former = is_mine && self.is_former(from.machine)?;
        if let Some(own) = known.as_ref().filter(|known| !known.is_pulled) {
            // What this memory pushed under another name, and what it keeps out though another machine of one's own shares it.
            if is_former || (is_mine && own.hidden) {
                self.look_again(episode, own.project, is_former)?;
            }
            return Ok(());
        }
        if is_forgotten(self.db, episode.turn_uid)? {
            // That it was forgotten is told to nobody, but where it is.
            if is_former && is_untold(self.db, episode.turn_uid)? {
                self.look_again(episode, None, true)?;
            }
            return Ok(());
        }
        if is_retired(self.db, episode.turn_uid)? {
            if is_former {
                self.look_again(episode, None, true)?;
            }
            return Ok(());
        }
        if self.paused || !is_sound(episode) || (!is_former && is_passed(self.db, episode.turn_uid)?) {
            return Ok(());
        }
        match known {
            Some(copy) if is_former => {
                self.remove(&[copy.id])?;
                self.take_back(from, episode)
            }
            Some(copy) => self.replace(&copy, seq, from, episode),
            None if is_former => self.take_back(from, episode),
            None => self.store(seq, from, episode).map(drop),
        }
    }

    /// Takes what a search found, by the rules of what is pulled, but that nothing comes back as one's own by it. Gives where it is here.
    pub(super) fn found(&mut self, found: &FoundEpisode) -> rusqlite::Result<Option<EpisodeId>> {
        let FoundEpisode { seq, from, episode } = found;
        let known = copies::known(self.db, episode.uid)?;
        match &known {
            Some(known) if known.hidden => return Ok(None),
            Some(known) if !known.is_pulled || copies::seq(self.db, known.id)? >= Some(*seq) => return Ok(Some(known.id)),
            Some(_) | None => {}
        }
        // What this memory itself had shared and has no more is on its way out there, or is for a pull to bring back.
        let was_here = from.machine == self.machine || (from.member == self.member && self.is_former(from.machine)?);
        if was_here || self.is_over(episode.turn_uid, from.member)? || !is_sound(episode) {
            return Ok(None);
        }
        match known {
            Some(copy) => self.replace(&copy, *seq, from, episode).map(|()| Some(copy.id)),
            None => self.store(*seq, from, episode),
        }
    }

    /// Whether nothing of a member's turn is to come here any more: it was forgotten, here or by the member, or retention took it.
    fn is_over(&self, turn: TurnUid, member: i32) -> rusqlite::Result<bool> {
        let mut by_member = self
            .db
            .prepare_cached("SELECT 1 FROM share_forgotten WHERE turn_uid = :turn AND member = :member")?;
        Ok(by_member.exists(named_params! {":turn": turn, ":member": member})?
            || is_forgotten(self.db, turn)?
            || is_retired(self.db, turn)?
            || is_passed(self.db, turn)?)
    }

    /// Whether this memory was called so.
    fn is_former(&self, machine: [u8; 16]) -> rusqlite::Result<bool> {
        self.db
            .prepare_cached("SELECT 1 FROM share_machines WHERE machine = :machine")?
            .exists(named_params! {":machine": machine})
    }

    /// Notes that the shared store has an episode of this memory, and has what is true of it be told.
    fn look_again(&self, episode: &SharedEpisode, project: Option<ProjectId>, is_former: bool) -> rusqlite::Result<()> {
        let (uid, turn) = (episode.uid, episode.turn_uid);
        let state = if is_former { BY_FORMER_NAME } else { BY_THIS_NAME };
        self.db
            .prepare_cached(
                "INSERT INTO share_pushed (uid, turn_uid, project_id, state) VALUES (:uid, :turn, :project, :state)
                 ON CONFLICT (uid) DO UPDATE SET state = max(state, excluded.state)",
            )?
            .execute(named_params! {":uid": uid, ":turn": turn, ":project": project, ":state": state})?;
        enqueue_one(self.db, uid, turn, true)
    }

    fn store(&mut self, seq: i64, from: &ShareOrigin, episode: &SharedEpisode) -> rusqlite::Result<Option<EpisodeId>> {
        let stored = self.insert(from, episode, PULLED)?;
        if let Some(id) = stored {
            copies::mark(self.db, id, from, seq)?;
        }
        Ok(stored)
    }

    /// Stores as one's own what this memory had pushed when it had another name, and lost since, as where it was put back from a copy.
    /// Whether it is still to be shared is told by what is true here; so it is withdrawn where it is kept out.
    fn take_back(&mut self, from: &ShareOrigin, episode: &SharedEpisode) -> rusqlite::Result<()> {
        self.insert(from, episode, NO_GENERATION)?;
        self.look_again(episode, None, true)
    }

    /// Stores an episode that is not there; `None` where it is kept out.
    fn insert(&mut self, from: &ShareOrigin, episode: &SharedEpisode, generation: i64) -> rusqlite::Result<Option<EpisodeId>> {
        let key = self.session_key(from, episode);
        if excluded_session(self.db, &key)? || self.is_kept_out(from, episode)? {
            return Ok(None);
        }
        let home = self.home(key, from, episode, generation != PULLED)?;
        let id = copies::insert(self.db, episode, home, generation, self.room)?;
        self.indexed.insert(id);
        self.embed(id, episode)?;
        self.boost(episode)?;
        self.applied.stored.push(id);
        self.applied.projects.extend(home.project);
        Ok(Some(id))
    }

    fn replace(&mut self, known: &Known, seq: i64, from: &ShareOrigin, episode: &SharedEpisode) -> rusqlite::Result<()> {
        let home = self.home(self.session_key(from, episode), from, episode, false)?;
        let (hash, _) = copies::content(episode)?;
        let texts_differ = hash != known.content_hash;
        copies::replace(self.db, known, episode, home)?;
        copies::mark(self.db, known.id, from, seq)?;
        if home.session != known.session || home.project != known.project {
            self.gone.sessions.push(known.session);
            self.gone.projects.extend(known.project);
        }
        if !known.hidden && (texts_differ || home.project != known.project) {
            self.unindexed.insert(known.id);
            self.indexed.insert(known.id);
        }
        self.embed(known.id, episode)?;
        self.boost(episode)?;
        if texts_differ {
            self.applied.replaced.push(known.id);
            self.applied.projects.extend(home.project);
        }
        Ok(())
    }

    /// The session of an episode. What another member had remembered is no fact of one's own.
    fn session_key(&self, from: &ShareOrigin, episode: &SharedEpisode) -> SessionKey {
        let is_a_fact = episode.agent == USER_AGENT && episode.session == REMEMBERED_SESSION;
        SessionKey {
            agent: episode.agent.clone(),
            external_id: if is_a_fact && from.member != self.member {
                format!("{REMEMBERED_SESSION} by {}", from.member_login)
            } else {
                episode.session.clone()
            },
        }
    }

    /// Where an episode belongs here: asked once a session and page. The row of a session that is one's own is left as it is.
    fn home(
        &mut self,
        session: SessionKey,
        from: &ShareOrigin,
        episode: &SharedEpisode,
        becomes_own: bool,
    ) -> rusqlite::Result<Home> {
        let belongs = (session, keys_of(from, episode), episode.project_name.clone(), becomes_own);
        match self.homes.get(&belongs) {
            Some((home, since)) if *since <= episode.created_at && home.is_mine == (from.member == self.member) => Ok(*home),
            _ => {
                let home = self.find_home(&belongs, from, episode)?;
                self.homes.insert(belongs, (home, episode.created_at));
                Ok(home)
            }
        }
    }

    fn find_home(&self, belongs: &Belongs, from: &ShareOrigin, episode: &SharedEpisode) -> rusqlite::Result<Home> {
        let (key, keys, _, becomes_own) = belongs;
        let project = if *becomes_own {
            // Its transcript tells the project where it is read again; what came from outside makes none.
            projects::known(self.db, keys)?
        } else {
            self.project(keys, from, episode)?
        };
        let session: SessionId = session_id(self.db, key)?;
        self.db
            .prepare_cached(
                "UPDATE sessions SET project_id = coalesce(project_id, :project), started_at = min(coalesce(started_at, :at), :at)
                 WHERE id = :id AND NOT EXISTS (SELECT 1 FROM episodes WHERE session_id = :id AND generation <> -2)",
            )?
            .execute(named_params! {":id": session, ":project": project, ":at": episode.created_at})?;
        Ok(Home {
            session,
            project,
            is_mine: from.member == self.member,
        })
    }

    fn project(&self, keys: &[String], from: &ShareOrigin, episode: &SharedEpisode) -> rusqlite::Result<Option<ProjectId>> {
        let Some(key) = keys.first() else { return Ok(None) };
        let name = if episode.project_name.is_empty() {
            name_in(key)
        } else {
            &episode.project_name
        };
        projects::resolve_shared(self.db, keys, name, from.member, self.now).map(Some)
    }

    /// Whether the folder of the episode's project, as far as it has one here, is kept out.
    fn is_kept_out(&self, from: &ShareOrigin, episode: &SharedEpisode) -> rusqlite::Result<bool> {
        if self.exclusions.is_empty() {
            return Ok(false);
        }
        let Some(project) = projects::known_to_any(self.db, &keys_of(from, episode))? else {
            return Ok(false);
        };
        let root: Option<String> = self
            .db
            .prepare_cached("SELECT root FROM projects WHERE id = :id")?
            .query_row([project], |row| row.get(0))?;
        Ok(exclusion::covers(&self.exclusions, root.as_deref()))
    }

    /// Takes the vector that came along, where it is of the current model and of the text as it is stored here.
    fn embed(&mut self, id: EpisodeId, episode: &SharedEpisode) -> rusqlite::Result<()> {
        let Some(((model, dimension), (by, vector))) = self.model.as_ref().zip(episode.embedding.as_ref()) else {
            return Ok(());
        };
        let (hash, _) = copies::content(episode)?;
        if by != model || hash != episode.content_hash || embeddings::defect(vector, *dimension).is_some() {
            return Ok(());
        }
        let row = EmbeddedEpisode {
            id,
            content_hash: hash,
            vector: vector.clone(),
        };
        if !is_embedded(self.db, id, model)? {
            embeddings::store(self.db, model, &row)?;
        }
        Ok(())
    }

    fn boost(&self, episode: &SharedEpisode) -> rusqlite::Result<()> {
        if self.any_boosted {
            steer::boost_again(self.db, episode.turn_uid)?;
        }
        Ok(())
    }

    /// Removes copies, but for their index rows, which go at the end.
    fn remove(&mut self, ids: &[EpisodeId]) -> rusqlite::Result<()> {
        for id in ids {
            copies::remove(self.db, *id, &mut self.gone)?;
            self.unindexed.insert(*id);
        }
        self.drop_from_memory(ids);
        Ok(())
    }

    /// What went is not told as what came, where one page brings both.
    fn drop_from_memory(&mut self, ids: &[EpisodeId]) {
        for id in ids {
            self.indexed.remove(id);
        }
        let applied = &mut self.applied;
        for list in [&mut applied.stored, &mut applied.replaced] {
            list.retain(|id| !ids.contains(id));
        }
        applied.removed.extend(ids);
    }

    fn finish(self, page: &PulledPage) -> rusqlite::Result<Applied> {
        let db = self.db;
        let mut applied = self.settle()?;
        applied.cursor = page.cursor.max(page.after);
        applied.unscrubbed = clean_up_now(db, applied.unscrubbed, applied.cursor >= page.head)?;
        db.prepare_cached(
            "UPDATE share_target SET cursor = :cursor, head = :head, held = iif(:marks_only, coalesce(held, :after), held)",
        )?
        .execute(named_params! {
            ":cursor": applied.cursor, ":head": page.head, ":marks_only": page.marks_only, ":after": page.after,
        })?;
        Ok(applied)
    }

    /// Brings the index and what is left empty in step with what was stored.
    pub(super) fn settle(mut self) -> rusqlite::Result<Applied> {
        let unindexed: Vec<EpisodeId> = self.unindexed.iter().copied().collect();
        let indexed: Vec<EpisodeId> = self.indexed.iter().copied().collect();
        index::remove(self.db, &unindexed)?;
        index::insert_stored(self.db, &indexed)?;
        if self.forgets_words {
            forget::forget_words(self.db)?;
        }
        if !self.forgot.episodes.is_empty() {
            // Projects that are left empty go, as with a folder's.
            forget::clean_up(self.db, &ForgetTarget::Path(String::new()), &self.forgot)?;
        }
        self.gone.sessions.sort_unstable();
        self.gone.sessions.dedup();
        self.gone.projects.sort_unstable();
        self.gone.projects.dedup();
        forget::tidy_emptied(self.db, &self.gone)?;
        if self.applied.unscrubbed {
            forget::leave_unscrubbed(self.db)?;
        }
        let projects = &mut self.applied.projects;
        projects.extend(self.gone.projects.iter().chain(&self.forgot.projects));
        projects.sort_unstable();
        projects.dedup();
        Ok(self.applied)
    }
}

/// Whether what was forgotten is to be cleaned up after a page that left something of it, or did not: not before the last, which is told of
/// by what is noted here until then. What died between is left to the next start, which cleans up whatever left bytes.
fn clean_up_now(db: &Connection, leaves_some: bool, is_last: bool) -> rusqlite::Result<bool> {
    let waits = meta(db, CLEAN_UP_WAITS)?.as_deref() == Some("1");
    if is_last && waits {
        set_meta(db, CLEAN_UP_WAITS, "0")?;
    } else if !is_last && leaves_some && !waits {
        set_meta(db, CLEAN_UP_WAITS, "1")?;
    }
    Ok(is_last && (leaves_some || waits))
}

/// Whether it is the part of the turn that it says, of a session: nothing else has a place here.
fn is_sound(episode: &SharedEpisode) -> bool {
    EpisodeUid::of(&episode.turn_uid, episode.part) == episode.uid && !episode.agent.is_empty() && !episode.session.is_empty()
}

/// The keys that name a project on every machine: a folder of another machine, or what holds everywhere, is not to be said from outside.
fn told_keys(episode: &SharedEpisode) -> Vec<String> {
    episode.project_keys.iter().filter(|key| may_be_told(key)).cloned().collect()
}

/// What names the project of an episode here. One of which its member knows no such key is that member's alone.
fn keys_of(from: &ShareOrigin, episode: &SharedEpisode) -> Vec<String> {
    let mut keys = told_keys(episode);
    if keys.is_empty() && !episode.project_name.is_empty() {
        keys.push(projects::name_of_member(from.member, &episode.project_name));
    }
    keys
}

/// The last name in a key.
fn name_in(key: &str) -> &str {
    key.rsplit(['/', ':']).next().unwrap_or(key)
}

fn is_embedded(db: &Connection, id: EpisodeId, model: &str) -> rusqlite::Result<bool> {
    db.prepare_cached(
        "SELECT 1 FROM episodes WHERE id = :id AND embedding_model = (SELECT id FROM embedding_models WHERE name = :model)",
    )?
    .exists(named_params! {":id": id, ":model": model})
}
