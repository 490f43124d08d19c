//! One home in which daemons are killed: what is in it, what must be in it, and what was found broken so far.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use remembrancer_hooks::protocol::{Answer, Reply, Request};
use remembrancer_processor::Deadline;
use remembrancer_schema::{ANALYSIS_VERSION, Audit};
use rustix::process::Signal;
use serde_json::Value;

use super::check::{Broken, Moment, Violation, check};
use super::hooks::{Fired, fire};
use super::pen::Pen;
use super::truth::Truth;
use crate::corpus::Numbers;
use crate::{DaemonProcess, Sandbox, topic};

/// For a start, a check of the whole store, a flush: far more than they take, since test machines are busy.
const PATIENCE: Duration = Duration::from_mins(2);
/// Between two looks at a condition.
const PAUSE: Duration = Duration::from_millis(5);

/// A home, and what is known of it.
#[derive(Debug)]
pub struct World {
    /// The home.
    pub sandbox: Sandbox,
    /// What must be in its memory.
    pub truth: Truth,
    /// What writes its transcripts.
    pub pen: Pen,
    /// What decides.
    pub dice: Numbers,
    /// The hooks fired.
    pub fired: Vec<Fired>,
    /// What was found broken.
    pub violations: Vec<Violation>,
    /// Daemons started to come to rest.
    pub starts: u64,
    /// Whether the store was damaged on purpose, and no daemon has come to rest since.
    pub damaged_on_purpose: bool,
}

impl World {
    /// An empty home with these binaries, whose course follows from `seed`.
    pub fn new(program: &str, hook: &str, seed: u64) -> Self {
        // Hooks are measured.
        let sandbox = Sandbox::alone(program, hook);
        Self {
            truth: Truth::default(),
            pen: Pen::new(&sandbox),
            dice: Numbers::new(seed),
            fired: Vec::new(),
            violations: Vec::new(),
            starts: 0,
            damaged_on_purpose: false,
            sandbox,
        }
    }

    /// Whether one of so many cases is the case.
    pub fn one_in(&mut self, cases: usize) -> bool {
        self.dice.below(cases) == 0
    }

    /// Writes a new file of so many turns.
    pub fn write(&mut self, turns: u32) {
        self.pen.file(&mut self.truth, turns);
    }

    /// Fires the hook of a session for the next prompt.
    pub fn fire(&mut self) {
        let session = format!("asks-{}", self.dice.below(8));
        let prompt = self.question();
        self.truth.asked.insert(session.clone(), prompt.clone());
        let fired = fire(&self.sandbox, &session, self.pen.cwd(), &prompt);
        self.violations.extend(fired.violations.clone());
        self.fired.push(fired);
    }

    /// A prompt about something that may be remembered; no two alike.
    pub fn question(&mut self) -> String {
        let (number, wording) = (100_000 + self.dice.below(400) as u32, self.dice.below(100_000));
        format!("{} (asked as {wording})", topic(number).0)
    }

    /// Holds the home against the truth, now that no daemon runs, and learns what only the store knows.
    pub fn check(&mut self, moment: Moment) -> Option<Audit> {
        if self.damaged_on_purpose && moment == Moment::Crashed {
            return None;
        }
        self.damaged_on_purpose = false;
        let found = check(&self.sandbox.places(), &self.truth, moment);
        self.violations.extend(found.violations);
        if let Some(audit) = &found.audit {
            self.truth.learn(audit, &found.decided);
        }
        found.audit
    }

    /// Starts a daemon, lets it read everything, and `then` do what else there is; stops it in order, and holds the store against the
    /// truth.
    pub fn settle(&mut self, then: impl FnOnce(&Sandbox) -> Result<(), String>) -> Option<Audit> {
        self.starts += 1;
        if let Err(why) = come_to_rest(&self.sandbox, then) {
            self.violations.push(Violation::new(Broken::Stuck, why));
        }
        self.check(Moment::Settled)
    }
}

/// Starts a daemon, lets it read everything and `then` do what else there is, and stops it in order.
fn come_to_rest(sandbox: &Sandbox, then: impl FnOnce(&Sandbox) -> Result<(), String>) -> Result<(), String> {
    let mut daemon = sandbox.start_unready();
    ready(sandbox, Some(&mut daemon), &AtomicBool::new(false))?;
    let flushed = ask(sandbox, &Request::Flush)?;
    if flushed["flushed"] != true {
        return Err(format!("not all was read: {flushed}"));
    }
    then(sandbox)?;
    let holder = fs_err::read_to_string(sandbox.places().data_dir().join("daemon.lock")).unwrap_or_default();
    if holder.trim() != daemon.pid().to_string() {
        return Err("the daemon does not hold the lock".to_owned());
    }
    if let Some(status) = daemon.ended() {
        return Err(format!("the daemon ended by itself: {status}"));
    }
    let (status, took) = daemon.stop(Signal::TERM);
    if status.success() {
        Ok(())
    } else {
        Err(format!("told to stop, the daemon ended with {status} after {took:?}"))
    }
}

/// Waits until the daemon answers, or `stop` is set. With its process, one that ended is not waited for.
///
/// # Errors
/// Why it does not answer.
pub fn ready(sandbox: &Sandbox, mut daemon: Option<&mut DaemonProcess<'_>>, stop: &AtomicBool) -> Result<(), String> {
    let deadline = Deadline::after(PATIENCE);
    while !stop.load(Ordering::Relaxed) {
        if ask(sandbox, &Request::Ping).is_ok() {
            return Ok(());
        }
        if let Some(status) = daemon.as_mut().and_then(|daemon| daemon.ended()) {
            return Err(format!("the daemon ended at its start: {status}"));
        }
        if deadline.has_passed() {
            return Err(format!("the daemon did not answer within {PATIENCE:?}"));
        }
        std::thread::sleep(PAUSE);
    }
    Err("stopped".to_owned())
}

/// Asks the daemon of a home.
///
/// # Errors
/// What stands in the way, or its refusal.
pub fn ask(sandbox: &Sandbox, request: &Request) -> Result<Value, String> {
    match remembrancer_hooks::Client::new(sandbox.places()).call(request, PATIENCE) {
        Ok(Reply::Answer(Answer { ok: true, data, .. })) => Ok(data),
        Ok(other) => Err(format!("{other:?}")),
        Err(error) => Err(error.to_string()),
    }
}

/// Waits until all episodes are indexed by the rules of this version, or `stop` is set.
///
/// # Errors
/// What stands in the way, or that time ran out.
pub fn until_indexed(sandbox: &Sandbox, stop: &AtomicBool) -> Result<(), String> {
    let deadline = Deadline::after(PATIENCE);
    while !stop.load(Ordering::Relaxed) {
        let stats = sandbox.reader().stats().map_err(|error| error.to_string())?;
        if stats.analysis_version == ANALYSIS_VERSION {
            return Ok(());
        }
        if deadline.has_passed() {
            return Err(format!("waited {PATIENCE:?} in vain for the index"));
        }
        std::thread::sleep(PAUSE);
    }
    Ok(())
}

/// Asks again and again until `is_so` of the status, or `stop` is set.
///
/// # Errors
/// What stands in the way, or that time ran out.
pub fn until(sandbox: &Sandbox, stop: &AtomicBool, is_so: impl Fn(&Value) -> bool) -> Result<(), String> {
    let deadline = Deadline::after(PATIENCE);
    while !stop.load(Ordering::Relaxed) {
        if is_so(&ask(sandbox, &Request::Status)?) {
            return Ok(());
        }
        if deadline.has_passed() {
            return Err(format!("waited {PATIENCE:?} in vain"));
        }
        std::thread::sleep(PAUSE * 4);
    }
    Ok(())
}
