//! Why a prompt is answered with nothing, of which each has a name on the wire, in `why`, in `status` and in the
//! recollection file: what the recall itself says ([`Silence`]), or why there was none.

use remembrancer_processor::recall::Silence;

/// Why nothing is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The recall says why.
    Recall(Silence),
    /// The host fired twice for one message (CASES TC-46); the first is answered.
    SecondFiring,
    /// The user paused remembering and recalling.
    Paused,
    /// The session, or the folder in which it asks, is kept out.
    Excluded,
    /// Too many prompts wait already.
    Busy,
    /// The daemon is stopping.
    Stopping,
    /// The program failed, which its log tells.
    Failed,
    /// The answer is longer than a line of the protocol.
    TooLong,
}

impl Reason {
    /// Those that are failures, and not the right answer.
    pub(crate) const FAILURES: [Self; 5] = [Self::OUT_OF_TIME, Self::STORE_FAILED, Self::Busy, Self::Failed, Self::TooLong];
    /// All but those that a recall itself gives.
    #[cfg(test)]
    pub(crate) const BEFORE_A_RECALL: [Self; 7] = [
        Self::SecondFiring,
        Self::Paused,
        Self::Excluded,
        Self::Busy,
        Self::Stopping,
        Self::Failed,
        Self::TooLong,
    ];
    /// Time ran out before a recall could say so.
    pub(crate) const OUT_OF_TIME: Self = Self::Recall(Silence::OutOfTime);
    /// The store could not be read before the recall began.
    pub(crate) const STORE_FAILED: Self = Self::Recall(Silence::StoreFailed);

    /// Whether this name is that of a failure.
    pub(crate) fn is_failure(name: Option<&str>) -> bool {
        Self::FAILURES.iter().any(|failure| Some(failure.as_str()) == name)
    }

    /// The reason's name.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Recall(silence) => silence.as_str(),
            Self::SecondFiring => "second-firing",
            Self::Paused => "paused",
            Self::Excluded => "excluded",
            Self::Busy => "busy",
            Self::Stopping => "stopping",
            Self::Failed => "failed",
            Self::TooLong => "too-long",
        }
    }
}

impl From<Silence> for Reason {
    fn from(silence: Silence) -> Self {
        Self::Recall(silence)
    }
}
