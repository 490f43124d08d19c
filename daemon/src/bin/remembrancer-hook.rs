//! What an editor runs for every prompt: stdin comes in, the recollections go to stdout, the exit code is always 0.
//!
//! All of it is in `remembrancer_hooks`; nothing else of the daemon's package is linked here.

use std::process::ExitCode;

fn main() -> ExitCode {
    remembrancer_hooks::run_hook()
}
