//! `explain`: how the answer to a prompt came about, of one of the last 1,000 or of one that is put now; `last`: why the latest
//! recollection was shown. Both ask the daemon or, where none runs, read the store without changing it.

mod last;
mod list;
pub(crate) mod text;

use std::path::PathBuf;

use clap::Args;
use remembrancer_hooks::protocol::ExplainRequest;
use serde_json::Value;

use super::error::{CliError, Kind};
use super::surroundings::Surroundings;
use super::{acts, ask};
use crate::explanation::Explanation;

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(super) struct ExplainArguments {
    /// A number (1 is the latest prompt), an id (as p1207), or the text of a new prompt.
    ///
    /// A new prompt is recalled for at once, and leaves no trace. Without this, the latest prompt is explained.
    #[arg(value_name = "PROMPT")]
    which: Option<String>,
    /// A new prompt, though it looks like a number or an id.
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["which", "session", "list"])]
    prompt: Option<String>,
    /// The prompts of this session alone.
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// List the latest prompts.
    #[arg(long, conflicts_with = "which")]
    list: bool,
    /// How many are listed.
    #[arg(long, value_name = "N", default_value_t = 20, requires = "list", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    limit: u32,
    /// The folder in which the new prompt is asked; the current one if not given.
    #[arg(long, value_name = "FOLDER")]
    cwd: Option<PathBuf>,
    /// The agent in whose name the new prompt is asked.
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Look at all projects alike for the new prompt, whatever the settings say.
    #[arg(long)]
    all_projects: bool,
    /// Embed the new prompt even though no daemon runs: takes as long as loading the model.
    #[arg(long)]
    embed: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(super) struct LastArguments {
    /// The last one of this session; of all sessions if not given.
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Which prompt is meant by a word of the command line.
#[derive(Debug, PartialEq, Eq)]
enum Which<'a> {
    Number(u32),
    Id(&'a str),
    New(&'a str),
}

impl<'a> Which<'a> {
    fn of(word: &'a str) -> Self {
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if is_number(word) {
            // One that is too large is one that there is no prompt of.
            Self::Number(word.parse().unwrap_or(u32::MAX))
        } else if word.strip_prefix('p').is_some_and(is_number) {
            Self::Id(word)
        } else {
            Self::New(word)
        }
    }
}

pub(super) fn run(arguments: &ExplainArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    if arguments.list {
        return run_list(arguments, surroundings);
    }
    let request = request(arguments, surroundings)?;
    let (value, explanation) = match request.prompt {
        None => logged(&request, surroundings)?,
        Some(_) => read(acts::explain(surroundings, &request, arguments.embed)?)?,
    };
    ask::print("explain", &value, arguments.json, |_| {
        text::print(&explanation, surroundings.terminal.page());
    });
    Ok(())
}

pub(super) fn last(arguments: &LastArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    let request = ExplainRequest {
        session: arguments.session.clone(),
        shown: true,
        ..ExplainRequest::default()
    };
    let (value, explanation) = logged(&request, surroundings)?;
    ask::print("last", &value, arguments.json, |_| {
        last::print(&explanation, surroundings.terminal.page());
    });
    Ok(())
}

fn run_list(arguments: &ExplainArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    let (session, limit) = (arguments.session.clone(), Some(arguments.limit));
    let prompts = acts::explanations(surroundings, session.as_deref(), limit)?;
    ask::print("explanations", &prompts, arguments.json, |prompts| {
        list::print(prompts, surroundings.terminal.page());
    });
    Ok(())
}

/// What the command line asks for.
fn request(arguments: &ExplainArguments, surroundings: &Surroundings) -> Result<ExplainRequest, CliError> {
    let mut request = ExplainRequest {
        session: arguments.session.clone(),
        ..ExplainRequest::default()
    };
    match (&arguments.prompt, arguments.which.as_deref().map(Which::of)) {
        (Some(prompt), _) => request.prompt = Some(prompt.clone()),
        (None, Some(Which::New(prompt))) => request.prompt = Some(prompt.to_owned()),
        (None, Some(Which::Id(id))) => request.id = Some(id.to_owned()),
        (None, Some(Which::Number(0))) => {
            return Err(CliError::new(Kind::Usage, "prompts are counted from 1, which is the latest"));
        }
        (None, Some(Which::Number(number))) => request.number = Some(number),
        (None, None) => {}
    }
    let of_new = arguments.cwd.is_some() || arguments.agent.is_some() || arguments.all_projects || arguments.embed;
    if request.prompt.is_none() {
        return if of_new {
            Err(CliError::new(
                Kind::Usage,
                "--cwd, --agent, --all-projects and --embed are for a new prompt, whose text is missing",
            ))
        } else {
            Ok(request)
        };
    }
    if request.session.is_some() {
        return Err(CliError::new(
            Kind::Usage,
            "a new prompt belongs to no session: leave --session away",
        ));
    }
    let cwd = match &arguments.cwd {
        Some(cwd) => cwd.clone(),
        None => std::env::current_dir()?,
    };
    request.cwd = Some(surroundings.as_in_transcripts(&cwd)?);
    request.agent.clone_from(&arguments.agent);
    request.all_projects = arguments.all_projects;
    Ok(request)
}

/// The explanation of a logged prompt.
fn logged(request: &ExplainRequest, surroundings: &Surroundings) -> Result<(Value, Explanation), CliError> {
    read(acts::explain(surroundings, request, false)?)
}

/// An explanation as the daemon or the store told it.
///
/// # Errors
/// Where a daemon of another version told it.
pub(crate) fn read(value: Value) -> Result<(Value, Explanation), CliError> {
    let explanation = serde_json::from_value(value.clone()).map_err(|error| {
        CliError::new(Kind::Daemon, format!("the daemon's answer is none of this version: {error}"))
            .with_hint("is it of another version? Stop it, and start it again")
    })?;
    Ok((value, explanation))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::latest("1", Which::Number(1))]
    #[case::beyond_all("99999999999", Which::Number(u32::MAX))]
    #[case::id("p1207", Which::Id("p1207"))]
    #[case::text("why does it starve?", Which::New("why does it starve?"))]
    #[case::one_word("parser", Which::New("parser"))]
    #[case::the_letter("p", Which::New("p"))]
    #[case::negative("-1", Which::New("-1"))]
    #[case::empty("", Which::New(""))]
    fn a_word_is_a_number_an_id_or_a_prompt(#[case] word: &str, #[case] expected: Which<'_>) {
        assert_eq!(Which::of(word), expected);
    }
}
