//! The shared store: a PostgreSQL database to which each machine of a team brings its episodes, redacted and by an allow-list, and from
//! which it takes the others' into its own store. Recall asks the store here alone, so that a network that is dead, slow or far costs no
//! prompt anything; where `share.remote` wants that, a prompt has the server search, too, in a part of what is left of its budget.
//! Nothing of it runs unless the settings name a server.
//!
//! `settings` (with `address`, `service_file`, `secret`) says where and as whom; `connection` calls, and `hello` is what the server says
//! then; `sharing` is the task; `push` and `pull` do a page each, `follow` brings memory and files in step with what came, and `wire_rows`
//! says what a row is on the way, `seal` how a team keeps its texts from the server itself; a prompt leaves what is to be searched for at
//! the `desk`, and `remote` has it searched; `state` is what `status` tells.

#[cfg_attr(
    not(feature = "share"),
    allow(dead_code, reason = "the server is called by the feature `share` alone")
)]
mod address;
#[cfg(feature = "share")]
mod backoff;
#[cfg(feature = "share")]
mod connection;
#[cfg_attr(
    not(feature = "share"),
    allow(dead_code, reason = "the server is called by the feature `share` alone")
)]
mod desk;
#[cfg(feature = "share")]
mod error;
#[cfg(feature = "share")]
mod follow;
#[cfg(feature = "share")]
mod hello;
#[cfg(feature = "share")]
mod pull;
#[cfg(feature = "share")]
mod push;
#[cfg(feature = "share")]
mod remote;
#[cfg(feature = "share")]
mod seal;
#[cfg_attr(
    not(feature = "share"),
    allow(dead_code, reason = "the server is called by the feature `share` alone")
)]
mod secret;
#[cfg_attr(
    not(feature = "share"),
    allow(dead_code, reason = "the server is called by the feature `share` alone")
)]
mod service_file;
#[cfg_attr(
    not(feature = "share"),
    allow(dead_code, reason = "the server is called by the feature `share` alone")
)]
mod settings;
#[cfg(feature = "share")]
mod sharing;
#[cfg_attr(
    not(feature = "share"),
    allow(dead_code, reason = "the server is called by the feature `share` alone")
)]
mod state;
#[cfg(feature = "share")]
mod wire_rows;

use std::path::PathBuf;
use std::sync::Arc;

#[cfg(feature = "share")]
use remembrancer_schema::shared as server;
use remembrancer_schema::{QueryError, Reader, Writer};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::causes::with_causes;
use crate::codes::SharedCodes;
use crate::conversations::Conversations;
use crate::embedder::EmbedderHandle;
use crate::instructions::Refresher;
use crate::mailbox::Mailbox;
use crate::politeness::Politeness;
use crate::progress::Progress;
use crate::store::StoreHandle;
use crate::system;

pub(crate) use address::{Address, without_secrets};
#[cfg(feature = "share")]
pub(crate) use connection::{ANSWER, Session, UNBOUNDED, connect};
#[cfg(feature = "share")]
pub(crate) use desk::{AtTheDesk, Desk};
#[cfg(feature = "share")]
pub(crate) use error::ShareError;
#[cfg(feature = "share")]
pub(crate) use hello::Hello;
#[cfg(feature = "share")]
pub(crate) use seal::{KeyFileError, Opened, TeamKey};
pub(crate) use secret::PasswordSource;
pub(crate) use settings::{Server, ShareSettings, TlsChoice};
pub(crate) use state::Shared;

/// What sharing works with; `sharing` is what it does.
#[cfg_attr(
    not(feature = "share"),
    expect(dead_code, reason = "the server is called by the feature `share` alone")
)]
pub(crate) struct Sharing {
    /// The settings.
    pub settings: ShareSettings,
    /// Where to say how it stands.
    pub shared: Arc<Shared>,
    /// The one writer.
    pub writer: StoreHandle<Writer>,
    /// A reader that may be kept waiting.
    pub background: StoreHandle<Reader>,
    /// Which model's vectors are wanted.
    pub embedder: EmbedderHandle,
    /// The codes in memory.
    pub codes: SharedCodes,
    /// What was answered: what left the memory is the answer to nothing.
    pub conversations: Arc<Conversations>,
    /// Keeps instruction files up to date.
    pub refresher: Refresher,
    /// Woken where files may still tell of what left the memory.
    pub went: Notify,
    /// Where ingest is told of projects that came or went.
    pub mailbox: Arc<Mailbox>,
    /// Whether there is something else to do.
    pub progress: Arc<Progress>,
    /// How much of the machine may be taken.
    pub politeness: Politeness,
    /// The folder of the recollection files.
    pub recollections: PathBuf,
}

#[cfg(not(feature = "share"))]
impl Sharing {
    /// Waits for `shutdown`: no settings name a server.
    pub(crate) async fn run(self, shutdown: CancellationToken) {
        shutdown.cancelled().await;
    }
}

/// Shares until `shutdown`, or, where the settings name no server, has the store know so: what changes is then noted for nobody.
pub(crate) async fn run(
    sharing: Option<Sharing>,
    (writer, background): (StoreHandle<Writer>, StoreHandle<Reader>),
    shutdown: CancellationToken,
) {
    if let Some(sharing) = sharing {
        drop((writer, background));
        return sharing.run(shutdown).await;
    }
    if let Err(error) = stop(&writer, &background).await {
        tracing::warn!(%error, "the store could not be told that nothing is shared; the next start does it");
    }
    drop((writer, background));
    shutdown.cancelled().await;
}

/// Ends sharing in the store, where it was on.
async fn stop(writer: &StoreHandle<Writer>, background: &StoreHandle<Reader>) -> Result<(), String> {
    let told = |error: QueryError| with_causes(&error);
    let state = background.call(|reader| reader.share_state()).await;
    let is_on = state.map_err(|gone| gone.to_string())?.map_err(told)?.is_some();
    if is_on {
        let ended = writer.call(|writer| writer.set_sharing(None, [0; 16])).await;
        ended.map_err(|gone| gone.to_string())?.map_err(told)?;
    }
    Ok(())
}

/// What this machine is called at the shared store.
pub(crate) fn machine_name(settings: &ShareSettings) -> String {
    settings.machine.clone().unwrap_or_else(system::host_name)
}
