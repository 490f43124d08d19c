//! Builders for this crate's tests: a store in a folder of its own, and batches with sensible contents.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::{
    ByteOffset, EmbeddedEpisode, EpisodeId, EpisodeUid, Facets, FieldWeights, FreshCopy, Importance, IngestBatch,
    MatchExpression, NewEpisode, Origin, ProjectId, ProjectRef, Reader, Scope, SessionKey, SourcePosition, SourceUpdate, TurnUid,
    TurnUpsert, UnixMillis, Writer, query_terms,
};

/// A model of eight dimensions.
pub(crate) const MODEL: &str = "test-model";

/// An open store and the folder that goes with it.
pub(crate) struct Store {
    pub(crate) writer: Writer,
    pub(crate) path: PathBuf,
    _folder: TempDir,
}

impl Store {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("store/memory.db");
        Self {
            writer: Writer::open(&path).expect("opens"),
            path,
            _folder: folder,
        }
    }

    pub(crate) fn reader(&self) -> Reader {
        Reader::open(&self.path).expect("opens for reading")
    }

    /// Writes a whole copy of it.
    pub(crate) fn copy_to(&self, target: &Path) {
        FreshCopy::make(&self.path, target, &mut |_| ControlFlow::Continue(()))
            .and_then(|copy| copy.put_at(target))
            .expect("copies");
    }

    /// Ids of the episodes that hold any word of `text`, best first.
    pub(crate) fn found(&self, text: &str) -> Vec<EpisodeId> {
        match MatchExpression::any_of(&query_terms(text, 64), Scope::All) {
            Some(expression) => self
                .reader()
                .bm25(&expression, FieldWeights::EQUAL, 50)
                .expect("searches")
                .hits
                .into_iter()
                .map(|(id, _)| id)
                .collect(),
            None => Vec::new(),
        }
    }

    /// Stores one turn a prompt, each of one part, and gives their ids.
    pub(crate) fn fill(&mut self, prompts: &[&str]) -> Vec<EpisodeId> {
        let turns = prompts
            .iter()
            .enumerate()
            .map(|(number, prompt)| turn(number as u8, "s", &[prompt]))
            .collect();
        self.writer.ingest(&batch(turns)).expect("stores");
        (0..prompts.len()).map(|number| self.id(number as u8, 0)).collect()
    }

    /// The id of a part of turn `number`.
    pub(crate) fn id(&self, number: u8, part: u32) -> EpisodeId {
        let uid = EpisodeUid::of(&turn_uid(number), part).to_string();
        self.reader()
            .find_episode(&uid)
            .expect("reads")
            .first()
            .expect("is stored")
            .id
    }

    /// Gives every waiting episode a vector; the first eight bits of its id are the signs.
    pub(crate) fn embed(&mut self) -> Vec<EpisodeId> {
        self.writer.set_embedding_model(MODEL, 8).expect("sets the model");
        let rows: Vec<EmbeddedEpisode> = self
            .reader()
            .embedding_backlog(MODEL, usize::MAX >> 1)
            .expect("reads")
            .into_iter()
            .map(|row| EmbeddedEpisode {
                id: row.id,
                content_hash: row.content_hash,
                vector: vector(row.id),
            })
            .collect();
        self.writer.store_embeddings(MODEL, &rows).expect("stores")
    }
}

pub(crate) fn vector(id: EpisodeId) -> Vec<f32> {
    (0..8).map(|bit| if id.0 >> bit & 1 == 1 { 0.5 } else { -0.5 }).collect()
}

pub(crate) fn turn_uid(number: u8) -> TurnUid {
    TurnUid([number; 16])
}

pub(crate) fn session(id: &str) -> SessionKey {
    SessionKey {
        agent: "claude-code".to_owned(),
        external_id: id.to_owned(),
    }
}

/// A turn whose parts have these prompts; it began at second `number`.
pub(crate) fn turn(number: u8, session_id: &str, prompts: &[&str]) -> TurnUpsert {
    let episode = |(part, prompt): (usize, &&str)| NewEpisode {
        uid: EpisodeUid::of(&turn_uid(number), part as u32),
        turn_uid: turn_uid(number),
        part: part as u32,
        turn: u32::from(number),
        origin: Origin::User,
        importance: Importance::Normal,
        importance_rule: "default".to_owned(),
        created_at: UnixMillis(i64::from(number) * 1_000),
        prompt: (*prompt).to_owned(),
        answer: "done".to_owned(),
        facets: Facets::default(),
    };
    TurnUpsert {
        turn_uid: turn_uid(number),
        session: session(session_id),
        cwd: Some("/home/ada/engine".to_owned()),
        told_cwd: None,
        git_branch: Some("main".to_owned()),
        project: None,
        episodes: prompts.iter().enumerate().map(episode).collect(),
    }
}

pub(crate) fn in_project(mut turn: TurnUpsert, project: ProjectId) -> TurnUpsert {
    turn.project = Some(ProjectRef::Known(project));
    turn
}

pub(crate) fn source(path: &str) -> SourceUpdate {
    SourceUpdate {
        agent: "claude-code".to_owned(),
        path: path.to_owned(),
        kind: "jsonl".to_owned(),
        device: 1,
        inode: u64::MAX,
        size: 100,
        mtime: UnixMillis(5),
        position: SourcePosition {
            read_offset: ByteOffset(100),
            read_line: 4,
            committed_offset: ByteOffset(50),
            committed_line: 2,
            committed_turn: 1,
            parser_state: Some("{}".to_owned()),
            prefix_hash: [1; 32],
            prefix_len: 100,
            tail_hash: [2; 32],
            tail_len: 100,
        },
        generation: 0,
        whole: false,
        records_delta: 4,
        skipped_delta: 0,
        problems: Vec::new(),
    }
}

pub(crate) fn batch(turns: Vec<TurnUpsert>) -> IngestBatch {
    IngestBatch {
        now: UnixMillis(1_000_000),
        source: source("/home/ada/.claude/projects/engine/s.jsonl"),
        sessions: Vec::new(),
        turns,
        retire_older_generations: false,
    }
}
