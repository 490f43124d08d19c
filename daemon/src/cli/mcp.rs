//! `remembrancer mcp`: a host starts it, and speaks with it over standard input and output by the Model Context Protocol. Nothing but
//! the protocol is written to standard output, and no text of the memory to standard error.

use clap::Args;
use tokio_util::sync::CancellationToken;

use super::error::CliError;
use super::surroundings::Surroundings;
use crate::{logging, mcp, system};

/// What is logged: nothing of the protocol's library, which logs whole messages.
const LOG: &str = "warn,rmcp=off";

/// Threads on which calls are at work, and on which standard input and output are read and written.
const BLOCKING_THREADS: usize = mcp::MOST_AT_WORK + 4;

#[derive(Debug, Args)]
#[command(
    after_help = "An agent's host starts this; there is nothing to see in a terminal. `remembrancer install --mcp` registers it with the hosts \
of this machine. It asks the daemon, and reads the memory itself where none runs."
)]
pub(super) struct McpArguments {}

/// Serves until standard input ends, or at SIGTERM, SIGINT or SIGHUP.
pub(super) fn run(McpArguments {}: &McpArguments, surroundings: Surroundings) -> Result<(), CliError> {
    logging::start(LOG)?;
    system::make_files_private();
    system::leave_no_core_dumps();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(BLOCKING_THREADS)
        .enable_all()
        .build()?;
    let outcome = runtime.block_on(serve(surroundings));
    // A read of standard input can't be called off, and what is at work may take its time: neither must keep the process.
    runtime.shutdown_background();
    outcome
}

async fn serve(surroundings: Surroundings) -> Result<(), CliError> {
    let stop = CancellationToken::new();
    let (signal, stopped) = (system::stop_signal()?, stop.clone());
    let waiting = tokio::spawn(async move {
        signal.await;
        stopped.cancel();
    });
    let outcome = mcp::serve(surroundings, stop).await;
    waiting.abort();
    Ok(outcome?)
}
