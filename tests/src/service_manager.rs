//! A service manager for one daemon under test: it holds the daemon's socket, starts it, and hears what it is told.

use std::io::ErrorKind;
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use remembrancer_hooks::places::create_private_folder;

use crate::daemon_process::DaemonProcess;
use crate::sandbox::Sandbox;
use crate::wait::eventually;

/// How long it waits for a notice that must come.
const PATIENCE: Duration = Duration::from_secs(30);

/// Only the process itself can say that the variables are meant for it, so a shell says it and becomes the daemon. The socket comes as
/// its stdin and goes to where managers put the first one.
const START: &str = r#"export LISTEN_PID=$$ WATCHDOG_PID=$$; exec "$0" run 3<&0 </dev/null"#;

/// The manager of a sandbox's daemon.
pub struct ServiceManager<'a> {
    sandbox: &'a Sandbox,
    socket: PathBuf,
    listener: UnixListener,
    notices: UnixDatagram,
    notify_socket: PathBuf,
}

impl<'a> ServiceManager<'a> {
    /// Listens where the sandbox's hooks look first.
    ///
    /// # Panics
    /// Where it can't.
    pub fn new(sandbox: &'a Sandbox) -> Self {
        let socket = sandbox.places().socket_candidates().remove(0);
        create_private_folder(socket.parent().expect("invariant: a socket lies in a folder")).unwrap();
        let notify_socket = sandbox.home().join("run/notify");
        Self {
            sandbox,
            listener: UnixListener::bind(&socket).unwrap(),
            socket,
            notices: UnixDatagram::bind(&notify_socket).unwrap(),
            notify_socket,
        }
    }

    /// The socket that it holds.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Starts the daemon and does not wait, with its socket passed as `sockets` of them and a watchdog of this patience.
    ///
    /// # Panics
    /// Where it can't be started.
    pub fn start(&self, sockets: usize, watchdog: Duration) -> DaemonProcess<'a> {
        let mut shell = Command::new("/bin/sh");
        self.sandbox
            .surround(&mut shell)
            .args(["-c", START])
            .arg(self.sandbox.program())
            .env("LISTEN_FDS", sockets.to_string())
            .env("NOTIFY_SOCKET", &self.notify_socket)
            .env("WATCHDOG_USEC", watchdog.as_micros().to_string())
            .stdin(Stdio::from(OwnedFd::from(self.listener.try_clone().unwrap())));
        self.sandbox.spawn(shell)
    }

    /// Waits for the next notice with this line. Returns it whole, and the others before it.
    ///
    /// # Panics
    /// Where none comes.
    pub fn wait_for(&self, line: &str) -> Vec<String> {
        let mut heard = Vec::new();
        eventually(line, PATIENCE, || {
            heard.extend(self.next(Duration::from_secs(1)));
            heard.last()?.lines().any(|said| said == line).then_some(())
        });
        heard
    }

    /// The next notice; `None` where none comes before `patience` ends.
    ///
    /// # Panics
    /// Where the system refuses.
    pub fn next(&self, patience: Duration) -> Option<String> {
        let mut buffer = [0; 4_096];
        self.notices.set_read_timeout(Some(patience)).unwrap();
        match self.notices.recv(&mut buffer) {
            Ok(length) => Some(String::from_utf8_lossy(&buffer[..length]).into_owned()),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => None,
            Err(error) => panic!("no notice can be read: {error}"),
        }
    }
}
