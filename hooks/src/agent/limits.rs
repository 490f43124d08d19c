//! What a host lets a hook do: how much of its text is shown whole, and how long is waited for it. Ours are always below, which the
//! tests of the table hold.

use std::time::Duration;

/// A host's limits.
pub(crate) struct Limits {
    /// How much it shows.
    pub(crate) room: Room,
    /// How long it waits for a hook whose settings name no time limit; `None` where that is not documented.
    pub(crate) patience: Option<Duration>,
}

/// The longest context that a host shows whole. Of a longer one the model is given a preview, or nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Room {
    /// So many characters.
    Characters(usize),
    /// So many bytes of UTF-8.
    Bytes(usize),
    /// So many tokens by the host's own estimate, which is a token for every four bytes begun.
    Tokens(usize),
    /// Not documented, so that our own bound alone holds.
    Unknown,
}

impl Room {
    /// Whether the whole of `context` is shown.
    pub(crate) fn holds(self, context: &str) -> bool {
        match self {
            Self::Characters(most) => context.chars().count() <= most,
            Self::Bytes(most) => context.len() <= most,
            Self::Tokens(most) => context.len().div_ceil(4) <= most,
            Self::Unknown => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::characters(Room::Characters(3), "ééé", "éééé")]
    #[case::bytes(Room::Bytes(6), "ééé", "éééx")]
    #[case::tokens(Room::Tokens(2), "éééé", "ééééx")]
    fn one_more_is_too_much(#[case] room: Room, #[case] fits: &str, #[case] too_long: &str) {
        assert!(room.holds(fits));
        assert!(!room.holds(too_long));
    }
}
