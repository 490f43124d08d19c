//! Looks after what others may take away under a running daemon: its socket and its database.
//!
//! A socket file that is gone (a runtime folder that was cleaned) is made again, at once where the system tells of it, else at
//! the next look. One that a service manager made is the manager's to make again: until it does, the daemon listens at the next
//! place where hooks look. A database that is gone or was replaced ends the daemon with its name: what it would store from then on
//! would be lost, and the next start makes it anew from the latest backup and the transcripts.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

use crate::files::means_gone;
use crate::server::Order;
use crate::socket::{SocketFile, bind};
use crate::system::{self, Listener};

/// How often it looks, whatever the system tells: two `stat` calls. Seldom, since each wakes an idle machine.
const LOOK: Duration = Duration::from_mins(2);

/// What is looked after.
pub(crate) struct Presence {
    socket: SocketFile,
    /// Where hooks look, in order.
    candidates: Vec<PathBuf>,
    database: PathBuf,
    identity: (u64, u64),
    server: mpsc::Sender<Order>,
}

impl Presence {
    /// Looks after `socket` and `database`, which both exist; a new listener goes to the `server`. Hooks look for it at the
    /// `candidates`.
    ///
    /// # Errors
    /// Where the database can't be looked at.
    pub(crate) fn new(
        socket: SocketFile,
        candidates: Vec<PathBuf>,
        database: PathBuf,
        server: mpsc::Sender<Order>,
    ) -> std::io::Result<Self> {
        let identity = system::identity(&fs_err::metadata(&database)?);
        Ok(Self {
            socket,
            candidates,
            database,
            identity,
            server,
        })
    }

    /// Looks again and again, until `shutdown`.
    ///
    /// # Errors
    /// Where the database is gone.
    pub(crate) async fn run(mut self, shutdown: CancellationToken) -> std::io::Result<()> {
        let (changed, first) = (Arc::new(Notify::new()), self.socket.clone());
        let mut watcher = self.watch_socket(&changed);
        loop {
            // First of all: what went before the watch began has no event.
            self.look_at_database()?;
            if self.look_at_socket().await {
                // Its folder may be another one now.
                watcher = self.watch_socket(&changed);
            }
            tracing::trace!(watched = watcher.is_some(), "looked at socket and database");
            tokio::select! {
                biased;
                () = shutdown.cancelled() => break,
                () = changed.notified() => {}
                () = tokio::time::sleep(LOOK) => {}
            }
        }
        if self.socket != first {
            self.socket.remove();
        }
        Ok(())
    }

    /// Has the system tell of changes in the socket's folder; `None` where it won't.
    fn watch_socket(&self, changed: &Arc<Notify>) -> Option<RecommendedWatcher> {
        let told = Arc::clone(changed);
        let mut watcher = notify::recommended_watcher(move |_| told.notify_one()).ok()?;
        watcher
            .watch(self.socket.path().parent()?, RecursiveMode::NonRecursive)
            .ok()?;
        Some(watcher)
    }

    /// What can't be looked at for now, for want of permission or by an error of the disk, is not gone: the next look tells.
    fn look_at_database(&self) -> std::io::Result<()> {
        match fs_err::metadata(&self.database) {
            Ok(metadata) if system::identity(&metadata) == self.identity => return Ok(()),
            Err(error) if !means_gone(&error) => {
                tracing::warn!(%error, "the database can't be looked at; it is looked at again");
                return Ok(());
            }
            _ => {}
        }
        Err(std::io::Error::other(format!(
            "{} was removed or replaced under the running daemon; start it again, and it makes the memory anew from the latest backup and the transcripts",
            self.database.display()
        )))
    }

    /// Listens anew if the socket is gone; tells whether it did.
    async fn look_at_socket(&mut self) -> bool {
        if is_there(self.socket.path()) {
            return false;
        }
        let gone = self.socket.path().to_owned();
        let Some((listener, path)) = self.listen_anew() else {
            tracing::warn!(socket = %gone.display(), "the socket is gone and can't be made again");
            return false;
        };
        if self.socket.is_of_a_manager() {
            tracing::warn!(
                socket = %gone.display(),
                instead = %path.display(),
                "the service manager's socket was removed; prompts are answered at another place until the manager makes it again"
            );
        } else {
            tracing::warn!(socket = %gone.display(), "the socket was gone, and is made again");
        }
        self.socket = SocketFile::own(&path);
        // The server ends only together with this task.
        self.server.send(Order::Listen(listener)).await.ok();
        true
    }

    /// Listens at the place of a socket of our own, or at the first place that is not a manager's.
    fn listen_anew(&self) -> Option<(Listener, PathBuf)> {
        let may = |path: &&PathBuf| (path.as_path() == self.socket.path()) != self.socket.is_of_a_manager();
        self.candidates.iter().filter(may).find_map(|path| {
            let listener = bind(path, system::user_id());
            listener.map(|listener| (listener, path.clone())).ok()
        })
    }
}

fn is_there(socket: &Path) -> bool {
    fs_err::symlink_metadata(socket).map_or_else(|error| !means_gone(&error), |_| true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn presence(place: &Path, socket: SocketFile) -> (Presence, mpsc::Receiver<Order>) {
        let database = place.join("memory.db");
        fs_err::write(&database, "").unwrap();
        let (server, orders) = mpsc::channel(1);
        let candidates = vec![place.join("s/x.sock"), place.join("t/x.sock")];
        (Presence::new(socket, candidates, database, server).unwrap(), orders)
    }

    fn own(place: &Path) -> SocketFile {
        SocketFile::own(&place.join("s/x.sock"))
    }

    async fn check(socket: SocketFile, place: &Path, expected: &str) {
        let (mut presence, mut orders) = presence(place, socket);
        assert!(presence.look_at_socket().await);
        assert_eq!(presence.socket, SocketFile::own(&place.join(expected)));
        let Order::Listen(listener) = orders.try_recv().unwrap() else {
            panic!("another order");
        };
        assert!(std::os::unix::net::UnixStream::connect(place.join(expected)).is_ok());
        assert!(!presence.look_at_socket().await, "one that is there is left alone");
        drop(listener);
    }

    #[tokio::test]
    async fn a_socket_that_is_gone_is_made_again() {
        let place = tempfile::tempdir().unwrap();
        check(own(place.path()), place.path(), "s/x.sock").await;
    }

    #[tokio::test]
    async fn a_manager_s_socket_is_left_to_the_manager() {
        let place = tempfile::tempdir().unwrap();
        let managers = SocketFile::of_a_manager(&place.path().join("s/x.sock"));
        check(managers, place.path(), "t/x.sock").await;
        assert!(!place.path().join("s/x.sock").exists());
    }

    #[tokio::test]
    async fn the_system_tells_when_it_is_gone_each_time() {
        let place = tempfile::tempdir().unwrap();
        let (mut presence, mut orders) = presence(place.path(), own(place.path()));
        let (socket, shutdown) = (presence.socket.path().to_owned(), CancellationToken::new());
        assert!(presence.look_at_socket().await);
        orders.try_recv().unwrap();
        let running = tokio::spawn(presence.run(shutdown.clone()));
        for _ in 0..2 {
            // Lets the presence go on to where it waits, the folder being watched.
            tokio::task::yield_now().await;
            fs_err::remove_dir_all(socket.parent().unwrap()).unwrap();
            let made = tokio::time::timeout(LOOK / 4, orders.recv()).await;
            assert!(made.unwrap().is_some(), "long before the next look");
        }
        shutdown.cancel();
        running.await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn a_database_that_was_replaced_is_named() {
        let place = tempfile::tempdir().unwrap();
        let (presence, _orders) = presence(place.path(), own(place.path()));
        presence.look_at_database().unwrap();
        fs_err::rename(&presence.database, place.path().join("aside")).unwrap();
        assert!(presence.look_at_database().unwrap_err().to_string().contains("memory.db"));
        fs_err::write(&presence.database, "").unwrap();
        assert!(presence.look_at_database().is_err(), "another file under its name is not it");
    }
}
