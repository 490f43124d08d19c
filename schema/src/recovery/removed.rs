//! Turns that are not to come back, by the rows of a damaged file: what the user forgot (`tombstones`) and what retention took away
//! (`retired_turns`) have the same columns, and are told apart by the tree in which a row stands. In go rows with their pages, out
//! come two lists. A row whose tree can't be told was forgotten, as far as anybody knows: that is the stronger of the two.

use std::collections::HashSet;

use super::cells::{self, Row, Value};
use super::pages::Pages;
use super::salvage::LEAST_TIME;
use crate::ids::TurnUid;

/// The turns of which a row says that they are not to come back, and when that was, in milliseconds since 1970.
type Turns = Vec<(TurnUid, i64)>;

/// The rows, as they are found.
#[derive(Default)]
pub(super) struct Removed {
    turns: Vec<(TurnUid, i64, u32)>,
    /// The first pages of the two trees, where the file's list of tables can be read.
    forgotten: Vec<u32>,
    retired: Vec<u32>,
}

impl Removed {
    /// Keeps a row of the page `number`, if it is one of these or says where they begin.
    pub(super) fn take(&mut self, row: &Row, number: u32) {
        use Value::{Blob, Integer, Text};
        match (row.id, row.values.as_slice()) {
            (None, [Blob(turn), Integer(at)]) if *at >= LEAST_TIME => {
                let turn = <[u8; 16]>::try_from(turn.as_slice()).ok();
                self.turns.extend(turn.map(|turn| (TurnUid(turn), *at, number)));
            }
            (Some(_), [Text(kind), Text(name), Text(_), Integer(root), Text(_)]) if kind == "table" => {
                let root = u32::try_from(*root).ok();
                match name.as_str() {
                    "tombstones" => self.forgotten.extend(root),
                    "retired_turns" => self.retired.extend(root),
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// What was forgotten, and what was retired.
    pub(super) fn told_apart(self, pages: &Pages) -> (Turns, Turns) {
        let reached = |roots: &[u32]| -> HashSet<u32> { roots.iter().flat_map(|root| cells::tree(pages, *root)).collect() };
        let (forgotten, retired) = (reached(&self.forgotten), reached(&self.retired));
        let mut apart = (Vec::new(), Vec::new());
        for (turn, at, page) in self.turns {
            if retired.contains(&page) && !forgotten.contains(&page) {
                apart.1.push((turn, at));
            } else {
                apart.0.push((turn, at));
            }
        }
        apart
    }
}
