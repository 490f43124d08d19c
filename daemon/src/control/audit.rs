//! What of the memory a person may want to mend: copies, texts of our own, what looks like a secret, what was never of use, what takes
//! the room. In go a [`Reader`] and a deadline, out comes JSON: a list of findings, each with the command that mends it, and how much
//! was looked at. Nothing is changed, and no secret is told: kinds and counts alone.
//!
//! It reads on a connection of its own, a page at a time, so that neither prompts nor the log's folding wait for it. What the deadline
//! leaves undone is named as not finished; what was found by then is told.

mod finding;
mod near;
mod texts;

use std::time::Duration;

use remembrancer_processor::Deadline;
use remembrancer_processor::ingest::{RULES, redact, redact_folder};
use remembrancer_schema::{Duplicates, EpisodeId, Listed, ProjectSize, QueryError, Reader, UnixMillis, Usage};
use serde_json::{Value, json};

use super::ControlError;
use crate::clock;
use crate::install::quoted;
use finding::{Finding, Shown};
use near::Near;
use texts::Texts;

/// Items of a finding that are told; all are counted.
pub(crate) const TOLD: usize = 10;
/// Copies that are named beside the one that stays.
const COPIES: usize = 5;
/// Younger than this, in milliseconds, what was never shown has had no time to be: 90 days.
const OLD: i64 = 90 * 24 * 3_600_000;
/// Shown as often as this and never used, an episode is more likely noise than memory.
const OFTEN: u64 = 5;

/// How far one part of an audit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Step {
    /// What it looks at.
    pub(crate) what: &'static str,
    /// How much is done.
    pub(crate) done: u64,
    /// Of how much.
    pub(crate) of: u64,
}

/// Looks at the whole memory, for as long as `within`, and tells `tell` how far it is.
///
/// # Errors
/// The store's error, but for the deadline's.
pub(crate) fn audit(reader: &Reader, within: Duration, tell: &mut dyn FnMut(Step)) -> Result<Value, ControlError> {
    let stats = reader.stats()?;
    let deadline = Deadline::after(within);
    reader.set_deadline_check(Some(Box::new(move || deadline.has_passed())));
    let gathered = gather(reader, deadline, stats.episodes, tell);
    // What was found is shown though the time is up: a few episodes, read by their ids.
    reader.set_deadline_check(None);
    let gathered = gathered?;
    let findings = gathered.findings(&Shown { reader })?;
    let unfinished: Vec<&str> = findings
        .iter()
        .filter(|finding| !finding.complete)
        .map(|finding| finding.kind)
        .collect();
    Ok(json!({
        "looked_at": {
            "episodes": stats.episodes,
            "texts": gathered.texts.looked,
            "vectors": gathered.near.codes,
            "complete": unfinished.is_empty(),
            "unfinished": unfinished,
            "within_seconds": within.as_secs_f64(),
        },
        "findings": findings.iter().map(Finding::json).collect::<Vec<_>>(),
    }))
}

/// What was found, as ids and counts; `None` where the deadline came first.
struct Gathered {
    copies: Option<Duplicates>,
    never_shown: Option<Listed>,
    in_vain: Option<Listed>,
    most_shown: Option<Vec<Usage>>,
    most_used: Option<Vec<Usage>>,
    muted: Option<Listed>,
    sizes: Option<Vec<ProjectSize>>,
    near: Near,
    texts: Texts,
    /// Older texts wait to be rewritten by today's rules.
    is_behind: bool,
}

/// Looks at everything, what is quick first.
fn gather(reader: &Reader, deadline: Deadline, episodes: u64, tell: &mut dyn FnMut(Step)) -> Result<Gathered, ControlError> {
    let is_behind = in_time(reader.redaction())?.is_some_and(|state| state.is_behind(RULES.version));
    let muted = in_time(reader.muted(TOLD))?;
    let never_shown = in_time(reader.never_shown(UnixMillis(clock::now().0 - OLD), TOLD))?;
    let in_vain = in_time(reader.shown_in_vain(OFTEN, TOLD))?;
    let most_shown = in_time(reader.most_shown(TOLD))?;
    let most_used = in_time(reader.most_used(TOLD))?;
    let copies = in_time(reader.duplicates(TOLD, COPIES + 1))?;
    let sizes = in_time(reader.sizes_of_projects())?;
    let told_already = copies.as_ref().map_or(&[][..], |copies| &copies.copies);
    // Half of what is left for each of the two that take long.
    let near = near::find(reader, told_already, Deadline::after(deadline.remaining() / 2), tell)?;
    let texts = texts::look(reader, deadline, episodes, tell)?;
    Ok(Gathered {
        copies,
        never_shown,
        in_vain,
        most_shown,
        most_used,
        muted,
        sizes,
        near,
        texts,
        is_behind,
    })
}

impl Gathered {
    fn findings(&self, shown: &Shown<'_>) -> Result<Vec<Finding>, ControlError> {
        let mut findings = vec![exact(shown, self.copies.as_ref())?, near::finding(shown, &self.near)?];
        findings.extend(self.texts.findings(shown, self.is_behind)?);
        findings.push(never_shown(shown, self.never_shown.as_ref())?);
        findings.push(listed(shown, "shown-in-vain", self.in_vain.as_ref(), "mute")?);
        findings.push(most(shown, "most-shown", self.most_shown.as_deref(), "mute")?);
        findings.push(most(shown, "most-used", self.most_used.as_deref(), "boost")?);
        findings.push(listed(shown, "muted", self.muted.as_ref(), "show")?);
        findings.push(sizes(self.sizes.as_deref()));
        Ok(findings)
    }
}

/// What a query gave; `None` where the deadline ended it.
fn in_time<T>(queried: Result<T, QueryError>) -> Result<Option<T>, ControlError> {
    match queried {
        Ok(found) => Ok(Some(found)),
        Err(QueryError::Interrupted { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// `remembrancer forget` for each of these ids.
fn forget_all(ids: &[String]) -> String {
    let commands: Vec<String> = ids.iter().map(|id| format!("remembrancer forget {id}")).collect();
    commands.join(" && ")
}

fn exact(shown: &Shown<'_>, found: Option<&Duplicates>) -> Result<Finding, ControlError> {
    let mut finding = Finding::new("exact-duplicates", found.is_some());
    if let Some(found) = found {
        finding.count = found.texts;
        finding.surplus = Some(found.copies.len() as u64);
        for ids in &found.most {
            finding.items.extend(shown.with_copies(ids, None)?);
        }
    }
    Ok(finding)
}

fn never_shown(shown: &Shown<'_>, found: Option<&Listed>) -> Result<Finding, ControlError> {
    let mut finding = listed(shown, "never-recalled", found, "forget")?;
    if finding.count > 0 {
        finding.mend = Some("remembrancer config edit: with retention.max_size, what was never used leaves first".to_owned());
    }
    Ok(finding)
}

/// What is listed, each mended by `remembrancer COMMAND ID`.
fn listed(shown: &Shown<'_>, kind: &'static str, found: Option<&Listed>, command: &str) -> Result<Finding, ControlError> {
    let mut finding = Finding::new(kind, found.is_some());
    if let Some(found) = found {
        finding.count = found.count;
        finding.items = shown.items(&found.first, |_| Value::Null, command)?;
    }
    Ok(finding)
}

fn most(shown: &Shown<'_>, kind: &'static str, found: Option<&[Usage]>, command: &str) -> Result<Finding, ControlError> {
    let mut finding = Finding::new(kind, found.is_some());
    let found = found.unwrap_or_default();
    let ids: Vec<EpisodeId> = found.iter().map(|usage| usage.episode).collect();
    let counts = |id| {
        let usage = found.iter().find(|usage| usage.episode == id);
        usage.map_or(Value::Null, |usage| json!({"shown": usage.shown, "used": usage.used}))
    };
    finding.count = found.len() as u64;
    finding.items = shown.items(&ids, counts, command)?;
    Ok(finding)
}

fn sizes(found: Option<&[ProjectSize]>) -> Finding {
    let mut finding = Finding::new("sizes", found.is_some());
    let found = found.unwrap_or_default();
    finding.count = found.len() as u64;
    finding.bytes = Some(found.iter().map(|project| project.bytes).sum());
    let item = |project: &ProjectSize| {
        let root = project.root.as_deref().map(redact_folder);
        json!({
            "project": project.name.as_deref().map(redact),
            "root": root,
            "episodes": project.episodes,
            "bytes": project.bytes,
            "mend": root.map(|root| format!("remembrancer forget --project {} --dry-run", quoted(&root))),
        })
    };
    finding.items = found.iter().take(TOLD).map(item).collect();
    finding
}

#[cfg(test)]
mod tests;
