//! What a request to forget names in a store, what it would delete, and the deleting.

use std::path::Path;

use remembrancer_hooks::protocol::ForgetTarget as Target;
use remembrancer_processor::ingest::{kept_folder, redact, redact_folder};
use remembrancer_schema::{EpisodeId, ForgetTarget, QueryError, Reader, TargetedEpisode, TurnUid, UnixMillis, Writer};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::looking::{named, several};
use super::{ControlError, date, find, first_line, rfc3339};
use crate::paths;
use crate::project::{Folders, LOOK_PATIENCE};
use crate::whose::{Sharer, sharers_json};

/// Turns that a preview shows.
const SHOWN: usize = 5;

/// What `target` names in this store.
///
/// # Errors
/// [`ControlError::Unknown`] where it names nothing; the store's error.
pub(crate) fn forget_target(reader: &Reader, target: Target) -> Result<ForgetTarget, ControlError> {
    Ok(match target {
        Target::Episode(id) => ForgetTarget::Episode(find(reader, &id)?.uid.to_string()),
        Target::Session(external_id) if !reader.knows_session(&external_id)? => {
            return Err(ControlError::Unknown(format!("no session has the id {external_id}")));
        }
        Target::Session(external_id) => ForgetTarget::Session {
            agent: None,
            external_id,
        },
        Target::Path(path) => by_path(reader, &path)?,
        Target::Matching(words) => ForgetTarget::Matching(words),
        Target::After(at) => ForgetTarget::After(UnixMillis(at)),
        Target::Before(at) => ForgetTarget::Before(UnixMillis(at)),
        Target::AllOf(targets) if targets.is_empty() => {
            return Err(ControlError::Senseless("a target of no targets names nothing".to_owned()));
        }
        Target::AllOf(targets) => {
            let named = targets.into_iter().map(|target| forget_target(reader, target));
            ForgetTarget::AllOf(named.collect::<Result<_, _>>()?)
        }
        Target::All => ForgetTarget::All,
        Target::Project(name) => {
            let all = reader.projects()?;
            match named(&all, &name)[..] {
                [project] => ForgetTarget::Project(project),
                [] => {
                    return Err(ControlError::Unknown(format!(
                        "no project is named {name:?}, or has that root"
                    )));
                }
                [_, _, ..] => return Err(several(&name, &all)),
            }
        }
    })
}

/// What happened in or below `path`, by all names that are stored of it.
fn by_path(reader: &Reader, path: &str) -> Result<ForgetTarget, QueryError> {
    let mut named = vec![ForgetTarget::Path(path.to_owned())];
    // Working folders are stored without the secrets in their names, the paths of transcripts as they are.
    let stored = redact_folder(path).into_owned();
    // Older rows have folders as the transcripts have them, and so has what was stored while the file system did not answer.
    let known = reader.working_folders()?;
    let is_below = |folder: &str, above: &str| Path::new(folder).starts_with(above);
    let others: Vec<String> = known.into_iter().filter(|folder| !is_below(folder, &stored)).collect();
    let above = path.to_owned();
    let other_names = Folders::default().within(LOOK_PATIENCE, move || {
        let leads_below = |folder: &String| {
            let plain = kept_folder(folder).unwrap_or_else(|| folder.clone());
            let plain = Path::new(&plain);
            let leads_there = || paths::resolved(plain).is_ok_and(|real| real.starts_with(&above));
            plain.starts_with(&above) || plain.is_absolute() && leads_there()
        };
        others.into_iter().filter(leads_below).collect::<Vec<_>>()
    });
    if stored != path {
        named.push(ForgetTarget::Path(stored));
    }
    named.extend(other_names.into_iter().flatten().map(ForgetTarget::Path));
    Ok(match named.pop() {
        Some(only) if named.is_empty() => only,
        last => ForgetTarget::AnyOf(named.into_iter().chain(last).collect()),
    })
}

/// What [`forget`] would delete: how much, from when, and the first lines of the newest turns; and a digest by which the same turns are
/// known again.
///
/// # Errors
/// The store's error.
pub(crate) fn forget_preview(reader: &Reader, target: &ForgetTarget) -> Result<(Value, [u8; 32]), ControlError> {
    let episodes = reader.turns_of(target)?;
    // All parts of a turn follow each other.
    let turns: Vec<&TargetedEpisode> = episodes
        .chunk_by(|one, other| one.turn_uid == other.turn_uid)
        .filter_map(<[_]>::first)
        .collect();
    let mut sessions: Vec<_> = episodes.iter().map(|episode| episode.session).collect();
    sessions.sort_unstable();
    sessions.dedup();
    let ids: Vec<EpisodeId> = turns.iter().take(SHOWN).map(|episode| episode.id).collect();
    let first: Vec<Value> = reader
        .texts_with_hidden(&ids)?
        .iter()
        .map(|text| {
            json!({
                "id": text.uid.short(),
                "date": date(text.created_at),
                "project": text.project_name.as_deref().map(redact),
                "asked": first_line(&text.prompt),
                "shared_by": Sharer::of(text.shared_by.as_ref()),
            })
        })
        .collect();
    let uids: Vec<TurnUid> = turns.iter().map(|turn| turn.turn_uid).collect();
    let sharers = reader.sharers_of(&uids)?;
    let preview = json!({
        "episodes": episodes.len(),
        "turns": turns.len(),
        "sessions": sessions.len(),
        "from": turns.last().map(|turn| rfc3339(turn.created_at)),
        "to": turns.first().map(|turn| rfc3339(turn.created_at)),
        "newest": first,
        "shared": sharers_json(&sharers.others),
        "shared_on": sharers.shared_on,
    });
    Ok((preview, digest_of(&turns)))
}

/// A digest of which turns these are, whatever their order.
fn digest_of(turns: &[&TargetedEpisode]) -> [u8; 32] {
    let mut uids: Vec<String> = turns.iter().map(|turn| turn.turn_uid.to_string()).collect();
    uids.sort_unstable();
    Sha256::digest(uids.join("\n").as_bytes()).into()
}

/// Deletes what `target` names, for good.
///
/// # Errors
/// The store's error.
pub(crate) fn forget(writer: &mut Writer, target: &ForgetTarget, now: UnixMillis) -> Result<Value, ControlError> {
    let forgotten = writer.forget(target, now)?;
    // A reader in the middle of a query keeps the log's bytes; it is done in a moment. One more try and not many, since each
    // may hold the one writer for the whole busy timeout: the rest is upkeep's. What was forgotten is, either way.
    let log_emptied = forgotten.log_emptied || writer.finish_forgetting().unwrap_or(false);
    Ok(json!({
        "forgotten": forgotten.episodes,
        "turns": forgotten.turn_uids.len(),
        "shared": sharers_json(&forgotten.sharers.others),
        "shared_on": forgotten.sharers.shared_on,
        "log_emptied": log_emptied,
        "set_aside_removed": forgotten.set_aside_removed,
    }))
}
