//! One page of a segment: terms with their postings, one after the other, and an index of where each term begins.
//! In go a page's bytes, out come the bytes that belong to a term.

use super::ReadError;
use super::varint::varint;

/// Bytes before the content: where the first episode and the index begin, two each.
const HEADER: usize = 4;

/// A page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaf<'a> {
    content: &'a [u8],
    /// Where the terms begin: the first, then the distance to each next.
    term_index: &'a [u8],
    /// Where the first episode stands that is written whole and not as a distance; 0 if there is none.
    first_episode: usize,
}

impl<'a> Leaf<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Result<Self, ReadError> {
        let [high, low, end_high, end_low, ..] = *bytes else {
            return Err(ReadError::Format);
        };
        let end = usize::from(u16::from_be_bytes([end_high, end_low]));
        if end < HEADER || end > bytes.len() {
            return Err(ReadError::Format);
        }
        Ok(Self {
            content: &bytes[..end],
            term_index: &bytes[end..],
            first_episode: usize::from(u16::from_be_bytes([high, low])),
        })
    }

    /// The postings of the term `key` on this page, and whether they end on it; `None` if the term does not begin here.
    pub(super) fn find(&self, key: &[u8]) -> Result<Option<(&'a [u8], bool)>, ReadError> {
        let mut index_at = 0;
        let mut term_at = 0;
        // How many bytes of the key the terms so far share: all of them are smaller.
        let mut shared = 0;
        while index_at < self.term_index.len() {
            let first = term_at == 0;
            term_at = further(term_at, varint(self.term_index, &mut index_at)?);
            let mut at = term_at;
            let kept = if first { 0 } else { varint(self.content, &mut at)? as usize };
            let length = varint(self.content, &mut at)? as usize;
            let added = self.content.get(at..further(at, length as u64)).ok_or(ReadError::Format)?;
            if kept < shared {
                return Ok(None);
            }
            if kept > shared {
                continue;
            }
            let equal = added.iter().zip(&key[shared..]).take_while(|(a, b)| a == b).count();
            shared += equal;
            if shared == key.len() {
                let begin = at + length;
                return if equal == length {
                    self.from(begin, term_at, index_at).map(Some)
                } else {
                    Ok(None)
                };
            }
            if equal < length && added[equal] > key[shared] {
                return Ok(None);
            }
        }
        Ok(None)
    }

    /// What this page has of the postings that began before it; where among them the first whole episode stands; whether
    /// they end here.
    pub(super) fn continuation(&self) -> Result<(&'a [u8], Option<usize>, bool), ReadError> {
        let ends = !self.term_index.is_empty();
        let end = if ends {
            varint(self.term_index, &mut 0)? as usize
        } else {
            self.content.len()
        };
        let content = self.content.get(HEADER..end).ok_or(ReadError::Format)?;
        let first_episode = (HEADER..end)
            .contains(&self.first_episode)
            .then(|| self.first_episode - HEADER);
        Ok((content, first_episode, ends))
    }

    /// The postings from `begin` to the next term, which the index names next, or to the end of the page.
    fn from(&self, begin: usize, term_at: usize, mut index_at: usize) -> Result<(&'a [u8], bool), ReadError> {
        let ends = index_at < self.term_index.len();
        let end = if ends {
            further(term_at, varint(self.term_index, &mut index_at)?)
        } else {
            self.content.len()
        };
        let postings = self.content.get(begin..end).ok_or(ReadError::Format)?;
        Ok((postings, ends))
    }
}

/// A place behind another. In a damaged page the distance may be any number: then the place is no page's.
fn further(at: usize, distance: u64) -> usize {
    at.saturating_add(usize::try_from(distance).unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Postings;
    use super::super::decode::{Decoder, Fields, Selection};
    use super::super::tombstones::Tombstones;
    use super::*;

    proptest! {
        #[test]
        fn a_damaged_page_is_an_error_or_postings_and_never_a_panic(
            mut bytes in prop::collection::vec(prop_oneof![any::<u8>(), 0u8..4, Just(0xFF)], 4..200),
            end in 0u16..220,
            key in prop::collection::vec(any::<u8>(), 1..4),
        ) {
            bytes[2..4].copy_from_slice(&end.to_be_bytes());
            let Ok(leaf) = Leaf::new(&bytes) else { return Ok(()) };
            let parts = [leaf.find(&key).ok().flatten().map(|found| (found.0, None)), leaf.continuation().ok().map(|(content, first, _)| (content, first))];
            for (content, first) in parts.into_iter().flatten() {
                let (tombstones, mut postings) = (Tombstones::default(), Postings::default());
                let fields = Fields { weights: [Some(1.0); 4] };
                let mut decoder = Decoder::new(fields, &Selection::All, &tombstones, &mut postings);
                drop(decoder.page(content, first).and_then(|()| decoder.finish()));
            }
        }
    }
}
