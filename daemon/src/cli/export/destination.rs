//! Where what is exported goes: standard output, or a file that is whole or not there. What writes the lines comes in.

use std::io::{BufWriter, ErrorKind, Write};
use std::path::Path;

use crate::cli::error::{CliError, Kind};
use crate::system;

/// Why an export ended early.
pub(in crate::cli) enum Failed {
    /// What is exported could not be read.
    Read(CliError),
    /// It could not be written.
    Write(std::io::Error),
}

/// Has `write` write to standard output; `None` where its reader went away, who has read enough then.
///
/// # Errors
/// What `write` says; where it can't be written.
pub(in crate::cli) fn to_stdout<T>(write: impl FnOnce(&mut dyn Write) -> Result<T, Failed>) -> Result<Option<T>, CliError> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    let done = write(&mut out).and_then(|done| {
        out.flush().map_err(Failed::Write)?;
        Ok(done)
    });
    match done {
        Ok(done) => Ok(Some(done)),
        Err(Failed::Write(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(None),
        Err(Failed::Write(error)) => Err(CliError::new(
            Kind::Failed,
            format!("cannot write to standard output: {error}"),
        )),
        Err(Failed::Read(error)) => Err(error),
    }
}

/// Has `write` write a new file of mode 0600; one that is there is replaced only where `force` says so, and only once the new one
/// is whole.
///
/// # Errors
/// What `write` says; where there is something already; where it can't be written.
pub(in crate::cli) fn to_file<T>(
    file: &Path,
    force: bool,
    write: impl FnOnce(&mut dyn Write) -> Result<T, Failed>,
) -> Result<T, CliError> {
    // A device, a pipe or a link is not replaced by a file, whatever is asked.
    if force && fs_err::symlink_metadata(file).is_ok_and(|there| !there.is_file()) {
        return Err(CliError::new(
            Kind::Usage,
            format!("{} is there and is no file, so it is not replaced", file.display()),
        )
        .with_hint("name another place, or write to standard output and say there where it goes"));
    }
    let temporary = force.then(|| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        file.with_file_name(format!(".{name}.{}.part", std::process::id()))
    });
    let path = temporary.as_deref().unwrap_or(file);
    let opened = match system::opening(0o600).write(true).create_new(true).open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            return Err(CliError::new(Kind::Usage, format!("{} is there already", path.display()))
                .with_hint("name another file, or replace this one by --force"));
        }
        opened => opened?,
    };
    let mut out = BufWriter::new(opened);
    let done = write(&mut out).and_then(|done| {
        let written = out.into_inner().map_err(|error| Failed::Write(error.into_error()))?;
        written.sync_all().map_err(Failed::Write)?;
        if temporary.is_some() {
            fs_err::rename(path, file).map_err(Failed::Write)?;
        }
        Ok(done)
    });
    done.map_err(|failed| {
        // What is not whole is of no use; the first error is what counts.
        drop(fs_err::remove_file(path));
        match failed {
            Failed::Write(error) => CliError::new(Kind::Failed, format!("cannot write {}: {error}", file.display())),
            Failed::Read(error) => error,
        }
    })
}
