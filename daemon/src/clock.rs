//! The only reader of the wall clock.

use remembrancer_schema::UnixMillis;

/// Now, in Unix milliseconds UTC.
#[expect(clippy::disallowed_methods, reason = "the one reader of the wall clock")]
pub(crate) fn now() -> UnixMillis {
    let since = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    UnixMillis(since.as_millis() as i64)
}

/// A file's time in Unix milliseconds UTC, 0 where the system gives none.
pub(crate) fn of_file(metadata: &std::fs::Metadata) -> UnixMillis {
    let since = metadata
        .modified()
        .ok()
        .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    UnixMillis(since.unwrap_or_default().as_millis() as i64)
}
