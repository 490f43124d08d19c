//! This process: whose it is, what it may, when it is told to stop.

use std::io::IsTerminal;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The real user id of this process.
pub(crate) fn user_id() -> u32 {
    rustix::process::getuid().as_raw()
}

/// What this machine is called, as far as that is text.
pub(crate) fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
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

/// Where standard error of this process goes, as Linux calls it: the path of a file or a terminal, `pipe:[…]`, `socket:[…]`. Others can't
/// ask that of a process whose memory they may not read.
pub(crate) fn standard_error() -> Option<String> {
    let place = fs_err::read_link("/proc/self/fd/2").ok()?;
    place.into_os_string().into_string().ok()
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
/// SIGHUP, by which a terminal that closes ends what was started in it, counts unless it was to be ignored when this process started:
/// so `nohup` and `trap '' HUP` hold. To listen for it would replace that.
///
/// # Errors
/// Where the system refuses to tell.
pub(crate) fn stop_signal() -> std::io::Result<impl Future<Output = &'static str>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hangup = hangup_is_wanted().then(|| signal(SignalKind::hangup())).transpose()?;
    // A file beyond the limit for one (`ulimit -f`) is an error of the write then, and not the end of the process.
    let mut too_large = signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw()))?;
    Ok(async move {
        loop {
            tokio::select! {
                _ = terminate.recv() => return "SIGTERM",
                _ = interrupt.recv() => return "SIGINT",
                Some(()) = next(&mut hangup) => return "SIGHUP",
                _ = too_large.recv() => tracing::warn!("a file would be larger than this process may write (`ulimit -f`)"),
            }
        }
    })
}

/// The next of a signal; `None` at once where nobody listens for it.
async fn next(signal: &mut Option<Signal>) -> Option<()> {
    signal.as_mut()?.recv().await
}

/// Whether a SIGHUP is to be heard: not where this process was started with it ignored. Where the system does not tell that, as only
/// Linux does, it is heard in a terminal alone: `nohup` leaves none at the outputs.
fn hangup_is_wanted() -> bool {
    match fs_err::read_to_string("/proc/self/status") {
        Ok(status) => !ignores(&status, SignalKind::hangup().as_raw_value()),
        Err(_) => std::io::stdout().is_terminal() || std::io::stderr().is_terminal(),
    }
}

/// Whether a process with this `/proc/…/status` ignores a signal: the mask `SigIgn` has a bit for each, the lowest for number 1.
fn ignores(status: &str, signal: i32) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Whether a process of this user has this id now.
pub(crate) fn is_alive(pid: i32) -> bool {
    rustix::process::Pid::from_raw(pid).is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok())
}

/// Whether a process was stopped by a signal and does nothing until another has it go on; no, where the system does not tell.
pub(crate) fn stands_still(pid: i32) -> bool {
    let stat = fs_err::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name of the program, before that, may hold anything.
    stat.rsplit_once(')')
        .is_some_and(|(_, after)| matches!(after.trim_start().chars().next(), Some('T' | 't')))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_tells_what_is_ignored() {
        let status = |mask: &str| format!("Name:\tx\nSigBlk:\tffffffffffffffff\nSigIgn:\t{mask}\nSigCgt:\t0000000000000001\n");
        for (mask, expected) in [
            ("0000000000000001", true),
            ("0000000000001001", true),
            ("0000000000001000", false),
            ("0000000000000000", false),
            ("nonsense", false),
        ] {
            assert_eq!(
                ignores(&status(mask), SignalKind::hangup().as_raw_value()),
                expected,
                "{mask}"
            );
        }
        assert!(!ignores("Name:\tx\n", 1));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn nohup_is_told_from_a_plain_start() {
        let of_child = |before: &str| {
            let line = format!("{before} exec cat /proc/self/status");
            let output = Command::new("sh").args(["-c", &line]).output().unwrap();
            ignores(
                &String::from_utf8(output.stdout).unwrap(),
                SignalKind::hangup().as_raw_value(),
            )
        };
        assert!(of_child("trap '' HUP;"));
        assert!(!of_child("trap - HUP;") || !hangup_is_wanted(), "unless the tests run so");
    }

    #[test]
    fn who_lives_is_known() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let id = child.id() as i32;
        assert!(is_alive(id));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!is_alive(id) && !is_alive(0) && !is_alive(i32::MAX));
    }
}
