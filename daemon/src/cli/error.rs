//! What a command says when it can't: one line that names the place, a hint that names the remedy, an exit code.

use std::fmt;
use std::process::ExitCode;

use remembrancer_hooks::ClientError;
use remembrancer_schema::OpenError;

use crate::backups::BackupError;
use crate::causes::with_causes;
use crate::config::ConfigError;
use crate::control::ControlError;
use crate::restoring::RestoringError;
use crate::single::SingleError;

/// The kinds of failure, each with its exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Something failed (1).
    Failed,
    /// The settings or the arguments can't be used (2).
    Usage,
    /// What was asked for is not there (3).
    NotFound,
    /// The database can't be used (4).
    Store,
    /// A daemon runs already, or none does where one is needed (5).
    Daemon,
}

/// A failed command.
#[derive(Debug)]
pub(crate) struct CliError {
    kind: Kind,
    message: String,
    hint: Option<String>,
}

impl CliError {
    pub(crate) fn new(kind: Kind, message: impl fmt::Display) -> Self {
        Self {
            kind,
            message: message.to_string(),
            hint: None,
        }
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same as a failure of another kind.
    #[cfg(feature = "share")]
    pub(crate) fn of_kind(mut self, kind: Kind) -> Self {
        self.kind = kind;
        self
    }

    /// What it says, without the hint.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// What can be done about it, if anything is known.
    pub(crate) fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Of what kind it is.
    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    pub(super) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self.kind {
            Kind::Failed => 1,
            Kind::Usage => 2,
            Kind::NotFound => 3,
            Kind::Store => 4,
            Kind::Daemon => 5,
        })
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.message)?;
        if let Some(hint) = &self.hint {
            write!(f, "\nhint: {hint}")?;
        }
        Ok(())
    }
}

impl From<ConfigError> for CliError {
    fn from(error: ConfigError) -> Self {
        Self::new(Kind::Usage, with_causes(&error)).with_hint("every setting with its default is in `man 5 remembrancer-config`, and in `daemon/src/config/default.toml` of the sources")
    }
}

impl From<OpenError> for CliError {
    fn from(error: OpenError) -> Self {
        Self::new(Kind::Store, with_causes(&error))
    }
}

impl From<SingleError> for CliError {
    fn from(error: SingleError) -> Self {
        let kind = match error {
            SingleError::Unsafe { .. } | SingleError::Linked { .. } => Kind::Store,
            SingleError::Running { .. } => Kind::Daemon,
            SingleError::Lock { .. } | SingleError::Socket { .. } => Kind::Failed,
        };
        let said = Self::new(kind, with_causes(&error));
        match remedy_of(&error) {
            Some(remedy) => said.with_hint(remedy),
            None => said,
        }
    }
}

/// How the lock is had.
fn remedy_of(error: &SingleError) -> Option<String> {
    match error {
        SingleError::Running { pid, .. } => Some(format!(
            "`remembrancer status` tells how it is; to stop it: `systemctl --user stop remembrancer.socket remembrancer.service` where it \
             is a service (macOS: `launchctl bootout gui/$(id -u)/dev.remembrancer.daemon`), else `kill {pid}`"
        )),
        SingleError::Lock { path, .. } => Some(match fs_err::symlink_metadata(path) {
            Ok(there) if !there.is_file() => format!(
                "remove {}, which is {} and no file, and do this again",
                path.display(),
                if there.is_symlink() { "a link" } else { "something else" }
            ),
            _ => format!(
                "see that you can write {} and its folder, and that the disk has room",
                path.display()
            ),
        }),
        SingleError::Unsafe { .. } | SingleError::Linked { .. } | SingleError::Socket { .. } => None,
    }
}

impl From<ClientError> for CliError {
    fn from(error: ClientError) -> Self {
        Self::new(Kind::Daemon, with_causes(&error))
    }
}

impl From<ControlError> for CliError {
    fn from(error: ControlError) -> Self {
        let kind = match error {
            ControlError::Unknown(_) => Kind::NotFound,
            ControlError::Senseless(_) => Kind::Usage,
            ControlError::Store(_) => Kind::Store,
            ControlError::File(_) | ControlError::Form(_) => Kind::Failed,
        };
        Self::new(kind, with_causes(&error))
    }
}

impl From<remembrancer_schema::QueryError> for CliError {
    fn from(error: remembrancer_schema::QueryError) -> Self {
        Self::new(Kind::Store, with_causes(&error))
    }
}

impl From<BackupError> for CliError {
    fn from(error: BackupError) -> Self {
        let kind = match &error {
            BackupError::InTheWay(_) | BackupError::NoFolder(_) => Kind::Usage,
            BackupError::Open(_) => Kind::Store,
            _ => Kind::Failed,
        };
        Self::new(kind, with_causes(&error))
    }
}

impl From<RestoringError> for CliError {
    fn from(error: RestoringError) -> Self {
        Self::new(Kind::Store, with_causes(&error))
    }
}

impl From<std::io::Error> for CliError {
    fn from(error: std::io::Error) -> Self {
        Self::new(Kind::Failed, with_causes(&error))
    }
}

impl From<anyhow::Error> for CliError {
    fn from(error: anyhow::Error) -> Self {
        let kind = if error.is::<OpenError>() { Kind::Store } else { Kind::Failed };
        Self::new(kind, format!("{error:#}"))
    }
}
