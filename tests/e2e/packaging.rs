//! What service managers are told: the systemd units and the launchd agent say what the daemon is, with known keys.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use plist::Value;
use remembrancer_tests::{Sandbox, sandbox, skip};

const UNIT: &str = include_str!("../../packaging/systemd/remembrancer.service");
const SOCKET_UNIT: &str = include_str!("../../packaging/systemd/remembrancer.socket");
const NAMESPACES: &str = include_str!("../../packaging/systemd/remembrancer.service.d/namespaces.conf");
const DROP_IN: &str = include_str!("../../packaging/systemd/remembrancer.service.d/read-only-home.conf");
const INSTRUCTION_FILES: &str = include_str!("../../packaging/systemd/remembrancer.service.d/instruction-files.conf");
const SHARE: &str = include_str!("../../packaging/systemd/remembrancer.service.d/share.conf");
const AGENT: &str = include_str!("../../packaging/launchd/dev.remembrancer.daemon.plist");

/// Section and key to the values of a unit file; fails on anything that is neither.
fn unit(text: &str) -> BTreeMap<(String, String), Vec<String>> {
    let mut section = String::new();
    let mut found: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for line in text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            name.clone_into(&mut section);
        } else {
            let (key, value) = line
                .split_once('=')
                .unwrap_or_else(|| panic!("neither section nor key: {line}"));
            found
                .entry((section.clone(), key.to_owned()))
                .or_default()
                .push(value.to_owned());
        }
    }
    found
}

#[test]
fn the_systemd_unit_runs_the_daemon() {
    let unit = unit(UNIT);
    let value = |section: &str, key: &str| unit.get(&(section.to_owned(), key.to_owned())).map(|values| values.join(" "));
    for (section, key, expected) in [
        ("Service", "Type", "notify"),
        ("Service", "ExecStart", "%h/.local/bin/remembrancer run"),
        ("Service", "Restart", "on-failure"),
        ("Service", "UMask", "0077"),
        ("Service", "NoNewPrivileges", "yes"),
        ("Service", "RestrictAddressFamilies", "AF_UNIX"),
        ("Install", "WantedBy", "default.target"),
    ] {
        assert_eq!(value(section, key).as_deref(), Some(expected), "{key}");
    }
    assert!(value("Unit", "Description").is_some());
    for key in ["Requires", "After"] {
        assert_eq!(value("Unit", key).as_deref(), Some("remembrancer.socket"), "{key}");
    }
    let watchdog: u64 = value("Service", "WatchdogSec").unwrap().parse().unwrap();
    assert!(watchdog >= 240, "word is given twice in this time, and wakes an idle machine");
    let stop: u64 = value("Service", "TimeoutStopSec").unwrap().parse().unwrap();
    assert!(
        stop > remembrancer::STOP.as_secs(),
        "the manager waits longer than the daemon takes"
    );
    let sections: BTreeSet<&str> = unit.keys().map(|(section, _)| section.as_str()).collect();
    assert_eq!(sections, BTreeSet::from(["Install", "Service", "Unit"]));
}

#[test]
fn the_socket_is_where_the_hook_looks_first() {
    let unit = unit(SOCKET_UNIT);
    let value = |section: &str, key: &str| unit.get(&(section.to_owned(), key.to_owned())).map(|values| values.join(" "));
    for (section, key, expected) in [
        ("Socket", "SocketMode", "0600"),
        ("Socket", "DirectoryMode", "0700"),
        ("Socket", "RemoveOnStop", "yes"),
        ("Install", "WantedBy", "sockets.target"),
    ] {
        assert_eq!(value(section, key).as_deref(), Some(expected), "{key}");
    }
    let sandbox = sandbox!();
    let runtime_folder = sandbox.home().join("run");
    let listens = value("Socket", "ListenStream").unwrap();
    assert_eq!(
        PathBuf::from(listens.replace("%t", runtime_folder.to_str().unwrap())),
        sandbox.places().socket_candidates()[0]
    );
}

/// The units in a folder of the sandbox, the service with the program under test: `%h` is the home of the user that asks, not $HOME.
fn units(sandbox: &Sandbox) -> PathBuf {
    let folder = sandbox.home().join("units");
    fs_err::create_dir_all(&folder).unwrap();
    let program = env!("CARGO_BIN_EXE_remembrancer-under-test");
    let service = UNIT.replace("%h/.local/bin/remembrancer", program);
    fs_err::write(folder.join("remembrancer.service"), service).unwrap();
    fs_err::write(folder.join("remembrancer.socket"), SOCKET_UNIT).unwrap();
    folder
}

/// What `install --service` puts beside the unit where it can, and what a user may.
const DROP_INS: [(&str, &str); 3] = [
    ("namespaces.conf", NAMESPACES),
    ("instruction-files.conf", INSTRUCTION_FILES),
    ("read-only-home.conf", DROP_IN),
];

fn put_drop_ins(folder: &Path, drop_ins: &[(&str, &str)]) {
    fs_err::create_dir_all(folder.join("remembrancer.service.d")).unwrap();
    for (name, text) in drop_ins {
        fs_err::write(folder.join("remembrancer.service.d").join(name), text).unwrap();
    }
}

/// What `systemd-analyze` says in the name of a user; `None`, with a printed reason, where it is absent.
fn analyze(sandbox: &Sandbox, arguments: &[&str], units: &[PathBuf]) -> Option<Output> {
    let output = Command::new("systemd-analyze")
        .args(["--user", "--no-pager"])
        .args(arguments)
        .args(units)
        .env("XDG_RUNTIME_DIR", sandbox.home().join("run"))
        .env("HOME", sandbox.home())
        .output();
    if output.is_err() {
        skip("there is no systemd-analyze");
    }
    output.ok()
}

#[test]
fn systemd_itself_takes_the_units() {
    let sandbox = sandbox!();
    let folder = units(&sandbox);
    put_drop_ins(&folder, &DROP_INS);
    put_drop_ins(&folder, &[("share.conf", SHARE)]);
    let both = ["remembrancer.service", "remembrancer.socket"].map(|name| folder.join(name));
    let Some(output) = analyze(&sandbox, &["verify", "--man=no"], &both) else {
        return;
    };
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let ours: Vec<&str> = said.lines().filter(|line| line.contains("remembrancer")).collect();
    assert!(output.status.success() && ours.is_empty(), "{said}");
}

#[test]
fn systemd_finds_the_service_little_exposed() {
    let sandbox = sandbox!();
    let folder = units(&sandbox);
    // In tenths. Nine tenths of the first is what only a service of the system can give up, or one in namespaces of its own:
    // capabilities (which are counted though a user's process has none), devices, the network, other users.
    for (threshold, drop_ins) in [(61, &DROP_INS[..0]), (15, &DROP_INS[..1]), (12, &DROP_INS[..])] {
        put_drop_ins(&folder, drop_ins);
        let arguments = ["security", "--offline=true", &format!("--threshold={threshold}")];
        let Some(output) = analyze(&sandbox, &arguments, &[folder.join("remembrancer.service")]) else {
            return;
        };
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        eprintln!("{}", said.lines().last().unwrap_or_default());
        assert!(
            output.status.success() && said.contains("Overall exposure level"),
            "over {threshold}: {said}{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

#[test]
fn the_launchd_agent_runs_the_daemon() {
    let agent = plist::Value::from_reader_xml(AGENT.as_bytes()).unwrap();
    let agent = agent.as_dictionary().unwrap();
    let expected = [
        ("Label", Value::from("dev.remembrancer.daemon")),
        ("RunAtLoad", Value::from(true)),
        ("Umask", Value::from(0o077)),
        ("ProcessType", Value::from("Standard")),
        ("LowPriorityIO", Value::from(true)),
    ];
    for (key, expected) in expected {
        assert_eq!(agent.get(key), Some(&expected), "{key}");
    }
    let kept_alive = agent["KeepAlive"].as_dictionary().unwrap();
    assert_eq!(kept_alive.get("SuccessfulExit"), Some(&Value::from(false)));
    let program: Vec<&str> = agent["ProgramArguments"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_string)
        .collect();
    let line = "exec \"$HOME/.local/bin/remembrancer\" run 2>>\"$HOME/Library/Logs/remembrancer.log\"";
    assert_eq!(program, ["/bin/sh", "-c", line]);
    let timeout = agent["ExitTimeOut"].as_unsigned_integer().unwrap();
    assert!(timeout > remembrancer::STOP.as_secs());
    let known = [
        "ExitTimeOut",
        "KeepAlive",
        "Label",
        "LowPriorityIO",
        "ProcessType",
        "ProgramArguments",
        "RunAtLoad",
        "ThrottleInterval",
        "Umask",
    ];
    let mut keys: Vec<&str> = agent.keys().map(String::as_str).collect();
    keys.sort_unstable();
    assert_eq!(keys, known, "launchd passes over what it does not know");
}
