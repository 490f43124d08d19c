//! `remembrancer serve`: the page, at a port of this machine or at a unix socket, until it is stopped. It asks the daemon, or reads the
//! store where none runs.

mod asks;

use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use remembrancer_hooks::places::Places;
use remembrancer_processor::Deadline;
use tokio_util::sync::CancellationToken;

use super::error::{CliError, Kind};
use super::surroundings::Surroundings;
use crate::cli::output::{complain, say};
use crate::config::PageServing;
use crate::files::{private_folder, write_atomically};
use crate::page::{At, Memory, OF_DAEMON, Page, SOCKET_ADDRESS, renew_all, said, socket_paths};
use crate::system;
use crate::{logging, page};
use asks::Asking;

/// What holds of its address.
const NOTES: &str = "The address that is printed holds a token, and opens the page to a browser of yours until this command ends. It is \
served to this machine alone, and asks nothing of any other. Stop it with Ctrl-C.";

/// How long a look at whether somebody serves an address may take.
const LOOK: Duration = Duration::from_millis(500);
/// How long the file that a browser opens may take to be written.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Debug, Args)]
#[command(after_help = NOTES)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(super) struct ServeArguments {
    /// The port of 127.0.0.1, whatever the settings say; 0 takes one that is free. `page.port` of the settings if not given.
    #[arg(long, value_name = "N")]
    port: Option<u16>,
    /// Listen at the same port of `[::1]`, too.
    #[arg(long, conflicts_with = "socket")]
    ipv6: bool,
    /// Open it in the browser.
    #[arg(long, conflicts_with_all = ["socket", "new_token"])]
    open: bool,
    /// Listen at a unix socket beside the daemon's instead, for what forwards to it.
    #[arg(long, conflicts_with = "port")]
    socket: bool,
    /// Serve nothing: give every page that is served a new token, and print the new addresses.
    #[arg(long, conflicts_with_all = ["port", "socket", "ipv6"])]
    new_token: bool,
}

pub(super) fn run(arguments: &ServeArguments, surroundings: Surroundings) -> Result<(), CliError> {
    let state = surroundings.places.state_dir();
    if arguments.new_token {
        return new_tokens(&state, &surroundings.places);
    }
    logging::start(&surroundings.config.log_level)?;
    system::make_files_private();
    system::leave_no_core_dumps();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let outcome = runtime.block_on(serve(arguments, surroundings));
    // What is left by now hangs: it must not keep the process.
    runtime.shutdown_background();
    outcome
}

async fn serve(arguments: &ServeArguments, surroundings: Surroundings) -> Result<(), CliError> {
    let (places, settings) = (surroundings.places.clone(), surroundings.config.page);
    let wanted = Wanted::of(arguments.port, settings.port);
    // The daemon serves it there: who asks for nothing else is told where.
    let is_plain = arguments.port.is_none() && !arguments.socket && !arguments.ipv6;
    if is_plain
        && settings.serve != PageServing::Off
        && let Some(opening) = of_daemon(&places)
    {
        say!("{opening}");
        say!("(The daemon serves it: `page.serve` of the settings.)");
        return opened(arguments, &places, &opening);
    }
    let at = if arguments.socket {
        At::socket(&places.socket_candidates(), places.uid())?
    } else {
        let opened = At::port(wanted.port(), arguments.ipv6).await;
        opened.map_err(|error| wanted.refused(&error))?
    };
    if let Some(warning) = wanted.warning().filter(|_| !arguments.socket) {
        complain!("{warning}");
    }
    let memory = Memory::Asked(Arc::new(Asking::new(surroundings)));
    let (name, socket) = (at.name(), at.socket_path().map(Path::to_owned));
    let page = Page::new(at, memory, &places.state_dir(), &name)?;
    say!("{}", page.opening());
    if let Some(socket) = socket {
        say!("(at the socket {})", socket.display());
    }
    opened(arguments, &places, page.opening())?;
    let stop_signal = system::stop_signal()?;
    let shutdown = CancellationToken::new();
    let serving = tokio::spawn(page.serve(shutdown.clone()));
    stop_signal.await;
    shutdown.cancel();
    serving
        .await
        .map_err(|_| CliError::new(Kind::Failed, "the page failed; see what was logged above"))
}

/// The port that is wanted, and who wants it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// One that is free.
    Free,
    /// The one that `--port` names, which goes before the settings.
    ByFlag(u16),
    /// The one that `page.port` of the settings names.
    BySettings(u16),
}

impl Wanted {
    fn of(flag: Option<u16>, setting: Option<u16>) -> Self {
        match (flag, setting) {
            (Some(0), _) | (None, None) => Self::Free,
            (Some(port), _) => Self::ByFlag(port),
            (None, Some(port)) => Self::BySettings(port),
        }
    }

    fn port(self) -> Option<u16> {
        match self {
            Self::Free => None,
            Self::ByFlag(port) | Self::BySettings(port) => Some(port),
        }
    }

    /// What is wrong with a port that can be had: browsers open some for no page.
    fn warning(self) -> Option<String> {
        let (port, remedy) = match self {
            Self::Free => return None,
            Self::ByFlag(port) => (port, "choose another by `--port`, or 0 for one that is free"),
            Self::BySettings(port) => (
                port,
                "choose another by `--port`, or by `page.port` of the settings, which names it",
            ),
        };
        page::is_bad(port)
            .then(|| format!("warning: browsers refuse to open the port {port}, which is that of another protocol: {remedy}"))
    }

    /// Why it can't be had, who named it, and what to do.
    fn refused(self, error: &std::io::Error) -> CliError {
        let named = match self {
            Self::Free => "",
            Self::ByFlag(_) => " (`--port` names it)",
            Self::BySettings(_) => " (`page.port` of the settings names it)",
        };
        let why = match (error.kind(), self) {
            (ErrorKind::PermissionDenied, Self::ByFlag(_) | Self::BySettings(_)) => {
                "ports below 1024 are the system's as a rule, and others may be kept; "
            }
            (ErrorKind::AddrInUse, Self::BySettings(_)) => {
                "another program is there, or the page itself, which the daemon serves where `page.serve` says so; "
            }
            (ErrorKind::AddrInUse, _) => "another program is there, or the page itself; ",
            _ => "",
        };
        let remedy = match self {
            Self::Free => "`--socket` serves it at a unix socket instead",
            Self::ByFlag(_) => "choose another by `--port`, from 1024 on, or 0 for one that is free",
            Self::BySettings(_) => {
                "`--port N` goes before the setting, and 0 takes one that is free; `remembrancer config edit` changes the setting"
            }
        };
        CliError::new(Kind::Failed, format!("{error}{named}")).with_hint(format!("{why}{remedy}"))
    }
}

/// The address of the page that the daemon serves; none where it does not.
fn of_daemon(places: &Places) -> Option<String> {
    let found = said(&places.state_dir(), OF_DAEMON)?;
    is_served(&found.address, places).then(|| found.opening())
}

/// Whether somebody of this machine serves this address.
fn is_served(address: &str, places: &Places) -> bool {
    if address == SOCKET_ADDRESS {
        return socket_paths(&places.socket_candidates()).any(|path| system::is_answered(&path));
    }
    let host = address.strip_prefix("http://").map(|rest| rest.trim_end_matches('/'));
    let address = host.and_then(|host| host.parse().ok());
    address.is_some_and(|address| std::net::TcpStream::connect_timeout(&address, LOOK).is_ok())
}

fn new_tokens(state: &Path, places: &Places) -> Result<(), CliError> {
    let renewed = renew_all(state, |address| is_served(address, places))?;
    if renewed.is_empty() {
        return Err(CliError::new(Kind::NotFound, "no page is served")
            .with_hint("`remembrancer serve` serves one, with a new token each time"));
    }
    for opening in renewed {
        say!("{opening}");
    }
    Ok(())
}

/// Opens the browser, where that was asked for: at a private file that leads on to the page, since a command line is for all to see.
fn opened(arguments: &ServeArguments, places: &Places, opening: &str) -> Result<(), CliError> {
    if !arguments.open {
        return Ok(());
    }
    let folder = places.state_dir();
    private_folder(&folder)?;
    let file = folder.join("page-open.html");
    write_atomically(&file, &page::leading_to(opening), Deadline::after(PATIENCE))?;
    let started = Command::new(system::OPENER)
        .arg(&file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if let Err(error) = started {
        complain!(
            "({} can't be started: {error}; open the address above yourself)",
            system::OPENER
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::neither(None, None, Wanted::Free)]
    #[case::setting(None, Some(7_420), Wanted::BySettings(7_420))]
    #[case::flag(Some(7_421), None, Wanted::ByFlag(7_421))]
    #[case::flag_before_setting(Some(7_421), Some(7_420), Wanted::ByFlag(7_421))]
    #[case::free_before_setting(Some(0), Some(7_420), Wanted::Free)]
    fn the_flag_goes_before_the_setting(#[case] flag: Option<u16>, #[case] setting: Option<u16>, #[case] expected: Wanted) {
        assert_eq!(Wanted::of(flag, setting), expected);
    }

    #[rstest]
    #[case::by_flag(Wanted::ByFlag(6_000), Some("by `--port`, or 0"))]
    #[case::by_settings(Wanted::BySettings(6_000), Some("`page.port`"))]
    #[case::opened(Wanted::ByFlag(7_420), None)]
    #[case::free(Wanted::Free, None)]
    fn a_port_that_browsers_refuse_is_warned_of(#[case] wanted: Wanted, #[case] remedy: Option<&str>) {
        let warning = wanted.warning();
        assert_eq!(warning.is_some(), remedy.is_some(), "{warning:?}");
        assert!(warning.unwrap_or_default().contains(remedy.unwrap_or_default()));
    }

    #[rstest]
    #[case::privileged(Wanted::ByFlag(80), ErrorKind::PermissionDenied, "`--port` names it", "below 1024")]
    #[case::taken(
        Wanted::ByFlag(7_420),
        ErrorKind::AddrInUse,
        "`--port` names it",
        "another program is there"
    )]
    #[case::taken_of_settings(
        Wanted::BySettings(7_420),
        ErrorKind::AddrInUse,
        "`page.port` of the settings",
        "`page.serve`"
    )]
    #[case::none_free(Wanted::Free, ErrorKind::AddrInUse, "cannot listen", "--socket")]
    fn a_refusal_says_who_named_the_port_and_what_to_do(
        #[case] wanted: Wanted,
        #[case] kind: ErrorKind,
        #[case] said: &str,
        #[case] remedy: &str,
    ) {
        let refused = wanted.refused(&std::io::Error::new(kind, "cannot listen at 127.0.0.1:80"));
        assert!(refused.message().contains(said), "{}", refused.message());
        assert!(refused.hint().unwrap().contains(remedy), "{:?}", refused.hint());
    }
}
