//! The shared data: real transcripts and judged retrieval sets that nobody here wrote. They are not part of the
//! repository, so a test that needs them says so and skips where they are absent.

use std::path::PathBuf;

/// The path `name` in the shared folder (`$REMEMBRANCER_SHARED`, else `shared` beside the repository); `None`, with a
/// printed reason, where it is absent.
pub fn shared(name: &str) -> Option<PathBuf> {
    let root = std::env::var_os("REMEMBRANCER_SHARED").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared")),
        PathBuf::from,
    );
    let path = root.join(name);
    if path.exists() {
        return Some(path);
    }
    skip(&format!("{} is absent; set REMEMBRANCER_SHARED", path.display()));
    None
}

/// Says why a test is skipped.
#[expect(clippy::print_stderr, reason = "a skipped test says why")]
pub fn skip(reason: &str) {
    eprintln!("skipped: {reason}");
}
