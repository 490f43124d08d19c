//! The page: the memory in a browser. Requests of HTTP come in, HTML that needs no script goes out; every act is the one of the command
//! of the same name, and nothing here ranks, reads the database's tables or explains anew.
//!
//! The path of a request: `server` (connections, bounded in number and time) → `guard` (is it from this machine's user, and from this
//! page?) → `routes` (which view) → `memory` (asks the daemon, or reads the store) → `html` (renders, everything escaped). What arrives
//! meanwhile is told by `live`. No text of the memory is logged, and nothing outside of this machine is ever asked for.

mod asked;
mod decision;
mod guard;
mod html;
mod live;
mod memory;
mod patience;
mod ports;
mod routes;
mod server;
mod token;

use std::path::Path;
use std::pin::pin;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

pub(crate) use html::leading_to;
pub(crate) use memory::{Answered, Asks, Failure, FailureKind, Look, Memory};
pub(crate) use ports::is_bad;
pub(crate) use server::{At, SOCKET_ADDRESS, socket_paths};
pub(crate) use token::{renew_all, said};

use guard::Guard;
use live::Arrivals;
use routes::House;
use token::{Token, TokenFile, opening};

/// The name of the token's file of the page that the daemon serves.
pub(crate) const OF_DAEMON: &str = "daemon";

/// The page, ready to be served.
pub(crate) struct Page {
    at: At,
    file: Arc<TokenFile>,
    opening: String,
    house: House,
}

impl Page {
    /// Of `memory`, at `at`, with a token of its own that is written to the file of `name` in `state_dir`.
    ///
    /// # Errors
    /// Where the file can't be written, or the system has no random source.
    pub(crate) fn new(at: At, memory: Memory, state_dir: &Path, name: &str) -> std::io::Result<Self> {
        let token = Token::new()?;
        let address = at.address();
        let file = Arc::new(TokenFile::write(state_dir, name, &token, &address)?);
        let memory = Arc::new(memory);
        let house = House {
            guard: Arc::new(Guard::new(at.hosts(), Arc::clone(&file))),
            arrivals: Arrivals::new(Arc::clone(&memory)),
            memory,
        };
        Ok(Self {
            at,
            file,
            opening: opening(&address, &token),
            house,
        })
    }

    /// The address that lets a browser in.
    pub(crate) fn opening(&self) -> &str {
        &self.opening
    }

    /// The file that holds the token.
    pub(crate) fn token_file(&self) -> &Path {
        self.file.path()
    }

    /// Serves until `shutdown`. The token's file goes with it.
    pub(crate) async fn serve(self, shutdown: CancellationToken) {
        let Self { at, file, house, .. } = self;
        let watching = tokio::spawn(house.arrivals.clone().watch(shutdown.clone()));
        let mut serving = pin!(server::serve(at, routes::router(house, &shutdown), shutdown.clone()));
        tokio::select! {
            () = shutdown.cancelled() => {
                // While the address is still ours: whoever serves there next writes a file of the same name.
                file.remove();
                serving.await;
            }
            () = serving.as_mut() => file.remove(),
        }
        watching.abort();
    }
}
