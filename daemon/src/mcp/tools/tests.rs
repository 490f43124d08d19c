use std::collections::BTreeSet;

use super::*;

#[test]
fn every_tool_tells_a_model_when_to_use_it_and_when_not() {
    for tool in &TOOLS {
        assert!(
            tool.about.contains("Use it") || tool.about.contains("Only the user's own wish"),
            "{}",
            tool.name
        );
        assert!(
            tool.about.to_lowercase().contains("do not") || tool.about.contains("never"),
            "{}",
            tool.name
        );
        assert!(
            (200..1_200).contains(&tool.about.len()),
            "{}: {} bytes",
            tool.name,
            tool.about.len()
        );
        let names: BTreeSet<_> = tool.parameters.iter().map(|parameter| parameter.name).collect();
        assert_eq!(names.len(), tool.parameters.len(), "{} names an argument twice", tool.name);
    }
}

#[test]
fn every_schema_is_closed_and_bounded() {
    for tool in &TOOLS {
        let listed = serde_json::to_value(tool.listed()).unwrap();
        let input = &listed["inputSchema"];
        assert_eq!(input["type"], "object", "{}", tool.name);
        assert_eq!(input["additionalProperties"], false, "{}", tool.name);
        for (name, property) in input["properties"].as_object().unwrap() {
            let bounds = match property["type"].as_str().unwrap() {
                "string" => property["maxLength"].is_u64() || property["enum"].is_array(),
                "integer" => property["minimum"].is_u64() && property["maximum"].is_u64(),
                other => other == "boolean",
            };
            assert!(bounds, "{}: {name} is not bounded", tool.name);
            assert!(property["description"].as_str().unwrap().len() > 15, "{}: {name}", tool.name);
        }
        assert_eq!(listed["outputSchema"]["type"], "object", "{}", tool.name);
        assert_eq!(listed["annotations"]["openWorldHint"], false, "{}", tool.name);
        assert_eq!(listed["annotations"]["title"], listed["title"], "{}", tool.name);
    }
}

#[test]
fn hints_tell_what_changes_and_what_deletes() {
    let hints = |name: &str| ToolOf::named(name).unwrap().hints;
    for name in ["search", "show", "timeline", "explain"] {
        assert_eq!(hints(name), (true, false, true), "{name}");
    }
    assert_eq!(hints("remember"), (false, false, true));
    assert_eq!(hints("forget"), (false, true, false));
    assert!(ToolOf::named("Search").is_none());
}

#[test]
fn no_argument_of_forget_means_everything() {
    let forget = ToolOf::named("forget").unwrap();
    assert!(
        forget
            .parameters
            .iter()
            .all(|parameter| !["all", "everything", "everywhere"].contains(&parameter.name))
    );
}

#[test]
fn where_it_was_looked_is_said_and_how_to_look_wider() {
    let project = Looked::Project("/home/ada/shop".to_owned());
    assert_eq!(project.words(), "in the project /home/ada/shop");
    assert!(project.wider().contains("everywhere: true"));
    assert_eq!(Looked::UnknownHere("/x".to_owned()).json(), Value::Null);
    assert!(
        Looked::UnknownHere("/x".to_owned())
            .words()
            .contains("nothing is remembered of /x")
    );
}
