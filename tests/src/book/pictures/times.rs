//! How long each step took, against the budget.

use serde_json::Value;

use super::svg::{Svg, WIDTH};

const TOP: i32 = 66;
const ROW: i32 = 24;
const BARS: i32 = 120;
const BAR: i32 = 12;
/// Pixels of the whole budget.
const SCALE: f64 = 520.0;

pub(super) fn draw(explanation: &Value) -> String {
    let stages = explanation["stages"].as_array().map_or(&[][..], Vec::as_slice);
    let times = &explanation["times"];
    let budget = times["budget_micros"].as_f64().unwrap_or(1.0);
    let whole = times["whole_micros"].as_f64().unwrap_or_default();
    let rows = stages.iter().map(|stage| {
        let micros = stage["micros"].as_f64().unwrap_or_default();
        (stage["name"].as_str().unwrap_or_default(), micros)
    });
    let rows: Vec<(&str, f64)> = rows.chain([("in all", whole)]).collect();
    let bottom = TOP + rows.len() as i32 * ROW;
    let mut svg = Svg::new(
        bottom + 42,
        &format!("Time of each step, against the budget of {:.0} ms", budget / 1e3),
    );
    svg.text(
        20,
        28,
        "b",
        &format!("Answered in {:.0} ms of {:.0} ms", whole / 1e3, budget / 1e3),
    );
    for (place, (name, micros)) in rows.iter().enumerate() {
        let y = TOP + place as i32 * ROW;
        let class = if *name == "in all" { "b" } else { "" };
        svg.text_to(BARS - 10, y + 4, class, name);
        let width = (SCALE * micros / budget).min(SCALE);
        svg.bar((BARS, y - 6), (width, BAR), usize::from(*name != "in all"), "");
        svg.text(WIDTH - 90, y + 4, "m", &format!("{:.1} ms", micros / 1e3));
    }
    let end = f64::from(BARS) + SCALE;
    svg.stroke((end, 46), (end, bottom - 8), "f");
    svg.text_to(
        end as i32 - 6,
        52,
        "s ft",
        &format!("the hook's budget, {:.0} ms", budget / 1e3),
    );
    svg.text(
        20,
        bottom + 18,
        "s",
        "Words and meaning are searched at the same time; meaning includes the embedding of the prompt.",
    );
    svg.finish()
}
