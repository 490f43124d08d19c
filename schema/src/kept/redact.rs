//! How newer rules of redaction are brought to the copies. In go rules; out go copies whose rows have been through them, a part of
//! one at each call. What fails for now costs no copy.

use std::path::Path;

use super::open::{is_damaged, judged, opened_of_any};
use super::{KeptCopy, KeptKind, kept_copies, remove_copy};
use crate::backup::{is_any_being_made, is_being_made, open_as_it_is};
use crate::error::{OpenError, QueryError};
use crate::migrate::LATEST;
use crate::recovery::set_aside_files;
use crate::redaction::RedactionRules;
use crate::restore;
use crate::units::UnixMillis;
use crate::write::{copy_is_due, redact_in_copy};

/// How far the copies are that newer rules of redaction are brought to.
#[derive(Debug, Default)]
pub(crate) struct RedactedCopies {
    /// One was brought further, and more may be to do.
    pub(crate) more: bool,
    /// One is being made; once it is, it is rewritten as the others are.
    pub(crate) waits: bool,
    /// How many were removed.
    pub(crate) removed: u64,
    /// What kept the first of those from being rewritten that could not be now; they are as they were.
    pub(crate) failed: Option<QueryError>,
}

/// What came of a copy.
enum OfCopy {
    /// There is nothing to do, or nothing any more.
    Through,
    /// There may be more to do.
    Further,
    /// It can't be rewritten, now or ever.
    Unfit,
}

/// Brings `rules` to a part of the rows of a copy of ours that has not been through them. Where rows of the database were rewritten
/// (`unscrubbed`), copies of older versions are brought to this one first, and a copy that can't be rewritten goes: it holds what the
/// rows were. Only what was set aside stays, which may be all that is left of something, and what a newer version made, which knows
/// more rules. What fails for now costs no copy, and keeps none from its turn.
pub(crate) fn redact_copies(database: &Path, rules: &RedactionRules, unscrubbed: bool, now: UnixMillis) -> RedactedCopies {
    let mut done = RedactedCopies {
        waits: is_any_being_made(database),
        ..RedactedCopies::default()
    };
    if unscrubbed && let Err(error) = restore::give_up(database) {
        // A restore that does not count yet is begun anew.
        done.failed = Some(copies_failed(&error));
    }
    let listed = set_aside_files(database).and_then(|damaged| Ok((damaged, kept_copies(database)?)));
    let (damaged, copies) = match listed {
        Ok(listed) => listed,
        Err(error) => {
            done.failed.get_or_insert_with(|| copies_failed(&error));
            return done;
        }
    };
    for copy in copies {
        if is_being_made(&copy.path) {
            done.waits = true;
            continue;
        }
        let name = copy.path.to_string_lossy();
        let is_set_aside =
            copy.kind == KeptKind::SetAside || damaged.iter().any(|file| name.starts_with(&*file.to_string_lossy()));
        let outcome = redact_copy(database, &copy, rules, unscrubbed, now).and_then(|came| match came {
            OfCopy::Unfit if unscrubbed && !is_set_aside => {
                remove_copy(&copy.path)?;
                if copy.kind != KeptKind::Part {
                    tracing::warn!(
                        copy = %copy.path.display(),
                        "a copy of the memory is removed: secrets that were found in the memory may be in it, and it can't be rewritten"
                    );
                    done.removed += 1;
                }
                Ok(false)
            }
            OfCopy::Further => Ok(true),
            OfCopy::Through | OfCopy::Unfit => Ok(false),
        });
        match outcome {
            Ok(false) => {}
            Ok(true) => {
                done.more = true;
                return done;
            }
            Err(error) => {
                done.failed.get_or_insert_with(|| copies_failed(&error));
            }
        }
    }
    done
}

/// # Errors
/// What keeps the copy from being rewritten now.
fn redact_copy(
    database: &Path,
    copy: &KeptCopy,
    rules: &RedactionRules,
    unscrubbed: bool,
    now: UnixMillis,
) -> std::io::Result<OfCopy> {
    if matches!(copy.kind, KeptKind::Part | KeptKind::BeforeMigration(_)) {
        return Ok(OfCopy::Unfit);
    }
    let Some((version, db)) = opened_of_any(&copy.path)? else {
        return Ok(OfCopy::Unfit);
    };
    if version > LATEST || version < LATEST && !unscrubbed {
        return Ok(OfCopy::Through);
    }
    if version < LATEST {
        drop(db);
        return match restore::bring_to_this_version(database, &copy.path) {
            Ok(()) => Ok(OfCopy::Further),
            Err(_) if is_damaged(&copy.path)? => Ok(OfCopy::Unfit),
            Err(error) => Err(std::io::Error::other(format!("{}: {error}", copy.path.display()))),
        };
    }
    drop(db);
    let redact = || {
        let due = copy_is_due(&open_as_it_is(&copy.path)?, rules).map_err(OpenError::at(&copy.path, "read"))?;
        if due {
            redact_in_copy(&copy.path, rules, now).map_err(OpenError::at(&copy.path, "redact"))?;
        }
        Ok(due)
    };
    Ok(match judged(&copy.path, redact)? {
        Ok(true) => OfCopy::Further,
        Ok(false) => OfCopy::Through,
        Err(_) => OfCopy::Unfit,
    })
}

fn copies_failed(source: &std::io::Error) -> QueryError {
    QueryError::Invalid {
        act: "redact the copies of the database",
        detail: source.to_string(),
    }
}
