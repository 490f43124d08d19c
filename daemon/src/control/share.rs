//! What the store knows of the shared store: how far sharing is, who shared an episode, and the pause. A [`Reader`] or a [`Writer`]
//! comes in, JSON goes out. Nothing here reaches a network: what the running daemon knows beside that is added by whoever has it.

use std::collections::HashMap;

use remembrancer_hooks::hex;
use remembrancer_schema::{EpisodeId, FormerTeam, QueryError, Reader, ShareState, Writer};
use serde_json::{Value, json};

use super::ControlError;
use crate::whose::{name_of, shared_by_json};

/// How far sharing is, as far as the store knows; null where this memory is not shared.
///
/// # Errors
/// The store's error.
pub(crate) fn share_status(reader: &Reader) -> Result<Value, QueryError> {
    Ok(reader.share_state()?.as_ref().map_or(Value::Null, state_json))
}

fn state_json(state: &ShareState) -> Value {
    let by_project: Vec<Value> = state
        .by_project
        .iter()
        .map(|(project, sent, taken)| json!({"project": name_of(project), "sent": sent, "taken": taken}))
        .collect();
    let by_origin: Vec<Value> = state
        .by_origin
        .iter()
        .map(|(origin, taken)| {
            let mut told = shared_by_json(origin);
            told["taken"] = (*taken).into();
            told
        })
        .collect();
    json!({
        "store": state.team_key,
        "projects": state.allowed,
        "machine": hex(&state.machine),
        "member": state.member_login.as_deref().map(name_of),
        "paused": state.paused,
        "left": state.has_left,
        "waiting": state.outbox,
        "behind": state.head.saturating_sub(state.cursor).max(0),
        "sent": state.pushed,
        "taken": state.pulled,
        "by_project": by_project,
        "by_origin": by_origin,
        "put_out": state.is_put_out,
        "former": state.former.iter().map(former_json).collect::<Vec<_>>(),
    })
}

/// A team of before, and how much of this memory it still has.
fn former_json(former: &FormerTeam) -> Value {
    json!({"store": former.team_key, "sent": former.pushed})
}

/// Who shared each of these episodes; those that are this machine's own are not among them.
///
/// # Errors
/// The store's error.
pub(crate) fn shared_by(reader: &Reader, ids: &[EpisodeId]) -> Result<HashMap<EpisodeId, Value>, QueryError> {
    let origins = reader.shared_origin(ids)?;
    Ok(ids
        .iter()
        .filter_map(|id| Some((*id, shared_by_json(origins.get(id)?))))
        .collect())
}

/// Refuses what makes sense in a memory alone that is shared.
///
/// # Errors
/// [`ControlError::Senseless`], with what to do; the store's error.
pub(crate) fn refuse_unless_shared(reader: &Reader) -> Result<(), ControlError> {
    if reader.share_state()?.is_some() {
        return Ok(());
    }
    Err(ControlError::Senseless(
        "this memory is not shared yet: name the shared store by `share.url` in the settings (`remembrancer config edit`), and start the daemon"
            .to_owned(),
    ))
}

/// Stops sharing for now, or goes on with it. What is forgotten or taken back goes from the shared store in a pause, too.
///
/// # Errors
/// The store's error.
pub(crate) fn pause_sharing(writer: &mut Writer, paused: bool) -> Result<Value, ControlError> {
    writer.pause_sharing(paused)?;
    Ok(json!({ "sharing_paused": paused }))
}

/// Stops sharing: what others shared goes from the memory, and what this memory shared waits to be taken back, by the daemon.
///
/// # Errors
/// The store's error.
pub(crate) fn leave_sharing(writer: &mut Writer) -> Result<Value, ControlError> {
    let removed = writer.leave_sharing()?;
    Ok(json!({"sharing_paused": true, "removed": removed.len()}))
}

#[cfg(test)]
mod tests {
    use remembrancer_schema::ShareOrigin;

    use super::*;

    #[test]
    fn a_state_tells_what_waits_and_how_far_behind_it_is() {
        let bo = ShareOrigin {
            member: 4,
            member_login: "bo".to_owned(),
            machine: [1; 16],
            machine_name: "den".to_owned(),
        };
        let state = ShareState {
            active: true,
            team_key: "db.example:5432/memory#acme".to_owned(),
            allowed: vec!["*".to_owned()],
            machine: [0xab; 16],
            member: Some(3),
            member_login: Some("ada".to_owned()),
            cursor: 40,
            head: 52,
            paused: false,
            outbox: 3,
            pushed: 12,
            pulled: 7,
            by_project: vec![("app".to_owned(), 12, 4)],
            by_origin: vec![(bo, 7)],
            former: vec![FormerTeam {
                team_key: "db.example:5432/memory#old".to_owned(),
                pushed: 5,
            }],
            ..ShareState::default()
        };
        let told = state_json(&state);
        assert_eq!(told["behind"], 12);
        assert_eq!(
            (&told["waiting"], &told["sent"], &told["taken"]),
            (&json!(3), &json!(12), &json!(7))
        );
        assert_eq!(told["machine"], "ab".repeat(16));
        assert_eq!(told["by_project"], json!([{"project": "app", "sent": 12, "taken": 4}]));
        assert_eq!(told["by_origin"], json!([{"member": "bo", "machine": "den", "taken": 7}]));
        assert_eq!(told["former"], json!([{"store": "db.example:5432/memory#old", "sent": 5}]));
        assert_eq!((&told["put_out"], &told["left"]), (&json!(false), &json!(false)));
        // A server that was put back is behind what was seen of it.
        let back = ShareState {
            head: 10,
            is_put_out: true,
            has_left: true,
            ..state
        };
        let told = state_json(&back);
        assert_eq!(
            (&told["behind"], &told["put_out"], &told["left"]),
            (&json!(0), &json!(true), &json!(true))
        );
    }
}
