//! The turns of a session that stand around one of them. In goes an episode's id, out come a few lines; nothing of it counts as a use.

use remembrancer_schema::{Reader, TurnRow};
use serde_json::{Value, json};

use super::ControlError;
use super::listing::turn_of;
use super::looking::turn_json;

/// Turns on either side.
const EITHER_SIDE: usize = 3;

/// The turn of the episode whose id begins with `id`, and those of its session just before and after it, earliest first.
///
/// # Errors
/// Where there is no such episode, or several; the store's error.
pub(crate) fn around(reader: &Reader, id: &str) -> Result<Value, ControlError> {
    let turn = turn_of(reader, id)?;
    let mut before = beside(reader, &turn, |(previous, _)| previous)?;
    before.reverse();
    let after = beside(reader, &turn, |(_, next)| next)?;
    let turns: Vec<Value> = before.iter().chain([&turn]).chain(&after).map(turn_json).collect();
    Ok(json!({"around": turn.uid.short(), "turns": turns}))
}

/// The turns on one side, the nearest first.
fn beside(
    reader: &Reader,
    turn: &TurnRow,
    side: impl Fn((Option<TurnRow>, Option<TurnRow>)) -> Option<TurnRow>,
) -> Result<Vec<TurnRow>, ControlError> {
    let mut found: Vec<TurnRow> = Vec::new();
    while found.len() < EITHER_SIDE {
        let nearest = found.last().unwrap_or(turn).place.id;
        match side(reader.turns_beside(nearest)?) {
            Some(next) => found.push(next),
            None => break,
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use remembrancer_schema::Writer;

    use super::*;
    use crate::sample_rows::{batch, turn};

    #[test]
    fn a_turn_stands_among_those_of_its_session() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store/memory.db");
        let mut writer = Writer::open(&path).unwrap();
        let reader = Reader::open(&path).unwrap();
        writer
            .ingest(&batch((1..=9).map(|number| turn(number, "/home/ada/shop")).collect()))
            .unwrap();
        let all = crate::control::timeline(&reader, &remembrancer_hooks::protocol::TimelineRequest::default()).unwrap();
        let ids: Vec<&str> = all["turns"]
            .as_array()
            .unwrap()
            .iter()
            .map(|turn| turn["id"].as_str().unwrap())
            .collect();
        for (asked, expected) in [(4, 1..8), (0, 0..4), (8, 5..9)] {
            let found = around(&reader, ids[asked]).unwrap();
            let found: Vec<&str> = found["turns"]
                .as_array()
                .unwrap()
                .iter()
                .map(|turn| turn["id"].as_str().unwrap())
                .collect();
            assert_eq!(found, ids[expected]);
        }
        assert!(around(&reader, "ffffffff").is_err());
    }
}
