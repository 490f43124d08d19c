//! What only some operating systems have stands in one module of each crate, so that another system is a matter of that module.

use std::path::Path;

use super::{assert_none, is_test, rust_files};

/// The crates whose code every system is to have.
const CRATES: [&str; 4] = ["schema/src", "processor/src", "daemon/src", "hooks/src"];

/// Names that some systems do not have.
const OF_SOME_SYSTEMS: [&str; 11] = [
    "std::os::",
    "fs_err::os",
    "tokio::signal",
    "rustix::",
    "libc::",
    "sd_notify::",
    "listenfd::",
    "UnixListener",
    "UnixStream",
    "\"/proc/",
    "cfg(target_os",
];

#[test]
fn what_only_some_systems_have_stands_in_one_module_of_each_crate() {
    let mut offenders = Vec::new();
    for (path, text) in rust_files() {
        if !CRATES.iter().any(|source| path.starts_with(source)) || is_test(&path) || is_system_module(&path) {
            continue;
        }
        let in_code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
        for (number, line) in in_code.lines().enumerate() {
            let code = line.split("//").next().unwrap();
            if OF_SOME_SYSTEMS.iter().any(|name| code.contains(name)) {
                offenders.push(format!("{}:{}: {}", path.display(), number + 1, line.trim()));
            }
        }
    }
    assert_none("put it into the crate's `system` module, as a plain function", &offenders);
}

fn is_system_module(path: &Path) -> bool {
    let below = CRATES.iter().find_map(|source| path.strip_prefix(source).ok());
    below.is_some_and(|path| path == "system.rs" || path.starts_with("system"))
}

#[test]
fn each_module_of_a_system_is_there() {
    for source in ["schema/src", "daemon/src", "hooks/src"] {
        assert!(is_system_module(&Path::new(source).join("system.rs")));
        assert!(super::root().join(source).join("system.rs").is_file(), "{source}");
    }
    assert!(!is_system_module(Path::new("daemon/src/system_check.rs")));
}
