//! Errors below a process: a library of ours has chosen calls of the daemon, the hook or a command fail, once or until told
//! otherwise, and a sweep does so for every kind of call and file and looks at what became of what the user had.

mod case;
mod check;
mod control;
mod counted;
mod lane;
pub mod page;
mod plan;
mod single;
mod table;

pub use case::{Case, Outcome, Phase};
pub use check::Home;
pub use control::{Control, FOREVER, Rule, library};
pub use counted::used;
pub use lane::Lane;
pub use page::{Call, Class};
pub use plan::{Plan, errors_of};
pub use single::{Commands, Hooks};
pub use table::Table;
