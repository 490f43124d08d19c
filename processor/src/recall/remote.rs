//! The leg that asks the shared store, beside those that ask the store here.
//!
//! Who asks it is the caller's affair ([`AskRemote`]): it brings what is found and not here into the store, and gives row ids, so that
//! all that follows, filters and gates too, is that of any other candidate. It is asked once the prompt's embedding is there, or is
//! known not to come, and waited for in a share of what is left: late, it is absent.

use remembrancer_schema::EpisodeId;

use super::Degradation;
use super::legs::Bounds;
use super::pool::Found;
use crate::deadline::Deadline;
use crate::embed::Embedding;

/// The leg has one part in so many of what is left for the legs when it begins: what others have is worth no more of a prompt's wait.
const SHARE: u32 = 2;

/// Asks the shared store for one prompt.
pub trait AskRemote {
    /// Begins to ask for the best by these terms and this embedding, and returns at once. What comes after `until` is for nobody.
    fn begin(&mut self, terms: &[String], embedding: Option<&Embedding>, until: Deadline);

    /// What was found, as far as it is in the store by now, best first; waited for until then.
    ///
    /// # Errors
    /// [`Degradation::RemoteLate`], or [`Degradation::RemoteAbsent`] where it was not begun, or failed.
    fn found(&mut self) -> Result<Vec<EpisodeId>, Degradation>;
}

/// Who asks the shared store.
pub type RemoteSource<'a> = dyn AskRemote + Send + 'a;

/// Has it asked, unless the legs' time is up already.
pub(super) fn begin(remote: &mut RemoteSource<'_>, terms: &[String], embedding: Option<&Embedding>, legs_until: Deadline) {
    let left = legs_until.remaining();
    if !left.is_zero() {
        remote.begin(terms, embedding, Deadline::after(left / SHARE));
    }
}

/// Takes what was found, but for what is left out.
pub(super) fn take(remote: &mut RemoteSource<'_>, found: &mut Found, bounds: &Bounds<'_>) -> Result<(), Degradation> {
    found.remote = Some(Vec::new());
    let ids = remote.found()?;
    let most = ids.len();
    let (kept, passed_over) = bounds.keep(ids, |id| *id, most);
    (found.remote, found.remote_passed_over) = (Some(kept), passed_over);
    Ok(())
}
