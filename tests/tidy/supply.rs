//! Rules about what the lock file brings in: from where, with a checksum, nothing that is banned, nothing twice unseen. What
//! `cargo deny check sources bans` asks, without a network and on every run of the tests; see docs/supply-chain.md.

use std::collections::{BTreeMap, BTreeSet};

use super::{assert_none, text};

/// Crates of which the tree holds more than one version, since others ask for different ones. A new one is looked at, and put
/// here; one that is gone is taken out. The half of them (`cookie`, `http`, `icu_*` and below) come with
/// `fantoccini`, which only tests have.
const TWICE: &[&str] = &[
    "base64",
    "block-buffer",
    "const-oid",
    "cookie",
    "cpufeatures",
    "crypto-common",
    "digest",
    "fallible-iterator",
    "fancy-regex",
    "getrandom",
    "hashbrown",
    "http",
    "icu_collections",
    "icu_provider",
    "itertools",
    "litemap",
    "nix",
    "r-efi",
    "rand",
    "rand_core",
    "sha2",
    "syn",
    "synstructure",
    "thiserror",
    "thiserror-impl",
    "tinystr",
    "wasi",
    "windows-sys",
    "writeable",
    "yoke",
    "yoke-derive",
    "zerovec",
    "zerovec-derive",
];

/// A package of the lock file.
pub(super) struct Locked {
    pub(super) name: String,
    pub(super) version: String,
    source: Option<String>,
    pub(super) checksum: Option<String>,
    /// The names of the packages that it needs.
    needs: BTreeSet<String>,
}

/// The packages of a lock file, in its order. Each key stands on a line of its own.
pub(super) fn locked(lock: &str) -> Vec<Locked> {
    let value = |package: &str, key: &str| {
        let found = package.lines().find_map(|line| line.strip_prefix(&format!("{key} = \"")));
        found.and_then(|rest| rest.strip_suffix('"')).map(str::to_owned)
    };
    let needs = |package: &str| {
        let list = package
            .split_once("dependencies = [\n")
            .and_then(|(_, rest)| rest.split("\n]").next());
        let names = list.unwrap_or_default().split('"').skip(1).step_by(2);
        names.filter_map(|name| name.split(' ').next()).map(str::to_owned).collect()
    };
    lock.split("[[package]]\n")
        .skip(1)
        .map(|package| Locked {
            name: value(package, "name").unwrap(),
            version: value(package, "version").unwrap(),
            source: value(package, "source"),
            checksum: value(package, "checksum"),
            needs: needs(package),
        })
        .collect()
}

/// What stands in quotes in the lines of deny.toml from the one that begins with `from` to the one that ends with `]`.
fn quoted_in_list(deny: &str, from: &str) -> Vec<String> {
    let mut quoted = Vec::new();
    for line in deny.lines().skip_while(|line| !line.starts_with(from)) {
        quoted.extend(line.split('"').skip(1).step_by(2).map(str::to_owned));
        if line.ends_with(']') {
            break;
        }
    }
    quoted
}

/// Crates that deny.toml bans, each with those that may bring it in all the same.
fn banned(deny: &str) -> BTreeMap<String, BTreeSet<String>> {
    let bans = deny.lines().filter_map(|line| line.trim_start().strip_prefix("{ crate = \""));
    bans.filter_map(|rest| {
        let (name, rest) = rest.split_once('"')?;
        let list = rest.split_once("wrappers = [").and_then(|(_, list)| list.split(']').next());
        let wrappers = list.unwrap_or_default().split('"').skip(1).step_by(2);
        Some((name.to_owned(), wrappers.map(str::to_owned).collect()))
    })
    .collect()
}

fn lock() -> Vec<Locked> {
    let packages = locked(&text("Cargo.lock".as_ref()).unwrap());
    assert!(packages.len() > 100, "the lock file was not read");
    packages
}

#[test]
fn all_comes_from_the_allowed_registry_with_a_checksum() {
    let allowed = quoted_in_list(&text("deny.toml".as_ref()).unwrap(), "allow-registry");
    assert!(!allowed.is_empty(), "deny.toml allows no registry");
    let allowed: BTreeSet<String> = allowed.iter().map(|registry| format!("registry+{registry}")).collect();
    let mut offenders = Vec::new();
    for package in lock() {
        match (&package.source, &package.checksum) {
            // Of the workspace.
            (None, None) if package.name.starts_with("remembrancer") => {}
            (Some(source), Some(checksum)) if allowed.contains(source) && checksum.len() == 64 => {}
            (source, checksum) => offenders.push(format!("{}: {source:?}, {checksum:?}", package.name)),
        }
    }
    assert_none("a package comes from deny.toml's registry, with its SHA-256", &offenders);
}

#[test]
fn nothing_that_is_banned_is_locked() {
    let banned = banned(&text("deny.toml".as_ref()).unwrap());
    assert!(banned.len() > 5, "the bans were not read");
    let packages = lock();
    let mut offenders = Vec::new();
    for package in &packages {
        let Some(may) = banned.get(&package.name) else { continue };
        let mut bring = packages.iter().filter(|other| other.needs.contains(&package.name)).peekable();
        if may.is_empty() || bring.peek().is_none() {
            offenders.push(package.name.clone());
        }
        let others = bring.filter(|other| !may.contains(&other.name));
        offenders.extend(others.map(|other| format!("{} by {}", package.name, other.name)));
    }
    assert_none("deny.toml bans it", &offenders);
}

#[test]
fn what_serves_the_page_is_no_client() {
    let manifest = text("Cargo.toml".as_ref()).unwrap();
    let named = |name: &str| {
        manifest
            .lines()
            .find(|line| line.starts_with(&format!("{name} = ")))
            .unwrap()
            .to_owned()
    };
    for name in ["axum", "hyper", "hyper-util"] {
        let line = named(name);
        assert!(line.contains("default-features = false"), "{line}");
        assert!(!line.contains("client") && !line.contains("tls"), "{line}");
    }
}

#[test]
fn what_is_there_in_two_versions_is_known() {
    let mut versions: BTreeMap<String, usize> = BTreeMap::new();
    for package in lock() {
        *versions.entry(package.name).or_default() += 1;
    }
    let twice: Vec<String> = versions
        .into_iter()
        .filter(|(_, count)| *count > 1)
        .map(|(name, _)| name)
        .collect();
    assert_eq!(
        twice, TWICE,
        "crates in several versions: see whether the second can be done without"
    );
}

#[test]
fn a_lock_file_is_read() {
    let lock = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1\"\nsource = \"registry+x\"\nchecksum = \"00\"\ndependencies = [\n \"b\",\n \"c 0.2.1\",\n]\n\n[[package]]\nname = \"b\"\nversion = \"2\"\n";
    let packages = locked(lock);
    let read: Vec<_> = packages
        .iter()
        .map(|package| (package.name.as_str(), package.source.as_deref(), package.checksum.as_deref()))
        .collect();
    assert_eq!(read, [("a", Some("registry+x"), Some("00")), ("b", None, None)]);
    let lock = "[[package]]\nname = \"a\"\nversion = \"1\"\ndependencies = [\n \"b\",\n \"c 1.2.3\",\n]\n";
    assert_eq!(locked(lock)[0].needs, BTreeSet::from(["b".to_owned(), "c".to_owned()]));
    let deny =
        "deny = [\n    { crate = \"x\", reason = \"r\" },\n    { crate = \"y\", wrappers = [\"a\", \"b\"], reason = \"r\" },\n]";
    let bans = BTreeMap::from([
        ("x".to_owned(), BTreeSet::new()),
        ("y".to_owned(), BTreeSet::from(["a".to_owned(), "b".to_owned()])),
    ]);
    assert_eq!(banned(deny), bans);
    assert_eq!(
        quoted_in_list("x = []\nallow = [\n  \"a\",\n  \"b\",\n]\nc = [\"d\"]", "allow"),
        ["a", "b"]
    );
}
