//! What service managers are told: the systemd unit and the launchd agent say what the daemon is, with known keys.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use remembrancer_tests::{sandbox, skip};

const UNIT: &str = include_str!("../../packaging/systemd/remembrancer.service");
const DROP_IN: &str = include_str!("../../packaging/systemd/remembrancer.service.d/read-only-home.conf");
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
    let stop: u64 = value("Service", "TimeoutStopSec").unwrap().parse().unwrap();
    assert!(
        stop > remembrancer::STOP.as_secs(),
        "the manager waits longer than the daemon takes"
    );
    let sections: BTreeSet<&str> = unit.keys().map(|(section, _)| section.as_str()).collect();
    assert_eq!(sections, BTreeSet::from(["Install", "Service", "Unit"]));
}

#[test]
fn systemd_itself_takes_the_unit() {
    let sandbox = sandbox!();
    let programs = sandbox.home().join(".local/bin");
    let folder = sandbox.home().join("units");
    for made in [&programs, &folder.join("remembrancer.service.d")] {
        fs_err::create_dir_all(made).unwrap();
    }
    // %h is the home of the user that asks, not $HOME: the unit is told where this sandbox has its program.
    let program = env!("CARGO_BIN_EXE_remembrancer-under-test");
    fs_err::write(
        folder.join("remembrancer.service"),
        UNIT.replace("%h/.local/bin/remembrancer", program),
    )
    .unwrap();
    fs_err::write(folder.join("remembrancer.service.d/read-only-home.conf"), DROP_IN).unwrap();
    let verified = Command::new("systemd-analyze")
        .args(["--user", "verify", "--man=no"])
        .arg(folder.join("remembrancer.service"))
        .env("XDG_RUNTIME_DIR", sandbox.home().join("run"))
        .env("HOME", sandbox.home())
        .output();
    let Ok(output) = verified else {
        return skip("there is no systemd-analyze");
    };
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let ours: Vec<&str> = said.lines().filter(|line| line.contains("remembrancer")).collect();
    assert!(output.status.success() && ours.is_empty(), "{said}");
}

#[test]
fn the_launchd_agent_runs_the_daemon() {
    // No parser of XML is worth its place here: tags are checked to be balanced, and the keys that matter are read.
    let mut open = Vec::new();
    let body = AGENT.split_once("<plist").unwrap().1;
    let body = format!("<plist{body}");
    let mut rest = strip_comments(&body);
    while let Some((_, after)) = rest.split_once('<') {
        let (tag, after) = after.split_once('>').unwrap();
        let name = tag.split_whitespace().next().unwrap().trim_end_matches('/').to_owned();
        if let Some(closed) = name.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(closed), "tags are balanced");
        } else if !tag.ends_with('/') {
            open.push(name);
        }
        rest = after.to_owned();
    }
    assert_eq!(open, Vec::<String>::new());
    let value = |key: &str| {
        let after = body
            .split_once(&format!("<key>{key}</key>"))
            .unwrap_or_else(|| panic!("no {key}"))
            .1
            .trim_start()
            .to_owned();
        after.split('\n').next().unwrap().trim().to_owned()
    };
    assert_eq!(value("Label"), "<string>dev.remembrancer.daemon</string>");
    assert_eq!(value("RunAtLoad"), "<true/>");
    assert_eq!(value("SuccessfulExit"), "<false/>");
    assert_eq!(value("Umask"), format!("<integer>{}</integer>", 0o077));
    assert!(body.contains("remembrancer\" run</string>"));
    let timeout: u64 = value("ExitTimeOut")
        .replace("<integer>", "")
        .replace("</integer>", "")
        .parse()
        .unwrap();
    assert!(timeout > remembrancer::STOP.as_secs());
}

fn strip_comments(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("<!--") {
        kept.push_str(before);
        rest = after.split_once("-->").expect("a comment ends").1;
    }
    kept + rest
}
