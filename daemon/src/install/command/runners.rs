//! Programs and shells that only run another program: past them, which one is it? Words come in, a word's number goes out.

use std::path::Path;
use std::time::Duration;

use crate::install::breach::{self, Breach};

/// A program that runs another, by its options that take a word of their own, and the words before the other program.
struct Runner {
    name: &'static str,
    with_value: &'static [&'static str],
    words: usize,
}

/// What may stand before a hook without making it another's. Who runs it as another user (`sudo`) or elsewhere (`ssh`) does.
const RUNNERS: [Runner; 11] = [
    runner("env", &["-u", "--unset", "-C", "--chdir"], 0),
    runner("timeout", &["-s", "--signal", "-k", "--kill-after"], 1),
    runner("gtimeout", &["-s", "--signal", "-k", "--kill-after"], 1),
    runner("nice", &["-n", "--adjustment"], 0),
    runner("ionice", &["-c", "--class", "-n", "--classdata"], 0),
    runner("nohup", &[], 0),
    runner("exec", &["-a"], 0),
    runner("command", &[], 0),
    runner("time", &["-f", "--format", "-o", "--output"], 0),
    runner("setsid", &[], 0),
    runner("stdbuf", &["-i", "--input", "-o", "--output", "-e", "--error"], 0),
];

const fn runner(name: &'static str, with_value: &'static [&'static str], words: usize) -> Runner {
    Runner { name, with_value, words }
}

/// The program that the words from `from` on come to, past all that only runs it.
pub(super) fn program(words: &[&str], from: usize, breaches: &mut Vec<Breach>) -> Option<usize> {
    let mut at = from;
    while let Some(runner) = RUNNERS.iter().find(|runner| is_named(words.get(at).copied(), runner.name)) {
        at += 1;
        let options = at;
        while let Some(option) = words.get(at).filter(|word| word.starts_with('-')) {
            at += 1;
            if *option == "--" {
                break;
            }
            at += usize::from(runner.with_value.contains(option));
        }
        let given = words.get(options..at)?;
        if only_asks(runner.name, given) {
            return None;
        }
        let before = at;
        if runner.name == "env" {
            while words.get(at).is_some_and(|word| word.contains('=')) {
                at += 1;
            }
        }
        at += runner.words;
        breach::of_runner(runner.name, given, words.get(before..at)?, breaches);
    }
    words.get(at).map(|_| at)
}

/// Whether a program that runs others runs none with these options, but tells something.
fn only_asks(runner: &str, options: &[&str]) -> bool {
    let describes = |option: &&str| !option.starts_with("--") && option.starts_with('-') && option.contains(['v', 'V']);
    options.iter().any(|option| ["--help", "--version"].contains(option)) || runner == "command" && options.iter().any(describes)
}

fn is_named(word: Option<&str>, name: &str) -> bool {
    word.and_then(|word| Path::new(word).file_name())
        .is_some_and(|found| found == name)
}

/// The shells that take a line by `-c`.
const SHELLS: [&str; 6] = ["sh", "bash", "dash", "zsh", "ksh", "ash"];

/// The word that is the line of a shell which these words start.
pub(super) fn line_of_shell(words: &[&str]) -> Option<usize> {
    if !SHELLS.iter().any(|shell| is_named(words.first().copied(), shell)) {
        return None;
    }
    let mut takes_line = false;
    let mut at = 1;
    while let Some(option) = words.get(at).filter(|word| word.len() > 1 && word.starts_with(['-', '+'])) {
        takes_line |= !option.starts_with("--") && option.starts_with('-') && option.contains('c');
        at += if *option == "-o" { 2 } else { 1 };
    }
    (takes_line && at < words.len()).then_some(at)
}

/// The time that `timeout` takes: a number, in seconds or with a unit; `None` where there is no end, or it can't be read.
pub(in crate::install) fn limit(text: &str) -> Option<Duration> {
    let (number, unit) = match text.char_indices().next_back()? {
        (at, 's') => (&text[..at], 1.0),
        (at, 'm') => (&text[..at], 60.0),
        (at, 'h') => (&text[..at], 3_600.0),
        (at, 'd') => (&text[..at], 86_400.0),
        _ => (text, 1.0),
    };
    let seconds = number.parse::<f64>().ok().filter(|seconds| *seconds > 0.0)?;
    Duration::try_from_secs_f64(seconds * unit).ok()
}
