//! Episodes that say nearly the same: codes of the present model come in, pairs that are near by their bits are held against each
//! other by their vectors, and what is near by these, too, goes out in groups.

use std::collections::BTreeMap;

use remembrancer_processor::Deadline;
use remembrancer_processor::near::{MOST_PAIRS, NEAR_COSINE, NearCodes, NearPair, NearPairs};
use remembrancer_schema::{CandidateRow, EpisodeId, Reader, UnixMillis};

use super::finding::{Finding, Shown};
use super::{COPIES, ControlError, Step, TOLD, in_time};

/// Pairs whose vectors are held in memory at a time: 256 vectors of 1.5 KB at most.
const PAIRS_AT_ONCE: usize = 128;

/// What was found.
pub(super) struct Near {
    /// Codes looked at.
    pub(super) codes: u64,
    /// Groups, the largest first, each with the nearest cosine in it; the newest episode of a group first.
    groups: Vec<(f32, Vec<EpisodeId>)>,
    complete: bool,
}

/// Looks through the codes, but for those of `copies`, which are told as exact duplicates.
pub(super) fn find(
    reader: &Reader,
    copies: &[EpisodeId],
    deadline: Deadline,
    tell: &mut dyn FnMut(Step),
) -> Result<Near, ControlError> {
    let model = in_time(reader.embedding_model())?.flatten();
    let (ids, codes, all_read) = codes(reader, copies)?;
    let step = |done| Step {
        what: "vectors",
        done,
        of: 1_000,
    };
    let near = codes.pairs(deadline, &mut |done| tell(step(done)));
    tell(step(1_000));
    let (groups, all_confirmed) = match model {
        Some((model, _)) => confirm(reader, &model, &ids, &near)?,
        None => (Groups::default(), near.pairs.is_empty()),
    };
    Ok(Near {
        codes: ids.len() as u64,
        groups: groups.largest_first(),
        // What was left out is not known to be near or not.
        complete: all_read && near.complete && all_confirmed && near.found <= MOST_PAIRS as u64,
    })
}

/// What is told of it.
pub(super) fn finding(shown: &Shown<'_>, near: &Near) -> Result<Finding, ControlError> {
    let mut finding = Finding::new("near-duplicates", near.complete);
    finding.count = near.groups.len() as u64;
    finding.surplus = Some(near.groups.iter().map(|(_, ids)| ids.len() as u64 - 1).sum());
    for (cosine, ids) in near.groups.iter().take(TOLD) {
        let ids = &ids[..ids.len().min(COPIES + 1)];
        finding.items.extend(shown.with_copies(ids, Some(*cosine))?);
    }
    Ok(finding)
}

/// The codes with their episodes, in the order of ids; false where they could not all be read in time.
fn codes(reader: &Reader, copies: &[EpisodeId]) -> Result<(Vec<EpisodeId>, NearCodes, bool), ControlError> {
    let (mut ids, mut codes) = (Vec::new(), NearCodes::default());
    let read = reader.for_each_code(|id, _, code| {
        if copies.binary_search(&id).is_err() && codes.add(code) {
            ids.push(id);
        }
    });
    let all_read = in_time(read)?.is_some();
    Ok((ids, codes, all_read))
}

/// Joins the pairs whose vectors are near, unless both are of one turn; false where not all could be looked at in time.
fn confirm(reader: &Reader, model: &str, ids: &[EpisodeId], near: &NearPairs) -> Result<(Groups, bool), ControlError> {
    let mut groups = Groups::default();
    for pairs in near.pairs.chunks(PAIRS_AT_ONCE) {
        let mut wanted: Vec<EpisodeId> = pairs.iter().flat_map(|pair| both(ids, *pair)).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let Some(rows) = in_time(reader.candidates(&wanted, model))? else {
            return Ok((groups, false));
        };
        for pair in pairs {
            let [one, other] = both(ids, *pair).map(|id| rows.iter().find(|row| row.id == id));
            if let (Some(one), Some(other)) = (one, other)
                && one.turn_uid != other.turn_uid
                && let Some(cosine) = cosine(one, other)
                && cosine >= NEAR_COSINE
            {
                groups.join(one, other, cosine);
            }
        }
    }
    Ok((groups, true))
}

fn both(ids: &[EpisodeId], pair: NearPair) -> [EpisodeId; 2] {
    [pair.one, pair.other].map(|number| ids[number as usize])
}

/// Vectors are of length 1.
fn cosine(one: &CandidateRow, other: &CandidateRow) -> Option<f32> {
    let (one, other) = (one.embedding.as_ref()?, other.embedding.as_ref()?);
    Some(one.iter().zip(other).map(|(one, other)| one * other).sum())
}

/// Episodes that are near to another of their group.
#[derive(Default)]
struct Groups {
    /// Each leads to another of its group, or is the one that stands for it.
    leads: BTreeMap<EpisodeId, EpisodeId>,
    created: BTreeMap<EpisodeId, UnixMillis>,
    /// The nearest cosine, by the one that stood for the group when it was met.
    nearest: Vec<(EpisodeId, f32)>,
}

impl Groups {
    fn join(&mut self, one: &CandidateRow, other: &CandidateRow, cosine: f32) {
        for row in [one, other] {
            self.created.insert(row.id, row.created_at);
            self.leads.entry(row.id).or_insert(row.id);
        }
        let (one, other) = (self.stands_for(one.id), self.stands_for(other.id));
        self.leads.insert(one.max(other), one.min(other));
        self.nearest.push((one.min(other), cosine));
    }

    /// The one that stands for the group of `id`; the way there is made short.
    fn stands_for(&mut self, id: EpisodeId) -> EpisodeId {
        let mut top = id;
        while self.leads[&top] != top {
            top = self.leads[&top];
        }
        let mut at = id;
        while at != top {
            at = self.leads.insert(at, top).unwrap_or(top);
        }
        top
    }

    fn largest_first(mut self) -> Vec<(f32, Vec<EpisodeId>)> {
        let ids: Vec<EpisodeId> = self.leads.keys().copied().collect();
        let mut groups: BTreeMap<EpisodeId, (f32, Vec<EpisodeId>)> = BTreeMap::new();
        for id in ids {
            let top = self.stands_for(id);
            groups.entry(top).or_insert((f32::MIN, Vec::new())).1.push(id);
        }
        for (id, cosine) in std::mem::take(&mut self.nearest) {
            let top = self.stands_for(id);
            if let Some((nearest, _)) = groups.get_mut(&top) {
                *nearest = nearest.max(cosine);
            }
        }
        let mut groups: Vec<(f32, Vec<EpisodeId>)> = groups.into_values().collect();
        for (_, ids) in &mut groups {
            ids.sort_by_key(|id| std::cmp::Reverse((self.created.get(id).copied(), *id)));
        }
        groups.sort_by(|(cosine, ids), (other_cosine, others)| {
            let by_size = others.len().cmp(&ids.len());
            by_size.then(other_cosine.total_cmp(cosine)).then(ids.cmp(others))
        });
        groups
    }
}
