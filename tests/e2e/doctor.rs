//! `doctor` on a home with seven agents: first all is well, then one thing after the other is broken.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use remembrancer_hooks::Agent;
use remembrancer_tests::{Sandbox, sandbox};
use serde_json::Value;

use crate::install::{Installed, said};

/// The folders of the agents that have the hook, in the order of `--help`.
const FOLDERS: [&str; 7] = [
    ".claude",
    ".codex",
    ".gemini",
    ".qwen",
    ".cursor",
    ".copilot",
    ".config/opencode",
];

/// Seven agents with the hook, Codex's entries trusted.
pub(crate) fn set_up(sandbox: &Sandbox) -> Installed<'_> {
    for folder in FOLDERS {
        fs_err::create_dir_all(sandbox.home().join(folder)).unwrap();
    }
    let installed = Installed::new(sandbox, "bin");
    let output = installed.run(&["install", "--yes"]);
    assert!(output.status.success(), "{}", said(&output));
    let hooks = sandbox.home().join(".codex/hooks.json");
    let state: String = ["user_prompt_submit", "session_start", "stop", "post_compact"]
        .map(|event| {
            format!(
                "[hooks.state.\"{}:{event}:0:0\"]\ntrusted_hash = \"sha256:0\"\n",
                hooks.display()
            )
        })
        .concat();
    fs_err::write(sandbox.home().join(".codex/config.toml"), state).unwrap();
    installed
}

/// What `doctor` finds, and whether it ends with success.
fn examine(installed: &Installed<'_>, arguments: &[&str]) -> (Vec<Value>, bool) {
    let output = installed.run(&[&["doctor", "--json"], arguments].concat());
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", said(&output)));
    (report["checks"].as_array().unwrap().clone(), output.status.success())
}

pub(crate) fn holds(checks: &[Value], subject: &str, verdict: &str, part: &str) -> bool {
    checks.iter().any(|check| {
        check["subject"] == subject && check["verdict"] == verdict && check["found"].as_str().unwrap().contains(part)
    })
}

/// Every file of the home but the database's own, with its content.
fn files(sandbox: &Sandbox) -> Vec<(PathBuf, Vec<u8>)> {
    let data = sandbox.places().data_dir();
    let entries = walkdir::WalkDir::new(sandbox.home())
        .sort_by_file_name()
        .into_iter()
        .flatten();
    entries
        .filter(|entry| entry.file_type().is_file() && !entry.path().starts_with(&data))
        .map(|entry| (entry.path().to_owned(), fs_err::read(entry.path()).unwrap()))
        .collect()
}

#[test]
fn a_home_in_order_passes_and_keeps_no_trace() {
    let sandbox = sandbox!();
    let installed = set_up(&sandbox);
    sandbox.transcript("older", "shop").topics(0..6);
    let daemon = sandbox.start();
    daemon.flush();
    daemon.embed_all();
    let (before, recalls) = (files(&sandbox), daemon.status()["recalls"].clone());
    let (checks, passed) = examine(&installed, &[]);
    assert!(passed, "{checks:#?}");
    for agent in Agent::ALL.iter().map(|agent| agent.id()) {
        for part in ["registered for", "is version", "transcript"] {
            assert!(holds(&checks, agent, "ok", part), "{agent}: {part}: {checks:#?}");
        }
        // On a busy machine the answer may be late, which is a warning.
        let seen = |verdict| holds(&checks, agent, verdict, "the model sees");
        assert!(seen("ok") || seen("warning"), "{agent}: {checks:#?}");
    }
    assert!(holds(&checks, "codex", "ok", "all 4 entries are trusted"), "{checks:#?}");
    assert!(
        holds(&checks, "claude-code", "ok", "the one transcript is read"),
        "{checks:#?}"
    );
    for part in ["the database is whole", "is yours alone", "asked for again came back"] {
        assert!(holds(&checks, "memory", "ok", part), "{part}: {checks:#?}");
    }
    assert_eq!(files(&sandbox), before, "no file is left or changed");
    assert_eq!(daemon.status()["recalls"], recalls, "no recall is counted");
    let why = sandbox.run(&["why"]);
    assert_eq!(why.status.code(), Some(3), "nothing is logged: {}", said(&why));
    eprintln!("{}", said(&installed.run(&["doctor"])));
    let (checks, _) = examine(&installed, &["--agent", "cursor"]);
    assert!(holds(&checks, "cursor", "ok", "registered for") && !holds(&checks, "codex", "ok", ""));
}

/// Changes a file's text at the first place.
pub(crate) fn edit(path: &Path, from: &str, to: &str) {
    let text = fs_err::read_to_string(path).unwrap();
    assert!(text.contains(from), "{text}");
    fs_err::write(path, text.replacen(from, to, 1)).unwrap();
}

/// A program in place of the hook.
fn script(home: &Path, name: &str, text: &str) -> String {
    let path = home.join(name).join("remembrancer-hook");
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

/// What breaks a home: the file that is changed, how, and the finding that tells it.
struct Broken {
    file: &'static str,
    act: fn(home: &Path, file: &Path),
    subject: &'static str,
    finding: &'static str,
}

const BROKEN: [Broken; 12] = [
    Broken {
        file: ".cursor/hooks.json",
        act: |_, file| fs_err::write(file, "{\n  \"hooks\": [,\n}").unwrap(),
        subject: "cursor",
        finding: "hooks.json:2:13",
    },
    Broken {
        file: ".gemini/settings.json",
        act: |home, file| edit(file, &home.join("bin").display().to_string(), "/nowhere"),
        subject: "gemini-cli",
        finding: "/nowhere/remembrancer-hook: there is no such program",
    },
    Broken {
        file: ".claude/settings.json",
        act: |home, file| edit(file, &home.join("bin").display().to_string(), "/nowhere"),
        subject: "claude-code",
        finding: "/nowhere/remembrancer-hook: there is no such program",
    },
    Broken {
        file: ".claude/settings.json",
        act: |_, file| edit(file, "{\n  \"hooks\"", "{\n  \"disableAllHooks\": true,\n  \"hooks\""),
        subject: "claude-code",
        finding: "disableAllHooks = true",
    },
    Broken {
        file: ".codex/config.toml",
        act: |_, file| edit(file, "[hooks.state", "[features]\nhooks = false\n[hooks.state"),
        subject: "codex",
        finding: "features.hooks = false",
    },
    Broken {
        file: ".codex/config.toml",
        act: |_, file| edit(file, "sha256:0\"\n[", "sha256:0\"\nenabled = false\n["),
        subject: "codex",
        finding: "are not trusted",
    },
    Broken {
        file: ".gemini/settings.json",
        act: |_, file| {
            edit(
                file,
                "{\n  \"hooks\"",
                "{\n  \"hooksConfig\": { \"enabled\": false },\n  \"hooks\"",
            );
        },
        subject: "gemini-cli",
        finding: "hooksConfig.enabled = false",
    },
    Broken {
        file: ".copilot/hooks/remembrancer.json",
        act: |_, file| fs_err::remove_file(file).unwrap(),
        subject: "copilot-cli",
        finding: "not registered",
    },
    Broken {
        file: ".qwen/settings.json",
        act: |_, file| edit(file, "\"Stop\"", "\"Start\""),
        subject: "qwen-code",
        finding: "not registered for Stop",
    },
    Broken {
        file: ".qwen/settings.json",
        act: |home, file| {
            let old = script(home, "old", "echo remembrancer-hook 0.0.1");
            edit(file, &home.join("bin/remembrancer-hook").display().to_string(), &old);
        },
        subject: "qwen-code",
        finding: "another version (remembrancer-hook 0.0.1)",
    },
    Broken {
        file: ".qwen/settings.json",
        act: |home, file| {
            let chatty = script(home, "chatty", "echo Hello; exec \"$HOME/bin/remembrancer-hook\" \"$@\"");
            edit(file, &home.join("bin/remembrancer-hook").display().to_string(), &chatty);
        },
        subject: "qwen-code",
        finding: "would refuse what came back",
    },
    Broken {
        file: ".config/remembrancer/config.toml",
        act: |_, file| fs_err::write(file, "[recall]\nsoon = 1\n").unwrap(),
        subject: "settings",
        finding: "soon",
    },
];

/// What keeps a hook from part of its work: the one that is played is heard all the same.
const INCOMPLETE: [Broken; 3] = [
    Broken {
        file: ".claude/settings.json",
        act: |_, file| edit(file, "\"compact|resume\"", "\"startup\""),
        subject: "claude-code",
        finding: "is not run for compact, resume",
    },
    Broken {
        file: ".claude/settings.json",
        act: |_, file| edit(file, "\"timeout\": 2", "\"timeout\": 0.1"),
        subject: "claude-code",
        finding: "timeout 0.1",
    },
    Broken {
        file: ".claude/settings.json",
        act: |_, file| edit(file, "\"claude-code\"", "\"clod\""),
        subject: "claude-code",
        finding: "is for an agent `clod`",
    },
];

#[test]
fn what_is_broken_fails_and_is_named() {
    let sandbox = sandbox!();
    let installed = set_up(&sandbox);
    sandbox.configure("");
    let daemon = sandbox.start();
    daemon.flush();
    let all = BROKEN.iter().map(|broken| (broken, false));
    for (broken, may_be_heard) in all.chain(INCOMPLETE.iter().map(|broken| (broken, true))) {
        let Broken {
            file,
            act,
            subject,
            finding,
        } = broken;
        let file = sandbox.home().join(file);
        let whole = fs_err::read(&file).unwrap();
        act(&sandbox.home(), &file);
        let (checks, passed) = examine(&installed, &[]);
        assert!(
            !passed && holds(&checks, subject, "FAILED", finding),
            "{finding}: {checks:#?}"
        );
        let is_heard = holds(&checks, subject, "ok", "the model sees it");
        assert!(may_be_heard || !is_heard, "{finding}: {checks:#?}");
        fs_err::write(&file, whole).unwrap();
    }
    let data = sandbox.places().data_dir();
    for mode in [0o755, 0o500] {
        fs_err::set_permissions(&data, std::fs::Permissions::from_mode(mode)).unwrap();
        let (checks, passed) = examine(&installed, &[]);
        assert!(
            !passed && holds(&checks, "memory", "FAILED", "not yours alone"),
            "{mode:o}: {checks:#?}"
        );
    }
    fs_err::set_permissions(&data, std::fs::Permissions::from_mode(0o700)).unwrap();
    assert!(examine(&installed, &[]).1, "all is as before");
    drop(daemon);
    let (checks, passed) = examine(&installed, &[]);
    assert!(!passed && holds(&checks, "daemon", "FAILED", "no daemon"), "{checks:#?}");
    assert!(holds(&checks, "cursor", "FAILED", "could not be played"), "{checks:#?}");
}

#[test]
fn a_hook_that_is_run_twice_is_a_warning() {
    let sandbox = sandbox!();
    let installed = set_up(&sandbox);
    fs_err::create_dir_all(sandbox.home().join(".gemini/extensions/remembrancer")).unwrap();
    let settings = sandbox.home().join(".claude/settings.json");
    edit(
        &settings,
        "{\n  \"hooks\"",
        "{\n  \"enabledPlugins\": { \"remembrancer@remembrancer\": true },\n  \"hooks\"",
    );
    let (checks, _) = examine(&installed, &[]);
    for agent in ["gemini-cli", "claude-code"] {
        assert!(holds(&checks, agent, "warning", "run twice"), "{agent}: {checks:#?}");
    }
    let uninstalled = installed.run(&["uninstall", "--yes", "--agent", "gemini-cli"]);
    assert!(uninstalled.status.success());
    let (checks, _) = examine(&installed, &["--agent", "gemini-cli"]);
    assert!(holds(&checks, "gemini-cli", "ok", "by the plugin"), "{checks:#?}");
}
