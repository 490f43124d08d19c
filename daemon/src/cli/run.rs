//! `remembrancer run`: the daemon in the foreground.

use tokio_util::sync::CancellationToken;

use super::error::{CliError, Kind};
use super::surroundings::Surroundings;
use crate::files::{private_folder, secure};
use crate::single::Single;
use crate::socket::SocketFile;
use crate::system::{self, HeldListener, Listener, service_manager};
use crate::{Setup, daemon, logging};

/// Runs until SIGTERM, SIGINT or SIGHUP, the last unless it was to be ignored, as under `nohup`.
pub(super) fn run(surroundings: Surroundings) -> Result<(), CliError> {
    logging::start(&surroundings.config.log_level)?;
    system::share_heaps();
    system::make_files_private();
    system::leave_no_core_dumps();
    let single = Single::take(&surroundings.places.data_dir())?;
    let database = surroundings.places.database_file();
    single.part(&surroundings.places.data_dir(), &database)?;
    let state = surroundings.places.state_dir();
    if private_folder(&state).and_then(|()| secure(&state))? > 0 {
        tracing::warn!(folder = %state.display(), "recollection files were open to other users, and no longer are");
    }
    single.part(&state, &database)?;
    let inherited = service_manager::inherited_socket()
        .map_err(|error| CliError::new(Kind::Failed, format!("the service manager's socket can't be used: {error}")))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let outcome = runtime.block_on(serve(surroundings, &single, inherited));
    // What is left by now hangs: it must not keep the process.
    runtime.shutdown_background();
    outcome
}

async fn serve(
    surroundings: Surroundings,
    single: &Single,
    inherited: Option<(HeldListener, SocketFile)>,
) -> Result<(), CliError> {
    let (listener, socket) = match inherited {
        Some((listener, socket)) => {
            listener.set_nonblocking(true)?;
            (Listener::from_std(listener)?, socket)
        }
        None => single.listen(&surroundings.places)?,
    };
    let shutdown = CancellationToken::new();
    let setup = Setup {
        roots: surroundings.roots(),
        home: Some(surroundings.home),
        config: surroundings.config,
        places: surroundings.places,
        socket: socket.clone(),
    };
    let stopper = stop_on_signal(shutdown.clone())?;
    let outcome = tokio::select! {
        outcome = daemon::run(setup, listener, shutdown.clone()) => outcome,
        () = overdue(shutdown) => Err(anyhow::anyhow!("the stop took longer than {:?}; the database is checked at the next start", daemon::STOP)),
    };
    stopper.abort();
    if outcome.is_err() {
        socket.remove();
    }
    Ok(outcome?)
}

fn stop_on_signal(shutdown: CancellationToken) -> std::io::Result<tokio::task::JoinHandle<()>> {
    let stop_signal = system::stop_signal()?;
    Ok(tokio::spawn(async move {
        let name = stop_signal.await;
        tracing::info!(signal = name, "stopping");
        shutdown.cancel();
    }))
}

async fn overdue(shutdown: CancellationToken) {
    shutdown.cancelled().await;
    tokio::time::sleep(daemon::STOP).await;
}
