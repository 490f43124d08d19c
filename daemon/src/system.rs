//! What only some operating systems have, as plain functions: the one module of this crate that names one. Today that is Unix; another
//! system needs what is in `files`, `process` and `socket`, and `service_manager` where it has one.

mod allocator;
mod files;
mod process;
mod random;
pub(crate) mod service_manager;
mod socket;
mod terminal;

pub(crate) use allocator::share_heaps;
pub(crate) use files::{
    allowed_watches, identity, is_limit_of_watches, is_socket, mode, names, opening, other_than_a_file, owner, permissions, room,
    why_not_writable,
};
pub(crate) use process::{
    host_name, is_alive, kill_group, lead_a_group, leave_no_core_dumps, lower_this_thread, make_files_private, memory,
    standard_error, stands_still, stop_signal, terminate, user_id,
};
pub(crate) use random::fill_randomly;
pub(crate) use socket::{HeldListener, Listener, Stream, has_left, is_answered, peer};
pub(crate) use terminal::{OPENER, columns};
