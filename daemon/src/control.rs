//! What the user asks of the memory apart from recall: why, show, status, pause, exclude, forget. Each is a function over
//! a [`Reader`] or a [`Writer`] that gives JSON, used by the daemon's server and, where no daemon runs, by the command
//! line itself.

mod around;
mod audit;
mod came_from;
mod explain;
mod forget;
mod import;
mod late;
mod listing;
mod looking;
mod recall;
mod search;
mod share;
mod show;
mod stats;
mod steering;

use jiff::Timestamp;
use remembrancer_hooks::protocol;
use remembrancer_processor::ingest::{RULES, redact, redact_folder};
use remembrancer_processor::recall::{cut, shown};
use remembrancer_schema::{
    EpisodeText, InstructionFile, LoggedCandidate, Pause, QueryError, Reader, RedactionState, SHORTEST_PREFIX, SessionKey,
    USER_AGENT, UnixMillis, Writer,
};
use serde_json::{Value, json};

use crate::whose::Sharer;
use crate::{backups, drift, recovery};

pub(crate) use around::around;
pub(crate) use audit::audit;
pub(crate) use explain::{explain, explain_now, explanations, recall_of};
pub(crate) use forget::{forget, forget_preview, forget_target};
pub(crate) use import::{NAMES as IMPORT_OUTCOMES, import};
pub(crate) use late::{last_stored, late};
pub(crate) use listing::{sessions, timeline};
pub(crate) use looking::root_of;
pub(crate) use recall::{Offline, in_scope};
pub(crate) use search::{NOT_BY_MEANING, SearchSources, search, search_offline, to_embed};
pub(crate) use share::{leave_sharing, pause_sharing, refuse_unless_shared, share_status, shared_by};
pub(crate) use show::{session, show};
pub(crate) use stats::stats;
pub(crate) use steering::{
    MOST_FACT_CHARS, NewFact, is_gone, may_remember, refuse_if_paused, refuse_nowhere, remember, steer, steer_targets, steered,
};

/// The counter of what [`include`] asked for: that all transcripts are read again, since what was written under an exclusion
/// was passed over. Kept in the store, so that it is done though no daemon runs, or one is stopped meanwhile.
pub(crate) const REREADS_WANTED: &str = "rereads-wanted";
/// The counter of what was done of it.
pub(crate) const REREADS_DONE: &str = "rereads-done";

/// What can't be done, in words for the person who asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ControlError {
    /// The store's error.
    #[error(transparent)]
    Store(#[from] QueryError),
    /// A file could not be removed.
    #[error(transparent)]
    File(#[from] std::io::Error),
    /// What was found could not be written down.
    #[error(transparent)]
    Form(#[from] serde_json::Error),
    /// Nothing answers to that name or id.
    #[error("{0}")]
    Unknown(String),
    /// What was asked for makes no sense.
    #[error("{0}")]
    Senseless(String),
}

/// Why the last prompt (of `session`, if given: an agent's id of it) got what it got.
///
/// # Errors
/// [`ControlError`].
pub(crate) fn why(reader: &Reader, session: Option<&str>) -> Result<Value, ControlError> {
    let Some(logged) = reader.last_recollection(session)? else {
        return Err(ControlError::Unknown(match session {
            Some(session) => format!("no prompt of a session {session:?} has been answered"),
            None => "no prompt has been answered yet".to_owned(),
        }));
    };
    let log = logged.log;
    let ids: Vec<_> = log.candidates.iter().map(|candidate| candidate.episode).collect();
    let texts = reader.texts_with_hidden(&ids)?;
    let candidates: Vec<Value> = log
        .candidates
        .iter()
        .map(|candidate| candidate_json(candidate, texts.iter().find(|text| text.id == candidate.episode)))
        .collect();
    Ok(json!({
        "at": rfc3339(log.at),
        "session": redact(&log.session.external_id),
        "reason": log.reason,
        "terms": log.terms,
        "pool": log.pool,
        "stages": log.stages.iter().map(|(name, micros)| json!({"name": name, "micros": micros})).collect::<Vec<_>>(),
        "degradations": log.degradations,
        "candidates": candidates,
    }))
}

fn candidate_json(candidate: &LoggedCandidate, text: Option<&EpisodeText>) -> Value {
    json!({
        "id": text.map(|text| text.uid.short()),
        "date": text.map(|text| date(text.created_at)),
        "project": text.and_then(|text| text.project_name.as_deref().map(redact)),
        "asked": text.map(|text| first_line(&text.prompt)),
        "shared_by": text.and_then(|text| Sharer::of(text.shared_by.as_ref())),
        "score": candidate.fused,
        "ranks": {
            "bm25": candidate.bm25_rank,
            "vector": candidate.vector_rank,
            "recency": candidate.recency_rank,
            "access": candidate.access_rank,
        },
        "bm25": candidate.bm25,
        "cosine": candidate.cosine,
        "shown": candidate.position,
        "dropped": candidate.gate,
    })
}

/// The one episode whose id begins with `id`.
fn find(reader: &Reader, id: &str) -> Result<EpisodeText, ControlError> {
    if id.len() < SHORTEST_PREFIX || !id.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return Err(ControlError::Unknown(format!(
            "{id:?} is no id: one is given by its first {SHORTEST_PREFIX} hexadecimal digits or more"
        )));
    }
    let mut found = reader.find_episode(id)?;
    if found.len() > 1 && found.iter().any(|text| text.uid != found[0].uid) {
        let ids: Vec<String> = found.iter().map(|text| text.uid.to_string()).collect();
        return Err(ControlError::Unknown(format!(
            "{id} is the beginning of several ids: {}",
            ids.join(", ")
        )));
    }
    found
        .pop()
        .ok_or_else(|| ControlError::Unknown(format!("no episode's id begins with {id}")))
}

/// An episode as JSON.
pub(crate) fn episode_json(text: &EpisodeText) -> Value {
    json!({
        "id": text.uid.to_string(),
        "agent": text.agent,
        "session": text.session,
        "project": text.project_name,
        "cwd": text.cwd,
        "source": text.source,
        "at": rfc3339(text.created_at),
        "turn": text.turn,
        "part": text.part,
        "importance": text.importance.as_str(),
        "importance_rule": text.importance_rule,
        "prompt": text.prompt,
        "answer": text.answer,
        "facets": text.facets,
        "from_the_web": remembrancer_processor::recall::is_from_the_web(&text.facets),
        "shared_by": Sharer::of(text.shared_by.as_ref()),
    })
}

/// The longest pause with an end, in milliseconds: ten years. A longer one is meant to have none.
const LONGEST_PAUSE: i64 = 10 * 365 * 24 * 3_600_000;

/// The pause that ends at `until`, or by [`resume`] alone.
///
/// # Errors
/// [`ControlError::Senseless`] where that is past, or further off than ten years.
pub(crate) fn pause_until(until: Option<UnixMillis>, now: UnixMillis) -> Result<Pause, ControlError> {
    let makes_sense = |until: UnixMillis| (1..=LONGEST_PAUSE).contains(&until.0.saturating_sub(now.0));
    if until.is_none_or(makes_sense) {
        return Ok(until.map_or(Pause::Indefinite, Pause::Until));
    }
    Err(ControlError::Senseless(
        "a pause ends within ten years from now, or lasts until it is ended by `remembrancer resume`".to_owned(),
    ))
}

/// Stops remembering and recalling until `until`, or until [`resume`].
///
/// # Errors
/// As [`pause_until`]; the store's error.
pub(crate) fn pause(writer: &mut Writer, until: Option<UnixMillis>, now: UnixMillis) -> Result<Value, ControlError> {
    writer.set_paused(Some(pause_until(until, now)?))?;
    Ok(json!({"paused": true, "until": until.map(rfc3339)}))
}

/// Ends a pause.
///
/// # Errors
/// The store's error.
pub(crate) fn resume(writer: &mut Writer) -> Result<Value, ControlError> {
    writer.set_paused(None)?;
    Ok(json!({"paused": false}))
}

/// Keeps what happens below `path` out of the memory, and hides what is in it already.
///
/// # Errors
/// [`ControlError::Senseless`] where `path` is no whole path: an empty one would hide everything; the store's error.
pub(crate) fn exclude(writer: &mut Writer, path: &str, now: UnixMillis) -> Result<Value, ControlError> {
    if !std::path::Path::new(path).is_absolute() {
        return Err(ControlError::Senseless(format!(
            "{path:?} is no whole path of a folder, which begins with /"
        )));
    }
    let hidden = writer.exclude_path(&redact_folder(path), now)?;
    Ok(json!({"excluded": path, "hidden": hidden}))
}

/// Keeps a session out of the memory, and deletes what is in it already: nobody can let it in again by a command, so that what
/// was hidden would lie there for good. Gives how many episodes went.
///
/// # Errors
/// [`ControlError::Senseless`] for what the user had remembered, which no agent says; the store's error.
pub(crate) fn exclude_session(writer: &mut Writer, session: &SessionKey) -> Result<(Value, u64), ControlError> {
    if session.agent == USER_AGENT {
        return Err(ControlError::Senseless(
            "facts that you had remembered are no session of an agent; `remembrancer forget` takes them out".to_owned(),
        ));
    }
    let hidden = writer.exclude_session(session)?;
    // Also what an earlier try hid, and did not come to delete.
    let erased = hidden.max(writer.erase_excluded_session(session)?);
    Ok((json!({"excluded_session": session.external_id, "erased": erased}), erased))
}

/// Takes back an [`exclude`].
///
/// # Errors
/// [`ControlError::Unknown`] where no such folder is excluded by command; the store's error.
pub(crate) fn include(writer: &mut Writer, path: &str) -> Result<Value, ControlError> {
    let stored = redact_folder(path);
    if !writer.excludes_path(&stored)? {
        return Err(ControlError::Unknown(format!(
            "{path} was not excluded by a command; `remembrancer exclude --list` tells what is, and what the settings keep out"
        )));
    }
    writer.add_counter(REREADS_WANTED, 1)?;
    let restored = writer.include_path(&stored)?;
    Ok(json!({"included": path, "restored": restored}))
}

/// Keeps what of ours stands in a file of a project up to date from now on.
///
/// # Errors
/// The store's error.
pub(crate) fn instruct(writer: &mut Writer, file: protocol::InstructionFile, now: UnixMillis) -> Result<Value, ControlError> {
    let protocol::InstructionFile {
        path,
        folder,
        line,
        made,
        tracked,
    } = file;
    let file = InstructionFile {
        path,
        line,
        folder,
        made,
        tracked,
    };
    writer.add_instruction_file(&file, now)?;
    Ok(json!({"instructs": file.path}))
}

/// Takes back an [`instruct`]; the file is not touched.
///
/// # Errors
/// The store's error.
pub(crate) fn uninstruct(writer: &mut Writer, path: &str, line: Option<&str>) -> Result<Value, ControlError> {
    writer.remove_instruction_file(path, line)?;
    Ok(json!({"instructs_no_more": path}))
}

/// How many times all transcripts were to be read again and were not.
///
/// # Errors
/// The store's error.
pub(crate) fn open_rereads(reader: &Reader) -> Result<u64, QueryError> {
    let counters = reader.counters()?;
    let value = |name: &str| {
        counters
            .iter()
            .find(|(known, _)| known == name)
            .map_or(0, |(_, value)| *value)
    };
    Ok(value(REREADS_WANTED).saturating_sub(value(REREADS_DONE)))
}

/// What the store holds, for `status`.
///
/// # Errors
/// The store's error.
pub(crate) fn store_status(reader: &Reader, now: UnixMillis) -> Result<Value, ControlError> {
    let stats = reader.stats()?;
    let recovery = reader.recovery()?;
    let (passed_over, mut notices) = drift::status(&stats);
    notices.extend(recovery.as_ref().map(recovery::notice));
    let paused = reader.paused()?.filter(|pause| pause.holds_at(now)).map(described);
    Ok(json!({
        "sessions": stats.sessions,
        "projects": stats.projects,
        "episodes": stats.episodes,
        "hidden": stats.hidden,
        "embedded": stats.embedded,
        "embedding_backlog": stats.backlog,
        "transcripts": stats.sources,
        "transcripts_missing": stats.missing_sources,
        "records": stats.records,
        "skipped_lines": stats.skipped,
        "forgotten_turns": stats.tombstones,
        "muted_turns": stats.muted,
        "boosted_turns": stats.boosted,
        "remembered_facts": stats.remembered,
        "database_bytes": stats.db_bytes,
        "wal_bytes": stats.wal_bytes,
        "schema_version": stats.schema_version,
        "embedding_model": stats.model.map(|(id, _)| id),
        "redaction": redaction_status(&reader.redaction()?),
        "paused": paused,
        "sharing": share_status(reader)?,
        "excluded": reader.exclusions()?,
        "instructed": reader.instruction_files()?.into_iter().map(|file| file.path).collect::<Vec<_>>(),
        "backups": backups::status(reader.path()),
        "passed_over": passed_over,
        "notices": notices,
        "recovery": recovery,
        "problems_by_file": stats.problems.iter().map(|problem| json!({
            "file": redact_folder(&problem.path),
            "kind": problem.kind,
            "count": problem.count,
            "first_line": problem.first_line,
            "first_offset": problem.first_offset.0,
        })).collect::<Vec<_>>(),
    }))
}

/// How long a pause lasts.
pub(crate) fn described(pause: Pause) -> String {
    match pause {
        Pause::Indefinite => "until resumed".to_owned(),
        Pause::Until(until) => rfc3339(until),
    }
}

/// How far the rewriting of rows is that older rules of redaction let through; null where all are through.
fn redaction_status(state: &RedactionState) -> Value {
    if !state.is_behind(RULES.version) {
        return Value::Null;
    }
    let due = state.version.is_none_or(|version| version < RULES.version);
    let reached = state
        .under_way
        .filter(|(version, _)| *version == RULES.version)
        .map_or(0, |(_, id)| id.0);
    json!({
        "rules": RULES.version,
        "rows_under": state.version,
        "rewritten_to": if due { reached } else { state.last.0 },
        "last": state.last.0,
        "cleaned": !state.unscrubbed,
    })
}

/// A moment as RFC 3339 in UTC, to the second.
pub(crate) fn rfc3339(at: UnixMillis) -> String {
    format!("{:.0}", Timestamp::from_millisecond(at.0).unwrap_or(Timestamp::UNIX_EPOCH))
}

fn date(at: UnixMillis) -> String {
    Timestamp::from_millisecond(at.0)
        .unwrap_or(Timestamp::UNIX_EPOCH)
        .strftime("%Y-%m-%d")
        .to_string()
}

fn first_line(text: &str) -> String {
    first_line_within(text, 100)
}

/// The first line of a text that holds anything, fit to be shown, of at most so many characters.
fn first_line_within(text: &str, most: usize) -> String {
    let text = redact(text);
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    cut(&shown(line), most)
}
