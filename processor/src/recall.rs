//! A prompt becomes recollections.
//!
//! In: a [`Question`], a read-only [`Reader`], the [`CodeIndex`], the prompt's embedding as it arrives, what this session
//! has been shown, and a [`Deadline`]. Out: a [`Recall`]: up to three recollections with their text, or the reason for
//! silence, and the log that `why` explains. Never an error: a leg that is late or fails is absent.
//!
//! The steps, each in the file of its name: `query` → `gate` → `legs` → `pool` → `rank`/`fusion` → `weigh` → `reranking`
//! → `choose`/`gate` → `recollection`. SQL lives in the schema crate.

mod chatter;
mod choose;
mod coarse;
mod evidence;
mod expansion;
mod floor;
mod fusion;
mod gate;
mod graph;
mod leg;
mod legs;
mod linear;
mod pool;
mod profile;
mod query;
mod rank;
mod recollection;
mod reranking;
mod support;
mod time_words;
mod weigh;
mod weights;

use std::collections::HashSet;
use std::fmt;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use remembrancer_schema::{
    EpisodeId, EpisodeText, LoggedCandidate, ProjectId, QueryError, Reader, RecollectionLog, SessionKey, UnixMillis,
};

pub use coarse::CodeIndex;
pub use evidence::{Evidence, FEATURES};
pub use floor::{Backing, Dropped, FLOOR, Floor, OPEN_FLOOR};
pub use fusion::{Candidate, Fused, fuse};
pub use gate::{SAME_TOPIC_COSINE, Silence};
pub use leg::{Leg, LegRanks};
pub use legs::{BM25_LIMIT, COARSE_LIMIT, EmbeddingSource, RECENT_LIMIT};
pub use linear::{AnswerModel, LinearModel};
pub use profile::{
    Asking, CONVEX, DEFAULT, ImportanceRule, Lexical, PROFILES, Profile, RRF, RankFusion, Rule, SINGLE_LEGS, UNION, V2, WEIGHTED,
};
pub use query::Query;
pub use rank::{Best, dense_ranks};
pub use recollection::{CAPS, Caps, Header, block, clean, cut, empty_block, estimated_tokens};
pub use reranking::RERANKED;
pub use support::{SUPPORT_FEATURES, Support};
pub use weigh::{WEIGHED, Weighed, Weighing};

use crate::deadline::{Deadline, Stopwatch};
use crate::embed::Embedding;
use crate::rerank::{Blend, Rerank, Reranking};
use choose::{Choice, choose};
use legs::Bounds;
use pool::{Compared, Found};
use weigh::weigh;

/// Which projects a recall looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ScopeRule {
    /// The prompt's project, and others on strong evidence.
    #[default]
    ProjectFirst,
    /// The prompt's project alone.
    Project,
    /// All projects alike.
    All,
}

/// What a recall had to do without. Each is logged, counted and shown by `status`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Degradation {
    /// The prompt's embedding did not arrive in its share of the budget: words alone.
    EmbeddingLate,
    /// The prompt could not be embedded: words alone.
    EmbeddingFailed,
    /// There is no model: words alone.
    NoModel,
    /// The full-text leg is absent.
    Bm25Absent,
    /// The recency pool is absent.
    RecentAbsent,
    /// The expansion leg is absent.
    ExpansionAbsent,
    /// The graph leg is absent.
    GraphAbsent,
    /// The candidates could not be read in time.
    PoolAbsent,
    /// The reranker failed, or there was no time for it.
    RerankerAbsent,
}

impl Degradation {
    /// The degradation's name in logs, counters and `status`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::EmbeddingLate => "embedding-late",
            Self::EmbeddingFailed => "embedding-failed",
            Self::NoModel => "no-model",
            Self::Bm25Absent => "bm25-absent",
            Self::RecentAbsent => "recent-absent",
            Self::ExpansionAbsent => "expansion-absent",
            Self::GraphAbsent => "graph-absent",
            Self::PoolAbsent => "pool-absent",
            Self::RerankerAbsent => "reranker-absent",
        }
    }
}

impl fmt::Display for Degradation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How recalls are made; the same for all prompts.
#[derive(Debug, Clone, PartialEq)]
pub struct RecallSettings {
    /// The fusion profile.
    pub profile: Profile,
    /// Which projects take part.
    pub scope: ScopeRule,
    /// How many recollections are shown at most.
    pub top: usize,
    /// The relevance floor.
    pub floor: Floor,
    /// The cosine with the previous prompt above which the topic is the same.
    pub same_topic_cosine: f32,
    /// The caps of the text.
    pub caps: Caps,
    /// How a reranker's scores meet the order that it is given, where there is a reranker.
    pub blend: Blend,
    /// Time kept back for what follows the embedding, and again for what follows the reranker: pool, fusion, text, file.
    pub reserve: Duration,
}

impl Default for RecallSettings {
    fn default() -> Self {
        Self {
            profile: DEFAULT,
            scope: ScopeRule::default(),
            top: 3,
            floor: FLOOR,
            same_topic_cosine: SAME_TOPIC_COSINE,
            caps: CAPS,
            blend: Blend::default(),
            reserve: Duration::from_millis(50),
        }
    }
}

impl RecallSettings {
    /// The same with every relevance gate and cap open: what a bench judges a ranking by.
    #[must_use]
    pub fn without_gates(self) -> Self {
        Self {
            floor: OPEN_FLOOR,
            caps: Caps::NONE,
            ..self
        }
    }
}

/// One prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The session it was typed in.
    pub session: SessionKey,
    /// The project of its working directory.
    pub project: Option<ProjectId>,
    /// What the prompt asks: [`Query::of`] it.
    pub query: Query,
    /// A keyed hash of the prompt, for the log; the prompt itself is never logged.
    pub logged_hash: [u8; 32],
    /// What heads the recollection file.
    pub header: Header,
    /// The time of asking.
    pub now: UnixMillis,
}

/// What this session has seen so far.
#[derive(Debug, Clone, Default)]
pub struct SessionState {
    /// The embedding of the last prompt that was answered with something.
    pub answered_topic: Option<Embedding>,
    /// The session's own episodes, oldest first: the second query of profiles with an expansion leg.
    pub conversation: Vec<EpisodeId>,
    /// Episodes in the session's own context, or shown in it since its last compaction.
    pub left_out: HashSet<EpisodeId>,
}

/// An episode chosen for a prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct Recollection {
    /// Its texts as stored.
    pub episode: EpisodeText,
    /// The fused score.
    pub score: f64,
    /// Its rank in each leg.
    pub ranks: LegRanks,
    /// Its cosine with the prompt.
    pub cosine: Option<f32>,
}

/// What came of a prompt.
#[derive(Debug, Clone)]
pub struct Recall {
    /// The chosen episodes, best first.
    pub recollections: Vec<Recollection>,
    /// The fenced block; empty when nothing is shown.
    pub context: String,
    /// Why nothing is shown, if nothing is.
    pub silence: Option<Silence>,
    /// What was missing.
    pub degradations: Vec<Degradation>,
    /// The prompt's embedding, if it arrived.
    pub embedding: Option<Embedding>,
    /// The candidates that were weighed, best first: what a bench learns from.
    pub weighing: Weighing,
    /// What `why` explains.
    pub log: RecollectionLog,
}

/// How many candidates of the fused order are logged.
const LOGGED_CANDIDATES: usize = 20;

/// What a recall works with.
pub struct Sources<'a> {
    /// The store.
    pub reader: &'a Reader,
    /// The codes of all embedded episodes. Locked for the scan alone: a recall that waits for its embedding holds up nobody.
    pub codes: &'a RwLock<CodeIndex>,
    /// The model whose vectors may be compared.
    pub model_id: &'a str,
    /// The prompt's embedding as it arrives.
    pub embedding: &'a mut EmbeddingSource<'a>,
    /// What reads the best candidates together with the prompt, if anything does.
    pub reranker: Option<&'a dyn Rerank>,
}

/// Recalls for one prompt.
///
/// The deadline holds for all of it: reads are interrupted when it passes, and the embedding is waited for until
/// `settings.reserve` before it; so is the reranker.
pub fn recall(
    question: &Question,
    session: &SessionState,
    sources: Sources<'_>,
    settings: &RecallSettings,
    deadline: Deadline,
) -> Recall {
    let reader = sources.reader;
    reader.set_deadline_check(Some(Box::new(move || deadline.has_passed())));
    let mut work = Work::new(question);
    let chosen = work.run(session, sources, settings, deadline);
    reader.set_deadline_check(None);
    work.finish(chosen, settings)
}

/// The episodes nearest to the prompt and, where it counts, to the conversation.
fn coarse(codes: &RwLock<CodeIndex>, compared: Compared<'_>, bounds: &Bounds<'_>) -> Vec<EpisodeId> {
    let queries = [compared.prompt, compared.conversation].into_iter().flatten();
    let codes = codes.read().unwrap_or_else(PoisonError::into_inner);
    queries.flat_map(|query| legs::coarse(&codes, query, bounds)).collect()
}

/// The candidate pool of one prompt with every leg's values, before any fusion: what a bench fuses in many ways.
///
/// # Errors
/// Why nothing is asked, or nothing could be.
pub fn candidate_pool(
    question: &Question,
    session: &SessionState,
    sources: Sources<'_>,
    settings: &RecallSettings,
    deadline: Deadline,
) -> Result<Vec<Candidate>, Silence> {
    Work::new(question).pool(session, sources, settings, deadline)
}

/// One recall in progress.
struct Work<'a> {
    question: &'a Question,
    watch: Stopwatch,
    degradations: Vec<Degradation>,
    embedding: Option<Embedding>,
    pool: usize,
    weighing: Weighing,
    candidates: Vec<LoggedCandidate>,
}

impl<'a> Work<'a> {
    fn new(question: &'a Question) -> Self {
        Self {
            question,
            watch: Stopwatch::start(),
            degradations: Vec::new(),
            embedding: None,
            pool: 0,
            weighing: Weighing::default(),
            candidates: Vec::new(),
        }
    }

    fn run(
        &mut self,
        session: &SessionState,
        sources: Sources<'_>,
        settings: &RecallSettings,
        deadline: Deadline,
    ) -> Result<Vec<Recollection>, Silence> {
        let (reader, reranker) = (sources.reader, sources.reranker);
        let pool = self.pool(session, sources, settings, deadline)?;
        if pool.is_empty() {
            return Err(if session.left_out.is_empty() {
                Silence::NothingFound
            } else {
                Silence::AlreadyInContext
            });
        }
        let question = self.question;
        let fused = fuse(pool, &settings.profile, question.now);
        self.watch.lap("fusion");
        let weighing = weigh(
            reader,
            &question.query,
            fused,
            &settings.profile,
            |fused| settings.scope != ScopeRule::ProjectFirst || fused.candidate.row.project == question.project,
            question.now,
        );
        self.watch.lap("weigh");
        self.weighing = weighing.map_err(|error| self.unreadable(&error))?;
        if let Some(reranker) = reranker {
            self.rerank(&Reranking {
                reranker,
                rule: settings.blend,
                deadline: deadline.earlier_by(settings.reserve),
            });
        }
        self.choose(settings)
    }

    /// Runs the gates that need no candidates, then the legs, and gathers what they find.
    fn pool(
        &mut self,
        session: &SessionState,
        sources: Sources<'_>,
        settings: &RecallSettings,
        deadline: Deadline,
    ) -> Result<Vec<Candidate>, Silence> {
        let Sources {
            reader,
            codes,
            model_id,
            embedding,
            reranker: _,
        } = sources;
        let query = &self.question.query;
        let profile = &settings.profile;
        if let Some(silence) = gate::before_search(query) {
            return Err(silence);
        }
        let bounds = Bounds {
            project: self.question.project,
            scope: settings.scope,
            left_out: &session.left_out,
        };
        let mut found = Found {
            words: self.absent_if_late(legs::bm25(reader, query, &bounds, &profile.lexical)),
            ..Found::default()
        };
        self.watch.lap("bm25");
        found.recent = self.absent_if_late(legs::recent(reader, &bounds));
        self.watch.lap("recent");
        self.await_embedding(embedding, deadline.earlier_by(settings.reserve));
        self.watch.lap("embedding");
        self.stays_on_topic(session, settings)?;
        let prompt = self.embedding.clone();
        let conversation = self.conversation(reader, session, model_id, profile);
        let compared = Compared {
            model_id,
            prompt: prompt.as_ref(),
            conversation: conversation.as_ref(),
        };
        found.coarse = coarse(codes, compared, &bounds);
        self.watch.lap("coarse");
        let mut pool =
            pool::candidates(reader, &found.union(), &found.words, compared).map_err(|error| self.unreadable(&error))?;
        if profile.counts(Leg::Graph) {
            let linked = graph::add_linked(reader, &mut pool, &found.words, compared, &bounds);
            if let Err(degradation) = linked {
                self.degradations.push(degradation);
            }
        }
        if settings.scope == ScopeRule::ProjectFirst {
            pool::drop_weak_foreigners(&mut pool, self.question.project, settings.floor.foreign_cosine);
        }
        self.pool = pool.len();
        self.watch.lap("pool");
        Ok(pool)
    }

    fn absent_if_late<T: Default>(&mut self, leg: Result<T, Degradation>) -> T {
        leg.unwrap_or_else(|degradation| {
            self.degradations.push(degradation);
            T::default()
        })
    }

    fn conversation(&mut self, reader: &Reader, session: &SessionState, model_id: &str, profile: &Profile) -> Option<Embedding> {
        if !profile.counts(Leg::Expansion) {
            return None;
        }
        let read = expansion::conversation(reader, &session.conversation, model_id);
        self.absent_if_late(read.map_err(legs::absent(Degradation::ExpansionAbsent)))
    }

    fn await_embedding(&mut self, embedding: &mut EmbeddingSource<'_>, until: Deadline) {
        match embedding(until.remaining()) {
            Ok(embedding) => self.embedding = Some(embedding),
            Err(degradation) => self.degradations.push(degradation),
        }
    }

    fn stays_on_topic(&self, session: &SessionState, settings: &RecallSettings) -> Result<(), Silence> {
        let same = self
            .embedding
            .as_ref()
            .zip(session.answered_topic.as_ref())
            .is_some_and(|(prompt, answered)| prompt.cosine(answered) > settings.same_topic_cosine);
        if same { Err(Silence::SameTopic) } else { Ok(()) }
    }

    fn rerank(&mut self, reranking: &Reranking<'_>) {
        let reranked = reranking::rerank(&self.question.query, &mut self.weighing, reranking);
        self.absent_if_late(reranked);
        self.watch.lap("rerank");
    }

    fn choose(&mut self, settings: &RecallSettings) -> Result<Vec<Recollection>, Silence> {
        let Choice { recollections, judged } = choose(&self.weighing, self.question.project, settings);
        self.watch.lap("choose");
        self.candidates = judged;
        if recollections.is_empty() {
            Err(Silence::NothingRelevant)
        } else {
            Ok(recollections)
        }
    }

    /// A read that the deadline stopped is lateness; any other error is the store's.
    fn unreadable(&mut self, error: &QueryError) -> Silence {
        if matches!(error, QueryError::Interrupted { .. }) {
            self.degradations.push(Degradation::PoolAbsent);
            return Silence::OutOfTime;
        }
        tracing::warn!(%error, "the candidates could not be read");
        Silence::StoreFailed
    }

    /// Keeps in the log the first candidates of the fused order and whatever is shown. What the block had no room for was
    /// not shown.
    fn settle_log(&mut self, shown: usize) {
        for candidate in &mut self.candidates {
            if candidate.position.is_some_and(|position| position as usize > shown) {
                candidate.position = None;
                candidate.gate = Some(Dropped::NoRoom.as_str().to_owned());
            }
        }
        let mut place = 0;
        self.candidates.retain(|candidate| {
            place += 1;
            place <= LOGGED_CANDIDATES || candidate.position.is_some()
        });
    }

    fn finish(mut self, chosen: Result<Vec<Recollection>, Silence>, settings: &RecallSettings) -> Recall {
        let (mut recollections, silence) = match chosen {
            Ok(recollections) => (recollections, None),
            Err(silence) => (Vec::new(), Some(silence)),
        };
        let mut context = String::new();
        if silence.is_none() {
            let texts: Vec<EpisodeText> = recollections.iter().map(|chosen| chosen.episode.clone()).collect();
            let (text, shown) = block(&self.question.header, &texts, settings.caps);
            recollections.truncate(shown);
            context = text;
        }
        self.settle_log(recollections.len());
        self.watch.lap("text");
        Recall {
            log: self.log(silence),
            recollections,
            context,
            silence,
            degradations: self.degradations,
            embedding: self.embedding,
            weighing: self.weighing,
        }
    }

    fn log(&mut self, silence: Option<Silence>) -> RecollectionLog {
        RecollectionLog {
            at: self.question.now,
            session: self.question.session.clone(),
            project: self.question.project,
            prompt_hash: self.question.logged_hash,
            terms: self.question.query.terms.clone(),
            reason: silence.map(|silence| silence.as_str().to_owned()),
            pool: self.pool as u32,
            stages: self
                .watch
                .laps()
                .iter()
                .map(|(name, took)| ((*name).to_owned(), took.as_micros() as u64))
                .collect(),
            degradations: self
                .degradations
                .iter()
                .map(|degradation| degradation.as_str().to_owned())
                .collect(),
            candidates: std::mem::take(&mut self.candidates),
        }
    }
}

#[cfg(test)]
mod tests;
