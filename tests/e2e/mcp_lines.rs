//! The server of the Model Context Protocol, line by line: what is no protocol, what is too long, how it ends, and what it writes; and
//! its registration with the hosts of a home.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use remembrancer_tests::{Sandbox, eventually, sandbox, skip, timed, topic};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::install::Installed;
use crate::{LENIENCY, PATIENCE};

/// What a host gives a server to end in.
const END: Duration = Duration::from_secs(1);

/// A server whose lines are written and read here.
struct Lines {
    child: Child,
    answers: BufReader<std::process::ChildStdout>,
}

impl Lines {
    fn of(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        Self { child, answers }
    }

    fn begun(sandbox: &Sandbox) -> Self {
        let mut lines = Self::of(sandbox.command(&["mcp"]));
        lines.initialize();
        lines
    }

    fn initialize(&mut self) {
        let params =
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "lines", "version": "1"}});
        let answer = self.ask(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}));
        assert_eq!(answer["result"]["serverInfo"]["name"], "remembrancer", "{answer}");
        assert!(answer["result"]["instructions"].as_str().unwrap().contains("remembered data"));
        self.write(
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"})
                .to_string()
                .as_bytes(),
        );
    }

    fn write(&mut self, line: &[u8]) {
        let stdin = self.child.stdin.as_mut().unwrap();
        stdin.write_all(line).unwrap();
        stdin.write_all(b"\n").unwrap();
    }

    fn answer(&mut self) -> Value {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    fn ask(&mut self, message: &Value) -> Value {
        self.write(message.to_string().as_bytes());
        self.answer()
    }

    fn call(&mut self, id: u32, tool: &str, arguments: &Value) -> Value {
        self.ask(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}))
    }

    /// Closes its input. Returns its exit code, the time that it took, what was left to read, and what it complained of.
    fn close(mut self) -> (Option<i32>, Duration, String, String) {
        drop(self.child.stdin.take());
        let (status, took) = timed(|| self.child.wait().unwrap());
        let rest = std::io::read_to_string(&mut self.answers).unwrap();
        let complaints = std::io::read_to_string(self.child.stderr.take().unwrap()).unwrap();
        (status.code(), took, rest, complaints)
    }

    fn peak_memory(&self) -> u64 {
        let status = fs_err::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }
}

#[test]
fn it_ends_with_its_input_and_at_a_signal_within_a_second() {
    let sandbox = sandbox!(alone);
    let bound = END * LENIENCY;
    let (code, took, rest, complaints) = Lines::of(sandbox.command(&["mcp"])).close();
    assert!(
        (code, rest.as_str(), complaints.as_str()) == (Some(0), "", "") && took < bound,
        "{took:?} {rest} {complaints}"
    );
    let (code, took, rest, complaints) = Lines::begun(&sandbox).close();
    assert!(
        (code, rest.as_str(), complaints.as_str()) == (Some(0), "", "") && took < bound,
        "{took:?} {rest} {complaints}"
    );
    eprintln!("the end after the input's end took {took:?}");
    for signal in [Signal::TERM, Signal::INT] {
        let mut lines = Lines::begun(&sandbox);
        kill_process(Pid::from_child(&lines.child), signal).unwrap();
        let (status, took) = timed(|| lines.child.wait().unwrap());
        assert!(status.code() == Some(0) && took < bound, "{signal:?}: {status:?} {took:?}");
    }
    // Something is at work that nobody ends: a daemon that stands still.
    sandbox.transcript("first", "shop").topics(0..1);
    let daemon = sandbox.start();
    daemon.flush();
    let mut lines = Lines::begun(&sandbox);
    daemon.signal(Signal::STOP);
    lines.write(
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "timeline", "arguments": {}}})
            .to_string()
            .as_bytes(),
    );
    let (code, took, ..) = lines.close();
    daemon.signal(Signal::CONT);
    assert!(code == Some(0) && took < bound, "{code:?} {took:?}");
}

#[test]
fn what_is_no_protocol_is_passed_over_and_nothing_else_is_written() {
    let sandbox = sandbox!();
    sandbox.transcript("first", "shop").topics(0..3);
    let daemon = sandbox.start();
    daemon.flush();
    let mut lines = Lines::begun(&sandbox);
    for garbage in [
        &b"not json"[..],
        b"{\"jsonrpc\": \"2.0\", \"id\": 5",
        b"\xff\xfe\x00",
        b"",
        b"[[[[[[",
        &b"[".repeat(10_000),
    ] {
        lines.write(garbage);
    }
    let answer = lines.ask(&json!({"jsonrpc": "2.0", "id": 6, "method": "ping"}));
    assert_eq!(answer["id"], 6, "{answer}");
    let answer = lines.ask(&json!({"jsonrpc": "2.0", "id": 7, "method": "no/such/method"}));
    assert_eq!(answer["error"]["code"], -32_601, "{answer}");
    for parameters in [json!(null), json!({}), json!({"name": "search", "arguments": "x"})] {
        let asked = json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": parameters});
        let answer = lines.ask(&asked);
        assert_eq!(answer["error"]["code"], -32_602, "{asked} {answer}");
        assert!(
            answer["error"]["message"].as_str().unwrap().contains("tools/call"),
            "{answer}"
        );
    }
    let answer = lines.call(8, "search", &json!({"query": topic(1).0, "everywhere": true}));
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    let (code, _, rest, complaints) = lines.close();
    assert_eq!((code, rest.as_str()), (Some(0), ""));
    assert_eq!(complaints, "", "no text of the memory, and nothing else, is logged");
}

#[test]
fn a_line_without_end_makes_nothing_grow() {
    if !std::path::Path::new("/proc/self/status").exists() {
        skip("this system does not tell the memory of a process");
        return;
    }
    let sandbox = sandbox!();
    sandbox.start().stop(Signal::TERM);
    let mut lines = Lines::begun(&sandbox);
    let before = lines.peak_memory();
    // A quarter of a gigabyte without a newline.
    let piece = vec![b'x'; 1_024 * 1_024];
    let stdin = lines.child.stdin.as_mut().unwrap();
    for _ in 0..256 {
        stdin.write_all(&piece).unwrap();
    }
    stdin.write_all(b"\n").unwrap();
    let answer = lines.ask(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}));
    assert_eq!(answer["id"], 1);
    let grown = lines.peak_memory().saturating_sub(before);
    assert!(grown < 16 * 1_024, "{grown} kB");
    let long = lines.call(2, "search", &json!({"query": "x".repeat(900_000)}));
    assert_eq!(long["result"]["isError"], true);
    assert!(long.to_string().len() < 2_000, "it is not repeated");
    lines.close();
}

#[test]
fn no_answer_is_longer_than_its_bound_whatever_is_stored() {
    let sandbox = sandbox!();
    let mut transcript = sandbox.transcript("first", "shop");
    for number in 0..60 {
        let (prompt, _) = topic(number);
        transcript.turn(
            &format!("{prompt} \"\\ {}", "長い話 ".repeat(200)),
            &format!("line \"{number}\"\n").repeat(3_000),
        );
    }
    let daemon = sandbox.start();
    daemon.flush();
    let mut lines = Lines::begun(&sandbox);
    let mut ids = Vec::new();
    for (number, (tool, arguments)) in [
        ("search", json!({"query": "長い 話 line", "everywhere": true, "limit": 20})),
        ("timeline", json!({"everywhere": true, "limit": 40})),
        ("show", json!({"id": "first", "session": true})),
        ("show", json!({"id": "first", "session": true, "offset": 100_000})),
        (
            "explain",
            json!({"prompt": format!("{} 長い 話", topic(3).0), "everywhere": true}),
        ),
        ("forget", json!({"session": "first"})),
    ]
    .into_iter()
    .enumerate()
    {
        let result = lines.call(number as u32 + 1, tool, &arguments)["result"].take();
        assert_eq!(result["isError"], false, "{tool}: {result}");
        let (text, structured) = (result["content"][0]["text"].as_str().unwrap(), &result["structuredContent"]);
        let (characters, as_json) = (text.chars().count(), structured.to_string().chars().count());
        assert!(characters <= 20_000, "{tool}: {characters} characters of text");
        assert!(as_json <= 24_000, "{tool}: {as_json} characters of JSON");
        ids.extend(
            structured["results"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|result| result["id"].clone()),
        );
    }
    let shown = lines.call(99, "show", &json!({"id": ids[0]}))["result"].take();
    assert!(shown["structuredContent"]["next"].is_u64(), "{shown}");
    assert!(
        shown["content"][0]["text"]
            .as_str()
            .unwrap()
            .contains("Call show again with offset")
    );
    lines.close();
}

#[test]
fn a_call_that_is_called_off_is_not_answered_and_the_next_is() {
    let sandbox = sandbox!();
    sandbox.transcript("first", "shop").topics(0..1);
    let daemon = sandbox.start();
    daemon.flush();
    let mut lines = Lines::begun(&sandbox);
    daemon.signal(Signal::STOP);
    lines.write(
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "timeline", "arguments": {}, "_meta": {"progressToken": "p"}}})
            .to_string()
            .as_bytes(),
    );
    let progress = lines.answer();
    assert_eq!(
        (&progress["method"], &progress["params"]["progressToken"]),
        (&json!("notifications/progress"), &json!("p"))
    );
    let off = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1, "reason": "enough"}});
    lines.write(off.to_string().as_bytes());
    // Whatever was told of progress until then, the call itself is answered no more.
    lines.write(json!({"jsonrpc": "2.0", "id": 2, "method": "ping"}).to_string().as_bytes());
    let answer = eventually("the ping's answer", PATIENCE, || {
        let answer = lines.answer();
        assert_ne!(answer["id"], 1, "{answer}");
        (answer["id"] == 2).then_some(answer)
    });
    assert!(answer["result"].is_object(), "{answer}");
    daemon.signal(Signal::CONT);
    assert_eq!(
        lines.call(3, "timeline", &json!({"everywhere": true}))["result"]["isError"],
        false
    );
    lines.close();
}

#[test]
fn who_does_not_begin_with_the_protocol_is_told_on_standard_error() {
    let sandbox = sandbox!();
    let mut lines = Lines::of(sandbox.command(&["mcp"]));
    lines.write(
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"})
            .to_string()
            .as_bytes(),
    );
    let (code, _, rest, complaints) = lines.close();
    assert_eq!((code, rest.as_str()), (Some(1), ""));
    assert!(
        complaints.contains("does not begin as the Model Context Protocol does"),
        "{complaints}"
    );
}

#[test]
fn it_is_registered_tried_and_taken_out_again() {
    let sandbox = sandbox!();
    let installed = Installed::new(&sandbox, "my bin");
    let home = sandbox.home();
    for folder in [".codex", ".gemini", ".cursor", ".config/opencode"] {
        fs_err::create_dir_all(home.join(folder)).unwrap();
    }
    let codex = "# mine\nmodel = \"x\"\n";
    fs_err::write(home.join(".codex/config.toml"), codex).unwrap();
    fs_err::write(home.join(".claude.json"), "{\"numStartups\": 3}").unwrap();
    let run = |arguments: &[&str]| {
        let output = installed.command(arguments).output().unwrap();
        (
            output.status.success(),
            String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned(),
        )
    };
    let (dry, said) = run(&["install", "--mcp", "--dry-run"]);
    assert!(dry && said.contains("+[mcp_servers.remembrancer]"), "{said}");
    assert_eq!(fs_err::read_to_string(home.join(".codex/config.toml")).unwrap(), codex);
    let (done, said) = run(&["install", "--mcp", "--yes"]);
    assert!(done, "{said}");
    assert!(said.contains("OpenCode: where it has MCP servers"), "{said}");
    let program = home.join("my bin/remembrancer").display().to_string();
    let read = |file: &str| fs_err::read_to_string(home.join(file)).unwrap();
    for file in [".claude.json", ".gemini/settings.json", ".cursor/mcp.json"] {
        let settings: Value = serde_json::from_str(&read(file)).unwrap();
        assert_eq!(settings["mcpServers"]["remembrancer"]["command"], program, "{file}");
        assert_eq!(settings["mcpServers"]["remembrancer"]["args"], json!(["mcp"]), "{file}");
    }
    assert!(
        read(".codex/config.toml").starts_with(codex),
        "{}",
        read(".codex/config.toml")
    );
    let daemon = sandbox.start();
    let (_, said) = run(&["doctor", "--agent", "claude-code", "--agent", "codex"]);
    assert_eq!(said.matches("the MCP server answers with 6 tools").count(), 2, "{said}");
    drop(daemon);
    let (done, said) = run(&["uninstall", "--mcp", "--yes"]);
    assert!(done, "{said}");
    assert_eq!(read(".codex/config.toml"), codex);
    assert_eq!(read(".claude.json"), "{\"numStartups\": 3}");
    assert!(!home.join(".cursor/mcp.json").exists());
    assert!(read(".gemini/settings.json").contains("remembrancer-hook"), "the hook stays");
    let (done, said) = run(&["uninstall", "--yes"]);
    assert!(done && !home.join(".gemini/settings.json").exists(), "{said}");
    let (_, said) = run(&["doctor", "--agent", "codex"]);
    assert!(!said.contains("MCP server"), "{said}");
}
