//! The plugin for `OpenCode`, loaded by a program that plays it: against a real daemon, and against hooks that are absent, late
//! or talk nonsense. Without `node` on the machine these tests are skipped.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use remembrancer_hooks::Agent;
use remembrancer_hooks::clock::BUDGET;
use remembrancer_hooks::protocol::Request;
use remembrancer_tests::{Sandbox, eventually, sandbox, skip, topic};
use serde_json::{Value, json};

use crate::PATIENCE;

/// How late a busy machine may notice that the plugin's time is over, in milliseconds.
const SLACK_MS: f64 = 120.0;

fn node_is_missing() -> bool {
    let missing = !Command::new("node")
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success());
    if missing {
        skip("there is no node");
    }
    missing
}

/// One call of a hook.
fn step(hook: &str, input: &Value, output: &Value) -> Value {
    json!({"hook": hook, "input": input, "output": output})
}

/// A message as the host hands it to its plugins, with these parts.
fn message(session: &str, parts: &Value) -> Value {
    let id = format!("msg_{session}");
    step(
        "chat.message",
        &json!({"sessionID": session}),
        &json!({"message": {"id": id, "role": "user"}, "parts": parts}),
    )
}

fn text(text: &str) -> Value {
    json!([{"id": "prt_0", "type": "text", "text": text}])
}

fn event(kind: &str, session: &str) -> Value {
    step(
        "event",
        &json!({"event": {"type": kind, "properties": {"sessionID": session}}}),
        &json!({}),
    )
}

fn system(session: &str) -> Value {
    step(
        "experimental.chat.system.transform",
        &json!({"sessionID": session, "model": {}}),
        &json!({"system": ["be kind"]}),
    )
}

/// Has the plugin in `file` called as in `steps`. Returns each output.
fn play(sandbox: &Sandbox, file: &Path, sessions: &Value, steps: &[Value]) -> Vec<Value> {
    // Outside of OpenCode's folder node has to be told that it is a module.
    let (plugin, host) = (sandbox.home().join("plugin.mjs"), sandbox.home().join("host.mjs"));
    fs_err::copy(file, &plugin).unwrap();
    fs_err::write(&host, include_str!("opencode.mjs")).unwrap();
    let template = sandbox.hook_command();
    let mut node = Command::new("node");
    for (name, value) in template.get_envs() {
        match value {
            Some(value) => node.env(name, value),
            None => node.env_remove(name),
        };
    }
    let output = node
        .arg(host)
        .arg(json!({"plugin": plugin, "sessions": sessions, "steps": steps}).to_string())
        .env_remove("OPENCODE_DB")
        .output()
        .unwrap();
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let results: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    for (step, result) in steps.iter().zip(&results) {
        let millis = result["millis"].as_f64().unwrap();
        assert!(millis <= BUDGET.as_secs_f64() * 1_000.0 + SLACK_MS, "{step}: {millis}");
    }
    results.into_iter().map(|mut result| result["output"].take()).collect()
}

/// What the plugin added to a message: the text of the part behind the person's own.
fn added(output: &Value) -> &str {
    output.pointer("/parts/1/text").and_then(Value::as_str).unwrap_or_default()
}

/// Writes a session whose prompt is `message` into the host's storage, as it does after its plugins had it.
fn written_by_opencode(sandbox: &Sandbox, folder: &str, message: &Value) {
    let storage = sandbox.home().join(".local/share/opencode/storage");
    let write = |path: &str, content: &Value| {
        let path = storage.join(path);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, content.to_string()).unwrap();
    };
    let time = json!({"created": 1_795_000_000_000_i64, "updated": 1_795_000_000_000_i64});
    for part in message["parts"].as_array().unwrap() {
        write(&format!("part/msg_1/{}.json", part["id"].as_str().unwrap()), part);
    }
    write(
        "part/msg_2/prt_1.json",
        &json!({"id": "prt_1", "messageID": "msg_2", "type": "text", "text": topic(7).1}),
    );
    write(
        "message/ses_w/msg_1.json",
        &json!({"id": "msg_1", "sessionID": "ses_w", "role": "user", "time": time}),
    );
    write(
        "message/ses_w/msg_2.json",
        &json!({"id": "msg_2", "sessionID": "ses_w", "role": "assistant", "time": time}),
    );
    write(
        "session/prj/ses_w.json",
        &json!({"id": "ses_w", "projectID": "prj", "directory": folder, "title": "t", "time": time}),
    );
}

fn registered(sandbox: &Sandbox) -> PathBuf {
    let registration = Agent::parse("opencode").unwrap().registration();
    let folder = sandbox.home().join(registration.folder);
    fs_err::create_dir_all(&folder).unwrap();
    let output = sandbox.run(&["install", "--agent", "opencode", "--yes"]);
    assert!(output.status.success(), "{output:?}");
    folder.join(registration.file)
}

/// What happens in the sessions of one attempt, in a project's folder: the sessions, and the calls.
fn sessions_and_steps(attempt: u32, folder: &str) -> (Value, [Value; 13]) {
    let named = |name: &str| format!("ses_{name}_{attempt}");
    let (person, other, child, long) = (named("person"), named("other"), named("child"), named("long"));
    let sessions = json!({
        &person: {"id": person, "directory": folder}, &other: {"id": other, "directory": folder},
        &child: {"id": child, "directory": folder, "parentID": person}, &long: {"id": long, "directory": folder},
    });
    let command = |words: &str| {
        let input = json!({"command": "review", "sessionID": other, "arguments": words});
        step("command.execute.before", &input, &json!({"parts": []}))
    };
    let asked = text(&topic(1).0);
    let mut synthetic = asked.clone();
    synthetic[0]["synthetic"] = true.into();
    let steps = [
        system(&long),
        event("session.compacted", &long),
        system(&long),
        system(&person),
        message(&person, &asked),
        message(&person, &asked),
        message(&child, &asked),
        message("ses_unknown", &asked),
        message(&other, &synthetic),
        command(""),
        message(&other, &asked),
        command(&topic(2).0),
        message(&other, &text("Look at what is asked for.")),
    ];
    (sessions, steps)
}

#[test]
fn opencode_s_plugin_adds_the_memory_to_a_person_s_prompts() {
    if node_is_missing() {
        return;
    }
    let sandbox = sandbox!(alone);
    sandbox.transcript("older", "shop").topics(0..6);
    let daemon = sandbox.start();
    daemon.wait_for_model();
    daemon.embed_all();
    let episodes = sandbox.episodes();
    let used = episodes.iter().find(|episode| episode.prompt == topic(3).0).unwrap();
    let (file, folder) = (registered(&sandbox), sandbox.project("shop"));
    let mut attempt = 0;
    let outputs = eventually("three answers in time", PATIENCE, || {
        attempt += 1;
        // What was used last is what a session is reminded of after a compaction.
        daemon.ask(&Request::Show { id: used.uid.short() });
        let (sessions, steps) = sessions_and_steps(attempt, &folder);
        let outputs = play(&sandbox, &file, &sessions, &steps);
        let answered = outputs[2]["system"][1].is_string() && !added(&outputs[4]).is_empty() && !added(&outputs[12]).is_empty();
        answered.then_some(outputs)
    });

    let part = &outputs[4]["parts"][1];
    assert!(added(&outputs[4]).contains("case1"), "{part}");
    assert_eq!((&part["type"], &part["synthetic"]), (&json!("text"), &json!(true)), "{part}");
    assert!(part["id"].as_str().unwrap().starts_with("prt_"), "{part}");
    assert_eq!(part["messageID"], outputs[4]["message"]["id"]);
    let silent = [
        (5, "a second firing"),
        (6, "a subagent"),
        (7, "an unknown session"),
        (8, "synthetic"),
        (10, "a bare command"),
    ];
    for (index, why) in silent {
        assert_eq!(outputs[index]["parts"].as_array().unwrap().len(), 1, "{why}");
    }
    assert!(
        added(&outputs[12]).contains("case2"),
        "a command's words are asked, not its template"
    );
    assert_eq!(outputs[0]["system"], json!(["be kind"]), "before the compaction");
    assert!(outputs[2]["system"][1].as_str().unwrap().contains("case3"), "{}", outputs[2]);
    assert_eq!(outputs[3]["system"], json!(["be kind"]), "of another session");

    written_by_opencode(&sandbox, &folder, &outputs[4]);
    daemon.flush();
    let read = sandbox.episodes();
    assert_eq!(read.len(), episodes.len() + 1);
    assert_eq!(read.last().unwrap().prompt, topic(1).0, "what we added is no person's words");

    let gone = sandbox.run(&["uninstall", "--agent", "opencode", "--yes"]);
    assert!(gone.status.success() && !file.parent().unwrap().exists(), "{gone:?}");
}

/// The plugin with another hook in place of ours: a script, or a path at which there is nothing.
fn plugin_with(sandbox: &Sandbox, script: Option<&str>) -> PathBuf {
    let hook = sandbox.home().join("remembrancer-hook");
    if let Some(script) = script {
        fs_err::write(&hook, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs_err::set_permissions(&hook, PermissionsExt::from_mode(0o755)).unwrap();
    }
    let text = Agent::parse("opencode").unwrap().registration().plugin.unwrap();
    let file = sandbox.home().join("remembrancer.js");
    fs_err::write(
        &file,
        text.replace("\"remembrancer-hook\"", &Value::from(hook.to_str().unwrap()).to_string()),
    )
    .unwrap();
    file
}

#[test]
fn opencode_s_plugin_is_silent_on_any_doubt() {
    if node_is_missing() {
        return;
    }
    let sandbox = sandbox!(alone);
    let sessions = json!({"ses": {"id": "ses", "directory": "/"}});
    let hooks = [
        ("absent", None),
        ("silent", Some("cat >/dev/null")),
        ("nonsense", Some("cat >/dev/null; echo remembrancer")),
        ("null", Some("echo null")),
        ("no text", Some("echo '{\"context\": 7}'")),
        ("failing", Some("exit 3")),
        ("late", Some("exec sleep 2")),
    ];
    for (what, script) in hooks {
        let file = plugin_with(&sandbox, script);
        let steps = [
            message("ses", &text("why?")),
            event("session.compacted", "ses"),
            system("ses"),
            event("session.idle", "ses"),
            step("chat.message", &json!({}), &json!({})),
            step("event", &json!({}), &json!({})),
        ];
        let outputs = play(&sandbox, &file, &sessions, &steps);
        assert_eq!(outputs[0]["parts"].as_array().unwrap().len(), 1, "{what}");
        assert_eq!(outputs[2]["system"], json!(["be kind"]), "{what}");
    }
}

#[test]
fn opencode_s_plugin_tells_where_a_turn_was_written() {
    if node_is_missing() {
        return;
    }
    let sandbox = sandbox!();
    let told = sandbox.home().join("told");
    let file = plugin_with(&sandbox, Some(&format!("cat >'{0}.new'; mv '{0}.new' '{0}'", told.display())));
    let data = sandbox.home().join(".local/share/opencode");
    for transcript in ["opencode.db", "storage/session/prj/ses.json"] {
        let transcript = data.join(transcript);
        fs_err::create_dir_all(transcript.parent().unwrap()).unwrap();
        fs_err::write(&transcript, "").unwrap();
        play(&sandbox, &file, &json!({}), &[event("session.idle", "ses")]);
        let payload: Value = eventually("the hint", PATIENCE, || {
            serde_json::from_str(&fs_err::read_to_string(&told).ok()?).ok()
        });
        assert_eq!(payload["hook_event_name"], "session.idle");
        assert_eq!(payload["transcript_path"], transcript.to_str().unwrap());
        fs_err::remove_file(&told).unwrap();
    }
}
