//! One file of a project: judged, and edited by way of a [`Change`]. What is noted of it comes in; the change goes out, or why it
//! is left alone.

use std::ops::Range;
use std::path::{Path, PathBuf};

use remembrancer_schema::InstructionFile;

use super::block::{Damage, Mark, find, put, take};
use super::{first_of, git, hosts};
use crate::install::{self, Change, SettingsFile};

/// Why a file is left as it is. One line: what, where, and what to do.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    /// It can't be read, or must not be written.
    #[error(transparent)]
    File(#[from] install::Refusal),
    /// A link on the way from the project's folder to the file: a repository may make it lead anywhere.
    #[error("{path} is a link, which is not followed; name the file that it leads to", path = path.display())]
    Link { path: PathBuf },
    /// Git tracks it, and nobody asked for that.
    #[error("{path} is tracked by git, so that others would get what is written there; `remembrancer instruct --tracked` allows it", path = path.display())]
    Tracked { path: PathBuf },
    /// It can't be told what is ours.
    #[error("{path}: {damage}; correct it there", path = path.display())]
    Damaged { path: PathBuf, damage: Damage },
    /// The user, or git, took it out.
    #[error("{path} holds nothing of Remembrancer any more; `remembrancer instruct` puts it back, `remembrancer instruct --remove` ends it", path = path.display())]
    TakenOut { path: PathBuf },
}

/// By what ours is known again in a file.
fn mark(file: &InstructionFile) -> Mark<'_> {
    file.line.as_deref().map_or(Mark::Fence, Mark::Line)
}

/// Whether ours stands in a file of the user `uid`.
///
/// # Errors
/// Why that can't be told.
pub(crate) fn stands(file: &InstructionFile, uid: u32) -> Result<bool, Refusal> {
    Ok(found(file, read(file, uid)?.text().unwrap_or_default())?.is_some())
}

/// Plans to put what `files`, which are one file of the user `uid`, are to hold into it for the first time. `None`: all of it is
/// there.
///
/// # Errors
/// Why the file is left as it is.
pub(crate) fn insert(files: &[InstructionFile], uid: u32) -> Result<Option<Change>, Refusal> {
    let file = &files[0];
    let read = read(file, uid)?;
    if !file.tracked && git::tracks(Path::new(&file.folder), Path::new(&file.path)) {
        return Err(Refusal::Tracked {
            path: file.path.clone().into(),
        });
    }
    let mut text = read.text().unwrap_or_else(|| head(file)).to_owned();
    for file in files {
        if found(file, &text)?.is_none() {
            text = put(&text, mark(file), &first_of(file)).map_err(|damage| damaged(file, damage))?;
        }
    }
    Ok(read.change_to(Some(text)))
}

/// Plans to have the block in a file of the user `uid` be `block`. `None`: it is already.
///
/// # Errors
/// Why the file is left as it is.
pub(crate) fn update(file: &InstructionFile, block: &str, uid: u32) -> Result<Option<Change>, Refusal> {
    let read = read(file, uid)?;
    let text = read.text().unwrap_or_default();
    if found(file, text)?.is_none() {
        return Err(Refusal::TakenOut {
            path: file.path.clone().into(),
        });
    }
    let after = put(text, mark(file), block).map_err(|damage| damaged(file, damage))?;
    Ok(read.change_to(Some(after)))
}

/// Plans to take all that `files`, which are one file of the user `uid`, hold out of it, and to remove it where it was made for
/// that and holds nothing else. `None`: nothing of ours is there.
///
/// # Errors
/// Why the file is left as it is.
pub(crate) fn remove(files: &[InstructionFile], uid: u32) -> Result<Option<Change>, Refusal> {
    let read = read(&files[0], uid)?;
    let Some(before) = read.text() else { return Ok(None) };
    let mut text = before.to_owned();
    for file in files {
        let taken = take(&text, mark(file)).map_err(|damage| damaged(file, damage))?;
        text = taken.unwrap_or(text);
    }
    let was_made = files.iter().any(|file| file.made.is_some());
    let goes = text != before && was_made && (text.is_empty() || text == head(&files[0]));
    Ok(read.change_to((!goes).then_some(text)))
}

/// Removes the folders that were made for a file, as far as they are empty now.
pub(crate) fn remove_made_folders(file: &InstructionFile) {
    let Some(made) = &file.made else { return };
    let folders = Path::new(&file.path).ancestors().skip(1);
    for folder in folders.take_while(|folder| folder.starts_with(made)) {
        // One that holds something stays, and so do those above it.
        fs_err::remove_dir(folder).ok();
    }
}

/// The topmost of what has to be made for a file; `None` where it is there.
pub(crate) fn topmost_missing(path: &Path) -> Option<PathBuf> {
    let missing = path.ancestors().take_while(|ancestor| ancestor.symlink_metadata().is_err());
    missing.last().map(Path::to_owned)
}

fn head(file: &InstructionFile) -> &'static str {
    let relative = Path::new(&file.path).strip_prefix(&file.folder);
    relative.ok().and_then(Path::to_str).map_or("", hosts::head_of)
}

fn found(file: &InstructionFile, text: &str) -> Result<Option<Range<usize>>, Refusal> {
    find(text, mark(file)).map_err(|damage| damaged(file, damage))
}

fn damaged(file: &InstructionFile, damage: Damage) -> Refusal {
    Refusal::Damaged {
        path: file.path.clone().into(),
        damage,
    }
}

fn read(file: &InstructionFile, uid: u32) -> Result<SettingsFile, Refusal> {
    let (path, folder) = (Path::new(&file.path), Path::new(&file.folder));
    // Git's own list of what to ignore may lie elsewhere.
    let on_the_way = path.ancestors().take_while(|ancestor| ancestor.starts_with(folder));
    match on_the_way.into_iter().find(|ancestor| ancestor.is_symlink()) {
        Some(link) => Err(Refusal::Link { path: link.to_owned() }),
        None => Ok(SettingsFile::read(path, uid)?),
    }
}

#[cfg(test)]
mod tests;
