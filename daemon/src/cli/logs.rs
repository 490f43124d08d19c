//! `remembrancer logs`: what the daemon has logged, wherever its standard error goes: the journal of systemd, the file that launchd's
//! agent writes, or the file to which a person sent it. The log holds no text of the memory.

mod line;
mod source;

use std::collections::VecDeque;

use clap::Args;
use serde_json::{Value, json};

use super::error::CliError;
use super::surroundings::Surroundings;
use crate::cli::output::{is_unread, say, say_json};
use line::{Level, Line, Lines};
use source::Source;

#[derive(Debug, Args)]
#[command(
    after_help = "What is logged at all is the setting `log.level`. A daemon that you started in a terminal logs there, and nowhere else."
)]
pub(super) struct LogsArguments {
    /// Go on with what is logged from now on, until you interrupt it.
    #[arg(long, short)]
    follow: bool,
    /// So many of the last lines.
    #[arg(long, short = 'n', value_name = "N", default_value_t = 100)]
    lines: usize,
    /// Only what is at least as grave as this.
    #[arg(long, value_enum, ignore_case = true)]
    level: Option<Level>,
    /// Print JSON; with --follow an object a line.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &LogsArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    let source = Source::find(surroundings)?;
    let mut lines = Lines::of_level(arguments.level);
    let mut last: VecDeque<Line> = VecDeque::new();
    let searched = if arguments.level.is_some() {
        source::MOST_LINES
    } else {
        arguments.lines
    };
    let rest = source.last_lines(searched, &mut |text| {
        if let Some(line) = lines.take(text) {
            last.push_back(line);
            if last.len() > arguments.lines {
                last.pop_front();
            }
        }
    })?;
    if !arguments.follow {
        show_last(&source, &last, arguments.json);
        return Ok(());
    }
    for line in &last {
        show_next(line, arguments.json);
    }
    rest.follow(&mut |text| {
        if let Some(line) = lines.take(text) {
            show_next(&line, arguments.json);
        }
        !is_unread()
    })
}

fn show_last(source: &Source, last: &VecDeque<Line>, json: bool) {
    if json {
        let lines: Vec<Value> = last.iter().map(Line::json).collect();
        say_json("logs", &json!({"source": source.name(), "lines": lines}));
    } else if last.is_empty() {
        say!("Nothing is logged in {}, as far as was looked.", source.name());
    } else {
        for line in last {
            say!("{}", line.text);
        }
    }
}

fn show_next(line: &Line, json: bool) {
    if json {
        let mut object = line.json();
        object["schema"] = "remembrancer/logs/1".into();
        say!("{object}");
    } else {
        say!("{}", line.text);
    }
}
