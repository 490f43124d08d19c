//! Looks after what others may take away under a running daemon: its socket and its database.
//!
//! A socket file that is gone (a runtime folder that was cleaned) is made again. A database that is gone or was replaced
//! ends the daemon with its name: what it would store from then on would be lost, and the next start reads the transcripts
//! anew.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::net::UnixListener;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::single;

/// How often it looks: two `stat` calls.
const LOOK: Duration = Duration::from_secs(10);

/// What is looked after.
pub(crate) struct Guard {
    socket: PathBuf,
    database: PathBuf,
    inode: u64,
    listeners: mpsc::Sender<UnixListener>,
}

impl Guard {
    /// Looks after `socket` and `database`, which both exist; a new listener goes to `listeners`.
    ///
    /// # Errors
    /// Where the database can't be looked at.
    pub(crate) fn new(socket: PathBuf, database: PathBuf, listeners: mpsc::Sender<UnixListener>) -> std::io::Result<Self> {
        let inode = fs_err::metadata(&database)?.ino();
        Ok(Self {
            socket,
            database,
            inode,
            listeners,
        })
    }

    /// Looks again and again, until `shutdown`.
    ///
    /// # Errors
    /// Where the database is gone.
    pub(crate) async fn run(self, shutdown: CancellationToken) -> std::io::Result<()> {
        loop {
            tokio::select! {
                biased;
                () = shutdown.cancelled() => return Ok(()),
                () = tokio::time::sleep(LOOK) => {}
            }
            self.look_at_database()?;
            self.look_at_socket().await;
        }
    }

    fn look_at_database(&self) -> std::io::Result<()> {
        if fs_err::metadata(&self.database).is_ok_and(|metadata| metadata.ino() == self.inode) {
            return Ok(());
        }
        Err(std::io::Error::other(format!(
            "{} was removed or replaced under the running daemon; start it again, and it reads the transcripts anew",
            self.database.display()
        )))
    }

    async fn look_at_socket(&self) {
        if is_there(&self.socket) {
            return;
        }
        match single::bind(&self.socket, rustix::process::getuid().as_raw()) {
            Ok(listener) => {
                tracing::warn!(socket = %self.socket.display(), "the socket was gone, and is made again");
                // The server ends only together with this task.
                self.listeners.send(listener).await.ok();
            }
            Err(error) => tracing::warn!(socket = %self.socket.display(), %error, "the socket is gone and can't be made again"),
        }
    }
}

fn is_there(socket: &Path) -> bool {
    fs_err::symlink_metadata(socket).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(place: &Path) -> (Guard, mpsc::Receiver<UnixListener>) {
        let database = place.join("memory.db");
        fs_err::write(&database, "").unwrap();
        let (listeners, replacements) = mpsc::channel(1);
        (Guard::new(place.join("s/x.sock"), database, listeners).unwrap(), replacements)
    }

    #[tokio::test]
    async fn a_socket_that_is_gone_is_made_again() {
        let place = tempfile::tempdir().unwrap();
        let (guard, mut replacements) = guard(place.path());
        guard.look_at_socket().await;
        let listener = replacements.try_recv().unwrap();
        assert!(std::os::unix::net::UnixStream::connect(&guard.socket).is_ok());
        guard.look_at_socket().await;
        assert!(replacements.try_recv().is_err(), "one that is there is left alone");
        drop(listener);
    }

    #[tokio::test]
    async fn a_database_that_was_replaced_is_named() {
        let place = tempfile::tempdir().unwrap();
        let (guard, _replacements) = guard(place.path());
        guard.look_at_database().unwrap();
        fs_err::rename(&guard.database, place.path().join("aside")).unwrap();
        assert!(guard.look_at_database().unwrap_err().to_string().contains("memory.db"));
        fs_err::write(&guard.database, "").unwrap();
        assert!(guard.look_at_database().is_err(), "another file under its name is not it");
    }
}
