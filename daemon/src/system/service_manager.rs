//! The service manager's side of the daemon: the socket that it holds for us comes in, and what it wants to know of us goes out.
//! Where none is, nothing comes and nobody is told.

use std::io::{Error, ErrorKind};
use std::time::Duration;

use listenfd::ListenFd;
use sd_notify::NotifyState;

use super::HeldListener;
use crate::socket::SocketFile;

/// How often it is asked to wait longer for a start that takes its time, and for how long each time: more than two pauses, so that
/// one message may be late.
const EXTENSION_PAUSE: Duration = Duration::from_secs(30);
const EXTENSION: Duration = Duration::from_secs(75);
/// It is asked no more than so many times, half an hour in all: a start that hangs must end.
const EXTENSIONS: usize = 60;

/// The socket that a service manager holds for this process, and its file; `None` where it holds none. To be called before there is
/// a second thread, since what says so is taken out of the environment.
///
/// # Errors
/// Where what was passed is no socket at which the hook could ask.
pub(crate) fn inherited_socket() -> std::io::Result<Option<(HeldListener, SocketFile)>> {
    let mut passed = ListenFd::from_env();
    if passed.len() > 1 {
        return Err(refused("more than one socket was passed"));
    }
    let Some(listener) = passed.take_unix_listener(0)? else {
        return Ok(None);
    };
    let address = listener.local_addr()?;
    let path = address.as_pathname().ok_or_else(|| refused("it has no path"))?;
    let file = SocketFile::of_a_manager(path);
    Ok(Some((listener, file)))
}

fn refused(reason: &str) -> Error {
    Error::new(ErrorKind::InvalidInput, reason)
}

/// How long the manager waits for a word of [`alive`] before it takes the daemon for wedged; `None` where it does not.
pub(crate) fn watchdog() -> Option<Duration> {
    sd_notify::watchdog_enabled().filter(|patience| !patience.is_zero())
}

/// Prompts are answered from now on.
pub(crate) fn ready(socket: &SocketFile) {
    let status = format!("listening at {}", socket.path().display());
    tell(&[NotifyState::Ready, NotifyState::Status(&status)]);
}

/// All that must work works.
pub(crate) fn alive() {
    tell(&[NotifyState::Watchdog]);
}

/// The stop has begun.
pub(crate) fn stopping() {
    tell(&[NotifyState::Stopping, NotifyState::Status("stopping")]);
}

/// Asks for patience with a start whose store takes its time, for as long as this is awaited: a migration copies the database
/// first, and a store that was not closed is checked.
pub(crate) async fn ask_for_patience() {
    tell(&[NotifyState::Status("opening the store")]);
    for _ in 0..EXTENSIONS {
        tell(&[NotifyState::ExtendTimeoutUsec(EXTENSION.as_micros() as u32)]);
        tokio::time::sleep(EXTENSION_PAUSE).await;
    }
}

/// A manager that can't be told finds out by itself.
fn tell(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::debug!(%error, "the service manager could not be told");
    }
}
