//! One episode in full, and one session. JSON of `show` comes in; text, place and neighbours go out, and what can be decided of it.

use maud::{Markup, html};
use serde_json::Value;

use super::lists::session_link;
use super::lists::{asked, of_project};
use super::parts::{figure, pager, shared_by};
use super::text::text;
use super::{Said, Section, View, link, member, number, times};
use crate::whose::other_of;

/// Digits of an id that name an episode.
const SHORT: usize = 8;

/// The first digits of an episode's id.
fn short(id: &str) -> &str {
    id.get(..SHORT).unwrap_or(id)
}

/// An episode with the turns around it.
pub(in crate::page) fn episode(episode: &Value, around: &Value) -> View {
    let id = short(member(episode, "id"));
    let title = first_line(episode);
    let body = html! {
        p.over {
            "Episode " code { (Said(id)) } " · " (times::moment(member(episode, "at")))
        }
        h1.of-text { (Said(&title)) }
        (states(episode))
        (acts(episode, id))
        div.columns {
            article.whole {
                // The heading above is all that was asked, where that is one line.
                @if title != member(episode, "prompt").trim() {
                    h2 { @if is_fact(episode) { "Remembered" } @else { "Asked" } }
                    (text(member(episode, "prompt")))
                }
                // A fact is all that was said.
                @if !is_fact(episode) {
                    h2 { "Answer" }
                    (answers(episode))
                }
                (facets(&episode["facets"]))
            }
            aside.beside aria-label="Where it stands" {
                (whence(episode, id))
                (neighbours(episode, around))
            }
        }
    };
    View::new(Section::Timeline, title, body)
}

/// Whether it is a fact that the user had remembered, which nothing answers.
fn is_fact(episode: &Value) -> bool {
    episode["remembered_on"].is_string()
}

/// What was asked, on a line.
fn first_line(episode: &Value) -> String {
    let prompt = member(episode, "prompt");
    let line = prompt
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or("(the question is not known)");
    let mut title: String = line.trim().chars().take(140).collect();
    if title.len() < line.trim().len() {
        title.push('…');
    }
    title
}

fn states(episode: &Value) -> Markup {
    let is = |name: &str| episode[name] == true;
    html! {
        p.states {
            span.flag { "importance " (Said(member(episode, "importance"))) }
            (shared_by(other_of(episode)))
            @if is("muted") { span.flag.on { "muted: never recalled" } }
            @if is("boosted") { span.flag.on { "boosted" } }
            @if is("hidden") { span.flag.on { "kept out by an exclusion" } }
            @if is("from_the_web") { span.flag.on { "made from web pages" } }
            @if is_fact(episode) { span.flag { "a fact that you had remembered" } }
        }
    }
}

fn acts(episode: &Value, id: &str) -> Markup {
    let act = |act: &'static str| link("decide", &[("act", act), ("id", id)]);
    let (mute, boost) = (episode["muted"] == true, episode["boosted"] == true);
    html! {
        div.does {
            a.act href=(act(if mute { "unmute" } else { "mute" })) data-key="m" { @if mute { "Unmute…" } @else { "Mute…" } }
            a.act href=(act(if boost { "unboost" } else { "boost" })) data-key="b" { @if boost { "Unboost…" } @else { "Boost…" } }
            a.act.grave href=(act("forget")) data-key="x" { "Forget…" }
        }
    }
}

/// What came of it, in all its parts.
fn answers(episode: &Value) -> Markup {
    let parts: Vec<&Value> = episode["parts"].as_array().into_iter().flatten().collect();
    let left_out = episode["parts_left_out"].as_u64().unwrap_or_default();
    let one = member(episode, "answer");
    html! {
        @if parts.len() > 1 {
            @for part in &parts {
                @let number = part["part"].as_u64().unwrap_or_default() + 1;
                section.part id=(format!("part-{number}")) aria-label=(format!("Part {number}")) {
                    p.over { "Part " (number) " of " (parts.len() as u64 + left_out) " " (shared_by(other_of(part))) }
                    (text(member(part, "answer")))
                }
            }
        } @else if one.trim().is_empty() {
            p.none { "No answer is stored: it was interrupted, or has not come yet." }
        } @else { (text(one)) }
        @if left_out > 0 {
            p.aside { (number(left_out)) " more parts are too long to be shown here; " code { "remembrancer export" } " has them." }
        }
    }
}

fn facets(facets: &Value) -> Markup {
    let kinds = [
        ("files", "Files touched"),
        ("commands", "Commands run"),
        ("errors", "Errors seen, as other programs worded them"),
        ("tools", "Tools used"),
    ];
    let values = |kind: &str| -> Vec<String> {
        let list = facets[kind].as_array().into_iter().flatten();
        list.filter_map(|value| value.as_str().map(str::to_owned)).collect()
    };
    html! {
        @for (kind, title) in kinds {
            @let values = values(kind);
            @if !values.is_empty() {
                h2 { (title) }
                ul.facets { @for value in &values { li { code { (Said(value)) } } } }
            }
        }
    }
}

/// Where it came from.
fn whence(episode: &Value, id: &str) -> Markup {
    let transcript = &episode["transcript"];
    html! {
        h2 { "Where it came from" }
        dl.facts {
            (figure("Project", of_project(&episode["project"])))
            (figure("Agent", Said(member(episode, "agent"))))
            (figure("Session", html! { a href=(session_link(id)) data-key="s" { code { (Said(member(episode, "session"))) } } }))
            @if let Some(cwd) = episode["cwd"].as_str() { div { dt { "Folder" } dd.path { (Said(cwd)) } } }
            @if let Some(path) = transcript["path"].as_str() {
                div {
                    dt { "Transcript" }
                    dd.path {
                        (Said(path))
                        @if let Some(line) = transcript["line"].as_u64() { ":" (line) }
                        @if transcript["exists"] == false { " " em { "(gone since; the memory keeps what it said)" } }
                    }
                }
            }
            @if let Some(shared) = episode["shared_by"]["member"].as_str() {
                (figure("Shared by", html! {
                    @if other_of(episode).is_none() { "you, as " }
                    (Said(shared)) ", from " (Said(episode["shared_by"]["machine"].as_str().unwrap_or("an unknown machine")))
                }))
            }
            (figure("Importance", html! {
                (Said(member(episode, "importance"))) ", by the rule " code { (Said(member(episode, "importance_rule"))) }
            }))
        }
    }
}

/// The turns of the session around it.
fn neighbours(episode: &Value, around: &Value) -> Markup {
    let turns: Vec<&Value> = around["turns"].as_array().into_iter().flatten().collect();
    let this = member(around, "around");
    let beside = |side: &str| Some(link("episode", &[("id", episode["neighbours"][side]["id"].as_str()?)]));
    let (previous, next) = (beside("previous"), beside("next"));
    html! {
        h2 { "Around it in the session" }
        ol.around {
            @for turn in &turns {
                @if turn["id"] == this {
                    li aria-current="true" { span.asked { (asked(turn)) } " " (times::clock(member(turn, "at"))) (shared_by(other_of(turn))) }
                } @else {
                    li { a href=(link("episode", &[("id", member(turn, "id"))])) { (asked(turn)) } " " (times::clock(member(turn, "at"))) (shared_by(other_of(turn))) }
                }
            }
        }
        (pager(
            "Turns of the session",
            previous.map(|previous| (previous, "← Turn before")),
            next.map(|next| (next, "Next turn →")),
        ))
    }
}

/// A session's turns in full, from where an earlier page ended.
pub(in crate::page) fn session(found: &Value, id: &str, after: Option<&str>) -> View {
    let (told, turns) = (
        &found["session"],
        found["turns"].as_array().map(Vec::as_slice).unwrap_or_default(),
    );
    let about = told["title"].as_str().or(told["asked"].as_str()).unwrap_or("Session");
    let next = found["next"]
        .as_str()
        .map(|next| link("session", &[("id", id), ("after", next)]));
    let own_id = member(told, "id");
    let first = after.map(|_| link("session", &[("id", id)]));
    let body = html! {
        p.over { a href="sessions" { "Sessions" } " · " (Said(member(told, "agent"))) " · " (of_project(&told["project"])) }
        h1.of-text { (Said(about)) }
        p.meta {
            @if told["begin"].is_string() { (times::moment(member(told, "begin"))) " to " (times::moment(member(told, "end"))) }
            @if let Some(count) = told["turns"].as_u64() { span { (number(count)) " turns" } }
            (shared_by(other_of(told)))
            span.path { (Said(own_id)) }
        }
        div.does { a.act.grave href=(link("decide", &[("act", "forget-session"), ("id", own_id)])) { "Forget the session…" } }
        @if turns.is_empty() { p.none { "No turn of it is stored." } }
        @for turn in turns { (whole_turn(turn)) }
        (pager("Pages", first.map(|first| (first, "← From its beginning")), next.map(|next| (next, "Next turns →"))))
    };
    View::new(Section::Sessions, about, body)
}

fn whole_turn(turn: &Value) -> Markup {
    let id = member(turn, "id");
    html! {
        article.exchange id=(format!("turn-{id}")) {
            h2.of-text { a href=(link("episode", &[("id", id)])) data-item { (asked(turn)) } }
            p.meta { (times::moment(member(turn, "at"))) code { (Said(id)) } (shared_by(other_of(turn))) @if turn["hidden"] == true { span.flag { "kept out" } } }
            @if is_more(turn) { div.prompt { (text(member(turn, "prompt"))) } }
            @if member(turn, "answer").trim().is_empty() { p.none { "No answer is stored." } } @else { (text(member(turn, "answer"))) }
            @if turn["parts_left_out"].as_u64().unwrap_or_default() > 0 {
                p.aside { "More of it is too long to be shown here. " a href=(link("episode", &[("id", id)])) { "See the episode" } }
            }
        }
    }
}

/// Whether the prompt has more than the line that its heading has.
fn is_more(turn: &Value) -> bool {
    member(turn, "prompt").trim() != member(turn, "asked").trim()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown() -> Value {
        json!({"id": "2b3c49c9aabbccdd", "at": "2026-03-01T12:00:00Z", "prompt": "\n Why <b>?\nmore", "answer": "Because.",
            "importance": "high", "importance_rule": "pinned", "muted": true, "boosted": false, "hidden": false, "project": "shop",
            "agent": "codex", "session": "s1", "cwd": "/home/ada/shop", "facets": {"files": ["src/<x>.rs"], "commands": []},
            "parts": [], "parts_left_out": 0, "transcript": {"path": "/t/s1.jsonl", "exists": false, "line": 7},
            "neighbours": {"previous": {"id": "11111111"}, "next": null}})
    }

    #[test]
    fn an_episode_says_where_it_came_from_and_what_can_be_decided() {
        let around = json!({"around": "2b3c49c9", "turns": [{"id": "11111111", "asked": "Before", "at": "2026-03-01T11:00:00Z"},
            {"id": "2b3c49c9", "asked": "Why?", "at": "2026-03-01T12:00:00Z"}]});
        let view = episode(&shown(), &around);
        assert_eq!(view.title, "Why <b>?");
        let body = view.body.into_string();
        for expected in [
            "<h1 class=\"of-text\">Why &lt;b&gt;?</h1>",
            "/t/s1.jsonl:7",
            "gone since",
            "decide?act=unmute&amp;id=2b3c49c9",
            "decide?act=boost&amp;id=2b3c49c9",
            "src/&lt;x&gt;.rs",
            "session?id=2b3c49c9#turn-2b3c49c9",
            "episode?id=11111111",
            "muted: never recalled",
        ] {
            assert!(body.contains(expected), "{expected}: {body}");
        }
        assert!(!body.contains("Commands run"), "{body}");
    }

    #[test]
    fn what_another_member_shared_says_so() {
        let body = |shared: Value| {
            let mut told = shown();
            told["shared_by"] = shared;
            let around = json!({"around": "2b3c49c9", "turns": []});
            episode(&told, &around).body.into_string()
        };
        assert!(!body(Value::Null).contains("hared by"));
        let own = body(json!({"member": "ada", "machine": "den", "own": true}));
        assert!(own.contains("you, as ada, from den") && !own.contains(">shared by"), "{own}");
        let others = body(json!({"member": "bob", "machine": "den", "own": false}));
        assert!(
            others.contains("<dd>bob, from den</dd>") && others.contains("shared by bob"),
            "{others}"
        );
        let mut turn = json!({"id": "11111111", "asked": "Line", "prompt": "Line", "answer": "", "at": "2026-03-01T11:00:00Z"});
        assert!(!whole_turn(&turn).into_string().contains("shared by"));
        turn["shared_by"] = json!({"member": "bob", "machine": "den", "own": false});
        assert!(whole_turn(&turn).into_string().contains("shared by bob"));
    }

    #[test]
    fn a_fact_waits_for_no_answer() {
        let mut fact = shown();
        fact["remembered_on"] = "2026-03-01".into();
        fact["answer"] = "".into();
        let body = episode(&fact, &json!({"turns": []})).body.into_string();
        assert!(
            body.contains("a fact that you had remembered") && !body.contains("answer"),
            "{body}"
        );
        assert!(!body.contains("Answer") && body.contains("<h2>Remembered</h2>"), "{body}");
    }

    #[test]
    fn a_long_turn_is_shown_in_its_parts() {
        let mut long = shown();
        long["parts"] = json!([{"part": 0, "answer": "one"}, {"part": 1, "answer": "two"}]);
        long["parts_left_out"] = 3.into();
        let body = episode(&long, &json!({"turns": []})).body.into_string();
        assert!(body.contains("Part 2 of 5") && body.contains("3 more parts"), "{body}");
    }

    #[test]
    fn a_session_is_paged() {
        let found = json!({"session": {"id": "s1", "agent": "codex", "project": null, "asked": "First"}, "next": "5-5",
            "turns": [{"id": "11111111", "asked": "Line", "prompt": "Line", "answer": "", "at": "2026-03-01T11:00:00Z", "parts_left_out": 0}]});
        let body = session(&found, "s1", None).body.into_string();
        assert!(
            body.contains("session?id=s1&amp;after=5-5") && body.contains("No answer is stored."),
            "{body}"
        );
        assert!(
            !body.contains("class=\"prompt\"") && !body.contains("From its beginning"),
            "{body}"
        );
    }
}
