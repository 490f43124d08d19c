//! Tracing to standard error: a service manager keeps it, a person in a terminal reads it. Ids, lengths and counts only:
//! never the text of a transcript or a prompt.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::FmtSpan;

/// Starts logging at `filter`, such as `info` or `info,remembrancer=debug`.
///
/// # Errors
/// Where the filter makes no sense.
pub(crate) fn start(filter: &str) -> anyhow::Result<()> {
    let filter = EnvFilter::try_new(filter).map_err(|error| anyhow::anyhow!("log.level = {filter}: {error}"))?;
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_target(false)
        .with_span_events(FmtSpan::NONE)
        .finish();
    // A second start in one process keeps the first: only tests do that.
    tracing::subscriber::set_global_default(subscriber).ok();
    Ok(())
}
