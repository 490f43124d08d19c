//! Writing for people: a reader that went away (`| head`) ends the output quietly, a full disk is an error at the end.

use std::fmt;
use std::io::{ErrorKind, Write};
use std::sync::Mutex;

/// The first failure to write, but for a reader that went away.
static FAILURE: Mutex<Option<String>> = Mutex::new(None);

/// Prints a line as `println!` does, without its panic.
macro_rules! say {
    ($($argument:tt)*) => { $crate::cli::output::write(format_args!("{}\n", format_args!($($argument)*))) };
}

/// Prints as `print!` does, without its panic.
macro_rules! tell {
    ($($argument:tt)*) => { $crate::cli::output::write(format_args!($($argument)*)) };
}

/// Prints a line to standard error as `eprintln!` does, without its panic: where nobody can be told, the exit code has to do.
macro_rules! complain {
    ($($argument:tt)*) => { drop(std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("{}\n", format_args!($($argument)*)))) };
}

pub(in crate::cli) use {complain, say, tell};

/// Writes to standard output.
pub(in crate::cli) fn write(text: fmt::Arguments<'_>) {
    let mut stdout = std::io::stdout().lock();
    if let Err(error) = stdout.write_fmt(text).and_then(|()| stdout.flush())
        && error.kind() != ErrorKind::BrokenPipe
        && let Ok(mut failure) = FAILURE.lock()
    {
        failure.get_or_insert_with(|| error.to_string());
    }
}

/// Why the output is not whole, if it is not.
pub(in crate::cli) fn failure() -> Option<String> {
    FAILURE.lock().ok().and_then(|failure| failure.clone())
}
