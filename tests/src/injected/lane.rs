//! A home in which one fault after the other is met: the daemon runs, or starts, with the library in it, and lines are appended
//! and prompts asked as on any day.

use std::time::Duration;

use remembrancer_hooks::protocol::{Answer, Reply, Request};
use remembrancer_hooks::{Client, ClientError};
use remembrancer_processor::{Deadline, Stopwatch};
use serde_json::Value;

use super::case::{Case, Outcome, Phase};
use super::check::Home;
use super::control::Control;
use super::counted::processor_time;
use super::page::{Call, Class};
use super::single::hook_fault;
use crate::daemon_process::DaemonProcess;
use crate::sandbox::Sandbox;
use crate::transcript::{Transcript, topic};
use crate::wait::within;

/// Words alone and a short rescan: what is looked at here is what happens to files, and not in how many minutes.
const SETTINGS: &str = "[embedding]\nmodel_dir = \"/nowhere/at/all\"\n[transcripts]\nrescan = \"5s\"\n";
/// How long a fault is waited for.
const TO_FIRE: Duration = Duration::from_millis(1_200);
/// How long the daemon is watched while a fault lasts and nobody asks anything.
const WATCHED: Duration = Duration::from_secs(2);
/// As many lines at once are no storm: the daemon names so many places of a kind, and then how many more there are
/// (`daemon/src/progress.rs`).
const MOST_AT_ONCE: usize = 9;
/// How long all may take to be there once nothing fails any more: the rest after a failure, the rescan, a busy machine.
const RECOVERY: Duration = Duration::from_secs(45);
/// How long a start may take.
const START: Duration = Duration::from_secs(30);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(100);

/// A home, its control page, and what its transcripts hold.
pub struct Lane<'a> {
    sandbox: &'a Sandbox,
    control: Control,
    shop: String,
    daemon: Option<DaemonProcess<'a>>,
    live: Transcript,
    expected: Vec<String>,
    next: u32,
    cases: u32,
}

impl<'a> Lane<'a> {
    /// Makes the home of `sandbox` ready; `None` as [`super::library`].
    pub fn new(sandbox: &'a Sandbox) -> Option<Self> {
        let control = Control::new(&sandbox.home(), "control-page")?;
        sandbox.configure(SETTINGS);
        let mut lane = Self {
            control,
            shop: sandbox.project("shop"),
            daemon: None,
            live: sandbox.transcript("live", "shop"),
            expected: Vec::new(),
            next: 0,
            cases: 0,
            sandbox,
        };
        lane.append(8);
        Some(lane)
    }

    /// The calls that one start makes, or with `running` those of a running daemon that is given what each case gives.
    ///
    /// # Panics
    /// Where the daemon does not run although nothing fails.
    pub fn record(&mut self, running: bool) -> Vec<(Call, Class, u64)> {
        self.control.disarm();
        self.stop();
        let before = self.control.counts();
        self.begin();
        self.append(1);
        assert!(self.recovers().is_some(), "nothing fails");
        let started = difference(&before, &self.control.counts());
        if !running {
            self.stop();
            return started;
        }
        let before = self.control.counts();
        self.give();
        self.ask_hook("recorded");
        assert!(self.recovers().is_some(), "nothing fails");
        difference(&before, &self.control.counts())
    }

    /// Meets one fault.
    pub fn meet(&mut self, case: &Case) -> Outcome {
        self.cases += 1;
        let mut outcome = match case.phase {
            Phase::Start => self.meet_at_start(case),
            _ => self.meet_running(case),
        };
        self.control.disarm();
        self.recover(&mut outcome);
        outcome
    }

    /// Stops the daemon.
    pub fn stop(&mut self) {
        if let Some(daemon) = self.daemon.take() {
            daemon.stop(rustix::process::Signal::TERM);
        }
    }

    fn meet_at_start(&mut self, case: &Case) -> Outcome {
        self.stop();
        self.append(1);
        let mut outcome = Outcome::default();
        let log_at = self.log_length();
        self.control.arm(&[case.rule]);
        self.spawn();
        let running = within(START, || self.is_up());
        if running == Some(true) && case.lasts() {
            self.watch(&mut outcome, log_at);
        }
        // Who can't be asked is up all the same.
        if running.is_none() && case.rule.class != Some(Class::Socket) {
            outcome.faults.push(format!("neither up nor ended after {START:?}"));
        }
        outcome.fired = self.control.fired(0);
        self.note_end(case, &mut outcome, log_at);
        outcome
    }

    fn meet_running(&mut self, case: &Case) -> Outcome {
        if self.daemon.is_none() {
            self.begin();
        }
        let mut outcome = Outcome::default();
        let log_at = self.log_length();
        self.control.arm(&[case.rule]);
        self.give();
        outcome.hook = self.ask_hook("failed");
        within(TO_FIRE, || (self.control.fired(0) > 0).then_some(()));
        if case.lasts() && self.control.fired(0) > 0 {
            self.watch(&mut outcome, log_at);
        }
        outcome.fired = self.control.fired(0);
        self.note_end(case, &mut outcome, log_at);
        outcome
    }

    /// What a day brings: two turns in a conversation that goes on, one in a new one.
    fn give(&mut self) {
        self.append(2);
        let (number, case) = (self.next, self.cases);
        let mut other = self.sandbox.transcript(&format!("other-{case}"), "shop").on_day(3);
        other.topics(number..number + 1);
        self.note(1);
    }

    fn append(&mut self, turns: u32) {
        self.live.topics(self.next..self.next + turns);
        self.note(turns);
    }

    fn note(&mut self, turns: u32) {
        self.expected
            .extend((self.next..self.next + turns).map(|number| topic(number).0));
        self.expected.sort();
        self.next += turns;
    }

    /// Asks as a user does, in a session of its own, in which nothing was shown yet. Gives what the hook did that it must not.
    fn ask_hook(&self, moment: &str) -> Option<String> {
        // A hook that had to give up keeps the next ones silent for half a minute.
        fs_err::remove_file(self.sandbox.places().backoff_file()).ok();
        let prompt = topic(self.next.saturating_sub(4)).0;
        hook_fault(
            self.sandbox,
            None,
            &format!("asks-{moment}-{}", self.cases),
            &self.shop,
            &prompt,
        )
    }

    /// Looks at what the daemon does while the fault lasts and nobody asks anything, and then what it tells.
    fn watch(&mut self, outcome: &mut Outcome, log_at: usize) {
        let Some(pid) = self.daemon.as_ref().map(DaemonProcess::pid) else {
            return;
        };
        let mut clock = Stopwatch::start();
        let (used, lines) = (processor_time(pid), self.warnings_since(log_at));
        within(WATCHED, || self.has_ended().then_some(()));
        clock.lap("watched");
        let seconds = clock.total().as_secs_f64();
        if let (Some(before), Some(after)) = (used, processor_time(pid)) {
            outcome.processor = after.saturating_sub(before).as_secs_f64() / seconds;
        }
        let lines = self.warnings_since(log_at).saturating_sub(lines).saturating_sub(MOST_AT_ONCE);
        outcome.lines_a_second = lines as f64 / seconds;
        let Some(status) = self.status() else {
            return;
        };
        let has_problems = status["problems"].as_array().is_none_or(|problems| !problems.is_empty());
        let is_told = has_problems || status["health"]["state"] != "well";
        // What holds nothing up and is no word in the log is nothing to tell of.
        let (stored, expected) = (status["episodes"].as_u64(), self.expected.len() as u64);
        let log = self.log_since(log_at);
        let warned = log.lines().find(|line| is_warning(line));
        if !is_told && (stored < Some(expected) || warned.is_some()) {
            outcome.untold = Some(format!(
                "{stored:?} of {expected} episodes are stored, the log says {warned:?}"
            ));
        }
    }

    /// What `status` tells of problems; `None` where it can't be asked.
    fn problems(&self) -> Option<Vec<Value>> {
        let status = self.status()?;
        Some(status["problems"].as_array().cloned().unwrap_or_default())
    }

    fn status(&self) -> Option<Value> {
        match self.ask(&Request::Status) {
            Ok(Reply::Answer(Answer { ok: true, data, .. })) => Some(data),
            _ => None,
        }
    }

    fn ask(&self, request: &Request) -> Result<Reply, ClientError> {
        Client::new(self.sandbox.places()).call(request, Duration::from_secs(8))
    }

    /// Waits until all is there again, starting the daemon where it ended, and looks at what the home holds.
    fn recover(&mut self, outcome: &mut Outcome) {
        if self.has_ended() {
            self.daemon = None;
            self.begin();
        }
        let mut clock = Stopwatch::start();
        // As on any day: whether recollection files can be written again shows at the next prompt.
        self.ask_hook("recovered");
        if self.recovers().is_some() {
            clock.lap("recovery");
            outcome.recovered = Some(clock.total());
        } else {
            let problems = self.problems().unwrap_or_default();
            outcome
                .faults
                .push(format!("not all there after {RECOVERY:?}; status tells {problems:?}"));
            // What is missing now is looked for once more by a new daemon: is it lost, or only late?
            self.stop();
            self.begin();
            self.recovers();
        }
        let home = Home::look(self.sandbox, &self.expected);
        outcome.lost = home.lost;
        outcome.doubled = home.doubled;
        outcome.faults.extend(home.faults);
        if let Some(after) = self.ask_hook("last") {
            outcome.faults.push(format!("a hook after it: {after}"));
        }
    }

    /// Waits until as many episodes are stored as turns were written, and no problem is told.
    fn recovers(&self) -> Option<()> {
        let deadline = Deadline::after(RECOVERY);
        loop {
            let status = self.status().unwrap_or_default();
            let is_whole = status["episodes"].as_u64() >= Some(self.expected.len() as u64);
            if is_whole && status["problems"].as_array().is_some_and(Vec::is_empty) {
                return Some(());
            }
            if deadline.has_passed() {
                return None;
            }
            std::thread::park_timeout(PAUSE);
        }
    }

    fn begin(&mut self) {
        self.spawn();
        let up = within(START, || self.is_up());
        assert_eq!(up, Some(true), "nothing fails any more; {}", self.log_since(0));
    }

    fn spawn(&mut self) {
        let mut command = self.sandbox.command(&["run"]);
        self.control.surround(&mut command);
        self.daemon = Some(self.sandbox.spawn(command));
    }

    /// Whether it answers, or (`false`) has ended; `None` for neither yet.
    fn is_up(&mut self) -> Option<bool> {
        if self.has_ended() {
            return Some(false);
        }
        let asked = Client::new(self.sandbox.places()).call(&Request::Ping, Duration::from_secs(1));
        matches!(asked, Ok(Reply::Answer(Answer { ok: true, .. }))).then_some(true)
    }

    fn has_ended(&mut self) -> bool {
        self.daemon.as_mut().is_none_or(|daemon| daemon.ended().is_some())
    }

    /// How the daemon ended, where it did, and what it said.
    fn note_end(&mut self, case: &Case, outcome: &mut Outcome, log_at: usize) {
        let log = self.log_since(log_at);
        outcome.warnings = warnings(&log);
        if log.contains("panicked") {
            outcome.crashed = Some("a panic in the log".to_owned());
        }
        let Some(status) = self.daemon.as_mut().and_then(DaemonProcess::ended) else {
            return;
        };
        // A log that can't be written tells nothing.
        let is_named = log.contains("error: ") || log.contains("ERROR") || case.rule.class == Some(Class::Log);
        match status.code() {
            Some(1 | 2 | 4 | 5) if is_named => outcome.ended = true,
            code => outcome.crashed = Some(format!("ended with {code:?} ({status}), and said {:?}", tail(&log))),
        }
    }

    fn log_length(&self) -> usize {
        self.log_since(0).len()
    }

    fn log_since(&self, at: usize) -> String {
        let log = fs_err::read(self.sandbox.log_file()).unwrap_or_default();
        String::from_utf8_lossy(log.get(at..).unwrap_or_default()).into_owned()
    }

    fn warnings_since(&self, at: usize) -> usize {
        warnings(&self.log_since(at))
    }

    /// The prompts that the transcripts hold, sorted.
    pub fn expected(&self) -> &[String] {
        &self.expected
    }
}

fn warnings(log: &str) -> usize {
    log.lines().filter(|line| is_warning(line)).count()
}

fn is_warning(line: &str) -> bool {
    line.contains(" WARN ") || line.contains("ERROR ")
}

fn tail(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(2)..].join(" | ")
}

pub(super) fn difference(before: &[(Call, Class, u64)], after: &[(Call, Class, u64)]) -> Vec<(Call, Class, u64)> {
    let earlier = |call, class| {
        let found = before.iter().find(|(a, b, _)| (*a, *b) == (call, class));
        found.map_or(0, |(_, _, count)| *count)
    };
    after
        .iter()
        .map(|(call, class, count)| (*call, *class, count - earlier(*call, *class)))
        .filter(|(_, _, count)| *count > 0)
        .collect()
}
