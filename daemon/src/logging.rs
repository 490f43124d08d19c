//! Tracing to standard error: a service manager keeps it, a person in a terminal reads it. Ids, lengths and counts only:
//! never the text of a transcript or a prompt. What stands in a field may be the name of a file, and that of anything: no character of
//! it acts on the terminal that the log is read in, and an event stays on its line.

use std::fmt;
use std::io::IsTerminal;
use std::panic::PanicHookInfo;

use tracing::field::Field;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::field::MakeExt as _;
use tracing_subscriber::fmt::FormatFields;
use tracing_subscriber::fmt::format::{FmtSpan, Writer, debug_fn};

use crate::printable::on_one_line;

/// Starts logging at `filter`, such as `info` or `info,remembrancer=debug`; panics are logged, too.
///
/// # Errors
/// Where the filter makes no sense.
pub(crate) fn start(filter: &str) -> anyhow::Result<()> {
    let filter = EnvFilter::try_new(filter).map_err(|error| anyhow::anyhow!("log.level = {filter}: {error}"))?;
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .fmt_fields(fields())
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_target(false)
        .with_span_events(FmtSpan::NONE)
        // They would be printed to the same place, and panic where that is full: nobody can be told, and the daemon goes on.
        .log_internal_errors(false)
        .finish();
    // A second start in one process keeps the first: only tests do that.
    tracing::subscriber::set_global_default(subscriber).ok();
    std::panic::set_hook(Box::new(log_panic));
    Ok(())
}

/// How fields are written: as `name=value`, and the message as it is.
fn fields() -> impl for<'writer> FormatFields<'writer> + Send + Sync + 'static {
    debug_fn(write_field).delimited(" ")
}

fn write_field(writer: &mut Writer<'_>, field: &Field, value: &dyn fmt::Debug) -> fmt::Result {
    let value = format!("{value:?}");
    let value = on_one_line(&value);
    match field.name() {
        "message" => write!(writer, "{value}"),
        name => write!(writer, "{name}={value}"),
    }
}

/// Logs where a thread panicked, and not with which message: that of a slice that missed a character quotes its text.
fn log_panic(panic: &PanicHookInfo<'_>) {
    let thread = std::thread::current();
    let place = panic.location().map(|place| format!("{}:{}", place.file(), place.line()));
    tracing::error!(
        thread = thread.name().unwrap_or("without a name"),
        place = place.as_deref().unwrap_or("unknown"),
        "panicked, which is a fault to report"
    );
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    use super::*;

    /// The name of the thread whose panic is logged here; all others keep the hook that was there.
    const THREAD: &str = "slices a word";

    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);

    impl Write for Log {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_a_field_holds_acts_on_no_terminal_and_stays_on_its_line() {
        let log = Log::default();
        let to = log.clone();
        let subscriber = tracing_subscriber::fmt()
            .fmt_fields(fields())
            .with_writer(move || to.clone())
            .with_ansi(false)
            .finish();
        tracing::subscriber::with_default(subscriber, || {
            let path = "/home/ada/\u{1b}[2J\u{7}a\nb\u{9b}c\u{202e}.jsonl";
            let span = tracing::info_span!("reads", %path);
            let _entered = span.enter();
            tracing::warn!(%path, quoted = path, debugged = ?std::path::Path::new(path), count = 3, "can't read {path}");
        });
        let logged = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
        assert!(logged.ends_with('\n') && logged.lines().count() == 1, "{logged:?}");
        let acts = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!logged.contains(acts), "{logged:?}");
        assert!(
            logged.contains("path=/home/ada/\\u001b[2J\\u0007a\\nb\\u009bc\\u202e.jsonl"),
            "{logged:?}"
        );
        assert!(
            logged.contains("count=3") && logged.contains("can't read /home/ada/"),
            "{logged:?}"
        );
    }

    #[test]
    fn a_panic_is_logged_by_its_place_and_without_what_it_quotes() {
        let others = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if std::thread::current().name() == Some(THREAD) {
                log_panic(panic);
            } else {
                others(panic);
            }
        }));
        let log = Log::default();
        let to = log.clone();
        let slices = move || {
            let subscriber = tracing_subscriber::fmt().with_writer(move || to.clone()).finish();
            tracing::subscriber::with_default(subscriber, || {
                let text = "my sécret".to_owned();
                text[..text.find('c').unwrap() - 1].len()
            })
        };
        let thread = std::thread::Builder::new().name(THREAD.to_owned()).spawn(slices).unwrap();
        assert!(thread.join().is_err());
        let logged = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
        assert!(logged.contains("logging.rs:") && logged.contains(THREAD), "{logged}");
        assert!(!logged.contains("cret"), "{logged}");
    }
}
