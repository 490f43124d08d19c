//! What there is, by time: turns, sessions, projects. JSON of the lists comes in, each row goes out with what leads on from it.

use maud::{Markup, html};
use serde_json::Value;

use super::super::asked::Narrowed;
use super::parts::{figure, pager, shared_by};
use super::{Said, Section, View, counted, labelled, link, member, nothing, number, times};
use crate::printable::for_field;
use crate::whose::other_of;

/// The turns of a reply, the newest first, as the page shows them.
fn newest_first(found: &Value) -> Vec<&Value> {
    found["turns"].as_array().into_iter().flatten().rev().collect()
}

/// The turns by day, the newest first.
fn days(turns: &[&Value]) -> Markup {
    let of_day = |turn: &&Value| times::date(member(turn, "at"));
    html! {
        @for turns in turns.chunk_by(|one, other| of_day(one) == of_day(other)) {
            @let date = of_day(&turns[0]);
            section.day data-day=(date) aria-labelledby=(format!("day-{date}")) {
                h2 id=(format!("day-{date}")) { (times::day(member(turns[0], "at"))) }
                ol.turns { @for turn in turns { (row(turn)) } }
            }
        }
    }
}

/// One turn of a list.
fn row(turn: &Value) -> Markup {
    let id = member(turn, "id");
    html! {
        li.turn id=(format!("turn-{id}")) {
            a.asked href=(link("episode", &[("id", id)])) data-item { (asked(turn)) }
            p.meta {
                (times::clock(member(turn, "at")))
                (of_project(&turn["project"]))
                span.agent { (Said(member(turn, "agent"))) }
                a href=(session_link(id)) aria-label=(labelled("session", &asked_line(turn))) { "session" }
                (flags(turn))
            }
        }
    }
}

/// The session of a turn, at that turn: named by the turn's `id`, since several agents may have a session of one id.
pub(super) fn session_link(id: &str) -> String {
    format!("{}#turn-{id}", link("session", &[("id", id)]))
}

/// The same in plain words, for the name of a link.
fn asked_line(turn: &Value) -> String {
    match member(turn, "asked") {
        "" => format!("the turn of {}", times::told(member(turn, "at"))),
        asked => asked.to_owned(),
    }
}

/// What was asked, or what came of it where nothing was.
pub(super) fn asked(turn: &Value) -> Markup {
    let asked = member(turn, "asked");
    html! {
        @if asked.is_empty() {
            em { "(the question is not known)" }
            @if let Some(answered) = turn["answered"].as_str() { " " (Said(answered)) }
        } @else { (Said(asked)) }
    }
}

pub(super) fn of_project(project: &Value) -> Markup {
    html! {
        @match project.as_str() {
            Some(project) => a.project href=(link("project", &[("name", project)])) { (Said(project)) },
            None => span.project { "no project" },
        }
    }
}

fn flags(turn: &Value) -> Markup {
    let parts = turn["parts"].as_u64().unwrap_or(1);
    html! {
        @if turn["origin"] != "user" && !member(turn, "origin").is_empty() { span.flag { (Said(member(turn, "origin"))) } }
        (shared_by(other_of(turn)))
        @if parts > 1 { span.flag { (number(parts)) " parts" } }
        @if turn["hidden"] == true { span.flag { "kept out" } }
    }
}

/// The form that narrows a list.
fn narrow(view: &str, narrowed: &Narrowed) -> Markup {
    html! {
        details.narrow open[!narrowed.is_open()] {
            summary { "Narrow" }
            form action=(view) {
                (fields(narrowed))
                div.does {
                    button { "Show" }
                    @if !narrowed.is_open() { a href=(view) { "All again" } }
                }
            }
        }
    }
}

/// What narrows a list or a search.
pub(super) fn fields(narrowed: &Narrowed) -> Markup {
    let value = |value: &Option<String>| value.as_deref().map(for_field).unwrap_or_default();
    html! {
        div.fields {
            label { span { "Project" } input name="project" value=(value(&narrowed.project)) placeholder="name or folder" autocomplete="off" spellcheck="false"; }
            label { span { "Agent" } input name="agent" value=(value(&narrowed.agent)) placeholder="such as codex" autocomplete="off" spellcheck="false"; }
            label { span { "From" } input type="date" name="since" value=(value(&narrowed.since)); }
            label { span { "To" } input type="date" name="until" value=(value(&narrowed.until)); }
        }
    }
}

fn page_link(view: &str, narrowed: &Narrowed, name: &'static str, place: &Value) -> Option<String> {
    let mut asked = narrowed.pairs();
    asked.push((name, place.as_str()?));
    Some(link(view, &asked))
}

/// The timeline. Where it begins with the newest, `last` is the row up to which the store was filled: what arrives after that is put on
/// top by the script, or told of where it belongs further back.
pub(in crate::page) fn timeline(found: &Value, narrowed: &Narrowed, last: Option<i64>) -> View {
    let live = last.is_some();
    let turns = newest_first(found);
    let again = link("timeline", &narrowed.pairs());
    let (asked, late) = (link("arrivals", &narrowed.pairs()), link("late", &narrowed.pairs()));
    let (newer, older) = (
        page_link("timeline", narrowed, "after", &found["newer"]),
        page_link("timeline", narrowed, "before", &found["older"]),
    );
    let body = html! {
        div.title {
            h1 { "Timeline" }
            @if live { p.live #live hidden { span.dot aria-hidden="true" {} " live" } }
        }
        (narrow("timeline", narrowed))
        @if live {
            p.aside #more hidden { "More has arrived than stands here. " a href=(again) { "Load the page anew" } }
            p.aside #late hidden { span {} " " a href=(again) { "Load the page anew" } }
        }
        div #turns data-arrivals=[live.then_some(&asked)] data-late=[live.then_some(&late)] data-stored=[last]
            data-newest=(turns.first().map_or("", |turn| member(turn, "place"))) {
            (days(&turns))
        }
        @if turns.is_empty() { (nothing_there(narrowed, "turns")) }
        (pager("Pages", newer.map(|newer| (newer, "← Newer")), older.map(|older| (older, "Older →"))))
    };
    View::new(Section::Timeline, "Timeline", body)
}

/// What stands in the place of an empty list.
fn nothing_there(narrowed: &Narrowed, what: &str) -> Markup {
    if narrowed.is_open() {
        return nothing(
            "Nothing is remembered yet.",
            &html! {
                ol {
                    li { "Start the daemon: " code { "remembrancer run" } ". It reads the transcripts that your coding agents have left, the newest first." }
                    li { "Set up the hook: " code { "remembrancer install" } ". From then on each prompt is reminded of what fits it." }
                    li { "If there should be something here, " code { "remembrancer doctor" } " says why there is not. Or " a href="remember" { "remember a fact" } " yourself." }
                }
            },
        );
    }
    nothing(
        &format!("There are no such {what}."),
        &html! { p { "Take away what narrows the list, or look at another project or time." } },
    )
}

/// A piece of what arrived since the page was loaded, for the script to put on top: the earliest of it, or, where nothing stood in the
/// page, the newest. Its end says up to where it reaches, and on which side there is more that stands nowhere.
pub(in crate::page) fn arrivals(found: &Value, is_of_nothing: bool) -> Markup {
    let turns = newest_first(found);
    let side = if is_of_nothing { "older" } else { "newer" };
    let more = found[side].is_string().then_some(side);
    html! {
        (days(&turns))
        div hidden data-until=(turns.first().map_or("", |turn| member(turn, "place"))) data-more=[more] {}
    }
}

/// The turns that were stored since the page was loaded and belong further back, for the script to tell of those that do not stand in it.
pub(in crate::page) fn late(found: &Value) -> Markup {
    let ids: Vec<&str> = found["turns"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    html! { div hidden data-late=(ids.join(" ")) data-more=[(found["more"] == true).then_some("more")] {} }
}

/// The sessions, the one last at work first.
pub(in crate::page) fn sessions(found: &Value, narrowed: &Narrowed, first: bool) -> View {
    let sessions: Vec<&Value> = found["sessions"].as_array().into_iter().flatten().collect();
    let newest = (!first).then(|| link("sessions", &narrowed.pairs()));
    let older = page_link("sessions", narrowed, "before", &found["older"]);
    let body = html! {
        h1 { "Sessions" }
        (narrow("sessions", narrowed))
        @if sessions.is_empty() { (nothing_there(narrowed, "sessions")) }
        ol.sessions { @for session in &sessions { (session_row(session)) } }
        (pager("Pages", newest.map(|newest| (newest, "← Newest")), older.map(|older| (older, "Older →"))))
    };
    View::new(Section::Sessions, "Sessions", body)
}

fn session_row(session: &Value) -> Markup {
    let about = session["title"].as_str().or(session["asked"].as_str());
    html! {
        li.turn {
            a.asked href=(link("session", &[("id", member(session, "id"))])) data-item {
                @match about { Some(about) => (Said(about)), None => em { "(nothing was asked)" } }
            }
            p.meta {
                (times::moment(member(session, "begin")))
                span { (counted(&session["turns"], "turn", "turns")) }
                (of_project(&session["project"]))
                span.agent { (Said(member(session, "agent"))) }
                (shared_by(other_of(session)))
                @if session["hidden"] == true { span.flag { "kept out" } }
            }
        }
    }
}

/// All projects, with their numbers.
pub(in crate::page) fn projects(stats: &Value) -> View {
    let projects: Vec<&Value> = stats["by_project"].as_array().into_iter().flatten().collect();
    let most = projects
        .iter()
        .filter_map(|project| project["episodes"].as_u64())
        .max()
        .unwrap_or(1)
        .max(1);
    let body = html! {
        h1 { "Projects" }
        @if projects.is_empty() { (nothing_there(&Narrowed::default(), "projects")) }
        ul.projects { @for project in &projects { (project_row(project, most)) } }
    };
    View::new(Section::Projects, "Projects", body)
}

/// How a project is named in a link: by its folder, which no other has.
fn project_name(project: &Value) -> Option<&str> {
    project["root"].as_str().or(project["project"].as_str())
}

fn project_row(project: &Value, most: u64) -> Markup {
    let episodes = project["episodes"].as_u64().unwrap_or_default();
    html! {
        li.turn {
            @match project_name(project) {
                Some(name) => a.asked href=(link("project", &[("name", name)])) data-item { (Said(project["project"].as_str().unwrap_or(name))) },
                None => span.asked { "No project" },
            }
            svg.share viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true" focusable="false" {
                rect.all width="100" height="4" {}
                rect.part width=(format!("{:.2}", episodes as f64 / most as f64 * 100.0)) height="4" {}
            }
            p.meta {
                span { (counted(&project["episodes"], "episode", "episodes")) }
                span { (counted(&project["sessions"], "session", "sessions")) }
                span { "last " (times::moment(member(project, "last"))) }
                @if let Some(root) = project["root"].as_str() { span.path { (Said(root)) } }
            }
        }
    }
}

/// One project: its numbers, its latest turns and sessions.
pub(in crate::page) fn project(name: &str, numbers: Option<&Value>, turns: &Value, sessions: &Value) -> View {
    let called = numbers.and_then(|numbers| numbers["project"].as_str()).unwrap_or(name);
    let narrowed = [("project", name)];
    let sessions: Vec<&Value> = sessions["sessions"].as_array().into_iter().flatten().collect();
    let body = html! {
        p.over { a href="projects" { "Projects" } }
        h1 { (Said(called)) }
        @if let Some(numbers) = numbers {
            @if let Some(root) = numbers["root"].as_str() { p.path { (Said(root)) } }
            dl.numbers {
                (figure("Episodes", number(numbers["episodes"].as_u64().unwrap_or_default())))
                (figure("Sessions", number(numbers["sessions"].as_u64().unwrap_or_default())))
                (figure("First", times::moment(member(numbers, "first"))))
                (figure("Last", times::moment(member(numbers, "last"))))
            }
        }
        div.does {
            a.act href=(link("search", &narrowed)) { "Search in it" }
            a.act href=(link("remember", &narrowed)) { "Remember a fact of it…" }
            a.act.grave href=(link("decide", &[("act", "forget-project"), ("id", name)])) { "Forget it all…" }
        }
        h2 { "Latest turns" }
        @let latest = newest_first(turns);
        @if latest.is_empty() { p { "None is stored." } }
        ol.turns { @for turn in latest { (row(turn)) } }
        p { a href=(link("timeline", &narrowed)) { "All its turns" } }
        h2 { "Latest sessions" }
        ol.sessions { @for session in &sessions { (session_row(session)) } }
        p { a href=(link("sessions", &narrowed)) { "All its sessions" } }
    };
    View::new(Section::Projects, called, body)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn turn(id: &str, at: &str) -> Value {
        json!({"id": id, "at": at, "place": format!("1-{id}"), "agent": "codex", "project": null, "origin": "user", "parts": 1,
            "hidden": false, "asked": "why <b>?", "session": "s 1"})
    }

    #[test]
    fn turns_stand_by_day_the_newest_first() {
        let found = json!({"turns": [turn("a", "2026-03-01T12:00:00Z"), turn("b", "2026-03-03T12:00:00Z"), turn("c", "2026-03-03T12:01:00Z")],
            "older": "9-9", "newer": null});
        let shown = timeline(&found, &Narrowed::default(), Some(7)).body.into_string();
        let place = |what: &str| shown.find(what).unwrap_or_else(|| panic!("{what}: {shown}"));
        assert!(place("turn-c") < place("turn-b") && place("turn-b") < place("turn-a"));
        assert_eq!(shown.matches("<h2").count(), 2);
        assert!(shown.contains("timeline?before=9-9") && !shown.contains("after="), "{shown}");
        assert!(shown.contains("data-newest=\"1-c\"") && shown.contains("why &lt;b&gt;?"));
        assert!(
            shown.contains("data-stored=\"7\"") && shown.contains("id=\"late\" hidden"),
            "{shown}"
        );
    }

    #[test]
    fn a_turn_that_another_member_shared_says_so() {
        let mut told = turn("a", "2026-03-01T12:00:00Z");
        told["shared_by"] = json!({"member": "ada", "machine": "den", "own": true});
        assert!(
            !row(&told).into_string().contains("shared by"),
            "another machine of one's own is oneself"
        );
        told["shared_by"] = json!({"member": "bob", "machine": "den", "own": false});
        let shown = row(&told).into_string();
        assert!(shown.contains("shared by bob"), "{shown}");
    }

    #[test]
    fn a_session_of_which_a_turn_is_another_member_s_says_so() {
        let mut told = json!({"id": "s", "agent": "codex", "project": null, "title": null, "begin": "2026-03-01T12:00:00Z",
            "end": "2026-03-01T13:00:00Z", "turns": 2, "hidden": false, "asked": "Why?", "shared_by": null});
        assert!(!session_row(&told).into_string().contains("shared by"));
        told["shared_by"] = json!({"member": "bob", "machine": "den", "own": false});
        let shown = session_row(&told).into_string();
        assert!(shown.contains("shared by bob"), "{shown}");
    }

    #[test]
    fn a_page_goes_on_with_what_narrows_it() {
        let narrowed = Narrowed {
            project: Some("a b".to_owned()),
            ..Narrowed::default()
        };
        let found = json!({"turns": [], "older": null, "newer": "5-5"});
        let shown = timeline(&found, &narrowed, None).body.into_string();
        assert!(shown.contains("timeline?project=a%20b&amp;after=5-5"), "{shown}");
        assert!(
            shown.contains("There are no such turns.") && !shown.contains("data-arrivals") && !shown.contains("data-stored"),
            "{shown}"
        );
    }

    #[test]
    fn a_piece_of_what_arrived_says_where_it_ends_and_whether_there_is_more() {
        let turns = [turn("a", "2026-03-01T12:00:00Z"), turn("b", "2026-03-01T12:01:00Z")];
        let piece = |newer: Value, is_of_nothing: bool| {
            arrivals(&json!({"turns": turns, "older": "1-a", "newer": newer}), is_of_nothing).into_string()
        };
        let first = piece(json!("1-b"), false);
        assert!(
            first.contains("data-until=\"1-b\" data-more=\"newer\""),
            "the latest that it holds: {first}"
        );
        assert!(piece(Value::Null, false).ends_with("data-until=\"1-b\"></div>"));
        assert!(piece(Value::Null, true).contains("data-more=\"older\""));
        let none = arrivals(&json!({"turns": [], "older": null, "newer": null}), true).into_string();
        assert_eq!(none, "<div hidden data-until=\"\"></div>");
    }

    #[test]
    fn what_came_late_is_named_for_the_script() {
        let told = late(&json!({"turns": ["2b3c49c9", "11111111"], "more": false})).into_string();
        assert_eq!(told, "<div hidden data-late=\"2b3c49c9 11111111\"></div>");
        let more = late(&json!({"turns": ["2b3c49c9"], "more": true})).into_string();
        assert!(more.contains("data-more=\"more\""), "{more}");
    }

    #[test]
    fn links_of_one_name_say_of_which_turn_they_are() {
        let mut nothing_asked = turn("a", "2026-03-01T12:00:00Z");
        nothing_asked["asked"] = "".into();
        let shown = row(&turn("b", "2026-03-03T12:00:00Z")).into_string();
        assert!(
            shown.contains("aria-label=\"session: why &lt;b&gt;?\">session</a>"),
            "{shown}"
        );
        let shown = row(&nothing_asked).into_string();
        assert!(shown.contains("aria-label=\"session: the turn of 1 Mar 2026, "), "{shown}");
    }

    #[test]
    fn fields_hold_nothing_that_acts() {
        let narrowed = Narrowed {
            project: Some("a\u{1b}[2J\nb\u{202e}".to_owned()),
            ..Narrowed::default()
        };
        let shown = fields(&narrowed).into_string();
        assert!(shown.contains("value=\"a[2J b\""), "{shown}");
    }

    #[test]
    fn an_empty_memory_says_what_to_do() {
        let found = json!({"turns": [], "older": null, "newer": null});
        let shown = timeline(&found, &Narrowed::default(), Some(0)).body.into_string();
        assert!(
            shown.contains("Nothing is remembered yet.") && shown.contains("remembrancer install"),
            "{shown}"
        );
    }
}
