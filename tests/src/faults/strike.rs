//! One process killed at one moment, while something is done with it.

use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use remembrancer_processor::Deadline;
use rustix::process::Signal;

use super::truth::Truth;
use crate::{Sandbox, timed};

/// When a process dies.
#[derive(Debug, Clone, Copy)]
pub(super) enum Fate {
    /// When its work is done, in order: how long that takes is measured.
    Spared,
    /// So long after its start, whatever it does then.
    Killed {
        /// After how long.
        after: Duration,
        /// Whether a reader looks into the store just before, so that it is known what was committed.
        witnessed: bool,
    },
}

/// What came of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Struck {
    /// From the start to the end of the work, or to the kill.
    pub(super) took: Duration,
    /// Whether the process lived and had work to do when it was killed.
    pub(super) hit: bool,
}

/// Starts a daemon, lets `work` be done with it, which ends when it is told to stop, and lets the daemon die as is its fate. The errors of
/// `work` count where the daemon was spared.
///
/// # Errors
/// Those of `work`, where the daemon was spared.
pub(super) fn daemon(
    sandbox: &Sandbox,
    fate: Fate,
    seen: &mut Truth,
    work: impl FnOnce(&AtomicBool) -> Result<(), String> + Send,
) -> Result<Struck, String> {
    let (stop, done) = (AtomicBool::new(false), AtomicBool::new(false));
    let mut daemon = sandbox.start_unready();
    thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let result = work(&stop);
            done.store(true, Ordering::SeqCst);
            result
        });
        match fate {
            Fate::Spared => {
                let (result, took) = timed(|| worker.join().map_err(|_| "the work panicked".to_owned()).flatten());
                daemon.stop(Signal::TERM);
                result.map(|()| Struck { took, hit: false })
            }
            Fate::Killed { after, witnessed } => {
                let mut hit = false;
                let ((), took) = timed(|| {
                    wait(after);
                    if witnessed {
                        seen.witness(&sandbox.places());
                    }
                    if daemon.ended().is_none() {
                        hit = !done.load(Ordering::SeqCst);
                        daemon.stop(Signal::KILL);
                    }
                });
                stop.store(true, Ordering::SeqCst);
                // What it met when its daemon died is no fault.
                worker.join().map_err(|_| "the work panicked".to_owned())?.ok();
                Ok(Struck { took, hit })
            }
        }
    })
}

/// Runs a command to its end or to its death. Says whether it came to a good end.
///
/// # Errors
/// What it said, where it was spared and failed.
pub(super) fn command(mut command: Command, fate: Fate) -> Result<(Struck, bool), String> {
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let mut hit = false;
    let (status, took) = timed(|| {
        if let Fate::Killed { after, .. } = fate {
            wait(after);
            hit = child.try_wait().ok().flatten().is_none();
            child.kill().ok();
        }
        child.wait()
    });
    let good = status.is_ok_and(|status| status.success());
    if good || hit {
        return Ok((Struck { took, hit }, good));
    }
    Err(format!("the command failed: {}", said(child)))
}

fn said(child: Child) -> String {
    let mut text = String::new();
    if let Some(mut stderr) = child.stderr {
        std::io::Read::read_to_string(&mut stderr, &mut text).ok();
    }
    text
}

/// Waits for so long.
pub(super) fn wait(time: Duration) {
    let deadline = Deadline::after(time);
    while !deadline.has_passed() {
        thread::sleep(deadline.remaining());
    }
}
