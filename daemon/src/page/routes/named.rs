//! A project as a form names it: by its name, as Projects lists it, or by a folder. What stands in the field comes in, a folder goes out.

use serde_json::Value;

use crate::page::memory::{Failure, FailureKind, Look, Memory};

/// The folder that is meant; none where nothing is named.
///
/// # Errors
/// Where no project has that name, or several have; what the memory says.
pub(super) async fn folder_of(memory: &Memory, named: Option<&str>) -> Result<Option<String>, Failure> {
    match named {
        None => Ok(None),
        Some(folder) if folder.starts_with(['/', '~']) => Ok(Some(folder.to_owned())),
        Some(name) => by_name(&memory.look(Look::Stats).await?, name).map(Some),
    }
}

/// The folder of the project of this name, as `stats` lists them.
fn by_name(stats: &Value, name: &str) -> Result<String, Failure> {
    let all = stats["by_project"].as_array().into_iter().flatten();
    let mut folders = all
        .filter(|project| project["project"] == name)
        .filter_map(|project| project["root"].as_str());
    match (folders.next(), folders.next()) {
        (Some(folder), None) => Ok(folder.to_owned()),
        (Some(_), Some(_)) => Err(
            Failure::new(FailureKind::Senseless, format!("Several projects are called {name:?}."))
                .with_hint("go back, and name its folder; Projects lists them"),
        ),
        (None, _) => Err(Failure::new(
            FailureKind::Senseless,
            format!("No project with a folder is called {name:?}."),
        )
        .with_hint("go back, and name it as Projects does, or name its whole folder, which begins with / or ~")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_project_is_found_by_its_name() {
        let stats = json!({"by_project": [{"project": "shop", "root": "/src/shop"}, {"project": "till", "root": "/a/till"},
            {"project": "till", "root": "/b/till"}, {"project": "loose", "root": null}, {"project": null, "root": null}]});
        assert_eq!(by_name(&stats, "shop").unwrap(), "/src/shop");
        for name in ["till", "loose", "attic", "./shop"] {
            let failure = by_name(&stats, name).unwrap_err();
            assert!(failure.kind == FailureKind::Senseless && failure.hint.is_some(), "{name}");
        }
    }
}
