//! Where everything lies. An [`Environment`] comes in, paths go out; the daemon and the hook both ask here and nowhere else.
//!
//! The daemon binds the first usable of [`Places::socket_candidates`], and a client tries them all, since hooks run from cron, ssh
//! and tmux without the variables that the daemon was started with:
//!
//! | | Linux | macOS |
//! | --- | --- | --- |
//! | 1 | `$REMEMBRANCER_SOCKET`, and then nothing else | the same |
//! | 2 | `$XDG_RUNTIME_DIR/remembrancer/remembrancer.sock` | the same, where the variable is set |
//! | 3 | `/run/user/<uid>/remembrancer/remembrancer.sock` | left out |
//! | 4 | `~/.local/share/remembrancer/run/remembrancer.sock` | `~/Library/Application Support/remembrancer/run/remembrancer.sock` |
//!
//! A path over [`MAX_SOCKET_PATH_BYTES`] is replaced by `/tmp/remembrancer-<uid>/<16 hex digits of its sha256>.sock`. Since anyone
//! can make that folder first, both sides ask [`verify_private_folder`] before they use it.

use std::io;
use std::path::{Path, PathBuf};

use crate::digest::{hex, sha256};
use crate::environment::Environment;
use crate::system;

/// The longest socket path that every platform takes: macOS's `sun_path` has 104 bytes with the closing zero, Linux's 108.
pub const MAX_SOCKET_PATH_BYTES: usize = 103;

const NAME: &str = "remembrancer";
const SOCKET: &str = "remembrancer.sock";

/// An id of up to this many harmless characters goes into a file name as it is.
const MAX_LITERAL_ID_BYTES: usize = 64;

/// The folders and files of one user's memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    environment: Environment,
}

impl Places {
    /// The places that follow from these surroundings.
    pub fn new(environment: &Environment) -> Self {
        Self {
            environment: environment.clone(),
        }
    }

    /// The user whose places these are.
    pub fn uid(&self) -> u32 {
        self.environment.uid
    }

    /// The folder of what must last: the database and what can't be rebuilt.
    pub fn data_dir(&self) -> PathBuf {
        self.environment.data_home.join(NAME)
    }

    /// The folder of what may be lost: recollection files, the back-off file.
    pub fn state_dir(&self) -> PathBuf {
        self.environment.state_home.join(NAME)
    }

    /// The folder of the user's settings.
    pub fn config_dir(&self) -> PathBuf {
        self.environment.config_home.join(NAME)
    }

    /// The database.
    pub fn database_file(&self) -> PathBuf {
        self.data_dir().join("memory.db")
    }

    /// The settings file.
    pub fn config_file(&self) -> PathBuf {
        self.config_dir().join("config.toml")
    }

    /// The file that keeps the hook silent for a while after it waited in vain; see [`backoff`](crate::backoff).
    pub fn backoff_file(&self) -> PathBuf {
        self.state_dir().join("hook-backoff")
    }

    /// The file of the sessions that guarded hooks could leave word of with no daemon; see [`guarded`](crate::guarded).
    pub fn guarded_file(&self) -> PathBuf {
        self.state_dir().join("guarded-sessions")
    }

    /// The folder of the recollection files.
    pub fn recollections_dir(&self) -> PathBuf {
        self.state_dir().join("recollections")
    }

    /// The recollection file of one session, always directly below [`recollections_dir`](Self::recollections_dir): an id that is
    /// not wholly `[A-Za-z0-9_-]{1,64}` is replaced by the first 32 hex digits of its sha256.
    pub fn recollection_path(&self, agent: &str, session: &str) -> PathBuf {
        let name = format!("{}-{}.md", file_name_part(agent), file_name_part(session));
        self.recollections_dir().join(name)
    }

    /// Every path at which the daemon may listen, the first to be preferred; none is over [`MAX_SOCKET_PATH_BYTES`], none is twice.
    pub fn socket_candidates(&self) -> Vec<PathBuf> {
        let environment = &self.environment;
        let run_user = environment.run_user.join(environment.uid.to_string());
        if let Some(explicit) = &environment.explicit_socket {
            return vec![self.shortened(explicit.clone())];
        }
        let wanted = [
            environment.runtime_dir.as_ref().map(|folder| folder.join(NAME).join(SOCKET)),
            (!cfg!(target_os = "macos")).then(|| run_user.join(NAME).join(SOCKET)),
            Some(self.data_dir().join("run").join(SOCKET)),
        ];
        let mut candidates = Vec::with_capacity(wanted.len());
        for path in wanted.into_iter().flatten().map(|path| self.shortened(path)) {
            if !candidates.contains(&path) {
                candidates.push(path);
            }
        }
        candidates
    }

    /// The places of a process that has the same surroundings but for `$REMEMBRANCER_SOCKET`; `None` where that is not set.
    pub fn without_explicit_socket(&self) -> Option<Self> {
        self.environment.explicit_socket.as_ref()?;
        let environment = Environment {
            explicit_socket: None,
            ..self.environment.clone()
        };
        Some(Self { environment })
    }

    /// The folder of the short socket paths, which lies where any user can write.
    pub fn short_socket_dir(&self) -> PathBuf {
        self.environment.temporary.join(format!("{NAME}-{}", self.environment.uid))
    }

    fn shortened(&self, path: PathBuf) -> PathBuf {
        let bytes = system::bytes(&path);
        if bytes.len() <= MAX_SOCKET_PATH_BYTES {
            return path;
        }
        let digest = hex(&sha256(&[bytes])[..8]);
        self.short_socket_dir().join(format!("{digest}.sock"))
    }
}

/// Checks that `folder` is a real folder of the user `uid` and that nobody else may enter it.
///
/// # Errors
///
/// `NotFound` where there is none; `PermissionDenied` where it is a link, no folder, another user's, or of another mode than 0700.
pub fn verify_private_folder(folder: &Path, uid: u32) -> io::Result<()> {
    if system::is_private_folder(folder, uid)? {
        Ok(())
    } else {
        Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "not a private folder of this user",
        ))
    }
}

/// Makes `folder` and what is missing above it, each with mode 0700. A folder that exists is left as it is.
///
/// # Errors
///
/// Whatever the file system says.
pub fn create_private_folder(folder: &Path) -> io::Result<()> {
    system::create_private_folder(folder)
}

fn file_name_part(id: &str) -> String {
    let harmless = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if (1..=MAX_LITERAL_ID_BYTES).contains(&id.len()) && id.bytes().all(harmless) {
        id.to_owned()
    } else {
        hex(&sha256(&[id.as_bytes()])[..16])
    }
}

#[cfg(test)]
mod tests;
