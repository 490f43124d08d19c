//! From the ranked order to what is shown: relevance floor first, then the later of what says the same or takes something back, then
//! one a turn and rather another session than the same again, then the cut to three.

use std::collections::HashSet;

use remembrancer_schema::{EpisodeText, Importance, LoggedCandidate, Rank, SessionId, TurnUid};

use super::floor::{Backing, Dropped};
use super::fusion::Candidate;
use super::leg::Leg;
use super::succession::{self, Fall, Place};
use super::weigh::{Weighed, Weighing, users_word};
use super::{RecallSettings, Recollection};

/// What was chosen, and what became of the candidates that were judged.
pub(super) struct Choice {
    pub(super) recollections: Vec<Recollection>,
    pub(super) judged: Vec<LoggedCandidate>,
}

/// By how much of the second stage's scores a candidate of a session that is shown already is put behind those of others (ADR 0059).
/// Between the first and the fourth of a prompt lie about one and a half.
pub const SESSION_SPREAD: f64 = 0.5;

/// Walks `weighing` in its order, until `settings.top` are found. `spread` is what being of a session that is shown already takes from a
/// score; 0 leaves each in its place.
pub(super) fn choose(weighing: &Weighing, settings: &RecallSettings, spread: f64) -> Choice {
    let candidates = &weighing.candidates;
    let admitted: Vec<Result<(), Dropped>> = candidates
        .iter()
        .enumerate()
        .map(|(place, weighed)| {
            let backing = Backing {
                first: place == 0 && settings.profile.second_stage.is_some(),
                ..backing(weighed, weighing.terms)
            };
            settings.floor.admit(&backing, &weighing.support)
        })
        .collect();
    let mut judge = Judge {
        settings,
        recollections: Vec::new(),
        judged: Vec::new(),
        turns: HashSet::new(),
        sessions: HashSet::new(),
        best_own_cosine: -1.0,
        first_coverage: None,
    };
    let mut places: Vec<Judged<'_>> = succession::order(candidates, |candidate| {
        admitted[candidate].is_ok() && says_something(&candidates[candidate])
    })
    .into_iter()
    .map(
        |Place {
             candidate,
             fall,
             is_bound,
         }| Judged {
            weighed: &candidates[candidate],
            admitted: admitted[candidate],
            fall,
            is_bound,
        },
    )
    .collect();
    let own = places
        .iter()
        .filter(|place| !place.candidate().foreign && judge.dropped(place).is_none());
    judge.best_own_cosine = own.filter_map(Judged::cosine).fold(-1.0, f64::max);
    while !places.is_empty() {
        let next = judge.next(&places, spread);
        judge.judge(places.remove(next));
    }
    Choice {
        recollections: judge.recollections,
        judged: judge.judged,
    }
}

/// A candidate in the order in which it is judged.
#[derive(Clone, Copy)]
struct Judged<'a> {
    weighed: &'a Weighed,
    /// What the floor says.
    admitted: Result<(), Dropped>,
    fall: Option<Fall>,
    /// Whether it is the later word on another, or another is on it.
    is_bound: bool,
}

impl Judged<'_> {
    fn candidate(&self) -> &Candidate {
        &self.weighed.fused.candidate
    }

    fn cosine(&self) -> Option<f64> {
        self.candidate().cosine.map(|cosine| f64::from(cosine.0))
    }

    fn session(&self) -> SessionId {
        self.candidate().row.session
    }

    /// Whether it stands where it was ranked, whatever its session: by ADR 48, or by the user's word. (All facts are of one session,
    /// and of as many matters as there are facts.)
    fn is_fixed(&self) -> bool {
        self.is_bound || users_word(&self.weighed.text) > 0.0
    }
}

struct Judge<'a> {
    settings: &'a RecallSettings,
    recollections: Vec<Recollection>,
    judged: Vec<LoggedCandidate>,
    turns: HashSet<TurnUid>,
    sessions: HashSet<SessionId>,
    /// The best cosine of what may be shown of the prompt's own project.
    best_own_cosine: f64,
    /// How much of the prompt's words the first that is shown holds.
    first_coverage: Option<f64>,
}

impl Judge<'_> {
    /// Which of `places` comes next: the first, unless it is of a session that is shown already and one of another comes close.
    fn next(&self, places: &[Judged<'_>], spread: f64) -> usize {
        if let Some(place) = self.leading(places) {
            return place;
        }
        let is_of_shown = |one: &Judged<'_>| self.sessions.contains(&one.session());
        let [first, others @ ..] = places else {
            return 0;
        };
        if spread <= 0.0 || first.is_fixed() || !is_of_shown(first) || self.dropped(first).is_some() {
            return 0;
        }
        let least = first.weighed.score - spread;
        let is_its_like = |one: &Judged<'_>| one.candidate().foreign == first.candidate().foreign && !one.is_fixed();
        let takes_its_place =
            |one: &Judged<'_>| is_its_like(one) && one.weighed.score > least && !is_of_shown(one) && self.dropped(one).is_none();
        others.iter().position(takes_its_place).map_or(0, |place| place + 1)
    }

    /// The place of what is of another project and leads, where it is time for that: it stands behind the prompt's own, and yet is shown,
    /// in the last place. Where a later episode takes it back, that one's.
    fn leading(&self, places: &[Judged<'_>]) -> Option<usize> {
        if self.recollections.len() + 1 != self.settings.top {
            return None;
        }
        let first_coverage = self.first_coverage?;
        let leads = |one: &Judged<'_>| {
            let is_nearer = one.cosine().is_some_and(|cosine| cosine > self.best_own_cosine);
            one.candidate().foreign && is_nearer && one.weighed.evidence.coverage >= first_coverage && self.dropped(one).is_none()
        };
        let mut place = places.iter().position(leads)?;
        let is_taken_back_by = |later: &Judged<'_>| later.candidate().foreign && later.is_bound && self.dropped(later).is_none();
        while places[place].fall == Some(Fall::Superseded) && place > 0 && is_taken_back_by(&places[place - 1]) {
            place -= 1;
        }
        Some(place)
    }

    fn dropped(&self, one: &Judged<'_>) -> Option<Dropped> {
        one.admitted.and_then(|()| self.verdict(one.weighed, one.fall)).err()
    }

    fn judge(&mut self, one: Judged<'_>) {
        let (weighed, dropped) = (one.weighed, self.dropped(&one));
        let position = dropped.is_none().then(|| self.recollections.len() as u32 + 1);
        self.judged.push(logged(weighed, dropped, position));
        if dropped.is_none() {
            let fused = &weighed.fused;
            self.first_coverage.get_or_insert(weighed.evidence.coverage);
            self.turns.insert(fused.candidate.row.turn_uid);
            self.sessions.insert(fused.candidate.row.session);
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
fn backing(weighed: &Weighed, terms: usize) -> Backing {
    let candidate = &weighed.fused.candidate;
    Backing {
        cosine: candidate.cosine.map(|cosine| f64::from(cosine.0)),
        coverage: weighed.evidence.coverage,
        matched: weighed.evidence.matched,
        terms,
        foreign: candidate.foreign,
        first: false,
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
