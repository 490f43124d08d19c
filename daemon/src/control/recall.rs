//! Recall where no daemon runs: over a [`Reader`] alone, by words alone unless there is a model, and without a trace.

use std::sync::RwLock;
use std::time::Duration;

use remembrancer_hooks::protocol::RecallRequest;
use remembrancer_hooks::recollection_file::{prompt_hash, prompt_hash_hex};
use remembrancer_processor::Deadline;
use remembrancer_processor::embed::{BertEmbedder, Embed};
use remembrancer_processor::recall::{
    CodeIndex, Degradation, Header, Query, Question, Recall, RecallSettings, ScopeRule, SessionState, Sources, recall,
};
use remembrancer_schema::{QueryError, Reader, SessionKey};

use crate::clock;
use crate::exclusions::Exclusions;
use crate::project::Folders;
use crate::reason::Reason;

/// Time for a recall: nobody waits to type.
const PATIENCE: Duration = Duration::from_secs(30);

/// With what a recall is made where no daemon runs.
pub(crate) struct Offline<'a> {
    /// The store.
    pub reader: &'a Reader,
    /// The model, if the prompt is to be embedded.
    pub model: Option<&'a BertEmbedder>,
    /// How recalls are made.
    pub settings: &'a RecallSettings,
    /// What the settings keep out.
    pub exclusions: Exclusions,
    /// Finds the project of the folder.
    pub folders: Folders,
}

impl Offline<'_> {
    /// What `request` would be reminded of, or why nothing is recalled here and now: as the daemon does.
    ///
    /// # Errors
    /// The store's error.
    pub(crate) fn recall(&self, request: &RecallRequest) -> Result<Result<Recall, Reason>, QueryError> {
        let now = clock::now();
        let session = SessionKey {
            agent: request.agent.clone(),
            external_id: request.session.clone(),
        };
        if self.reader.paused()?.is_some_and(|pause| pause.holds_at(now)) {
            return Ok(Err(Reason::Paused));
        }
        let real = |cwd: &str| self.folders.real(cwd, PATIENCE);
        if self
            .exclusions
            .cover_prompt(self.reader, &session, request.cwd.as_deref(), real)?
        {
            return Ok(Err(Reason::Excluded));
        }
        let project = match &request.cwd {
            Some(cwd) => self.folders.project(self.reader, cwd, PATIENCE)?,
            None => None,
        };
        let question = Question {
            session,
            project,
            query: Query::of(&request.prompt),
            logged_hash: [0; 32],
            header: Header {
                prompt_hash: prompt_hash_hex(&prompt_hash(&request.session, &request.prompt)),
                written: now,
            },
            now,
        };
        Ok(Ok(self.ask(&question, request.all_projects)?))
    }

    fn ask(&self, question: &Question, all_projects: bool) -> Result<Recall, QueryError> {
        let mut codes = CodeIndex::new(self.model.map_or(0, Embed::dimension));
        if self.model.is_some() {
            self.reader
                .for_each_code(|id, project, code| codes.insert(id, project, code))?;
        }
        let model = self.model;
        let sources = Sources {
            reader: self.reader,
            codes: &RwLock::new(codes),
            model_id: model.map_or("", |model| model.model_id()),
            embedding: &mut |_| match model {
                None => Err(Degradation::NoModel),
                Some(model) => model
                    .embed_query(&question.query.text)
                    .map_err(|_| Degradation::EmbeddingFailed),
            },
            remote: None,
            reranker: None,
            afterwards: None,
        };
        let settings = in_scope(self.settings, all_projects);
        let deadline = Deadline::after(PATIENCE);
        Ok(recall(question, &SessionState::default(), sources, &settings, deadline))
    }
}

/// `settings`, or with `all_projects` the same over all projects alike.
pub(crate) fn in_scope(settings: &RecallSettings, all_projects: bool) -> RecallSettings {
    let settings = settings.clone();
    let scope = if all_projects { ScopeRule::All } else { settings.scope };
    RecallSettings { scope, ..settings }
}
