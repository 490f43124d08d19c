//! Rules about what people read and run: decisions, the README's two commands, the script of the continuous checks.

use std::os::unix::fs::PermissionsExt;

use super::{assert_none, files, root, text};

#[test]
fn decisions_are_numbered_without_gaps() {
    let mut numbers = Vec::new();
    let mut offenders = Vec::new();
    for path in files().into_iter().filter(|path| path.starts_with("docs/adr")) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        match name
            .split_once('-')
            .map(|(number, _)| (number.len(), number.parse::<usize>()))
        {
            Some((4, Ok(number))) if path.extension().is_some_and(|extension| extension == "md") => numbers.push(number),
            _ => offenders.push(name),
        }
    }
    assert_none("a decision is docs/adr/NNNN-title.md", &offenders);
    assert!(!numbers.is_empty(), "no decision was found");
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=numbers.len()).collect::<Vec<_>>(), "each number once, from 1");
}

#[test]
fn the_readme_sets_up_with_two_commands() {
    let readme = text("README.md".as_ref()).unwrap();
    let section = readme.split_once("\n## Set up\n").expect("a heading `## Set up`").1;
    let section = section.split("\n## ").next().unwrap();
    let blocks: Vec<&str> = section
        .split("```sh\n")
        .skip(1)
        .map(|block| block.split("```").next().unwrap().trim())
        .collect();
    assert_eq!(blocks.len(), 2, "two blocks of `sh`: {blocks:?}");
    for block in blocks {
        assert_eq!(
            block.lines().filter(|line| !line.trim_start().starts_with('#')).count(),
            1,
            "one command a block: {block}"
        );
    }
}

#[test]
fn the_continuous_checks_can_be_run() {
    let script = root().join(".ci/run");
    let mode = fs_err::metadata(&script).unwrap().permissions().mode();
    assert_eq!(mode & 0o111, 0o111, "{} is not executable: {mode:o}", script.display());
    assert!(fs_err::read_to_string(&script).unwrap().starts_with("#!"));
}
