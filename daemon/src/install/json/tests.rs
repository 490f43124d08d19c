use proptest::prelude::*;
use rstest::rstest;
use serde_json::{Value, json};

use super::*;

const PROGRAM: &str = "/opt/r/remembrancer-hook";

fn agent(id: &str) -> Agent {
    Agent::parse(id).unwrap()
}

fn registered(text: &str, id: &str) -> String {
    register(text, agent(id), PROGRAM).unwrap()
}

#[test]
fn each_agent_is_told_in_its_own_way() {
    let with_settings = |agent: &&Agent| agent.registration().plugin.is_none();
    for agent in Agent::ALL.iter().filter(with_settings) {
        let text = register("", *agent, "/home/you/my programs/remembrancer-hook").unwrap();
        insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(agent.id(), text) });
    }
}

/// Texts as people have them, each with comments, order or entries that must stay.
const SHAPES: [(&str, &str); 8] = [
    (
        "two-spaces",
        "{\n  \"model\": \"opus\",\n  \"env\": {\n    \"A\": \"1\"\n  }\n}\n",
    ),
    ("four-spaces", "{\n    \"model\": \"opus\"\n}"),
    ("tabs", "{\n\t\"model\": \"opus\",\n\t\"list\": [\n\t\t1\n\t]\n}\n"),
    (
        "comments",
        "// top\n{\n  // about the model\n  \"model\": \"opus\", // the best\n  /* none */ \"theme\": \"dark\" // as the night\n  // the end\n}\n",
    ),
    (
        "trailing-commas",
        "{\n  \"model\": \"opus\",\n  \"list\": [\n    1,\n  ],\n}\n",
    ),
    (
        "foreign-hooks",
        "{\n  \"hooks\": {\n    \"UserPromptSubmit\": [\n      {\n        \"hooks\": [\n          { \"type\": \"command\", \"command\": \"lint\" }\n        ]\n      }\n    ],\n    \"PreToolUse\": [\n      { \"matcher\": \"Bash\", \"hooks\": [] }\n    ]\n  },\n  \"model\": \"opus\"\n}\n",
    ),
    (
        "one-line",
        "{\"model\":\"opus\",\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"x\"}]}]}}",
    ),
    ("empty-containers", "{\n  \"hooks\": {\n    \"Stop\": []\n  }\n}\n"),
];

#[test]
fn what_is_there_stays_as_it_is() {
    for (name, before) in SHAPES {
        let text = registered(before, "claude-code");
        insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(format!("shape-{name}"), text) });
    }
}

#[rstest]
#[case::line_feeds("\n", "")]
#[case::returns("\r\n", "")]
#[case::mark("\n", "\u{feff}")]
#[case::both("\r\n", "\u{feff}")]
fn line_ends_and_the_mark_stay_and_all_goes_again(#[case] newline: &str, #[case] mark: &str) {
    for (name, before) in &SHAPES[..6] {
        let before = format!("{mark}{}", before.replace('\n', newline));
        let text = registered(&before, "claude-code");
        assert!(text.starts_with(mark), "{name}");
        assert_eq!(text.matches('\n').count(), text.matches(newline).count(), "{name}: {text:?}");
        assert_eq!(unregister(&text).unwrap(), before, "{name}");
    }
}

#[test]
fn an_entry_with_another_path_is_moved_and_keeps_what_its_user_gave_it() {
    let before = r#"{"hooks": {"UserPromptSubmit": [{"hooks": [
        {"type": "command", "command": "/old/remembrancer-hook", "args": ["--budget", "90ms"], "timeout": 9}
    ]}]}}"#;
    let text = registered(before, "claude-code");
    assert!(
        text.contains(r#""command": "/opt/r/remembrancer-hook", "args": ["--budget", "90ms"], "timeout": 9"#),
        "{text}"
    );
    assert_eq!(
        text.matches("remembrancer-hook").count(),
        agent("claude-code").events().count()
    );
}

#[rstest]
#[case::cut_short("{\n  \"a\": 1,\n", "1:1: unterminated object")]
#[case::no_comma("{\n  \"a\": 1\n  \"b\": 2\n}", "2:9: expected comma")]
#[case::a_word("{\n  \"é\": yes\n}", "2:8: unexpected word")]
#[case::a_list("\n[1]", "2:1: the file holds no object")]
#[case::hooks_are_null("{\n  \"hooks\": null\n}", "2:12: \"hooks\" is no object")]
#[case::event_is_no_list("{\"hooks\": {\n \"Stop\": {}}}", "2:10: \"Stop\" is no list")]
#[case::hooks_twice("{\"hooks\": {},\n\"hooks\": {}}", "2:10: \"hooks\" stands there twice")]
fn what_is_wrong_is_named_with_its_place(#[case] text: &str, #[case] expected: &str) {
    assert_eq!(
        register(text, agent("claude-code"), PROGRAM).unwrap_err().to_string(),
        expected
    );
}

/// The handlers of an event that run our hook.
fn ours(text: &str, event: &str) -> usize {
    let value: Value = serde_json::from_str(text).unwrap();
    value["hooks"][event].to_string().matches("remembrancer-hook").count()
}

fn json_values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        ".{0,6}".prop_map(Value::from)
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(".{0,4}", inner, 0..4)
                .prop_map(|map| map.into_iter().collect::<serde_json::Map<_, _>>().into()),
        ]
    })
}

/// Settings with any properties, foreign hooks among them, pretty or on one line.
fn settings() -> impl Strategy<Value = (Value, String)> {
    let group = prop_oneof![
        Just(json!({"hooks": [{"type": "command", "command": "other"}]})),
        Just(json!({"matcher": "Bash", "hooks": []})),
        Just(json!({"command": "other"})),
        Just(json!(7)),
    ];
    let event = prop_oneof![Just("Stop"), Just("UserPromptSubmit"), Just("stop"), Just("Other")];
    let hooks = prop::option::of(prop::collection::btree_map(event, prop::collection::vec(group, 1..3), 1..3));
    (
        prop::collection::btree_map("[a-z\"é]{0,5}", json_values(), 0..4),
        hooks,
        any::<bool>(),
    )
        .prop_map(|(others, hooks, pretty)| {
            let mut object: serde_json::Map<_, _> = others.into_iter().filter(|(key, _)| key != "hooks").collect();
            object.extend(hooks.map(|hooks| ("hooks".to_owned(), json!(hooks))));
            let value = Value::Object(object);
            let text = if pretty {
                serde_json::to_string_pretty(&value)
            } else {
                serde_json::to_string(&value)
            };
            (value, text.unwrap())
        })
}

proptest! {
    #[test]
    fn there_once_and_gone_again((value, text) in settings(), which in 0..Agent::ALL.len()) {
        let agent = Agent::ALL[which];
        let there = register(&text, agent, PROGRAM).unwrap();
        for (event, _) in agent.events() {
            prop_assert_eq!(ours(&there, event), 1);
        }
        prop_assert_eq!(&register(&there, agent, PROGRAM).unwrap(), &there);
        let gone = unregister(&there).unwrap();
        let mut left: Value = serde_json::from_str(&gone).unwrap();
        if value.get("version").is_none() {
            left.as_object_mut().unwrap().remove("version");
        }
        prop_assert_eq!(left, value);
    }

    #[test]
    fn any_text_is_edited_or_refused(text in ".*", which in 0..Agent::ALL.len()) {
        if let Ok(there) = register(&text, Agent::ALL[which], PROGRAM) {
            prop_assert!(unregister(&there).is_ok());
        }
    }
}

/// An entry as `install` writes it, and as it is written here, for Claude Code.
fn mended(hooks: &str) -> Value {
    let text = registered(&format!("{{\"hooks\": {hooks}}}"), "claude-code");
    assert_eq!(registered(&text, "claude-code"), text, "a second time changes nothing");
    let value: Value = serde_json::from_str(&text).unwrap();
    value["hooks"].clone()
}

const RIGHT: &str =
    r#"{"type": "command", "command": "/opt/r/remembrancer-hook", "args": ["--agent", "claude-code"], "timeout": 2}"#;
const LINT: &str = r#"{"type": "command", "command": "lint"}"#;

#[rstest]
#[case::as_it_should_be("UserPromptSubmit", format!(r#"[{{"hooks": [{RIGHT}]}}]"#), format!(r#"[{{"hooks": [{RIGHT}]}}]"#))]
#[case::two_in_a_group(
    "UserPromptSubmit",
    format!(r#"[{{"hooks": [{RIGHT}, {LINT}, {RIGHT}]}}]"#),
    format!(r#"[{{"hooks": [{RIGHT}, {LINT}]}}]"#)
)]
#[case::two_groups(
    "Stop",
    format!(r#"[{{"hooks": [{LINT}]}}, {{"hooks": [{RIGHT}]}}, {{"hooks": [{RIGHT}]}}]"#),
    format!(r#"[{{"hooks": [{LINT}]}}, {{"hooks": [{RIGHT}]}}]"#)
)]
#[case::another_matcher(
    "SessionStart",
    format!(r#"[{{"matcher": "startup", "hooks": [{RIGHT}]}}]"#),
    format!(r#"[{{"matcher": "compact|resume", "hooks": [{RIGHT}]}}]"#)
)]
#[case::a_wider_matcher(
    "SessionStart",
    format!(r#"[{{"matcher": "startup|resume|compact", "hooks": [{RIGHT}]}}]"#),
    format!(r#"[{{"matcher": "startup|resume|compact", "hooks": [{RIGHT}]}}]"#)
)]
#[case::a_matcher_that_is_an_expression(
    "SessionStart",
    format!(r#"[{{"matcher": "^(compact|resume)$", "hooks": [{RIGHT}]}}]"#),
    format!(r#"[{{"matcher": "^(compact|resume)$", "hooks": [{RIGHT}]}}]"#)
)]
#[case::the_matcher_of_others(
    "SessionStart",
    format!(r#"[{{"matcher": "startup", "hooks": [{LINT}, {RIGHT}]}}]"#),
    format!(r#"[{{"matcher": "startup", "hooks": [{LINT}]}}, {{"matcher": "compact|resume", "hooks": [{RIGHT}]}}]"#)
)]
#[case::no_group("Stop", format!("[{RIGHT}]"), format!(r#"[{{"hooks": [{RIGHT}]}}]"#))]
#[case::a_short_limit(
    "Stop",
    format!(r#"[{{"hooks": [{}]}}]"#, RIGHT.replace("\"timeout\": 2", "\"timeout\": 0.2")),
    format!(r#"[{{"hooks": [{RIGHT}]}}]"#)
)]
#[case::a_longer_limit(
    "Stop",
    format!(r#"[{{"hooks": [{}]}}]"#, RIGHT.replace("\"timeout\": 2", "\"timeout\": 9")),
    format!(r#"[{{"hooks": [{}]}}]"#, RIGHT.replace("\"timeout\": 2", "\"timeout\": 9"))
)]
#[case::another_agent(
    "Stop",
    format!(r#"[{{"hooks": [{}]}}]"#, RIGHT.replace("\"claude-code\"", "\"clod\"")),
    format!(r#"[{{"hooks": [{RIGHT}]}}]"#)
)]
#[case::behind_a_prefix(
    "Stop",
    r#"[{"hooks": [{"command": "env", "args": ["A=1", "remembrancer-hook"]}]}]"#.to_owned(),
    r#"[{"hooks": [{"command": "env", "args": ["A=1", "/opt/r/remembrancer-hook"]}]}]"#.to_owned()
)]
#[case::in_a_shell_and_twice(
    "Stop",
    format!(r#"[{{"hooks": [{{"command": "timeout 1 sh -c '/old/remembrancer-hook --agent claude-code'"}}, {RIGHT}]}}]"#),
    r#"[{"hooks": [{"command": "timeout 1 sh -c '/opt/r/remembrancer-hook --agent claude-code'"}]}]"#.to_owned()
)]
fn what_is_wrong_is_mended_and_what_is_others_stays(#[case] event: &str, #[case] before: String, #[case] expected: String) {
    let hooks = mended(&format!("{{\"{event}\": {before}}}"));
    let expected: Value = serde_json::from_str(&expected).unwrap();
    assert_eq!(hooks[event], expected);
}

#[test]
fn an_entry_at_an_event_that_is_not_answered_goes() {
    let hooks = mended(&format!(
        r#"{{"PreToolUse": [{{"hooks": [{LINT}, {RIGHT}]}}], "Start": [{{"hooks": [{RIGHT}]}}]}}"#
    ));
    let left: Value = serde_json::from_str(&format!(r#"[{{"hooks": [{LINT}]}}]"#)).unwrap();
    assert_eq!((&hooks["PreToolUse"], hooks.get("Start")), (&left, None));
}

#[test]
fn mending_keeps_comments_and_layout() {
    let before = "{\n  // mine\n  \"hooks\": {\n    \"Stop\": [ /* both */\n      { \"hooks\": [ { \"command\": \"lint\" }, // first\n        { \"command\": \"/old/remembrancer-hook\", \"args\": [ \"--agent\" , \"claude-code\" ], \"timeout\": 0 /* at once */ } ] }\n    ]\n  }\n}\n";
    let text = registered(before, "claude-code");
    let mended = before.replace("/old/", "/opt/r/").replace("\"timeout\": 0", "\"timeout\": 2");
    let (stop, _) = mended.split_once("    ]\n").unwrap();
    assert!(text.starts_with(stop), "{text}");
}
