//! One run of the sweep: which fault is met in which phase, and what became of it.

use std::time::Duration;

use super::control::{FOREVER, Rule};

/// In which process, and when, a fault is met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// In the daemon, while it starts.
    Start,
    /// In the daemon, while it runs.
    Run,
    /// In the hook.
    Hook,
    /// In a command that runs without a daemon.
    Command,
}

impl Phase {
    /// Its name in the table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Run => "run",
            Self::Hook => "hook",
            Self::Command => "command",
        }
    }
}

/// A fault in a phase.
#[derive(Debug, Clone)]
pub struct Case {
    /// When.
    pub phase: Phase,
    /// Which.
    pub rule: Rule,
}

impl Case {
    /// Whether the fault lasts until it is taken away.
    pub fn lasts(&self) -> bool {
        self.rule.times == FOREVER
    }

    /// Whether the fault is one that whoever asks for the status should be told of: it lasts, and half a write is no error.
    pub fn is_to_be_told(&self) -> bool {
        self.lasts() && self.rule.is_error()
    }

    /// What stands before what is found.
    pub fn name(&self) -> String {
        let (call, class) = (
            self.rule.call.map_or("*", |call| call.name()),
            self.rule.class.map_or("*", |class| class.name()),
        );
        let nth = if self.lasts() {
            "for ever".to_owned()
        } else {
            format!("call {}", self.rule.from)
        };
        format!("{} {call} {class} {} {nth}", self.phase.name(), self.rule.what())
    }
}

/// What became of a case. Each `Some` and each word of `faults` is a fault to look into.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// How many calls failed.
    pub fired: u64,
    /// The daemon, or a command, ended with an error that it named.
    pub ended: bool,
    /// It ended otherwise: by a panic, by a signal, or without a word.
    pub crashed: Option<String>,
    /// Episodes that are not there.
    pub lost: usize,
    /// Episodes that are there more than once, or that nobody wrote.
    pub doubled: usize,
    /// What the hook did that it must not: too late, another exit code, more than one object.
    pub hook: Option<String>,
    /// The part of one processor that the daemon took while the fault lasted and nobody asked anything.
    pub processor: f64,
    /// Lines that it logged meanwhile, a second.
    pub lines_a_second: f64,
    /// Warnings and errors that it logged because of the fault.
    pub warnings: usize,
    /// What `status` should have told of, where it told of nothing and something was at fault.
    pub untold: Option<String>,
    /// How long after the end of the fault all was there.
    pub recovered: Option<Duration>,
    /// All else that must not be: a damaged database, remains of a write.
    pub faults: Vec<String>,
}

/// More of one processor than this, of a daemon that has nothing to do, is spinning (TC-36 says 5 %; a busy machine's clock tick
/// alone is 1 %).
const SPIN: f64 = 0.10;
/// More lines than this a second, while a fault lasts, are a storm.
const STORM: f64 = 3.0;

impl Outcome {
    /// Whether the daemon spun while the fault lasted.
    pub fn spins(&self) -> bool {
        self.processor > SPIN || self.lines_a_second > STORM
    }

    /// All that is to be looked into, one line each.
    pub fn findings(&self) -> Vec<String> {
        let mut findings = self.faults.clone();
        findings.extend(self.crashed.iter().map(|how| format!("crashed: {how}")));
        findings.extend(self.hook.iter().map(|what| format!("hook: {what}")));
        if self.lost > 0 {
            findings.push(format!("{} episodes lost", self.lost));
        }
        if self.doubled > 0 {
            findings.push(format!("{} episodes doubled", self.doubled));
        }
        if self.spins() {
            findings.push(format!(
                "spins: {:.0} % of a processor, {:.1} lines a second",
                self.processor * 100.0,
                self.lines_a_second
            ));
        }
        findings
    }
}
