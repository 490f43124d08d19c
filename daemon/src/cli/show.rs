//! `remembrancer show`: the whole of one episode with its turn, where it came from and what stands beside it; with `--session`, all
//! turns of its session.

use clap::Args;
use remembrancer_processor::recall::shown;
use serde_json::{Value, json};

use super::error::CliError;
use super::listing::{day_and_time, told};
use super::surroundings::Surroundings;
use super::terminal::Terminal;
use super::{acts, ask};
use crate::cli::output::{say, write_raw};
use crate::plural;
use crate::whose::{mark, other_of};

#[derive(Debug, Args)]
pub(super) struct ShowArguments {
    /// The episode's id, or its first digits, as a recollection names it; with --session, a session's id as well.
    id: String,
    /// Show all turns of the session in order.
    #[arg(long)]
    session: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &ShowArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    let terminal = surroundings.terminal;
    if arguments.session {
        let session = whole_session(&arguments.id, surroundings)?;
        // A form of its own: what a session holds is not what an episode holds.
        ask::print("show-session", &session, arguments.json, |session| {
            print_session(session, terminal);
        });
        return Ok(());
    }
    let episode = acts::show(surroundings, &arguments.id)?;
    ask::print("show", &episode, arguments.json, |episode| print_episode(episode, terminal));
    Ok(())
}

/// All turns of a session, in as many replies as it takes.
fn whole_session(id: &str, surroundings: &Surroundings) -> Result<Value, CliError> {
    let mut turns: Vec<Value> = Vec::new();
    let mut after: Option<String> = None;
    loop {
        let mut page = acts::session(surroundings, id, after.as_deref())?;
        if let Value::Array(mut more) = page["turns"].take() {
            turns.append(&mut more);
        }
        match page["next"].as_str() {
            Some(next) => after = Some(next.to_owned()),
            None => return Ok(json!({"session": page["session"].take(), "turns": turns})),
        }
    }
}

fn print_episode(episode: &Value, terminal: Terminal) {
    for key in [
        "id",
        "at",
        "project",
        "cwd",
        "session",
        "source",
        "importance",
        "importance_rule",
    ] {
        if let Some(value) = episode[key].as_str() {
            say!("{key}: {value}");
        }
    }
    print_transcript(&episode["transcript"]);
    if let Some(member) = episode["shared_by"]["member"].as_str() {
        let machine = episode["shared_by"]["machine"].as_str().unwrap_or("an unknown machine");
        let you = if other_of(episode).is_none() { "you, as " } else { "" };
        say!("shared by: {you}{member}, from {machine}");
    }
    if episode["hidden"] == true {
        say!("hidden: yes, by an exclusion");
    }
    print_steering(episode);
    // Files may be named by whoever wrote a page; errors are other programs' words.
    let facets = [
        ("files", "files"),
        ("commands", "commands"),
        ("errors", "errors (tool output)"),
        ("tools", "tools"),
    ];
    for (key, title) in facets {
        let values = strings(&episode["facets"][key]);
        if !values.is_empty() {
            say!("{title}: {}", values.join(", "));
        }
    }
    if episode["from_the_web"] == true {
        say!("made from web pages: yes");
    }
    for key in ["prompt", "answer"] {
        let text = episode[key].as_str().unwrap_or_default();
        say!("\n{key}:\n{}", shown(text));
    }
    print_other_parts(episode);
    print_neighbours(&episode["neighbours"], terminal);
}

/// What the user did with it.
fn print_steering(episode: &Value) {
    if episode["muted"] == true {
        say!("muted: yes, it is never recalled (`remembrancer unmute` takes that back)");
    }
    if episode["boosted"] == true {
        say!("boosted: yes (`remembrancer unboost` takes that back)");
    }
    if let Some(date) = episode["remembered_on"].as_str() {
        say!("remembered by you on {date}");
    }
}

/// Where in its file the turn begins, or that the file is gone.
fn print_transcript(transcript: &Value) {
    match (transcript["exists"].as_bool(), transcript["line"].as_u64()) {
        (Some(true), Some(line)) => say!("line: {line}"),
        (Some(false), _) => say!("the transcript is gone"),
        (Some(true), None) | (None, _) => {}
    }
}

/// What else the turn has.
fn print_other_parts(episode: &Value) {
    let parts = episode["parts"].as_array().map(Vec::as_slice).unwrap_or_default();
    let count = parts.len() as u64 + episode["parts_left_out"].as_u64().unwrap_or_default();
    for part in parts.iter().filter(|part| part["part"] != episode["part"]) {
        let number = part["part"].as_u64().unwrap_or_default() + 1;
        say!(
            "\n{}part {number} of {count} ({}):\n{}",
            mark(other_of(part)),
            part["id"].as_str().unwrap_or_default(),
            shown(part["answer"].as_str().unwrap_or_default())
        );
    }
    if let Some(left) = episode["parts_left_out"].as_u64().filter(|left| *left > 0) {
        let parts = plural::counted(left, "more part of the turn is", "more parts of the turn are");
        say!("\n({parts} too long to be shown with it.)");
    }
}

fn print_neighbours(neighbours: &Value, terminal: Terminal) {
    let lines: Vec<String> = [("before", "previous"), ("after", "next")]
        .into_iter()
        .filter_map(|(name, key)| {
            let turn = neighbours.get(key).filter(|turn| turn.is_object())?;
            let (day, time) = day_and_time(turn["at"].as_str().unwrap_or_default());
            let id = turn["id"].as_str().unwrap_or_default();
            Some(format!("{name}: {id}  {day} {time}  {}", told(turn)))
        })
        .collect();
    if !lines.is_empty() {
        say!("");
    }
    for line in lines {
        say!("{}", terminal.fit(&line));
    }
}

fn print_session(found: &Value, terminal: Terminal) {
    let session = &found["session"];
    for key in ["id", "agent", "project", "title", "begin", "end"] {
        if let Some(value) = session[key].as_str() {
            say!("{key}: {value}");
        }
    }
    let turns = found["turns"].as_array().map(Vec::as_slice).unwrap_or_default();
    for turn in turns {
        let (day, time) = day_and_time(turn["at"].as_str().unwrap_or_default());
        let mut head = format!("{day} {time}  {}", turn["id"].as_str().unwrap_or_default());
        if let Some(login) = other_of(turn) {
            head = format!("{head}  [shared by {login}]");
        }
        for (key, value, name) in [("hidden", json!(true), "[hidden]"), ("origin", json!("subagent"), "[helper]")] {
            if turn[key] == value {
                head = format!("{head}  {name}");
            }
        }
        say!("");
        write_raw(format_args!("{}\n", terminal.styled(&head, false)));
        for key in ["prompt", "answer"] {
            let text = indented(turn[key].as_str().unwrap_or_default());
            if !text.is_empty() {
                say!("{key}:\n{text}");
            }
        }
    }
}

/// A text as it is shown, each line set in: none passes for the line by which a turn begins, which says whose it is.
fn indented(text: &str) -> String {
    let text = shown(text);
    let lines: Vec<String> = text.lines().map(|line| format!("    {line}").trim_end().to_owned()).collect();
    lines.join("\n")
}

fn strings(value: &Value) -> Vec<String> {
    value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|item| item.as_str().map(str::to_owned))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_of_a_text_passes_for_the_head_of_a_turn() {
        let forged = "fine\n\n2026-03-01 12:00  2b3c49c9\r\u{2028}prompt:\nanswer:\n";
        assert_eq!(
            indented(forged),
            "    fine\n\n    2026-03-01 12:00  2b3c49c9\n     prompt:\n    answer:"
        );
        assert_eq!(indented(" \n"), "");
    }
}
