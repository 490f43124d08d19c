//! The whole of one episode with its turn, its neighbours and where it came from; and the turns of a whole session.

use remembrancer_processor::ingest::{redact_episode, redact_folder};
use remembrancer_schema::{EpisodeId, EpisodeText, REMEMBERED_SESSION, Reader, SessionKey, TurnPlace, TurnRow, USER_AGENT};
use serde_json::{Value, json};

use super::came_from::CameFrom;
use super::listing::session_json;
use super::looking::{cursor, place, turn_json};
use super::{ControlError, date, episode_json, find};
use crate::whose::Sharer;

/// Bytes of text in a reply, beyond which the rest is left for another: JSON may write a byte in six, and a reply has four
/// megabytes at most.
const MOST_BYTES: usize = 512 * 1024;
/// Turns of a session in a reply at most.
const MOST_TURNS: usize = 200;

/// An episode that is shown.
pub(crate) struct ShownEpisode {
    /// What is told of it.
    pub value: Value,
    /// Its row: to look at it is to use it.
    pub id: EpisodeId,
    /// Where it came from.
    pub origin: CameFrom,
}

impl ShownEpisode {
    /// What is told of it, with how its transcript stands.
    pub(crate) fn with(mut self, transcript: Value) -> Value {
        self.value["transcript"] = transcript;
        self.value
    }
}

/// The whole of the episode whose id begins with `id`; looking at it counts as a use.
///
/// # Errors
/// [`ControlError`].
pub(crate) fn show(reader: &Reader, id: &str) -> Result<ShownEpisode, ControlError> {
    let mut text = find(reader, id)?;
    // The file's own name, which is stored as it is: where it is shown, it is redacted.
    let origin = CameFrom {
        agent: text.agent.clone(),
        path: text.source.clone(),
        turn: text.turn_uid,
    };
    let parts = redacted(reader, &reader.parts_of(&text.turn_uid)?)?;
    redact_episode(&mut text);
    let mut value = episode_json(&text);
    let turn = reader.turn(&text.turn_uid)?;
    let (previous, next) = match &turn {
        Some(turn) => reader.turns_beside(turn.place.id)?,
        None => (None, None),
    };
    let steered = reader.steered(text.id)?;
    value["muted"] = steered.muted_at.is_some().into();
    value["boosted"] = steered.boosted_at.is_some().into();
    let is_fact = text.agent == USER_AGENT && text.session == REMEMBERED_SESSION;
    value["remembered_on"] = is_fact.then(|| date(text.created_at)).into();
    value["origin"] = turn.as_ref().map(|turn| turn_json(turn)["origin"].clone()).into();
    value["hidden"] = turn.as_ref().map(|turn| turn.hidden).into();
    let shown = within_bounds(&parts);
    value["parts"] = parts[..shown].iter().map(part_json).collect();
    value["parts_left_out"] = (parts.len() - shown).into();
    value["neighbours"] = json!({
        "previous": previous.as_ref().map(turn_json),
        "next": next.as_ref().map(turn_json),
    });
    Ok(ShownEpisode {
        value,
        id: text.id,
        origin,
    })
}

/// How many of these texts fit into a reply; one does.
fn within_bounds(parts: &[EpisodeText]) -> usize {
    let mut bytes = 0;
    let fits = parts.iter().take_while(|part| {
        bytes += size(part);
        bytes <= MOST_BYTES
    });
    fits.count().max(1).min(parts.len())
}

fn size(text: &EpisodeText) -> usize {
    text.prompt.len() + text.answer.len()
}

fn part_json(part: &EpisodeText) -> Value {
    json!({
        "id": part.uid.short(),
        "part": part.part,
        "prompt": part.prompt,
        "answer": part.answer,
        "shared_by": Sharer::of(part.shared_by.as_ref()),
    })
}

fn redacted(reader: &Reader, ids: &[EpisodeId]) -> Result<Vec<EpisodeText>, ControlError> {
    let mut texts = reader.texts_with_hidden(ids)?;
    texts.iter_mut().for_each(redact_episode);
    Ok(texts)
}

/// The turns of a session in order and in full, from where an earlier reply ended: of the session with this id, or of that of the
/// episode whose id begins so. Counts as no use.
///
/// # Errors
/// [`ControlError`].
pub(crate) fn session(reader: &Reader, id: &str, after: Option<&str>) -> Result<Value, ControlError> {
    let key = session_key(reader, id)?;
    let from = after.map_or(Ok(TurnPlace::FIRST), place)?;
    let rows = reader.session_turns(&key, from, MOST_TURNS + 1)?;
    let mut turns = Vec::new();
    let mut bytes = 0;
    for row in rows.iter().take(MOST_TURNS) {
        let parts = redacted(reader, &reader.parts_of(&row.turn_uid)?)?;
        bytes += parts.iter().map(size).sum::<usize>();
        if bytes > MOST_BYTES && !turns.is_empty() {
            break;
        }
        turns.push(whole_turn(row, &parts));
    }
    let more = turns.len() < rows.len();
    let last = turns.len().checked_sub(1).map(|last| cursor(rows[last].place));
    let told = reader.session(&key)?;
    Ok(json!({
        "session": told.as_ref().map_or_else(|| json!({"id": key.external_id, "agent": key.agent}), session_json),
        "turns": turns,
        "next": last.filter(|_| more),
    }))
}

fn session_key(reader: &Reader, id: &str) -> Result<SessionKey, ControlError> {
    let mut called = reader.sessions_called(id)?;
    match (called.pop(), called.is_empty()) {
        (Some(one), true) => Ok(one),
        (Some(_), false) => Err(ControlError::Unknown(format!(
            "several agents have a session of the id {id}; name it by the id of one of its episodes"
        ))),
        (None, _) => {
            let text = find(reader, id).map_err(|error| match error {
                ControlError::Unknown(_) => {
                    ControlError::Unknown(format!("no session has the id {id}, and no episode's id begins with it"))
                }
                other => other,
            })?;
            Ok(SessionKey {
                agent: text.agent,
                external_id: text.session,
            })
        }
    }
}

/// A turn with all that is stored of its text: what was asked, and what came of it in all its parts.
fn whole_turn(row: &TurnRow, parts: &[EpisodeText]) -> Value {
    let mut value = turn_json(row);
    let shown = within_bounds(parts);
    let answers: Vec<&str> = parts[..shown].iter().map(|part| part.answer.as_str()).collect();
    value["prompt"] = parts.first().map(|part| part.prompt.as_str()).into();
    value["answer"] = answers.join("\n\n").into();
    value["cwd"] = parts.first().and_then(|part| part.cwd.as_deref()).map(redact_folder).into();
    value["parts_left_out"] = (parts.len() - shown).into();
    // A turn is told as another's where any part of it is.
    let mut sharers = parts[..shown].iter().filter_map(|part| Sharer::of(part.shared_by.as_ref()));
    if let Some(sharer) = sharers.find(|sharer| !sharer.own) {
        value["shared_by"] = json!(sharer);
    }
    value
}

#[cfg(test)]
mod tests;
