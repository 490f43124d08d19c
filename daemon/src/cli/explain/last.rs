//! Why the latest recollection was shown, in a few lines for a person. In goes its explanation, out go lines: what matched, what else
//! spoke for it, and the commands that show or silence it.

use super::list::when;
use crate::cli::output::say;
use crate::cli::terminal::{cut, wrap_words};
use crate::explanation::{Candidate, Explanation, Known};
use crate::plural::counted;
use crate::whose::{Sharer, mark};

/// Columns that the lines of a recollection are set in by.
const INDENT: usize = 3;

/// Prints it.
pub(super) fn print(explanation: &Explanation, columns: usize) {
    for line in lines(explanation, columns) {
        say!("{line}");
    }
}

fn lines(explanation: &Explanation, columns: usize) -> Vec<String> {
    let (prompt, shown) = (&explanation.prompt, explanation.shown());
    let session = prompt.session.as_deref().unwrap_or("-");
    let head = format!(
        "{} shown for the prompt of {} UTC ({}, session {session}).",
        shown.len(),
        when(&prompt.at),
        prompt.agent
    );
    let mut lines = wrap_words(&head, columns);
    for candidate in shown {
        lines.push(String::new());
        lines.extend(recollection(explanation, candidate, columns));
    }
    lines.push(String::new());
    if let Some(id) = &prompt.id {
        lines.push(format!("All of it: remembrancer explain {id}"));
    }
    let since = prompt.number.unwrap_or(1).saturating_sub(1);
    if since > 0 {
        lines.extend(wrap_words(
            &format!(
                "Since then {} came; the latest is explained by: remembrancer explain",
                counted(u64::from(since), "prompt", "prompts")
            ),
            columns,
        ));
    }
    lines
}

fn recollection(explanation: &Explanation, candidate: &Candidate, columns: usize) -> Vec<String> {
    let known = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    let Some(id) = &candidate.id else {
        return vec![format!("{}. gone", candidate.shown.unwrap_or_default())];
    };
    let place = candidate.shown.unwrap_or_default();
    let asked = mark(candidate.shared_by.as_ref().and_then(Sharer::other)) + &known(&candidate.asked);
    let mut lines = vec![
        format!("{place}. {id}  {}  {}", known(&candidate.date), known(&candidate.project)),
        format!("{:INDENT$}{}", "", cut(&asked, columns - INDENT)),
    ];
    let mut tell = |text: String| {
        let wrapped = wrap_words(&text, columns - INDENT);
        lines.extend(wrapped.into_iter().map(|line| format!("{:INDENT$}{line}", "")));
    };
    if explanation.known == Known::Whole {
        tell(format!("words: {}", words(explanation, candidate)));
    }
    tell(format!("meaning: {}", meaning(explanation, candidate)));
    let also = also(candidate);
    if !also.is_empty() {
        tell(format!("also: {}", also.join("; ")));
    }
    tell(format!("see it: remembrancer show {id}"));
    tell(format!("silence it: remembrancer mute {id}"));
    lines
}

fn words(explanation: &Explanation, candidate: &Candidate) -> String {
    let (matched, all) = (candidate.matched.unwrap_or_default(), explanation.query.terms.len());
    if matched == 0 {
        return "none in common".to_owned();
    }
    let share = format!(
        "{matched} of {all}, {:.0} % of what they weigh",
        candidate.coverage.unwrap_or_default() * 100.0
    );
    if candidate.words.is_empty() {
        return format!("{share} (which of them is not kept, since something was forgotten)");
    }
    format!("{} ({share})", candidate.words.join(", "))
}

fn meaning(explanation: &Explanation, candidate: &Candidate) -> String {
    let Some(cosine) = candidate.cosine else {
        return "not compared: it has no vector yet, or the prompt had none in time".to_owned();
    };
    let list = explanation.lists.iter().find(|list| list.leg == "vector");
    // The others are ranked among themselves.
    let of = if candidate.other_project {
        " of other projects".to_owned()
    } else {
        list.map_or(String::new(), |list| format!(" of {}", list.ranked))
    };
    match candidate.ranks.vector {
        Some(1) => format!("cosine {cosine:.2}, the nearest{of}"),
        Some(rank) => format!("cosine {cosine:.2}, the {}{of}", nearest(rank)),
        None => format!("cosine {cosine:.2}"),
    }
}

/// `2nd nearest`.
fn nearest(rank: u32) -> String {
    let ending = match (rank % 10, rank % 100) {
        (1, tens) if tens != 11 => "st",
        (2, tens) if tens != 12 => "nd",
        (3, tens) if tens != 13 => "rd",
        _ => "th",
    };
    format!("{rank}{ending} nearest")
}

/// What else spoke for it, or is to be known of it.
fn also(candidate: &Candidate) -> Vec<String> {
    let mut also = Vec::new();
    let mut note = |holds: bool, text: String| {
        if holds {
            also.push(text);
        }
    };
    note(candidate.in_time, "it is from the time that you spoke of".to_owned());
    note(candidate.important, "it is marked as important".to_owned());
    note(candidate.uses > 0, format!("it was used before ({})", candidate.uses));
    note(
        candidate.other_project,
        "it is of another project: it passed for its strong evidence, and stands behind the prompt's own".to_owned(),
    );
    note(
        candidate.from_the_web,
        "a page of the web was read for it, which counts a little against it".to_owned(),
    );
    also
}

#[cfg(test)]
mod tests;
