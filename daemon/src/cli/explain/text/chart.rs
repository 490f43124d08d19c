//! Where the time went, as a chart in plain characters. In go stages and times, out come lines: a bar a stage, as long as its share of the
//! budget; of the longest stage where there is none.

use super::hanging;
use crate::explanation::{Stage, Times};

/// Columns before a bar.
const BEFORE: usize = 23;
/// The narrowest chart.
const LEAST: usize = 10;

/// The chart; no lines where there are no stages.
pub(super) fn lines(stages: &[Stage], times: Times, columns: usize) -> Vec<String> {
    if stages.is_empty() {
        return Vec::new();
    }
    let width = columns.saturating_sub(BEFORE + 1).max(LEAST);
    let longest = stages.iter().map(|stage| stage.micros).max().unwrap_or_default();
    let full = times.budget_micros.unwrap_or(longest).max(1);
    let mut rows: Vec<(&str, u64)> = stages.iter().map(|stage| (stage.name.as_str(), stage.micros)).collect();
    let in_stages: u64 = rows.iter().map(|(_, micros)| micros).sum();
    if let Some(whole) = times.whole_micros {
        // Waiting for a thread, reading the prompt, writing the file.
        rows.push(("around it", whole.saturating_sub(in_stages)));
        rows.push(("in all", whole));
    }
    let mut lines: Vec<String> = rows
        .into_iter()
        .map(|(name, micros)| format!("  {name:<10} {:>7.1} ms {}", millis(micros), bar(micros, full, width)))
        .map(|line| line.trim_end().to_owned())
        .collect();
    if let Some(scale) = scale(times, width) {
        lines.extend(hanging("", &scale, columns));
    }
    lines
}

/// What a full line is.
fn scale(times: Times, width: usize) -> Option<String> {
    let budget = times.budget_micros?;
    let left = times.left_micros.map_or(String::new(), |left| {
        format!("; {:.1} were left when it was asked", millis(left))
    });
    Some(format!(
        "a line of {width} is the whole budget, {:.0} ms{left}",
        millis(budget)
    ))
}

/// As many `#` as are the share of `full`, `.` for less than half of one, and `>` at the end of one that is longer.
fn bar(micros: u64, full: u64, width: usize) -> String {
    let length = (micros as f64 / full as f64 * width as f64).round() as usize;
    match length {
        0 if micros > 0 => ".".to_owned(),
        length if length > width => format!("{}>", "#".repeat(width - 1)),
        length => "#".repeat(length),
    }
}

fn millis(micros: u64) -> f64 {
    micros as f64 / 1_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_a_share_of_the_budget() {
        assert_eq!(bar(120, 240, 10), "#####");
        assert_eq!(bar(1, 240, 10), ".");
        assert_eq!(bar(0, 240, 10), "");
        assert_eq!(bar(480, 240, 10), "#########>");
    }
}
