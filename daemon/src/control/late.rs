//! What was stored since somebody looked. In go the row up to which was looked and what stands in a list, out come ids as JSON; nothing of
//! it counts as a use.

use remembrancer_hooks::protocol::Narrowing;
use remembrancer_schema::{EpisodeId, Reader};
use serde_json::{Value, json};

use super::ControlError;
use super::looking::{filter, place};

/// Turns that are named at most.
const MOST: usize = 500;

/// Up to which row the store is filled.
///
/// # Errors
/// The store's error.
pub(crate) fn last_stored(reader: &Reader) -> Result<Value, ControlError> {
    Ok(reader.last_stored()?.0.into())
}

/// The turns that were stored behind row `after` and up to row `until`, and that belong no later than `newest`, a place that a list named.
///
/// # Errors
/// [`ControlError::Senseless`] for a place that none did; as [`filter`].
pub(crate) fn late(
    reader: &Reader,
    narrowing: &Narrowing,
    (after, until): (i64, i64),
    newest: &str,
) -> Result<Value, ControlError> {
    let (narrowed, newest) = (filter(reader, narrowing)?, place(newest)?);
    let rows = (EpisodeId(after), EpisodeId(until));
    let mut turns = reader.late_turns(&narrowed, rows, newest, MOST + 1)?;
    let more = turns.len() > MOST;
    turns.truncate(MOST);
    let ids: Vec<String> = turns.into_iter().map(|turn| turn.short()).collect();
    Ok(json!({"turns": ids, "more": more}))
}

#[cfg(test)]
mod tests {
    use remembrancer_schema::Writer;

    use super::*;
    use crate::sample_rows::{batch, turn};

    #[test]
    fn what_came_late_is_named_as_a_list_names_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store/memory.db");
        let mut writer = Writer::open(&path).unwrap();
        let reader = Reader::open(&path).unwrap();
        let (nobody, all) = (Narrowing::default(), remembrancer_hooks::protocol::TimelineRequest::default());
        assert_eq!(last_stored(&reader).unwrap(), 0);
        writer.ingest(&batch(vec![turn(5, "/home/ada/shop")])).unwrap();
        let newest = crate::control::timeline(&reader, &all).unwrap()["turns"][0]["place"].clone();
        let after = last_stored(&reader).unwrap().as_i64().unwrap();
        writer
            .ingest(&batch(vec![turn(3, "/home/ada/shop"), turn(9, "/home/ada/shop")]))
            .unwrap();
        let until = last_stored(&reader).unwrap().as_i64().unwrap();
        let told = late(&reader, &nobody, (after, until), newest.as_str().unwrap()).unwrap();
        let listed = crate::control::timeline(&reader, &all).unwrap();
        assert_eq!(told, json!({"turns": [listed["turns"][0]["id"]], "more": false}));
        assert!(late(&reader, &nobody, (after, until), "then").is_err());
    }
}
