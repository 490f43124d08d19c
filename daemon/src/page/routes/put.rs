//! What a prompt would be reminded of that is put in the page. A form comes in; an explanation goes out, the one of `explain "PROMPT"`:
//! nothing of it is kept, counted or logged, and the prompt stands in no address, since it is sent by POST and answered at once.

use std::future::{Ready, ready};

use axum::extract::{Extension, State};
use remembrancer_hooks::protocol::{ExplainRequest, Request};
use serde::Deserialize;

use super::House;
use super::look::explained;
use super::named::folder_of;
use super::taken::{InForm, NotDone};
use crate::page::asked::text;
use crate::page::html::{self, Put, View};
use crate::page::memory::{Failure, FailureKind};
use crate::page::token::Token;

/// Characters of a prompt at most, an end of a line as one.
pub(in crate::page) const MOST_PROMPT: usize = 16_000;
/// Who asked, in the place of an agent.
const AGENT: &str = "page";

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
    let cwd = folder_of(&house.memory, said.project.as_deref()).await?;
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
    let mut explained = explained(answered.value)?;
    AGENT.clone_into(&mut explained.prompt.agent);
    let view = html::put_now(&explained, &put, &token.key_of_forms());
    Ok(view.by(answered.has_daemon))
}

fn bounded(prompt: Option<String>) -> Result<String, Failure> {
    let prompt = prompt.ok_or_else(|| {
        Failure::new(FailureKind::Senseless, "There is no prompt in it.").with_hint("go back, and say what you would ask")
    })?;
    // A form sends two characters for the end of a line; the field counts, and an agent sends, one.
    let prompt = prompt.replace("\r\n", "\n");
    if prompt.chars().count() > MOST_PROMPT {
        let message = format!("A prompt that is put here has at most {MOST_PROMPT} characters.");
        return Err(Failure::new(FailureKind::TooLong, message).with_hint("`remembrancer explain` takes a longer one"));
    }
    Ok(prompt)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_bounded() {
        assert_eq!(bounded(Some("é".repeat(MOST_PROMPT))).unwrap().chars().count(), MOST_PROMPT);
        assert_eq!(
            bounded(Some("é".repeat(MOST_PROMPT + 1))).unwrap_err().kind,
            FailureKind::TooLong
        );
        assert_eq!(bounded(None).unwrap_err().kind, FailureKind::Senseless);
        let lines = "a\r\n".repeat(MOST_PROMPT / 2);
        assert_eq!(bounded(Some(lines)).unwrap(), "a\n".repeat(MOST_PROMPT / 2));
    }
}
