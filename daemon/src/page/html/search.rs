//! What was found for some words. JSON of a search comes in; the form, and below it each result with the words around the match.

use maud::{Markup, html};
use remembrancer_hooks::protocol::SearchMode;
use serde_json::Value;

use super::super::asked::{MODES, Narrowed};
use super::parts::{pager, shared_by};
use super::{Said, Section, View, counted, link, lists, marked, member, nothing, times};
use crate::explanation::about_degradation;
use crate::printable::for_field;
use crate::whose::other_of;

fn name_of(mode: SearchMode) -> &'static str {
    MODES
        .iter()
        .find(|(known, ..)| *known == mode)
        .map_or("hybrid", |(_, name, _)| name)
}

/// The view: the form, and what was found where something was asked.
pub(in crate::page) fn search(query: &str, narrowed: &Narrowed, mode: SearchMode, results: &Markup) -> View {
    let narrows = !narrowed.is_open() || mode != SearchMode::Hybrid;
    let body = html! {
        h1 { "Search" }
        form role="search" action="search" data-live="found" {
            div.ask {
                label.unseen for="q" { "Words, or a question" }
                input #q type="search" name="q" value=(for_field(query)) placeholder="Words, or a question" autocomplete="off" spellcheck="false" data-find;
                button { "Search" }
            }
            details.narrow open[narrows] {
                summary { "Narrow" }
                (lists::fields(narrowed))
                fieldset {
                    legend { "By" }
                    @for (known, name, called) in MODES {
                        label { input type="radio" name="mode" value=(name) checked[known == mode]; " " (called) }
                    }
                }
            }
        }
        div #found aria-busy="false" { (results) }
    };
    let title = if query.is_empty() {
        "Search".to_owned()
    } else {
        format!("{query} · Search")
    };
    View::new(Section::Search, title, body)
}

/// What was found; `None` where nothing was asked.
pub(in crate::page) fn found(found: Option<&Value>, narrowed: &Narrowed, mode: SearchMode) -> Markup {
    let Some(found) = found else {
        return nothing(
            "Ask in your own words.",
            &html! { p { "Everything that is remembered is looked through, by words and by meaning. To search leaves no trace." } },
        );
    };
    let results: Vec<&Value> = found["results"].as_array().into_iter().flatten().collect();
    let offset = found["offset"].as_u64().unwrap_or_default();
    let degradations: Vec<&str> = found["degradations"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    html! {
        @for name in degradations { p.aside { (about_degradation(name)) "." } }
        @if results.is_empty() {
            (nothing(
                if offset == 0 { "Nothing was found." } else { "There is nothing more." },
                &html! { p { "Fewer words, or other ones, may find it." } },
            ))
        } @else {
            p.count { (counted(&found["found"], "result", "results")) }
            ol.results start=(offset + 1) { @for result in &results { (row(result)) } }
        }
        (pages(found, narrowed, mode))
    }
}

fn row(result: &Value) -> Markup {
    let rank = |leg: &str| result["ranks"][leg].as_u64();
    let is_of_prompt = result["field"] == "prompt";
    html! {
        li.turn {
            a.asked href=(link("episode", &[("id", member(result, "id"))])) data-item {
                @if is_of_prompt { (marked(member(result, "snippet"), &result["matches"])) }
                @else { (lists::asked(result)) }
            }
            @if !is_of_prompt { p.snippet { (marked(member(result, "snippet"), &result["matches"])) } }
            p.meta {
                (times::moment(member(result, "at")))
                (lists::of_project(&result["project"]))
                span.agent { (Said(member(result, "agent"))) }
                (shared_by(other_of(result)))
                @if let Some(rank) = rank("bm25") { span.flag { "words #" (rank) } }
                @if let Some(rank) = rank("vector") { span.flag { "meaning #" (rank) } }
            }
        }
    }
}

fn pages(found: &Value, narrowed: &Narrowed, mode: SearchMode) -> Markup {
    let page = |offset: u64| {
        let offset = offset.to_string();
        let mut asked = vec![("q", member(found, "query")), ("mode", name_of(mode))];
        asked.extend(narrowed.pairs());
        asked.push(("offset", &offset));
        link("search", &asked)
    };
    let offset = found["offset"].as_u64().unwrap_or_default();
    let before = (offset > 0).then(|| page(offset.saturating_sub(super::super::routes::RESULTS.into())));
    let next = found["next"].as_u64().map(page);
    pager(
        "Pages",
        before.map(|before| (before, "← Better")),
        next.map(|next| (next, "More →")),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_result_shows_where_it_matched_and_pages_go_on_with_the_same() {
        let answer = json!({"query": "penny off", "results": [{"id": "2b3c49c9", "at": "2026-03-01T12:00:00Z", "agent": "codex",
            "project": "kiosk", "asked": "Why?", "field": "answer", "snippet": "a <i>penny", "matches": [[5, 10]],
            "ranks": {"bm25": 1, "vector": null}}], "found": 11, "offset": 0, "next": 10, "degradations": ["no-model"]});
        let narrowed = Narrowed {
            agent: Some("codex".to_owned()),
            ..Narrowed::default()
        };
        let shown = found(Some(&answer), &narrowed, SearchMode::Lexical).into_string();
        assert!(shown.contains("a &lt;i&gt;<mark>penny</mark>"), "{shown}");
        assert!(shown.contains("words #1") && !shown.contains("meaning #"), "{shown}");
        assert!(
            shown.contains("search?q=penny%20off&amp;mode=lexical&amp;agent=codex&amp;offset=10"),
            "{shown}"
        );
        assert!(shown.contains("words alone"), "{shown}");
    }

    #[test]
    fn a_result_that_another_member_shared_says_so() {
        let mut result = json!({"id": "2b3c49c9", "at": "2026-03-01T12:00:00Z", "agent": "codex", "project": null, "asked": "Why?",
            "field": "prompt", "snippet": "Why?", "matches": [], "ranks": {}, "shared_by": null});
        assert!(!row(&result).into_string().contains("shared by"));
        result["shared_by"] = json!({"member": "bob", "machine": "den", "own": false});
        assert!(row(&result).into_string().contains("shared by bob"));
    }

    #[test]
    fn nothing_asked_and_nothing_found_differ() {
        let narrowed = Narrowed::default();
        let asked = found(None, &narrowed, SearchMode::Hybrid).into_string();
        let empty = json!({"query": "x", "results": [], "found": 0, "offset": 0, "next": null, "degradations": []});
        let none = found(Some(&empty), &narrowed, SearchMode::Hybrid).into_string();
        assert!(asked.contains("own words") && none.contains("Nothing was found."));
    }
}
