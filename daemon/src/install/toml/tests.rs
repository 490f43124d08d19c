use rstest::rstest;

use super::*;

const PROGRAM: &str = "/opt/r/remembrancer-hook";

const BEFORE: &str = r#"# mine
model = "o3" # the best

[[hooks.Stop]]
[[hooks.Stop.hooks]]
type = "command"
command = "notify"

[hooks.state."/a/config.toml:stop:0:0"]
trusted_hash = "sha256:0"

[projects."/a"]
trust_level = "trusted"
# the end
"#;

#[test]
fn hooks_are_added_where_hooks_stand() {
    let text = register(BEFORE, Agent::CODEX, PROGRAM).unwrap();
    insta::assert_snapshot!(text);
    assert_eq!(register(&text, Agent::CODEX, PROGRAM).unwrap(), text);
    assert_eq!(unregister(&text).unwrap(), BEFORE);
}

#[rstest]
#[case::returns(BEFORE.replace('\n', "\r\n"))]
#[case::mark(format!("\u{feff}{BEFORE}"))]
#[case::one_line("hooks = { Stop = [{ hooks = [{ type = \"command\", command = \"x\" }] }] } # all\n".to_owned())]
#[case::inline("hooks.Stop = [{ hooks = [{ type = \"command\", command = \"x\" }] }] # all\n".to_owned())]
#[case::one_table("[hooks]\nStop = [\n    { hooks = [{ command = \"x\" }] },\n]\n".to_owned())]
fn all_goes_again(#[case] before: String) {
    assert!(holds_hooks(&before));
    let text = register(&before, Agent::CODEX, PROGRAM).unwrap();
    for (event, _) in Agent::CODEX.events() {
        let parsed: toml::Table = text.trim_start_matches('\u{feff}').parse().unwrap();
        assert_eq!(parsed["hooks"][event].to_string().matches(PROGRAM).count(), 1, "{text}");
    }
    assert_eq!(unregister(&text).unwrap(), before);
}

#[test]
fn what_is_no_table_stays_in_its_list() {
    for before in ["hooks.Stop = [0]\n", "hooks.Stop = [{ hooks = [0] }]\n"] {
        let text = register(before, Agent::CODEX, PROGRAM).unwrap();
        assert!(text.contains(PROGRAM), "{text}");
        assert_eq!(unregister(&text).unwrap(), before);
    }
}

#[test]
fn what_belongs_to_the_last_group_stays_with_it() {
    // The group's handlers go on below another list of it.
    let before = "[[hooks.UserPromptSubmit]]\nmatcher = \"x\"\n[[hooks.UserPromptSubmit.hooks]]\ncommand = \"a\"\n\
        [[hooks.UserPromptSubmit.other]]\ncommand = \"b\"\n[[hooks.UserPromptSubmit.hooks]]\ncommand = \"c\"\n";
    let text = register(before, Agent::CODEX, PROGRAM).unwrap();
    let parsed: toml::Table = text.parse().unwrap();
    let groups = parsed["hooks"]["UserPromptSubmit"].as_array().unwrap();
    let commands = |group: &toml::Value| {
        let handlers = group["hooks"].as_array().unwrap().iter();
        handlers
            .map(|handler| handler["command"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(commands(&groups[0]), ["a", "c"], "{text}");
    assert!(commands(&groups[1])[0].starts_with(PROGRAM), "{text}");
    assert_eq!(unregister(&text).unwrap(), before);
}

#[test]
fn an_entry_with_another_path_is_moved() {
    let old = register(BEFORE, Agent::CODEX, "/old place/remembrancer-hook").unwrap();
    assert_eq!(
        register(&old, Agent::CODEX, PROGRAM).unwrap(),
        register(BEFORE, Agent::CODEX, PROGRAM).unwrap()
    );
}

#[rstest]
#[case::nothing("", false)]
#[case::trust_alone("[hooks.state.x]\ntrusted_hash = \"0\"\n", false)]
#[case::an_empty_list("[hooks]\nStop = []\n", false)]
#[case::broken("[hooks", false)]
#[case::hooks(BEFORE, true)]
fn hooks_are_seen(#[case] text: &str, #[case] expected: bool) {
    assert_eq!(holds_hooks(text), expected);
}

#[rstest]
#[case::broken("a = 1\nb = \n", "2:5: ")]
#[case::no_table("a = 1\nhooks = 7\n", "2:9: `hooks` is no table")]
#[case::no_list("[hooks]\nStop = 1\n", "2:8: the event is no list")]
#[case::mixed("a = 1\r\nb = 2\nc = 3\n", "1:1: the file has line ends of two kinds")]
fn what_is_wrong_is_named_with_its_place(#[case] text: &str, #[case] expected: &str) {
    let said = register(text, Agent::CODEX, PROGRAM).unwrap_err().to_string();
    assert!(said.starts_with(expected), "{said}");
}

const RIGHT: &str =
    "[[hooks.EVENT.hooks]]\ntype = \"command\"\ncommand = \"/opt/r/remembrancer-hook --agent codex\"\ntimeout = 2\n";
const LINT: &str = "[[hooks.EVENT.hooks]]\ncommand = \"lint\" # mine\n";

/// Tables at an event, from their parts.
fn tables(event: &str, parts: &[&str]) -> String {
    parts.concat().replace("EVENT", event)
}

#[rstest]
#[case::two_in_a_group("Stop", &["[[hooks.EVENT]]\n", RIGHT, LINT, RIGHT], &["[[hooks.EVENT]]\n", RIGHT, LINT])]
#[case::two_groups("Stop", &["[[hooks.EVENT]]\n", RIGHT, "[[hooks.EVENT]]\n", RIGHT], &["[[hooks.EVENT]]\n", RIGHT])]
#[case::another_matcher(
    "SessionStart",
    &["[[hooks.EVENT]]\nmatcher = \"startup\" # mine\n", RIGHT],
    &["[[hooks.EVENT]]\nmatcher = \"compact|resume\" # mine\n", RIGHT]
)]
#[case::the_matcher_of_others(
    "SessionStart",
    &["[[hooks.EVENT]]\nmatcher = \"startup\"\n", LINT, RIGHT],
    &["[[hooks.EVENT]]\nmatcher = \"startup\"\n", LINT, "\n[[hooks.EVENT]]\nmatcher = \"compact|resume\"\n\n", RIGHT]
)]
fn what_is_wrong_is_mended_and_what_is_others_stays(#[case] event: &str, #[case] before: &[&str], #[case] expected: &[&str]) {
    let text = register(&tables(event, before), Agent::CODEX, PROGRAM).unwrap();
    let expected = tables(event, expected);
    assert!(text.starts_with(&expected), "{text}");
    assert_eq!(register(&text, Agent::CODEX, PROGRAM).unwrap(), text);
}

#[rstest]
#[case::a_short_limit("timeout = 0.1 # short")]
#[case::another_agent("timeout = 2 # short")]
fn values_are_mended_and_their_comments_stay(#[case] limit: &str) {
    let before = format!(
        "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = \"nice '/old place/remembrancer-hook' --agent claude-code\" # nice\n{limit}\n"
    );
    let text = register(&before, Agent::CODEX, PROGRAM).unwrap();
    let expected = "command = \"nice /opt/r/remembrancer-hook --agent codex\" # nice\ntimeout = 2 # short\n";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn an_entry_at_an_event_that_is_not_answered_goes_and_one_without_a_group_is_given_its_own() {
    let before = tables("PreToolUse", &["[[hooks.EVENT]]\n", RIGHT]) + "[[hooks.Stop]]\ncommand = \"remembrancer-hook\"\n";
    let values = |text: &str| register(text, Agent::CODEX, PROGRAM).unwrap().parse::<toml::Table>().unwrap();
    assert_eq!(values(&before), values(""));
}
