//! The binary `remembrancer`: the daemon and its command line. All of it is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    remembrancer::main()
}
