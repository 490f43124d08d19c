//! What a prompt would be reminded of that is put in the page. A form comes in; an explanation goes out, the one of `explain "PROMPT"`:
//! nothing of it is kept, counted or logged, and the prompt stands in no address, since it is sent by POST and answered at once.

use std::future::{Ready, ready};

use axum::extract::{Extension, State};
use remembrancer_hooks::protocol::{ExplainRequest, Request};
use serde::Deserialize;
use serde_json::Value;

use super::House;
use super::look::explained;
use super::taken::{InForm, NotDone};
use crate::page::asked::text;
use crate::page::html::{self, Put, View};
use crate::page::memory::{Failure, FailureKind, Look};
use crate::page::token::Token;

/// Characters of a prompt at most: in the letters of most, a form of so many is well below what a form may have.
pub(in crate::page) const MOST_PROMPT: usize = 16_000;

pub(super) fn ask(Extension(token): Extension<Token>) -> Ready<View> {
    ready(html::put(&token.key_of_forms()))
}

#[derive(Deserialize)]
pub(super) struct Said {
    #[serde(default, deserialize_with = "text")]
    prompt: Option<String>,
    #[serde(default, deserialize_with = "text")]
    project: Option<String>,
    #[serde(default, deserialize_with = "text")]
    everywhere: Option<String>,
}

pub(super) async fn explain(
    State(house): State<House>,
    Extension(token): Extension<Token>,
    InForm(said): InForm<Said>,
) -> Result<View, NotDone> {
    let prompt = bounded(said.prompt)?;
    let cwd = match said.project.as_deref() {
        None => None,
        Some(folder) if folder.starts_with(['/', '~']) => Some(folder.to_owned()),
        Some(name) => Some(folder_of(&house.memory.look(Look::Stats).await?, name)?),
    };
    let everywhere = said.everywhere.is_some();
    let request = ExplainRequest {
        prompt: Some(prompt.clone()),
        cwd,
        all_projects: everywhere,
        ..ExplainRequest::default()
    };
    let answered = house.memory.ask(Request::Explain(request)).await?;
    let put = Put {
        prompt,
        project: said.project,
        everywhere,
    };
    let view = html::put_now(&explained(answered.value)?, &put, &token.key_of_forms());
    Ok(view.by(answered.has_daemon))
}

fn bounded(prompt: Option<String>) -> Result<String, Failure> {
    let prompt = prompt.ok_or_else(|| {
        Failure::new(FailureKind::Senseless, "There is no prompt in it.").with_hint("go back, and say what you would ask")
    })?;
    if prompt.chars().count() > MOST_PROMPT {
        let message = format!("A prompt that is put here has at most {MOST_PROMPT} characters.");
        return Err(Failure::new(FailureKind::TooLong, message).with_hint("`remembrancer explain` takes a longer one"));
    }
    Ok(prompt)
}

/// The folder of the project of this name, as `stats` lists them.
fn folder_of(stats: &Value, name: &str) -> Result<String, Failure> {
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
        (None, _) => Err(
            Failure::new(FailureKind::Refused, format!("No project with a folder is called {name:?}."))
                .with_hint("go back, and name it as Projects does, or its folder"),
        ),
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
        assert_eq!(folder_of(&stats, "shop").unwrap(), "/src/shop");
        for (name, kind) in [
            ("till", FailureKind::Senseless),
            ("loose", FailureKind::Refused),
            ("attic", FailureKind::Refused),
        ] {
            assert_eq!(folder_of(&stats, name).unwrap_err().kind, kind, "{name}");
        }
    }

    #[test]
    fn a_prompt_is_bounded() {
        assert_eq!(bounded(Some("é".repeat(MOST_PROMPT))).unwrap().chars().count(), MOST_PROMPT);
        assert_eq!(
            bounded(Some("é".repeat(MOST_PROMPT + 1))).unwrap_err().kind,
            FailureKind::TooLong
        );
        assert_eq!(bounded(None).unwrap_err().kind, FailureKind::Senseless);
    }
}
