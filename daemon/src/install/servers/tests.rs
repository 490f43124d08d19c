use rstest::rstest;
use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::install;

const PROGRAM: &str = "/opt/r/remembrancer";

struct Home(TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn folder(&self, agent: Agent) -> PathBuf {
        let folder = self.0.path().join(agent.registration().folder);
        fs_err::create_dir_all(&folder).unwrap();
        folder
    }

    fn file(&self, agent: Agent) -> PathBuf {
        let folder = self.folder(agent);
        self.place(agent, &folder).file().unwrap()
    }

    fn place<'a>(&'a self, agent: Agent, folder: &'a Path) -> ServerPlace<'a> {
        ServerPlace {
            agent,
            home: self.0.path(),
            folder,
            uid: rustix::process::getuid().as_raw(),
        }
    }

    fn put(&self, agent: Agent, program: &str) -> usize {
        let folder = self.folder(agent);
        let changes = self.place(agent, &folder).install(program, Vec::new()).unwrap();
        for change in &changes {
            change.apply().unwrap();
        }
        changes.len()
    }

    fn take_out(&self, agent: Agent) -> usize {
        let folder = self.folder(agent);
        let changes = self.place(agent, &folder).uninstall(Vec::new());
        let count = changes.len();
        for change in changes {
            change.unwrap().apply().unwrap();
        }
        count
    }

    fn standing(&self, agent: Agent) -> Standing {
        let folder = self.folder(agent);
        self.place(agent, &folder).standing().unwrap().unwrap()
    }

    /// Every file below the home with its content.
    fn files(&self) -> Vec<(PathBuf, String)> {
        let entries = walkdir::WalkDir::new(self.0.path()).sort_by_file_name().into_iter().flatten();
        entries
            .filter(|entry| entry.file_type().is_file())
            .map(|entry| (entry.path().to_owned(), fs_err::read_to_string(entry.path()).unwrap()))
            .collect()
    }
}

fn known() -> impl Iterator<Item = Agent> {
    Agent::ALL.iter().copied().filter(|agent| Host::of(*agent).is_some())
}

#[test]
fn all_hosts_are_agents_that_are_installed_for() {
    assert_eq!(known().count(), HOSTS.len());
}

#[rstest]
#[case::claude_code("claude-code", ".claude.json", json!({"mcpServers": {"remembrancer": {"type": "stdio", "command": PROGRAM, "args": ["mcp"]}}}))]
#[case::codex("codex", ".codex/config.toml", json!({"mcp_servers": {"remembrancer": {"command": PROGRAM, "args": ["mcp"]}}}))]
#[case::gemini("gemini-cli", ".gemini/settings.json", json!({"mcpServers": {"remembrancer": {"command": PROGRAM, "args": ["mcp"]}}}))]
#[case::cursor("cursor", ".cursor/mcp.json", json!({"mcpServers": {"remembrancer": {"command": PROGRAM, "args": ["mcp"]}}}))]
#[case::copilot("copilot-cli", ".copilot/mcp-config.json", json!({"mcpServers": {"remembrancer": {"type": "local", "command": PROGRAM, "args": ["mcp"], "tools": ["*"]}}}))]
fn each_host_finds_it_where_it_looks(#[case] agent: &str, #[case] file: &str, #[case] expected: serde_json::Value) {
    let (home, agent) = (Home::new(), Agent::parse(agent).unwrap());
    home.put(agent, PROGRAM);
    let values = install::values(&home.0.path().join(file)).unwrap().unwrap();
    assert_eq!(values, expected);
    assert_eq!(home.standing(agent), Standing::Ours(PROGRAM.to_owned()));
}

#[rstest]
#[case::no_file(None)]
#[case::empty(Some(""))]
#[case::others(Some("{\n  // mine\n  \"mcpServers\": {\n    \"files\": {\"command\": \"f\"},\n  },\n}\n"))]
#[case::one_line(Some("{\"a\":1}"))]
#[case::empty_servers(Some("{\"mcpServers\": {}}"))]
fn byte_for_byte_as_it_was(#[case] before: Option<&str>) {
    for agent in known() {
        let home = Home::new();
        let is_toml = home.file(agent).extension().is_some_and(|extension| extension == "toml");
        if let Some(before) = before {
            let before = if is_toml {
                "# mine\nmodel = \"x\"\n\n[mcp_servers.files]\ncommand = \"f\"\n"
            } else {
                before
            };
            fs_err::write(home.file(agent), before).unwrap();
        }
        let as_it_was = home.files();
        assert_eq!(home.put(agent, "/old/remembrancer"), 1, "{agent:?}");
        assert_eq!(home.put(agent, PROGRAM), 1, "{agent:?}: moved");
        assert_eq!(home.put(agent, PROGRAM), 0, "{agent:?}: twice");
        assert_eq!(home.standing(agent), Standing::Ours(PROGRAM.to_owned()));
        assert_eq!(home.take_out(agent), 1, "{agent:?}");
        assert_eq!(home.take_out(agent), 0, "{agent:?}: twice");
        assert_eq!(home.files(), as_it_was, "{agent:?}");
    }
}

#[test]
fn with_the_hook_in_the_same_file_both_go_and_all_is_as_it_was() {
    for (agent, before) in [("gemini-cli", "{}"), ("qwen-code", "{\"a\": 1}\n"), ("gemini-cli", "")] {
        let (home, agent) = (Home::new(), Agent::parse(agent).unwrap());
        fs_err::write(home.file(agent), before).unwrap();
        let as_it_was = home.files();
        let folder = home.folder(agent);
        let place = home.place(agent, &folder);
        let hook = install::install(&folder, agent, Wanted::hook("/opt/r/remembrancer-hook"), place.uid).unwrap();
        let changes = place.install(PROGRAM, hook).unwrap();
        assert_eq!(changes.len(), 1, "one file, one change");
        changes[0].apply().unwrap();
        let text = fs_err::read_to_string(home.file(agent)).unwrap();
        assert!(text.contains("remembrancer-hook") && text.contains("mcpServers"), "{text}");
        for change in place.uninstall(install::uninstall(&folder, agent, place.uid)) {
            change.unwrap().apply().unwrap();
        }
        assert_eq!(home.files(), as_it_was, "{agent:?}: {before}");
    }
}

#[test]
fn the_hook_stays_where_the_server_alone_goes_and_the_other_way_round() {
    let (home, agent) = (Home::new(), Agent::parse("gemini-cli").unwrap());
    let folder = home.folder(agent);
    let place = home.place(agent, &folder);
    let hook = || install::install(&folder, agent, Wanted::hook("/opt/r/remembrancer-hook"), place.uid).unwrap();
    for change in place.install(PROGRAM, hook()).unwrap() {
        change.apply().unwrap();
    }
    assert_eq!(home.take_out(agent), 1);
    assert!(hook().is_empty(), "it is there");
    assert_eq!(home.standing(agent), Standing::Absent);
    home.put(agent, PROGRAM);
    for change in install::uninstall(&folder, agent, place.uid) {
        change.unwrap().apply().unwrap();
    }
    assert_eq!(home.standing(agent), Standing::Ours(PROGRAM.to_owned()));
    assert_eq!(home.take_out(agent), 1);
    assert!(home.files().is_empty(), "{:?}", home.files());
}

#[rstest]
#[case::another_program(r#"{"mcpServers": {"remembrancer": {"command": "docker", "args": ["run", "remembrancer", "mcp"]}}}"#)]
#[case::more_arguments(r#"{"mcpServers": {"remembrancer": {"command": "remembrancer", "args": ["mcp", "--config", "/x"]}}}"#)]
#[case::remote(r#"{"mcpServers": {"remembrancer": {"url": "https://example.org/mcp"}}}"#)]
fn the_user_s_own_server_is_never_touched(#[case] text: &str) {
    let (home, agent) = (Home::new(), Agent::parse("cursor").unwrap());
    fs_err::write(home.file(agent), text).unwrap();
    assert_eq!(home.standing(agent), Standing::Theirs);
    assert_eq!((home.put(agent, PROGRAM), home.take_out(agent)), (0, 0));
    assert_eq!(fs_err::read_to_string(home.file(agent)).unwrap(), text);
}

#[rstest]
#[case::no_object("cursor", r#"{"mcpServers": []}"#)]
#[case::twice("cursor", r#"{"mcpServers": {}, "mcpServers": {}}"#)]
#[case::no_json("cursor", "{")]
#[case::no_table("codex", "mcp_servers = 3\n")]
fn what_is_not_as_the_host_expects_is_left_alone(#[case] agent: &str, #[case] text: &str) {
    let (home, agent) = (Home::new(), Agent::parse(agent).unwrap());
    fs_err::write(home.file(agent), text).unwrap();
    let folder = home.folder(agent);
    let place = home.place(agent, &folder);
    assert!(matches!(place.install(PROGRAM, Vec::new()), Err(Refusal::Invalid { .. })));
    assert!(place.standing().unwrap().is_err());
}

#[test]
fn claude_code_s_file_lies_beside_its_folder_or_in_the_one_that_is_named() {
    let home = Home::new();
    let named = home.0.path().join("elsewhere");
    let place = home.place(Agent::CLAUDE_CODE, &named);
    assert_eq!(place.file().unwrap(), named.join(".claude.json"));
    assert_eq!(home.file(Agent::CLAUDE_CODE), home.0.path().join(".claude.json"));
}

#[test]
fn a_table_on_one_line_stays_on_one() {
    let (home, agent) = (Home::new(), Agent::CODEX);
    fs_err::write(home.file(agent), "mcp_servers = { files = { command = \"f\" } }\n").unwrap();
    home.put(agent, PROGRAM);
    assert_eq!(home.standing(agent), Standing::Ours(PROGRAM.to_owned()));
    home.take_out(agent);
    assert_eq!(
        fs_err::read_to_string(home.file(agent)).unwrap(),
        "mcp_servers = { files = { command = \"f\" } }\n"
    );
}
