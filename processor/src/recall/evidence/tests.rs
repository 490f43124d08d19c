//! Features by hand.

use remembrancer_schema::{
    Bm25, CandidateRow, Cosine, EpisodeId, EpisodeText, EpisodeUid, Importance, Origin, SessionId, TurnUid, UnixMillis,
};

use super::*;
use crate::recall::nearness::Nearness;
use crate::recall::occurrences::tests::{text, weights};
use crate::recall::{Candidate, RRF, fuse};

/// A candidate of session 1, turn `turn`.
fn candidate(turn: u8, bm25: Option<f64>, cosine: Option<f32>) -> Candidate {
    Candidate {
        row: CandidateRow {
            id: EpisodeId(i64::from(turn)),
            uid: EpisodeUid([turn; 16]),
            turn_uid: TurnUid([turn; 16]),
            session: SessionId(1),
            turn: u32::from(turn),
            part: 0,
            project: None,
            origin: Origin::User,
            importance: Importance::Normal,
            created_at: UnixMillis(i64::from(turn)),
            accessed_at: UnixMillis(0),
            access_count: 0,
            embedding: None,
        },
        bm25: bm25.map(Bm25),
        cosine: cosine.map(Cosine),
        expansion: None,
        graph: None,
        timely: None,
        foreign: false,
        remote: None,
        exact: false,
    }
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-6, "{a} is not {b}");
}

fn evidence(pool: Vec<Candidate>, turn: u8, text: &EpisodeText, terms: &TermWeights) -> Evidence {
    let fused = fuse(pool, &RRF, UnixMillis(0));
    let background = Background::of(&fused);
    let one = fused
        .iter()
        .find(|fused| fused.candidate.row.turn == u32::from(turn))
        .unwrap();
    background.evidence(one, &Occurrences::of(text, terms, &mut Nearness::to(&[])), terms)
}

#[test]
fn features_by_hand() {
    let terms = weights(&[("socket", 2), ("hang", 40), ("zeppelin", 0)], 100);
    let pool = vec![
        candidate(1, Some(-8.0), Some(0.6)),
        candidate(2, Some(-4.0), Some(0.8)),
        candidate(4, None, Some(0.1)),
    ];
    let found = evidence(pool, 2, &text("why does the socket hang", "a lock was held"), &terms);
    let idf = |df: f64| (1.0 + (100.0 - df + 0.5) / (df + 0.5)).ln();
    let total = idf(2.0) + idf(40.0) + idf(0.0);
    close(found.bm25_share, 0.5);
    close(found.cosine_share, 1.0);
    close(found.bm25_reciprocal, 1.0 / 7.0);
    close(found.vector_reciprocal, 1.0 / 6.0);
    close(found.coverage, (idf(2.0) + idf(40.0)) / total);
    close(found.prompt_coverage, found.coverage);
    close(found.passage_coverage, found.coverage);
    assert!(!terms.rarest(&Occurrences::of(&text("", "the socket hangs"), &terms, &mut Nearness::to(&[])).anywhere));
    close(found.bm25_absolute, 4.0 / (2.2 * (idf(2.0) + idf(40.0))));
    close(found.known_terms, (idf(2.0) + idf(40.0)) / total);
    assert_eq!(found.matched, 2);
    // Background: 0.6, 0.8 and 0.1, and twenty thought ones of mean 0.1 and deviation 0.1.
    let mean = (0.6 + 0.8 + 0.1 + 20.0 * 0.1) / 23.0;
    let squares: f64 = [0.6_f64, 0.8, 0.1].iter().map(|cosine| (cosine - mean).powi(2)).sum();
    let deviation = ((squares + 20.0 * (0.01 + (0.1 - mean).powi(2))) / 23.0).sqrt();
    close(found.cosine_deviation, (0.8 - mean) / deviation);
}

#[test]
fn without_a_vector_and_without_a_hit_the_legs_say_nothing() {
    let found = evidence(vec![candidate(1, None, None)], 1, &text("", ""), &weights(&[], 10));
    assert!(found.features().iter().all(|value| *value == 0.0), "{found:?}");
}

#[test]
fn what_waits_for_its_vector_is_as_near_as_its_words_cover() {
    let terms = weights(&[("socket", 2), ("hang", 2)], 1_000);
    let pool = || vec![candidate(1, Some(-4.0), None), candidate(2, Some(-4.0), Some(0.8))];
    let waiting = evidence(pool(), 1, &text("", "the socket"), &terms);
    let embedded = evidence(pool(), 2, &text("", "the socket"), &terms);
    close(waiting.cosine_deviation, 0.5 * embedded.cosine_deviation);
    close(waiting.vector_reciprocal, 0.5 / 6.0);
    close(waiting.cosine, 0.0);
}

#[test]
fn a_rare_term_counts_for_more_than_a_common_one() {
    let terms = weights(&[("socket", 2), ("file", 900)], 1_000);
    let covered = |answer: &str| evidence(vec![candidate(1, None, None)], 1, &text("", answer), &terms);
    let (rare, common) = (covered("the socket hung"), covered("a file is there"));
    assert!(rare.coverage > 0.9 && common.coverage < 0.1);
    assert_eq!(rare.matched, 1);
    close(rare.prompt_coverage, 0.0);
}

#[test]
fn words_far_apart_are_no_passage() {
    let terms = weights(&[("socket", 2), ("lock", 2)], 1_000);
    let far = format!("socket {} lock", "x ".repeat(60));
    let covered = |answer: &str| evidence(vec![candidate(1, None, None)], 1, &text("", answer), &terms);
    close(covered(&far).passage_coverage, 0.5);
    close(covered("socket and lock").passage_coverage, 1.0);
    close(
        evidence(vec![candidate(1, None, None)], 1, &text("socket", "lock"), &terms).passage_coverage,
        0.5,
    );
}

#[test]
fn a_phrase_is_shared_word_for_word() {
    let names = ["socket".to_owned(), "hang".to_owned()];
    let weights = TermWeights::new(&names, &[5, 5], 1_000, "why does the `socket` of the hang?", None);
    let phrase = |answer: &str| evidence(vec![candidate(1, None, None)], 1, &text("", answer), &weights).quoted;
    close(phrase("here: the Socket of (the) hang is"), 1.0);
    close(phrase("the sockets of the hang"), 0.25);
    close(phrase("a socket and the hang"), 0.25);
    close(phrase("nothing of the kind"), 0.0);
    close(
        evidence(
            vec![candidate(1, None, None)],
            1,
            &text("the socket", "of the hang"),
            &weights,
        )
        .quoted,
        0.25,
    );
}
