//! The memory as a server of the Model Context Protocol, for agents that call tools: `remembrancer mcp`. A host starts it and speaks with
//! it over standard input and output; it ends with its input, or at a signal.
//!
//! A request comes in by `transport` (bounded lines), `server` answers it: a tool's arguments are checked by `arguments`, `tools` has
//! what each tool is and does, `place` says of which project, `confirm` has a deletion confirmed, `resources` tells of recollection
//! files, and `wording` makes the text, in which stored text is data (ADR 51). What a tool does is what the command of its name does:
//! `cli/acts.rs`. Nothing here prints, and no text of the memory is logged.

mod arguments;
mod bounds;
mod client;
mod confirm;
mod desk;
mod place;
mod resources;
mod server;
mod tools;
mod transport;
mod wording;

use std::sync::Arc;

use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use tokio_util::sync::CancellationToken;

use crate::cli::Surroundings;
pub(crate) use bounds::MOST_AT_WORK;
use server::Server;
pub(crate) use tools::NAMES as TOOL_NAMES;
use transport::{Bounded, GRACE};

/// Serves standard input and output until the input ends or `stop` is cancelled. What is at work then is given a moment, and left.
///
/// # Errors
/// Where whoever speaks does not speak the protocol from the first line on.
pub(crate) async fn serve(surroundings: Surroundings, stop: CancellationToken) -> anyhow::Result<()> {
    let (input, output) = rmcp::transport::stdio();
    let ended = CancellationToken::new();
    let bounded = Bounded::new(input, output, ended.clone());
    let server = Server::new(Arc::new(surroundings));
    let running = match server.serve_with_ct(bounded, stop.clone()).await {
        Ok(running) => running,
        // It closed its side, or we are to stop, before anything was asked.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => return Ok(()),
        Err(ServerInitializeError::ExpectedInitializeRequest(_)) => {
            anyhow::bail!("whoever started this does not begin as the Model Context Protocol does, with `initialize`")
        }
        Err(error) => return Err(error.into()),
    };
    let overdue = async {
        tokio::select! {
            () = ended.cancelled() => {}
            () = stop.cancelled() => {}
        }
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        _ = running.waiting() => {}
        () = overdue => tracing::warn!("something was at work when the client went; it is left to end by itself"),
    }
    Ok(())
}
