//! This process: whose it is, what it may, when it is told to stop.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

use tokio::signal::unix::{SignalKind, signal};

/// The real user id of this process.
pub(crate) fn user_id() -> u32 {
    rustix::process::getuid().as_raw()
}

/// New files are private from now on, whatever the user's mask says.
pub(crate) fn make_files_private() {
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
}

/// Leaves no core dump of this process from now on: its memory holds texts before they are redacted.
///
/// A limit of nothing is what systemd-coredump and a file beside the program obey; other collectors are handed a dump whatever
/// the limit, unless Linux is told that this process has none to give. That also keeps other processes of the user from
/// reading its memory.
pub(crate) fn leave_no_core_dumps() {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let nothing = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    if let Err(error) = setrlimit(Resource::Core, nothing) {
        tracing::warn!(%error, "a crash may leave a core dump, which holds texts that are not redacted");
    }
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable) {
        tracing::warn!(%error, "a crash may hand a core dump to a collector, which holds texts that are not redacted");
    }
}

/// Gives the calling thread the lowest priority, so that whatever else the user runs comes first.
///
/// On Linux a priority belongs to a thread. Elsewhere it belongs to the process, whose prompts must not wait: there the
/// rests alone have to do.
pub(crate) fn lower_this_thread() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, 19) {
        tracing::debug!(%error, "the priority of a background thread stays as it is");
    }
}

/// Waits until the process is told to stop, from the call on and not from the first wait. Gives the signal's name.
///
/// # Errors
/// Where the system refuses to tell.
pub(crate) fn stop_signal() -> std::io::Result<impl Future<Output = &'static str>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hangup = signal(SignalKind::hangup())?;
    // A file beyond the limit for one (`ulimit -f`) is an error of the write then, and not the end of the process.
    let mut too_large = signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw()))?;
    Ok(async move {
        loop {
            tokio::select! {
                _ = terminate.recv() => return "SIGTERM",
                _ = interrupt.recv() => return "SIGINT",
                _ = hangup.recv() => return "SIGHUP",
                _ = too_large.recv() => tracing::warn!("a file would be larger than this process may write (`ulimit -f`)"),
            }
        }
    })
}

/// Asks a child to stop in order. It may have ended by itself already.
pub(crate) fn terminate(child: &Child) {
    if let Some(pid) = rustix::process::Pid::from_raw(child.id() as i32) {
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).ok();
    }
}

/// Has what `command` starts belong to a group of its own, with all that it starts in turn.
pub(crate) fn lead_a_group(command: &mut Command) {
    command.process_group(0);
}

/// Ends the child of this id at once, and its group. They may be ending by themselves at this very moment.
pub(crate) fn kill_group(child: u32) {
    if let Some(pid) = rustix::process::Pid::from_raw(child as i32) {
        rustix::process::kill_process_group(pid, rustix::process::Signal::KILL).ok();
    }
}

/// Resident memory in bytes.
pub(crate) struct Memory {
    /// All of it.
    pub resident: Option<u64>,
    /// What is not backed by a file.
    pub anonymous: Option<u64>,
}

/// The memory of this process; `None` where the system does not tell.
pub(crate) fn memory() -> Option<Memory> {
    let text = fs_err::read_to_string("/proc/self/status").ok()?;
    let bytes = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib * 1_024)
    };
    Some(Memory {
        resident: bytes("VmRSS:"),
        anonymous: bytes("RssAnon:"),
    })
}
