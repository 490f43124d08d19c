//! `remembrancer run`: the daemon in the foreground.

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::error::CliError;
use super::surroundings::Surroundings;
use crate::single::Single;
use crate::{Setup, daemon, logging};

/// Runs until SIGTERM or SIGINT.
pub(super) fn run(surroundings: Surroundings) -> Result<(), CliError> {
    logging::start(&surroundings.config.log_level)?;
    // New files are private whatever the user's mask says.
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    let single = Single::take(&surroundings.places.data_dir())?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let outcome = runtime.block_on(serve(surroundings, &single));
    // What is left by now hangs: it must not keep the process.
    runtime.shutdown_background();
    outcome
}

async fn serve(surroundings: Surroundings, single: &Single) -> Result<(), CliError> {
    let (listener, socket) = single.listen(&surroundings.places)?;
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
        fs_err::remove_file(&socket).ok();
    }
    Ok(outcome?)
}

fn stop_on_signal(shutdown: CancellationToken) -> std::io::Result<tokio::task::JoinHandle<()>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(tokio::spawn(async move {
        let name = tokio::select! {
            _ = terminate.recv() => "SIGTERM",
            _ = interrupt.recv() => "SIGINT",
        };
        tracing::info!(signal = name, "stopping");
        shutdown.cancel();
    }))
}

async fn overdue(shutdown: CancellationToken) {
    shutdown.cancelled().await;
    tokio::time::sleep(daemon::STOP).await;
}
