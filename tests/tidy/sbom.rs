//! Rules about the list of what is in the programs (SBOM) that the packages bring: it is whole, says nothing that the lock file does
//! not, and is the same each time. It is written by `packaging/sbom.py`.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use remembrancer_tests::skip;
use serde_json::Value;

use super::licences::metadata;
use super::supply::locked;
use super::{root, text};

/// Crates that only tests use: a sample that must not be listed.
const OF_TESTS: &[&str] = &["criterion", "insta", "proptest", "remembrancer-tests", "rstest", "saphyr"];

/// The list for this system; `None`, with a printed reason, where it can't be written here.
fn sbom(moment: &str) -> Option<String> {
    let mut command = Command::new("python3");
    command
        .arg(root().join("packaging/sbom.py"))
        .env("CARGO", env!("CARGO"))
        .env("SOURCE_DATE_EPOCH", moment);
    let Ok(output) = command.output() else {
        skip("there is no python3, by which the list is written");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

fn strings<'a>(list: &'a Value, key: &str) -> BTreeSet<&'a str> {
    list.as_array()
        .unwrap()
        .iter()
        .map(|one| one[key].as_str().unwrap())
        .collect()
}

/// The crates that the daemon's package needs to be built, by the manifests: a feature that only tests ask for may bring in more.
fn needed() -> BTreeSet<String> {
    let metadata = metadata();
    let nodes: BTreeMap<&str, &Value> = metadata["resolve"]["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|node| (node["id"].as_str().unwrap(), node))
        .collect();
    let packages = metadata["packages"].as_array().unwrap();
    let name = |id: &str| {
        packages.iter().find(|package| package["id"] == id).unwrap()["name"]
            .as_str()
            .unwrap()
    };
    let mut open: Vec<&str> = nodes.keys().copied().filter(|id| name(id) == "remembrancer").collect();
    let (mut found, mut seen) = (BTreeSet::new(), BTreeSet::new());
    while let Some(id) = open.pop() {
        // By id: of two versions of a crate each has needs of its own.
        if !seen.insert(id) {
            continue;
        }
        found.insert(name(id).to_owned());
        for edge in nodes[id]["deps"].as_array().unwrap() {
            if edge["dep_kinds"].as_array().unwrap().iter().any(|kind| kind["kind"] != "dev") {
                open.push(edge["pkg"].as_str().unwrap());
            }
        }
    }
    found
}

#[test]
fn the_list_of_components_is_what_is_built_and_locked() {
    let Some(written) = sbom("1795000000") else { return };
    let bom: Value = serde_json::from_str(&written).unwrap();
    assert_eq!((&bom["bomFormat"], &bom["specVersion"]), (&"CycloneDX".into(), &"1.5".into()));
    assert!(bom["serialNumber"].as_str().unwrap().starts_with("urn:uuid:"));
    assert_eq!(bom["metadata"]["timestamp"], "2026-11-18T11:06:40Z");
    assert_eq!(bom["metadata"]["component"]["name"], "remembrancer");
    assert_eq!(bom["metadata"]["component"]["type"], "application");

    let locked = locked(&text("Cargo.lock".as_ref()).unwrap());
    let components = bom["components"].as_array().unwrap();
    let names = strings(&bom["components"], "name");
    for component in components {
        let name = component["name"].as_str().unwrap();
        assert!(
            component["licenses"].as_array().is_some_and(|licences| !licences.is_empty()),
            "{name}"
        );
        if name == "sqlite" || name.starts_with("all-MiniLM") {
            continue;
        }
        let version = component["version"].as_str().unwrap();
        let package = locked
            .iter()
            .find(|package| package.name == name && package.version == version);
        let package = package.unwrap_or_else(|| panic!("{name} {version} is not locked"));
        let checksum = component["hashes"][0]["content"].as_str();
        assert_eq!(checksum, package.checksum.as_deref(), "{name}");
        let purl = checksum.map(|_| format!("pkg:cargo/{name}@{}", version.replace('+', "%2B")));
        assert_eq!(component["purl"].as_str(), purl.as_deref());
    }
    // What all ask for, and what is a part of others' source.
    for name in [
        "sqlite",
        "all-MiniLM-L6-v2",
        "rusqlite",
        "tokio",
        "candle-core",
        "remembrancer-hooks",
        "cc",
    ] {
        assert!(names.contains(name), "no {name}");
    }
    let scope = |name: &str| {
        components
            .iter()
            .find(|one| one["name"] == name)
            .map(|one| one["scope"].as_str().unwrap())
    };
    assert_eq!((scope("rusqlite"), scope("cc")), (Some("required"), Some("excluded")));

    let needed = needed();
    let unneeded: Vec<&&str> = names
        .iter()
        .filter(|name| !needed.contains(**name) && **name != "sqlite" && !name.starts_with("all-MiniLM"))
        .collect();
    assert_eq!(unneeded, [&""; 0], "no package needs them");
    let missing: Vec<&String> = needed
        .iter()
        .filter(|name| !names.contains(name.as_str()) && *name != "remembrancer")
        .collect();
    assert!(
        missing.len() < needed.len() / 10,
        "features of tests do not bring in that much: {missing:?}"
    );
    assert_eq!(OF_TESTS.iter().filter(|name| names.contains(**name)).count(), 0);

    let refs: BTreeSet<&str> = strings(&bom["components"], "bom-ref");
    assert_eq!(refs.len(), components.len(), "each once");
    let root = bom["metadata"]["component"]["bom-ref"].as_str().unwrap();
    for edge in bom["dependencies"].as_array().unwrap() {
        let from = edge["ref"].as_str().unwrap();
        assert!(from == root || refs.contains(from), "{from}");
        for to in edge["dependsOn"].as_array().unwrap() {
            assert!(refs.contains(to.as_str().unwrap()), "{from} needs {to}");
        }
    }
    assert_eq!(sbom("1795000000").as_deref(), Some(written.as_str()), "the same each time");
}
