//! From the fused order to what is shown: relevance floor first, then one a turn, then the cut to three.
//!
//! Texts are read in small steps down the order, only as far as needed: the first few candidates usually decide.

use std::collections::HashSet;

use remembrancer_schema::{Cosine, EpisodeText, Importance, LoggedCandidate, ProjectId, QueryError, Rank, Reader, TurnUid};

use super::coverage::TermWeights;
use super::fusion::Fused;
use super::gate::{Dropped, Support};
use super::query::Query;
use super::{RecallSettings, Recollection};

/// Candidates whose texts are read in one step.
const STEP: usize = 8;
/// Candidates that are judged at most. One that far down the fused order is not worth its time.
const JUDGED: usize = 64;

/// What was chosen, and what became of the candidates that were judged.
pub(super) struct Choice {
    pub(super) recollections: Vec<Recollection>,
    pub(super) judged: Vec<LoggedCandidate>,
}

/// Walks `fused` from the best down, until `settings.top` are found.
pub(super) fn choose(
    reader: &Reader,
    query: &Query,
    fused: &[Fused],
    project: Option<ProjectId>,
    settings: &RecallSettings,
) -> Result<Choice, QueryError> {
    let frequencies = reader.document_frequency(&query.terms)?;
    let weights = TermWeights::new(&query.terms, &frequencies, reader.indexed_episodes()?);
    let best_cosine = best_cosine(fused);
    let mut judge = Judge {
        weights,
        best_cosine,
        project,
        settings,
        recollections: Vec::new(),
        judged: Vec::new(),
        turns: HashSet::new(),
    };
    for step in fused[..fused.len().min(JUDGED)].chunks(STEP) {
        if judge.is_full() {
            judge.log_rest(step);
            break;
        }
        let ids: Vec<_> = step.iter().map(|fused| fused.candidate.row.id).collect();
        let texts = reader.texts(&ids)?;
        for fused in step {
            // An episode that was deleted since the pool was read has no text, and is passed over.
            if let Some(text) = texts.iter().find(|text| text.id == fused.candidate.row.id) {
                judge.judge(fused, text);
            }
        }
    }
    Ok(Choice {
        recollections: judge.recollections,
        judged: judge.judged,
    })
}

fn best_cosine(fused: &[Fused]) -> Option<Cosine> {
    fused
        .iter()
        .filter_map(|fused| fused.candidate.cosine)
        .max_by(|a, b| a.0.total_cmp(&b.0))
}

struct Judge<'a> {
    weights: TermWeights,
    best_cosine: Option<Cosine>,
    project: Option<ProjectId>,
    settings: &'a RecallSettings,
    recollections: Vec<Recollection>,
    judged: Vec<LoggedCandidate>,
    turns: HashSet<TurnUid>,
}

impl Judge<'_> {
    fn is_full(&self) -> bool {
        self.recollections.len() >= self.settings.top
    }

    fn judge(&mut self, fused: &Fused, text: &EpisodeText) {
        let verdict = self.verdict(fused, text);
        let dropped = verdict.err();
        let position = dropped.is_none().then(|| self.recollections.len() as u32 + 1);
        self.judged.push(logged(fused, dropped, position));
        if dropped.is_none() {
            self.turns.insert(fused.candidate.row.turn_uid);
            self.recollections.push(Recollection {
                episode: text.clone(),
                score: fused.score,
                ranks: fused.ranks,
                cosine: fused.candidate.cosine.map(|cosine| cosine.0),
            });
        }
    }

    fn verdict(&self, fused: &Fused, text: &EpisodeText) -> Result<(), Dropped> {
        self.settings.floor.admit(&self.support(fused, text))?;
        if self.is_full() {
            return Err(Dropped::BeyondTop);
        }
        if text.answer.trim().is_empty() && fused.candidate.row.importance != Importance::High {
            return Err(Dropped::NoAnswer);
        }
        if self.turns.contains(&fused.candidate.row.turn_uid) {
            return Err(Dropped::SameTurn);
        }
        if self.recollections.iter().any(|shown| says_the_same(&shown.episode, text)) {
            return Err(Dropped::SameText);
        }
        Ok(())
    }

    fn support(&self, fused: &Fused, text: &EpisodeText) -> Support {
        let facets = &text.facets;
        let spoken = [text.prompt.as_str(), text.answer.as_str()];
        let touched = facets
            .files
            .iter()
            .chain(&facets.commands)
            .chain(&facets.errors)
            .map(String::as_str);
        let coverage = self.weights.coverage(spoken.into_iter().chain(touched));
        Support {
            cosine: fused.candidate.cosine,
            best_cosine: self.best_cosine,
            coverage: coverage.share,
            matched: coverage.matched,
            terms: self.weights.len(),
            foreign: self.settings.scope == super::ScopeRule::ProjectFirst && fused.candidate.row.project != self.project,
        }
    }

    fn log_rest(&mut self, rest: &[Fused]) {
        self.judged
            .extend(rest.iter().map(|fused| logged(fused, Some(Dropped::BeyondTop), None)));
    }
}

/// The same question and the same answer, word for word, asked in another turn.
fn says_the_same(a: &EpisodeText, b: &EpisodeText) -> bool {
    a.prompt == b.prompt && a.answer == b.answer
}

fn logged(fused: &Fused, dropped: Option<Dropped>, position: Option<u32>) -> LoggedCandidate {
    let rank = |rank: Option<Rank>| rank.map(Rank::get);
    LoggedCandidate {
        episode: fused.candidate.row.id,
        fused: fused.score,
        bm25: fused.candidate.bm25.map(|score| score.0),
        cosine: fused.candidate.cosine.map(|cosine| cosine.0),
        bm25_rank: rank(fused.ranks.bm25),
        vector_rank: rank(fused.ranks.vector),
        recency_rank: rank(fused.ranks.recency),
        access_rank: rank(fused.ranks.access),
        gate: dropped.map(|dropped| dropped.as_str().to_owned()),
        position,
    }
}
