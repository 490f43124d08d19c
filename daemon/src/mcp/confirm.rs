//! What may be deleted once it is confirmed: a token stands for exactly one selection with the turns that it named when it was shown,
//! for a short while, once. Nothing of it leaves this process but the token.

use std::sync::Mutex;
use std::time::Duration;

use remembrancer_hooks::hex;
use remembrancer_hooks::protocol::ForgetTarget;

use super::arguments::Arguments;
use crate::system;

/// How long a token is good: as long as a person needs to read what would be deleted and to answer.
pub(super) const LIFETIME: Duration = Duration::from_mins(5);

/// Tokens that are good at once: the oldest goes for a further one.
const MOST: usize = 8;

/// Bytes of a token, which a model can't guess.
const BYTES: usize = 16;

/// A selection that was shown.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Selection {
    /// How it was asked for.
    pub(super) arguments: Arguments,
    /// What that came to: times are counted from when it was shown.
    pub(super) target: ForgetTarget,
    /// A digest of the turns that it named.
    pub(super) seen: [u8; 32],
}

struct Pending {
    token: String,
    selection: Selection,
    until_ns: u64,
}

/// The selections that wait to be confirmed.
#[derive(Default)]
pub(super) struct Confirmations(Mutex<Vec<Pending>>);

/// Why a token confirms nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unconfirmed {
    #[error("the token is none of this server's, was used before, or is older than five minutes; nothing was deleted")]
    Unknown,
    #[error("the token belongs to another selection than these arguments name; nothing was deleted, and the token is used up")]
    Another,
}

impl Confirmations {
    /// A token for `selection`, at the monotonic instant `now_ns`.
    ///
    /// # Errors
    /// Where the system gives no random bytes.
    pub(super) fn issue(&self, selection: Selection, now_ns: u64) -> std::io::Result<String> {
        let token = random()?;
        let until_ns = now_ns.saturating_add(LIFETIME.as_nanos() as u64);
        let mut pending = self.lock();
        pending.retain(|one| one.until_ns > now_ns);
        if pending.len() >= MOST {
            pending.remove(0);
        }
        pending.push(Pending {
            token: token.clone(),
            selection,
            until_ns,
        });
        Ok(token)
    }

    /// The selection that `token` stands for, where `arguments` name the same. It is good no more.
    ///
    /// # Errors
    /// [`Unconfirmed`].
    pub(super) fn redeem(&self, token: &str, arguments: &Arguments, now_ns: u64) -> Result<Selection, Unconfirmed> {
        let mut pending = self.lock();
        pending.retain(|one| one.until_ns > now_ns);
        let place = pending
            .iter()
            .position(|one| one.token == token.trim())
            .ok_or(Unconfirmed::Unknown)?;
        let selection = pending.remove(place).selection;
        if selection.arguments == *arguments {
            Ok(selection)
        } else {
            Err(Unconfirmed::Another)
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Pending>> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

fn random() -> std::io::Result<String> {
    let mut bytes = [0; BYTES];
    system::fill_randomly(&mut bytes)?;
    Ok(hex(&bytes))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::arguments::{Kind, Parameter};
    use super::*;

    const SESSION: [Parameter; 1] = [Parameter::new("session", Kind::Text(100), "")];
    const LIFE: u64 = LIFETIME.as_nanos() as u64;

    fn arguments(session: &str) -> Arguments {
        Arguments::check("forget", &SESSION, json!({"session": session}).as_object().cloned()).unwrap()
    }

    fn selection(session: &str) -> Selection {
        Selection {
            arguments: arguments(session),
            target: ForgetTarget::Session(session.to_owned()),
            seen: [1; 32],
        }
    }

    #[test]
    fn a_token_stands_for_its_own_selection_once() {
        let all = Confirmations::default();
        let (one, other) = (all.issue(selection("a"), 0).unwrap(), all.issue(selection("b"), 0).unwrap());
        assert_ne!(one, other);
        assert_eq!(one.len(), 2 * BYTES);
        assert_eq!(all.redeem(&one, &arguments("a"), 1), Ok(selection("a")));
        assert_eq!(all.redeem(&one, &arguments("a"), 1), Err(Unconfirmed::Unknown), "used up");
        assert_eq!(all.redeem(&other, &arguments("a"), 1), Err(Unconfirmed::Another));
        assert_eq!(
            all.redeem(&other, &arguments("b"), 1),
            Err(Unconfirmed::Unknown),
            "used up by the try"
        );
        assert_eq!(all.redeem("", &arguments("a"), 1), Err(Unconfirmed::Unknown));
    }

    #[test]
    fn a_token_is_good_for_a_short_while() {
        let all = Confirmations::default();
        let token = all.issue(selection("a"), 10).unwrap();
        assert_eq!(all.redeem(&token, &arguments("a"), 10 + LIFE), Err(Unconfirmed::Unknown));
        let token = all.issue(selection("a"), 10).unwrap();
        assert!(all.redeem(&token, &arguments("a"), 9 + LIFE).is_ok());
    }

    #[test]
    fn there_are_never_many() {
        let all = Confirmations::default();
        let tokens: Vec<String> = (0..=MOST).map(|_| all.issue(selection("a"), 0).unwrap()).collect();
        assert_eq!(all.lock().len(), MOST);
        assert_eq!(all.redeem(&tokens[0], &arguments("a"), 1), Err(Unconfirmed::Unknown));
        assert!(all.redeem(&tokens[1], &arguments("a"), 1).is_ok());
    }
}
