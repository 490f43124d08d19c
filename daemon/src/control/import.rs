//! Lines of an export, stored here. In go lines, out come counts by what became of each, and what is wrong with those that can't be
//! read, by their place. A line at fault keeps no other from being stored; what fits is stored in one transaction.

mod line;

use std::collections::BTreeMap;

use remembrancer_schema::{ImportOutcome, StoredEpisode, UnixMillis, Writer};
use serde_json::{Value, json};

use super::ControlError;
use line::LineError;

/// Stores the episodes of `lines` that are new here; with `dry_run`, says what would become of them.
///
/// # Errors
/// The store's error: nothing of `lines` is stored then.
pub(crate) fn import(writer: &mut Writer, lines: &[String], now: UnixMillis, dry_run: bool) -> Result<Value, ControlError> {
    let mut episodes: Vec<StoredEpisode> = Vec::with_capacity(lines.len());
    let mut problems: Vec<Value> = Vec::new();
    let mut shared = 0;
    for (number, text) in lines.iter().enumerate() {
        match line::read(text) {
            Ok(episode) => episodes.push(episode),
            Err(LineError::Shared) => shared += 1,
            Err(why) => problems.push(json!({"line": number, "why": why.to_string()})),
        }
    }
    let mut counts: BTreeMap<&str, u64> = BTreeMap::from([(SHARED, shared)]);
    for outcome in writer.import(&episodes, now, dry_run)? {
        *counts.entry(name(outcome)).or_default() += 1;
    }
    let mut told = json!({"bad": problems.len(), "problems": problems});
    for outcome in NAMES {
        told[outcome] = counts.get(outcome).copied().unwrap_or_default().into();
    }
    Ok(told)
}

/// What becomes of a line that can be read, by name.
pub(crate) const NAMES: [&str; 6] = ["added", "known", "forgotten", "retired", "excluded", SHARED];
/// Others shared it: it is left out.
const SHARED: &str = "shared";

fn name(outcome: ImportOutcome) -> &'static str {
    match outcome {
        ImportOutcome::Added => NAMES[0],
        ImportOutcome::Known => NAMES[1],
        ImportOutcome::Forgotten => NAMES[2],
        ImportOutcome::Retired => NAMES[3],
        ImportOutcome::Excluded => NAMES[4],
    }
}
