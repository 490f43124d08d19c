//! How the memory is: the daemon's state and why, what it does, and the numbers of the store. JSON of `status` and `stats` comes in.

use maud::{Markup, html};
use remembrancer_hooks::clock;
use serde_json::Value;

use super::parts::{figure, table};
use super::{Said, Section, View, counted, member, number, times};

/// The view.
pub(in crate::page) fn health(status: &Value, store: &Value) -> View {
    let body = html! {
        h1 { "Health" }
        (state(status))
        (warnings(status))
        h2 { "Memory" }
        dl.numbers {
            (figure("Episodes", number_of(&store["episodes"])))
            (figure("Turns", number_of(&store["turns"])))
            (figure("Sessions", number_of(&store["sessions"])))
            (figure("Projects", number_of(&store["projects"])))
            (figure("With a vector", number_of(&store["embedded"])))
            (figure("Waiting for one", number_of(&store["embedding_backlog"])))
            (figure("On the disk", megabytes(&store["bytes"]["database"])))
            (figure("Forgotten turns", number_of(&status["forgotten_turns"])))
        }
        (recalls(status, store))
        (agents(store))
        (process(status))
    };
    View::new(Section::Health, "Health", body)
}

fn number_of(value: &Value) -> String {
    number(value.as_u64().unwrap_or_default())
}

fn megabytes(value: &Value) -> String {
    format!("{:.1} MB", value.as_u64().unwrap_or_default() as f64 / 1e6)
}

fn milliseconds(value: &Value) -> String {
    value
        .as_f64()
        .map_or_else(|| "–".to_owned(), |millis| format!("{millis:.1} ms"))
}

fn state(status: &Value) -> Markup {
    let health = &status["health"];
    let state = health["state"].as_str();
    let about = match state {
        Some("well") => "All that came is done.",
        Some("behind") => "Work waits, and is being done.",
        Some("degraded") => "It does less than it should, or less well.",
        Some("stalled") => "Work waits, and nothing of it moves.",
        _ => "No daemon runs: nothing is read or recalled.",
    };
    let shown = state.unwrap_or("off");
    html! {
        div.state data-state=(shown) {
            p.lead { strong { (Said(shown)) } " " (about) }
            @for why in health["why"].as_array().into_iter().flatten() {
                p { span.flag.warn { (Said(member(why, "state"))) } " " (Said(member(why, "part"))) ": " (Said(member(why, "why"))) }
            }
            @if let Some(paused) = status["paused"].as_str() {
                p { span.flag.warn { "paused" } " " (Said(paused)) "; " code { "remembrancer resume" } " ends that." }
            }
            @if let Some(why) = status["no_daemon"].as_str() { p { (Said(why)) } }
            @if state.is_none() { p { "Start it by " code { "remembrancer run" } "; " code { "remembrancer doctor" } " proves that everything works." } }
        }
    }
}

fn warnings(status: &Value) -> Markup {
    let sentences = ["problems", "notices"].map(|name| status[name].as_array().map(Vec::as_slice).unwrap_or_default());
    html! {
        @if sentences.iter().any(|list| !list.is_empty()) {
            h2 { "What wants attention" }
            ul { @for sentence in sentences.into_iter().flatten().filter_map(Value::as_str) { li { (Said(sentence)) } } }
        }
    }
}

fn recalls(status: &Value, store: &Value) -> Markup {
    let (now, week) = (&status["recalls"], &store["recollections"]["last_7_days"]);
    let times = &store["recall_times"];
    html! {
        h2 { "Recall" }
        dl.numbers {
            (figure("Prompts in 7 days", number_of(&week["prompts"])))
            (figure("Shown something", number_of(&week["prompts_answered"])))
            (figure("Recollections used", number_of(&week["used"])))
            (figure("Half within", milliseconds(&times["p50_millis"])))
            (figure("99 % within", milliseconds(&times["p99_millis"])))
            (figure("Budget", format!("{} ms", clock::BUDGET.as_millis())))
        }
        (reasons("Nothing was shown, since the start, because", &now["nothing_shown_because"]))
        (reasons("Went without, since the start", &now["degradations"]))
    }
}

fn reasons(title: &str, counts: &Value) -> Markup {
    let counts: Vec<(&String, &Value)> = counts.as_object().into_iter().flatten().collect();
    html! {
        @if !counts.is_empty() {
            p { (title) ": " @for (place, (name, count)) in counts.iter().enumerate() { @if place > 0 { ", " } (Said(name)) " " (count) } "." }
        }
    }
}

fn agents(store: &Value) -> Markup {
    let agents: Vec<&Value> = store["by_agent"].as_array().into_iter().flatten().collect();
    let heads = [("Agent", false), ("Episodes", true), ("Sessions", true), ("Last", false)];
    let rows = html! {
        @for agent in &agents {
            tr {
                th scope="row" { (Said(member(agent, "agent"))) }
                td.digits { (number_of(&agent["episodes"])) }
                td.digits { (number_of(&agent["sessions"])) }
                td { (times::moment(member(agent, "last"))) }
            }
        }
    };
    html! { @if !agents.is_empty() { (table("agents", "Agents", &heads, &rows)) } }
}

fn process(status: &Value) -> Markup {
    let (daemon, ingest) = (&status["daemon"], &status["ingest"]);
    html! {
        @if let Some(pid) = daemon["pid"].as_u64() {
            h2 { "Daemon" }
            dl.facts {
                (figure("Process", format!("{pid}, version {}", member(daemon, "version"))))
                (figure("Since", times::moment(member(daemon, "started"))))
                (figure("Model", Said(member(daemon, "model"))))
                (figure("Resident", megabytes(&daemon["memory"]["resident_bytes"])))
                (figure("Reading", format!("{} waiting", counted(&ingest["transcripts_waiting"], "transcript", "transcripts"))))
                (figure("Socket", html! { span.path { (Said(member(daemon, "socket"))) } }))
            }
        }
        @if let Some(copies) = status["backups"]["count"].as_u64() {
            p.meta {
                span { (counted(&copies.into(), "backup", "backups")) }
                @if let Some(newest) = status["backups"]["newest"].as_str() { span { "the newest of " (times::moment(newest)) } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case::well(json!({"health": {"state": "well", "why": []}}), "All that came is done.")]
    #[case::stalled(
        json!({"health": {"state": "stalled", "why": [{"state": "stalled", "part": "ingest", "why": "<x> is stuck"}]}}),
        "ingest: &lt;x&gt; is stuck"
    )]
    #[case::no_daemon(json!({}), "remembrancer run")]
    #[case::paused(json!({"paused": "until resumed", "health": {"state": "well"}}), "until resumed")]
    #[case::trouble(json!({"problems": ["the disk is full"]}), "the disk is full")]
    fn the_state_is_told_with_its_reasons(#[case] status: Value, #[case] expected: &str) {
        let body = health(&status, &json!({})).body.into_string();
        assert!(body.contains(expected), "{expected}: {body}");
    }

    #[test]
    fn counts_are_told_by_name() {
        let status = json!({"recalls": {"nothing_shown_because": {"chatter": 3, "nothing-found": 1}}});
        let body = health(&status, &json!({"episodes": 100_000})).body.into_string();
        assert!(
            body.contains("chatter 3, nothing-found 1.") && body.contains("100,000"),
            "{body}"
        );
    }
}
