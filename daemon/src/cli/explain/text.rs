//! An explanation as text for a person, in the order in which it happened: prompt, query, sources, lists, gates, candidates, times. In
//! goes an explanation and how wide lines may be; no line is wider, but for a word that is.

mod chart;
mod table;

use super::list::when;
use crate::cli::output::say;
use crate::cli::terminal::{cut, wrap_words};
use crate::explanation::{Explanation, Gate, Known, List, Query, Term, Top, Words};
use crate::plural::counted;
use crate::whose::{Sharer, mark};

/// The first of each list that are printed.
const TOP: usize = 5;
/// Columns that what belongs to a heading is set in by.
const INDENT: usize = 2;

/// Prints it.
pub(super) fn print(explanation: &Explanation, columns: usize) {
    for line in lines(explanation, columns) {
        say!("{line}");
    }
}

/// Its lines, none of them wider than so many columns, but for a word that is.
pub(crate) fn lines(explanation: &Explanation, columns: usize) -> Vec<String> {
    let mut page = Page {
        lines: Vec::new(),
        columns,
    };
    page.explanation(explanation);
    page.lines
}

/// What is to be printed, line by line.
struct Page {
    lines: Vec<String>,
    columns: usize,
}

impl Page {
    fn explanation(&mut self, explanation: &Explanation) {
        self.head(explanation);
        match explanation.known {
            Known::NotSearched => return,
            Known::Older => self.text("An older version logged it: of the query, the lists and the gates nothing is known."),
            Known::Whole => {}
        }
        self.query(&explanation.query);
        self.sources(explanation);
        self.lists(&explanation.lists);
        self.gates(&explanation.gates);
        self.candidates(explanation);
        if !explanation.degradations.is_empty() {
            self.heading("What it went without");
            for degradation in &explanation.degradations {
                self.item(&format!("{}: {}", degradation.name, degradation.about));
            }
        }
        let chart = chart::lines(&explanation.stages, explanation.times, self.columns);
        if !chart.is_empty() {
            self.heading("Time");
            self.lines.extend(chart);
        }
    }

    fn head(&mut self, explanation: &Explanation) {
        let prompt = &explanation.prompt;
        let which = match (prompt.number, &prompt.id) {
            (Some(number), Some(id)) => format!("Prompt {number} ({id}) of {} UTC", when(&prompt.at)),
            _ => "A new prompt, which left no trace".to_owned(),
        };
        let session = prompt
            .session
            .as_ref()
            .map_or(String::new(), |session| format!(", session {session}"));
        let project = prompt.project.as_deref().unwrap_or("none that is known");
        self.text(&format!("{which}: {}{session}, project {project}", prompt.agent));
        let outcome = match (&explanation.reason, &explanation.reason_about) {
            (Some(name), Some(about)) => format!("Nothing was shown ({name}): {about}."),
            _ => format!("Shown: {}.", explanation.shown().len()),
        };
        self.text(&outcome);
    }

    fn query(&mut self, query: &Query) {
        self.heading("Query");
        if let (Some(asked), Some(characters)) = (query.asked_characters, query.characters) {
            self.item(&format!("{asked} of the prompt's {characters} characters were asked"));
        }
        let terms: Vec<String> = query.terms.iter().map(term).collect();
        if terms.is_empty() {
            self.item("no terms");
        } else {
            self.item(&format!("terms, with the episodes that hold each: {}", terms.join(", ")));
        }
        let common: Vec<&str> = query
            .terms
            .iter()
            .filter(|term| term.too_common)
            .filter_map(|term| term.term.as_deref())
            .collect();
        if !common.is_empty() {
            self.item(&format!("too common to be searched for: {}", common.join(", ")));
        }
        if query.command {
            self.item("left out: the slash command before it");
        }
        if query.pasted_lines > 0 {
            let kept = if query.error_kept {
                ", but for the line of the error"
            } else {
                ""
            };
            let lines = counted(query.pasted_lines.into(), "pasted line", "pasted lines");
            self.item(&format!("left out: {lines}{kept}"));
        }
        self.left_out(("stop word", "stop words"), &query.stop_words);
        self.left_out(
            ("more term than is asked for", "more terms than are asked for"),
            &query.beyond,
        );
    }

    fn left_out(&mut self, (one, many): (&str, &str), words: &Words) {
        if words.count > 0 {
            let named = if words.words.is_empty() {
                String::new()
            } else {
                format!(" ({})", words.words.join(" "))
            };
            self.item(&format!("left out: {}{named}", counted(words.count.into(), one, many)));
        }
    }

    fn sources(&mut self, explanation: &Explanation) {
        let pool = explanation.pool;
        self.heading("Candidates");
        if let (Some(profile), Some(scope)) = (&explanation.profile, &explanation.scope) {
            self.item(&format!("profile {profile}, scope {scope}"));
        }
        for source in &explanation.sources {
            let passed = source
                .passed_over
                .map_or(String::new(), |count| format!(", passed over {count}"));
            let absent = source
                .absent
                .as_ref()
                .map_or(String::new(), |why| format!(" (absent: {why})"));
            let head = format!("{:<8} ", source.name);
            self.hanging(
                &head,
                &format!("found {}, new {}{passed}{absent}", source.found, source.added),
            );
        }
        if let (Some(in_context), Some(shown)) = (pool.in_context, pool.shown_before) {
            self.item(&format!(
                "kept out before: {in_context} in the session's context, {shown} shown in it before"
            ));
        }
        match (pool.found, pool.gone, pool.other_projects) {
            (Some(found), Some(gone), Some(others)) => self.item(&format!(
                "pool: {} of {found} ({gone} hidden or gone, {others} of other projects without strong evidence)",
                pool.size
            )),
            _ => self.item(&format!("pool: {}", pool.size)),
        }
    }

    fn lists(&mut self, lists: &[List]) {
        for list in lists {
            let counts = if list.counts { "" } else { ", does not count in this profile" };
            let absent = list.absent.as_ref().map_or(String::new(), |why| format!(", absent: {why}"));
            self.heading(&format!("List {}: {} ranked{counts}{absent}", list.leg, list.ranked));
            for top in list.top.iter().take(TOP) {
                let line = top_line(&list.leg, top, self.columns);
                self.lines.push(line);
            }
        }
    }

    fn gates(&mut self, gates: &[Gate]) {
        if gates.is_empty() {
            return;
        }
        self.heading("Gates and floors");
        for gate in gates {
            let value = gate.value.map_or_else(|| "-".to_owned(), |value| format!("{value:.2}"));
            let passed = match gate.passed {
                Some(true) => "yes",
                Some(false) => "no",
                None => "each",
            };
            let head = format!("{:<18} {value:>5} {:>5.2} {passed:<4} ", gate.name, gate.threshold);
            self.hanging(&head, &gate.about);
        }
    }

    fn candidates(&mut self, explanation: &Explanation) {
        if explanation.candidates.is_empty() {
            return;
        }
        self.heading("Ranking, best first");
        let lines = table::lines(explanation, self.columns);
        self.lines.extend(lines);
    }

    /// A line of its own, broken where it must be.
    fn text(&mut self, text: &str) {
        self.lines.extend(wrap_words(text, self.columns));
    }

    fn heading(&mut self, text: &str) {
        self.lines.push(String::new());
        self.text(text);
    }

    fn item(&mut self, text: &str) {
        self.hanging("", text);
    }

    /// `text` behind `head`, its further lines below its first.
    fn hanging(&mut self, head: &str, text: &str) {
        self.lines.extend(hanging(head, text, self.columns));
    }
}

/// `text` behind `head`, indented; its further lines stand below its first.
fn hanging(head: &str, text: &str, columns: usize) -> Vec<String> {
    let before = INDENT + head.chars().count();
    let wrapped = wrap_words(text, columns.saturating_sub(before).max(1))
        .into_iter()
        .enumerate();
    wrapped
        .map(|(number, line)| match number {
            0 => format!("{:INDENT$}{head}{line}", ""),
            _ => format!("{:before$}{line}", ""),
        })
        .collect()
}

fn term(term: &Term) -> String {
    let named = term.term.as_deref().unwrap_or("(forgotten)");
    match term.episodes {
        Some(episodes) => format!("{named} {episodes}"),
        None => named.to_owned(),
    }
}

fn top_line(leg: &str, top: &Top, columns: usize) -> String {
    let value = match leg {
        "recency" => jiff::Timestamp::from_millisecond(top.value as i64)
            .map_or_else(|_| "-".to_owned(), |at| at.strftime("%Y-%m-%d").to_string()),
        "access" => format!("{:.0}", top.value),
        _ => format!("{:.3}", top.value),
    };
    let head = format!(
        "{:INDENT$}{:>4} {value:>10}  {:<9} ",
        "",
        format!("#{}", top.rank),
        top.id.as_deref().unwrap_or("gone")
    );
    let asked = mark(top.shared_by.as_ref().and_then(Sharer::other)) + top.asked.as_deref().unwrap_or_default();
    let asked = cut(&asked, columns.saturating_sub(head.chars().count()));
    format!("{head}{asked}").trim_end().to_owned()
}

#[cfg(test)]
pub(super) mod tests;
