//! The command line: one file a command. Everything that a person reads is printed below here, and nowhere else.

pub(crate) mod acts;
mod ask;
mod audit;
mod backup;
mod config;
mod doctor;
mod error;
mod eval;
mod examples;
pub(crate) mod explain;
mod export;
pub(crate) mod forget;
mod help;
mod import;
mod install;
mod instruct;
mod itself;
mod listing;
mod logs;
mod mcp;
mod mute;
pub(crate) mod narrowing;
mod output;
mod progress;
mod recall;
mod remember;
mod restore;
mod run;
mod samples;
mod search;
pub(crate) mod selection;
mod serve;
#[cfg(feature = "share")]
mod share;
mod show;
mod stats;
mod status;
pub(crate) mod steer;
mod surroundings;
mod terminal;
mod try_it;
mod why;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

pub(crate) use error::{CliError, Kind};
pub(crate) use surroundings::Surroundings;
#[cfg(test)]
pub(crate) use surroundings::all_variables;

/// The exit codes; they are those of [`error::Kind`], and stand in `docs/commands.md` and on the page for `man`, too.
const EXIT_CODES: &str = "Exit codes: 0 done; 1 something failed; 2 settings or arguments that can't be used; 3 what was asked for is \
not there; 4 the database can't be used; 5 a daemon runs already, or none does where one is needed.";

/// A long-term memory for coding agents. It reads the transcripts that they leave, and reminds them of what fits a prompt.
#[derive(Debug, Parser)]
#[command(name = "remembrancer", version = remembrancer_hooks::VERSION, arg_required_else_help = true, after_help = EXIT_CODES)]
struct Arguments {
    /// Use this settings file instead of the usual one.
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: AnyCommand,
}

#[derive(Debug, Subcommand)]
#[expect(clippy::large_enum_variant, reason = "there is one, and it is read once")]
enum AnyCommand {
    #[command(flatten)]
    OfTheMemory(Command),
    // Needs neither settings nor a home.
    #[command(flatten)]
    OfItself(itself::Command),
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show what it does, with your own transcripts, in a folder that is thrown away.
    Try(try_it::TryArguments),
    /// Run the daemon in the foreground.
    Run,
    /// Set up the hook in the coding agents of this machine.
    Install(install::InstallArguments),
    /// Take the hook out of them again.
    Uninstall(install::UninstallArguments),
    /// Keep a project's memories in a file, for hosts that run no hook.
    Instruct(instruct::InstructArguments),
    /// Ask what is remembered that fits a prompt.
    Recall(recall::RecallArguments),
    /// Say why the last prompt got what it got.
    Why(why::WhyArguments),
    /// Search what is remembered, by words and by meaning.
    Search(search::SearchArguments),
    /// Show the whole of one episode, or of its session.
    Show(show::ShowArguments),
    /// List what was asked, by time.
    Timeline(listing::TimelineArguments),
    /// List the sessions, the one last at work first.
    Sessions(listing::SessionsArguments),
    /// Tell why the latest recollection was shown: what matched, and how to silence it.
    Last(explain::LastArguments),
    /// Tell how the answer to a prompt came about: one of the last 1,000, or a new one.
    Explain(explain::ExplainArguments),
    /// Say how the daemon is and what the memory holds.
    Status(status::StatusArguments),
    /// Show numbers of the memory: how much, of whom, how large, and what came of it.
    Stats(stats::StatsArguments),
    /// Look for what you may want to mend: copies, secrets, what is never of use, what takes the room.
    Audit(audit::AuditArguments),
    /// Serve the memory as a page for your browser, on this machine alone.
    Serve(serve::ServeArguments),
    /// Show what the daemon has logged.
    Logs(logs::LogsArguments),
    /// Show the settings and where they come from, check them, or edit them.
    Config(config::ConfigArguments),
    /// Prove that everything works, from the daemon to what each agent's model sees.
    Doctor(doctor::DoctorArguments),
    /// Measure recall on judged sets.
    Eval(eval::EvalArguments),
    /// Stop remembering and recalling for a while.
    Pause(steer::PauseArguments),
    /// End a pause.
    Resume(steer::PlainArguments),
    /// Keep what happens below a folder out of the memory.
    Exclude(steer::ExcludeArguments),
    /// Take back an `exclude`.
    Include(steer::IncludeArguments),
    /// Remember a fact, of a project or everywhere.
    Remember(remember::RememberArguments),
    /// Never recall single memories again; they are kept, and `search` finds them.
    Mute(mute::SteerArguments),
    /// Take back a `mute`.
    Unmute(mute::UnsteerArguments),
    /// Have single memories count as important.
    Boost(mute::SteerArguments),
    /// Take back a `boost`.
    Unboost(mute::UnsteerArguments),
    /// Share the memory with your other machines and your team, by a database that you run.
    #[cfg(feature = "share")]
    Share(share::ShareArguments),
    /// Serve the memory to an agent's own tools, by the Model Context Protocol on standard input and output.
    Mcp(mcp::McpArguments),
    /// Delete from the memory, for good.
    Forget(forget::ForgetArguments),
    /// Write what is remembered into a file, as JSON lines or Markdown.
    Export(export::ExportArguments),
    /// Read what `export` wrote as JSON lines.
    Import(import::ImportArguments),
    /// Copy the memory, while the daemon runs or not.
    Backup(backup::BackupArguments),
    /// Go back to a copy of the memory; what was forgotten since stays forgotten.
    Restore(restore::RestoreArguments),
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    if itself::is_status_line() {
        return remembrancer_hooks::run_status_line();
    }
    let arguments = match help::parse() {
        Ok(arguments) => arguments,
        Err(code) => return ExitCode::from(code),
    };
    let written = |()| match output::failure() {
        None => Ok(()),
        Some(error) => Err(CliError::new(
            Kind::Failed,
            format!("cannot write to standard output: {error}"),
        )),
    };
    let done = match arguments.command {
        AnyCommand::OfTheMemory(command) => dispatch(command, arguments.config),
        AnyCommand::OfItself(command) => itself::run(command),
    };
    match done.and_then(written) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::complain!("{error}");
            error.exit_code()
        }
    }
}

fn dispatch(command: Command, config: Option<PathBuf>) -> Result<(), CliError> {
    // It is asked where the settings can't be used, too.
    if let Command::Config(arguments) = &command {
        return config::run(arguments, config);
    }
    let surroundings = Surroundings::of_process(config);
    // What keeps other commands from running is what this one tells.
    if let (Command::Doctor(asked), Err(error)) = (&command, &surroundings) {
        return doctor::without_surroundings(asked, error);
    }
    let surroundings = surroundings?;
    match command {
        Command::Try(arguments) => try_it::run(&arguments, &surroundings),
        Command::Run => run::run(surroundings),
        Command::Install(arguments) => install::install(&arguments, &surroundings),
        Command::Uninstall(arguments) => install::uninstall(&arguments, &surroundings),
        Command::Instruct(arguments) => instruct::run(&arguments, &surroundings),
        Command::Recall(arguments) => recall::run(&arguments, &surroundings),
        Command::Why(arguments) => why::run(&arguments, &surroundings),
        Command::Search(arguments) => search::run(&arguments, &surroundings),
        Command::Show(arguments) => show::run(&arguments, &surroundings),
        Command::Timeline(arguments) => listing::timeline(&arguments, &surroundings),
        Command::Sessions(arguments) => listing::sessions(&arguments, &surroundings),
        Command::Last(arguments) => explain::last(&arguments, &surroundings),
        Command::Explain(arguments) => explain::run(&arguments, &surroundings),
        Command::Status(arguments) => status::run(&arguments, &surroundings),
        Command::Stats(arguments) => stats::run(&arguments, &surroundings),
        Command::Audit(arguments) => audit::run(&arguments, &surroundings),
        Command::Serve(arguments) => serve::run(&arguments, surroundings),
        Command::Logs(arguments) => logs::run(&arguments, &surroundings),
        Command::Config(arguments) => config::run(&arguments, None),
        Command::Doctor(arguments) => doctor::run(&arguments, &surroundings),
        Command::Eval(arguments) => eval::run(&arguments, &surroundings),
        Command::Pause(arguments) => steer::pause(&arguments, &surroundings),
        Command::Resume(arguments) => steer::resume(&arguments, &surroundings),
        Command::Exclude(arguments) => steer::exclude(&arguments, &surroundings),
        Command::Include(arguments) => steer::include(&arguments, &surroundings),
        Command::Remember(arguments) => remember::run(&arguments, &surroundings),
        Command::Mute(arguments) => mute::mute(&arguments, &surroundings),
        Command::Unmute(arguments) => mute::unmute(&arguments, &surroundings),
        Command::Boost(arguments) => mute::boost(&arguments, &surroundings),
        Command::Unboost(arguments) => mute::unboost(&arguments, &surroundings),
        #[cfg(feature = "share")]
        Command::Share(arguments) => share::run(&arguments, &surroundings),
        Command::Mcp(arguments) => mcp::run(&arguments, surroundings),
        Command::Forget(arguments) => forget::run(&arguments, &surroundings),
        Command::Export(arguments) => export::run(&arguments, &surroundings),
        Command::Import(arguments) => import::run(&arguments, &surroundings),
        Command::Backup(arguments) => backup::run(&arguments, &surroundings),
        Command::Restore(arguments) => restore::run(&arguments, &surroundings),
    }
}
