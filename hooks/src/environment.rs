//! What the process's surroundings say. Environment variables and the user's folders come in, plain values go out.
//!
//! This is the only file of the crate that reads the environment; everything else takes the values.

use std::ffi::OsString;
use std::path::PathBuf;

use directories::BaseDirs;

use crate::system;

/// The surroundings that decide where things are, as values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    /// The folder of all programs' data: `$XDG_DATA_HOME` or `~/.local/share`; on macOS `~/Library/Application Support`.
    pub data_home: PathBuf,
    /// The folder of all programs' state: `$XDG_STATE_HOME` or `~/.local/state`; on macOS the data folder.
    pub state_home: PathBuf,
    /// The folder of all programs' settings: `$XDG_CONFIG_HOME` or `~/.config`; on macOS the data folder.
    pub config_home: PathBuf,
    /// `$XDG_RUNTIME_DIR`, if it is set to an absolute path.
    pub runtime_dir: Option<PathBuf>,
    /// `$REMEMBRANCER_SOCKET`, if it is set to an absolute path.
    pub explicit_socket: Option<PathBuf>,
    /// The folder that holds each logged-in user's runtime folder: `/run/user`.
    pub run_user: PathBuf,
    /// The folder of last resort for a socket: `/tmp`, and not `$TMPDIR`, since both sides must find the same one.
    pub temporary: PathBuf,
    /// The real user id of this process.
    pub uid: u32,
    /// Whether `$REMEMBRANCER_GUARD` marks this process as the child of a program that must not be remembered.
    pub guard: bool,
}

impl Environment {
    /// Reads the surroundings of this process; `None` where the user has no home folder, or a relative one: it would be another
    /// in each working folder.
    pub fn from_process() -> Option<Self> {
        let base = BaseDirs::new().filter(|base| base.home_dir().is_absolute())?;
        Some(Self {
            data_home: base.data_dir().to_path_buf(),
            state_home: base.state_dir().unwrap_or_else(|| base.data_dir()).to_path_buf(),
            config_home: base.config_dir().to_path_buf(),
            runtime_dir: absolute(std::env::var_os("XDG_RUNTIME_DIR")),
            explicit_socket: absolute(std::env::var_os("REMEMBRANCER_SOCKET")),
            run_user: PathBuf::from("/run/user"),
            temporary: PathBuf::from("/tmp"),
            uid: system::user_id(),
            guard: guarded(),
        })
    }
}

/// Says whether `$REMEMBRANCER_GUARD` is set to anything but nothing or `0`.
pub(crate) fn guarded() -> bool {
    std::env::var_os("REMEMBRANCER_GUARD").is_some_and(|value| !value.is_empty() && value != "0")
}

/// Returns `$REMEMBRANCER_BUDGET` as it is written.
pub(crate) fn budget_variable() -> Option<OsString> {
    std::env::var_os("REMEMBRANCER_BUDGET")
}

/// Relative paths are refused: hook and daemon rarely share a working folder.
fn absolute(value: Option<OsString>) -> Option<PathBuf> {
    value.map(PathBuf::from).filter(|path| path.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_absolute_path_is_a_place() {
        assert_eq!(absolute(Some("/run/user/7".into())), Some(PathBuf::from("/run/user/7")));
        assert_eq!(absolute(Some("run/user/7".into())), None);
        assert_eq!(absolute(Some("".into())), None);
        assert_eq!(absolute(None), None);
    }
}
