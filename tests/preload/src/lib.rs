//! A library that is loaded before the C library of a process under test (`LD_PRELOAD`), and has chosen calls fail.
//!
//! Which calls of which files fail, from which on, how often and how comes from a control page that a test writes
//! (`tests/src/injected/page.rs`); the page may change while the process runs. How often each call was made goes out to the same
//! page. A call that no rule is about reaches the C library as it is. Nothing here allocates, logs or reads a clock.
#![cfg(target_os = "linux")]
#![expect(
    unsafe_code,
    reason = "functions of the C library can only be stood in for by functions with C's signatures"
)]

mod calls;
mod files;
#[path = "../../src/injected/page.rs"]
pub mod page;
mod rules;
