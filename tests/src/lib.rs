//! Support for tests of the whole system: a home of its own for each test, transcripts as an agent writes them, waiting
//! for a condition, and the shared data that nobody here wrote.

#![expect(clippy::unwrap_used, reason = "support for tests is a test, too")]

pub mod book;
mod bytes;
pub mod conversations;
pub mod corpus;
pub mod cutting_proxy;
mod daemon_process;
pub mod faults;
pub mod fuzz;
pub mod injected;
pub mod postgres;
mod sandbox;
mod served;
mod service_manager;
mod shared;
pub mod soak;
mod spread;
pub mod synthetic;
mod transcript;
mod wait;

pub use bytes::{any_file_holds, any_own_file_holds};
pub use daemon_process::DaemonProcess;
pub use sandbox::{HookOutput, Sandbox};
pub use served::{Answer, Key, Place, Served, VIEWS, encoded};
pub use service_manager::ServiceManager;
pub use shared::{shared, skip};
pub use spread::Spread;
pub use transcript::{Transcript, topic};
pub use wait::{eventually, timed, within};

/// A [`Sandbox`] with the binaries under test: only the test target itself knows where cargo put them. With `alone`, no other
/// test of the process runs meanwhile.
#[macro_export]
macro_rules! sandbox {
    () => {
        $crate::Sandbox::new(
            env!("CARGO_BIN_EXE_remembrancer-under-test"),
            env!("CARGO_BIN_EXE_remembrancer-hook-under-test"),
        )
    };
    (alone) => {
        $crate::Sandbox::alone(
            env!("CARGO_BIN_EXE_remembrancer-under-test"),
            env!("CARGO_BIN_EXE_remembrancer-hook-under-test"),
        )
    };
}
