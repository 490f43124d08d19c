//! Which of two candidates is the later word on one matter.
//!
//! In go the weighed candidates, best first, and which of them the floor admits; out comes the order in which they are judged. Of
//! near duplicates the newest stands in the place of the best, and the others fall. A later episode that takes back what an earlier
//! one says goes before it, where links between the two show it and not the words alone. Both rules ask for much: who is not the
//! later word for certain stays where it was ranked. Pure: the same candidates give the same order. See ADR 0048.

mod words;

use remembrancer_schema::{CandidateRow, Facets};

use super::weigh::Weighed;
use crate::ingest::command_key;
use words::{Reading, share_of_words};

/// Admitted candidates that are held against each other, of the prompt's own project and of others: four times as many as are shown, so
/// that what falls has something to come after it, and the pairs among them stay few.
const EXAMINED: usize = 12;
/// The cosine from which on two texts may say the same. Chosen: by all-MiniLM-L6-v2 two answers to one question lie at 0.6 to 0.9, a
/// text and itself with a word changed at 0.97 and more.
const DUPLICATE_COSINE: f64 = 0.95;
/// The share of words that near duplicates have in common. Chosen: of a paragraph of forty words two may be other ones.
const DUPLICATE_WORDS: f64 = 0.9;
/// The cosine from which on two episodes that touched the same file, ran the same command or met the same error are about one matter.
/// Chosen: that of the floor's ample evidence between a prompt and an episode (ADR 0012).
const LINKED_COSINE: f64 = 0.5;
/// The same for two that share nothing of that: as decisions do, which touch nothing.
const UNLINKED_COSINE: f64 = 0.7;

/// Why a candidate comes after a later one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fall {
    /// The later one says nearly the same.
    Duplicate,
    /// The later one takes back what it says.
    Superseded,
}

/// A candidate in the order in which it is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// Its place among the candidates as they were ranked.
    pub(super) candidate: usize,
    /// Why it comes after a later one, if it does for that reason.
    pub(super) fall: Option<Fall>,
    /// Whether it is the earlier or the later of any two, which keep the order that they were brought to.
    pub(super) is_bound: bool,
}

/// An earlier candidate and the later word on it, by their places.
#[derive(Debug, Clone, Copy)]
struct Succession {
    earlier: usize,
    later: usize,
    fall: Fall,
}

/// The order in which `candidates` are judged; `admitted` tells which of them, by their places, the floor lets through.
pub(super) fn order(candidates: &[Weighed], admitted: impl Fn(usize) -> bool) -> Vec<Place> {
    let admitted_of = |foreign: bool| {
        let of_it = (0..candidates.len()).filter(move |place| candidates[*place].fused.candidate.foreign == foreign);
        of_it.filter(|place| admitted(*place)).take(EXAMINED)
    };
    let examined: Vec<usize> = admitted_of(false).chain(admitted_of(true)).collect();
    let readings: Vec<Reading<'_>> = candidates.iter().map(|weighed| Reading::new(&weighed.text)).collect();
    let successions: Vec<Succession> = examined
        .iter()
        .filter_map(|earlier| later_word(candidates, &readings, *earlier, &examined))
        .collect();
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    // To bring one forward may bring it before what is later still: so often at most as there are candidates in question.
    for _ in 0..EXAMINED {
        let moves = successions.iter().filter(|one| bring_forward(&mut order, one)).count();
        if moves == 0 {
            break;
        }
    }
    // Whoever came after the later one anyhow has not fallen.
    let has_fallen = |one: &Succession| one.fall == Fall::Duplicate || one.later > one.earlier;
    let fall = |candidate: usize| {
        let of = successions.iter().find(|one| one.earlier == candidate && has_fallen(one));
        of.map(|one| one.fall)
    };
    order
        .into_iter()
        .map(|candidate| Place {
            candidate,
            fall: fall(candidate),
            is_bound: successions
                .iter()
                .any(|one| one.earlier == candidate || one.later == candidate),
        })
        .collect()
}

/// Brings the later of a pair directly before the earlier, where it is behind it. Returns whether it was.
fn bring_forward(order: &mut [usize], succession: &Succession) -> bool {
    let place = |candidate: usize| order.iter().position(|other| *other == candidate);
    match (place(succession.earlier), place(succession.later)) {
        (Some(earlier), Some(later)) if earlier < later => {
            order[earlier..=later].rotate_right(1);
            true
        }
        _ => false,
    }
}

/// A candidate and what is read of its text.
#[derive(Clone, Copy)]
struct Candidate<'a> {
    weighed: &'a Weighed,
    reading: &'a Reading<'a>,
}

impl<'a> Candidate<'a> {
    fn at(place: usize, candidates: &'a [Weighed], readings: &'a [Reading<'a>]) -> Self {
        Self {
            weighed: &candidates[place],
            reading: &readings[place],
        }
    }
}

/// The newest that says nearly the same as the candidate at `earlier`; else the newest that takes it back.
fn later_word(candidates: &[Weighed], readings: &[Reading<'_>], earlier: usize, examined: &[usize]) -> Option<Succession> {
    let of = Candidate::at(earlier, candidates, readings);
    let newest = |is: fn(Candidate<'_>, Candidate<'_>) -> bool| {
        examined
            .iter()
            .copied()
            .filter(|later| may_follow(&candidates[*later], of.weighed) && is(Candidate::at(*later, candidates, readings), of))
            .max_by_key(|later| (row(&candidates[*later]).created_at, row(&candidates[*later]).id))
    };
    let found = newest(says_nearly_the_same)
        .map(|later| (later, Fall::Duplicate))
        .or_else(|| newest(takes_back).map(|later| (later, Fall::Superseded)));
    found.map(|(later, fall)| Succession { earlier, later, fall })
}

fn row(weighed: &Weighed) -> &CandidateRow {
    &weighed.fused.candidate.row
}

/// Whether `later` may be the later word at all: of another turn of the same project, and of no less importance.
fn may_follow(later: &Weighed, earlier: &Weighed) -> bool {
    let (later, earlier) = (row(later), row(earlier));
    later.created_at > earlier.created_at
        && later.turn_uid != earlier.turn_uid
        && later.project == earlier.project
        && later.importance >= earlier.importance
}

/// Whether the words are nearly the same, and nothing of what the prompt asks for stands in the earlier one alone.
fn says_nearly_the_same(later: Candidate<'_>, earlier: Candidate<'_>) -> bool {
    later.weighed.evidence.coverage >= earlier.weighed.evidence.coverage
        && cosine(later.weighed, earlier.weighed).is_none_or(|cosine| cosine >= DUPLICATE_COSINE)
        && share_of_words(later.reading, earlier.reading) >= DUPLICATE_WORDS
}

/// Whether both are about one matter, and the later says that it is otherwise now.
fn takes_back(later: Candidate<'_>, earlier: Candidate<'_>) -> bool {
    let Some(cosine) = cosine(later.weighed, earlier.weighed).filter(|cosine| *cosine >= LINKED_COSINE) else {
        return false;
    };
    (cosine >= UNLINKED_COSINE || share_something(&later.weighed.text.facets, &earlier.weighed.text.facets))
        && later.reading.revises()
}

/// The cosine of two candidates; `None` where one of them has no vector.
fn cosine(a: &Weighed, b: &Weighed) -> Option<f64> {
    let (a, b) = (row(a).embedding.as_deref()?, row(b).embedding.as_deref()?);
    (a.len() == b.len()).then(|| a.iter().zip(b).map(|(a, b)| f64::from(a * b)).sum())
}

/// Whether both touched a file, ran a command or met an error that is the same.
fn share_something(a: &Facets, b: &Facets) -> bool {
    let common = |a: &[String], b: &[String]| a.iter().any(|one| b.contains(one));
    let ran = |one: &String| a.commands.iter().any(|other| command_key(other) == command_key(one));
    common(&a.files, &b.files) || common(&a.errors, &b.errors) || b.commands.iter().any(ran)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn superseded(earlier: usize, later: usize) -> Succession {
        Succession {
            earlier,
            later,
            fall: Fall::Superseded,
        }
    }

    #[rstest]
    #[case::behind(superseded(0, 2), &[2, 0, 1], true)]
    #[case::before(superseded(2, 0), &[0, 1, 2], false)]
    #[case::no_candidate(superseded(0, 7), &[0, 1, 2], false)]
    fn the_later_goes_directly_before_the_earlier(
        #[case] succession: Succession,
        #[case] expected: &[usize],
        #[case] is_moved: bool,
    ) {
        let mut order = vec![0, 1, 2];
        assert_eq!(bring_forward(&mut order, &succession), is_moved);
        assert_eq!(order, expected);
    }

    #[test]
    fn nothing_is_ordered_of_nothing() {
        assert_eq!(order(&[], |_| true), []);
    }
}
