//! An hour of accelerated life: sessions begin, grow, break off, are forked, rewound, deleted and forgotten, prompts are asked, the
//! daemon is stopped and killed; and beside it is watched what must stay as it is (CASES TC-45).
//!
//! In goes a [`Plan`], out comes an [`Outcome`]: what was done, what was lost or doubled, and samples of the process.

mod samples;
mod world;

use std::time::Duration;

use remembrancer_processor::Stopwatch;
use rustix::process::Signal;

pub use samples::{Sample, Stretch};

use crate::corpus::Numbers;
use crate::{DaemonProcess, Sandbox, Spread, topic};
use world::World;

/// The daemon is stopped or killed and started again when this many percent of the prompts are asked.
const RESTARTS: [u32; 4] = [8, 16, 24, 30];
/// From this share of the prompts on nothing is started again, and the process must stay as it is.
const STEADY_FROM: u32 = 40;
/// Prompts of which all are fired at once: one after another the others are.
const BURST: u32 = 8;
/// How often all that was written is waited for, in prompts: what is deleted was read by then.
const FLUSH_EVERY: u32 = 200;

/// What a life may add (CASES TC-45, TC-37).
const MOST_GROWTH: f64 = 0.1;
const MOST_DESCRIPTORS_MORE: u32 = 20;
const MOST_LOG: u64 = 64 << 20;

/// What to live through.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// Makes the same life of the same number.
    pub seed: u64,
    /// Sessions that begin.
    pub sessions: u32,
    /// Turns that stand in the transcripts before the daemon is started: a store that is small against the caches of its
    /// connections has the process grow with it.
    pub history: u32,
    /// Prompts that are asked.
    pub prompts: u32,
    /// How long it is to take, if it is done sooner.
    pub lasts: Duration,
    /// Samples that are taken.
    pub samples: u32,
}

impl Plan {
    /// What continuous integration runs: a minute or so.
    pub const SHORT: Self = Self {
        seed: 7,
        sessions: 40,
        history: 100,
        prompts: 400,
        lasts: Duration::ZERO,
        samples: 40,
    };
}

/// What came of it.
#[derive(Debug)]
pub struct Outcome {
    /// What was done, by name.
    pub done: Vec<(&'static str, u32)>,
    /// From each hook's start to its exit.
    pub hooks: Spread,
    /// Hooks that showed something.
    pub shown: u32,
    /// Turns that were written, read and not taken back, and that the store does not hold.
    pub lost: Vec<u32>,
    /// Turns that it holds more than once.
    pub doubled: Vec<u32>,
    /// Turns that were forgotten or taken back, and that it holds.
    pub returned: Vec<u32>,
    /// Episodes that wait for a vector at the end.
    pub waiting: u64,
    /// Whether it lasted long enough to tell how memory grows.
    pub is_long: bool,
    /// The process over time.
    pub samples: Vec<Sample>,
    /// How the last daemon ended when it was asked to.
    pub ended_well: bool,
    /// Problems that `status` told at the end.
    pub problems: serde_json::Value,
}

impl Outcome {
    /// The stretch in which the process must stay as it is.
    pub fn steady(&self) -> Stretch {
        Stretch::of(&self.samples, STEADY_FROM)
    }

    /// What is not as it must be. How memory grows is judged in a long life only: a short one is all warming up.
    pub fn faults(&self) -> Vec<String> {
        let steady = self.steady();
        let (fewest, most) = steady.descriptors;
        let wrong = [
            (!self.lost.is_empty(), format!("lost turns {:?}", self.lost)),
            (!self.doubled.is_empty(), format!("doubled turns {:?}", self.doubled)),
            (!self.returned.is_empty(), format!("turns came back {:?}", self.returned)),
            (self.waiting > 0, format!("{} episodes have no vector", self.waiting)),
            (self.problems != serde_json::json!([]), format!("problems {}", self.problems)),
            (!self.ended_well, "the daemon did not end well".to_owned()),
            (
                self.is_long && steady.growth() >= MOST_GROWTH,
                format!("memory grew by {:.1} %", steady.growth() * 100.0),
            ),
            (
                most - fewest > MOST_DESCRIPTORS_MORE,
                format!("descriptors went from {fewest} to {most}"),
            ),
            (steady.children > 0, format!("{} child processes", steady.children)),
            (
                steady.log_bytes > MOST_LOG,
                format!("the log grew to {} bytes", steady.log_bytes),
            ),
        ];
        wrong
            .into_iter()
            .filter(|(is_wrong, _)| *is_wrong)
            .map(|(_, fault)| fault)
            .collect()
    }
}

/// Lives through `plan` in `sandbox`, and tells each sample to `watch`.
///
/// # Panics
/// Where the daemon does not start or answer, or a hook writes what it may not.
pub fn live(sandbox: &Sandbox, plan: Plan, mut watch: impl FnMut(&Sample)) -> Outcome {
    let mut clock = Stopwatch::start();
    let mut world = World::new(sandbox, plan.seed);
    world.begin_with(plan.history);
    let mut daemon = sandbox.start();
    daemon.embed_all_within(Duration::from_mins(30));
    world.was_read();
    clock.lap("history");
    let begun = clock.total();
    let mut numbers = Numbers::new(plan.seed + 1);
    let (mut hooks, mut shown, mut samples, mut restarts) = (Vec::new(), 0, Vec::new(), 0_u32);
    let (mut asked, mut taken) = (0, 0);
    while asked < plan.prompts {
        let percent = asked * 100 / plan.prompts;
        if RESTARTS.get(restarts as usize).is_some_and(|at| percent >= *at) {
            daemon = restarted(
                sandbox,
                daemon,
                if restarts.is_multiple_of(2) {
                    Signal::TERM
                } else {
                    Signal::KILL
                },
            );
            restarts += 1;
        }
        if world.begun() < plan.sessions
            && u64::from(world.begun()) * u64::from(plan.prompts) <= u64::from(asked) * u64::from(plan.sessions)
        {
            world.begin();
        }
        world.step(&mut numbers);
        if asked % FLUSH_EVERY < BURST {
            daemon.flush();
            world.was_read();
        }
        let burst = if numbers.below(50) == 0 { BURST } else { 1 };
        for output in ask(sandbox, &world, &mut numbers, burst) {
            shown += u32::from(!output.stdout.is_empty());
            hooks.push(output.took);
        }
        asked += burst;
        if asked * plan.samples / plan.prompts > taken {
            taken = asked * plan.samples / plan.prompts;
            let sample = Sample::take(&daemon, sandbox, asked * 100 / plan.prompts);
            watch(&sample);
            samples.push(sample);
        }
        wait_for_the_hour(&mut clock, begun, plan, asked);
    }
    world.end();
    daemon.embed_all_within(Duration::from_mins(10));
    let status = daemon.status();
    let (lost, doubled, returned) = world.compare(&sandbox.prompts());
    let mut done = world.done();
    done.push(("restarts", restarts));
    done.push(("prompts", asked));
    Outcome {
        done,
        hooks: Spread::from(hooks),
        shown,
        lost,
        doubled,
        returned,
        waiting: status["embedding_backlog"].as_u64().unwrap_or(u64::MAX),
        is_long: plan.lasts >= Duration::from_mins(10),
        samples,
        problems: status["problems"].clone(),
        ended_well: daemon.stop(Signal::TERM).0.success(),
    }
}

fn restarted<'a>(sandbox: &'a Sandbox, daemon: DaemonProcess<'a>, signal: Signal) -> DaemonProcess<'a> {
    daemon.stop(signal);
    sandbox.start()
}

/// Fires hooks at once, each for a turn of the past in other sessions' words.
fn ask(sandbox: &Sandbox, world: &World<'_>, numbers: &mut Numbers, at_once: u32) -> Vec<crate::HookOutput> {
    let questions: Vec<(String, String)> = (0..at_once)
        .map(|_| {
            let number = numbers.below(world.written() as usize + 1) as u32;
            let session = format!("asks-{}", numbers.below(300));
            (session, topic(number).0.replace("Why does", "Remind me why"))
        })
        .collect();
    let cwd = world.project();
    std::thread::scope(|scope| {
        let hooks: Vec<_> = questions
            .iter()
            .map(|(session, prompt)| scope.spawn(|| sandbox.hook(session, cwd, prompt)))
            .collect();
        hooks.into_iter().map(|hook| hook.join().unwrap()).collect()
    })
}

/// Spreads the prompts over the time that the plan lasts.
fn wait_for_the_hour(clock: &mut Stopwatch, begun: Duration, plan: Plan, asked: u32) {
    let due = begun + plan.lasts * asked / plan.prompts;
    // Parking may end at once: the threads that asked have left a token.
    loop {
        clock.lap("life");
        let left = due.saturating_sub(clock.total());
        if left.is_zero() {
            return;
        }
        std::thread::park_timeout(left);
    }
}
