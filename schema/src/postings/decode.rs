//! A term's postings from bytes to episodes and frequencies.
//!
//! A posting is the distance to the episode before (the first one, and the first on each page, is written whole), twice the
//! number of bytes that follow, and then the term's positions: a 1 and a field's number where the field changes (it begins
//! with the first), else the distance to the position before, plus 2. Positions may go on on the next page, cut between numbers.

use super::tombstones::Tombstones;
use super::varint::varint;
use super::{Postings, ReadError};

/// Fields of an episode in the index: prompt, answer, facets, project.
pub(crate) const FIELDS: usize = 4;
/// Stands before a field's number.
const FIELD_CHANGES: u8 = 1;

/// In which fields a term is looked for, and what an occurrence counts there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields {
    /// The weight of each field; `None` where the term is not looked for.
    pub(crate) weights: [Option<f32>; FIELDS],
}

/// Which episodes are given; the others are counted only.
#[derive(Debug)]
pub(crate) enum Selection<'a> {
    /// All.
    All,
    /// None.
    None,
    /// Those whose bit is set.
    Of(&'a EpisodeSet),
}

impl Selection<'_> {
    fn holds(&self, episode: u32) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::Of(set) => set.holds(episode),
        }
    }
}

/// A set of episodes, one bit each.
#[derive(Clone, Debug, Default)]
pub(crate) struct EpisodeSet {
    words: Vec<u64>,
}

impl EpisodeSet {
    /// The episodes of some postings.
    pub(crate) fn of(postings: &Postings) -> Self {
        let most = postings.episodes.iter().max().map_or(0, |most| *most as usize + 1);
        let mut words = vec![0; most.div_ceil(64)];
        for episode in &postings.episodes {
            words[*episode as usize / 64] |= 1 << (episode % 64);
        }
        Self { words }
    }

    /// These episodes, in whatever order.
    pub(crate) fn of_ids(ids: impl Iterator<Item = u32>) -> Self {
        let mut words = Vec::new();
        for id in ids {
            let word = id as usize / 64;
            if word >= words.len() {
                words.resize(word + 1, 0_u64);
            }
            words[word] |= 1 << (id % 64);
        }
        Self { words }
    }

    /// What is in both.
    pub(crate) fn and(&self, other: &Self) -> Self {
        let words = self.words.iter().zip(&other.words).map(|(one, other)| one & other);
        Self { words: words.collect() }
    }

    /// Whether an episode is in it.
    pub(crate) fn holds(&self, episode: u32) -> bool {
        let word = self.words.get(episode as usize / 64);
        word.is_some_and(|word| word >> (episode % 64) & 1 == 1)
    }
}

/// Decodes the postings of one term in one segment, a page at a time.
pub(super) struct Decoder<'a> {
    fields: Fields,
    /// Whether an episode counts by having a posting at all.
    every_field: bool,
    selection: &'a Selection<'a>,
    tombstones: &'a Tombstones,
    into: &'a mut Postings,
    /// The episode before; none on the first page.
    episode: Option<u64>,
    /// A posting whose positions go on on the next page, and how many bytes of them are left.
    cut: Option<(Posting, usize)>,
}

impl<'a> Decoder<'a> {
    pub(super) fn new(fields: Fields, selection: &'a Selection<'a>, tombstones: &'a Tombstones, into: &'a mut Postings) -> Self {
        Self {
            every_field: fields.weights.iter().all(Option::is_some),
            fields,
            selection,
            tombstones,
            into,
            episode: None,
            cut: None,
        }
    }

    /// Decodes what one page has; `whole` is where an episode stands that is no distance.
    pub(super) fn page(&mut self, bytes: &[u8], whole: Option<usize>) -> Result<(), ReadError> {
        let mut at = 0;
        if let Some((posting, left)) = self.cut.take() {
            self.positions(posting, left, bytes, &mut at)?;
        }
        while at < bytes.len() {
            let is_whole = whole == Some(at);
            let number = varint(bytes, &mut at)?;
            self.episode = match self.episode {
                Some(before) if !is_whole => Some(before.wrapping_add(number)),
                _ => Some(number),
            };
            let size = varint(bytes, &mut at)? as usize / 2;
            if self.is_only_counted() && size <= bytes.len() - at {
                at += size;
                self.give(size > 0, 0.0)?;
            } else if let Some((field, occurrences)) = short(&bytes[at..], size) {
                at += size;
                let weight = *self.fields.weights.get(field).ok_or(ReadError::Format)?;
                self.give(weight.is_some(), weight.unwrap_or_default() * occurrences as f32)?;
            } else if size > 0 {
                self.positions(Posting::default(), size, bytes, &mut at)?;
            }
        }
        Ok(())
    }

    /// Whether of the episode in hand no more is asked than that it has a posting.
    fn is_only_counted(&self) -> bool {
        let episode = u32::try_from(self.episode.unwrap_or_default());
        self.every_field && !episode.is_ok_and(|episode| self.selection.holds(episode))
    }

    /// After the last page.
    pub(super) fn finish(self) -> Result<(), ReadError> {
        if self.cut.is_none() { Ok(()) } else { Err(ReadError::Format) }
    }

    /// Takes what this page has of the `left` bytes of a posting, and gives the posting on if that is the rest.
    fn positions(&mut self, mut posting: Posting, left: usize, bytes: &[u8], at: &mut usize) -> Result<(), ReadError> {
        let here = left.min(bytes.len() - *at);
        posting.count(&bytes[*at..*at + here], &self.fields)?;
        *at += here;
        if here < left {
            self.cut = Some((posting, left - here));
            return Ok(());
        }
        self.give(posting.occurs, posting.frequency)
    }

    /// Gives on the posting of the episode in hand, if the term occurs in a field that counts.
    #[inline]
    fn give(&mut self, occurs: bool, frequency: f32) -> Result<(), ReadError> {
        let episode = u32::try_from(self.episode.unwrap_or_default()).map_err(|_| ReadError::Format)?;
        if occurs && !self.tombstones.hold(u64::from(episode)) {
            self.into.document_frequency += 1;
            if self.selection.holds(episode) {
                self.into.episodes.push(episode);
                self.into.frequencies.push(frequency);
            }
        }
        Ok(())
    }
}

/// What is known of a posting by its positions so far.
#[derive(Clone, Copy, Default)]
struct Posting {
    field: usize,
    field_changes: bool,
    /// Whether the bytes so far end inside a number.
    inside: bool,
    occurs: bool,
    frequency: f32,
}

impl Posting {
    /// Adds positions one by one.
    fn count(&mut self, positions: &[u8], fields: &Fields) -> Result<(), ReadError> {
        let mut weight = fields.weights[self.field];
        for &byte in positions {
            if self.field_changes {
                self.field = usize::from(byte);
                self.field_changes = false;
                weight = *fields.weights.get(self.field).ok_or(ReadError::Format)?;
            } else if byte == FIELD_CHANGES && !self.inside {
                self.field_changes = true;
            } else {
                self.inside = byte & 0x80 != 0;
                if let (false, Some(weight)) = (self.inside, weight) {
                    self.occurs = true;
                    self.frequency += weight;
                }
            }
        }
        Ok(())
    }
}

/// The top bit of every byte of a word.
const TOPS: u64 = 0x8080_8080_8080_8080;

/// The field and the number of occurrences in a posting of up to eight bytes that are all in one field, as nearly all are: told
/// from the eight bytes at once. `None` of any other posting.
#[inline]
fn short(bytes: &[u8], size: usize) -> Option<(usize, u32)> {
    let word = u64::from_le_bytes(*bytes.first_chunk()?);
    if size == 0 || size > 8 {
        return None;
    }
    let within = TOPS >> (8 * (8 - size));
    // A number ends in a byte without the top bit, and the next one begins behind it.
    let ends = !word & within;
    let begins = ((ends << 8) | 0x80) & within;
    let unlike_marker = word ^ (0x0101_0101_0101_0101 * u64::from(FIELD_CHANGES));
    let marker_bytes = !(((unlike_marker & !TOPS) + !TOPS) | unlike_marker) & TOPS;
    // Behind a marker at the beginning stands the field, which may look like a marker.
    let markers = marker_bytes & begins;
    let (leads, field_like) = (markers & 0x80 != 0, markers & 0x8000 != 0);
    if markers & !0x8080 != 0 || (field_like && !leads) || (leads && size <= 2) {
        return None;
    }
    let (field, other_numbers) = if leads { ((word >> 8) as usize & 0xff, 2) } else { (0, 0) };
    Some((field, ends.count_ones().saturating_sub(other_numbers)))
}
