//! Rules about the workflows on the forge: they can be read, take nothing that can change under them, and may do little.

use std::path::PathBuf;

use saphyr::{LoadableYamlNode, Yaml};

use super::{assert_none, files, root, text};

fn workflows() -> Vec<(PathBuf, String)> {
    let found: Vec<PathBuf> = files()
        .into_iter()
        .filter(|path| path.starts_with(".github/workflows"))
        .collect();
    assert!(found.len() >= 2, "no workflows were found");
    found.into_iter().map(|path| (path.clone(), text(&path).unwrap())).collect()
}

/// All jobs of a workflow, with their names.
fn jobs<'a>(workflow: &'a Yaml<'a>) -> Vec<(&'a str, &'a Yaml<'a>)> {
    let jobs = workflow["jobs"].as_mapping().expect("a workflow has jobs");
    jobs.iter().map(|(name, job)| (name.as_str().unwrap(), job)).collect()
}

#[test]
fn workflows_are_whole() {
    for (path, text) in workflows() {
        let documents = Yaml::load_from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let [workflow] = documents.as_slice() else {
            panic!("{}: not one document", path.display())
        };
        assert!(
            workflow["name"].as_str().is_some() && workflow["on"].is_mapping(),
            "{}",
            path.display()
        );
        assert_eq!(
            workflow["permissions"]["contents"].as_str(),
            Some("read"),
            "{}: what a job may do beyond reading, it says itself",
            path.display()
        );
        for (name, job) in jobs(workflow) {
            assert!(job["runs-on"].as_str().is_some(), "{}: {name}", path.display());
            for step in job["steps"].as_sequence().expect("a job has steps") {
                let acts = ["uses", "run"]
                    .into_iter()
                    .filter(|key| step.contains_mapping_key(key))
                    .count();
                assert_eq!(acts, 1, "{}: {name}: {step:?}", path.display());
            }
        }
    }
}

#[test]
fn actions_are_pinned_and_no_secret_is_read() {
    let mut offenders = Vec::new();
    for (path, text) in workflows() {
        for (number, line) in text.lines().enumerate() {
            let place = format!("{}:{}", path.display(), number + 1);
            if let Some((_, action)) = line.split_once("uses: ") {
                let pinned = action.split_once('@').and_then(|(_, commit)| commit.split_once(" # v"));
                if !pinned.is_some_and(|(commit, _)| commit.len() == 40 && commit.chars().all(|c| c.is_ascii_hexdigit())) {
                    offenders.push(format!("{place}: {action}: name the commit, and its version in a comment"));
                }
            }
            if line.contains("secrets.") {
                offenders.push(format!("{place}: a secret"));
            }
        }
    }
    assert_none("a workflow takes nothing that can change under it", &offenders);
}

#[test]
fn the_scripts_that_workflows_run_are_there_and_the_compiler_is_the_manifest_s() {
    let manifest: toml::Table = text("Cargo.toml".as_ref()).unwrap().parse().unwrap();
    let oldest = manifest["workspace"]["package"]["rust-version"].as_str().unwrap();
    for (path, text) in workflows() {
        assert!(
            text.contains(&format!("RUST_VERSION: {oldest}.")),
            "{}: Rust {oldest}",
            path.display()
        );
        let run = text
            .lines()
            .filter_map(|line| line.split_once("run: "))
            .filter_map(|(_, command)| command.split(' ').next());
        for script in run.filter(|program| program.contains('/')) {
            assert!(root().join(script).is_file(), "{}: no {script}", path.display());
        }
    }
}
