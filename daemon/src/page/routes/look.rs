//! The views of one thing: an episode, a session, a prompt's recollections, and how the memory is.

use axum::extract::{Extension, State};
use maud::Markup;
use remembrancer_hooks::protocol::{ExplainRequest, Request};
use serde::Deserialize;
use serde_json::Value;

use super::House;
use super::taken::InAddress;
use crate::explanation::Explanation;
use crate::page::asked::text;
use crate::page::decision::Decision;
use crate::page::html::{self, View};
use crate::page::memory::{Failure, FailureKind, Look};
use crate::page::token::Token;

/// Prompts on a page.
const PROMPTS: usize = 40;
/// All prompts that are kept.
const ALL_PROMPTS: u32 = 1_000;

#[derive(Debug, Deserialize)]
pub(super) struct Episode {
    id: String,
    /// What was just done to it: told where it can be so, since whoever writes an address can write this.
    #[serde(default, deserialize_with = "text")]
    done: Option<String>,
    /// Whether it was so already.
    #[serde(default)]
    as_before: bool,
    /// Whether something that looks like a secret was taken out of it.
    #[serde(default)]
    redacted: bool,
}

/// What was done to a fact that was remembered.
pub(super) const REMEMBER: &str = "remember";

impl Episode {
    /// What is said of what was done to `shown`.
    fn notice(&self, shown: &Value, key: &str) -> Option<Markup> {
        let done = self.done.as_deref()?;
        if done == REMEMBER {
            let is_fact = shown["remembered_on"].is_string();
            return is_fact.then(|| html::remembered(self.as_before, self.redacted));
        }
        let decision = Decision::of(done).filter(|decision| decision.is_so(shown))?;
        Some(html::done(decision, self.as_before, &self.id, key))
    }
}

pub(super) async fn episode(
    State(house): State<House>,
    Extension(token): Extension<Token>,
    InAddress(asked): InAddress<Episode>,
) -> Result<View, Failure> {
    let shown = house.memory.ask(Request::Show { id: asked.id.clone() }).await?;
    let around = house.memory.look(Look::Around(asked.id.clone())).await?;
    let notice = asked.notice(&shown.value, &token.key_of_forms());
    Ok(html::episode(&shown.value, &around).by(shown.has_daemon).after(notice))
}

#[derive(Debug, Deserialize)]
pub(super) struct Session {
    id: String,
    #[serde(default, deserialize_with = "text")]
    after: Option<String>,
}

pub(super) async fn session(State(house): State<House>, InAddress(asked): InAddress<Session>) -> Result<View, Failure> {
    let request = Request::Session {
        id: asked.id.clone(),
        after: asked.after.clone(),
    };
    let answered = house.memory.ask(request).await?;
    // A session's row outlives what was forgotten of it.
    if asked.after.is_none() && answered.value["turns"].as_array().is_none_or(Vec::is_empty) {
        let message = format!("No turn is stored of the session {}.", asked.id);
        return Err(Failure::new(FailureKind::Refused, message)
            .with_hint("Sessions lists those of which there are some; what was forgotten does not come back"));
    }
    Ok(html::session(&answered.value, &asked.id, asked.after.as_deref()).by(answered.has_daemon))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Recollections {
    /// The id of a prompt: those before it.
    #[serde(deserialize_with = "text")]
    before: Option<String>,
}

pub(super) async fn recollections(
    State(house): State<House>,
    Extension(token): Extension<Token>,
    InAddress(asked): InAddress<Recollections>,
) -> Result<View, Failure> {
    let limit = match asked.before {
        None => PROMPTS as u32 + 1,
        Some(_) => ALL_PROMPTS,
    };
    let request = Request::Explanations {
        session: None,
        limit: Some(limit),
    };
    let answered = house.memory.ask(request).await?;
    let prompts = answered.value["prompts"].as_array().map(Vec::as_slice).unwrap_or_default();
    let (page, older) = page_of(prompts, asked.before.as_deref());
    let form = asked.before.is_none().then(|| token.key_of_forms());
    Ok(html::recollections(page, older, form.as_deref()).by(answered.has_daemon))
}

/// The prompts after the one with the id `before`, the latest first, and the id at which the list goes on. One that is gone ends the list.
fn page_of<'a>(prompts: &'a [Value], before: Option<&str>) -> (&'a [Value], Option<&'a str>) {
    let from = match before {
        None => 0,
        Some(id) => prompts
            .iter()
            .position(|prompt| prompt["id"] == id)
            .map_or(prompts.len(), |place| place + 1),
    };
    let rest = &prompts[from..];
    let page = &rest[..rest.len().min(PROMPTS)];
    let older = page.last().filter(|_| rest.len() > page.len());
    (page, older.and_then(|prompt| prompt["id"].as_str()))
}

#[derive(Debug, Deserialize)]
pub(super) struct Recollection {
    id: String,
}

pub(super) async fn recollection(State(house): State<House>, InAddress(asked): InAddress<Recollection>) -> Result<View, Failure> {
    let request = ExplainRequest {
        id: Some(asked.id),
        ..ExplainRequest::default()
    };
    let answered = house.memory.ask(Request::Explain(request)).await?;
    Ok(html::explanation(&explained(answered.value)?).by(answered.has_daemon))
}

/// An explanation as it was answered.
///
/// # Errors
/// Where it is none of this version.
pub(super) fn explained(answered: Value) -> Result<Explanation, Failure> {
    serde_json::from_value(answered).map_err(|_| {
        Failure::new(FailureKind::Failed, "The daemon's answer is none of this version.")
            .with_hint("is it of another version? Stop it, and start it again")
    })
}

pub(super) async fn health(State(house): State<House>) -> Result<View, Failure> {
    let status = house.memory.ask(Request::Status).await?;
    let store = house.memory.look(Look::Stats).await?;
    Ok(html::health(&status.value, &store))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_can_be_so_is_said_to_be_done() {
        let told = |done: &str, shown: &Value| {
            let asked: Episode = serde_json::from_value(json!({"id": "2b3c49c9", "done": done})).unwrap();
            asked.notice(shown, "abc").map(maud::PreEscaped::into_string)
        };
        let muted = json!({"muted": true, "boosted": false, "remembered_on": null});
        assert!(told("mute", &muted).unwrap().contains("Muted"));
        assert!(told("unboost", &muted).unwrap().contains("Unboosted"));
        for done in ["unmute", "boost", "forget", "forget-session", "remember", "drop"] {
            assert_eq!(told(done, &muted), None, "{done}");
        }
        let fact = json!({"muted": false, "boosted": false, "remembered_on": "2026-03-01"});
        assert!(told("remember", &fact).unwrap().contains("Remembered"));
    }

    #[test]
    fn prompts_are_paged_by_the_last_that_was_seen() {
        let prompts: Vec<Value> = (0..100).rev().map(|number| json!({"id": format!("p{number}")})).collect();
        let first = |page: &[Value]| page.first().map(|prompt| prompt["id"].as_str().unwrap().to_owned());
        let (page, older) = page_of(&prompts, None);
        assert_eq!(
            (page.len(), first(page), older),
            (PROMPTS, Some("p99".to_owned()), Some("p60"))
        );
        let (page, older) = page_of(&prompts, Some("p60"));
        assert_eq!(
            (page.len(), first(page), older),
            (PROMPTS, Some("p59".to_owned()), Some("p20"))
        );
        let (page, older) = page_of(&prompts, Some("p20"));
        assert_eq!((page.len(), older), (20, None));
        assert_eq!(page_of(&prompts, Some("p0")), (&[][..], None));
        assert_eq!(page_of(&prompts, Some("gone")), (&[][..], None));
        assert_eq!(page_of(&prompts[..PROMPTS], None).1, None);
    }
}
