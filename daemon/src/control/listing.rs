//! The lists of what there is: turns by time, and sessions. Each is a page of a bounded number of lines, and tells where the next
//! begins; nothing of it counts as shown or used.

use remembrancer_hooks::protocol::{SessionsRequest, TimelineRequest};
use remembrancer_processor::ingest::redact;
use remembrancer_schema::{EpisodeFilter, Reader, SessionRow, TurnPlace, TurnRow};
use serde_json::{Value, json};

use super::looking::{bounded, cursor, filter, line, place, turn_json};
use super::{ControlError, find, rfc3339};
use crate::whose::Sharer;

/// Turns on a page, where nothing else is asked for.
const TURNS: usize = 50;
/// Turns on a page at most: little more than a megabyte.
const MOST_TURNS: usize = 500;
/// Sessions on a page, where nothing else is asked for.
const SESSIONS: usize = 20;
/// Sessions on a page at most.
const MOST_SESSIONS: usize = 200;

/// Some turns in order, and whether there are more on either side.
struct Page {
    /// Earliest first.
    turns: Vec<TurnRow>,
    older: Option<TurnPlace>,
    newer: Option<TurnPlace>,
}

/// Turns by time, earliest first: the latest of all, or those before or after a place, or around a turn.
///
/// # Errors
/// [`ControlError::Senseless`] where more than one of these is asked for; as [`filter`] and [`find`].
pub(crate) fn timeline(reader: &Reader, request: &TimelineRequest) -> Result<Value, ControlError> {
    let narrowed = filter(reader, &request.narrowing)?;
    let limit = bounded(request.limit, TURNS, MOST_TURNS);
    let mut around = None;
    let page = match (&request.before, &request.after, &request.around) {
        (None, None, None) => older(reader, &narrowed, TurnPlace::LAST, limit)?,
        (Some(before), None, None) => {
            let place = place(before)?;
            Page {
                newer: Some(place),
                ..older(reader, &narrowed, place, limit)?
            }
        }
        (None, Some(after), None) => {
            let place = place(after)?;
            Page {
                older: Some(place),
                ..newer(reader, &narrowed, place, limit)?
            }
        }
        (None, None, Some(id)) => {
            let turn = turn_of(reader, id)?;
            around = Some(turn.uid.short());
            beside(reader, &narrowed, turn, limit)?
        }
        _ => {
            return Err(ControlError::Senseless(
                "a page is before a place, after one, or around a turn: only one of these".to_owned(),
            ));
        }
    };
    // A place before or after which there was something is where its turns are now.
    let ends =
        |asked: Option<TurnPlace>, turn: Option<&TurnRow>| asked.map(|place| cursor(turn.map_or(place, |turn| turn.place)));
    Ok(json!({
        "turns": page.turns.iter().map(turn_json).collect::<Vec<_>>(),
        "around": around,
        "older": ends(page.older, page.turns.first()),
        "newer": ends(page.newer, page.turns.last()),
    }))
}

/// The turn of the episode whose id begins with `id`.
pub(super) fn turn_of(reader: &Reader, id: &str) -> Result<TurnRow, ControlError> {
    let episode = find(reader, id)?;
    reader
        .turn(&episode.turn_uid)?
        .ok_or_else(|| ControlError::Unknown(format!("no episode's id begins with {id}")))
}

fn older(reader: &Reader, filter: &EpisodeFilter, place: TurnPlace, limit: usize) -> Result<Page, ControlError> {
    let mut turns = reader.older_turns(filter, place, limit + 1)?;
    let more = turns.len() > limit;
    turns.truncate(limit);
    turns.reverse();
    Ok(Page {
        older: more.then_some(place),
        newer: None,
        turns,
    })
}

fn newer(reader: &Reader, filter: &EpisodeFilter, place: TurnPlace, limit: usize) -> Result<Page, ControlError> {
    let mut turns = reader.newer_turns(filter, place, limit + 1)?;
    let more = turns.len() > limit;
    turns.truncate(limit);
    Ok(Page {
        newer: more.then_some(place),
        older: None,
        turns,
    })
}

/// A turn, whatever narrows the rest, in the middle of its page.
fn beside(reader: &Reader, filter: &EpisodeFilter, turn: TurnRow, limit: usize) -> Result<Page, ControlError> {
    let (place, rest) = (turn.place, limit - 1);
    let after = newer(reader, filter, place, rest / 2)?;
    let before = older(reader, filter, place, rest - rest / 2)?;
    let mut turns = before.turns;
    turns.push(turn);
    turns.extend(after.turns);
    Ok(Page {
        turns,
        older: before.older,
        newer: after.newer,
    })
}

/// Sessions, the one last at work first.
///
/// # Errors
/// As [`filter`]; [`ControlError::Senseless`] for a place that no reply named.
pub(crate) fn sessions(reader: &Reader, request: &SessionsRequest) -> Result<Value, ControlError> {
    let narrowed = filter(reader, &request.narrowing)?;
    let limit = bounded(request.limit, SESSIONS, MOST_SESSIONS);
    let from = request.before.as_deref().map_or(Ok(TurnPlace::LAST), place)?;
    let mut sessions = reader.sessions_before(&narrowed, from, limit + 1)?;
    let more = sessions.len() > limit;
    sessions.truncate(limit);
    Ok(json!({
        "sessions": sessions.iter().map(session_json).collect::<Vec<_>>(),
        "older": sessions.last().filter(|_| more).map(|session| cursor(session.last)),
    }))
}

/// A session as it stands in a list.
pub(super) fn session_json(session: &SessionRow) -> Value {
    json!({
        "id": session.session.external_id,
        "agent": session.session.agent,
        "project": session.project_name.as_deref().map(redact),
        "title": session.title.as_deref().map(line),
        "begin": rfc3339(session.begin),
        "end": rfc3339(session.end),
        "turns": session.turns,
        "hidden": session.hidden,
        "asked": session.first_prompt.as_deref().map(line),
        "shared_by": Sharer::of(session.shared_by.as_ref()),
    })
}

#[cfg(test)]
mod tests;
