//! Every fuzz target on the stable compiler: on its seeds, on what fuzzing has kept and found, and on a bounded number of changes of
//! these. An input on which a promise breaks is named, or written down where it was made here. See docs/fuzzing.md.

use std::collections::BTreeSet;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use remembrancer_processor::Deadline;
use remembrancer_tests::fuzz::{Mutator, TARGETS, Target, seeds};

/// Changed inputs of each target, which a target stops before where they take longer than this.
const CHANGED: usize = 600;
const PATIENCE: Duration = Duration::from_millis(800);
/// In place of both: so many seconds of each target, with other changes than the usual ones; and these targets alone, by name.
const SECONDS: &str = "REMEMBRANCER_REPLAY_SECONDS";
const ONLY: &str = "REMEMBRANCER_REPLAY_TARGETS";
/// All kept inputs together, in bytes: they are in every clone.
const MOST_KEPT: u64 = 1024 * 1024;

/// Runs the inputs of every target, and names each target with the input on which a promise breaks.
fn check(mut of_target: impl FnMut(Target, &mut dyn FnMut(&[u8], &dyn Fn() -> String) -> bool)) {
    let mut broken = Vec::new();
    for target in TARGETS {
        of_target(*target, &mut |input, place| {
            let holds = catch_unwind(|| (target.run)(input)).is_ok();
            if !holds {
                broken.push(format!("{} on {}", target.name, place()));
            }
            holds
        });
    }
    assert!(
        broken.is_empty(),
        "what broke is said above; broken are:\n  {}",
        broken.join("\n  ")
    );
}

fn inputs(target: Target) -> Vec<Vec<u8>> {
    let kept = ["corpus", "findings"]
        .into_iter()
        .flat_map(|kind| seeds::kept(kind, target.name));
    seeds::of(target.name)
        .into_iter()
        .chain(kept.map(|(_, bytes)| bytes))
        .collect()
}

#[test]
fn every_target_holds_on_its_seeds() {
    check(|target, run| {
        let seeds = seeds::of(target.name);
        assert!(!seeds.is_empty(), "{} has no seeds", target.name);
        for (number, seed) in seeds.iter().enumerate() {
            run(seed, &|| format!("its seed {number}"));
        }
    });
}

#[test]
fn every_target_holds_on_what_fuzzing_kept_and_found() {
    check(|target, run| {
        for (path, input) in ["corpus", "findings"]
            .into_iter()
            .flat_map(|kind| seeds::kept(kind, target.name))
        {
            run(&input, &|| path.display().to_string());
        }
    });
}

#[test]
fn every_target_holds_on_changed_inputs() {
    let seconds = std::env::var(SECONDS)
        .ok()
        .map(|seconds| seconds.parse().expect("REMEMBRANCER_REPLAY_SECONDS is a number"));
    let only = std::env::var(ONLY).unwrap_or_default();
    let (most, patience, course) = match seconds {
        Some(seconds) => (usize::MAX, Duration::from_secs(seconds), format!("for {seconds} s")),
        None => (CHANGED, PATIENCE, String::new()),
    };
    check(|target, run| {
        if !only.is_empty() && !only.split_whitespace().any(|name| name == target.name) {
            return;
        }
        let inputs = inputs(target);
        let mut mutator = Mutator::new(&format!("{}{course}", target.name));
        let deadline = Deadline::after(patience);
        for number in 0..most {
            let input = mutator.next(&inputs);
            let holds = run(&input, &|| {
                let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{number}", target.name));
                fs_err::write(&path, &input).map_or_else(|error| error.to_string(), |()| path.display().to_string())
            });
            if !holds || deadline.has_passed() {
                break;
            }
        }
    });
}

#[test]
fn every_target_is_given_to_libfuzzer_and_every_kept_input_belongs_to_one() {
    let names: BTreeSet<String> = TARGETS.iter().map(|target| target.name.to_owned()).collect();
    let fuzz = seeds::kept_folder("fuzz_targets");
    let stem = |path: PathBuf| path.file_stem().unwrap().to_string_lossy().into_owned();
    let programs: BTreeSet<String> = fs_err::read_dir(&fuzz)
        .unwrap()
        .map(|entry| stem(entry.unwrap().path()))
        .collect();
    assert_eq!(programs, names);
    let manifest: toml::Table = fs_err::read_to_string(fuzz.parent().unwrap().join("Cargo.toml"))
        .unwrap()
        .parse()
        .unwrap();
    let bins = manifest["bin"].as_array().unwrap().iter();
    let bins: BTreeSet<String> = bins.map(|bin| bin["name"].as_str().unwrap().to_owned()).collect();
    assert_eq!(bins, names);
    let mut size = 0;
    for kind in ["corpus", "findings"] {
        for entry in walkdir::WalkDir::new(seeds::kept_folder(kind))
            .min_depth(2)
            .into_iter()
            .flatten()
        {
            let folder = entry
                .path()
                .parent()
                .unwrap()
                .file_name()
                .unwrap()
                .to_string_lossy()
                .into_owned();
            assert!(names.contains(&folder), "{} is of no target", entry.path().display());
            size += entry.metadata().unwrap().len();
        }
    }
    assert!(size <= MOST_KEPT, "{size} bytes of inputs are kept");
}
