//! `remembrancer serve`: the page, at a port of this machine or at a unix socket, until it is stopped. It asks the daemon, or reads the
//! store where none runs.

mod asks;

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
    /// The port of 127.0.0.1; 0 takes one that is free. `page.port` of the settings if not given.
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
    let port = match arguments.port {
        Some(0) => None,
        Some(port) => Some(port),
        None => settings.port,
    };
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
        At::port(port, arguments.ipv6)
            .await
            .map_err(|error| cannot_listen(port, &error))?
    };
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

fn cannot_listen(port: Option<u16>, error: &std::io::Error) -> CliError {
    let place = port.map_or_else(|| "127.0.0.1".to_owned(), |port| format!("127.0.0.1:{port}"));
    CliError::new(Kind::Failed, format!("cannot listen at {place}: {error}"))
        .with_hint("is it served there already? Choose another by --port, or 0 for one that is free")
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
