//! How far long work is: a bar or a turning mark on a terminal, a plain line every few seconds where standard error is none, nothing
//! where JSON was asked for. What is shown goes to standard error, and is gone when the work is done. No text of the memory is shown.

use std::io::IsTerminal;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use remembrancer_processor::Deadline;

use super::output::complain;
use crate::printable::for_terminal;

/// How often a plain line is written.
const EVERY: Duration = Duration::from_secs(5);
/// How often the mark turns.
const TURN: Duration = Duration::from_millis(120);

/// Shows how far one piece of work is, until it is dropped.
pub(super) struct Progress {
    what: String,
    /// How much there is, where that was known at the start.
    of: Option<u64>,
    shown: Shown,
}

enum Shown {
    Nothing,
    Bar(ProgressBar),
    Lines(Lines),
    /// A thread writes the lines, as the work says nothing while it goes on.
    Waiting(Option<(Sender<()>, JoinHandle<()>)>),
}

impl Progress {
    /// Work of a known length, in steps of its own.
    pub(super) fn counted(what: impl Into<String>, of: u64, json: bool) -> Self {
        let mut progress = Self::start(what.into(), json, |what| {
            let style = ProgressStyle::with_template("{msg} [{bar:30}] {percent}% {eta} left");
            let bar = ProgressBar::with_draw_target(Some(of), ProgressDrawTarget::stderr());
            let style = style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> ");
            bar.with_style(style).with_message(for_terminal(what).into_owned())
        });
        progress.of = Some(of);
        progress
    }

    /// Work that tells what it is at, and not how much there is.
    pub(super) fn told(what: impl Into<String>, json: bool) -> Self {
        Self::start(what.into(), json, turning)
    }

    /// Work that says nothing until it is done, such as a request to the daemon.
    pub(super) fn waiting(what: impl Into<String>, json: bool) -> Self {
        let mut progress = Self::start(what.into(), json, turning);
        if let Shown::Lines(_) = progress.shown {
            progress.shown = Shown::Waiting(write_lines(progress.what.clone()));
        }
        progress
    }

    fn start(what: String, json: bool, bar: impl FnOnce(&str) -> ProgressBar) -> Self {
        let shown = if json {
            Shown::Nothing
        } else if std::io::stderr().is_terminal() {
            Shown::Bar(bar(&what))
        } else {
            Shown::Lines(Lines::new(EVERY))
        };
        Self { what, of: None, shown }
    }

    /// So much of `of` is done.
    pub(super) fn at(&mut self, done: u64, of: u64) {
        match &mut self.shown {
            Shown::Bar(bar) => {
                bar.set_length(of);
                bar.set_position(done);
            }
            Shown::Lines(lines) => {
                if lines.are_due() {
                    complain!("{}", line(&self.what, done, of));
                }
            }
            Shown::Nothing | Shown::Waiting(_) => {}
        }
    }

    /// So many bytes are read of what it was begun with, where that is known; `what` says the same in words where it is not.
    pub(super) fn has_read(&mut self, bytes: u64, what: &str) {
        match self.of {
            Some(of) => self.at(bytes.min(of), of),
            None => self.is_at(what),
        }
    }

    /// It is at this now.
    pub(super) fn is_at(&mut self, what: &str) {
        match &mut self.shown {
            Shown::Bar(bar) => bar.set_message(for_terminal(what).into_owned()),
            Shown::Lines(lines) => {
                if lines.are_due() {
                    complain!("{}: {what}", self.what);
                }
            }
            Shown::Nothing | Shown::Waiting(_) => {}
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        match &mut self.shown {
            Shown::Bar(bar) => bar.finish_and_clear(),
            Shown::Waiting(thread) => {
                if let Some((stop, thread)) = thread.take() {
                    drop(stop);
                    // It has nothing to say but its lines.
                    thread.join().ok();
                }
            }
            Shown::Nothing | Shown::Lines(_) => {}
        }
    }
}

fn turning(what: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{spinner} {msg}").unwrap_or_else(|_| ProgressStyle::default_spinner());
    let bar = bar
        .with_style(style.tick_chars("-\\|/ "))
        .with_message(for_terminal(what).into_owned());
    bar.enable_steady_tick(TURN);
    bar
}

/// Writes a line every few seconds, until the sender goes; nothing where the system gives no thread.
fn write_lines(what: String) -> Option<(Sender<()>, JoinHandle<()>)> {
    let (stop, stopped) = mpsc::channel();
    let write = move || {
        let mut seconds = 0;
        while stopped.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
            seconds += EVERY.as_secs();
            complain!("{what}: {seconds} s so far");
        }
    };
    let thread = std::thread::Builder::new().name("progress".to_owned()).spawn(write).ok()?;
    Some((stop, thread))
}

/// "reading: 300 of 1200 (25 %)".
fn line(what: &str, done: u64, of: u64) -> String {
    let percent = (done.min(of) * 100).checked_div(of).unwrap_or(100);
    format!("{what}: {done} of {of} ({percent} %)")
}

/// When the next plain line is due.
struct Lines {
    every: Duration,
    next: Deadline,
}

impl Lines {
    fn new(every: Duration) -> Self {
        Self {
            every,
            next: Deadline::after(every),
        }
    }

    fn are_due(&mut self) -> bool {
        let are_due = self.next.has_passed();
        if are_due {
            self.next = Deadline::after(self.every);
        }
        are_due
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::begun(0, 4, "reading: 0 of 4 (0 %)")]
    #[case::a_part(1, 3, "reading: 1 of 3 (33 %)")]
    #[case::done(4, 4, "reading: 4 of 4 (100 %)")]
    #[case::more_than_was_known(5, 4, "reading: 5 of 4 (100 %)")]
    #[case::of_nothing(0, 0, "reading: 0 of 0 (100 %)")]
    fn a_plain_line(#[case] done: u64, #[case] of: u64, #[case] expected: &str) {
        assert_eq!(line("reading", done, of), expected);
    }

    #[test]
    fn plain_lines_are_due_at_intervals() {
        let mut seldom = Lines::new(Duration::from_hours(1));
        assert!(!seldom.are_due());
        let mut always = Lines::new(Duration::ZERO);
        assert!(always.are_due() && always.are_due());
    }

    #[test]
    fn nothing_is_shown_beside_json() {
        for progress in [
            Progress::counted("x", 1, true),
            Progress::told("x", true),
            Progress::waiting("x", true),
        ] {
            assert!(matches!(progress.shown, Shown::Nothing));
        }
    }
}
