//! The whole system by size of the store: `cargo build --release && target/release/scale 1000 10000 100000 1000000`.
//!
//! Takes stores of synthetic episodes (`--folder` keeps them for the next run), starts the real daemon on a copy of each, fires
//! the real hook with prompts of several lengths, cold, idle, all at once and while transcripts are read and embedded, and
//! prints what a user would feel and what the daemon takes: times from the hook's start to its exit, the daemon's stages,
//! memory, disk, processor time when idle.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program that prints measurements")]

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use clap::Parser;
use remembrancer_tests::synthetic::{Store, Stores, Synthetic, cwd};
use remembrancer_tests::{DaemonProcess, Sandbox, Spread, corpus, timed};

/// Words in a prompt.
const LENGTHS: [usize; 4] = [8, 32, 128, 1_000];
/// Hooks that start at the same moment.
const AT_ONCE: usize = 20;
/// Turns that are read and embedded while hooks are fired.
const BACKFILL: usize = 3_000;
/// What a hook may take at most: its budget, and a little for starting and ending a process.
const BOUND: Duration = Duration::from_millis(260);
/// How long an idle daemon is watched.
const IDLE: Duration = Duration::from_secs(20);

#[derive(Debug, Parser)]
struct Arguments {
    #[command(flatten)]
    stores: Stores,
    /// Hooks of each kind.
    #[arg(long, default_value_t = 200)]
    hooks: u64,
}

fn main() {
    let arguments = Arguments::parse();
    let synthetic = Synthetic::new();
    arguments
        .stores
        .each(|size, store| measure(store, size, &synthetic, arguments.hooks));
}

fn measure(store: &Store, size: u64, synthetic: &Synthetic, hooks: u64) {
    let bytes = fs_err::metadata(&store.path).unwrap().len();
    println!(
        "\n{size} episodes: {:.1} MB on disk, {} bytes an episode",
        bytes as f64 / 1e6,
        bytes / size
    );
    let binaries = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let binary = |name: &str| binaries.join(name).display().to_string();
    let sandbox = Sandbox::new(&binary("remembrancer"), &binary("remembrancer-hook"));
    let database = sandbox.places().database_file();
    fs_err::create_dir_all(database.parent().unwrap()).unwrap();
    fs_err::copy(&store.path, &database).unwrap();

    let mut bench = Bench {
        sandbox: &sandbox,
        synthetic,
        fired: 0,
    };
    let cold = forget_the_disk_cache();
    let daemon = bench.start(if cold { "cold" } else { "warm" });
    for words in LENGTHS {
        let prompts = bench.prompts(hooks, words);
        bench.fire(&daemon, &format!("idle, {words} words"), &prompts, true);
    }
    bench.at_once(32);
    memory(&daemon, "idle");
    idle(&daemon);
    let projects: Vec<String> = (0..4).map(|number| sandbox.project(&format!("new-{number}"))).collect();
    corpus::write(&sandbox.root(), &projects, BACKFILL);
    let prompts = bench.prompts(hooks, 32);
    bench.fire(&daemon, "during a backfill, 32 words", &prompts, true);
    bench.at_once(32);
    let status = daemon.status();
    println!("  (then {} episodes waited for their vectors)", status["embedding_backlog"]);
    memory(&daemon, "during a backfill");
    println!("  degradations: {}", status["recalls"]["degradations"]);
}

/// Fires hooks, each in a session of its own.
struct Bench<'a> {
    sandbox: &'a Sandbox,
    synthetic: &'a Synthetic,
    fired: u64,
}

impl<'a> Bench<'a> {
    /// Starts the daemon and asks until it answers by words, and until it answers by meaning.
    fn start(&mut self, cache: &str) -> DaemonProcess<'a> {
        let sandbox = self.sandbox;
        let (daemon, answers) = timed(|| {
            let mut daemon = sandbox.start_unready();
            daemon.wait_until_ready();
            daemon
        });
        let first = self.hook(&self.synthetic.prompt(0, 32)).1;
        let by_words = answers + first;
        let ((), loading) = timed(|| daemon.wait_for_vectors());
        let by_meaning = by_words + loading;
        let then = self.hook(&self.synthetic.prompt(1, 32)).1;
        println!(
            "  start, {cache}: answers after {:.0} ms, by words after {:.0} ms (that hook {:.1} ms), by meaning after {:.0} ms (the next hook {:.1} ms)",
            millis(answers),
            millis(by_words),
            millis(first),
            millis(by_meaning),
            millis(then)
        );
        daemon
    }

    fn prompts(&mut self, count: u64, words: usize) -> Vec<String> {
        (0..count)
            .map(|number| {
                self.synthetic
                    .prompt(1_000 + words as u64 * 10_000 + self.fired + number, words)
            })
            .collect()
    }

    /// A hook in the largest project. Gives its session and what it took.
    fn hook(&mut self, prompt: &str) -> (String, Duration) {
        self.fired += 1;
        let session = format!("scale-{}", self.fired);
        let took = self.sandbox.hook(&session, &cwd(0), prompt).took;
        (session, took)
    }

    /// One hook after the other; with the daemon's own stages.
    fn fire(&mut self, daemon: &DaemonProcess<'_>, what: &str, prompts: &[String], stages: bool) {
        let mut times = Vec::new();
        let mut by_stage: BTreeMap<String, Vec<Duration>> = BTreeMap::new();
        for prompt in prompts {
            let (session, took) = self.hook(prompt);
            times.push(took);
            let Some(why) = stages.then(|| daemon.why_within(Duration::from_secs(1), &session)).flatten() else {
                continue;
            };
            for stage in why["stages"].as_array().into_iter().flatten() {
                let micros = Duration::from_micros(stage["micros"].as_u64().unwrap());
                by_stage
                    .entry(stage["name"].as_str().unwrap().to_owned())
                    .or_default()
                    .push(micros);
            }
        }
        report(&format!("hook {what}"), times);
        let stages: Vec<String> = by_stage.into_iter().map(|(name, times)| stage(&name, times)).collect();
        println!("    stages, p50/p99 ms: {}", stages.join(", "));
    }

    /// Many hooks that start together.
    fn at_once(&mut self, words: usize) {
        let prompts = self.prompts(AT_ONCE as u64, words);
        let first = self.fired;
        self.fired += AT_ONCE as u64;
        let sandbox = self.sandbox;
        let times: Vec<Duration> = thread::scope(|scope| {
            let started: Vec<_> = prompts
                .iter()
                .zip(first..)
                .map(|(prompt, number)| scope.spawn(move || sandbox.hook(&format!("together-{number}"), &cwd(0), prompt).took))
                .collect();
            started.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        report(&format!("hook, {AT_ONCE} at once, {words} words"), times);
    }
}

fn report(what: &str, times: Vec<Duration>) {
    let spread = Spread::from(times);
    println!("  {what:<36} {spread}, {} over {} ms", spread.over(BOUND), BOUND.as_millis());
}

fn stage(name: &str, times: Vec<Duration>) -> String {
    let spread = Spread::from(times);
    format!("{name} {:.1}/{:.1}", spread.millis(0.5), spread.millis(0.99))
}

fn memory(daemon: &DaemonProcess<'_>, when: &str) {
    let memory = &daemon.status()["daemon"]["memory"];
    let megabytes = |name: &str| memory[name].as_u64().unwrap_or_default() as f64 / 1e6;
    println!(
        "  memory, {when}: {:.0} MB resident, {:.0} MB of it anonymous",
        megabytes("resident_bytes"),
        megabytes("anonymous_bytes")
    );
}

/// The share of one processor that the daemon takes when nothing happens, and how often it wakes.
fn idle(daemon: &DaemonProcess<'_>) {
    let before = (processor_time(daemon.pid()), wakes(daemon.pid()));
    let ((), took) = timed(|| thread::sleep(IDLE));
    let used = processor_time(daemon.pid()).saturating_sub(before.0);
    println!(
        "  idle: {:.3} % of one processor, {:.1} wakes a second",
        used.as_secs_f64() / took.as_secs_f64() * 100.0,
        wakes(daemon.pid()).saturating_sub(before.1) as f64 / took.as_secs_f64()
    );
}

/// User and system time of all threads (`proc(5)`: fields 14 and 15 of `stat`, in hundredths of a second).
fn processor_time(pid: u32) -> Duration {
    let stat = fs_err::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let after_name = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
    let ticks = after_name
        .split(' ')
        .skip(11)
        .take(2)
        .filter_map(|field| field.parse::<u64>().ok())
        .sum::<u64>();
    Duration::from_millis(10 * ticks)
}

/// Voluntary context switches of all threads.
fn wakes(pid: u32) -> u64 {
    let threads = fs_err::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    threads
        .filter_map(|thread| fs_err::read_to_string(thread.path().join("status")).ok())
        .filter_map(|status| {
            let line = status
                .lines()
                .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?
                .trim()
                .to_owned();
            line.parse::<u64>().ok()
        })
        .sum()
}

/// Writes out and drops what the system holds of the disk, where it lets us. Returns whether it did.
fn forget_the_disk_cache() -> bool {
    rustix::fs::sync();
    fs_err::write("/proc/sys/vm/drop_caches", "1").is_ok()
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
