//! What an audit asks of the store: texts that several turns have, what was never shown, what was shown most, what is muted, and all
//! texts, a page at a time.
//! In go bounds, out come ids and counts. Not for the prompt's path: each of these reads every row.

use rusqlite::{Row, named_params};

use super::Reader;
use crate::error::QueryError;
use crate::ids::{EpisodeId, TurnUid};
use crate::rows::{Duplicates, EpisodeText, Listed, Usage};
use crate::units::UnixMillis;

/// Hidden ones are out of every recall, and those of one turn go together.
const BY_TEXT: &str =
    "SELECT content_hash, id, turn_uid FROM episodes WHERE hidden = 0 ORDER BY content_hash, created_at DESC, id DESC";
const NEVER_SHOWN: &str = "SELECT id FROM episodes
    WHERE hidden = 0 AND shown_count = 0 AND access_count = 0 AND created_at < :before ORDER BY created_at, id";
const MOST_SHOWN: &str = "SELECT id, shown_count, access_count FROM episodes
    WHERE hidden = 0 AND shown_count > 0 ORDER BY shown_count DESC, access_count DESC, id LIMIT :limit";
const MOST_USED: &str = "SELECT id, shown_count, access_count FROM episodes
    WHERE hidden = 0 AND access_count > 0 ORDER BY access_count DESC, shown_count, id LIMIT :limit";
const SHOWN_IN_VAIN: &str = "SELECT id FROM episodes
    WHERE hidden = 0 AND shown_count >= :least AND access_count = 0 ORDER BY shown_count DESC, id";
const PAGE: &str = "SELECT id FROM episodes WHERE id < :below ORDER BY id DESC LIMIT :limit";
/// The first part of each muted turn, the one muted last first.
const MUTED: &str =
    "SELECT episodes.id FROM steered_turns JOIN episodes ON episodes.turn_uid = steered_turns.turn_uid AND part = 0
    WHERE muted_at IS NOT NULL ORDER BY muted_at DESC, episodes.id";

impl Reader {
    /// Texts that episodes of several turns have, the `most` that have the largest number of them with their episodes, at most
    /// `of_each` of them.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn duplicates(&self, most: usize, of_each: usize) -> Result<Duplicates, QueryError> {
        self.run("find texts that are there twice", |db| {
            let mut found = Found::new(most, of_each);
            let mut statement = db.prepare_cached(BY_TEXT)?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                found.add(row.get(0)?, row.get(1)?, row.get(2)?);
            }
            Ok(found.done())
        })
    }

    /// What was neither shown nor used and began before `before`, oldest first.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn never_shown(&self, before: UnixMillis, limit: usize) -> Result<Listed, QueryError> {
        self.run("find what was never shown", |db| {
            let mut statement = db.prepare_cached(NEVER_SHOWN)?;
            let ids = statement.query_map(named_params! {":before": before}, |row| row.get(0))?;
            listed(ids, limit)
        })
    }

    /// What was shown at least `least` times and never used, most often first.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn shown_in_vain(&self, least: u64, limit: usize) -> Result<Listed, QueryError> {
        self.run("find what was shown in vain", |db| {
            let mut statement = db.prepare_cached(SHOWN_IN_VAIN)?;
            let ids = statement.query_map(named_params! {":least": least as i64}, |row| row.get(0))?;
            listed(ids, limit)
        })
    }

    /// What was shown most often, most first.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn most_shown(&self, limit: usize) -> Result<Vec<Usage>, QueryError> {
        self.usage("find what was shown most", MOST_SHOWN, limit)
    }

    /// What was used most often, most first.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn most_used(&self, limit: usize) -> Result<Vec<Usage>, QueryError> {
        self.usage("find what was used most", MOST_USED, limit)
    }

    /// What the user muted, the latest first.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn muted(&self, limit: usize) -> Result<Listed, QueryError> {
        self.run("find what is muted", |db| {
            let mut statement = db.prepare_cached(MUTED)?;
            listed(statement.query_map([], |row| row.get(0))?, limit)
        })
    }

    /// At most `limit` episodes in full, hidden ones too, whose ids are below `below`, the highest first: a page of all texts.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn texts_below(&self, below: EpisodeId, limit: usize) -> Result<Vec<EpisodeText>, QueryError> {
        let ids: Vec<EpisodeId> = self.run("read a page of ids", |db| {
            db.prepare_cached(PAGE)?
                .query_map(named_params! {":below": below, ":limit": limit as i64}, |row| row.get(0))?
                .collect()
        })?;
        self.texts_with_hidden(&ids)
    }

    fn usage(&self, act: &'static str, sql: &str, limit: usize) -> Result<Vec<Usage>, QueryError> {
        let read = |row: &Row<'_>| {
            Ok(Usage {
                episode: row.get(0)?,
                shown: row.get::<_, i64>(1)? as u64,
                used: row.get::<_, i64>(2)? as u64,
            })
        };
        self.run(act, |db| {
            db.prepare_cached(sql)?
                .query_map(named_params! {":limit": limit as i64}, read)?
                .collect()
        })
    }
}

/// Counts all, and keeps the first `limit`.
fn listed(ids: impl Iterator<Item = rusqlite::Result<EpisodeId>>, limit: usize) -> rusqlite::Result<Listed> {
    let mut listed = Listed::default();
    for id in ids {
        listed.count += 1;
        let id = id?;
        if listed.first.len() < limit {
            listed.first.push(id);
        }
    }
    Ok(listed)
}

/// Gathers episodes by text, which come one text after another.
struct Found {
    most: usize,
    of_each: usize,
    hash: Option<[u8; 32]>,
    /// The present text's, and of which turn the first of them is.
    ids: Vec<EpisodeId>,
    turn: Option<TurnUid>,
    has_other_turn: bool,
    texts: u64,
    copies: Vec<EpisodeId>,
    /// The largest so far, largest first.
    largest: Vec<(usize, Vec<EpisodeId>)>,
}

impl Found {
    fn new(most: usize, of_each: usize) -> Self {
        Self {
            most,
            of_each,
            hash: None,
            ids: Vec::new(),
            turn: None,
            has_other_turn: false,
            texts: 0,
            copies: Vec::new(),
            largest: Vec::new(),
        }
    }

    fn add(&mut self, hash: [u8; 32], id: EpisodeId, turn: TurnUid) {
        if self.hash != Some(hash) {
            self.close();
            self.hash = Some(hash);
            self.turn = Some(turn);
        }
        self.has_other_turn |= self.turn != Some(turn);
        self.ids.push(id);
    }

    /// Ends the present text.
    fn close(&mut self) {
        let mut ids = std::mem::take(&mut self.ids);
        if !std::mem::take(&mut self.has_other_turn) {
            return;
        }
        self.texts += 1;
        self.copies.extend_from_slice(&ids[1..]);
        let count = ids.len();
        ids.truncate(self.of_each);
        let place = self.largest.partition_point(|(larger, _)| *larger >= count);
        if place < self.most {
            self.largest.insert(place, (count, ids));
            self.largest.truncate(self.most);
        }
    }

    fn done(mut self) -> Duplicates {
        self.close();
        self.copies.sort_unstable();
        Duplicates {
            texts: self.texts,
            most: self.largest.into_iter().map(|(_, ids)| ids).collect(),
            copies: self.copies,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Store;
    use crate::{EpisodeId, UnixMillis};

    const ALL: EpisodeId = EpisodeId(i64::MAX);

    #[test]
    fn texts_of_several_turns_are_found_the_most_frequent_first() {
        let mut store = Store::new();
        let ids = store.fill(&["a", "b", "a", "c", "b", "a"]);
        let found = store.reader().duplicates(10, 10).expect("reads");
        assert_eq!((found.texts, found.copies.len()), (2, 3));
        assert_eq!(found.most, [vec![ids[5], ids[2], ids[0]], vec![ids[4], ids[1]]]);
        assert_eq!(found.copies, [ids[0], ids[1], ids[2]], "all but the newest of each");
        let bounded = store.reader().duplicates(1, 2).expect("reads");
        assert_eq!((bounded.texts, bounded.copies.len()), (2, 3), "what is not listed is counted");
        assert_eq!(bounded.most, [vec![ids[5], ids[2]]]);
    }

    #[test]
    fn what_is_hidden_or_of_one_turn_is_no_duplicate() {
        let mut store = Store::new();
        let twice = crate::testing::turn(1, "s", &["a", "a"]);
        store.writer.ingest(&crate::testing::batch(vec![twice])).expect("stores");
        assert_eq!(
            store.reader().duplicates(10, 10).expect("reads").texts,
            0,
            "parts of one turn"
        );
        store.fill(&["b", "b"]);
        assert_eq!(store.reader().duplicates(10, 10).expect("reads").texts, 1);
        store.writer.exclude_path("/home/ada", UnixMillis(1)).expect("excludes");
        assert_eq!(store.reader().duplicates(10, 10).expect("reads").texts, 0, "hidden");
    }

    #[test]
    fn what_was_used_is_told_from_what_never_was() {
        let mut store = Store::new();
        let ids = store.fill(&["a", "b", "c"]);
        for _ in 0..2 {
            store.writer.record_use(ids[1], UnixMillis(9_000)).expect("counts");
        }
        store.writer.record_use(ids[2], UnixMillis(9_000)).expect("counts");
        let reader = store.reader();
        let used: Vec<_> = reader
            .most_used(10)
            .expect("reads")
            .iter()
            .map(|one| (one.episode, one.used))
            .collect();
        assert_eq!(used, [(ids[1], 2), (ids[2], 1)]);
        assert_eq!(reader.most_used(1).expect("reads").len(), 1);
        let never = reader.never_shown(UnixMillis(i64::MAX), 10).expect("reads");
        assert_eq!((never.count, &never.first[..]), (1, &ids[..1]));
        assert_eq!(reader.never_shown(UnixMillis(0), 10).expect("reads").count, 0, "younger");
        assert_eq!(reader.shown_in_vain(1, 10).expect("reads").count, 0);
        assert_eq!(reader.most_shown(10).expect("reads"), []);
    }

    #[test]
    fn all_texts_are_paged_through_newest_first() {
        let mut store = Store::new();
        let ids = store.fill(&["a", "b", "c"]);
        let reader = store.reader();
        let page = |below, limit| -> Vec<EpisodeId> {
            let texts = reader.texts_below(below, limit).expect("reads");
            texts.into_iter().map(|text| text.id).collect()
        };
        assert_eq!(page(ALL, 2), [ids[2], ids[1]]);
        assert_eq!(page(ids[1], 2), [ids[0]]);
        assert_eq!(page(ids[0], 2), []);
    }
}
