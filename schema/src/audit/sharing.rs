//! What was shared, held against the rows that it is about: pulled episodes and no others have a mark of whose they are, nothing that
//! its member forgot is there, and nothing waits to be told where nobody is told anything.

use rusqlite::Connection;

use super::Faults;

/// A kind of contradiction, and the rows that are one.
const CHECKS: [(&str, &str); 7] = [
    (
        "a pulled episode has no mark of whose it is",
        "SELECT id FROM episodes WHERE generation = -2 AND id NOT IN (SELECT episode_id FROM shared_episodes)",
    ),
    (
        "an episode of one's own is marked as another's",
        "SELECT id FROM episodes WHERE generation <> -2 AND id IN (SELECT episode_id FROM shared_episodes)",
    ),
    (
        "a pulled episode has a transcript here",
        "SELECT id FROM episodes WHERE generation = -2 AND source_id IS NOT NULL",
    ),
    (
        "a pulled episode tells where it was made",
        "SELECT id FROM episodes JOIN episode_texts ON episode_id = id WHERE generation = -2 AND cwd IS NOT NULL",
    ),
    (
        "an episode is there that its member forgot",
        "SELECT id FROM episodes JOIN shared_episodes ON episode_id = id
         JOIN share_forgotten ON share_forgotten.turn_uid = episodes.turn_uid AND share_forgotten.member = shared_episodes.member",
    ),
    (
        "a change waits to be told, and nothing is shared",
        "SELECT change FROM share_outbox WHERE NOT EXISTS (SELECT 1 FROM share_target WHERE active = 1)",
    ),
    (
        "an episode waits twice to be told of",
        "SELECT max(change) FROM share_outbox GROUP BY uid HAVING count(*) > 1",
    ),
];

pub(super) fn check(db: &Connection, faults: &mut Faults) -> rusqlite::Result<()> {
    for (fault, query) in CHECKS {
        let mut statement = db.prepare(query)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let id: i64 = row.get(0)?;
            faults.add("sharing", format!("{fault}: {id}"));
        }
    }
    Ok(())
}
