//! The score of each candidate, and its cosine beside the floor that it must reach.

use serde_json::Value;

use super::svg::{Svg, WIDTH};
use super::{asked, candidates};

const TOP: i32 = 96;
const ROW: i32 = 52;
/// Where the bars of scores and of cosines begin, and how wide the longest may be.
const SCORES: (i32, f64) = (20, 300.0);
const COSINES: (i32, f64) = (400, 280.0);
const BAR: i32 = 14;

pub(super) fn draw(explanation: &Value) -> String {
    let candidates = candidates(explanation);
    let rows = candidates.len() as i32;
    let best_score = best(candidates, "score");
    let best_cosine = best(candidates, "cosine");
    let bottom = TOP + rows * ROW;
    let mut svg = Svg::new(bottom + 46, "Score of each candidate, and its cosine beside the floor");
    svg.text(20, 28, "b", &answer(explanation));
    svg.text(SCORES.0, 60, "b", "score: the order");
    svg.text(COSINES.0, 60, "b", "cosine: what may be shown");
    for (place, candidate) in candidates.iter().enumerate() {
        let y = TOP + place as i32 * ROW;
        let class = if candidate["shown"].is_null() { "off" } else { "" };
        let score = candidate["score"].as_f64().unwrap_or_default();
        svg.text(SCORES.0, y - 4, "", &asked(candidate, 50));
        let width = SCORES.1 * (score / best_score).clamp(0.0, 1.0);
        svg.bar((SCORES.0, y + 4), (width, BAR), place, class);
        svg.text(SCORES.0 + SCORES.1 as i32 + 8, y + 16, "m", &format!("{score:.2}"));
        let became = candidate["shown"]
            .as_i64()
            .map_or("below the floor".to_owned(), |shown| format!("shown {shown}"));
        svg.text(COSINES.0, y - 4, "s", &became);
        let (width, value) = match candidate["cosine"].as_f64() {
            Some(cosine) => (COSINES.1 * (cosine / best_cosine).clamp(0.0, 1.0), format!("{cosine:.2}")),
            None => (0.0, "no vector".to_owned()),
        };
        svg.bar((COSINES.0, y + 4), (width, BAR), place, class);
        svg.text(COSINES.0 + COSINES.1 as i32 + 8, y + 16, "m", &value);
    }
    let share = gate(explanation, "relative-cosine")["threshold"].as_f64().unwrap_or_default();
    let x = f64::from(COSINES.0) + COSINES.1 * share;
    svg.stroke((x, 74), (x, bottom - 6), "f");
    svg.text_around(x as i32, bottom + 10, "s ft", &format!("{:.0} % of the best", share * 100.0));
    svg.text_to(
        WIDTH - 20,
        bottom + 32,
        "s",
        "Left of the dashed line a candidate needs the prompt's words instead (retrieval.md).",
    );
    svg.finish()
}

/// What the gate for all of them says.
fn answer(explanation: &Value) -> String {
    let gate = gate(explanation, "answer-probability");
    let value = gate["value"].as_f64().unwrap_or_default();
    let threshold = gate["threshold"].as_f64().unwrap_or_default();
    let passed = if gate["passed"] == true { "yes" } else { "no" };
    format!("Does the memory hold an answer? Probability {value:.2}, where {threshold:.2} is needed: {passed}")
}

fn gate<'a>(explanation: &'a Value, name: &str) -> &'a Value {
    let gates = explanation["gates"].as_array().map_or(&[][..], Vec::as_slice);
    gates.iter().find(|gate| gate["name"] == name).unwrap_or(&Value::Null)
}

fn best(candidates: &[Value], key: &str) -> f64 {
    let values = candidates.iter().filter_map(|candidate| candidate[key].as_f64());
    values.fold(f64::MIN_POSITIVE, f64::max)
}
