//! Looks after what others may take away under a running daemon: its socket and its database.
//!
//! A socket file that is gone (a runtime folder that was cleaned) is made again, at once where the system tells of it, else at
//! the next look. A database that is gone or was replaced ends the daemon with its name: what it would store from then on
//! would be lost, and the next start reads the transcripts anew.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use tokio::net::UnixListener;
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

use crate::single;

/// How often it looks, whatever the system tells: two `stat` calls. Seldom, since each wakes an idle machine.
const LOOK: Duration = Duration::from_mins(2);

/// What is looked after.
pub(crate) struct Presence {
    socket: PathBuf,
    database: PathBuf,
    inode: u64,
    listeners: mpsc::Sender<UnixListener>,
}

impl Presence {
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
        let changed = Arc::new(Notify::new());
        let mut watcher = self.watch_socket(&changed);
        loop {
            tokio::select! {
                biased;
                () = shutdown.cancelled() => return Ok(()),
                () = changed.notified() => {}
                () = tokio::time::sleep(LOOK) => {}
            }
            self.look_at_database()?;
            if self.look_at_socket().await {
                // Its folder may be another one now.
                watcher = self.watch_socket(&changed);
            }
            tracing::trace!(watched = watcher.is_some(), "looked at socket and database");
        }
    }

    /// Has the system tell of changes in the socket's folder; `None` where it won't.
    fn watch_socket(&self, changed: &Arc<Notify>) -> Option<RecommendedWatcher> {
        let told = Arc::clone(changed);
        let mut watcher = notify::recommended_watcher(move |_| told.notify_one()).ok()?;
        watcher.watch(self.socket.parent()?, RecursiveMode::NonRecursive).ok()?;
        Some(watcher)
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

    /// Makes the socket again if it is gone; tells whether it did.
    async fn look_at_socket(&self) -> bool {
        if is_there(&self.socket) {
            return false;
        }
        match single::bind(&self.socket, rustix::process::getuid().as_raw()) {
            Ok(listener) => {
                tracing::warn!(socket = %self.socket.display(), "the socket was gone, and is made again");
                // The server ends only together with this task.
                self.listeners.send(listener).await.ok();
                true
            }
            Err(error) => {
                tracing::warn!(socket = %self.socket.display(), %error, "the socket is gone and can't be made again");
                false
            }
        }
    }
}

fn is_there(socket: &Path) -> bool {
    fs_err::symlink_metadata(socket).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn presence(place: &Path) -> (Presence, mpsc::Receiver<UnixListener>) {
        let database = place.join("memory.db");
        fs_err::write(&database, "").unwrap();
        let (listeners, replacements) = mpsc::channel(1);
        (
            Presence::new(place.join("s/x.sock"), database, listeners).unwrap(),
            replacements,
        )
    }

    #[tokio::test]
    async fn a_socket_that_is_gone_is_made_again() {
        let place = tempfile::tempdir().unwrap();
        let (presence, mut replacements) = presence(place.path());
        assert!(presence.look_at_socket().await);
        let listener = replacements.try_recv().unwrap();
        assert!(std::os::unix::net::UnixStream::connect(&presence.socket).is_ok());
        assert!(!presence.look_at_socket().await, "one that is there is left alone");
        drop(listener);
    }

    #[tokio::test]
    async fn the_system_tells_when_it_is_gone_each_time() {
        let place = tempfile::tempdir().unwrap();
        let (presence, mut replacements) = presence(place.path());
        let (socket, shutdown) = (presence.socket.clone(), CancellationToken::new());
        assert!(presence.look_at_socket().await);
        replacements.try_recv().unwrap();
        let running = tokio::spawn(presence.run(shutdown.clone()));
        for _ in 0..2 {
            // Lets the presence go on to where it waits, the folder being watched.
            tokio::task::yield_now().await;
            fs_err::remove_dir_all(socket.parent().unwrap()).unwrap();
            let made = tokio::time::timeout(LOOK / 4, replacements.recv()).await;
            assert!(made.unwrap().is_some(), "long before the next look");
        }
        shutdown.cancel();
        running.await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn a_database_that_was_replaced_is_named() {
        let place = tempfile::tempdir().unwrap();
        let (presence, _replacements) = presence(place.path());
        presence.look_at_database().unwrap();
        fs_err::rename(&presence.database, place.path().join("aside")).unwrap();
        assert!(presence.look_at_database().unwrap_err().to_string().contains("memory.db"));
        fs_err::write(&presence.database, "").unwrap();
        assert!(presence.look_at_database().is_err(), "another file under its name is not it");
    }
}
