//! The memory as the page asks it: requests of the wire protocol and a few looks into the store go in, JSON comes out, as the commands
//! of the same names print it. Where the page is the daemon's own its operations are asked at once; in another process the daemon is
//! asked over its socket, and the store is read where none runs.

use std::sync::Arc;

use remembrancer_hooks::clock::monotonic_ns;
use remembrancer_hooks::hex;
use remembrancer_hooks::protocol::{Answer, ForgetTarget, Narrowing, Reply, Request};
use remembrancer_schema::Reader;
use serde_json::{Value, json};

use crate::causes::with_causes;
use crate::clock;
use crate::control::{self, ControlError};
use crate::operations::{Operations, Refusal};

/// What is read of the store itself, as its commands do.
#[derive(Debug, Clone)]
pub(crate) enum Look {
    /// The numbers of `stats`.
    Stats,
    /// What `mute --list` and `boost --list` show.
    Steered,
    /// What `forget --dry-run` shows.
    ForgetPreview(ForgetTarget),
    /// The turns of a session that stand around the turn of an episode.
    Around(String),
    /// Up to which row the store is filled.
    LastStored,
    /// The turns that were stored lately and belong further back than a list begins.
    Late(Late),
}

/// Which turns came late to a list.
#[derive(Debug, Clone)]
pub(crate) struct Late {
    /// What the list is narrowed to.
    pub narrowing: Narrowing,
    /// The row that was the last one when it was looked before, and the last one now.
    pub rows: (i64, i64),
    /// The place of the newest turn of the list.
    pub newest: String,
}

impl Look {
    /// What is seen.
    ///
    /// # Errors
    /// [`ControlError`].
    pub(crate) fn at(&self, reader: &Reader) -> Result<Value, ControlError> {
        match self {
            Self::Stats => control::stats(reader, clock::now()),
            Self::Steered => {
                let (mut muted, mut boosted) = (control::steered(reader, false)?, control::steered(reader, true)?);
                Ok(json!({"muted": muted["turns"].take(), "boosted": boosted["turns"].take()}))
            }
            Self::ForgetPreview(target) => {
                let target = control::forget_target(reader, target.clone())?;
                let (mut preview, seen) = control::forget_preview(reader, &target)?;
                preview["seen"] = hex(&seen).into();
                Ok(preview)
            }
            Self::Around(id) => control::around(reader, id),
            Self::LastStored => control::last_stored(reader),
            Self::Late(late) => control::late(reader, &late.narrowing, late.rows, &late.newest),
        }
    }
}

/// What came of a request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answered {
    /// What was asked for.
    pub value: Value,
    /// Whether a daemon runs.
    pub has_daemon: bool,
}

/// What kind of a failure it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// What was asked for is not there, or can't be done.
    Refused,
    /// It makes no sense.
    Senseless,
    /// It is there, but not asked for or sent in this way.
    NotThisWay,
    /// It is longer than is taken.
    TooLong,
    /// What was sent is no form.
    NoForm,
    /// The daemon gives no answer now.
    Unavailable,
    /// The store can't be used.
    Store,
    /// Something else.
    Failed,
}

/// Why a request came to nothing: what and where, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// Of which kind.
    pub kind: FailureKind,
    /// What happened.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

impl Failure {
    /// A failure.
    pub(crate) fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            hint: None,
        }
    }

    /// The same, with what to do.
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same, with what to do where nothing says that yet.
    pub(crate) fn or_hint(mut self, hint: &str) -> Self {
        self.hint.get_or_insert_with(|| hint.to_owned());
        self
    }
}

/// A process that asks a daemon, or reads the store where none runs. It blocks.
pub(crate) trait Asks: Send + Sync + 'static {
    /// What comes of `request`.
    ///
    /// # Errors
    /// [`Failure`].
    fn ask(&self, request: Request) -> Result<Answered, Failure>;

    /// What a fact would come to, of the project of a folder or of all. Nothing is stored.
    ///
    /// # Errors
    /// [`Failure`], where it would not be remembered.
    fn would_remember(&self, text: &str, project: Option<&str>) -> Result<Value, Failure>;

    /// What `look` sees.
    ///
    /// # Errors
    /// [`Failure`].
    fn look(&self, look: &Look) -> Result<Value, Failure>;
}

/// Whom the page asks.
pub(crate) enum Memory {
    /// The daemon that serves it.
    Own(Arc<Operations>),
    /// Another process's.
    Asked(Arc<dyn Asks>),
}

impl Memory {
    /// What comes of `request`.
    ///
    /// # Errors
    /// [`Failure`].
    pub(super) async fn ask(&self, request: Request) -> Result<Answered, Failure> {
        match self {
            Self::Own(operations) => match operations.perform(request, monotonic_ns()).await {
                Reply::Answer(Answer { ok: true, data, .. }) => Ok(Answered {
                    value: data,
                    has_daemon: true,
                }),
                Reply::Answer(Answer { error, .. }) => Err(Failure::new(
                    FailureKind::Refused,
                    error.unwrap_or_else(|| "the daemon refused".to_owned()),
                )),
                Reply::Recall(_) => Err(Failure::new(FailureKind::Failed, "the daemon answered something else")),
            },
            Self::Asked(asks) => {
                let asks = Arc::clone(asks);
                blocking(move || asks.ask(request)).await
            }
        }
    }

    /// What a fact would come to, of the project of a folder or of all. Nothing is stored.
    ///
    /// # Errors
    /// [`Failure`], where it would not be remembered.
    pub(super) async fn would_remember(&self, text: String, project: Option<String>) -> Result<Value, Failure> {
        match self {
            Self::Own(operations) => Ok(operations.would_remember(text, project).await?),
            Self::Asked(asks) => {
                let asks = Arc::clone(asks);
                blocking(move || asks.would_remember(&text, project.as_deref())).await
            }
        }
    }

    /// What `look` sees.
    ///
    /// # Errors
    /// [`Failure`].
    pub(super) async fn look(&self, look: Look) -> Result<Value, Failure> {
        match self {
            Self::Own(operations) => match operations.background.call(move |reader| look.at(reader)).await {
                Ok(seen) => seen.map_err(Failure::from),
                Err(error) => Err(Failure::new(FailureKind::Unavailable, error.to_string())),
            },
            Self::Asked(asks) => {
                let asks = Arc::clone(asks);
                blocking(move || asks.look(&look)).await
            }
        }
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, Failure> + Send + 'static) -> Result<T, Failure> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| {
        Err(Failure::new(
            FailureKind::Failed,
            "the program failed on this; its log tells where",
        ))
    })
}

impl From<ControlError> for Failure {
    fn from(error: ControlError) -> Self {
        let kind = match error {
            ControlError::Unknown(_) => FailureKind::Refused,
            ControlError::Senseless(_) => FailureKind::Senseless,
            ControlError::Store(_) => FailureKind::Store,
            ControlError::File(_) | ControlError::Form(_) => FailureKind::Failed,
        };
        Self::new(kind, with_causes(&error))
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Control(error) => error.into(),
            refusal => Self::new(FailureKind::Unavailable, with_causes(&refusal)),
        }
    }
}
