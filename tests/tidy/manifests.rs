//! Rules about manifests: which way dependencies point, and where versions stand.

use std::path::Path;

use toml::{Table, Value};

use super::{assert_none, root};

const MEMBERS: [&str; 6] = ["schema", "processor", "daemon", "hooks", "tests", "tests/preload"];

/// What a crate must never link: arrows point one way, and the hook stays small.
const BANNED: [(&str, &[&str]); 3] = [
    (
        "schema",
        &[
            "candle-core",
            "candle-nn",
            "candle-transformers",
            "tokenizers",
            "tokio",
            "notify",
            "clap",
            "remembrancer",
            "remembrancer-hooks",
            "remembrancer-processor",
        ],
    ),
    (
        "processor",
        &["tokio", "notify", "clap", "rusqlite", "remembrancer", "remembrancer-hooks"],
    ),
    (
        "hooks",
        &[
            "tokio",
            "rusqlite",
            "candle-core",
            "candle-nn",
            "candle-transformers",
            "fs-err",
            "remembrancer",
            "remembrancer-processor",
            "remembrancer-schema",
        ],
    ),
];

fn manifest(member: &str) -> Table {
    fs_err::read_to_string(root().join(member).join("Cargo.toml"))
        .unwrap()
        .parse()
        .unwrap()
}

/// The dependencies of every kind, with the table that each stands in.
fn dependencies(manifest: &Table) -> Vec<(&'static str, String, Value)> {
    let mut found = Vec::new();
    for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
        for (name, value) in manifest.get(kind).and_then(Value::as_table).into_iter().flatten() {
            found.push((kind, name.clone(), value.clone()));
        }
    }
    assert!(
        !manifest.contains_key("target"),
        "look at the dependencies of one platform, too"
    );
    found
}

#[test]
fn dependencies_point_one_way() {
    let mut offenders = Vec::new();
    for (member, banned) in BANNED {
        let found = dependencies(&manifest(member))
            .into_iter()
            .filter(|(_, name, _)| banned.contains(&name.as_str()));
        offenders.extend(found.map(|(kind, name, _)| format!("{member}: {name} in [{kind}]")));
    }
    assert_none("schema <- processor <- daemon -> hooks", &offenders);
}

#[test]
fn the_workspace_has_the_crates_that_are_looked_at() {
    let root = manifest(".");
    let members: Vec<&str> = root["workspace"]["members"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert_eq!(members, MEMBERS);
    assert!(
        root["workspace"].get("default-members").is_none(),
        "they would leave the tests out of `cargo test`"
    );
}

#[test]
fn versions_stand_in_the_root_manifest_alone() {
    let mut offenders = Vec::new();
    for member in MEMBERS {
        let manifest = manifest(member);
        if manifest["package"]["version"].get("workspace").is_none() {
            offenders.push(format!("{member}: its own version"));
        }
        for (kind, name, value) in dependencies(&manifest) {
            if value.get("workspace") != Some(&Value::Boolean(true)) {
                offenders.push(format!("{member}: {name} in [{kind}]"));
            }
        }
    }
    assert_none(
        "write `name.workspace = true`, and the version in the root's [workspace.dependencies]",
        &offenders,
    );
}

#[test]
fn every_crate_follows_the_workspace_s_lints() {
    let own = MEMBERS.into_iter().filter(|member| {
        manifest(member)
            .get("lints")
            .and_then(|lints| lints.get("workspace"))
            .is_none()
    });
    assert_none("add [lints] workspace = true", &own.map(str::to_owned).collect::<Vec<_>>());
}

#[test]
fn the_lockfile_is_there() {
    assert!(root().join(Path::new("Cargo.lock")).is_file());
}
