//! How the answer to a prompt came about: the list of prompts, and one of them, with its pictures and the tables that say the same. An
//! [`Explanation`] comes in as it is; nothing of it is judged anew.

use maud::{Markup, html};
use serde_json::Value;

use super::lists::of_project;
use super::parts::{pager, shared_by, table};
use super::put::Put;
use super::{Said, Section, View, chart, labelled, link, member, nothing, number, times};
use crate::explanation::{Candidate, Explanation, Gate, Known, Query, about_reason};
use crate::whose::Sharer;

/// The latest prompts; `older` is where the list goes on. On its first page, where the `key` of forms is given, a prompt can be put.
pub(in crate::page) fn recollections(prompts: &[Value], older: Option<&str>, key: Option<&str>) -> View {
    let latest = key.is_none().then(|| "recollections".to_owned());
    let older = older.map(|older| link("recollections", &[("before", older)]));
    let body = html! {
        h1 { "Recollections" }
        p.lead { "What your last prompts were reminded of, and why. The prompts themselves are not kept: each is named by the stems of its words." }
        @if let Some(key) = key { (super::put::folded(&Put::default(), key)) }
        @if prompts.is_empty() {
            (nothing("No prompt has been answered yet.", &html! {
                p { "Set up the hook by " code { "remembrancer install" } ", and ask your coding agent something. Every prompt then stands here, \
                    those too for which nothing was shown." }
            }))
        }
        ol.prompts { @for prompt in prompts { (prompt_row(prompt)) } }
        (pager("Pages", latest.map(|latest| (latest, "← Latest")), older.map(|older| (older, "Older →"))))
    };
    View::new(Section::Recollections, "Recollections", body)
}

fn prompt_row(prompt: &Value) -> Markup {
    let shown = prompt["shown"].as_u64().unwrap_or_default();
    let terms: Vec<&str> = prompt["terms"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let degraded = prompt["degradations"].as_array().map_or(0, Vec::len);
    let unnamed = terms
        .is_empty()
        .then(|| labelled("(no words)", &times::told(member(prompt, "at"))));
    html! {
        li.turn {
            a.asked href=(link("recollection", &[("id", member(prompt, "id"))])) aria-label=[unnamed] data-item {
                @if terms.is_empty() { em { "(no words)" } } @else { (Said(&terms.join(" "))) }
            }
            p.meta {
                (times::moment(member(prompt, "at")))
                @if shown > 0 { span.flag.on { (shown) " shown" } }
                @else { span.flag { "silent: " (about_reason(prompt["reason"].as_str().unwrap_or("nothing-relevant"))) } }
                (of_project(&prompt["project"]))
                span.agent { (Said(member(prompt, "agent"))) }
                @if degraded > 0 { span.flag.warn { "degraded" } }
            }
        }
    }
}

/// One prompt's answer.
pub(in crate::page) fn explanation(explanation: &Explanation) -> View {
    let prompt = &explanation.prompt;
    let title = format!("Prompt {}", prompt.id.as_deref().unwrap_or("put now"));
    let body = html! {
        p.over {
            a href="recollections" { "Recollections" } " · " (Said(&prompt.agent)) " · "
            @match prompt.project.as_deref() { Some(project) => (Said(project)), None => "no project" }
        }
        h1 { @if prompt.id.is_some() { "The prompt of " (times::moment(&prompt.at)) } @else { "What your prompt would be reminded of" } }
        (outcome(explanation))
        @if explanation.known == Known::Older {
            p.aside { "An older version logged it: of the query, the lists and the gates nothing is known." }
        }
        (shown(explanation))
        div.charts { (ranks(explanation)) (time(explanation)) }
        (candidates(&explanation.candidates))
        (gates(&explanation.gates))
        (query(&explanation.query))
        (sources(explanation))
        @if !explanation.degradations.is_empty() {
            h2 { "What it went without" }
            ul { @for degradation in &explanation.degradations { li { (Said(&degradation.about)) " (" code { (Said(&degradation.name)) } ")" } } }
        }
    };
    View::new(Section::Recollections, title, body)
}

fn outcome(explanation: &Explanation) -> Markup {
    let shown = explanation.shown().len();
    html! {
        p.lead {
            @match &explanation.reason_about {
                Some(about) if shown == 0 => { "Nothing was shown: " (Said(about)) "." }
                _ => { (shown) " shown, of " (number(u64::from(explanation.pool.size))) " that were ranked." }
            }
            @if let Some(whole) = explanation.times.whole_micros { " The daemon took " (times::millis(whole)) "." }
        }
    }
}

/// What was shown, each with why, and what silences it.
fn shown(explanation: &Explanation) -> Markup {
    let shown = explanation.shown();
    html! {
        @if !shown.is_empty() {
            h2 { "What was shown" }
            ol.cards {
                @for candidate in shown {
                    li.card {
                        (what(candidate, true))
                        p.meta {
                            @if let Some(date) = &candidate.date { span { (Said(date)) } }
                            @if let Some(project) = &candidate.project { span { (Said(project)) } }
                            @if let Some(cosine) = candidate.cosine { span { "cosine " (format!("{cosine:.2}")) } }
                            @if let Some(coverage) = candidate.coverage { span { (format!("{:.0}", coverage * 100.0)) " % of the words" } }
                            @if candidate.important { span.flag { "important" } }
                            (shared_by(sharer(candidate)))
                        }
                        @if !candidate.words.is_empty() { p.words { "Words: " @for word in &candidate.words { mark { (Said(word)) } " " } } }
                        @if let Some(id) = &candidate.id {
                            div.does {
                                @let asked = asked(candidate);
                                a.act href=(link("decide", &[("act", "mute"), ("id", id)])) aria-label=(labelled("Mute…", asked)) { "Mute…" }
                                a.act href=(link("decide", &[("act", "boost"), ("id", id)])) aria-label=(labelled("Boost…", asked)) { "Boost…" }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn asked(candidate: &Candidate) -> &str {
    let asked = candidate.asked.as_deref().filter(|asked| !asked.is_empty());
    asked.unwrap_or("(the question is not known)")
}

/// The login of the other member whose words it is.
fn sharer(candidate: &Candidate) -> Option<&str> {
    candidate.shared_by.as_ref().and_then(Sharer::other)
}

fn what(candidate: &Candidate, is_item: bool) -> Markup {
    let asked = asked(candidate);
    html! {
        @match &candidate.id {
            Some(id) => a.asked href=(link("episode", &[("id", id)])) data-item[is_item] { (Said(asked)) },
            None => em { "(gone since)" },
        }
    }
}

/// The ranks as a picture; the table below says the same.
fn ranks(explanation: &Explanation) -> Markup {
    html! {
        @if let Some(picture) = chart::ranks(explanation) {
            figure {
                figcaption { h2 { "Ranks, list by list" } p { "The first stands on top. What was shown is drawn strong." } }
                (picture)
            }
        }
    }
}

/// Every candidate with its ranks and what became of it.
fn candidates(candidates: &[Candidate]) -> Markup {
    let columns = chart::columns(candidates);
    let mut heads = vec![("Place", false), ("Episode", false)];
    heads.extend(columns.iter().map(|(name, _)| (*name, true)));
    heads.extend([("Score", true), ("Outcome", false)]);
    let rows = html! {
        @for (place, candidate) in candidates.iter().enumerate() { (rank_row(place + 1, candidate, &columns)) }
    };
    html! { @if !candidates.is_empty() { (table("candidates", "Candidates, best first", &heads, &rows)) } }
}

fn rank_row(place: usize, candidate: &Candidate, columns: &[(&str, chart::RankIn)]) -> Markup {
    let outcome = match (candidate.shown, &candidate.because, &candidate.dropped) {
        (Some(place), ..) => format!("shown, {place}"),
        (None, Some(because), _) => because.clone(),
        (None, None, Some(dropped)) => dropped.clone(),
        (None, None, None) => "not shown".to_owned(),
    };
    let outcome = if candidate.other_project {
        format!("of another project, behind the prompt's own: {outcome}")
    } else {
        outcome
    };
    html! {
        tr.shown[candidate.shown.is_some()] {
            td.digits { (place) }
            th.what scope="row" {
                code { (Said(candidate.id.as_deref().unwrap_or("gone"))) } " "
                (what(candidate, false)) " " (shared_by(sharer(candidate)))
            }
            @for (_, rank) in columns {
                td.digits { @match rank(&candidate.ranks) { Some(rank) => (rank), None => "–" } }
            }
            td.digits { @match candidate.score { Some(score) => (format!("{score:.2}")), None => "–" } }
            td.because { (Said(&outcome)) }
        }
    }
}

/// The time as a picture, and as a table.
fn time(explanation: &Explanation) -> Markup {
    let spans = chart::spans(explanation);
    html! {
        @if let Some(picture) = chart::time(explanation) {
            figure {
                figcaption { h2 #time { "Time against the budget" } p { "From the start of the hook on; the line is what a prompt waits at most." } }
                (picture)
                details {
                    summary { "As a table" }
                    table {
                        caption.unseen { "Where the time went" }
                        thead { tr { th scope="col" { "Stage" } th.digits scope="col" { "From" } th.digits scope="col" { "Took" } } }
                        tbody {
                            @for span in &spans {
                                tr { th scope="row" { (Said(&span.name)) } td.digits { (times::millis(span.from)) } td.digits { (times::millis(span.micros)) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn gates(gates: &[Gate]) -> Markup {
    let heads = [
        ("Gate", false),
        ("Value", true),
        ("Threshold", true),
        ("Passed", false),
        ("What it asks", false),
    ];
    let rows = html! {
        @for gate in gates {
            tr {
                th scope="row" { code { (Said(&gate.name)) } }
                td.digits { @match gate.value { Some(value) => (format!("{value:.2}")), None => "–" } }
                td.digits { (format!("{:.2}", gate.threshold)) }
                td { @match gate.passed { Some(true) => "yes", Some(false) => "no", None => "each for itself" } }
                td.because { (Said(&gate.about)) }
            }
        }
    };
    html! { @if !gates.is_empty() { (table("gates", "Gates and floors", &heads, &rows)) } }
}

fn query(query: &Query) -> Markup {
    html! {
        @if !query.terms.is_empty() || query.characters.is_some() {
            h2 { "What was asked for" }
            @if let (Some(asked), Some(characters)) = (query.asked_characters, query.characters) {
                p { (number(asked.into())) " of the prompt's " (number(characters.into())) " characters were asked." }
            }
            ul.terms {
                @for term in &query.terms {
                    li {
                        code { (Said(term.term.as_deref().unwrap_or("(forgotten)"))) }
                        @if let Some(episodes) = term.episodes { span { " in " (number(episodes)) } }
                        @if term.too_common { " (too common)" }
                    }
                }
            }
            @if query.pasted_lines > 0 { p { "Left out: " (number(query.pasted_lines.into())) " pasted lines." } }
            @if query.stop_words.count > 0 { p { "Left out: " (number(query.stop_words.count.into())) " stop words." } }
            @if query.beyond.count > 0 { p { "Left out: " (number(query.beyond.count.into())) " terms more than are asked for." } }
        }
    }
}

fn sources(explanation: &Explanation) -> Markup {
    let pool = explanation.pool;
    html! {
        @if !explanation.sources.is_empty() {
            h2 { "Where candidates came from" }
            ul {
                @for source in &explanation.sources {
                    li {
                        b { (Said(&source.name)) } ": found " (number(source.found.into())) ", new " (number(source.added.into()))
                        @if let Some(passed) = source.passed_over.filter(|passed| *passed > 0) { ", passed over " (number(passed.into())) }
                        @if let Some(absent) = &source.absent { " (absent: " (Said(absent)) ")" }
                    }
                }
            }
            @if let (Some(found), Some(gone), Some(others)) = (pool.found, pool.gone, pool.other_projects) {
                p { (number(pool.size.into())) " of " (number(found.into())) " were ranked: " (number(gone.into())) " are hidden or gone, "
                    (number(others.into())) " are of other projects without strong evidence." }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::explanation::{Prompt, Ranks, Stage, Times};

    #[test]
    fn what_is_of_another_project_says_so() {
        let row = |other_project| {
            let candidate = Candidate {
                shown: Some(3),
                other_project,
                ..Candidate::default()
            };
            rank_row(3, &candidate, &[]).into_string()
        };
        assert!(row(true).contains("of another project, behind the prompt's own: shown, 3"));
        assert!(!row(false).contains("another project"));
    }

    #[test]
    fn a_prompt_s_answer_is_told_in_pictures_and_in_tables() {
        let explained = Explanation {
            prompt: Prompt {
                id: Some("p7".to_owned()),
                at: "2026-03-01T12:00:00Z".to_owned(),
                ..Prompt::default()
            },
            candidates: vec![
                Candidate {
                    id: Some("2b3c49c9".to_owned()),
                    asked: Some("Why <b>?".to_owned()),
                    shown: Some(1),
                    words: vec!["penny".to_owned()],
                    ranks: Ranks {
                        bm25: Some(1),
                        ..Ranks::default()
                    },
                    ..Candidate::default()
                },
                Candidate {
                    dropped: Some("below-floor".to_owned()),
                    ranks: Ranks {
                        bm25: Some(2),
                        ..Ranks::default()
                    },
                    ..Candidate::default()
                },
            ],
            stages: vec![Stage {
                name: "embed".to_owned(),
                micros: 5_000,
            }],
            times: Times {
                budget_micros: Some(240_000),
                left_micros: None,
                whole_micros: Some(9_000),
            },
            ..Explanation::default()
        };
        let body = explanation(&explained).body.into_string();
        for expected in [
            "1 shown",
            "Why &lt;b&gt;?",
            "<mark>penny</mark>",
            "below-floor",
            "(gone since)",
            "decide?act=mute",
            "As a table",
            "9.0 ms",
        ] {
            assert!(body.contains(expected), "{expected}: {body}");
        }
        assert_eq!(body.matches("<svg").count(), 2);
    }

    #[test]
    fn a_candidate_that_another_member_shared_says_so() {
        let told = |own: bool| {
            let candidate = Candidate {
                id: Some("2b3c49c9".to_owned()),
                shown: Some(1),
                shared_by: Some(Sharer {
                    member: "bob".to_owned(),
                    machine: "den".to_owned(),
                    own,
                }),
                ..Candidate::default()
            };
            let explained = Explanation {
                candidates: vec![candidate],
                ..Explanation::default()
            };
            explanation(&explained).body.into_string()
        };
        assert_eq!(
            told(false).matches("shared by bob").count(),
            2,
            "as it was shown, and in the table"
        );
        assert!(!told(true).contains("shared by"));
    }

    #[test]
    fn silence_has_its_reason() {
        let prompts =
            [json!({"id": "p1", "at": "2026-03-01T12:00:00Z", "shown": 0, "reason": "chatter", "terms": [], "agent": "codex"})];
        let body = recollections(&prompts, Some("p1"), Some("abc")).body.into_string();
        assert!(
            body.contains("only goes on") && body.contains("recollections?before=p1") && body.contains("action=\"put\""),
            "{body}"
        );
        let last = recollections(&prompts, None, None).body.into_string();
        assert!(last.contains("← Latest") && !last.contains("<form"), "{last}");
        let none = recollections(&[], None, Some("abc")).body.into_string();
        assert!(none.contains("No prompt has been answered yet."), "{none}");
    }
}
