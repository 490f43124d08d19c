//! One prompt under its deadline: embedding and search begin at once, the recollection file is written by the thread that
//! searched, the reply goes out, and only then is anything stored.

mod outcome;
#[cfg(feature = "share")]
mod remote;

use std::sync::Arc;
use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use remembrancer_hooks::backoff;
use remembrancer_hooks::clock::{Deadline as WireDeadline, monotonic_ns};
use remembrancer_hooks::places::Places;
use remembrancer_hooks::protocol::{RecallReply, RecallRequest, Shown, Stage, VERSION};
use remembrancer_hooks::recollection_file::{prompt_hash, prompt_hash_hex};
use remembrancer_processor::ingest::redact;
#[cfg(feature = "share")]
use remembrancer_processor::recall::RemoteSource;
use remembrancer_processor::recall::{
    Header, Query, Question, Recall, RecallSettings, SessionState, Sources, empty_block, importable, recall,
};
use remembrancer_processor::{Deadline, Stopwatch};
use remembrancer_schema::{EpisodeId, ProjectId, QueryError, Reader, RecollectionLog, Scope, SessionKey, UnixMillis, Writer};
use sha2::Sha256;

use crate::causes::with_causes;
use crate::changes::Changes;
use crate::clock;
use crate::codes::SharedCodes;
use crate::control::in_scope;
use crate::conversations::{Conversations, LastAnswer, ToldPrompt};
use crate::counts::Count;
use crate::embedder::{EmbedderHandle, ModelState, PendingEmbedding};
use crate::exclusions::Exclusions;
use crate::progress::Progress;
use crate::project::Folders;
use crate::reason::Reason;
use crate::recollection_files;
use crate::reranker::Reranker;
#[cfg(feature = "share")]
use crate::share::Desk;
use crate::store::{NoAnswer, StoreHandle};
use crate::whose::Sharer;

pub(crate) use outcome::Took;
use outcome::{Outcome, never_shown};

/// The agent in whose name the command line asks.
pub(crate) const CLI_AGENT: &str = "cli";

/// What a probe's answer names as the reason for its being empty.
const PROBE: &str = "probe";

/// Kept back from the hook's deadline for the reply's way and the hook's exit.
const REPLY_MARGIN: Duration = Duration::from_millis(12);

/// How long a prompt waits for the file system to tell of its folder, which takes far less than a millisecond where it is well.
const FOLDER_PATIENCE: Duration = Duration::from_millis(30);

/// Answers prompts.
#[derive(Clone)]
pub(crate) struct Recaller {
    /// Readers for prompts.
    pub prompts: StoreHandle<Reader>,
    /// The one writer.
    pub writer: StoreHandle<Writer>,
    /// The model.
    pub embedder: EmbedderHandle,
    /// The reranker.
    pub reranker: Reranker,
    /// The codes of all embedded episodes.
    pub codes: SharedCodes,
    /// What each conversation has been answered.
    pub conversations: Arc<Conversations>,
    /// Where to say what happens.
    pub progress: Arc<Progress>,
    /// How recalls are made.
    pub settings: Arc<RecallSettings>,
    /// The most that a recall may take, whatever its request allows.
    pub budget: Duration,
    /// What the settings keep out.
    pub exclusions: Exclusions,
    /// Where recollection files lie.
    pub places: Arc<Places>,
    /// Finds the projects of prompts.
    pub folders: Arc<Folders>,
    /// What has become of files.
    pub changes: Arc<Changes>,
    /// Where the shared store is searched, if prompts may have that.
    #[cfg(feature = "share")]
    pub remote: Option<Arc<Desk>>,
    /// The key under which prompts are hashed for the log.
    pub log_key: [u8; 32],
}

/// A prompt that is read, and what a reader thread needs to search for it.
struct Search {
    recaller: Recaller,
    cwd: Option<String>,
    /// Whether there is no prompt yet, since a session begins or goes on.
    at_start: bool,
    query: Query,
    asked: Asked,
    header: Header,
    embedding: PendingEmbedding,
    deadline: Deadline,
}

/// For what a prompt is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// To be answered.
    ToAnswer,
    /// To be explained: nothing of it is noted.
    ToExplain,
}

/// When a request came, and when it must be answered.
#[derive(Debug, Clone, Copy)]
struct Received {
    /// The monotonic instant.
    at_ns: u64,
    deadline: WireDeadline,
}

/// Who asked when, and the prompt's hash for the log.
#[derive(Debug, Clone)]
struct Asked {
    session: SessionKey,
    at: UnixMillis,
    logged_hash: [u8; 32],
    /// Of a probe: the block that answers it.
    probe: Option<String>,
    /// Whether nothing but an explanation is asked for.
    explained: bool,
    /// Whether all projects are looked at alike, whatever the settings say.
    all_projects: bool,
}

impl Asked {
    /// A look by the command line, a probe or an explanation leaves no file and no log, and counts as no showing.
    fn leaves_no_trace(&self) -> bool {
        self.session.agent == CLI_AGENT || self.probe.is_some() || self.explained
    }

    /// The log of a prompt that was not searched for.
    fn silent_log(&self, reason: Reason, took: Duration) -> RecollectionLog {
        RecollectionLog {
            at: self.at,
            session: self.session.clone(),
            project: None,
            prompt_hash: self.logged_hash,
            terms: Vec::new(),
            reason: Some(reason.as_str().to_owned()),
            pool: 0,
            stages: vec![("whole".to_owned(), took.as_micros() as u64)],
            degradations: Vec::new(),
            candidates: Vec::new(),
        }
    }
}

/// What came of a search.
enum Found {
    Recalled(Box<Recall>),
    /// As it came when nobody waited for it any more: nothing of it was shown.
    TooLate(Box<Recall>),
    Silent(Reason),
}

impl Found {
    /// The same for somebody who is gone.
    fn too_late(self) -> Self {
        match self {
            Self::Recalled(recall) => Self::TooLate(recall),
            // Of what is excluded not even that is noted.
            Self::Silent(Reason::Excluded) => self,
            Self::TooLate(_) | Self::Silent(_) => Self::Silent(Reason::OUT_OF_TIME),
        }
    }
}

impl Recaller {
    /// Answers one prompt, received at the monotonic instant `received_ns`. Never later than its deadline, and never with
    /// an error: what goes wrong is an empty answer with a reason.
    pub(crate) async fn answer(&self, request: RecallRequest, received_ns: u64) -> RecallReply {
        let mut watch = Stopwatch::start();
        let received = self.received(&request, received_ns);
        let deadline = received.deadline;
        let left = deadline.remaining();
        let search = match self.read_in_time(request, received, Reading::ToAnswer).await {
            Ok(search) => search,
            Err(reason) => {
                if reason == Reason::Failed {
                    self.progress.panicked();
                } else if reason == Reason::OUT_OF_TIME {
                    self.progress.hooks_noted(backoff::end(&self.places.backoff_file()));
                }
                self.progress.not_asked(reason.as_str());
                return RecallReply::nothing(reason.as_str());
            }
        };
        let asked = search.asked.clone();
        let mut found = self.search(search).await;
        if deadline.has_passed() {
            // Slow and not absent: the hook need not keep still.
            self.progress.hooks_noted(backoff::end(&self.places.backoff_file()));
            // Nobody reads this answer, so nothing of it counts as shown.
            found = found.too_late();
        }
        watch.lap("whole");
        let took = Took {
            left,
            whole: watch.total(),
            budget: self.budget,
        };
        self.conclude(asked, found, took)
    }

    /// What `request` would be answered here and now, or why nothing is, and how long that took. Leaves no trace, and counts nothing.
    pub(crate) async fn explain(&self, request: RecallRequest, received_ns: u64) -> (Result<Box<Recall>, Reason>, Took) {
        let mut watch = Stopwatch::start();
        let received = self.received(&request, received_ns);
        let found = match self.read_in_time(request, received, Reading::ToExplain).await {
            Ok(search) => self.search(search).await,
            Err(reason) => Found::Silent(reason),
        };
        watch.lap("whole");
        let took = Took {
            left: self.budget,
            whole: watch.total(),
            budget: self.budget,
        };
        match found {
            Found::Recalled(recall) | Found::TooLate(recall) => (Ok(recall), took),
            Found::Silent(reason) => (Err(reason), took),
        }
    }

    fn received(&self, request: &RecallRequest, at_ns: u64) -> Received {
        let deadline = request.deadline(at_ns).min(WireDeadline::after(at_ns, self.budget));
        Received { at_ns, deadline }
    }

    /// Reads a prompt and begins to embed it, or says why it is not asked.
    async fn read_in_time(&self, request: RecallRequest, received: Received, reading: Reading) -> Result<Search, Reason> {
        let recaller = self.clone();
        // A long prompt takes a while to read: that may hold up neither this runtime nor the other prompts.
        let read = tokio::task::spawn_blocking(move || recaller.read(request, received, reading));
        match tokio::time::timeout(received.deadline.remaining(), read).await {
            Ok(Ok(Some(search))) => Ok(search),
            Ok(Ok(None)) => Err(Reason::SecondFiring),
            Ok(Err(_)) => Err(Reason::Failed),
            // No thread was free, or none had its turn.
            Err(_) => Err(Reason::OUT_OF_TIME),
        }
    }

    /// Reads a prompt and begins to embed it; `None` where it is the second firing for one message.
    fn read(self, request: RecallRequest, received: Received, reading: Reading) -> Option<Search> {
        let is_probe = request.is_probe();
        let session = SessionKey {
            agent: request.agent,
            external_id: request.session,
        };
        let hash = prompt_hash(&session.external_id, &request.prompt);
        let told = ToldPrompt {
            hash,
            id: request.prompt_id,
        };
        let is_noted = !is_probe && reading == Reading::ToAnswer;
        if is_noted && self.conversations.note_prompt(&session, told, received.at_ns) {
            return None;
        }
        let deadline = Deadline::after(received.deadline.remaining().saturating_sub(REPLY_MARGIN));
        let query = Query::of(&request.prompt);
        let header = Header {
            prompt_hash: prompt_hash_hex(&hash),
            written: clock::now(),
        };
        Some(Search {
            cwd: request.cwd,
            at_start: request.at_start,
            embedding: self.embedder.ask(query.text.clone(), deadline),
            query,
            asked: Asked {
                at: header.written,
                logged_hash: self.logged_hash(&request.prompt),
                session,
                probe: is_probe.then(|| empty_block(&header, PROBE)),
                explained: reading == Reading::ToExplain,
                all_projects: request.all_projects,
            },
            header,
            deadline,
            recaller: self,
        })
    }

    async fn search(&self, search: Search) -> Found {
        let deadline = search.deadline;
        let answer = match self.prompts.offer(move |reader| search.run(reader)) {
            Ok(answer) => answer,
            Err(NoAnswer::Busy) => return Found::Silent(Reason::Busy),
            Err(NoAnswer::Closed) => return Found::Silent(Reason::Stopping),
        };
        match tokio::time::timeout(deadline.remaining(), answer).await {
            Ok(Ok(found)) => found,
            Ok(Err(_)) => Found::Silent(Reason::Failed),
            Err(_) => Found::Silent(Reason::OUT_OF_TIME),
        }
    }

    /// Makes the reply, and stores afterwards what was shown and why.
    fn conclude(&self, mut asked: Asked, found: Found, took: Took) -> RecallReply {
        if let Some(block) = asked.probe.take() {
            return probed(block, &found);
        }
        let mut recall = match found {
            Found::Recalled(recall) => recall,
            Found::TooLate(recall) => {
                let reason = Reason::OUT_OF_TIME.as_str();
                self.progress.recalled(took.whole, false, Some(reason), &[]);
                if !asked.leaves_no_trace() {
                    self.conversations
                        .note_answer(&asked.session, LastAnswer::nothing(reason, took.whole));
                    self.store_afterwards(asked, Outcome::Recalled(never_shown(recall), took), Vec::new());
                }
                return RecallReply::nothing(reason);
            }
            Found::Silent(reason) => {
                self.progress.recalled(took.whole, false, Some(reason.as_str()), &[]);
                // Of what is excluded nothing is stored, not even that it asked.
                if reason != Reason::Excluded && !asked.leaves_no_trace() {
                    let answer = LastAnswer::nothing(reason.as_str(), took.whole);
                    self.conversations.note_answer(&asked.session, answer);
                    let log = Box::new(asked.silent_log(reason, took.whole));
                    self.store_afterwards(asked, Outcome::Silent(log), Vec::new());
                }
                return RecallReply::nothing(reason.as_str());
            }
        };
        let reason = recall.silence.map(|silence| silence.as_str().to_owned());
        let degradations: Vec<String> = recall.degradations.iter().map(ToString::to_string).collect();
        self.progress
            .recalled(took.whole, !recall.recollections.is_empty(), reason.as_deref(), &degradations);
        tracing::debug!(
            millis = took.whole.as_millis() as u64,
            shown = recall.recollections.len(),
            reason = reason.as_deref().unwrap_or(""),
            degradations = degradations.join(","),
            "answered a prompt"
        );
        let reply = reply_of(&recall);
        if asked.leaves_no_trace() {
            return reply;
        }
        let answer = LastAnswer {
            shown: recall.recollections.len(),
            took: took.whole,
            reason,
            degradations,
        };
        self.conversations.note_answer(&asked.session, answer);
        let shown: Vec<EpisodeId> = recall.recollections.iter().map(|chosen| chosen.episode.id).collect();
        if !shown.is_empty() {
            self.conversations.answered(&asked.session, recall.embedding.take(), &shown);
        }
        self.store_afterwards(asked, Outcome::Recalled(recall, took), shown);
        reply
    }

    /// Has the writer store what became of a prompt, with how it came about: put together on its thread, after the reply.
    fn store_afterwards(&self, asked: Asked, outcome: Outcome, shown: Vec<EpisodeId>) {
        let (writer, conversations) = (self.writer.clone(), Arc::clone(&self.conversations));
        let (progress, settings) = (Arc::clone(&self.progress), Arc::clone(&self.settings));
        tokio::spawn(async move {
            let record = move |writer: &mut Writer| outcome.record(writer, &in_scope(&settings, asked.all_projects));
            match writer.call(record).await {
                Ok(Ok(())) => conversations.stored(&asked.session, &shown),
                Ok(Err(error)) => {
                    progress.count(Count::ShowingNotNoted, 1);
                    tracing::warn!(error = %with_causes(&error), "what was shown could not be stored");
                }
                Err(NoAnswer::Closed | NoAnswer::Busy) => progress.count(Count::ShowingNotNoted, 1),
            }
        });
    }

    fn logged_hash(&self, prompt: &str) -> [u8; 32] {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.log_key).expect("invariant: HMAC takes a key of any length");
        mac.update(prompt.as_bytes());
        mac.finalize().into_bytes().into()
    }
}

fn reply_of(recall: &Recall) -> RecallReply {
    RecallReply {
        v: VERSION,
        context: recall.context.clone(),
        shown: recall.recollections.iter().map(shown).collect(),
        reason: recall.silence.map(|silence| silence.as_str().to_owned()),
        stages: recall
            .log
            .stages
            .iter()
            .map(|(name, micros)| Stage {
                name: name.clone(),
                micros: *micros,
            })
            .collect(),
    }
}

/// The reply to a probe: what was found, but for its text.
fn probed(block: String, found: &Found) -> RecallReply {
    let reply = match found {
        Found::Recalled(recall) => reply_of(recall),
        Found::TooLate(_) => RecallReply::nothing(Reason::OUT_OF_TIME.as_str()),
        Found::Silent(reason) => RecallReply::nothing(reason.as_str()),
    };
    RecallReply { context: block, ..reply }
}

fn shown(chosen: &remembrancer_processor::recall::Recollection) -> Shown {
    Shown {
        id: chosen.episode.uid.short(),
        score: Some(chosen.score),
        project: chosen.episode.project_name.as_deref().map(|name| redact(name).into_owned()),
        shared_by: Sharer::of(chosen.episode.shared_by.as_ref()).map(|sharer| sharer.json()),
    }
}

impl Search {
    /// Runs on a reader thread: finds, writes the session's recollection file, and returns what was found.
    fn run(mut self, reader: &Reader) -> Found {
        let deadline = self.deadline;
        reader.set_deadline_check(Some(Box::new(move || deadline.has_passed())));
        let found = self.find(reader).unwrap_or_else(|error| {
            if matches!(error, QueryError::Interrupted { .. }) {
                return Found::Silent(Reason::OUT_OF_TIME);
            }
            tracing::warn!(error = %with_causes(&error), "a prompt could not be answered");
            Found::Silent(Reason::STORE_FAILED)
        });
        reader.set_deadline_check(None);
        self.write_file(&found);
        found
    }

    fn find(&mut self, reader: &Reader) -> Result<Found, QueryError> {
        if self.deadline.has_passed() {
            return Ok(Found::Silent(Reason::OUT_OF_TIME));
        }
        let Recaller {
            progress,
            exclusions,
            folders,
            changes,
            ..
        } = &self.recaller;
        if progress.is_paused(self.header.written) {
            return Ok(Found::Silent(Reason::Paused));
        }
        let real = |cwd: &str| folders.real(cwd, FOLDER_PATIENCE.min(self.deadline.remaining()));
        if exclusions.cover_prompt(reader, &self.asked.session, self.cwd.as_deref(), real)? {
            return Ok(Found::Silent(Reason::Excluded));
        }
        let patience = FOLDER_PATIENCE.min(self.deadline.remaining());
        let project = match &self.cwd {
            Some(cwd) => folders.project(reader, cwd, patience)?,
            None => None,
        };
        if let (Some(cwd), None) = (&self.cwd, &self.asked.probe) {
            changes.asked(cwd, monotonic_ns());
        }
        if self.at_start {
            self.ask_for_the_last(reader, project)?;
        }
        let question = Question {
            session: self.asked.session.clone(),
            project,
            logged_hash: self.asked.logged_hash,
            query: std::mem::take(&mut self.query),
            header: self.header.clone(),
            now: self.header.written,
        };
        let state = self.session_state(reader)?;
        let model_id = match self.recaller.embedder.state() {
            ModelState::Ready(model) => model.model_id().to_owned(),
            ModelState::Loading | ModelState::Failed(_) => String::new(),
        };
        let settings = in_scope(&self.recaller.settings, self.asked.all_projects);
        #[cfg(feature = "share")]
        let mut remote = self.at_the_desk(reader, project);
        let embedding = &mut self.embedding;
        let sources = Sources {
            reader,
            codes: self.recaller.codes.index(),
            model_id: &model_id,
            embedding: &mut |patience| embedding.wait(patience),
            #[cfg(feature = "share")]
            remote: remote.as_mut().map(|remote| remote as &mut RemoteSource<'_>),
            #[cfg(not(feature = "share"))]
            remote: None,
            reranker: self.recaller.reranker.ready(),
            afterwards: Some(self.recaller.changes.as_ref()),
        };
        Ok(Found::Recalled(Box::new(recall(
            &question,
            &state,
            sources,
            &settings,
            self.deadline,
        ))))
    }

    /// At a session's start: what was asked last in it is asked again, or, where it is new, what was used last in its project.
    fn ask_for_the_last(&mut self, reader: &Reader, project: Option<ProjectId>) -> Result<(), QueryError> {
        let mut prompt = reader.last_prompt(&self.asked.session)?;
        if prompt.is_none() && project.is_some() {
            let muted = reader.muted_episodes()?;
            let mut used_last = reader.recently_accessed(Scope::Project(project), 1 + muted.len())?;
            used_last.retain(|id| !muted.contains(id));
            used_last.truncate(1);
            prompt = reader.texts(&used_last)?.pop().map(|episode| episode.prompt);
        }
        if let Some(prompt) = prompt {
            self.query = Query::of(&prompt);
            self.embedding = self.recaller.embedder.ask(self.query.text.clone(), self.deadline);
        }
        Ok(())
    }

    fn session_state(&self, reader: &Reader) -> Result<SessionState, QueryError> {
        let (answered_topic, mut left_out) = self.recaller.conversations.state(&self.asked.session);
        let conversation = reader.live_context(&self.asked.session)?;
        left_out.extend(&conversation);
        left_out.extend(reader.shown_in_session(&self.asked.session)?);
        Ok(SessionState {
            answered_topic,
            conversation,
            left_out,
        })
    }

    /// The file tells of this prompt or of nothing: it is written for every prompt, and never after the deadline.
    fn write_file(&self, found: &Found) {
        if self.asked.leaves_no_trace() {
            return;
        }
        let text = match found {
            Found::Recalled(recall) => match recall.silence {
                // The user may have a host import the file.
                None => importable(&recall.context),
                Some(silence) => empty_block(&self.header, silence.as_str()),
            },
            Found::TooLate(_) => empty_block(&self.header, Reason::OUT_OF_TIME.as_str()),
            Found::Silent(reason) => empty_block(&self.header, reason.as_str()),
        };
        let SessionKey { agent, external_id } = &self.asked.session;
        let path = self.recaller.places.recollection_path(agent, external_id);
        recollection_files::write(&path, &text, self.deadline, &self.recaller.progress);
    }
}
