//! The plugins that lie beside this crate, for each host's own installer, against the hosts' schemas as far as they are public, and
//! against the table of agents: what a plugin registers is what `install` would.

#![expect(clippy::disallowed_methods, reason = "the tests read plain files of this crate")]
#![expect(clippy::unwrap_used, reason = "the helpers of these tests are tests, too")]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use remembrancer_hooks::{Agent, VERSION};
use rstest::rstest;
use serde_json::{Map, Value, json};

/// One plugin, and what its host's documentation or code says of plugins.
struct Plugin {
    agent: &'static str,
    /// The plugin's folder below `hooks/`.
    root: &'static str,
    /// Where the host looks for the manifest in it.
    manifest: &'static str,
    /// The manifest's members that the host knows.
    members: &'static [&'static str],
    /// The events at which the host runs hooks.
    events: &'static [&'static str],
}

/// By the plugin reference and the hooks reference of Claude Code 2.1.
const CLAUDE_CODE: Plugin = Plugin {
    agent: "claude-code",
    root: "claude-code",
    manifest: ".claude-plugin/plugin.json",
    members: &[
        "name",
        "version",
        "description",
        "author",
        "homepage",
        "repository",
        "license",
        "keywords",
        "commands",
        "agents",
        "skills",
        "hooks",
        "mcpServers",
        "userConfig",
        "defaultEnabled",
    ],
    events: &[
        "SessionStart",
        "SessionEnd",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "Stop",
        "SubagentStart",
        "SubagentStop",
        "PreCompact",
        "PostCompact",
        "Notification",
    ],
};

/// By `core-plugins/src/manifest.rs` and `hooks/src` of Codex.
const CODEX: Plugin = Plugin {
    agent: "codex",
    root: "codex/remembrancer",
    manifest: ".codex-plugin/plugin.json",
    members: &[
        "name",
        "version",
        "description",
        "author",
        "homepage",
        "repository",
        "license",
        "keywords",
        "skills",
        "mcpServers",
        "apps",
        "hooks",
        "interface",
    ],
    events: &[
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PermissionRequest",
        "PostToolUse",
        "PreCompact",
        "PostCompact",
        "SubagentStart",
        "SubagentStop",
        "Stop",
    ],
};

/// By `docs/extensions/reference.md` and `docs/hooks/reference.md` of Gemini CLI.
const GEMINI_CLI: Plugin = Plugin {
    agent: "gemini-cli",
    root: "gemini-cli",
    manifest: "gemini-extension.json",
    members: &[
        "name",
        "version",
        "description",
        "mcpServers",
        "contextFileName",
        "excludeTools",
        "settings",
    ],
    events: &[
        "SessionStart",
        "SessionEnd",
        "BeforeAgent",
        "AfterAgent",
        "BeforeModel",
        "AfterModel",
        "BeforeToolSelection",
        "BeforeTool",
        "AfterTool",
        "PreCompress",
        "Notification",
    ],
};

/// By `schemas/plugin.schema.json` of `cursor/plugins` and Cursor's hooks reference.
const CURSOR: Plugin = Plugin {
    agent: "cursor",
    root: "cursor",
    manifest: ".cursor-plugin/plugin.json",
    members: &[
        "name",
        "displayName",
        "description",
        "version",
        "author",
        "publisher",
        "homepage",
        "repository",
        "license",
        "logo",
        "keywords",
        "category",
        "tags",
        "commands",
        "agents",
        "skills",
        "rules",
        "hooks",
        "variables",
        "mcpServers",
    ],
    events: &[
        "sessionStart",
        "sessionEnd",
        "beforeSubmitPrompt",
        "preToolUse",
        "postToolUse",
        "stop",
        "preCompact",
        "subagentStart",
        "subagentStop",
    ],
};

/// Where every plugin has its hooks, in its folder.
const HOOKS: &str = "hooks/hooks.json";

fn below(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn read(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn manifest(plugin: &Plugin) -> Map<String, Value> {
    let path = below(plugin.root).join(plugin.manifest);
    read(&path).as_object().cloned().unwrap()
}

fn is_kebab_case(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

/// The line that finds the hook where a login shell may not have told, and says nothing where there is none. `sh` itself runs it,
/// since a host may run it in a shell that is no POSIX shell.
fn line(agent: Agent) -> String {
    let id = agent.id();
    let script = format!(
        r#"PATH="$PATH:$HOME/.local/bin:/usr/local/bin"; command -v remembrancer-hook >/dev/null && exec remembrancer-hook --agent {id}; exit 0"#
    );
    format!("sh -c '{script}'")
}

/// The hooks that the table of agents asks for.
fn hooks_by_the_table(agent: Agent) -> Value {
    let registration = agent.registration();
    let mut handler = json!({"command": line(agent)});
    if registration.typed {
        handler["type"] = "command".into();
    }
    if let Some(limit) = &registration.timeout {
        handler[limit.key] = limit.count.into();
    }
    let of_event = |sources: &[&str]| match (registration.grouped, sources) {
        (false, _) => handler.clone(),
        (true, []) => json!({"hooks": [handler]}),
        (true, sources) => json!({"matcher": sources.join("|"), "hooks": [handler]}),
    };
    let events: Map<String, Value> = agent
        .events()
        .map(|(event, sources)| (event.to_owned(), json!([of_event(sources)])))
        .collect();
    match registration.version {
        Some(version) => json!({"version": version, "hooks": events}),
        None => json!({"hooks": events}),
    }
}

#[rstest]
#[case::claude_code(&CLAUDE_CODE)]
#[case::codex(&CODEX)]
#[case::gemini_cli(&GEMINI_CLI)]
#[case::cursor(&CURSOR)]
fn a_manifest_is_as_its_host_wants_it(#[case] plugin: &Plugin) {
    let manifest = manifest(plugin);
    for (member, value) in &manifest {
        assert!(plugin.members.contains(&member.as_str()), "{member} is unknown");
        let is_right = match member.as_str() {
            "keywords" => value.as_array().is_some_and(|words| words.iter().all(Value::is_string)),
            "author" => value["name"].is_string() && value.as_object().unwrap().len() == 1,
            "interface" => value.is_object(),
            _ => value.as_str().is_some_and(|text| !text.is_empty()),
        };
        assert!(is_right, "{member}: {value}");
    }
    assert!(is_kebab_case(manifest["name"].as_str().unwrap()));
    assert_eq!(manifest["version"], VERSION, "plugins are released together with the hook");
    assert!(manifest["description"].is_string());
    if let Some(hooks) = manifest.get("hooks") {
        assert_eq!(hooks, &format!("./{HOOKS}"), "below the plugin's folder, and so begun");
    }
}

#[rstest]
#[case::claude_code(&CLAUDE_CODE)]
#[case::codex(&CODEX)]
#[case::gemini_cli(&GEMINI_CLI)]
#[case::cursor(&CURSOR)]
fn a_plugin_registers_what_the_table_of_agents_says(#[case] plugin: &Plugin) {
    let agent = Agent::parse(plugin.agent).unwrap();
    assert_eq!(read(&below(plugin.root).join(HOOKS)), hooks_by_the_table(agent));
    for (event, _) in agent.events() {
        assert!(plugin.events.contains(&event), "the host knows no event {event}");
    }
}

#[rstest]
#[case::claude_code(&CLAUDE_CODE, "claude-code", ".claude-plugin/marketplace.json")]
#[case::codex(&CODEX, "codex", ".agents/plugins/marketplace.json")]
fn a_marketplace_offers_its_plugin(#[case] plugin: &Plugin, #[case] root: &str, #[case] file: &str) {
    let marketplace = read(&below(root).join(file));
    assert!(is_kebab_case(marketplace["name"].as_str().unwrap()));
    let [offered] = marketplace["plugins"].as_array().unwrap().as_slice() else {
        panic!("one plugin")
    };
    let manifest = manifest(plugin);
    assert_eq!(offered["name"], manifest["name"]);
    let source = match &offered["source"] {
        Value::String(path) => path,
        Value::Object(source) if source["source"] == "local" => source["path"].as_str().unwrap(),
        other => panic!("{other}"),
    };
    let inside = source.strip_prefix("./").expect("a path below the marketplace begins so");
    assert_eq!(
        below(root).join(inside),
        below(plugin.root).join(""),
        "as paths, whose last slash counts for nothing"
    );
    if plugin.agent == "claude-code" {
        assert!(marketplace["owner"]["name"].is_string());
        assert_eq!(offered["version"], manifest["version"]);
    } else {
        assert!(!inside.is_empty(), "Codex wants the plugin in a folder of its own");
        assert_eq!(
            offered["policy"],
            json!({"installation": "AVAILABLE", "authentication": "ON_INSTALL"})
        );
    }
}

/// Runs a plugin's line as a host does, in a home in which only `hook` may be.
fn run(line: &str, hook: Option<&str>) -> Output {
    let home = tempfile::tempdir().unwrap();
    let bin = home.path().join(".local/bin");
    std::fs::create_dir_all(&bin).unwrap();
    if let Some(script) = hook {
        let path = bin.join("remembrancer-hook");
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    }
    Command::new("sh")
        .args(["-c", line])
        .env_clear()
        .env("HOME", home.path())
        .env("PATH", "/usr/bin:/bin")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

#[test]
fn a_plugin_finds_the_hook_and_is_silent_without_it() {
    for agent in Agent::ALL {
        let absent = run(&line(*agent), None);
        assert!(
            absent.status.success() && absent.stdout.is_empty() && absent.stderr.is_empty(),
            "{agent:?}: {absent:?}"
        );
        let found = run(&line(*agent), Some("#!/bin/sh\nprintf '%s ' \"$@\"\n"));
        assert_eq!(String::from_utf8_lossy(&found.stdout), format!("--agent {} ", agent.id()));
    }
}

#[test]
fn claude_code_s_plugin_starts_the_server_that_install_would() {
    let servers = read(&below(CLAUDE_CODE.root).join(".mcp.json"));
    let script = r#"PATH="$PATH:$HOME/.local/bin:/usr/local/bin"; exec remembrancer mcp"#;
    let expected = json!({"mcpServers": {"remembrancer": {"command": "sh", "args": ["-c", script]}}});
    assert_eq!(servers, expected);
}

/// The commands that the plugins bring.
const COMMANDS: [&str; 3] = ["forget-last", "recall", "remember"];
/// The commands of our program that the plugins may tell an agent to run.
const RUN: [&str; 7] = ["forget", "mute", "remember", "search", "show", "status", "why"];

fn text(path: &str) -> String {
    let path = below(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The lines between the marks at the beginning of a text, as names and values, and what follows.
fn front_matter(text: &str) -> (Vec<(&str, &str)>, &str) {
    let (head, body) = text
        .strip_prefix("---\n")
        .and_then(|rest| rest.split_once("\n---\n\n"))
        .unwrap();
    (head.lines().map(|line| line.split_once(": ").unwrap()).collect(), body)
}

/// What `remembrancer …` names in a text that an agent is to read.
fn commands_run(text: &str) -> Vec<&str> {
    let named = text.split("`remembrancer ").skip(1);
    named.map(|rest| rest.split([' ', '`']).next().unwrap()).collect()
}

#[test]
fn every_host_has_the_same_commands() {
    for command in COMMANDS {
        let claude_code = text(&format!("claude-code/commands/{command}.md"));
        let (head, body) = front_matter(&claude_code);
        let members: Vec<&str> = head.iter().map(|(name, _)| *name).collect();
        assert_eq!(
            members,
            ["description", "argument-hint", "allowed-tools", "disable-model-invocation"],
            "{command}"
        );
        let cursor = text(&format!("cursor/commands/{command}.md"));
        let (cursor_head, of_cursor) = front_matter(&cursor);
        assert_eq!(cursor_head, [("name", command), head[0]]);
        assert_eq!(of_cursor, body.replace("$ARGUMENTS", "what stands behind the command"));
        let gemini_cli = text(&format!("gemini-cli/commands/{command}.toml"));
        let expected = format!(
            "description = \"{}\"\nprompt = '''\n{}'''\n",
            head[0].1,
            body.replace("$ARGUMENTS", "{{args}}")
        );
        assert_eq!(gemini_cli, expected);
        // By this the turn is known again in a transcript, and is not remembered.
        assert!(
            body.starts_with(&format!("This is Remembrancer's command `/{command}`: ")),
            "{command}"
        );
        // What hosts would run or read themselves before an agent sees it.
        assert!(!["!`", "!{", "@{"].iter().any(|sign| body.contains(sign)), "{command}");
        let run = commands_run(body);
        assert!(!run.is_empty() && run.iter().all(|name| RUN.contains(name)), "{run:?}");
    }
}

#[test]
fn every_plugin_brings_the_same_skill() {
    let skill = text("claude-code/skills/remembrancer/SKILL.md");
    for root in ["codex/remembrancer", "cursor", "gemini-cli"] {
        assert_eq!(text(&format!("{root}/skills/remembrancer/SKILL.md")), skill, "{root}");
    }
    let (head, body) = front_matter(&skill);
    let [("name", name), ("description", description)] = head.as_slice() else {
        panic!("{head:?}")
    };
    assert!(*name == "remembrancer" && is_kebab_case(name), "the name of its folder");
    assert!(description.len() <= 1_024, "{} characters are shown", description.len());
    assert!(body.lines().count() <= 500);
    let run = commands_run(body);
    for command in RUN {
        assert!(run.contains(&command), "{command} is not told of");
    }
    assert!(run.iter().all(|name| RUN.contains(name)), "{run:?}");
    assert_eq!(manifest(&CODEX)["skills"], "./skills/");
}
