//! Rules about source files: their length, their opening, their names, and what none of them may hold.

use std::path::Path;

use super::{assert_none, is_test, rust_files};

/// Lines of a source file. Newcomers get lost in longer ones.
const LINES: usize = 600;
/// Lines of a file of tests, which is read case by case.
const TEST_LINES: usize = 800;
/// Lines of a `lib.rs`: a table of contents, and no more.
const LIB_LINES: usize = 100;

#[test]
fn no_file_is_too_long() {
    let limit = |path: &Path| match path.file_name().unwrap().to_str() {
        Some("lib.rs") => LIB_LINES,
        _ if is_test(path) => TEST_LINES,
        _ => LINES,
    };
    let long = rust_files().into_iter().filter_map(|(path, text)| {
        let lines = text.lines().count();
        (lines > limit(&path)).then(|| format!("{}: {lines} lines, {} allowed", path.display(), limit(&path)))
    });
    assert_none(
        "split what is too long, or move its tests to a file of their own",
        &long.collect::<Vec<_>>(),
    );
}

#[test]
fn every_file_says_what_it_is() {
    let silent = rust_files()
        .into_iter()
        .filter(|(_, text)| !text.starts_with("//! "))
        .map(|(path, _)| path.display().to_string());
    // A file of tests is named by the file that it tests.
    let silent = silent.filter(|path| !path.ends_with("tests.rs"));
    assert_none(
        "a file opens with a `//!` paragraph: what comes in, what goes out",
        &silent.collect::<Vec<_>>(),
    );
}

#[test]
fn no_file_is_called_mod() {
    let found = rust_files()
        .into_iter()
        .filter(|(path, _)| path.file_name().is_some_and(|name| name == "mod.rs"));
    assert_none(
        "`foo.rs` and `foo/`, never `foo/mod.rs`",
        &found.map(|(path, _)| path.display().to_string()).collect::<Vec<_>>(),
    );
}

#[test]
fn nothing_is_allowed_unfinished_or_ignored() {
    let banned = [
        concat!("#[al", "low("),
        concat!("#![al", "low("),
        concat!("to", "do!("),
        concat!("unimple", "mented!("),
        concat!("#[ig", "nore"),
    ];
    let mut offenders = Vec::new();
    for (path, text) in rust_files() {
        for (number, line) in text.lines().enumerate() {
            let code = line.trim_start();
            if !code.starts_with("//") && banned.iter().any(|word| code.contains(word)) {
                offenders.push(format!("{}:{}: {code}", path.display(), number + 1));
            }
        }
    }
    assert_none(
        "use `#[expect(lint, reason = …)]`; finish it; skip a test with a printed reason",
        &offenders,
    );
}

#[test]
fn the_environment_is_read_in_two_places() {
    let readers = ["hooks/src/environment.rs", "daemon/src/cli/surroundings.rs"];
    let read = concat!("env::", "var");
    let mut offenders = Vec::new();
    for (path, text) in rust_files() {
        // Tests, their support and the examples may ask where the shared data is.
        let may =
            readers.iter().any(|reader| path == Path::new(reader)) || is_test(&path) || path.starts_with("processor/examples");
        let in_code = text.split("#[cfg(test)]").next().unwrap();
        if !may
            && in_code
                .lines()
                .any(|line| line.contains(read) && !line.trim_start().starts_with("//"))
        {
            offenders.push(path.display().to_string());
        }
    }
    assert_none("libraries take values; the environment is read at the edge", &offenders);
}
