//! House rules that a machine can check, over every file of the repository: see CONTRIBUTING.md for why each is there.
//!
//! A rule is one test, and names all its offenders at once.

#![expect(clippy::unwrap_used, reason = "the helpers of these tests are tests, too")]

mod cases;
mod documents;
mod licences;
mod links;
mod literals;
mod manifests;
mod sbom;
mod sources;
mod supply;
mod systems;
mod unsafety;
mod words;
mod workflows;

use std::path::{Path, PathBuf};
use std::process::Command;

/// The repository's root.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Every file of the repository, as a path from its root: what git tracks or would track; all but the build's where there
/// is no git.
fn files() -> Vec<PathBuf> {
    let listed = Command::new("git")
        .arg("-C")
        .arg(root())
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .output();
    let mut files: Vec<PathBuf> = match listed {
        Ok(output) if output.status.success() => String::from_utf8(output.stdout)
            .unwrap()
            .split_terminator('\0')
            .map(PathBuf::from)
            .collect(),
        _ => walk(),
    };
    // A file that was deleted and not committed is listed still.
    files.retain(|path| root().join(path).is_file());
    files.sort();
    files.dedup();
    assert!(files.len() > 50, "the repository was not found");
    files
}

fn walk() -> Vec<PathBuf> {
    let skipped = [root().join("target"), root().join(".git")];
    let entries = walkdir::WalkDir::new(root())
        .into_iter()
        .filter_entry(|entry| !skipped.iter().any(|path| entry.path() == path));
    entries
        .flatten()
        .map(|entry| entry.path().strip_prefix(root()).unwrap().to_owned())
        .collect()
}

/// The text of a file of the repository; `None` where it is no text.
fn text(path: &Path) -> Option<String> {
    String::from_utf8(fs_err::read(root().join(path)).unwrap()).ok()
}

/// Every source file with its text.
fn rust_files() -> Vec<(PathBuf, String)> {
    let rust = files()
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    rust.map(|path| (path.clone(), text(&path).unwrap())).collect()
}

/// Whether the file holds tests alone.
fn is_test(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "tests.rs") || path.components().any(|part| part.as_os_str() == "tests")
}

/// Fails with all offenders.
fn assert_none(rule: &str, offenders: &[String]) {
    assert!(offenders.is_empty(), "{rule}:\n  {}", offenders.join("\n  "));
}
