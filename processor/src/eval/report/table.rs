//! The report as text: a block a set, in it a block a cell with a line a profile, then what is shown and what noise shows.

use super::{Figures, ProfileResult, Report, Verdict};
use crate::eval::metrics::CUTS;
use crate::eval::statistics::Estimate;

/// Columns of a line's label, with its indent.
const LABEL: usize = 26;
/// Columns of a figure with its interval, as `.614 ±.031`.
const FIGURE: usize = 13;
/// Columns of a plain number or of a share.
const NUMBER: usize = 14;

pub(super) fn render(report: &Report) -> String {
    let mut sets: Vec<&str> = Vec::new();
    for result in &report.results {
        if !sets.contains(&result.set.as_str()) {
            sets.push(&result.set);
        }
    }
    let mut lines = Vec::new();
    for set in sets {
        let results: Vec<&ProfileResult> = report.results.iter().filter(|result| result.set == set).collect();
        set_lines(set, &results, &mut lines);
        lines.push(String::new());
    }
    lines.push("±: half of the 95 % interval. recall: the share of all relevant documents.".to_owned());
    if let Some(first) = &report.first_profile {
        lines.push(format!(
            "▲ ▼: recall@3 better or worse than with {first}, by the paired test with Holm's correction over sets and categories."
        ));
    }
    lines.push(String::new());
    lines.join("\n")
}

fn set_lines(set: &str, results: &[&ProfileResult], lines: &mut Vec<String>) {
    let names = CUTS.map(|cut| format!("recall@{cut}"));
    let columns: Vec<String> = names.into_iter().chain(["MRR@10".to_owned(), "nDCG@10".to_owned()]).collect();
    lines.push(line(set, columns.into_iter().map(|name| (format!("{name} "), FIGURE))));
    for cell in cells(results) {
        let found: Vec<(&str, &Figures)> = results
            .iter()
            .filter_map(|result| Some((result.profile.as_str(), cell.of(result)?)))
            .collect();
        let queries = found.first().map_or(0, |(_, figures)| figures.queries);
        lines.push(format!("  {}, {queries} queries", cell.title()));
        lines.extend(found.into_iter().map(|(profile, figures)| figures_line(profile, figures)));
    }
    lines.push(line(
        "  shown and time",
        ["ms a query", "shown", "silent", "none relevant"].map(|name| (name.to_owned(), NUMBER)),
    ));
    lines.extend(results.iter().map(|result| shown_line(result)));
    noise_lines(results, lines);
}

/// Which figures of a result.
enum Cell {
    Overall,
    Category(String),
    Stratum(String),
}

impl Cell {
    fn of<'a>(&self, result: &'a ProfileResult) -> Option<&'a Figures> {
        match self {
            Self::Overall => Some(&result.overall),
            Self::Category(name) => result.categories.get(name),
            Self::Stratum(name) => result.strata.get(name),
        }
    }

    fn title(&self) -> String {
        match self {
            Self::Overall => "overall".to_owned(),
            Self::Category(name) => name.clone(),
            Self::Stratum(name) => format!("stratum {name}"),
        }
    }
}

fn cells(results: &[&ProfileResult]) -> Vec<Cell> {
    let distinct = |names: Vec<&String>| {
        let mut names: Vec<String> = names.into_iter().cloned().collect();
        names.sort();
        names.dedup();
        names
    };
    let categories = distinct(results.iter().flat_map(|result| result.categories.keys()).collect());
    let strata = distinct(results.iter().flat_map(|result| result.strata.keys()).collect());
    std::iter::once(Cell::Overall)
        .chain(categories.into_iter().map(Cell::Category))
        .chain(strata.into_iter().map(Cell::Stratum))
        .collect()
}

fn figures_line(profile: &str, figures: &Figures) -> String {
    let mark = match figures.verdict() {
        Verdict::Better => "▲",
        Verdict::Worse => "▼",
        Verdict::Open => " ",
    };
    // Every figure has a place for a mark behind it, so that the digits stay below each other.
    let recall = figures.recall.iter().map(|(cut, estimate)| match cut {
        3 => format!("{}{mark}", figure(estimate)),
        _ => format!("{} ", figure(estimate)),
    });
    let columns = recall.chain([format!("{} ", figure(&figures.mrr)), format!("{} ", figure(&figures.ndcg))]);
    line(&format!("    {profile}"), columns.map(|text| (text, FIGURE)))
}

fn shown_line(result: &ProfileResult) -> String {
    let shown = result.overall.shown;
    let columns = [
        format!("{:.1}", result.millis),
        format!("{:.2}", shown.mean),
        percent(shown.silent),
        percent(shown.nothing_relevant),
    ];
    line(&format!("    {}", result.profile), columns.map(|text| (text, NUMBER)))
}

fn noise_lines(results: &[&ProfileResult], lines: &mut Vec<String>) {
    let mut kinds: Vec<&str> = Vec::new();
    for share in results.iter().flat_map(|result| &result.noise) {
        if !kinds.contains(&share.kind.as_str()) {
            kinds.push(&share.kind);
        }
    }
    if kinds.is_empty() {
        return;
    }
    let width = |kind: &str| NUMBER.max(kind.chars().count() + 2);
    lines.push(line(
        "  shown to noise",
        kinds.iter().map(|kind| ((*kind).to_owned(), width(kind))),
    ));
    for result in results {
        let columns = kinds.iter().map(|kind| {
            let share = result.noise.iter().find(|share| share.kind == *kind);
            let text = share.map_or_else(
                || "-".to_owned(),
                |share| format!("{} of {}", percent(share.share), share.prompts),
            );
            (text, width(kind))
        });
        lines.push(line(&format!("    {}", result.profile), columns));
    }
}

/// A label and right-aligned columns of the given widths.
fn line(label: &str, columns: impl IntoIterator<Item = (String, usize)>) -> String {
    let label = if label.chars().count() > LABEL {
        label.chars().take(LABEL - 1).chain(['…']).collect()
    } else {
        format!("{label:<LABEL$}")
    };
    let columns = columns.into_iter().map(|(text, width)| format!("{text:>width$}"));
    let line: Vec<String> = std::iter::once(label).chain(columns).collect();
    line.concat().trim_end().to_owned()
}

/// `.614 ±.031`
fn figure(estimate: &Estimate) -> String {
    let half = (estimate.high - estimate.low) / 2.0;
    format!("{} ±{}", thousandths(estimate.mean), thousandths(half))
}

/// Three decimals without the zero before them.
fn thousandths(value: f64) -> String {
    format!("{value:.3}").trim_start_matches('0').to_owned()
}

fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}
