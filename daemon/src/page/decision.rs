//! What a user can decide in the page: a name of an address or a form comes in, the decision and what takes it back go out. How each is
//! worded stands with the views; what each does, with the routes.

use serde_json::Value;

/// What can be decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    Mute,
    Unmute,
    Boost,
    Unboost,
    Forget,
    ForgetSession,
    ForgetProject,
}

impl Decision {
    /// All of them.
    const ALL: [Self; 7] = [
        Self::Mute,
        Self::Unmute,
        Self::Boost,
        Self::Unboost,
        Self::Forget,
        Self::ForgetSession,
        Self::ForgetProject,
    ];

    /// Its name in addresses and forms.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Mute => "mute",
            Self::Unmute => "unmute",
            Self::Boost => "boost",
            Self::Unboost => "unboost",
            Self::Forget => "forget",
            Self::ForgetSession => "forget-session",
            Self::ForgetProject => "forget-project",
        }
    }

    /// The one of this name.
    pub(super) fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|decision| decision.name() == name)
    }

    /// Whether it deletes.
    pub(super) fn forgets(self) -> bool {
        matches!(self, Self::Forget | Self::ForgetSession | Self::ForgetProject)
    }

    /// Whether `shown`, an episode as `show` tells of it, is as this leaves it.
    pub(super) fn is_so(self, shown: &Value) -> bool {
        match self {
            Self::Mute => shown["muted"] == true,
            Self::Unmute => shown["muted"] == false,
            Self::Boost => shown["boosted"] == true,
            Self::Unboost => shown["boosted"] == false,
            // Nothing is left that could be shown.
            Self::Forget | Self::ForgetSession | Self::ForgetProject => false,
        }
    }

    /// What takes it back.
    pub(super) fn undone_by(self) -> Option<Self> {
        match self {
            Self::Mute => Some(Self::Unmute),
            Self::Unmute => Some(Self::Mute),
            Self::Boost => Some(Self::Unboost),
            Self::Unboost => Some(Self::Boost),
            Self::Forget | Self::ForgetSession | Self::ForgetProject => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_to_its_decision_and_back() {
        for decision in Decision::ALL {
            assert_eq!(Decision::of(decision.name()), Some(decision));
            let undone = decision.undone_by().and_then(Decision::undone_by);
            assert_eq!(undone, (!decision.forgets()).then_some(decision));
        }
        assert_eq!(Decision::of("drop"), None);
    }
}
