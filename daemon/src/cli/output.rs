//! Writing for people: a reader that went away (`| head`) ends the output quietly, a full disk is an error at the end.
//!
//! What is printed may hold the text of a transcript, a file's name, an answer of another program. A terminal does what it is told by
//! control characters, so that none leaves here but the end of a line and a tab: the others are printed as JSON spells them. JSON
//! has them in strings alone, and stays the same to who reads it.

use std::fmt;
use std::io::{ErrorKind, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use crate::printable::for_terminal;

/// Rises when a member of what `--json` prints goes, or changes its meaning.
const JSON_VERSION: u32 = 1;

/// The first failure to write, but for a reader that went away.
static FAILURE: Mutex<Option<String>> = Mutex::new(None);

/// Whether the reader of standard output went away.
static IS_UNREAD: AtomicBool = AtomicBool::new(false);

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
    ($($argument:tt)*) => { $crate::cli::output::write_error(format_args!("{}\n", format_args!($($argument)*))) };
}

pub(in crate::cli) use {complain, say, tell};

/// Prints what a command found as one JSON object, whose member `schema` names its form: `remembrancer/COMMAND/VERSION`. A member
/// may be added without a new version; `docs/json.md` tells of them all.
pub(in crate::cli) fn say_json(command: &str, value: &Value) {
    let mut value = value.clone();
    if let Value::Object(members) = &mut value {
        members.insert("schema".to_owned(), format!("remembrancer/{command}/{JSON_VERSION}").into());
    }
    say!("{value:#}");
}

/// Writes to standard output what a terminal may be shown.
pub(in crate::cli) fn write(text: fmt::Arguments<'_>) {
    write_raw(format_args!("{}", for_terminal(&text.to_string())));
}

/// Writes to standard error what a terminal may be shown.
pub(in crate::cli) fn write_error(text: fmt::Arguments<'_>) {
    std::io::stderr().write_all(for_terminal(&text.to_string()).as_bytes()).ok();
}

/// Writes to standard output as it is: for our own words alone.
pub(in crate::cli) fn write_raw(text: fmt::Arguments<'_>) {
    let mut stdout = std::io::stdout().lock();
    let Err(error) = stdout.write_fmt(text).and_then(|()| stdout.flush()) else {
        return;
    };
    if error.kind() == ErrorKind::BrokenPipe {
        IS_UNREAD.store(true, Ordering::Relaxed);
    } else if let Ok(mut failure) = FAILURE.lock() {
        failure.get_or_insert_with(|| error.to_string());
    }
}

/// Writes help to standard output: our own words, styled for a terminal that takes it.
pub(in crate::cli) fn tell_styled(text: &str) {
    write_raw(format_args!("{text}"));
}

/// Writes to standard error what is wrong with a command line. It may hold what was typed.
pub(in crate::cli) fn warn_styled(text: &str) {
    write_error(format_args!("{text}"));
}

/// Whether there is nobody left to write to: what goes on for ever ends then.
pub(in crate::cli) fn is_unread() -> bool {
    IS_UNREAD.load(Ordering::Relaxed) || failure().is_some()
}

/// Why the output is not whole, if it is not.
pub(in crate::cli) fn failure() -> Option<String> {
    FAILURE.lock().ok().and_then(|failure| failure.clone())
}
