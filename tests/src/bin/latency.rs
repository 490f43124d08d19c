//! The whole system under measurement: `cargo build --release && target/release/latency [EPISODES]`.
//!
//! Writes transcripts (real ones, replicated and varied), starts the real daemon in a home of its own, fires the real hook,
//! and prints what a user would feel: hook start to exit while the backfill runs and when it is done, how soon a new turn
//! is found, memory, disk, and the rate of embedding.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program that prints measurements")]

use std::path::Path;
use std::time::Duration;

use remembrancer_tests::{Sandbox, Spread, Transcript, corpus, eventually, timed};

/// Hooks fired in each phase.
const HOOKS: usize = 300;
/// The most that the backfill may take.
const PATIENCE: Duration = Duration::from_mins(50);

fn main() {
    let episodes: usize = std::env::args().nth(1).map_or(10_000, |count| count.parse().unwrap());
    let folder = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let binary = |name: &str| folder.join(name).display().to_string();
    let sandbox = Sandbox::new(&binary("remembrancer"), &binary("remembrancer-hook"));
    let projects: Vec<String> = (0..4).map(|number| sandbox.project(&format!("project-{number}"))).collect();
    corpus::write(&sandbox.root(), &projects, episodes);
    let bytes = size(&sandbox.root());
    println!("{episodes} turns in {:.1} MB of transcripts", bytes as f64 / 1e6);

    let daemon = sandbox.start();
    let prompts = prompts();
    report("hook during the backfill", fire(&sandbox, &projects, &prompts, "busy"));
    let status = daemon.status();
    println!("  (then {} of {} embedded)", status["embedded"], status["episodes"]);
    let ((), took) = timed(|| daemon.embed_all_within(PATIENCE));
    let status = daemon.status();
    println!(
        "backfill: {} episodes, {} embedded a second, done {:.0} s after the hooks",
        status["episodes"],
        status["ingest"]["embedded_per_second"],
        took.as_secs_f64(),
    );
    report("hook when idle", fire(&sandbox, &projects, &prompts, "idle"));
    freshness(&sandbox, &projects[0]);
    let status = daemon.status();
    println!("daemon's own recall times: {}", status["recalls"]);
    println!("memory: {}", status["daemon"]["memory"]);
    let database = status["database_bytes"].as_u64().unwrap() + status["wal_bytes"].as_u64().unwrap();
    println!(
        "database: {:.1} MB, {} bytes an episode",
        database as f64 / 1e6,
        database / status["episodes"].as_u64().unwrap().max(1)
    );
}

fn prompts() -> Vec<String> {
    let mut numbers = corpus::Numbers::new(7);
    let pairs = corpus::pairs();
    (0..HOOKS)
        .map(|_| {
            let pair = &pairs[numbers.below(pairs.len())];
            pair.answer
                .split_whitespace()
                .skip(numbers.below(10))
                .take(24)
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect()
}

fn fire(sandbox: &Sandbox, projects: &[String], prompts: &[String], name: &str) -> Vec<Duration> {
    let fired: Vec<_> = prompts
        .iter()
        .enumerate()
        .map(|(number, prompt)| sandbox.hook(&format!("{name}-{number}"), &projects[number % projects.len()], prompt))
        .collect();
    let shown = fired.iter().filter(|output| !output.stdout.is_empty()).count();
    println!("{name}: {shown} of {} hooks showed something", fired.len());
    fired.into_iter().map(|output| output.took).collect()
}

fn report(what: &str, times: Vec<Duration>) {
    println!("{what}: {}", Spread::from(times));
}

/// What is written, the same in other words, and a word of the answer by which it is known.
const FRESH: [(&str, &str, &str); 5] = [
    (
        "Bread comes out of the oven far too dark",
        "loaves get burnt while baking",
        "thermostat",
    ),
    (
        "The violin sounds dull since the weather turned humid",
        "string instrument lost its brightness in damp air",
        "soundpost",
    ),
    (
        "Our cat refuses the new kibble",
        "the pet does not eat its food any more",
        "salmon",
    ),
    (
        "Tomato seedlings fall over after a week indoors",
        "young vegetable plants are leggy and weak",
        "lamp",
    ),
    (
        "The bicycle chain jumps under load uphill",
        "gears slip when I pedal hard on a climb",
        "cassette",
    ),
];

/// Appends turns and asks for them: by their words, and in other words.
fn freshness(sandbox: &Sandbox, cwd: &str) {
    let mut lexical = Vec::new();
    let mut semantic = Vec::new();
    for (number, (written, reworded, known_by)) in FRESH.iter().enumerate() {
        let mut transcript = Transcript::new(&sandbox.root(), &format!("words-{number}"), cwd);
        transcript.turn(
            &format!("The zyzzyva{number} importer drops every umlaut, please look"),
            &format!("It read Latin-{number}, now UTF-8."),
        );
        let asked = format!("what about the zyzzyva{number} importer and its umlauts");
        lexical.push(found_after(sandbox, cwd, &asked, &format!("Latin-{number}")));
        let mut transcript = Transcript::new(&sandbox.root(), &format!("meaning-{number}"), cwd);
        transcript.turn(written, &format!("It was the {known_by}; changed, and all is well."));
        semantic.push(found_after(sandbox, cwd, reworded, known_by));
    }
    report("a new turn found by its words after", lexical);
    report("a new turn found by its meaning after", semantic);
}

fn found_after(sandbox: &Sandbox, cwd: &str, prompt: &str, known_by: &str) -> Duration {
    let mut asked = 0;
    let ((), took) = timed(|| {
        eventually("the new turn", Duration::from_secs(30), || {
            asked += 1;
            let output = sandbox.hook(&format!("fresh-{known_by}-{asked}"), cwd, prompt);
            output.context().contains(known_by).then_some(())
        });
    });
    took
}

fn size(folder: &Path) -> u64 {
    walkdir::WalkDir::new(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.metadata().ok())
        .map(|metadata| metadata.len())
        .sum()
}
