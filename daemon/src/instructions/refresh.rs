//! Writes the blocks of instruction files anew: what fits the last prompt of the project that has an answer, found by the path of a
//! prompt, of this project alone. On the thread for what may wait, one project after the other, and in bounded time each: a folder
//! may lie on a file system that hangs. A file is written only where its text becomes another.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use remembrancer_processor::Deadline;
use remembrancer_processor::recall::{
    Header, Query, Question, RecallSettings, ScopeRule, SessionState, Sources, recall, standing_block,
};
use remembrancer_schema::{EpisodeText, InstructionFile, ProjectId, QueryError, Reader, SessionKey};
use tokio_util::sync::CancellationToken;

use super::due::{Due, Which};
use super::{Refusal, as_ours, failures, file, git, nothing};
use crate::causes::with_causes;
use crate::clock;
use crate::codes::SharedCodes;
use crate::embedder::{EmbedderHandle, ModelState};
use crate::exclusions::Exclusions;
use crate::progress::Progress;
use crate::project::{Folders, UNKNOWN};
use crate::store::{NoAnswer, StoreHandle};

/// In whose name it is asked; nothing of it is logged.
const ASKER: &str = "instructions";
/// Prompts that are tried, the latest first, until one is answered: the last may have been thanks.
const PROMPTS: usize = 5;
/// Time for one recall: nobody waits for it, but others wait for the thread.
const RECALL_PATIENCE: Duration = Duration::from_secs(1);
/// Time for the file system to tell of a project's folder, and to write a file in it.
const FOLDER_PATIENCE: Duration = Duration::from_millis(500);
const FILE_PATIENCE: Duration = Duration::from_secs(2);

/// Why a file could not be brought up to date.
#[derive(Debug, thiserror::Error)]
enum RefreshError {
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error("{path}: its file system does not answer")]
    Hangs { path: String },
}

/// When a file is written anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Occasion {
    /// A turn has ended.
    Turn,
    /// Something left the memory, and must leave the files whatever else holds.
    Removal,
}

/// Keeps instruction files up to date.
#[derive(Clone)]
pub(crate) struct Refresher {
    /// A reader for what may wait.
    pub background: StoreHandle<Reader>,
    /// The model.
    pub embedder: EmbedderHandle,
    /// The codes of all embedded episodes.
    pub codes: SharedCodes,
    /// How recalls are made.
    pub settings: Arc<RecallSettings>,
    /// What the settings keep out.
    pub exclusions: Exclusions,
    /// Finds the projects of folders, and reaches their files: apart from those of prompts, which are not to wait for these.
    pub folders: Arc<Folders>,
    /// Where to say what happens.
    pub progress: Arc<Progress>,
    /// Whose files are to be written anew.
    pub due: Arc<Due>,
    /// The user.
    pub uid: u32,
    /// Held from the look into the store to the last file, so that no older text is written after a newer one.
    pub one_at_a_time: Arc<tokio::sync::Mutex<()>>,
}

impl Refresher {
    /// Writes what is due until `shutdown`; all of it at first, once the model can tell what fits.
    pub(crate) async fn run(self, shutdown: CancellationToken) {
        let work = async {
            self.embedder.loaded().await;
            self.due.all();
            loop {
                self.due.ready().await;
                let _alone = self.one_at_a_time.lock().await;
                if let Some(which) = self.due.take_ready() {
                    self.refresh_unless_paused(which).await;
                }
            }
        };
        tokio::select! {
            biased;
            () = shutdown.cancelled() => {}
            () = work => {}
        }
    }

    /// Writes now whatever is due, though a turn may go on.
    pub(crate) async fn catch_up(&self) {
        let _alone = self.one_at_a_time.lock().await;
        if let Some(which) = self.due.take_early() {
            self.refresh_unless_paused(which).await;
        }
    }

    /// The file at `path` is the user's alone again: waits until nothing is written to it any more.
    pub(crate) async fn let_go(&self, path: &Path) {
        let _alone = self.one_at_a_time.lock().await;
        self.progress.clear_file_problem(path);
    }

    /// Takes out of all files what has left the memory.
    ///
    /// # Errors
    /// Which files may still show it, and why.
    pub(crate) async fn after_removal(&self) -> std::io::Result<()> {
        let _alone = self.one_at_a_time.lock().await;
        if self.progress.is_paused(clock::now()) {
            // They tell of nothing now, and of what is left after the pause.
            self.due.all();
        }
        match self.refresh(&Which::EVERY, Occasion::Removal).await {
            Ok(refusals) => failures(refusals.into_iter()),
            Err(error) => failures(std::iter::once(error.to_string())),
        }
    }

    async fn refresh_unless_paused(&self, which: Which) {
        if self.progress.is_paused(clock::now()) {
            self.due.put_back(which);
        } else if let Err(error) = self.refresh(&which, Occasion::Turn).await {
            tracing::warn!(error = %error, "the instruction files stay as they are");
        }
    }

    /// Returns why files could not be written.
    async fn refresh(&self, which: &Which, occasion: Occasion) -> Result<Vec<String>, NoAnswer> {
        let files = match self.background.call(|reader| reader.instruction_files()).await? {
            Ok(files) => files,
            Err(error) => {
                let error = with_causes(&error);
                tracing::warn!(%error, "the instruction files can't be told");
                return Ok(vec![error]);
            }
        };
        let mut refusals = Vec::new();
        for files in files.chunk_by(|a, b| a.folder == b.folder) {
            let Some(block) = self.block(files[0].folder.clone(), which.clone(), occasion).await? else {
                continue;
            };
            for file in files.iter().filter(|file| file.line.is_none()) {
                refusals.extend(self.bring(file, block.clone(), occasion).await);
            }
        }
        Ok(refusals)
    }

    /// What the files of `folder` are to show; `None` where it is not meant, or can't be told now.
    async fn block(&self, folder: String, which: Which, occasion: Occasion) -> Result<Option<String>, NoAnswer> {
        let this = self.clone();
        let found = self.background.call(move |reader| this.find(reader, &folder, &which)).await?;
        Ok(found.unwrap_or_else(|error| {
            tracing::warn!(error = %with_causes(&error), "an instruction file's text can't be told");
            (occasion == Occasion::Removal).then(nothing)
        }))
    }

    fn find(&self, reader: &Reader, folder: &str, which: &Which) -> Result<Option<String>, QueryError> {
        let project = self.folders.project(reader, folder, FOLDER_PATIENCE)?;
        if !which.holds(project) {
            return Ok(None);
        }
        let session = SessionKey {
            agent: ASKER.to_owned(),
            external_id: String::new(),
        };
        let real = |folder: &str| self.folders.real(folder, FOLDER_PATIENCE);
        let is_silent =
            self.progress.is_paused(clock::now()) || self.exclusions.cover_prompt(reader, &session, Some(folder), real)?;
        let project = project.filter(|project| *project != UNKNOWN && !is_silent);
        let episodes = match project {
            Some(project) => self.recollections(reader, project, &session)?,
            None => Vec::new(),
        };
        Ok(Some(as_ours(&standing_block(&episodes, self.settings.caps))))
    }

    fn recollections(&self, reader: &Reader, project: ProjectId, session: &SessionKey) -> Result<Vec<EpisodeText>, QueryError> {
        for prompt in reader.last_prompts(project, PROMPTS)? {
            let found = self.recall(reader, project, session, &prompt);
            if !found.is_empty() {
                return Ok(found);
            }
        }
        Ok(Vec::new())
    }

    fn recall(&self, reader: &Reader, project: ProjectId, session: &SessionKey, prompt: &str) -> Vec<EpisodeText> {
        let deadline = Deadline::after(RECALL_PATIENCE);
        let now = clock::now();
        let question = Question {
            session: session.clone(),
            project: Some(project),
            query: Query::of(prompt),
            logged_hash: [0; 32],
            header: Header {
                prompt_hash: String::new(),
                written: now,
            },
            now,
        };
        // In the lane of prompts, though nobody's prompt waits for it: one text holds that lane for some milliseconds, while a batch of the
        // background lane would hold up for seconds whoever forgets something, and this thread for all that is to be read on it.
        let mut embedding = self.embedder.ask(question.query.text.clone(), deadline);
        let model_id = match self.embedder.state() {
            ModelState::Ready(model) => model.model_id().to_owned(),
            ModelState::Loading | ModelState::Failed(_) => String::new(),
        };
        let sources = Sources {
            reader,
            codes: self.codes.index(),
            model_id: &model_id,
            embedding: &mut |patience| embedding.wait(patience),
            remote: None,
            reranker: None,
            afterwards: None,
        };
        // Others' projects stay out of a file that lies in this one.
        let settings = RecallSettings {
            scope: ScopeRule::Project,
            ..RecallSettings::clone(&self.settings)
        };
        let recalled = recall(&question, &SessionState::default(), sources, &settings, deadline);
        recalled.recollections.into_iter().map(|chosen| chosen.episode).collect()
    }

    /// Has a file show `block`, and notes whether that went well. Returns why what has left the memory may still be in it.
    async fn bring(&self, file: &InstructionFile, block: String, occasion: Occasion) -> Option<String> {
        let path = Path::new(&file.path);
        let error = match self.write(file.clone(), block, occasion).await {
            Ok(()) => {
                self.progress.clear_file_problem(path);
                return None;
            }
            Err(error) => error,
        };
        self.progress.add_file_problem(path, error.to_string());
        match error {
            // Nothing of ours is there to show anything.
            RefreshError::Refused(Refusal::TakenOut { .. }) => None,
            _ => Some(error.to_string()),
        }
    }

    async fn write(&self, file: InstructionFile, block: String, occasion: Occasion) -> Result<(), RefreshError> {
        let (folders, uid, path) = (Arc::clone(&self.folders), self.uid, file.path.clone());
        let is_late = Arc::new(AtomicBool::new(false));
        let late = Arc::clone(&is_late);
        let job = move || {
            let is_wanted = occasion == Occasion::Removal || file.tracked;
            match file::update(&file, &block, uid)? {
                Some(_) if !is_wanted && git::tracks(Path::new(&file.folder), Path::new(&file.path)) => {
                    Err(Refusal::Tracked { path: file.path.into() })
                }
                // By now another text may be the right one.
                Some(_) if late.load(Ordering::Relaxed) => Ok(()),
                Some(change) => Ok(change.apply()?),
                None => Ok(()),
            }
        };
        let looked = tokio::task::spawn_blocking(move || folders.within(FILE_PATIENCE, job)).await;
        if let Some(written) = looked.ok().flatten() {
            return Ok(written?);
        }
        is_late.store(true, Ordering::Relaxed);
        Err(RefreshError::Hangs { path })
    }
}
