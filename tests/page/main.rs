//! The page in a real browser: headless Chromium, driven by `WebDriver`. Views at four widths in light and dark, with script and without; a
//! walk by the keyboard alone; what a screen reader is told; arrivals; stores of 0, 20 and, with `REMEMBRANCER_LARGE_STORE=FOLDER`, 100,000
//! episodes.
//!
//! Where `chromium` or `chromedriver` is absent each test says so and is passed over; with `REMEMBRANCER_REQUIRE_BROWSER=1` it fails.
//! `REMEMBRANCER_WRITE_DOCUMENTS=1` writes the pictures in `docs/images` and the steps in `docs/page.md` anew.

#![expect(clippy::unwrap_used, reason = "the helpers of these tests are tests, too")]
#![expect(clippy::print_stderr, reason = "a test prints what it measured, or why it is skipped")]

mod browser;
mod home;
mod pictures;
mod sizes;
mod views;
mod walk;

use std::path::PathBuf;
use std::time::Duration;

use remembrancer_tests::book::root;

/// How long a test waits for what must happen: far longer than it takes.
const PATIENCE: Duration = Duration::from_mins(1);

/// A folder of the repository.
fn repository(path: &str) -> PathBuf {
    root().join(path)
}
