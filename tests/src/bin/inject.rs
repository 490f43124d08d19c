//! Has every call of the daemon, the hook and the commands fail, kind by kind: `cargo build -p remembrancer-tests --bins &&
//! target/debug/inject [MINUTES] [LANES]`. See docs/adr/0036.
//!
//! A recording tells which calls of which files each phase makes. Then each is failed, with each error, at a few calls once and for
//! ever, and each time it is looked at what became of daemon, hook and home. Ends after `MINUTES` (30), in `LANES` (4) homes at a
//! time; the faults are met in an order in which those that are left out then are spread over all kinds.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program that prints what it found")]

use std::sync::Mutex;
use std::time::Duration;

use remembrancer_processor::Deadline;
use remembrancer_tests::Sandbox;
use remembrancer_tests::injected::{Case, Commands, Hooks, Lane, Outcome, Phase, Plan, Table};

/// Steps through the plan by this many, so that a sweep that is ended early has met something of everything. A prime, so that every
/// case is met once.
const STRIDE: usize = 97;

fn main() {
    let minutes: u64 = std::env::args().nth(1).map_or(30, |minutes| minutes.parse().unwrap());
    let lanes: usize = std::env::args().nth(2).map_or(4, |lanes| lanes.parse().unwrap());
    let end = Deadline::after(Duration::from_mins(minutes));
    let table = Mutex::new(Table::default());
    let first = sandbox();
    let Some(mut lane) = Lane::new(&first) else { return };
    let started = cases(Phase::Start, Plan::of(&lane.record(false)));
    let running = cases(Phase::Run, Plan::of(&lane.record(true)));
    println!("{} faults of a start, {} of a running daemon", started.len(), running.len());
    hooks(&first, &table);
    lane.stop();
    commands(&first, &lane, &table);
    let all = spread(&[running, started].concat());
    let next = Mutex::new(0..all.len());
    std::thread::scope(|scope| {
        for _ in 0..lanes {
            scope.spawn(|| {
                let home = sandbox();
                let mut lane = Lane::new(&home).unwrap();
                while !end.has_passed() {
                    let Some(number) = next.lock().unwrap().next() else { break };
                    let outcome = lane.meet(&all[number]);
                    note(&table, &all[number], &outcome);
                }
                lane.stop();
            });
        }
    });
    let left = next.into_inner().unwrap().len();
    println!("\n{}", table.into_inner().unwrap());
    println!("{left} faults were not met for lack of time");
}

fn sandbox() -> Sandbox {
    let folder = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let binary = |name: &str| folder.join(name).display().to_string();
    Sandbox::new(&binary("remembrancer-under-test"), &binary("remembrancer-hook-under-test"))
}

fn cases(phase: Phase, plan: Plan) -> Vec<Case> {
    plan.0.into_iter().map(|rule| Case { phase, rule }).collect()
}

fn hooks(home: &Sandbox, table: &Mutex<Table>) {
    let mut hooks = Hooks::new(home).unwrap();
    for case in cases(Phase::Hook, Plan::of(&hooks.record())) {
        let outcome = hooks.meet(&case);
        note(table, &case, &outcome);
    }
}

fn commands(home: &Sandbox, lane: &Lane<'_>, table: &Mutex<Table>) {
    let mut commands = Commands::new(home, lane.expected().to_vec()).unwrap();
    for number in 0..commands.len() {
        for case in cases(Phase::Command, Plan::of(&commands.record(number))) {
            let outcome = commands.meet(number, &case);
            note(table, &case, &outcome);
        }
    }
}

fn note(table: &Mutex<Table>, case: &Case, outcome: &Outcome) {
    for finding in outcome.findings() {
        println!("{}: {finding}", case.name());
    }
    if let Some(what) = &outcome.untold
        && case.is_to_be_told()
        && outcome.fired > 0
        && !outcome.ended
    {
        println!("{}: not in status: {what}", case.name());
    }
    table.lock().unwrap().add(case, outcome);
}

fn spread(cases: &[Case]) -> Vec<Case> {
    let stride = if cases.len().is_multiple_of(STRIDE) {
        STRIDE + 4
    } else {
        STRIDE
    };
    (0..cases.len())
        .map(|number| cases[number * stride % cases.len()].clone())
        .collect()
}
