//! Every host of the table against one daemon with a known memory: the payloads that it sends, what comes back read as strictly as
//! it reads it. People's prompts and sessions that go on get the memory; machine text, subagents, bare commands, a second firing and
//! guarded sessions get not one byte. The table of results is printed.

use std::time::Duration;

use remembrancer_hooks::Agent;
use remembrancer_hooks::clock::BUDGET;
use remembrancer_hooks::protocol::Request;
use remembrancer_tests::{DaemonProcess, HookOutput, Sandbox, eventually, sandbox, topic};
use serde_json::{Value, json};

use crate::PATIENCE;

/// How late a busy machine may notice that a process has ended.
const SLACK: Duration = Duration::from_millis(120);

/// What is remembered: [`topic`] of this number.
const KNOWN: u32 = 1;

/// One host, by its documentation.
struct Host {
    agent: &'static str,
    /// The event at which a prompt is submitted; none where its output is dropped.
    prompt: Option<&'static str>,
    /// The event and the source at which a session begins or goes on.
    start: (&'static str, &'static str),
    /// The event at which a turn has ended.
    stop: &'static str,
    /// A prompt of its own making.
    notice: &'static str,
    /// The payload of an event in a session that works in a folder.
    payload: fn(event: &str, session: &str, folder: &str) -> Value,
    /// The members that it knows of what a hook prints at an event. Where they are not documented, ours.
    members: fn(event: &str) -> &'static [&'static str],
    /// Where the context stands in it.
    context: &'static str,
}

/// What Claude Code knows in a hook's answer, and those who took its form over.
const MEMBERS_OF_CLAUDE_CODE: &[&str] = &[
    "continue",
    "stopReason",
    "suppressOutput",
    "systemMessage",
    "decision",
    "reason",
    "hookSpecificOutput",
];

const HOSTS: [Host; 7] = [
    Host {
        agent: "claude-code",
        prompt: Some("UserPromptSubmit"),
        start: ("SessionStart", "compact"),
        stop: "Stop",
        notice: "<task-notification>\n<task-id>b1</task-id>\n<summary>Agent completed</summary>\n</task-notification>",
        payload: |event, session, folder| {
            json!({
                "session_id": session, "transcript_path": format!("{folder}/none.jsonl"), "cwd": folder, "permission_mode": "default",
                "hook_event_name": event, "prompt_id": format!("{session}-p"), "effort": {"level": "high"},
            })
        },
        members: |_| MEMBERS_OF_CLAUDE_CODE,
        context: "/hookSpecificOutput/additionalContext",
    },
    Host {
        agent: "codex",
        prompt: Some("UserPromptSubmit"),
        start: ("SessionStart", "resume"),
        stop: "Stop",
        notice: "<subagent_notification>\n{\"agent_id\":\"a1\",\"status\":\"completed\"}\n</subagent_notification>",
        payload: |event, session, folder| {
            json!({
                "session_id": session, "turn_id": format!("{session}-t"), "transcript_path": null, "cwd": folder,
                "hook_event_name": event, "model": "m", "permission_mode": "default",
            })
        },
        members: |_| MEMBERS_OF_CLAUDE_CODE,
        context: "/hookSpecificOutput/additionalContext",
    },
    Host {
        agent: "gemini-cli",
        prompt: Some("BeforeAgent"),
        start: ("SessionStart", "resume"),
        stop: "AfterAgent",
        notice: "System: Please continue.",
        payload: of_gemini,
        members: |_| {
            &[
                "systemMessage",
                "suppressOutput",
                "continue",
                "stopReason",
                "decision",
                "reason",
                "hookSpecificOutput",
            ]
        },
        context: "/hookSpecificOutput/additionalContext",
    },
    Host {
        agent: "qwen-code",
        prompt: Some("UserPromptSubmit"),
        start: ("SessionStart", "compact"),
        stop: "Stop",
        notice: "<task-notification>done</task-notification>",
        payload: of_gemini,
        members: |_| MEMBERS_OF_CLAUDE_CODE,
        context: "/hookSpecificOutput/additionalContext",
    },
    Host {
        agent: "cursor",
        prompt: Some("beforeSubmitPrompt"),
        start: ("sessionStart", ""),
        stop: "stop",
        notice: "<task_notification>done</task_notification>",
        payload: |event, session, folder| {
            json!({
                "conversation_id": session, "generation_id": format!("{session}-g"), "hook_event_name": event,
                "workspace_roots": [folder], "model": "m", "cursor_version": "3.20.17", "user_email": null,
                "transcript_path": null, "attachments": [],
            })
        },
        members: |event| match event {
            "sessionStart" => &["env", "additional_context"],
            _ => &["continue", "user_message", "additional_context"],
        },
        context: "/additional_context",
    },
    Host {
        agent: "copilot-cli",
        prompt: None,
        start: ("SessionStart", "new"),
        stop: "Stop",
        notice: "",
        payload: |event, session, folder| json!({"hook_event_name": event, "session_id": session, "timestamp": "2026-11-28T10:00:00Z", "cwd": folder}),
        members: |_| &["additionalContext"],
        context: "/additionalContext",
    },
    Host {
        agent: "opencode",
        prompt: Some("chat.message"),
        start: ("session.compacted", ""),
        stop: "session.idle",
        notice: "<system-reminder>Plan mode is on.</system-reminder>",
        payload: |event, session, folder| json!({"hook_event_name": event, "session_id": session, "prompt_id": format!("{session}-m"), "cwd": folder}),
        members: |_| &["context"],
        context: "/context",
    },
];

/// Qwen Code has its payloads from Gemini CLI.
fn of_gemini(event: &str, session: &str, folder: &str) -> Value {
    json!({
        "session_id": session, "transcript_path": format!("{folder}/none.jsonl"), "cwd": folder, "hook_event_name": event,
        "timestamp": "2026-11-28T10:00:00.000Z",
    })
}

/// A host that runs the hook, and notes what came of it.
struct Playing<'a> {
    host: &'a Host,
    sandbox: &'a Sandbox,
    daemon: &'a DaemonProcess<'a>,
    folder: String,
    /// The id of what is remembered.
    known: String,
    rows: &'a mut Vec<String>,
}

impl Playing<'_> {
    /// Fires the hook in `session` with `rest` added to the payload. Returns the context that the host would show.
    fn fire(&self, event: &str, session: &str, rest: &Value, variables: &[(&str, &str)]) -> String {
        let mut payload = (self.host.payload)(event, session, &self.folder);
        let members = payload.as_object_mut().unwrap();
        members.extend(rest.as_object().unwrap().clone());
        let output = self
            .sandbox
            .hook_of(self.host.agent, payload.to_string().as_bytes(), variables);
        assert!(
            output.took <= BUDGET + SLACK,
            "{} at {event}: {:?}",
            self.host.agent,
            output.took
        );
        self.shown(event, &output)
    }

    /// The context, read as strictly as any host reads: one object with no member that it does not know, or nothing at all.
    fn shown(&self, event: &str, output: &HookOutput) -> String {
        if output.stdout.is_empty() {
            return String::new();
        }
        let printed: Value = serde_json::from_str(&output.stdout).unwrap();
        let known = (self.host.members)(event);
        for (member, value) in printed.as_object().unwrap() {
            assert!(known.contains(&member.as_str()), "{} at {event}: {member}", self.host.agent);
            if member == "hookSpecificOutput" {
                let expected = json!({"hookEventName": event, "additionalContext": value["additionalContext"]});
                assert_eq!(value, &expected, "{}", self.host.agent);
            }
        }
        assert_ne!(printed["continue"], false, "a prompt is never blocked");
        printed.pointer(self.host.context).unwrap().as_str().unwrap().to_owned()
    }

    /// What is fired gets the memory. On a busy machine an answer may come too late: then another session fires it.
    fn is_answered(&mut self, what: &str, event: &str, rest: &Value) -> String {
        let mut attempt = 0;
        let (session, context) = eventually(what, PATIENCE, || {
            attempt += 1;
            let session = format!("{}-{what}-{attempt}", self.host.agent).replace(' ', "-");
            // A session that begins is reminded of what was used or shown last.
            self.daemon.ask(&Request::Show { id: self.known.clone() });
            let context = self.fire(event, &session, rest, &[]);
            (!context.is_empty()).then_some((session, context))
        });
        assert!(
            context.contains(&format!("case{KNOWN}")),
            "{} at {event}: {context}",
            self.host.agent
        );
        self.note(event, what, "the memory");
        session
    }

    /// What is fired gets nothing; with a `reason` from the daemon, without one it was not even asked.
    fn gets_nothing(&mut self, what: &str, event: &str, rest: &Value, reason: Option<&str>) {
        let session = format!("{}-{what}", self.host.agent).replace(' ', "-");
        assert_eq!(
            self.fire(event, &session, rest, &[]),
            "",
            "{} at {event}: {what}",
            self.host.agent
        );
        match reason {
            Some(reason) => assert_eq!(self.daemon.why(&session)["reason"], reason, "{}: {what}", self.host.agent),
            None => assert_eq!(
                self.daemon.why_within(Duration::ZERO, &session),
                None,
                "{}: {what}",
                self.host.agent
            ),
        }
        self.note(event, what, "nothing");
    }

    fn note(&mut self, event: &str, what: &str, got: &str) {
        self.rows.push(format!("| {} | {event} | {what} | {got} |", self.host.agent));
    }

    fn play(&mut self) {
        let prompt = topic(KNOWN).0;
        if let Some(event) = self.host.prompt {
            let asked = json!({"prompt": prompt});
            let session = self.is_answered("a prompt", event, &asked);
            assert_eq!(
                self.fire(event, &session, &asked, &[]),
                "",
                "{}: a second firing",
                self.host.agent
            );
            self.note(event, "the same prompt again", "nothing");
            self.is_answered("a command with words", event, &json!({"prompt": format!("/review {prompt}")}));
            self.gets_nothing("a bare command", event, &json!({"prompt": "/compact"}), Some("slash-command"));
            self.gets_nothing("a notice", event, &json!({"prompt": self.host.notice}), None);
            self.gets_nothing(
                "a subagent's prompt",
                event,
                &json!({"prompt": prompt, "agent_id": "a1", "agent_type": "x"}),
                None,
            );
            let guarded = self.fire(event, "guarded", &asked, &[("REMEMBRANCER_GUARD", "1")]);
            assert_eq!(guarded, "", "{}: guarded", self.host.agent);
            self.note(event, "a guarded prompt", "nothing");
        }
        let (event, source) = self.host.start;
        let what = if source.is_empty() { "a session's start" } else { source };
        self.is_answered(what, event, &json!({"source": source}));
        self.gets_nothing("a turn's end", self.host.stop, &json!({"prompt": prompt}), None);
    }
}

#[test]
fn every_host_gets_the_memory_and_its_machines_get_nothing() {
    let sandbox = sandbox!(alone);
    sandbox.transcript("older", "shop").topics(0..6);
    let daemon = sandbox.start();
    daemon.wait_for_model();
    daemon.embed_all();
    let known = sandbox
        .episodes()
        .into_iter()
        .find(|episode| episode.prompt == topic(KNOWN).0)
        .unwrap();
    let known = known.uid.short();
    let mut rows = Vec::new();
    for host in &HOSTS {
        let folder = sandbox.project("shop");
        Playing {
            host,
            sandbox: &sandbox,
            daemon: &daemon,
            folder,
            known: known.clone(),
            rows: &mut rows,
        }
        .play();
    }
    eprintln!(
        "| agent | event | fired with | got |\n| --- | --- | --- | --- |\n{}",
        rows.join("\n")
    );
    let played: Vec<&str> = HOSTS.iter().map(|host| host.agent).collect();
    let in_the_table: Vec<&str> = Agent::ALL.iter().map(|agent| agent.id()).collect();
    assert_eq!(played, in_the_table, "every host of the table is played");
}
