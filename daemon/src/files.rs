//! Private folders and atomic writes: folders 0700, files 0600, a reader never sees half a file.

use std::fs::Metadata;
use std::io::{Error, ErrorKind, Result, Write};
use std::path::{Path, PathBuf};

use remembrancer_hooks::places::create_private_folder;
use remembrancer_processor::Deadline;
pub(crate) use remembrancer_schema::means_gone;
use remembrancer_schema::{PARTING, is_written_in_place, part_file};
use walkdir::WalkDir;

use crate::system;

/// Makes `path` and what is missing above it, 0700; tightens a folder of ours that others can enter. It may be a link of the user's own
/// making.
///
/// # Errors
/// The file system's error, or why the folder is not used: another user's folder, another user's link, a folder that all share. Each
/// names the path.
pub(crate) fn private_folder(path: &Path) -> Result<()> {
    let is_new = match fs_err::symlink_metadata(path) {
        Ok(there) if there.is_symlink() => {
            refuse_others_link(path, &there)?;
            false
        }
        Ok(_) => false,
        Err(_) => {
            create_private_folder(path)
                .map_err(|error| Error::new(error.kind(), format!("cannot make {}: {error}", path.display())))?;
            true
        }
    };
    let folder = fs_err::metadata(path)?;
    if !folder.is_dir() {
        return Err(refused(path, "is no folder; move it away"));
    }
    refuse_others(path, &folder)?;
    let mode = system::mode(&folder);
    if mode & SHARED != 0 {
        return Err(refused(path, "is a folder that all users share; name one of your own"));
    }
    // A mask of the user's may have taken away from a new one what its owner needs.
    if mode & 0o077 != 0 || (is_new && mode & 0o700 != 0o700) {
        fs_err::set_permissions(path, system::permissions(0o700))?;
    }
    Ok(())
}

/// What the file at `path` holds. What is no file is refused: a pipe would be waited for without an end, and a device may have none.
///
/// # Errors
/// The file system's error, or what is there instead of a file; each names the path.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    match system::other_than_a_file(&fs_err::metadata(path)?) {
        None => fs_err::read(path),
        Some(what) => Err(Error::new(
            ErrorKind::InvalidInput,
            format!("{} is {what}, and no file; move it away", path.display()),
        )),
    }
}

/// As [`read`], as text.
///
/// # Errors
/// As [`read`]; where it is not UTF-8.
pub(crate) fn read_text(path: &Path) -> Result<String> {
    let not_text = |error: std::string::FromUtf8Error| Error::new(ErrorKind::InvalidData, format!("{}: {error}", path.display()));
    String::from_utf8(read(path)?).map_err(not_text)
}

/// Whether there is nothing at `path`: the system says so. Where it only can't tell, for want of permission or by an error of the disk,
/// what was there may be there still.
pub(crate) fn is_gone(path: &Path) -> bool {
    fs_err::metadata(path).is_err_and(|error| means_gone(&error))
}

/// The bit of folders in which everybody may make files, as `/tmp`.
const SHARED: u32 = 0o1000;

/// Makes all that lies below `folder`, which is private already, private as well: what was open to others is tightened. Returns how
/// much that was. A link is not followed.
///
/// # Errors
/// What there is another user's. It names the path and the remedy.
pub(crate) fn secure(folder: &Path) -> Result<usize> {
    let mut tightened = 0;
    for entry in WalkDir::new(folder).min_depth(1) {
        let Ok(entry) = entry else { continue };
        let (path, Ok(metadata)) = (entry.path(), entry.metadata()) else {
            continue;
        };
        if metadata.is_symlink() {
            refuse_others_link(path, &metadata)?;
            continue;
        }
        refuse_others(path, &metadata)?;
        let mode = system::mode(&metadata);
        if mode & 0o077 != 0 && !may_be_anybodys(&metadata) {
            match fs_err::set_permissions(path, system::permissions(mode & 0o700)) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => tightened += 1,
            }
        }
    }
    Ok(tightened)
}

/// Whether this is a file with a second name (a hard link): it may be anybody's. Its mode is none of ours to look at or to change: it is
/// replaced ([`part`]), and left as it is.
fn may_be_anybodys(metadata: &Metadata) -> bool {
    metadata.is_file() && system::names(metadata) > 1
}

/// Gives each file below `folder` that has a second name (a hard link: `cp -al` makes such a copy of the folder) a file of its own, so
/// that what is written there from now on reaches no other name. Returns how many there were. The `database` is not looked at, nor is
/// what nothing is written to; copies that an earlier one was killed at are removed. To be called by who holds the lock of the one
/// daemon.
///
/// # Errors
/// The file system's error, naming the path and the remedy; the file is then as it was.
pub(crate) fn part(folder: &Path, database: &Path) -> Result<usize> {
    let mut parted = 0;
    for entry in WalkDir::new(folder).min_depth(1).into_iter().flatten() {
        let path = entry.path();
        let Ok(metadata) = entry.metadata() else { continue };
        if !metadata.is_file() || is_written_in_place(path, database) {
            continue;
        }
        if path.as_os_str().to_string_lossy().ends_with(PARTING) {
            fs_err::remove_file(path)?;
        } else if shares_writes(path, &metadata) {
            part_file(path).map_err(|error| {
                let why = "has a second name (a hard link) and can't be given a file of its own; remove the other name";
                Error::new(error.kind(), format!("{} {why}: {error}", path.display()))
            })?;
            parted += 1;
        }
    }
    Ok(parted)
}

/// Whether what is written to this file, if it is one, changes what lies under another name.
pub(crate) fn shares_writes(path: &Path, metadata: &Metadata) -> bool {
    let name = path.as_os_str().to_string_lossy();
    metadata.is_file() && system::names(metadata) > 1 && !NEVER_WRITTEN.iter().any(|end| name.ends_with(end))
}

/// End the names of files that are never written to: locks, and the user's settings, which on some systems lie there, too.
const NEVER_WRITTEN: [&str; 2] = ["db.lock", "config.toml"];

/// What in `folder`, and the folder itself, others can reach, or its owner can't read and write; but for what [`make_private`] leaves as
/// it is, since it has a second name.
pub(crate) fn open_paths(folder: &Path) -> Vec<PathBuf> {
    let entries = WalkDir::new(folder).into_iter().flatten();
    let is_open = |entry: &walkdir::DirEntry| {
        let Ok(metadata) = entry.metadata() else { return false };
        let mode = system::mode(&metadata);
        let is_private = system::owner(&metadata) == system::user_id() && mode & 0o077 == 0 && lacks(&metadata) == 0;
        (metadata.is_dir() || metadata.is_file()) && !is_private && !may_be_anybodys(&metadata)
    };
    entries.filter(is_open).map(walkdir::DirEntry::into_path).collect()
}

/// What its owner may not do with a folder or a file, and must.
fn lacks(metadata: &Metadata) -> u32 {
    let needed = if metadata.is_dir() { 0o700 } else { 0o600 };
    needed & !system::mode(metadata)
}

/// Makes `folder` and all that lies below it the owner's alone, who can read and write it afterwards.
///
/// # Errors
/// As [`private_folder`] and [`secure`].
pub(crate) fn make_private(folder: &Path) -> Result<()> {
    give_to_owner(folder)?;
    private_folder(folder)?;
    secure(folder).map(drop)
}

/// Gives the owner what is lacking, a folder before what lies in it. What is another user's is left to [`secure`], which names it.
fn give_to_owner(path: &Path) -> Result<()> {
    let metadata = fs_err::symlink_metadata(path)?;
    let is_of_interest = metadata.is_dir() || metadata.is_file();
    if !is_of_interest || may_be_anybodys(&metadata) || system::owner(&metadata) != system::user_id() {
        return Ok(());
    }
    let lacking = lacks(&metadata);
    if lacking != 0 {
        fs_err::set_permissions(path, system::permissions(system::mode(&metadata) | lacking))?;
    }
    if metadata.is_dir() {
        for entry in fs_err::read_dir(path)? {
            give_to_owner(&entry?.path())?;
        }
    }
    Ok(())
}

fn refuse_others(path: &Path, metadata: &Metadata) -> Result<()> {
    let owner = system::owner(metadata);
    if owner == system::user_id() {
        return Ok(());
    }
    Err(refused(
        path,
        &format!("belongs to another user ({owner}); run this as that user, or make it your own"),
    ))
}

/// A link that another user made leads where that user wants. The system's are trusted.
fn refuse_others_link(path: &Path, link: &Metadata) -> Result<()> {
    let owner = system::owner(link);
    if [system::user_id(), 0].contains(&owner) {
        return Ok(());
    }
    Err(refused(
        path,
        &format!("is a link that another user made ({owner}); remove it"),
    ))
}

/// Why a folder or a file is not used.
#[derive(Debug, thiserror::Error)]
#[error("{} {why}", path.display())]
struct NotOurs {
    path: PathBuf,
    why: String,
}

fn refused(path: &Path, why: &str) -> Error {
    let not_ours = NotOurs {
        path: path.to_owned(),
        why: why.to_owned(),
    };
    Error::new(ErrorKind::PermissionDenied, not_ours)
}

/// Whether an error says that something is not the user's own, and not that the file system failed.
pub(crate) fn is_not_ours(error: &Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.downcast_ref::<NotOurs>().is_some())
}

/// Writes `text` to `path` by way of a temporary name and a rename, 0600.
///
/// Nothing appears under `path` after the `deadline` has passed: a file that came too late would be taken for the
/// next prompt's; and once it has passed, nothing is begun. Returns whether the file was written. A failed write leaves what was there before, and no remains.
///
/// # Errors
/// The file system's error, naming the path.
pub(crate) fn write_atomically(path: &Path, text: &str, deadline: Deadline) -> Result<bool> {
    if deadline.has_passed() {
        return Ok(false);
    }
    let (temporary, written) = write_new(path, text);
    let written = written.and_then(|()| {
        if deadline.has_passed() {
            return Ok(false);
        }
        fs_err::rename(&temporary, path).map(|()| true)
    });
    if !matches!(written, Ok(true)) {
        // Nothing to do about a failure to remove: the name is unique and the folder is pruned.
        drop(fs_err::remove_file(&temporary));
    }
    written
}

/// Names that are tried for a temporary file: one may be left of a process that had this one's id.
const TEMPORARY_NAMES: usize = 4;

/// Writes a new file beside `path`, and never into one that is there.
fn write_new(path: &Path, text: &str) -> (PathBuf, Result<()>) {
    let mut temporary = temporary_name(path);
    for _ in 1..TEMPORARY_NAMES {
        if temporary.symlink_metadata().is_err() {
            break;
        }
        temporary = temporary_name(path);
    }
    let made = system::opening(0o600).write(true).create_new(true).open(&temporary);
    let written = made.and_then(|mut file| file.write_all(text.as_bytes()));
    (temporary, written)
}

fn temporary_name(path: &Path) -> PathBuf {
    static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.{number}.tmp", std::process::id()))
}

#[cfg(test)]
mod tests;
