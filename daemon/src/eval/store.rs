//! A judged set in a store of its own: ingested, embedded and opened for recall as the daemon does it, in a folder that is
//! thrown away.

use std::collections::{BTreeMap, HashMap};
use std::sync::RwLock;

use remembrancer_processor::embed::{Embed, passage};
use remembrancer_processor::eval::dataset::Dataset;
use remembrancer_processor::ingest::episodes;
use remembrancer_processor::recall::CodeIndex;
use remembrancer_schema::{
    EmbeddedEpisode, IngestBatch, ProjectId, ProjectRef, Reader, SessionKey, SourcePosition, SourceUpdate, TurnUid, TurnUpsert,
    UnixMillis, Writer,
};
use tempfile::TempDir;

use super::documents;
use super::error::EvalError;
use super::vectors::Vectors;

/// The agent in whose name a set is stored.
pub(super) const AGENT: &str = "eval";

/// Episodes embedded in one step.
const STEP: usize = 2_048;

/// A set, ready to be asked.
pub(crate) struct EvalStore {
    pub(crate) reader: Reader,
    pub(crate) codes: RwLock<CodeIndex>,
    pub(crate) model_id: String,
    /// How many documents are no memory by the rules of ingest: they can't be found.
    pub(crate) not_memory: usize,
    projects: BTreeMap<String, ProjectId>,
    documents: HashMap<TurnUid, usize>,
    _folder: TempDir,
}

impl EvalStore {
    /// Stores all documents of `dataset`; `progress` is told how many episodes are left to embed.
    ///
    /// # Errors
    /// What the store, the model or the file system reports.
    pub(crate) fn build(
        dataset: &Dataset,
        model: &dyn Embed,
        vectors: &mut Vectors<'_>,
        progress: &mut dyn FnMut(usize),
    ) -> Result<Self, EvalError> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("memory.db");
        let mut writer = Writer::open(&path)?;
        writer.set_embedding_model(model.model_id(), model.dimension())?;
        let projects = projects(&mut writer, dataset)?;
        let turns = turns(dataset, &projects);
        let not_memory = turns.iter().filter(|turn| turn.episodes.is_empty()).count();
        writer.ingest(&batch(turns))?;
        let reader = Reader::open(&path)?;
        embed(&mut writer, &reader, model, vectors, progress)?;
        let mut codes = CodeIndex::new(model.dimension());
        reader.for_each_code(|id, project, code| codes.insert(id, project, code))?;
        let documents = dataset.documents.iter().enumerate();
        Ok(Self {
            reader,
            codes: RwLock::new(codes),
            model_id: model.model_id().to_owned(),
            not_memory,
            projects,
            documents: documents
                .map(|(index, document)| (documents::turn_uid(&document.id), index))
                .collect(),
            _folder: folder,
        })
    }

    /// The project called `name` in the set.
    pub(crate) fn project(&self, name: Option<&str>) -> Option<ProjectId> {
        name.and_then(|name| self.projects.get(name)).copied()
    }

    /// The document whose turn this is.
    pub(crate) fn document(&self, turn: &TurnUid) -> Option<usize> {
        self.documents.get(turn).copied()
    }
}

fn projects(writer: &mut Writer, dataset: &Dataset) -> Result<BTreeMap<String, ProjectId>, EvalError> {
    let mut projects = BTreeMap::new();
    for name in dataset.documents.iter().filter_map(|document| document.project.as_ref()) {
        if !projects.contains_key(name) {
            let id = writer.resolve_project(&[format!("eval:{name}")], name, None, UnixMillis(0))?;
            projects.insert(name.clone(), id);
        }
    }
    Ok(projects)
}

fn turns(dataset: &Dataset, projects: &BTreeMap<String, ProjectId>) -> Vec<TurnUpsert> {
    let mut ordinals: HashMap<&str, u32> = HashMap::new();
    dataset
        .documents
        .iter()
        .map(|document| {
            let session = documents::session(document);
            let ordinal = ordinals.entry(session).or_default();
            let turn = documents::turn(document, *ordinal);
            *ordinal += 1;
            TurnUpsert {
                turn_uid: turn.uid,
                session: SessionKey {
                    agent: AGENT.to_owned(),
                    external_id: session.to_owned(),
                },
                cwd: None,
                told_cwd: None,
                git_branch: None,
                project: document
                    .project
                    .as_ref()
                    .and_then(|name| projects.get(name))
                    .copied()
                    .map(ProjectRef::Known),
                episodes: episodes(&turn),
            }
        })
        .collect()
}

fn batch(turns: Vec<TurnUpsert>) -> IngestBatch {
    IngestBatch {
        now: UnixMillis(0),
        source: SourceUpdate {
            agent: AGENT.to_owned(),
            path: "/eval".to_owned(),
            kind: "set".to_owned(),
            device: 0,
            inode: 0,
            size: 0,
            mtime: UnixMillis(0),
            position: SourcePosition::default(),
            generation: 0,
            whole: false,
            records_delta: 0,
            skipped_delta: 0,
            problems: Vec::new(),
        },
        sessions: Vec::new(),
        turns,
        retire_older_generations: false,
    }
}

fn embed(
    writer: &mut Writer,
    reader: &Reader,
    model: &dyn Embed,
    vectors: &mut Vectors<'_>,
    progress: &mut dyn FnMut(usize),
) -> Result<(), EvalError> {
    let waiting = reader.embedding_backlog(model.model_id(), usize::MAX >> 1)?;
    let mut left = waiting.len();
    for step in waiting.chunks(STEP) {
        let texts: Vec<String> = step.iter().map(|row| passage(&row.prompt, &row.answer, row.part)).collect();
        let rest = left - step.len();
        vectors.learn(&texts, &mut |of_step| progress(rest + of_step))?;
        left = rest;
        let rows: Vec<EmbeddedEpisode> = step
            .iter()
            .zip(&texts)
            .filter_map(|(row, text)| {
                Some(EmbeddedEpisode {
                    id: row.id,
                    content_hash: row.content_hash,
                    vector: vectors.of(text)?.to_vec(),
                })
            })
            .collect();
        writer.store_embeddings(model.model_id(), &rows)?;
    }
    Ok(())
}
