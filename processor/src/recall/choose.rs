//! From the ranked order to what is shown: relevance floor first, then the later of what says the same or takes something back, then
//! one a turn, then the cut to three.

use std::collections::HashSet;

use remembrancer_schema::{EpisodeText, Importance, LoggedCandidate, ProjectId, Rank, TurnUid};

use super::floor::{Backing, Dropped};
use super::leg::Leg;
use super::succession::{self, Fall, Place};
use super::weigh::{Weighed, Weighing};
use super::{RecallSettings, Recollection};

/// What was chosen, and what became of the candidates that were judged.
pub(super) struct Choice {
    pub(super) recollections: Vec<Recollection>,
    pub(super) judged: Vec<LoggedCandidate>,
}

/// Walks `weighing` from the best down, until `settings.top` are found. `own` tells the prompt's own projects from others.
pub(super) fn choose(weighing: &Weighing, own: impl Fn(Option<ProjectId>) -> bool, settings: &RecallSettings) -> Choice {
    let candidates = &weighing.candidates;
    let admitted: Vec<Result<(), Dropped>> = candidates
        .iter()
        .map(|weighed| {
            settings
                .floor
                .admit(&backing(weighed, weighing.terms, &own, settings), &weighing.support)
        })
        .collect();
    let mut judge = Judge {
        settings,
        recollections: Vec::new(),
        judged: Vec::new(),
        turns: HashSet::new(),
    };
    for Place { candidate, fall } in succession::order(candidates, |candidate| {
        admitted[candidate].is_ok() && says_something(&candidates[candidate])
    }) {
        judge.judge(&candidates[candidate], admitted[candidate], fall);
    }
    Choice {
        recollections: judge.recollections,
        judged: judge.judged,
    }
}

struct Judge<'a> {
    settings: &'a RecallSettings,
    recollections: Vec<Recollection>,
    judged: Vec<LoggedCandidate>,
    turns: HashSet<TurnUid>,
}

impl Judge<'_> {
    fn judge(&mut self, weighed: &Weighed, admitted: Result<(), Dropped>, fall: Option<Fall>) {
        let dropped = admitted.and_then(|()| self.verdict(weighed, fall)).err();
        let position = dropped.is_none().then(|| self.recollections.len() as u32 + 1);
        self.judged.push(logged(weighed, dropped, position));
        if dropped.is_none() {
            let fused = &weighed.fused;
            self.turns.insert(fused.candidate.row.turn_uid);
            self.recollections.push(Recollection {
                episode: weighed.text.clone(),
                score: weighed.score,
                ranks: fused.ranks,
                cosine: fused.candidate.cosine.map(|cosine| cosine.0),
            });
        }
    }

    fn verdict(&self, weighed: &Weighed, fall: Option<Fall>) -> Result<(), Dropped> {
        let (row, text) = (&weighed.fused.candidate.row, &weighed.text);
        if fall == Some(Fall::Duplicate) {
            return Err(Dropped::DuplicateOf);
        }
        if self.recollections.len() >= self.settings.top {
            return Err(match fall {
                Some(Fall::Superseded) => Dropped::SupersededBy,
                _ => Dropped::BeyondTop,
            });
        }
        if !says_something(weighed) {
            return Err(Dropped::NoAnswer);
        }
        if self.turns.contains(&row.turn_uid) {
            return Err(Dropped::SameTurn);
        }
        if self.recollections.iter().any(|shown| says_the_same(&shown.episode, text)) {
            return Err(Dropped::SameText);
        }
        Ok(())
    }
}

/// How the prompt backs a candidate.
fn backing(weighed: &Weighed, terms: usize, own: &impl Fn(Option<ProjectId>) -> bool, settings: &RecallSettings) -> Backing {
    let candidate = &weighed.fused.candidate;
    Backing {
        cosine: candidate.cosine.map(|cosine| f64::from(cosine.0)),
        coverage: weighed.evidence.coverage,
        matched: weighed.evidence.matched,
        terms,
        foreign: settings.scope == super::ScopeRule::ProjectFirst && !own(candidate.row.project),
    }
}

/// Whether there is anything to be reminded of but a question.
fn says_something(weighed: &Weighed) -> bool {
    let (row, text) = (&weighed.fused.candidate.row, &weighed.text);
    !text.answer.trim().is_empty() || !text.facets.is_empty() || row.importance == Importance::High
}

/// The same question and the same answer, word for word, asked in another turn.
pub(super) fn says_the_same(a: &EpisodeText, b: &EpisodeText) -> bool {
    a.prompt == b.prompt && a.answer == b.answer
}

fn logged(weighed: &Weighed, dropped: Option<Dropped>, position: Option<u32>) -> LoggedCandidate {
    let fused = &weighed.fused;
    let rank = |leg: Leg| fused.ranks.of(leg).map(Rank::get);
    LoggedCandidate {
        episode: fused.candidate.row.id,
        fused: weighed.score,
        bm25: fused.candidate.bm25.map(|score| score.0),
        cosine: fused.candidate.cosine.map(|cosine| cosine.0),
        bm25_rank: rank(Leg::Bm25),
        vector_rank: rank(Leg::Vector),
        recency_rank: rank(Leg::Recency),
        access_rank: rank(Leg::Access),
        gate: dropped.map(|dropped| dropped.as_str().to_owned()),
        position,
    }
}
