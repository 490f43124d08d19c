//! Rules about licences: what every dependency may be used under, by what its manifest says, and that all lists agree.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;
use spdx::{Expression, LicenseReq, ParseMode};
use toml::Table;

use super::{assert_none, root};

fn table(file: &str) -> Table {
    fs_err::read_to_string(root().join(file)).unwrap().parse().unwrap()
}

/// A list of licences in deny.toml or about.toml, as expressions that can be compared.
fn licences(list: &toml::Value) -> BTreeSet<String> {
    list.as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap().to_owned())
        .collect()
}

/// What deny.toml allows to all, and what it allows to one crate.
fn allowed() -> (BTreeSet<String>, Vec<(String, BTreeSet<String>)>) {
    let deny = table("deny.toml");
    let exceptions = deny["licenses"]["exceptions"].as_array().unwrap();
    let exceptions = exceptions
        .iter()
        .map(|one| (one["crate"].as_str().unwrap().to_owned(), licences(&one["allow"])));
    (licences(&deny["licenses"]["allow"]), exceptions.collect())
}

/// What cargo says of this system's build.
pub(super) fn metadata() -> Value {
    let host = String::from_utf8(Command::new("rustc").arg("-vV").output().unwrap().stdout).unwrap();
    let host = host.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--format-version=1",
            "--locked",
            "--offline",
            "--filter-platform",
            host,
        ])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The crates that this system's build takes, without those of the workspace.
fn dependencies() -> Vec<Value> {
    let metadata = metadata();
    let packages = metadata["packages"].as_array().unwrap();
    packages
        .iter()
        .filter(|package| !package["source"].is_null())
        .cloned()
        .collect()
}

/// Whether the licences in `allowed` are enough to use what stands under `expression`.
fn is_usable(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let parsed = Expression::parse_mode(expression, ParseMode::LAX);
    let is_allowed = |licence: &LicenseReq| allowed.contains(&licence.to_string());
    parsed.is_ok_and(|expression| expression.evaluate(is_allowed))
}

#[test]
fn every_dependency_may_be_used() {
    let (allowed, exceptions) = allowed();
    let packages = dependencies();
    assert!(packages.len() > 100, "the dependencies were not found");
    let mut offenders = Vec::new();
    for package in packages {
        let (name, licence) = (
            package["name"].as_str().unwrap(),
            package["license"].as_str().unwrap_or("none"),
        );
        let excepted = exceptions
            .iter()
            .any(|(one, allowed)| one == name && is_usable(licence, allowed));
        if !excepted && !is_usable(licence, &allowed) {
            offenders.push(format!("{name}: {licence}"));
        }
    }
    assert_none("deny.toml does not allow the licence", &offenders);
}

#[test]
fn packages_collect_what_is_allowed() {
    let (allowed, exceptions) = allowed();
    let about = table("packaging/licences/about.toml");
    assert_eq!(licences(&about["accepted"]), allowed);
    for (name, allowed) in exceptions {
        assert_eq!(licences(&about[&name]["accepted"]), allowed, "{name}");
    }
}

#[test]
fn expressions_are_read() {
    let allowed = ["MIT", "Unicode-3.0", "Apache-2.0 WITH LLVM-exception"]
        .map(str::to_owned)
        .into();
    for usable in [
        "MIT",
        "GPL-3.0-only OR MIT",
        "Zlib/MIT",
        "(MIT OR Zlib) AND Unicode-3.0",
        "Apache-2.0 WITH LLVM-exception",
    ] {
        assert!(is_usable(usable, &allowed), "{usable}");
    }
    for not in ["Apache-2.0", "MIT AND Zlib", "none", "", "(MIT OR"] {
        assert!(!is_usable(not, &allowed), "{not}");
    }
}
