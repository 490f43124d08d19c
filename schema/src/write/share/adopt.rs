//! What a search of the shared store found, taken into the memory, so that it is recalled by its row like anything else. In go what was
//! found and as of when, out comes where each is here.
//!
//! The rules are those of what is pulled, and no cursor moves. What was taken back after the search must not come back by it: pulling
//! tells of that once, so that what was found before the place to which pulling has come is left alone, and so is what was asked for
//! before this memory said something itself.

use super::super::Writer;
use super::pull::Applying;
use crate::error::QueryError;
use crate::query::share::share_place;
use crate::rows::{Adopted, Applied, FoundPage};
use crate::units::UnixMillis;

impl Writer {
    /// Stores what a search of the shared store found and is not here, and gives where each is. Nothing is stored while sharing is paused,
    /// before [`Writer::note_member`], or where the search is older than what was pulled or sent: [`Applied::stale`].
    ///
    /// # Errors
    /// What SQLite reports: nothing is stored then.
    pub fn adopt_found(&mut self, page: &FoundPage, now: UnixMillis) -> Result<Adopted, QueryError> {
        self.within("store what was found", |db| {
            let place = share_place(db)?.filter(|place| !place.paused && place.sent == page.sent && place.cursor <= page.head);
            let Some((place, member)) = place.and_then(|place| place.member.map(|member| (place, member))) else {
                return Ok(Adopted {
                    here: vec![None; page.found.len()],
                    applied: Applied {
                        stale: true,
                        ..Applied::default()
                    },
                });
            };
            let mut applying = Applying::begin(db, &place, member, now)?;
            let here = page.found.iter().map(|found| applying.found(found));
            let here = here.collect::<rusqlite::Result<_>>()?;
            Ok(Adopted {
                here,
                applied: applying.settle()?,
            })
        })
    }
}
