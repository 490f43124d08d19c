//! Retention: turns that are old, or worth least where there is too much, leave the memory. Unlike the forgotten they are no
//! secret; like them they don't come back by reading.
//! In go turns, out come the episodes that went.

use rusqlite::{Connection, named_params};

use super::known::is_turn_pulled;
use super::{Writer, empty_log, forget};
use crate::error::QueryError;
use crate::ids::{EpisodeId, TurnUid};
use crate::units::UnixMillis;

impl Writer {
    /// Removes whole turns, and keeps them from coming back when their transcripts are read again; of which others alone told, from being
    /// pulled again, and no more. Gives the episodes that went. Their space is given back by [`Writer::give_back_space`].
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn retire(&mut self, turns: &[TurnUid], now: UnixMillis) -> Result<Vec<EpisodeId>, QueryError> {
        self.within("retire turns", |db| {
            let touched = forget::remove_turns(db, turns, |turn| {
                if is_turn_pulled(db, turn)? {
                    note_passed(db, turn)
                } else {
                    note_retired(db, turn, now)
                }
            })?;
            forget::tidy_emptied(db, &touched)?;
            Ok(touched.episodes)
        })
    }

    /// Makes the file smaller by what was removed from it: the index's segments become one, freed pages go.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn give_back_space(&mut self) -> Result<(), QueryError> {
        let failed = QueryError::at("give back space");
        self.scrub().map_err(&failed)?;
        // The file shrinks when its log is folded into it; a reader in the way delays that to the next time.
        empty_log(&self.db).map(drop).map_err(&failed)
    }
}

fn note_passed(db: &Connection, turn: TurnUid) -> rusqlite::Result<()> {
    db.prepare_cached("INSERT OR IGNORE INTO share_turns (turn_uid, what) VALUES (:turn, 'passed')")?
        .execute([turn])
        .map(drop)
}

fn note_retired(db: &Connection, turn: TurnUid, now: UnixMillis) -> rusqlite::Result<()> {
    db.prepare_cached("INSERT OR IGNORE INTO retired_turns (uid, retired_at) VALUES (:turn, :now)")?
        .execute(named_params! {":turn": turn, ":now": now})?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::testing::{Store, batch, turn, turn_uid};
    use crate::{Importance, TurnUid, UnixMillis};

    fn numbers(turns: &[TurnUid]) -> Vec<u8> {
        turns.iter().map(|turn| turn.0[0]).collect()
    }

    #[test]
    fn what_is_retired_does_not_come_back_and_gives_its_space_back() {
        let mut store = Store::new();
        let long = "lorem ipsum dolor ".repeat(2_000);
        let turns: Vec<_> = (0..60).map(|number| turn(number, "s", &[&long, "part two"])).collect();
        store.writer.ingest(&batch(turns.clone())).expect("stores");
        store.embed();
        let before = store.reader().space().expect("measures");
        let old = store.reader().turns_before(UnixMillis(50_000), 1_000).expect("finds");
        assert_eq!(numbers(&old), (0..50).collect::<Vec<u8>>(), "oldest first, each once");
        assert_eq!(store.reader().turns_before(UnixMillis(50_000), 3).expect("finds").len(), 3);
        assert_eq!(store.reader().count_turns_before(UnixMillis(50_000)).expect("counts"), 50);
        assert_eq!(store.writer.retire(&old, UnixMillis(9)).expect("retires").len(), 100);
        store.writer.give_back_space().expect("gives back");
        let after = store.reader().space().expect("measures");
        assert!(after.used < before.used / 3, "{before:?} {after:?}");
        let file = fs_err::metadata(&store.path).expect("is there").len();
        assert!(file < before.used / 3, "the file itself is smaller: {file}");

        let outcome = store.writer.ingest(&batch(turns)).expect("stores");
        assert_eq!((outcome.added, outcome.tombstoned, outcome.unchanged), (0, 100, 20));
        let stats = store.reader().stats().expect("counts");
        assert_eq!(
            (stats.episodes, stats.retired, stats.tombstones),
            (20, 50, 0),
            "counted apart from the forgotten"
        );
        assert_eq!(store.found("lorem").len(), 10);
        assert!(
            store
                .writer
                .retire(&[turn_uid(1)], UnixMillis(9))
                .expect("retires")
                .is_empty(),
            "twice is once"
        );
    }

    #[test]
    fn the_least_worth_goes_first() {
        let mut store = Store::new();
        let of = |number: u8, importance: Importance| {
            let mut turn = turn(number, "s", &["word"]);
            turn.episodes[0].importance = importance;
            turn
        };
        let turns = vec![
            of(1, Importance::High),
            of(2, Importance::Normal),
            of(3, Importance::Low),
            of(4, Importance::Low),
            of(5, Importance::Normal),
        ];
        store.writer.ingest(&batch(turns)).expect("stores");
        store.writer.record_use(store.id(2, 0), UnixMillis(1)).expect("counts");
        store.writer.record_use(store.id(3, 0), UnixMillis(1)).expect("counts");
        let order = store.reader().turns_of_least_worth(9).expect("finds");
        assert_eq!(
            numbers(&order),
            [4, 3, 5, 2, 1],
            "low before normal before high, unused before used, old before new"
        );
        assert_eq!(store.reader().turns_of_least_worth(2).expect("finds").len(), 2);
    }

    #[test]
    fn a_session_of_which_nothing_is_left_tells_nothing() {
        let mut store = Store::new();
        let mut pass = batch(vec![turn(1, "s", &["word"])]);
        pass.sessions.push(crate::SessionUpdate {
            session: crate::testing::session("s"),
            title: Some("About the word".to_owned()),
            compacted_at: None,
            started_at: None,
        });
        store.writer.ingest(&pass).expect("stores");
        store.writer.retire(&[turn_uid(1)], UnixMillis(9)).expect("retires");
        store.writer.ingest(&pass).expect("stores");
        let db = rusqlite::Connection::open(&store.path).expect("opens");
        let row: (Option<String>, Option<String>) = db
            .query_row("SELECT title, cwd FROM sessions", [], |row| Ok((row.get(0)?, row.get(1)?)))
            .expect("a session");
        assert_eq!(row, (None, None));
    }
}
