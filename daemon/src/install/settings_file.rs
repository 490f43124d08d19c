//! One file that is to be edited: read with care, judged, kept beside, replaced in one step. A path comes in; a [`Change`] or the
//! reason to leave the file alone goes out.

use std::fs::Metadata;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::text::Problem;
use crate::{files, system};

/// The mode of a file that was not there before: settings may hold secrets.
const NEW_FILE_MODE: u32 = 0o600;

/// What is put behind a file's name for the file as it was.
const BACKUP_SUFFIX: &str = ".before-remembrancer";

/// Why a file is left as it is. One line: what, where, and what to do.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    /// The text is not what the reader of the file expects.
    #[error("{path}:{problem}; correct it there, then run this again", path = path.display())]
    Invalid { path: PathBuf, problem: Problem },
    /// A link to nothing.
    #[error("{path} is a link to a file that is not there; remove the link or make the file, then run this again", path = path.display())]
    Dangling { path: PathBuf },
    /// A folder, a pipe, a device.
    #[error("{path} is not a file; move it away, then run this again", path = path.display())]
    NotAFile { path: PathBuf },
    /// The file, or the one that it links to, is not the user's own.
    #[error("{path} belongs to another user ({owner}); run this as that user, or make the file your own", path = path.display())]
    AnotherOwner { path: PathBuf, owner: u32 },
    /// The file, or the one that it links to, is write-protected.
    #[error("{path} is read-only; `chmod u+w` it, or edit it where it is made, then run this again", path = path.display())]
    ReadOnly { path: PathBuf },
    /// Somebody wrote meanwhile.
    #[error("{path} was changed by another program meanwhile; run this again", path = path.display())]
    ChangedMeanwhile { path: PathBuf },
    /// The user has made the file their own.
    #[error("{path} was edited by hand; {remedy}", path = path.display())]
    Edited { path: PathBuf, remedy: String },
    /// The file system's word.
    #[error("{0}; set that right, then run this again")]
    Io(#[from] std::io::Error),
}

/// A file as it was read.
#[derive(Debug)]
pub(crate) struct SettingsFile {
    /// Where its reader looks for it.
    path: PathBuf,
    /// Where it lies: another place where `path` is a link.
    real: PathBuf,
    text: Option<String>,
    mode: u32,
    uid: u32,
}

impl SettingsFile {
    /// Reads the file at `path`, which may be missing, for the user `uid`.
    ///
    /// # Errors
    /// Where it can't be read, or must not be written.
    pub(crate) fn read(path: &Path, uid: u32) -> Result<Self, Refusal> {
        let missing = |error: &std::io::Error| error.kind() == ErrorKind::NotFound;
        let path = path.to_owned();
        match fs_err::symlink_metadata(&path) {
            Err(error) if missing(&error) => {
                return Ok(Self {
                    real: path.clone(),
                    path,
                    text: None,
                    mode: NEW_FILE_MODE,
                    uid,
                });
            }
            Err(error) => return Err(error.into()),
            Ok(there) => refuse_others_link(&path, &there, uid)?,
        }
        let real = match fs_err::canonicalize(&path) {
            Err(error) if missing(&error) => return Err(Refusal::Dangling { path }),
            other => other?,
        };
        let metadata = fs_err::metadata(&real)?;
        if !metadata.is_file() {
            return Err(Refusal::NotAFile { path: real });
        }
        let owner = system::owner(&metadata);
        if owner != uid {
            return Err(Refusal::AnotherOwner { path: real, owner });
        }
        if system::mode(&metadata) & 0o200 == 0 {
            return Err(Refusal::ReadOnly { path: real });
        }
        let text = read_text(&path, &real)?;
        Ok(Self {
            path,
            real,
            text: Some(text),
            mode: system::mode(&metadata),
            uid,
        })
    }

    /// What it holds; `None` where there is no file.
    pub(crate) fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// What it held before the first change of ours; `None` where that was not kept.
    pub(super) fn backup(&self) -> Option<String> {
        let path = self.backup_path();
        let is_ours = fs_err::symlink_metadata(&path).is_ok_and(|there| there.is_file());
        is_ours.then(|| fs_err::read_to_string(path).ok()).flatten()
    }

    pub(super) fn invalid(&self, problem: Problem) -> Refusal {
        Refusal::Invalid {
            path: self.path.clone(),
            problem,
        }
    }

    /// The change to another text, or to no file; `None` where it is that already.
    pub(crate) fn change_to(self, after: Option<String>) -> Option<Change> {
        (self.text != after).then_some(Change {
            file: self,
            after,
            keeps_original: false,
            folders: 0,
        })
    }

    /// Keeps what the file holds beside it, for its owner alone. One that was kept before stays as it is.
    fn keep_original(&self) -> Result<(), Refusal> {
        let Some(text) = &self.text else { return Ok(()) };
        let path = self.backup_path();
        if path.is_symlink() {
            return Err(Refusal::NotAFile { path });
        }
        let opened = system::opening(self.mode & 0o600).write(true).create_new(true).open(path);
        match opened {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            opened => Ok(opened?.write_all(text.as_bytes())?),
        }
    }

    fn backup_path(&self) -> PathBuf {
        let mut name = self.path.file_name().unwrap_or_default().to_owned();
        name.push(BACKUP_SUFFIX);
        self.path.with_file_name(name)
    }
}

/// A link that another user made leads where that user wants. The user's own, as to a repository of settings, is followed, and so are
/// the system's.
fn refuse_others_link(path: &Path, there: &Metadata, uid: u32) -> Result<(), Refusal> {
    let owner = system::owner(there);
    if there.is_symlink() && ![uid, 0].contains(&owner) {
        return Err(Refusal::AnotherOwner {
            path: path.to_owned(),
            owner,
        });
    }
    Ok(())
}

fn read_text(path: &Path, real: &Path) -> Result<String, Refusal> {
    String::from_utf8(files::read(real)?).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let text = String::from_utf8_lossy(&error.as_bytes()[..valid]).into_owned();
        Refusal::Invalid {
            path: path.to_owned(),
            problem: Problem::at(&text, valid, "not UTF-8"),
        }
    })
}

/// A file and what is to come of it.
#[derive(Debug)]
pub(crate) struct Change {
    file: SettingsFile,
    after: Option<String>,
    keeps_original: bool,
    folders: usize,
}

impl Change {
    /// The same change, which keeps the file as it was beside it, unless that was done before.
    pub(super) fn keeping_original(self) -> Self {
        Self {
            keeps_original: true,
            ..self
        }
    }

    /// The same change; where it removes the file, so many folders above it go with it if nothing else is in them.
    pub(super) fn with_folders(self, folders: usize) -> Self {
        Self { folders, ..self }
    }

    /// The change to another text still, or to no file; `None` where that is what the file holds.
    pub(super) fn amended(self, after: Option<String>) -> Option<Self> {
        (self.file.text != after).then_some(Self { after, ..self })
    }

    /// What the file held before the first change of ours; `None` where that was not kept.
    pub(super) fn original(&self) -> Option<String> {
        self.file.backup()
    }

    /// The file's place, where its reader looks for it.
    pub(crate) fn path(&self) -> &Path {
        &self.file.path
    }

    /// What it holds now; `None` where there is no file.
    pub(crate) fn before(&self) -> Option<&str> {
        self.file.text()
    }

    /// What it is to hold; `None` where it is to go.
    pub(crate) fn after(&self) -> Option<&str> {
        self.after.as_deref()
    }

    /// Makes the change in one step. A kept original that the file has come to equal again goes.
    ///
    /// # Errors
    /// Where the file is not what it was when it was read, or can't be written. It is then as it was.
    pub(crate) fn apply(&self) -> Result<(), Refusal> {
        let file = &self.file;
        let now = SettingsFile::read(&file.path, file.uid)?;
        if now.text != file.text || now.real != file.real {
            return Err(Refusal::ChangedMeanwhile { path: file.path.clone() });
        }
        let Some(after) = &self.after else {
            return self.remove();
        };
        if self.keeps_original {
            file.keep_original()?;
        }
        replace(&file.real, after, file.mode)?;
        if file.backup().as_ref() == Some(after) {
            fs_err::remove_file(file.backup_path())?;
        }
        Ok(())
    }

    fn remove(&self) -> Result<(), Refusal> {
        fs_err::remove_file(&self.file.path)?;
        for folder in self.file.path.ancestors().skip(1).take(self.folders) {
            // A folder that holds something stays, and so do those above it.
            fs_err::remove_dir(folder).ok();
        }
        Ok(())
    }
}

/// Replaces the file at `path` by one with `text` and `mode`, by way of a temporary one beside it whose name nobody can foretell. A link
/// at `path` is replaced, and not followed.
///
/// # Errors
/// The file system's error, naming the path.
pub(crate) fn replace(path: &Path, text: &str, mode: u32) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    fs_err::create_dir_all(folder)?;
    let named = |error: std::io::Error| std::io::Error::new(error.kind(), format!("cannot write {}: {error}", path.display()));
    let mut temporary = tempfile::NamedTempFile::new_in(folder).map_err(named)?;
    temporary.write_all(text.as_bytes()).map_err(named)?;
    temporary
        .as_file()
        .set_permissions(system::permissions(mode))
        .map_err(named)?;
    temporary.as_file().sync_all().map_err(named)?;
    temporary.persist(path).map_err(|error| named(error.error))?;
    Ok(())
}

#[cfg(test)]
mod tests;
