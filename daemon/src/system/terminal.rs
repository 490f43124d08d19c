//! How wide the terminal is at which this process writes.

/// Columns of the terminal at standard output; `None` where there is none, or it does not tell.
pub(crate) fn columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// The program that opens a file in the program that the user has chosen for it.
pub(crate) const OPENER: &str = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
