//! What the shared store refuses by a code of its own, and what to do about it.

use std::fmt;

/// A refusal of the shared store. Each has a SQLSTATE, which its functions and migrations raise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// The login is no member of any team.
    UnknownLogin,
    /// There is no such team, or the login is not in it: which of the two is not told.
    UnknownTeam,
    /// The server serves newer versions only.
    ClientTooOld,
    /// The machine's id is another member's, or was not told by a hello.
    ForeignMachine,
    /// An episode is in the clear and the team sealed, or the other way round.
    Seal,
    /// A value is longer, shorter or larger than is taken.
    Bounds,
    /// It is for the owner, or for who looks after the team.
    NotAllowed,
    /// The server lacks what the shared store needs, or has a newer one.
    UnfitServer,
}

impl Refusal {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::UnknownLogin,
        Self::UnknownTeam,
        Self::ClientTooOld,
        Self::ForeignMachine,
        Self::Seal,
        Self::Bounds,
        Self::NotAllowed,
        Self::UnfitServer,
    ];

    /// The refusal of this SQLSTATE; `None` for an error of the server's own.
    pub fn of(sqlstate: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|refusal| refusal.sqlstate() == sqlstate)
    }

    /// Its SQLSTATE.
    pub const fn sqlstate(self) -> &'static str {
        match self {
            Self::UnknownLogin => "RM001",
            Self::UnknownTeam => "RM002",
            Self::ClientTooOld => "RM003",
            Self::ForeignMachine => "RM004",
            Self::Seal => "RM005",
            Self::Bounds => "RM006",
            Self::NotAllowed => "RM007",
            Self::UnfitServer => "RM008",
        }
    }

    /// What to do about it.
    pub const fn remedy(self) -> &'static str {
        match self {
            Self::UnknownLogin => {
                "have one who looks after a team add this login: remembrancer share add-member LOGIN --team NAME"
            }
            Self::UnknownTeam => {
                "check share.team, or have one who looks after the team add this login: remembrancer share add-member"
            }
            Self::ClientTooOld => "install a newer Remembrancer on this machine",
            Self::ForeignMachine => {
                "say hello first; where the memory was copied from another machine, have it made a machine of its own"
            }
            Self::Seal => "check share.key_file: a sealed team takes sealed episodes only, and another team none",
            Self::Bounds => "leave out what is named",
            Self::NotAllowed => "have the shared store's owner do it, or one who looks after the team",
            Self::UnfitServer => "do on the server what its message says, then run remembrancer share init",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self {
            Self::UnknownLogin => "the login is no member of this shared store",
            Self::UnknownTeam => "there is no such team, or the login is not in it",
            Self::ClientTooOld => "the shared store serves newer versions only",
            Self::ForeignMachine => "the machine is not one of this member's",
            Self::Seal => "an episode is sealed and the team is not, or the other way round",
            Self::Bounds => "a value is beyond what the shared store takes",
            Self::NotAllowed => "the login may not do that",
            Self::UnfitServer => "the server can't hold this shared store",
        };
        write!(f, "{what}: {}", self.remedy())
    }
}
