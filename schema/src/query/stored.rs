//! All that is stored of episodes, for an export.
//! In go ids, out come whole episodes in the order of the ids, hidden ones too; an id that is gone is left out.

use rusqlite::{Connection, OptionalExtension, Row, named_params};

use super::Reader;
use super::steering::{project_keys, steered};
use crate::error::QueryError;
use crate::ids::EpisodeId;
use crate::rows::{EpisodeText, Steered, StoredEpisode};
use crate::units::UnixMillis;

const REST: &str = "SELECT origin, episode_texts.git_branch, updated_at, accessed_at, access_count, shown_count, hidden,
        embedding_models.name, projects.root, sessions.title
    FROM episodes
    JOIN sessions ON sessions.id = episodes.session_id
    LEFT JOIN projects ON projects.id = episodes.project_id
    JOIN episode_texts ON episode_texts.episode_id = episodes.id
    LEFT JOIN embedding_models ON embedding_models.id = episodes.embedding_model
    WHERE episodes.id = :id";
/// Those of this store's own showings, and those that an import brought.
const USES: &str = "SELECT at, evidence FROM recollection_uses
    JOIN recollections ON recollections.id = recollection_uses.recollection_id
    WHERE episode_id = :id
    UNION ALL SELECT at, evidence FROM imported_uses WHERE episode_id = :id
    ORDER BY 1, 2";
const COPIES: &str = "SELECT external_id FROM session_copies
    JOIN sessions ON sessions.id = session_copies.session_id
    WHERE episode_id = :id ORDER BY external_id";

impl Reader {
    /// All that is stored of these episodes, hidden ones too: for the user, never to answer a prompt.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn stored(&self, ids: &[EpisodeId]) -> Result<Vec<StoredEpisode>, QueryError> {
        let texts = self.texts_with_hidden(ids)?;
        self.run("read all of episodes", |db| {
            let mut stored = Vec::with_capacity(texts.len());
            for text in texts {
                stored.extend(stored_episode(db, text)?);
            }
            Ok(stored)
        })
    }
}

/// `None` where it went meanwhile.
fn stored_episode(db: &Connection, text: EpisodeText) -> rusqlite::Result<Option<StoredEpisode>> {
    let id = text.id;
    let hangs_on = HangsOn {
        uses: all(db, USES, id, |row| Ok((row.get(0)?, row.get(1)?)))?,
        also_in: all(db, COPIES, id, |row| row.get(0))?,
        project_keys: text
            .project
            .map(|project| project_keys(db, project))
            .transpose()?
            .unwrap_or_default(),
        steered: steered(db, id)?,
    };
    db.prepare_cached(REST)?
        .query_row(named_params! {":id": id}, |row| read(row, text, hangs_on))
        .optional()
}

/// What stands in other rows than the episode's own.
struct HangsOn {
    uses: Vec<(UnixMillis, String)>,
    also_in: Vec<String>,
    project_keys: Vec<String>,
    steered: Steered,
}

fn read(row: &Row<'_>, text: EpisodeText, hangs_on: HangsOn) -> rusqlite::Result<StoredEpisode> {
    let HangsOn {
        uses,
        also_in,
        project_keys,
        steered,
    } = hangs_on;
    Ok(StoredEpisode {
        text,
        origin: row.get(0)?,
        git_branch: row.get(1)?,
        updated_at: row.get(2)?,
        accessed_at: row.get(3)?,
        access_count: row.get::<_, i64>(4)? as u64,
        shown_count: row.get::<_, i64>(5)? as u64,
        hidden: row.get(6)?,
        embedding_model: row.get(7)?,
        uses,
        also_in,
        project_keys,
        project_root: row.get(8)?,
        session_title: row.get(9)?,
        steered,
    })
}

fn all<T>(db: &Connection, sql: &str, id: EpisodeId, read: fn(&Row<'_>) -> rusqlite::Result<T>) -> rusqlite::Result<Vec<T>> {
    db.prepare_cached(sql)?.query_map(named_params! {":id": id}, read)?.collect()
}

#[cfg(test)]
mod tests {
    use crate::testing::{MODEL, Store, batch, session, turn};
    use crate::{LoggedCandidate, Origin, RecollectionLog, RecollectionUse, TurnUpsert, UnixMillis};

    #[test]
    fn all_that_is_stored_is_told() {
        let mut store = Store::new();
        let original = turn(1, "s", &["one", "two"]);
        let copy = TurnUpsert {
            session: session("fork"),
            ..original.clone()
        };
        store.writer.ingest(&batch(vec![original, copy])).expect("stores");
        store.embed();
        let ids = [store.id(1, 1), store.id(1, 0)];
        let shown = LoggedCandidate {
            episode: ids[0],
            fused: 1.0,
            bm25: None,
            cosine: None,
            bm25_rank: None,
            vector_rank: None,
            recency_rank: None,
            access_rank: None,
            gate: None,
            position: Some(1),
        };
        let log = RecollectionLog {
            at: UnixMillis(7_000),
            session: session("asks"),
            project: None,
            prompt_hash: [0; 32],
            terms: Vec::new(),
            reason: None,
            pool: 1,
            stages: Vec::new(),
            degradations: Vec::new(),
            candidates: vec![shown],
        };
        let recollection = store.writer.record_recollection(&log).expect("logs");
        let used = RecollectionUse {
            recollection,
            episode: ids[0],
            evidence: "words".to_owned(),
        };
        store
            .writer
            .record_recollection_uses(&[used], UnixMillis(8_000))
            .expect("counts");
        store.writer.exclude_session(&session("nobody")).expect("excludes");

        let stored = store
            .reader()
            .stored(&[ids[0], crate::EpisodeId(999), ids[1]])
            .expect("reads");
        let prompts: Vec<&str> = stored.iter().map(|episode| episode.text.prompt.as_str()).collect();
        assert_eq!(prompts, ["two", "one"], "in the order asked for, without what is gone");
        let two = &stored[0];
        assert_eq!((two.access_count, two.shown_count, two.hidden), (1, 1, false));
        assert_eq!(two.uses, [(UnixMillis(7_000), "words".to_owned())]);
        assert_eq!((two.accessed_at, two.origin), (UnixMillis(8_000), Origin::User));
        assert_eq!(
            (&two.also_in[..], two.embedding_model.as_deref()),
            (&["fork".to_owned()][..], Some(MODEL))
        );
        assert_eq!((stored[1].access_count, stored[1].uses.len()), (0, 0));

        store.writer.exclude_path("/home/ada", UnixMillis(1)).expect("excludes");
        let stored = store.reader().stored(&ids).expect("reads");
        assert!(
            stored
                .iter()
                .all(|episode| episode.hidden && episode.embedding_model.is_none())
        );
    }
}
