//! One recall in progress: the legs in their order, what was missing, how long each stage took, and what came of it.

use std::borrow::Cow;
use std::collections::HashSet;

use remembrancer_schema::{EpisodeId, EpisodeText, LoggedCandidate, ProjectId, QueryError, Reader, RecollectionLog};

use super::choose::{Choice, choose};
use super::floor::Dropped;
use super::fusion::{Candidate, Fused, fuse_own_first, own_among};
use super::gate::{self, Silence};
use super::leg::Leg;
use super::legs::{self, Bounds};
use super::meaning::ByMeaning;
use super::notes::{self, Brought, Notes};
use super::pool::{self, Compared, Found};
use super::profile::Profile;
use super::recollection::block_with;
use super::remote::{self, RemoteSource};
use super::since::Afterwards;
use super::time_words::Spoken;
use super::timely;
use super::trace::RERANK_STAGE;
use super::weigh::{Asked, Weighing, weigh};
use super::{Degradation, Question, Recall, RecallSettings, Recollection, SessionState, Sources, expansion, graph, reranking};
use crate::deadline::{Deadline, Stopwatch};
use crate::embed::Embedding;
use crate::rerank::Reranking;

/// How many of the weighed candidates are logged.
const LOGGED_CANDIDATES: usize = 20;
/// So many of these are of other projects, where there are so many: they stand behind the prompt's own, and would be told of never.
const LOGGED_OTHERS: usize = 5;

/// From `deadline` on the reader's queries are interrupted; an interrupt before is forgotten.
fn stop_reading_at(reader: &Reader, deadline: Deadline) {
    reader.set_deadline_check(Some(Box::new(move || deadline.has_passed())));
}

/// What is left out, with what the user muted, and the project that holds everywhere. Where that can't be read nothing is recalled: what
/// is muted is never shown.
fn decided<'s>(
    reader: &Reader,
    session: &'s SessionState,
) -> Result<(Cow<'s, HashSet<EpisodeId>>, Option<ProjectId>), QueryError> {
    let muted = reader.muted_episodes()?;
    let left_out = if muted.is_empty() {
        Cow::Borrowed(&session.left_out)
    } else {
        Cow::Owned(&session.left_out | &muted)
    };
    Ok((left_out, reader.everywhere()?))
}

/// One recall in progress.
pub(super) struct Work<'a> {
    question: &'a Question,
    watch: Stopwatch,
    degradations: Vec<Degradation>,
    embedding: Option<Embedding>,
    /// Of the prompt's terms, where the full-text leg counted them.
    document_frequencies: Option<Vec<u64>>,
    /// The time that the prompt names.
    spoken: Option<Spoken>,
    pool: usize,
    weighing: Weighing,
    candidates: Vec<LoggedCandidate>,
    notes: Notes,
}

impl<'a> Work<'a> {
    pub(super) fn new(question: &'a Question) -> Self {
        Self {
            question,
            watch: Stopwatch::start(),
            degradations: Vec::new(),
            embedding: None,
            document_frequencies: None,
            spoken: None,
            pool: 0,
            weighing: Weighing::default(),
            candidates: Vec::new(),
            notes: Notes::default(),
        }
    }

    pub(super) fn run(
        &mut self,
        session: &SessionState,
        sources: Sources<'_>,
        settings: &RecallSettings,
        deadline: Deadline,
    ) -> Result<Vec<Recollection>, Silence> {
        let (reader, reranker) = (sources.reader, sources.reranker);
        let pool = self.pool(session, sources, settings, deadline)?;
        if pool.is_empty() {
            // A leg whose time was up found nothing either.
            let was_cut = !self.degradations.is_empty() && deadline.earlier_by(settings.reserve).has_passed();
            return Err(if was_cut {
                Silence::OutOfTime
            } else if session.left_out.is_empty() {
                Silence::NothingFound
            } else {
                Silence::AlreadyInContext
            });
        }
        let question = self.question;
        let fused = fuse_own_first(pool, &settings.profile, question.now);
        self.note_lists(&fused, &settings.profile);
        self.watch.lap("fusion");
        let weighing = weigh(
            reader,
            Asked {
                question,
                spoken: self.spoken.as_ref(),
                document_frequencies: self.document_frequencies.take(),
            },
            fused,
            &settings.profile,
            deadline,
        );
        self.watch.lap("weigh");
        self.weighing = weighing.map_err(|error| self.unreadable(&error))?;
        if let Some(reranker) = reranker {
            let learnt = settings.profile.second_stage.is_some();
            let reranking = Reranking {
                reranker,
                rule: settings.blend,
                deadline: deadline.earlier_by(settings.reserve),
            };
            let outcome = reranking::rerank(&question.query, &mut self.weighing, learnt, &reranking);
            self.absent_if_late(outcome);
            self.watch.lap(RERANK_STAGE);
        }
        let spread = Self::spread(settings, reranker.is_some());
        self.choose(settings, spread)
    }

    /// Notes how many of what was found are gone, and how many were of other projects without strong evidence.
    fn note_dropped(&mut self, found: usize, read: usize, kept: usize) {
        self.notes.gone = (found - read) as u32;
        self.notes.other_projects = (read - kept) as u32;
    }

    fn take_words(&mut self, words: &mut legs::Words) {
        self.notes.too_common = std::mem::take(&mut words.too_common);
        self.document_frequencies = words.document_frequencies.take();
    }

    /// Runs the gates that need no candidates, then the legs, and gathers what they find.
    pub(super) fn pool(
        &mut self,
        session: &SessionState,
        sources: Sources<'_>,
        settings: &RecallSettings,
        deadline: Deadline,
    ) -> Result<Vec<Candidate>, Silence> {
        let (reader, codes, model_id) = (sources.reader, sources.codes, sources.model_id);
        let (embedding, mut remote) = (sources.embedding, sources.remote);
        let query = &self.question.query;
        let profile = &settings.profile;
        if let Some(silence) = gate::before_search(query) {
            return Err(silence);
        }
        stop_reading_at(reader, deadline);
        let (left_out, everywhere) = decided(reader, session).map_err(|error| self.unreadable(&error))?;
        // A leg may take what is left but for the reserve: late, it is absent, and what follows still has its time.
        let legs_until = deadline.earlier_by(settings.reserve);
        stop_reading_at(reader, legs_until);
        let bounds = Bounds {
            project: self.question.project,
            scope: settings.scope,
            everywhere,
            left_out: &left_out,
        };
        let conversation = self.conversation(reader, session, model_id, profile);
        let by_meaning = ByMeaning {
            codes,
            bounds: &bounds,
            session,
            same_topic_cosine: settings.same_topic_cosine,
            conversation: conversation.as_ref(),
            until: legs_until,
            terms: &query.terms,
        };
        let mut found = Found::default();
        let mut time = timely::Named::by(&query.text, self.question.now, profile);
        let meaning = by_meaning.beside(embedding, remote.as_deref_mut(), || {
            found.words = self.absent_if_late(legs::bm25(reader, query, &bounds, &profile.lexical));
            self.watch.lap("bm25");
            (found.recent, found.recent_passed_over) = self.absent_if_late(legs::recent(reader, &bounds));
            self.watch.lap("recent");
            self.absent_if_late(time.read(reader, &query.terms, &profile.lexical, &bounds, &mut found.words));
        });
        // What embedding and coarse search still took when the words were done.
        self.watch.lap("meaning");
        self.embedding = self.absent_if_late(meaning.embedding.map(Some));
        self.notes.topic_cosine = meaning.topic_cosine;
        if meaning.same_topic {
            return Err(Silence::SameTopic);
        }
        found.coarse = meaning.nearest;
        found.timely = time.nearest(codes, self.embedding.as_ref(), &bounds);
        self.take_remote(remote, &mut found, &bounds);
        let prompt = self.embedding.clone();
        let compared = Compared {
            model_id,
            prompt: prompt.as_ref(),
            conversation: conversation.as_ref(),
        };
        stop_reading_at(reader, deadline);
        let union = found.union();
        self.note_found(&found, &union, session);
        let foreign = |project| bounds.is_foreign(project);
        let pool = pool::candidates(reader, &union.ids, &found.words, compared, foreign);
        let mut pool = pool.map_err(|error| self.unreadable(&error))?;
        let read = pool.len();
        self.notes.timely = time.brought(&found.timely, union.timely);
        pool::place_remote(&mut pool, &found, &bounds);
        pool::drop_weak_foreigners(&mut pool, settings.floor.least_foreign_cosine());
        self.spoken = time.mark(&mut pool, &found);
        self.note_dropped(union.ids.len(), read, pool.len());
        if profile.counts(Leg::Graph) {
            stop_reading_at(reader, legs_until);
            let linked = graph::add_linked(reader, &mut pool, &found.words, compared, &bounds);
            if let Err(degradation) = linked {
                self.degradations.push(degradation);
            }
            let linked = pool.len();
            pool::drop_weak_foreigners(&mut pool, settings.floor.least_foreign_cosine());
            self.note_linked(&pool, linked, read);
            stop_reading_at(reader, deadline);
        }
        self.pool = pool.len();
        self.take_words(&mut found.words);
        self.watch.lap("pool");
        Ok(pool)
    }

    /// Waits for what the shared store finds, where it was to be asked, as long as it may.
    fn take_remote(&mut self, remote: Option<&mut RemoteSource<'_>>, found: &mut Found, bounds: &Bounds<'_>) {
        let Some(remote) = remote else { return };
        if let Err(degradation) = remote::take(remote, found, bounds) {
            self.degradations.push(degradation);
        }
        self.watch.lap("remote");
    }

    /// Notes what each source brought, and what none of them may.
    fn note_found(&mut self, found: &Found, union: &pool::Union, session: &SessionState) {
        let brought = |count: usize, added: u32, passed_over: Option<u32>| Brought {
            found: count as u32,
            added,
            passed_over,
        };
        let notes = &mut self.notes;
        notes.recent = brought(found.recent.len(), union.recent, Some(found.recent_passed_over));
        // The codes of what is left out are skipped before anything is counted.
        notes.meaning = brought(found.coarse.len(), union.meaning, None);
        notes.words = brought(found.words.hits.len(), union.words, Some(found.words.passed_over));
        let remote = found.remote.as_ref();
        notes.remote = remote.map(|ids| brought(ids.len(), union.remote, Some(found.remote_passed_over)));
        notes.found = union.ids.len() as u32;
        notes.in_context = session.conversation.len() as u32;
        notes.shown_before = session.left_out.len().saturating_sub(session.conversation.len()) as u32;
    }

    /// Notes what the links added to a pool that held `read` candidates before any was dropped, and `linked` after.
    fn note_linked(&mut self, pool: &[Candidate], linked: usize, read: usize) {
        let notes = &mut self.notes;
        let before = read - notes.other_projects as usize;
        let added = linked.saturating_sub(before) as u32;
        notes.graph = Brought {
            found: pool.iter().filter(|candidate| candidate.graph.is_some()).count() as u32,
            added,
            passed_over: None,
        };
        notes.found += added;
        notes.other_projects += linked.saturating_sub(pool.len()) as u32;
    }

    /// Notes the first of each list that is always ranked, or counts in `profile`: of the prompt's own project, if anything is.
    fn note_lists(&mut self, fused: &[Fused], profile: &Profile) {
        let own = own_among(fused);
        let listed = if own > 0 { &fused[..own] } else { fused };
        let was_asked = self.notes.remote.is_some();
        let is_any_timely = listed.iter().any(|fused| fused.candidate.timely.is_some());
        let is_listed = |leg: &Leg| match leg {
            Leg::Expansion | Leg::Graph => profile.counts(*leg),
            Leg::Time => is_any_timely && profile.counts(Leg::Time),
            Leg::Remote => was_asked && profile.counts(Leg::Remote),
            Leg::Bm25 | Leg::Vector | Leg::Recency | Leg::Access => true,
        };
        self.notes.lists = notes::lists(listed, Leg::ALL.into_iter().filter(is_listed), self.question.now);
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

    fn choose(&mut self, settings: &RecallSettings, spread: f64) -> Result<Vec<Recollection>, Silence> {
        let Choice { recollections, judged } = choose(&self.weighing, settings, spread);
        self.watch.lap("choose");
        self.candidates = judged;
        if recollections.is_empty() {
            Err(Silence::NothingRelevant)
        } else {
            Ok(recollections)
        }
    }

    /// How far another session is preferred: not at all where the scores are of another scale than the second stage's.
    fn spread(settings: &RecallSettings, reranked: bool) -> f64 {
        if settings.profile.second_stage.is_some() && !reranked {
            settings.session_spread
        } else {
            0.0
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
        let weighed = &self.weighing.candidates;
        let others = weighed.iter().filter(|weighed| weighed.fused.candidate.foreign);
        let others: HashSet<EpisodeId> = others.map(|weighed| weighed.fused.candidate.row.id).collect();
        let own = weighed.len() - others.len();
        let room_of_others = LOGGED_CANDIDATES - own.min(LOGGED_CANDIDATES - LOGGED_OTHERS);
        let room_of_own = LOGGED_CANDIDATES - others.len().min(room_of_others);
        let (mut own_seen, mut others_seen) = (0, 0);
        self.candidates.retain(|candidate| {
            let (seen, room) = if others.contains(&candidate.episode) {
                (&mut others_seen, room_of_others)
            } else {
                (&mut own_seen, room_of_own)
            };
            *seen += 1;
            *seen <= room || candidate.position.is_some()
        });
    }

    pub(super) fn finish(
        mut self,
        chosen: Result<Vec<Recollection>, Silence>,
        settings: &RecallSettings,
        afterwards: Option<&dyn Afterwards>,
    ) -> Recall {
        let (mut recollections, silence) = match chosen {
            Ok(recollections) => (recollections, None),
            Err(silence) => (Vec::new(), Some(silence)),
        };
        let mut context = String::new();
        if silence.is_none() {
            let texts: Vec<EpisodeText> = recollections.iter().map(|chosen| chosen.episode.clone()).collect();
            let (text, shown) = block_with(&self.question.header, &texts, afterwards, settings.caps);
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
            notes: self.notes,
            asked: self.question.query.dropped.counts,
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
