//! What needs neither settings nor a home: the line for an editor, and what the program says of its own command line, completions for
//! shells and the pages of the manual that packages bring.
//!
//! These two are made from the definition of the command line, and the page of the settings from their defaults, so that none
//! can tell of another version.

mod settings_page;

use std::path::PathBuf;

use clap::Subcommand;
use clap_complete::Shell;

use super::error::CliError;
use super::help;
use crate::cli::output::tell;
use crate::install::replace;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Print what a shell needs to complete the command line.
    Completions {
        /// The shell that is to complete.
        shell: Shell,
    },
    /// Print a line for an editor to show: what the memory did for the last prompt.
    ///
    /// Needs 50 ms at most, and never fails. Reads the host's JSON on standard input, where it names a session. Prints an empty line where nothing is known, and
    /// "memory: off" where no daemon runs. `install --status-line` has Claude Code show it.
    Statusline,
    /// Write the pages of the manual, for those who make packages.
    #[command(hide = true)]
    ManPages {
        /// Where they go; it is made if it is not there.
        folder: PathBuf,
    },
}

/// Whether this process is to print the line for an editor, and nothing else: then nothing is to come before it, not even the reading
/// of the other arguments, of which none can be wrong.
pub(super) fn is_status_line() -> bool {
    let mut arguments = std::env::args_os().skip(1);
    let is_asked = arguments.next().is_some_and(|first| first == "statusline");
    is_asked && !arguments.any(|argument| argument == "--help" || argument == "-h")
}

pub(super) fn run(command: Command) -> Result<(), CliError> {
    match command {
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut help::command(), "remembrancer", &mut script);
            tell!("{}", String::from_utf8_lossy(&script));
        }
        Command::Statusline => {
            remembrancer_hooks::run_status_line();
        }
        Command::ManPages { folder } => {
            // Made where nobody else can put a link, and moved.
            let made = tempfile::tempdir()?;
            clap_mangen::generate_to(help::command(), made.path())?;
            fs_err::write(made.path().join(settings_page::FILE), settings_page::render())?;
            fs_err::create_dir_all(&folder)?;
            for page in fs_err::read_dir(made.path())? {
                let page = page?;
                replace(&folder.join(page.file_name()), &fs_err::read_to_string(page.path())?, 0o644)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_and_every_argument_says_what_it_is() {
        help::command().debug_assert();
        check(&help::command());
    }

    fn check(command: &clap::Command) {
        let name = command.get_name();
        assert!(command.get_about().is_some(), "{name}");
        for argument in command.get_arguments() {
            assert!(argument.get_help().is_some(), "{name}: {}", argument.get_id());
        }
        command.get_subcommands().for_each(check);
    }
}
