//! `install` and `uninstall` on the settings of five agents in one home: what is registered is what the host starts.

use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use remembrancer_hooks::Agent;
use remembrancer_tests::{Sandbox, sandbox, topic};
use serde_json::{Value, json};

/// The settings of each agent before: as its own program writes them, as people do, and none at all.
const BEFORE: [(&str, &str, Option<&str>); 5] = [
    (
        "claude-code",
        ".claude/settings.json",
        Some(
            "{\n  // mine\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"UserPromptSubmit\": [\n      { \"hooks\": [ { \"type\": \"command\", \"command\": \"true\" } ] }\n    ]\n  }\n}\n",
        ),
    ),
    ("codex", ".codex/hooks.json", Some("{\"hooks\":{}}")),
    (
        "gemini-cli",
        ".gemini/settings.json",
        Some("\u{feff}{\r\n\t\"theme\": \"dark\"\r\n}"),
    ),
    ("cursor", ".cursor/hooks.json", Some("")),
    ("copilot-cli", ".copilot/hooks/remembrancer.json", None),
];

/// The program and the hook under their own names, in a folder whose name needs quoting.
pub(crate) struct Installed<'a> {
    sandbox: &'a Sandbox,
    program: PathBuf,
}

impl<'a> Installed<'a> {
    pub(crate) fn new(sandbox: &'a Sandbox, folder: &str) -> Self {
        let bin = sandbox.home().join(folder);
        fs_err::create_dir_all(&bin).unwrap();
        for (name, built) in [
            ("remembrancer", env!("CARGO_BIN_EXE_remembrancer-under-test")),
            ("remembrancer-hook", env!("CARGO_BIN_EXE_remembrancer-hook-under-test")),
        ] {
            // A link where the file system allows it: the binaries are large.
            if fs_err::hard_link(built, bin.join(name)).is_err() {
                fs_err::copy(built, bin.join(name)).unwrap();
            }
        }
        Self {
            sandbox,
            program: bin.join("remembrancer"),
        }
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let template = self.sandbox.command(&[]);
        let mut command = Command::new(&self.program);
        command.args(arguments).stdin(Stdio::null()).current_dir(self.sandbox.home());
        for (name, value) in template.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.env_remove("CODEX_HOME").env_remove("COPILOT_HOME");
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }
}

pub(crate) fn said(output: &Output) -> String {
    [&output.stdout, &output.stderr]
        .map(|bytes| String::from_utf8_lossy(bytes))
        .concat()
}

/// Every file below the agents' folders.
fn settings(sandbox: &Sandbox) -> BTreeMap<PathBuf, Vec<u8>> {
    let folders = [".claude", ".codex", ".gemini", ".qwen", ".cursor", ".copilot"].map(|name| sandbox.home().join(name));
    let entries = folders
        .iter()
        .filter(|folder| folder.exists())
        .flat_map(walkdir::WalkDir::new)
        .flatten();
    entries
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| (entry.path().to_owned(), fs_err::read(entry.path()).unwrap()))
        .collect()
}

fn write_before(sandbox: &Sandbox) {
    for (_, file, text) in BEFORE {
        let path = sandbox.home().join(file);
        fs_err::create_dir_all(sandbox.home().join(file.split('/').next().unwrap())).unwrap();
        if let Some(text) = text {
            fs_err::write(path, text).unwrap();
        }
    }
}

/// The command that a host starts at an event, as it starts it: the program itself, or a line by the shell.
fn registered(sandbox: &Sandbox, file: &str, event: &str) -> Command {
    let text = fs_err::read_to_string(sandbox.home().join(file)).unwrap();
    let text: String = text
        .trim_start_matches('\u{feff}')
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect();
    let settings: Value = serde_json::from_str(&text).unwrap();
    let element = settings["hooks"][event].as_array().unwrap().last().unwrap();
    let handler = element.get("hooks").map_or(element, |handlers| &handlers[0]);
    if let Some(arguments) = handler["args"].as_array() {
        let mut command = Command::new(handler["command"].as_str().unwrap());
        command.args(arguments.iter().map(|argument| argument.as_str().unwrap()));
        return command;
    }
    let line = handler.get("bash").unwrap_or(&handler["command"]);
    let mut command = Command::new("sh");
    command.args(["-c", line.as_str().unwrap()]);
    command
}

#[test]
fn tc_43_what_is_installed_for_five_agents_answers_and_goes_again() {
    let sandbox = sandbox!();
    let installed = Installed::new(&sandbox, "my programs");
    write_before(&sandbox);
    let before = settings(&sandbox);

    let output = installed.run(&["install", "--yes"]);
    assert!(output.status.success(), "{}", said(&output));
    assert!(
        said(&output).contains("+++ ") && said(&output).contains("Codex asks whether to trust"),
        "{}",
        said(&output)
    );
    let after = settings(&sandbox);
    let again = installed.run(&["install"]);
    assert!(again.status.success(), "{}", said(&again));
    assert_eq!(
        said(&again).matches(": nothing to do.").count(),
        BEFORE.len(),
        "{}",
        said(&again)
    );
    assert_eq!(settings(&sandbox), after, "a second time writes nothing");

    let daemon = sandbox.start();
    let (prompt, answer) = topic(1);
    sandbox.transcript("earlier", "shop").turn(&prompt, &answer);
    remembrancer_tests::eventually("the episode", crate::PATIENCE, || {
        (daemon.status()["episodes"] == 1).then_some(())
    });
    daemon.embed_all();
    for (agent, file, _) in BEFORE {
        let (event, _) = Agent::parse(agent).unwrap().events().next().unwrap();
        let session = if agent == "cursor" { "conversation_id" } else { "session_id" };
        let payload = json!({
            session: format!("asking-{agent}"),
            "cwd": sandbox.project("shop"),
            "hook_event_name": event,
            "prompt": prompt,
        });
        let mut command = registered(&sandbox, file, event);
        for (name, value) in sandbox.hook_command().get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(
            output.status.success() && output.stderr.is_empty(),
            "{agent}: {}",
            said(&output)
        );
        assert!(
            said(&output).contains("remembrancer-recollections"),
            "{agent}: {}",
            said(&output)
        );
    }
    drop(daemon);

    let output = installed.run(&["uninstall", "--yes"]);
    assert!(output.status.success(), "{}", said(&output));
    // What a transcript left is no setting.
    let mut left = settings(&sandbox);
    left.retain(|path, _| !path.starts_with(sandbox.root()));
    assert_eq!(left, before, "{}", said(&output));
    assert!(!sandbox.home().join(".copilot/hooks").exists());
}

#[test]
fn nothing_is_changed_without_a_yes() {
    let sandbox = sandbox!();
    let installed = Installed::new(&sandbox, "bin");
    write_before(&sandbox);
    let before = settings(&sandbox);
    let dry = installed.run(&["install", "--dry-run", "--agent", "cursor", "--agent", "codex"]);
    assert!(dry.status.success(), "{}", said(&dry));
    assert_eq!(said(&dry).matches("\n+++ ").count(), 2, "{}", said(&dry));
    let unasked = installed.run(&["install"]);
    assert_eq!(unasked.status.code(), Some(2), "{}", said(&unasked));
    assert!(said(&unasked).contains("hint: add --yes"), "{}", said(&unasked));
    assert_eq!(installed.run(&["install", "--agent", "emacs"]).status.code(), Some(2));
    assert_eq!(settings(&sandbox), before);
    let nothing = installed.run(&["uninstall"]);
    assert!(nothing.status.success(), "{}", said(&nothing));
}

#[test]
fn tc_43_what_cannot_be_edited_is_left_and_the_others_are_done() {
    let sandbox = sandbox!();
    let installed = Installed::new(&sandbox, "bin");
    let home = sandbox.home();
    for folder in [".codex", ".gemini", ".cursor", ".qwen"] {
        fs_err::create_dir_all(home.join(folder)).unwrap();
    }
    fs_err::write(home.join(".claude/settings.json"), "{\n  \"a\": 1\n  \"b\": 2\n}\n").unwrap();
    fs_err::write(home.join(".codex/hooks.json"), "{}").unwrap();
    fs_err::set_permissions(home.join(".codex/hooks.json"), std::fs::Permissions::from_mode(0o444)).unwrap();
    fs_err::os::unix::fs::symlink("/nowhere/settings.json", home.join(".gemini/settings.json")).unwrap();
    fs_err::write(home.join(".cursor/hooks.json"), "{\"hooks\": null}").unwrap();
    let before = settings(&sandbox);
    let output = installed.run(&["install", "--yes"]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let errors = String::from_utf8(output.stderr.clone()).unwrap();
    for expected in [
        ".claude/settings.json:2:9: expected comma; correct it there",
        ".codex/hooks.json is read-only; `chmod u+w` it",
        ".gemini/settings.json is a link to a file that is not there; ",
        ".cursor/hooks.json:1:11: \"hooks\" is no object; ",
    ] {
        assert_eq!(
            errors.lines().filter(|line| line.contains(expected)).count(),
            1,
            "{expected}:\n{errors}"
        );
    }
    let mut after = settings(&sandbox);
    assert!(after.remove(&home.join(".qwen/settings.json")).is_some(), "{}", said(&output));
    assert_eq!(after, before);
}

/// A `systemctl` that notes how it was called, and answers or not.
fn fake_systemctl(folder: &Path, answers: bool) {
    fake(folder, "systemctl", "calls", answers);
}

/// A program that notes in the file `calls` how it was called, and succeeds or not.
fn fake(folder: &Path, program: &str, calls: &str, succeeds: bool) {
    fs_err::create_dir_all(folder).unwrap();
    let script = format!(
        "#!/bin/sh\necho \"$@\" >> {}/{calls}\nexit {}\n",
        folder.display(),
        i32::from(!succeeds)
    );
    fs_err::write(folder.join(program), script).unwrap();
    fs_err::set_permissions(folder.join(program), std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
#[cfg(target_os = "linux")]
fn the_service_is_written_started_stopped_and_removed() {
    let sandbox = sandbox!();
    let installed = Installed::new(&sandbox, "my programs");
    fs_err::remove_dir_all(sandbox.home().join(".claude")).unwrap();
    let unit = sandbox.home().join(".config/systemd/user/remembrancer.service");
    let socket = unit.with_extension("socket");
    let path = |folder: &Path| format!("{}:/usr/bin:/bin", folder.display());

    let silent = sandbox.home().join("silent");
    fake_systemctl(&silent, false);
    let output = installed
        .command(&["install", "--service", "--yes"])
        .env("PATH", path(&silent))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert!(
        said(&output).contains("    systemctl --user restart remembrancer.socket remembrancer.service\n"),
        "{}",
        said(&output)
    );
    assert!(socket.exists());
    let text = fs_err::read_to_string(&unit).unwrap();
    let exec = format!(
        "\nExecStart=\"{}\" run\n",
        installed.program.canonicalize().unwrap().display()
    );
    assert!(text.contains(&exec), "{text}");

    let answering = sandbox.home().join("answering");
    fake_systemctl(&answering, true);
    let drop_in = unit.with_file_name("remembrancer.service.d/namespaces.conf");
    assert!(!drop_in.exists(), "nobody could be asked whether it would do");
    fake(&answering, "systemd-run", "trials", true);
    let run = |arguments: &[&str]| {
        let output = installed.command(arguments).env("PATH", path(&answering)).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
    };
    fs_err::remove_file(&unit).unwrap();
    run(&["install", "--service", "--yes"]);
    assert!(drop_in.exists());
    let trials = fs_err::read_to_string(answering.join("trials")).unwrap();
    assert!(
        trials.contains("--user --wait") && trials.contains("--property=PrivateUsers=yes"),
        "{trials}"
    );
    run(&["install", "--service"]);
    run(&["uninstall", "--service", "--yes"]);
    assert!(!unit.exists() && !socket.exists() && !drop_in.exists());
    assert!(!sandbox.home().join(".config/systemd").exists(), "no empty folder is left");
    let calls = fs_err::read_to_string(answering.join("calls")).unwrap();
    let calls: Vec<&str> = calls
        .lines()
        .filter(|call| !call.contains(" show ") && !call.contains("is-active"))
        .collect();
    assert_eq!(
        calls,
        [
            "--user daemon-reload",
            "--user enable remembrancer.socket remembrancer.service",
            "--user restart remembrancer.socket remembrancer.service",
            "--user disable --now remembrancer.socket remembrancer.service",
            "--user daemon-reload"
        ]
    );
}

#[test]
#[cfg(target_os = "linux")]
fn without_namespaces_the_service_does_without_and_says_so() {
    let sandbox = sandbox!();
    let installed = Installed::new(&sandbox, "bin");
    let fakes = sandbox.home().join("fakes");
    fake_systemctl(&fakes, true);
    let install = |has_namespaces: bool| {
        fake(&fakes, "systemd-run", "trials", has_namespaces);
        let mut command = installed.command(&["install", "--service", "--yes"]);
        let output = command
            .env("PATH", format!("{}:/usr/bin:/bin", fakes.display()))
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", said(&output));
        said(&output)
    };
    let drop_in = sandbox
        .home()
        .join(".config/systemd/user/remembrancer.service.d/namespaces.conf");
    for has_namespaces in [true, false] {
        let said = install(has_namespaces);
        assert_eq!(drop_in.exists(), has_namespaces);
        assert_eq!(
            said.contains("gives a service of yours no namespaces"),
            !has_namespaces,
            "{said}"
        );
    }
}

#[test]
fn a_folder_that_only_this_shell_names_is_told() {
    let sandbox = sandbox!();
    let installed = Installed::new(&sandbox, "bin");
    let folder = sandbox.home().join("claude-of-work");
    fs_err::create_dir_all(folder.join("projects")).unwrap();
    let line = format!("    claude-code = [{:?}]\n", folder.join("projects"));
    let install = || {
        let mut command = installed.command(&["install", "--yes", "--agent", "claude-code"]);
        let output = command.env("CLAUDE_CONFIG_DIR", &folder).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        said(&output)
    };
    assert!(install().contains(&line), "{}", install());
    let settings = format!("[transcripts]\nfolders = {{ {} }}\n", line.trim());
    sandbox.configure(&settings);
    assert!(!install().contains(&line), "{}", install());
}
