//! Every fuzz target on the stable compiler: on its seeds, on what fuzzing has kept and found, and on a bounded number of changes of
//! these. An input on which a promise breaks is named, or written down where it was made here. See docs/fuzzing.md.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use remembrancer_processor::Deadline;
use remembrancer_tests::fuzz::{Mutator, TARGETS, Target, seeds};

/// Changed inputs of each target, which a target stops before where they take longer than this.
const CHANGED: usize = 600;
const PATIENCE: Duration = Duration::from_millis(800);
/// All kept inputs together, in bytes: they are in every clone.
const MOST_KEPT: u64 = 1024 * 1024;

/// Says which input it was when a promise breaks.
struct Running<'a> {
    target: Target,
    place: &'a dyn Fn() -> String,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{} breaks on {}", self.target.name, (self.place)());
        }
    }
}

fn run(target: Target, input: &[u8], place: &dyn Fn() -> String) {
    let _running = Running { target, place };
    (target.run)(input);
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
    for target in TARGETS {
        let seeds = seeds::of(target.name);
        assert!(!seeds.is_empty(), "{} has no seeds", target.name);
        for (number, seed) in seeds.iter().enumerate() {
            run(*target, seed, &|| format!("its seed {number}"));
        }
    }
}

#[test]
fn every_target_holds_on_what_fuzzing_kept_and_found() {
    for target in TARGETS {
        for (path, input) in ["corpus", "findings"]
            .into_iter()
            .flat_map(|kind| seeds::kept(kind, target.name))
        {
            run(*target, &input, &|| path.display().to_string());
        }
    }
}

#[test]
fn every_target_holds_on_changed_inputs() {
    for target in TARGETS {
        let inputs = inputs(*target);
        let mut mutator = Mutator::new(target.name);
        let deadline = Deadline::after(PATIENCE);
        for number in 0..CHANGED {
            if deadline.has_passed() {
                break;
            }
            let input = mutator.next(&inputs);
            run(*target, &input, &|| {
                let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{number}", target.name));
                fs_err::write(&path, &input).map_or_else(|error| error.to_string(), |()| path.display().to_string())
            });
        }
    }
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
