use rstest::rstest;
use tempfile::TempDir;

use super::*;

const PROGRAM: &str = "/opt/r/remembrancer-hook";

fn uid() -> u32 {
    rustix::process::getuid().as_raw()
}

/// Every file below a folder with its content, but for empty folders.
fn files_of(folder: &TempDir) -> Vec<(PathBuf, String)> {
    let entries = walkdir::WalkDir::new(folder.path()).sort_by_file_name().into_iter().flatten();
    entries
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| (entry.path().to_owned(), fs_err::read_to_string(entry.path()).unwrap()))
        .collect()
}

fn there(folder: &TempDir, agent: Agent, program: &str) {
    let changes = install(folder.path(), agent, Wanted::hook(program), uid()).unwrap();
    assert!(!changes.is_empty(), "{agent:?}");
    for change in &changes {
        change.apply().unwrap();
    }
    assert!(
        install(folder.path(), agent, Wanted::hook(program), uid())
            .unwrap()
            .is_empty(),
        "{agent:?}: twice"
    );
}

fn gone(folder: &TempDir, agent: Agent) {
    for change in uninstall(folder.path(), agent, uid()) {
        change.unwrap().apply().unwrap();
    }
    assert!(uninstall(folder.path(), agent, uid()).is_empty(), "{agent:?}: twice");
}

#[rstest]
#[case::no_file(None)]
#[case::empty(Some(""))]
#[case::blank(Some("\n\n"))]
#[case::empty_object(Some("{}"))]
#[case::empty_object_on_two_lines(Some("{\n}\n"))]
#[case::a_comment_alone(Some("// nothing yet"))]
#[case::one_line(Some("{\"a\":1,\"hooks\":{}}"))]
#[case::spread_out(Some("{\n\n\n  \"a\": 1 ,\n\n  \"b\" : [ ] /* c */ // d\n\n}\n\n"))]
#[case::empty_lists(Some("{\"hooks\": {\"Stop\": [ ], \"stop\": [], \"AfterAgent\": [\n]}}\n"))]
#[case::returns(Some("{\r\n\t\"a\": 1\r\n}"))]
#[case::mark(Some("\u{feff}{ \"version\": 1 }"))]
fn byte_for_byte_as_it_was(#[case] before: Option<&str>) {
    for agent in Agent::ALL {
        let folder = tempfile::tempdir().unwrap();
        if let Some(before) = before {
            let file = folder.path().join(agent.registration().file);
            fs_err::create_dir_all(file.parent().unwrap()).unwrap();
            fs_err::write(file, before).unwrap();
        }
        let as_it_was = files_of(&folder);
        there(&folder, *agent, "/old/remembrancer-hook");
        there(&folder, *agent, PROGRAM);
        gone(&folder, *agent);
        assert_eq!(files_of(&folder), as_it_was, "{agent:?}");
    }
}

#[test]
fn what_changed_meanwhile_stays_and_so_does_the_original() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("settings.json");
    fs_err::write(&file, "{\"a\":1}").unwrap();
    there(&folder, Agent::CLAUDE_CODE, PROGRAM);
    let text = fs_err::read_to_string(&file).unwrap();
    fs_err::write(&file, text.replace("\"a\": 1", "\"a\": 2").replace("\"a\":1", "\"a\":2")).unwrap();
    gone(&folder, Agent::CLAUDE_CODE);
    let left: serde_json::Value = serde_json::from_str(&fs_err::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(left, serde_json::json!({"a": 2}));
    assert_eq!(
        fs_err::read_to_string(folder.path().join("settings.json.before-remembrancer")).unwrap(),
        "{\"a\":1}"
    );
}

#[test]
fn entries_made_by_hand_are_moved_and_go_too() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("settings.json");
    let by_hand = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "/old/remembrancer-hook"}]}]}}"#;
    fs_err::write(&file, by_hand).unwrap();
    there(&folder, Agent::CLAUDE_CODE, PROGRAM);
    assert_eq!(files_of(&folder).len(), 1, "what holds an entry of ours is no original");
    gone(&folder, Agent::CLAUDE_CODE);
    assert!(files_of(&folder).iter().all(|(_, text)| !text.contains("remembrancer")));
}

#[test]
fn what_does_not_name_the_hook_is_no_concern_of_uninstall() {
    let folder = tempfile::tempdir().unwrap();
    fs_err::write(folder.path().join("hooks.json"), "{ broken").unwrap();
    fs_err::os::unix::fs::symlink("/nowhere", folder.path().join("config.toml")).unwrap();
    assert!(uninstall(folder.path(), Agent::CODEX, uid()).is_empty());
}

#[rstest]
#[case::neither(None, None, "hooks.json")]
#[case::toml_alone(None, Some("[[hooks.Stop]]\n"), "config.toml")]
#[case::toml_without_hooks(None, Some("model = \"x\"\n"), "hooks.json")]
#[case::both(Some("{}"), Some("[[hooks.Stop]]\n"), "hooks.json")]
fn codex_has_two_files(#[case] json: Option<&str>, #[case] toml: Option<&str>, #[case] expected: &str) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("hooks.json", json), ("config.toml", toml)] {
        if let Some(text) = text {
            fs_err::write(folder.path().join(name), text).unwrap();
        }
    }
    let as_it_was = files_of(&folder);
    let changes = install(folder.path(), Agent::CODEX, Wanted::hook(PROGRAM), uid()).unwrap();
    let [change] = &changes[..] else { panic!("{changes:?}") };
    assert_eq!(change.path(), folder.path().join(expected));
    change.apply().unwrap();
    gone(&folder, Agent::CODEX);
    assert_eq!(files_of(&folder), as_it_was);
}

#[test]
fn entries_in_both_files_of_codex_become_one() {
    let folder = tempfile::tempdir().unwrap();
    let toml = "# mine\nmodel = \"o3\"\n";
    fs_err::write(folder.path().join("config.toml"), toml).unwrap();
    there(&folder, Agent::CODEX, "/old/remembrancer-hook");
    let text = toml::register(toml, Agent::CODEX, "/old/remembrancer-hook").unwrap();
    fs_err::write(folder.path().join("config.toml"), text).unwrap();
    there(&folder, Agent::CODEX, PROGRAM);
    assert_eq!(fs_err::read_to_string(folder.path().join("config.toml")).unwrap(), toml);
    // Where only the one in TOML has them, they stay there, whatever the other holds.
    fs_err::write(folder.path().join("hooks.json"), "{}").unwrap();
    let text = toml::register(toml, Agent::CODEX, "/old/remembrancer-hook").unwrap();
    fs_err::write(folder.path().join("config.toml"), text).unwrap();
    there(&folder, Agent::CODEX, PROGRAM);
    assert_eq!(fs_err::read_to_string(folder.path().join("hooks.json")).unwrap(), "{}");
}

#[test]
fn an_entry_in_a_second_file_that_may_not_be_written_is_told() {
    let folder = tempfile::tempdir().unwrap();
    there(&folder, Agent::CODEX, PROGRAM);
    let second = folder.path().join(Agent::CODEX.registration().toml_file.unwrap());
    fs_err::write(&second, toml::register("", Agent::CODEX, PROGRAM).unwrap()).unwrap();
    fs_err::set_permissions(&second, crate::system::permissions(0o400)).unwrap();
    let refused = install(folder.path(), Agent::CODEX, Wanted::hook(PROGRAM), uid()).unwrap_err();
    assert!(
        matches!(&refused, Refusal::ReadOnly { path } if path.ends_with("config.toml")),
        "{refused}"
    );
}

#[rstest]
#[case::no_file(None)]
#[case::empty_object(Some("{}"))]
#[case::settings(Some("{\n  // mine\n  \"model\": \"opus\"\n}\n"))]
#[case::one_line(Some("{\"a\":1,\"hooks\":{}}"))]
fn the_status_line_goes_with_the_hook_byte_for_byte(#[case] before: Option<&str>) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("settings.json");
    if let Some(before) = before {
        fs_err::write(&file, before).unwrap();
    }
    let as_it_was = files_of(&folder);
    let wanted = Wanted {
        hook: PROGRAM,
        status_line: Some("/opt/r/remembrancer statusline"),
    };
    for change in install(folder.path(), Agent::CLAUDE_CODE, wanted, uid()).unwrap() {
        change.apply().unwrap();
    }
    let standing = status_line(folder.path(), Agent::CLAUDE_CODE).unwrap();
    assert_eq!(standing, Ok(StatusLine::Ours("/opt/r/remembrancer".to_owned())));
    // Without the wish it stays.
    assert!(
        install(folder.path(), Agent::CLAUDE_CODE, Wanted::hook(PROGRAM), uid())
            .unwrap()
            .is_empty()
    );
    gone(&folder, Agent::CLAUDE_CODE);
    assert_eq!(files_of(&folder), as_it_was);
}

#[test]
fn a_status_line_of_the_user_s_own_stays() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("settings.json");
    fs_err::write(&file, r#"{"statusLine": {"type": "command", "command": "date"}}"#).unwrap();
    let as_it_was = files_of(&folder);
    let wanted = Wanted {
        hook: PROGRAM,
        status_line: Some("/opt/r/remembrancer statusline"),
    };
    for change in install(folder.path(), Agent::CLAUDE_CODE, wanted, uid()).unwrap() {
        change.apply().unwrap();
    }
    assert_eq!(status_line(folder.path(), Agent::CLAUDE_CODE), Some(Ok(StatusLine::Theirs)));
    gone(&folder, Agent::CLAUDE_CODE);
    assert_eq!(files_of(&folder), as_it_was);
}

#[test]
fn a_status_line_alone_is_taken_out_too() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("settings.json");
    fs_err::write(
        &file,
        r#"{"a": 1, "statusLine": {"type": "command", "command": "remembrancer statusline"}}"#,
    )
    .unwrap();
    gone(&folder, Agent::CLAUDE_CODE);
    assert!(!fs_err::read_to_string(&file).unwrap().contains("remembrancer"));
}
