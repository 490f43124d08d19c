//! Editing of hosts' settings: the edited text is valid, ours stands in it once, editing again changes nothing, what is wrong in ours is
//! mended, and taking ours out gives the very bytes back.

use remembrancer::testing::Format;
use remembrancer_hooks::{Agent, CommandForm};
use serde_json::Value;

use super::input::{Dice, text};

const PROGRAM: &str = "/opt/r/remembrancer-hook";
const MOVED: &str = "/it's a \"place\"/remembrancer-hook";

pub(super) fn run_json(data: &[u8]) {
    run(Format::Json, data);
}

pub(super) fn run_toml(data: &[u8]) {
    run(Format::Toml, data);
}

fn run(format: Format, data: &[u8]) {
    let text = text(data);
    let agents: Vec<Agent> = Agent::ALL
        .iter()
        .copied()
        .filter(|agent| match format {
            Format::Json => agent.registration().plugin.is_none(),
            Format::Toml => agent.registration().toml_file.is_some(),
        })
        .collect();
    let agent = *Dice::of(data).pick(&agents);
    format.holds_hooks(&text);
    let Ok(before) = format.values(&text) else {
        assert!(
            format.register(&text, agent, PROGRAM).is_err(),
            "an invalid text is edited: {text:?}"
        );
        return;
    };
    let Ok(there) = format.register(&text, agent, PROGRAM) else {
        return;
    };
    let values = format
        .values(&there)
        .unwrap_or_else(|problem| panic!("{text:?} became invalid {there:?}: {problem}"));
    // A text may be JSON and TOML at once.
    if matches!(format, Format::Json) && serde_json::from_str::<Value>(&text).is_ok() {
        assert!(serde_json::from_str::<Value>(&there).is_ok(), "strict JSON became {there:?}");
    }
    let twice = format.register(&there, agent, PROGRAM).unwrap();
    assert_eq!(twice, there, "registering twice changes the text");
    let moved = format.register(&there, agent, MOVED).unwrap();
    let back = format.register(&moved, agent, PROGRAM).unwrap();
    assert_eq!(
        format.register(&back, agent, MOVED).unwrap(),
        moved,
        "moving there again changes the text"
    );
    let gone = format.unregister(&there).unwrap();
    assert_eq!(
        format.unregister(&gone).unwrap(),
        gone,
        "unregistering twice changes the text"
    );
    // Where ours stood before, the text without it is the one to come back to.
    if format.unregister(&text).as_deref() == Ok(&*text) {
        assert_eq!(back, there, "moving there and back changes the text");
        for (event, _) in agent.events() {
            // Others may name ours in what is no entry of ours.
            let named = ours(&before["hooks"][event]);
            assert_eq!(ours(&values["hooks"][event]), named + 1, "{event} in {there:?}");
        }
        let restored = format.restored(&there, Some(&text), agent).unwrap();
        assert_eq!(
            restored.as_deref(),
            Some(&*text),
            "other bytes come back, by way of {there:?}"
        );
        check_others(&before, &format.values(&gone).unwrap());
        if !text.contains("remembrancer-hook") {
            check_prefixes(format, agent, &there, &gone);
            check_repairs(format, agent, &text, &there);
        }
    }
}

/// What may stand before the hook's path in a line for a shell.
const PREFIXES: [&str; 5] = [
    "env A=1 ",
    "A='1 2' B= ",
    "timeout -k 1 2s ",
    "/usr/bin/nice -n 5 ",
    "nohup env -u A ",
];

/// An entry behind a prefix is ours: it is not added again, keeps its prefix when it is moved, and goes with the others.
fn check_prefixes(format: Format, agent: Agent, there: &str, gone: &str) {
    if agent.registration().command == CommandForm::Direct {
        return;
    }
    for prefix in PREFIXES {
        let prefixed = there.replace(PROGRAM, &format!("{prefix}{PROGRAM}"));
        assert_eq!(
            format.register(&prefixed, agent, PROGRAM).as_ref(),
            Ok(&prefixed),
            "added again"
        );
        assert_eq!(format.unregister(&prefixed).as_deref(), Ok(gone), "left there");
        let old = prefixed.replace(PROGRAM, "/old/remembrancer-hook");
        assert_eq!(format.register(&old, agent, PROGRAM).as_ref(), Ok(&prefixed), "not moved");
    }
}

/// What is wrong in an entry of ours is mended, and nothing else is touched.
fn check_repairs(format: Format, agent: Agent, text: &str, there: &str) {
    let sources = agent.events().find(|(_, sources)| !sources.is_empty());
    let sources = sources.map(|(_, sources)| (sources.join("|"), "another".to_owned()));
    let limit = agent.registration().timeout.as_ref().map(|limit| match format {
        Format::Json => (format!("\"{}\": {}", limit.key, limit.count), format!("\"{}\": 0", limit.key)),
        Format::Toml => (format!("{} = {}", limit.key, limit.count), format!("{} = 0", limit.key)),
    });
    let name = Some((agent.id().to_owned(), "nobody".to_owned()));
    for (right, wrong) in [sources, limit, name].into_iter().flatten() {
        if text.contains(&right) || !there.contains(&right) {
            continue;
        }
        let broken = there.replace(&right, &wrong);
        assert_eq!(
            format.register(&broken, agent, PROGRAM).as_deref(),
            Ok(there),
            "{right} is not mended"
        );
    }
}

/// How often ours stands among the handlers of an event.
fn ours(event: &Value) -> usize {
    event.to_string().matches(PROGRAM).count()
}

/// What others have put there stays, but for what is empty.
fn check_others(before: &Value, after: &Value) {
    let without = |value: &Value| {
        let mut value = value.clone();
        if let Some(object) = value.as_object_mut() {
            object.remove("version");
            if let Some(hooks) = object.get_mut("hooks").and_then(Value::as_object_mut) {
                hooks.retain(|_, list| list.as_array().is_none_or(|list| !list.is_empty()));
            }
            let is_empty = object
                .get("hooks")
                .and_then(Value::as_object)
                .is_some_and(serde_json::Map::is_empty);
            if is_empty {
                object.remove("hooks");
            }
        }
        if value.is_null() {
            Value::Object(serde_json::Map::new())
        } else {
            value
        }
    };
    assert_eq!(without(after), without(before), "settings of others were changed");
}
