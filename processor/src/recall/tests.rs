//! Recall over a real store with vectors made by hand: the manual checks of seed 004 as tests, and the rules of the pool
//! and the gates.

mod legs;
mod order;
mod origin;
mod own_first;
mod page;
mod remote;
mod reranking;
mod silence;
mod since;
mod steering;
mod succession;
mod timely;
mod trace;

use std::path::Path;

use remembrancer_schema::{
    EmbeddedEpisode, EpisodeUid, Facets, Importance, IngestBatch, NewEpisode, Origin, ProjectRef, SourcePosition, SourceUpdate,
    TurnUid, TurnUpsert, Writer,
};
use tempfile::TempDir;

use super::*;

pub(super) const MODEL: &str = "by hand";
const DIMENSION: usize = 64;
pub(super) const NOW: UnixMillis = UnixMillis(1_790_000_000_000);
const DAY: i64 = 86_400_000;

/// A unit vector at `cosine` to the first axis, the rest of it along `axis`.
pub(super) fn vector(cosine: f32, axis: usize) -> Embedding {
    let mut values = vec![0.0; DIMENSION];
    values[0] = cosine;
    values[1 + axis % (DIMENSION - 1)] = (1.0 - cosine * cosine).sqrt();
    Embedding::from_unit(values)
}

/// The prompt's vector in these tests: the first axis.
pub(super) fn asked() -> Embedding {
    vector(1.0, 0)
}

pub(super) struct Store {
    folder: TempDir,
    writer: Writer,
    pub(super) codes: RwLock<CodeIndex>,
    turns: u32,
}

pub(super) struct Memory<'a> {
    pub(super) prompt: &'a str,
    pub(super) answer: &'a str,
    pub(super) age_days: i64,
    pub(super) importance: Importance,
    pub(super) session: &'a str,
    pub(super) project: &'a str,
    pub(super) facets: Facets,
    pub(super) vector: Option<Embedding>,
}

impl Default for Memory<'_> {
    fn default() -> Self {
        Self {
            prompt: "a prompt",
            answer: "an answer",
            age_days: 1,
            importance: Importance::Normal,
            session: "old",
            project: "shop",
            facets: Facets::default(),
            vector: None,
        }
    }
}

impl Store {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = Writer::open(&folder.path().join("memory.db")).unwrap();
        writer.set_embedding_model(MODEL, DIMENSION).unwrap();
        Self {
            folder,
            writer,
            codes: RwLock::new(CodeIndex::new(DIMENSION)),
            turns: 0,
        }
    }

    pub(super) fn project(&mut self, name: &str) -> ProjectId {
        self.writer
            .resolve_project(&[format!("cwd:/{name}")], name, None, NOW)
            .unwrap()
    }

    pub(super) fn remember(&mut self, memory: &Memory<'_>) -> EpisodeUid {
        self.turns += 1;
        let turn_uid = TurnUid(u128::from(self.turns).to_be_bytes());
        let uid = EpisodeUid::of(&turn_uid, 0);
        let project = self.project(memory.project);
        let episode = NewEpisode {
            uid,
            turn_uid,
            part: 0,
            turn: self.turns,
            origin: Origin::User,
            importance: memory.importance,
            importance_rule: "test".to_owned(),
            created_at: UnixMillis(NOW.0 - memory.age_days * DAY),
            prompt: memory.prompt.to_owned(),
            answer: memory.answer.to_owned(),
            facets: memory.facets.clone(),
        };
        let turn = TurnUpsert {
            turn_uid,
            session: key(memory.session),
            cwd: Some(format!("/{}", memory.project)),
            told_cwd: None,
            git_branch: None,
            project: Some(ProjectRef::Known(project)),
            episodes: vec![episode],
        };
        self.writer.ingest(&batch(turn)).unwrap();
        if let Some(vector) = &memory.vector {
            self.embed(uid, project, vector);
        }
        uid
    }

    fn embed(&mut self, uid: EpisodeUid, project: ProjectId, vector: &Embedding) {
        let reader = self.reader();
        let id = reader.find_episode(&uid.to_string()).unwrap()[0].id;
        let row = reader
            .embedding_backlog(MODEL, 10_000)
            .unwrap()
            .into_iter()
            .find(|row| row.id == id)
            .unwrap();
        let embedded = EmbeddedEpisode {
            id,
            content_hash: row.content_hash,
            vector: vector.as_slice().to_vec(),
        };
        self.writer.store_embeddings(MODEL, &[embedded]).unwrap();
        self.codes.get_mut().unwrap().insert(id, Some(project), &vector.bit_code());
    }

    /// `count` recent memories that have nothing to do with the prompt.
    pub(super) fn fill(&mut self, count: usize) {
        for number in 0..count {
            self.remember(&Memory {
                prompt: "how do I water the garden",
                answer: &format!("with a hose, answer {number}"),
                vector: Some(vector(-0.5, number)),
                ..Memory::default()
            });
        }
    }

    pub(super) fn reader(&self) -> Reader {
        Reader::open(&self.path()).unwrap()
    }

    fn path(&self) -> std::path::PathBuf {
        Path::new(self.folder.path()).join("memory.db")
    }

    fn ask(&mut self, prompt: &str) -> Recall {
        self.ask_with(prompt, &SessionState::default(), &by_the_seed(), &Ok(asked()))
    }

    fn ask_with(
        &mut self,
        prompt: &str,
        session: &SessionState,
        settings: &RecallSettings,
        embedding: &Result<Embedding, Degradation>,
    ) -> Recall {
        let question = question(prompt, Some(self.project("shop")));
        self.with_sources(embedding, |sources| {
            recall(
                &question,
                session,
                sources,
                settings,
                Deadline::after(Duration::from_secs(20)),
            )
        })
    }

    /// Calls `act` with all that a recall works with.
    fn with_sources<T>(&self, embedding: &Result<Embedding, Degradation>, act: impl FnOnce(Sources<'_>) -> T) -> T {
        let reader = self.reader();
        let mut source = |_| embedding.clone();
        act(Sources {
            reader: &reader,
            codes: &self.codes,
            model_id: MODEL,
            embedding: &mut source,
            remote: None,
            reranker: None,
            afterwards: None,
        })
    }
}

/// The settings as shipped, with the profile of seed 004: what ranks first can be told by hand.
fn by_the_seed() -> RecallSettings {
    RecallSettings {
        profile: UNION,
        ..RecallSettings::default()
    }
}

fn question(prompt: &str, project: Option<ProjectId>) -> Question {
    Question {
        session: key("now"),
        project,
        query: Query::of(prompt),
        logged_hash: [0; 32],
        header: Header {
            prompt_hash: "0".repeat(16),
            written: NOW,
        },
        now: NOW,
    }
}

fn key(session: &str) -> SessionKey {
    SessionKey {
        agent: "claude-code".to_owned(),
        external_id: session.to_owned(),
    }
}

fn batch(turn: TurnUpsert) -> IngestBatch {
    let position = SourcePosition::default();
    let source = SourceUpdate {
        agent: "claude-code".to_owned(),
        path: "/transcripts/t.jsonl".to_owned(),
        kind: "jsonl".to_owned(),
        device: 1,
        inode: 1,
        size: 0,
        mtime: NOW,
        position,
        generation: 0,
        whole: false,
        records_delta: 1,
        skipped_delta: 0,
        problems: Vec::new(),
    };
    IngestBatch {
        now: NOW,
        source,
        sessions: Vec::new(),
        turns: vec![turn],
        retire_older_generations: false,
    }
}

fn uids(recall: &Recall) -> Vec<EpisodeUid> {
    recall.recollections.iter().map(|chosen| chosen.episode.uid).collect()
}

const PROMPT: &str = "why does the flux capacitor overheat";
