//! How what is forgotten leaves the copies. In goes what is unwanted; out go rewritten copies, or an error where one can't be rewritten
//! now. What fails for now, on a full disk or for want of descriptors, costs no copy.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use super::open::{judged, opened};
use super::{KeptCopy, KeptKind, kept_copies, remove_copy};
use crate::backup::{is_any_being_made, is_being_made};
use crate::error::OpenError;
use crate::recovery::set_aside_files;
use crate::restore;
use crate::write::{Unwanted, forget_in_copy};

/// What stays though what is unwanted may be in it, where it can't be rewritten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spared {
    /// Nothing does.
    Nothing,
    /// What a restore or the user set aside.
    Replaced,
    /// All that was set aside, damaged files among it.
    SetAside,
}

/// Has what is unwanted leave every copy of ours: a copy of this version is rewritten, and one that can't be rewritten goes, but for
/// what is spared. Damaged files are never rewritten. What fails for now, on a full disk or for want of descriptors, costs no copy.
/// Gives whether all are done: a copy that is being made may hold what is unwanted, and is done once it is whole.
///
/// # Errors
/// Of the first copy that could not be rewritten now, or not be removed; the others are done all the same. A folder that can't be listed
/// may hold copies: it is an error, too.
pub(crate) fn forget_in_copies(database: &Path, unwanted: &Unwanted, spared: Spared) -> io::Result<bool> {
    let waits = is_any_being_made(database);
    // A restore that does not count yet is begun anew.
    let mut outcome = restore::give_up(database);
    let mut seen = BTreeSet::new();
    // Another process may give its copy its name meanwhile.
    loop {
        let damaged = set_aside_files(database)?;
        let mut new = kept_copies(database)?;
        new.retain(|copy| seen.insert(copy.path.clone()) && !is_being_made(&copy.path));
        if new.is_empty() {
            return outcome.map(|()| !waits);
        }
        for copy in new {
            outcome = outcome.and(forget_in(&copy, unwanted, spared, &damaged));
        }
    }
}

/// The same in one copy, beside which lie the files at `damaged`.
fn forget_in(copy: &KeptCopy, unwanted: &Unwanted, spared: Spared, damaged: &[PathBuf]) -> io::Result<()> {
    let may_be_rewritten = !unwanted.all && !matches!(copy.kind, KeptKind::Part | KeptKind::BeforeMigration(_));
    if may_be_rewritten && rewrite(&copy.path, unwanted)? {
        return Ok(());
    }
    let name = copy.path.to_string_lossy();
    let is_of_damaged = || damaged.iter().any(|file| name.starts_with(&*file.to_string_lossy()));
    let stays = match spared {
        Spared::Nothing => false,
        Spared::Replaced => copy.kind == KeptKind::SetAside,
        Spared::SetAside => copy.kind == KeptKind::SetAside || is_of_damaged(),
    };
    if stays { Ok(()) } else { remove_copy(&copy.path) }
}

/// Has what is unwanted leave the copy at `path`; `false` where it can't be rewritten at all: it is of another version, or no whole
/// database.
///
/// # Errors
/// What keeps it from being rewritten now.
fn rewrite(path: &Path, unwanted: &Unwanted) -> io::Result<bool> {
    if opened(path)?.is_none() {
        return Ok(false);
    }
    let forget = || forget_in_copy(path, unwanted).map_err(OpenError::at(path, "rewrite"));
    Ok(judged(path, forget)?.is_ok())
}
