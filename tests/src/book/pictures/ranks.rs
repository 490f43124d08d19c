//! Which place each candidate has in which list, and where it ends: a way for each, from the lists to the order that was shown.

use serde_json::Value;

use super::svg::{Svg, WIDTH};
use super::{asked, candidates};

/// Columns from the left: what stands above each.
const COLUMNS: [(&str, &str, i32); 4] = [
    ("words", "BM25", 60),
    ("meaning", "cosine", 170),
    ("fused", "by ranks", 280),
    ("in the end", "40 weighed anew", 390),
];
const TOP: i32 = 92;
const ROW: i32 = 46;
/// Where the questions begin.
const QUESTIONS: i32 = 425;

pub(super) fn draw(explanation: &Value) -> String {
    let candidates = candidates(explanation);
    let rows = candidates.len() as i32;
    let mut svg = Svg::new(
        TOP + rows * ROW + 34,
        "Ranks of each candidate by words, by meaning, fused, and in the end",
    );
    svg.text(20, 28, "b", "From lists to one order");
    for (name, about, x) in COLUMNS {
        svg.text_around(x, 54, "b", name);
        svg.text_around(x, 70, "s", about);
    }
    for (place, candidate) in candidates.iter().enumerate() {
        let ranks = [
            candidate["ranks"]["bm25"].as_i64(),
            candidate["ranks"]["vector"].as_i64(),
            candidate["fused_place"].as_i64(),
            Some(place as i64 + 1),
        ];
        let class = if candidate["shown"].is_null() { "off" } else { "" };
        let points: Vec<(i32, i32, i64)> = COLUMNS
            .iter()
            .zip(ranks)
            .filter_map(|((_, _, x), rank)| rank.map(|rank| (*x, y_of(rank), rank)))
            .collect();
        let way: Vec<(i32, i32)> = points.iter().map(|(x, y, _)| (*x, *y)).collect();
        svg.way(&way, place, class);
        for (x, y, rank) in points {
            svg.dot(x, y, place, class);
            svg.text_around(x, y + 4, "n", &rank.to_string());
        }
        let y = y_of(place as i64 + 1);
        svg.text(QUESTIONS, y - 2, "", &asked(candidate, 42));
        let became = match candidate["shown"].as_i64() {
            Some(shown) => format!("shown, the {} of {}", ordinal(shown), shown_in_all(candidates)),
            None => candidate["dropped"].as_str().unwrap_or_default().to_owned(),
        };
        let id = candidate["id"].as_str().unwrap_or_default();
        svg.text(QUESTIONS, y + 14, "s", &format!("{id} · {became}"));
    }
    svg.stroke((20.0, TOP + rows * ROW), (f64::from(WIDTH - 20), TOP + rows * ROW), "l");
    svg.text(
        20,
        TOP + rows * ROW + 20,
        "s",
        "A number is a place, 1 the best. A candidate without a place in a list is not in it: it shares no word with the prompt.",
    );
    // Numbers on dots are read against the dot.
    svg.finish().replace("class=\"n\"", "class=\"b\" style=\"fill:var(--paper)\"")
}

fn y_of(rank: i64) -> i32 {
    TOP + rank as i32 * ROW - ROW / 2
}

fn shown_in_all(candidates: &[Value]) -> usize {
    candidates.iter().filter(|candidate| !candidate["shown"].is_null()).count()
}

fn ordinal(number: i64) -> String {
    match number {
        1 => "1st".to_owned(),
        2 => "2nd".to_owned(),
        3 => "3rd".to_owned(),
        other => format!("{other}th"),
    }
}
