//! The candidates of an explanation, three lines each: the row with its ranks, what its score is the sum of, and why it was not shown. In
//! goes the explanation and how wide lines may be, out come lines. A narrow table has the lists that nearly always decide, a wide one all.

use super::hanging;
use crate::cli::terminal::cut;
use crate::explanation::{Candidate, Explanation, Ranks};
use crate::whose::{Sharer, mark};

/// From so many columns on all lists have theirs.
const WIDE: usize = 110;
/// Parts of a score that are told, the weightiest first.
const MOST_PARTS: usize = 6;
/// A part below this share of the weightiest is not told.
const LEAST_SHARE: f64 = 0.02;

/// A column of ranks: its heading, and the rank that it shows.
type Column = (&'static str, fn(&Ranks) -> Option<u32>);

const NARROW_COLUMNS: &[Column] = &[("bm25", |ranks| ranks.bm25), ("vector", |ranks| ranks.vector)];
const WIDE_COLUMNS: &[Column] = &[
    ("bm25", |ranks| ranks.bm25),
    ("vector", |ranks| ranks.vector),
    ("recency", |ranks| ranks.recency),
    ("access", |ranks| ranks.access),
    ("graph", |ranks| ranks.graph),
];

/// The table.
pub(super) fn lines(explanation: &Explanation, columns: usize) -> Vec<String> {
    let ranks = if columns >= WIDE { WIDE_COLUMNS } else { NARROW_COLUMNS };
    let titles: Vec<String> = ranks.iter().map(|(title, _)| format!(" {title:>7}")).collect();
    let titles = titles.concat();
    let mut lines = vec![format!(
        "  {:<14} {:<9} {:>8} {:>6} {:>6}{titles}",
        "", "id", "score", "fused", "cosine"
    )];
    for candidate in &explanation.candidates {
        lines.push(row(candidate, ranks));
        if let Some(asked) = &candidate.asked {
            let asked = mark(candidate.shared_by.as_ref().and_then(Sharer::other)) + asked;
            lines.push(format!("    {}", cut(&asked, columns.saturating_sub(4))));
        }
        if candidate.other_project {
            let of = candidate.project.as_deref().unwrap_or("another project");
            let told = format!("of {of}: ranked among what other projects have, behind the prompt's own");
            lines.extend(hanging("  ", &told, columns));
        }
        if let Some(sum) = sum(explanation, candidate) {
            lines.extend(hanging("  = ", &sum, columns));
        }
        if let Some(because) = &candidate.because {
            lines.extend(hanging("  ", because, columns));
        }
    }
    lines
}

fn row(candidate: &Candidate, ranks: &[Column]) -> String {
    let verdict = match candidate.shown {
        Some(position) => format!("shown {position}"),
        None => candidate.dropped.clone().unwrap_or_else(|| "-".to_owned()),
    };
    let number = |value: Option<f64>, digits: usize| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"));
    let rank = |rank: Option<u32>| rank.map_or_else(|| "-".to_owned(), |rank| format!("#{rank}"));
    let cells = ranks.iter().map(|(_, of)| format!(" {:>7}", rank(of(&candidate.ranks))));
    let cells = cells.collect::<Vec<_>>().concat();
    format!(
        "  {verdict:<14} {:<9} {:>8} {:>6} {:>6}{cells}",
        candidate.id.as_deref().unwrap_or("gone"),
        number(candidate.score, 4),
        rank(candidate.fused_place),
        number(candidate.cosine, 3),
    )
}

/// What a score is the sum of: of the second stage where there was one, else the fused one.
fn sum(explanation: &Explanation, candidate: &Candidate) -> Option<String> {
    let (names, values) = if candidate.second_parts.is_empty() {
        (&explanation.fused_parts, &candidate.fused_parts)
    } else {
        (&explanation.second_parts, &candidate.second_parts)
    };
    let weightiest = values.iter().map(|value| value.abs()).fold(0.0, f64::max);
    let mut parts: Vec<(&String, f64)> = names
        .iter()
        .zip(values.iter().copied())
        .filter(|(_, value)| *value != 0.0 && value.abs() >= LEAST_SHARE * weightiest)
        .collect();
    // Stable: equal parts stay in their order.
    parts.sort_by(|(_, a), (_, b)| b.abs().total_cmp(&a.abs()));
    let told = parts
        .iter()
        .take(MOST_PARTS)
        .map(|(name, value)| format!("{name} {value:+.3}"));
    let told: Vec<String> = told.collect();
    let more = parts.len().saturating_sub(MOST_PARTS);
    let rest = if more > 0 {
        format!(", {more} smaller")
    } else {
        String::new()
    };
    let before = if explanation.reranked { "before the reranker: " } else { "" };
    (!told.is_empty()).then(|| format!("{before}{}{rest}", told.join(", ")))
}
