//! What the user decided of single turns, held against the rows that it changes: boosted episodes and no others count as important by
//! the user's word, each with what the rules said; facts are whole turns of one part; what is forgotten is steered no more.

use rusqlite::Connection;

use super::Faults;

/// A kind of contradiction, and the rows that are one.
const CHECKS: [(&str, &str); 6] = [
    (
        "a boosted turn has an episode that does not count as important",
        "SELECT episodes.id FROM steered_turns JOIN episodes ON episodes.turn_uid = steered_turns.turn_uid
         WHERE boosted_at IS NOT NULL AND NOT (importance = 2 AND importance_rule = 'boosted-by-user')",
    ),
    (
        "an episode counts as boosted, and its turn is not",
        "SELECT id FROM episodes WHERE importance_rule = 'boosted-by-user'
         AND turn_uid NOT IN (SELECT turn_uid FROM steered_turns WHERE boosted_at IS NOT NULL)",
    ),
    (
        "what the rules said of a boosted episode is not kept",
        "SELECT id FROM episodes WHERE importance_rule = 'boosted-by-user' AND id NOT IN (SELECT episode_id FROM boosted_episodes)",
    ),
    (
        "what the rules said is kept of an episode that is not boosted",
        "SELECT episode_id FROM boosted_episodes JOIN episodes ON id = episode_id WHERE episodes.importance_rule <> 'boosted-by-user'",
    ),
    (
        "a turn that was forgotten is steered",
        "SELECT 1 FROM steered_turns JOIN tombstones ON uid = turn_uid",
    ),
    (
        "a fact is no turn of one part with a text",
        "SELECT episodes.id FROM sessions JOIN episodes ON episodes.session_id = sessions.id
         JOIN episode_texts ON episode_texts.episode_id = episodes.id
         WHERE agent = 'user' AND external_id = 'remembered' AND generation <> -2
             AND NOT (part = 0 AND prompt <> '' AND importance_rule IN ('pinned', 'boosted-by-user'))",
    ),
];

pub(super) fn check(db: &Connection, faults: &mut Faults) -> rusqlite::Result<()> {
    for (fault, query) in CHECKS {
        let mut statement = db.prepare(query)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let id: i64 = row.get(0)?;
            faults.add("steering", format!("{fault}: {id}"));
        }
    }
    Ok(())
}
