//! What was stored lately, whatever its time: how far the store is filled, and the turns that were stored since but belong further back.
//! In go rows and a place, out come ids. It costs what was stored since, not what is stored.

use rusqlite::named_params;

use super::Reader;
use super::timeline::of_agent;
use crate::error::QueryError;
use crate::ids::{EpisodeId, EpisodeUid};
use crate::rows::{EpisodeFilter, TurnPlace};

/// The signs before the columns keep the rows' own order, by which alone few are looked at, the one that is chosen.
const LATE: &str = concat!(
    "SELECT uid FROM episodes WHERE id > :after AND id <= :until AND part = 0
        AND (+created_at < :at OR +created_at = :at AND id <= :id)
        AND +created_at >= :since AND +created_at < :end AND (:project IS NULL OR +project_id = :project) AND ",
    of_agent!(),
    " ORDER BY id LIMIT :limit"
);

impl Reader {
    /// The row that was stored last; 0 where there is none.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn last_stored(&self) -> Result<EpisodeId, QueryError> {
        self.run("see what was stored last", |db| {
            db.prepare_cached("SELECT max(id) FROM episodes")?
                .query_row([], |row| Ok(row.get::<_, Option<EpisodeId>>(0)?.unwrap_or(EpisodeId(0))))
        })
    }

    /// At most `limit` turns whose rows came behind `after` and no later than `until`, and which belong no later than `place`.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn late_turns(
        &self,
        filter: &EpisodeFilter,
        (after, until): (EpisodeId, EpisodeId),
        place: TurnPlace,
        limit: usize,
    ) -> Result<Vec<EpisodeUid>, QueryError> {
        self.run("find late turns", |db| {
            db.prepare_cached(LATE)?
                .query_map(
                    named_params! {":after": after, ":until": until, ":at": place.at, ":id": place.id, ":since": filter.first(),
                    ":end": filter.end(), ":project": filter.project, ":agent": filter.agent, ":limit": limit as i64},
                    |row| row.get(0),
                )?
                .collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::UnixMillis;
    use crate::testing::{Store, batch, in_project, turn, turn_uid};

    #[test]
    fn what_came_late_is_found_by_its_row_and_told_by_its_time() {
        let mut store = Store::new();
        assert_eq!(store.reader().last_stored().expect("reads"), EpisodeId(0));
        store
            .writer
            .ingest(&batch(vec![turn(5, "s", &["five"]), turn(7, "s", &["seven"])]))
            .expect("stores");
        let after = store.reader().last_stored().expect("reads");
        assert_eq!(after, store.id(7, 0));
        let newest = TurnPlace {
            at: UnixMillis(7_000),
            id: after,
        };
        let keys = ["k".to_owned()];
        let project = store
            .writer
            .resolve_project(&keys, "engine", None, UnixMillis(1))
            .expect("resolves");
        let later = vec![
            in_project(turn(3, "t", &["three", ""]), project),
            turn(6, "t", &["six"]),
            turn(9, "t", &["nine"]),
        ];
        store.writer.ingest(&batch(later)).expect("stores");
        let reader = store.reader();
        let until = reader.last_stored().expect("reads");
        let late = |filter: &EpisodeFilter, rows, limit| reader.late_turns(filter, rows, newest, limit).expect("finds");
        let (three, six) = (EpisodeUid::of(&turn_uid(3), 0), EpisodeUid::of(&turn_uid(6), 0));
        let all = EpisodeFilter::default();
        assert_eq!(
            late(&all, (after, until), 9),
            [three, six],
            "one a turn, and none that is newer"
        );
        assert_eq!(late(&all, (after, until), 1), [three]);
        assert_eq!(late(&all, (until, until), 9), []);
        assert_eq!(late(&all, (until, after), 9), [], "as after a forgetting");
        let of_project = EpisodeFilter {
            project: Some(project),
            ..EpisodeFilter::default()
        };
        assert_eq!(late(&of_project, (after, until), 9), [three]);
        let since = EpisodeFilter {
            since: Some(UnixMillis(4_000)),
            ..EpisodeFilter::default()
        };
        assert_eq!(late(&since, (after, until), 9), [six]);
        let other_agent = EpisodeFilter {
            agent: Some("codex".to_owned()),
            ..EpisodeFilter::default()
        };
        assert_eq!(late(&other_agent, (after, until), 9), []);
    }
}
