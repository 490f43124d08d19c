//! Two small pictures of how an answer came about: where each candidate stood in each list, and where the time went against the budget.
//! An explanation comes in, inline SVG goes out, drawn with attributes and classes alone: the page's policy forbids style in it. What a
//! picture says stands in a table beside it, so that it is hidden from who reads by ear.

use maud::{Markup, html};
use remembrancer_hooks::clock;

use super::Said;
use super::times::millis;
use crate::explanation::{Candidate, Explanation, Ranks, Times};

/// Candidates whose ways are drawn: more can't be told apart.
const CANDIDATES: usize = 8;
/// Ranks below the deepest that is drawn stand on one line with it.
const DEEPEST: u32 = 12;
/// The hook's budget in microseconds, where the explanation does not say it.
const BUDGET: u64 = clock::BUDGET.as_micros() as u64;

/// Width of both pictures, in units of their own: about pixels on a telephone.
const WIDTH: f64 = 360.0;
/// Room on either side of the ranks, for the names of lists and ids.
const LEFT: f64 = 30.0;
const RIGHT: f64 = 66.0;

/// A candidate's rank in one list.
pub(super) type RankIn = fn(&Ranks) -> Option<u32>;

/// Width of the words behind a bar.
const LABEL: f64 = 36.0;

/// The lists, as they are called here.
const COLUMNS: [(&str, RankIn); 7] = [
    ("words", |ranks| ranks.bm25),
    ("meaning", |ranks| ranks.vector),
    ("age", |ranks| ranks.recency),
    ("use", |ranks| ranks.access),
    ("talk", |ranks| ranks.expansion),
    ("links", |ranks| ranks.graph),
    ("shared", |ranks| ranks.remote),
];

/// The lists in which a candidate has a rank.
pub(super) fn columns(candidates: &[Candidate]) -> Vec<(&'static str, RankIn)> {
    let is_ranked = |(_, rank): &(&str, RankIn)| candidates.iter().any(|candidate| rank(&candidate.ranks).is_some());
    COLUMNS.into_iter().filter(is_ranked).collect()
}

/// One candidate's way through the lists: where it stands in each, and at last.
struct Way<'a> {
    candidate: &'a Candidate,
    points: Vec<(f64, f64)>,
}

/// How high a rank stands.
fn height(rank: u32) -> f64 {
    34.0 + f64::from(rank.clamp(1, DEEPEST) - 1) * 15.0
}

fn ways(candidates: &[Candidate]) -> Vec<Way<'_>> {
    let columns = columns(candidates);
    let step = (WIDTH - LEFT - RIGHT) / columns.len().max(1) as f64;
    let mut ways = Vec::new();
    for (place, candidate) in (1..).zip(candidates.iter().take(CANDIDATES)) {
        let in_list =
            |(number, (_, rank)): (usize, &(&str, RankIn))| Some((LEFT + step * number as f64, height(rank(&candidate.ranks)?)));
        let mut points: Vec<(f64, f64)> = columns.iter().enumerate().filter_map(in_list).collect();
        points.push((LEFT + step * columns.len() as f64, height(place)));
        ways.push(Way { candidate, points });
    }
    ways
}

/// The ranks of the first candidates, list by list; nothing where there are none.
pub(super) fn ranks(explanation: &Explanation) -> Option<Markup> {
    let candidates = &explanation.candidates;
    let columns = columns(candidates);
    if candidates.is_empty() || columns.is_empty() {
        return None;
    }
    let ways = ways(candidates);
    let deepest = ways
        .iter()
        .flat_map(|way| way.points.iter().map(|point| point.1))
        .fold(0.0, f64::max);
    let step = (WIDTH - LEFT - RIGHT) / columns.len() as f64;
    Some(html! {
        svg.chart viewBox=(format!("0 0 {WIDTH} {:.0}", deepest + 16.0)) aria-hidden="true" focusable="false" {
            @for (number, (name, _)) in columns.iter().enumerate() {
                (column(LEFT + step * number as f64, deepest, name))
            }
            (column(LEFT + step * columns.len() as f64, deepest, "in the end"))
            // What was shown is drawn last, and lies on top.
            @for way in ways.iter().filter(|way| way.candidate.shown.is_none()) { (drawn(way)) }
            @for way in ways.iter().filter(|way| way.candidate.shown.is_some()) { (drawn(way)) }
        }
    })
}

fn column(x: f64, deepest: f64, name: &str) -> Markup {
    html! {
        line.axis x1=(at(x)) x2=(at(x)) y1="26" y2=(at(deepest + 6.0)) {}
        text.label x=(at(x)) y="14" text-anchor="middle" { (name) }
    }
}

fn drawn(way: &Way<'_>) -> Markup {
    let line: Vec<String> = way.points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let (x, y) = way.points.last().copied().unwrap_or_default();
    let class = if way.candidate.shown.is_some() { "way shown" } else { "way" };
    html! {
        g class=(class) {
            polyline points=(line.join(" ")) {}
            @for (x, y) in &way.points { circle cx=(at(*x)) cy=(at(*y)) r="3.2" {} }
            text x=(at(x + 8.0)) y=(at(y + 3.6)) { (Said(way.candidate.id.as_deref().unwrap_or("gone"))) }
        }
    }
}

fn at(value: f64) -> String {
    format!("{value:.1}")
}

/// A part of the time.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) name: String,
    /// From the hook's start, in microseconds.
    pub(super) from: u64,
    pub(super) micros: u64,
}

/// Where the time went, in order: what had passed before the daemon was asked, its stages, and what was around them.
pub(super) fn spans(explanation: &Explanation) -> Vec<Span> {
    let Times {
        budget_micros,
        left_micros,
        whole_micros,
    } = explanation.times;
    let before = budget_micros
        .zip(left_micros)
        .map(|(budget, left)| budget.saturating_sub(left));
    let mut spans = Vec::new();
    let mut from = 0;
    let mut push = |name: &str, micros: u64| {
        spans.push(Span {
            name: name.to_owned(),
            from,
            micros,
        });
        from += micros;
    };
    if let Some(before) = before {
        push("until asked", before);
    }
    for stage in &explanation.stages {
        push(&stage.name, stage.micros);
    }
    let in_stages: u64 = explanation.stages.iter().map(|stage| stage.micros).sum();
    if let Some(whole) = whole_micros {
        push("around them", whole.saturating_sub(in_stages));
    }
    spans
}

/// The time against the budget; nothing where none is known.
pub(super) fn time(explanation: &Explanation) -> Option<Markup> {
    let spans = spans(explanation);
    if spans.is_empty() {
        return None;
    }
    let budget = explanation.times.budget_micros.unwrap_or(BUDGET);
    let end = spans.last().map_or(0, |span| span.from + span.micros);
    let scale = (WIDTH - 92.0 - 54.0) / end.max(budget) as f64;
    let x = |micros: u64| 92.0 + micros as f64 * scale;
    let bottom = spans.len() as f64 * 17.0 + 20.0;
    Some(html! {
        svg.chart viewBox=(format!("0 0 {WIDTH} {:.0}", bottom + 4.0)) aria-hidden="true" focusable="false" {
            line.budget x1=(at(x(budget))) x2=(at(x(budget))) y1="18" y2=(at(bottom)) {}
            text.label x=(at(x(budget))) y="12" text-anchor="middle" { (millis(budget)) }
            @for (number, span) in spans.iter().enumerate() {
                @let y = 22.0 + number as f64 * 17.0;
                text.label x="86" y=(at(y + 9.0)) text-anchor="end" { (Said(&span.name)) }
                rect.span x=(at(x(span.from))) y=(at(y)) width=(at((span.micros as f64 * scale).max(1.0))) height="11" rx="1.5" {}
                text.label x=(at(beside(x(span.from + span.micros), x(budget)))) y=(at(y + 9.0)) { (millis(span.micros)) }
            }
        }
    })
}

/// Where the words begin behind a bar that ends at `end`: not on the line of the budget.
fn beside(end: f64, line: f64) -> f64 {
    let begin = end + 4.0;
    if begin + LABEL > line && begin < line + 4.0 {
        line + 4.0
    } else {
        begin
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explanation::Stage;

    fn candidate(id: &str, bm25: Option<u32>, vector: Option<u32>, shown: Option<u32>) -> Candidate {
        Candidate {
            id: Some(id.to_owned()),
            shown,
            ranks: Ranks {
                bm25,
                vector,
                ..Ranks::default()
            },
            ..Candidate::default()
        }
    }

    fn answered() -> Explanation {
        Explanation {
            candidates: vec![
                candidate("aaaaaaaa", Some(3), Some(1), Some(1)),
                candidate("bbbbbbbb", None, Some(2), None),
                candidate("<cccccc>", Some(90), None, None),
            ],
            stages: vec![
                Stage {
                    name: "embed".to_owned(),
                    micros: 9_000,
                },
                Stage {
                    name: "legs".to_owned(),
                    micros: 3_000,
                },
            ],
            times: Times {
                budget_micros: Some(240_000),
                left_micros: Some(237_000),
                whole_micros: Some(14_000),
            },
            ..Explanation::default()
        }
    }

    #[test]
    fn a_way_has_a_point_for_each_list_that_ranks_it_and_one_at_the_end() {
        let explanation = answered();
        let ways = ways(&explanation.candidates);
        let points: Vec<usize> = ways.iter().map(|way| way.points.len()).collect();
        assert_eq!(points, [3, 2, 2]);
        assert!((ways[0].points[0].1 - height(3)).abs() < 0.01);
        assert!(
            (ways[2].points[0].1 - height(DEEPEST)).abs() < 0.01,
            "what lies deeper stands at the bottom"
        );
        let drawn = ranks(&explanation).unwrap().into_string();
        assert_eq!(drawn.matches("<polyline").count(), 3);
        assert!(
            drawn.rfind("way shown") > drawn.rfind("bbbbbbbb"),
            "what was shown lies on top: {drawn}"
        );
        assert!(
            drawn.contains("words") && drawn.contains("meaning") && !drawn.contains("age"),
            "{drawn}"
        );
        assert!(drawn.contains("&lt;cccccc&gt;") && !drawn.contains("style"), "{drawn}");
        assert!(ranks(&Explanation::default()).is_none());
    }

    #[test]
    fn the_time_is_whole_and_stands_against_the_budget() {
        let explanation = answered();
        let told: Vec<(String, u64, u64)> = spans(&explanation)
            .into_iter()
            .map(|span| (span.name, span.from, span.micros))
            .collect();
        let expected = [
            ("until asked", 0, 3_000),
            ("embed", 3_000, 9_000),
            ("legs", 12_000, 3_000),
            ("around them", 15_000, 2_000),
        ];
        assert_eq!(told, expected.map(|(name, from, micros)| (name.to_owned(), from, micros)));
        let drawn = time(&explanation).unwrap().into_string();
        assert!(
            drawn.contains("240 ms") && drawn.contains("9.0 ms") && !drawn.contains("style"),
            "{drawn}"
        );
        assert!(time(&Explanation::default()).is_none());
    }

    #[test]
    fn words_stand_beside_the_line_of_the_budget() {
        let near = |value: f64, expected: f64| (value - expected).abs() < 0.01;
        assert!(near(beside(100.0, 300.0), 104.0));
        assert!(near(beside(290.0, 300.0), 304.0) && near(beside(299.0, 300.0), 304.0));
        assert!(near(beside(301.0, 300.0), 305.0));
    }

    #[test]
    fn no_point_lies_outside_of_the_picture() {
        let explanation = answered();
        for (x, _) in ways(&explanation.candidates).iter().flat_map(|way| way.points.clone()) {
            assert!((0.0..=WIDTH - RIGHT + 0.1).contains(&x), "{x}");
        }
    }
}
