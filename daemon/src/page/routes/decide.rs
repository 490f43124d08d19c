//! What the user decides: asked by GET, done by POST with the key of a form, and afterwards led on to a view that says what was done, so
//! that to load it again does nothing again.

use std::future::{Ready, ready};

use axum::extract::{Extension, Form, Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use remembrancer_hooks::protocol::{ForgetTarget, Request, Steering};
use serde::Deserialize;

use super::House;
use crate::page::asked::text;
use crate::page::guard::{Refused, check_form};
use crate::page::html::{self, Decision, View};
use crate::page::memory::{Failure, FailureKind, Look};
use crate::page::token::Token;

/// Why nothing was decided.
pub(super) enum NotDone {
    Refused(Refused),
    Failed(Failure),
}

impl From<Refused> for NotDone {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

impl From<Failure> for NotDone {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl IntoResponse for NotDone {
    fn into_response(self) -> Response {
        match self {
            Self::Refused(refused) => refused.into_response(),
            Self::Failed(failure) => failure.into_response(),
        }
    }
}

/// Leads on to a view; what was sent is not sent again.
fn on_to(view: &str, asked: &[(&str, &str)]) -> Response {
    (StatusCode::SEE_OTHER, [(header::LOCATION, html::link(view, asked))]).into_response()
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Decisions {
    #[serde(deserialize_with = "text")]
    done: Option<String>,
    #[serde(deserialize_with = "text")]
    id: Option<String>,
}

pub(super) async fn decisions(
    State(house): State<House>,
    Extension(token): Extension<Token>,
    Query(asked): Query<Decisions>,
) -> Result<View, Failure> {
    let key = token.key_of_forms();
    let steered = house.memory.look(Look::Steered).await?;
    let decision = asked.done.as_deref().and_then(Decision::of);
    let notice = decision.map(|decision| html::done(decision, asked.id.as_deref(), &key));
    Ok(html::decided(&steered, &key).after(notice))
}

#[derive(Debug, Deserialize)]
pub(super) struct Asked {
    act: String,
    id: String,
}

fn decision(name: &str) -> Result<Decision, Failure> {
    Decision::of(name).ok_or_else(|| Failure::new(FailureKind::Senseless, format!("{name:?} is nothing that can be decided.")))
}

fn target(decision: Decision, id: String) -> ForgetTarget {
    match decision {
        Decision::ForgetSession => ForgetTarget::Session(id),
        Decision::ForgetProject => ForgetTarget::Project(id),
        _ => ForgetTarget::Episode(id),
    }
}

pub(super) async fn ask(
    State(house): State<House>,
    Extension(token): Extension<Token>,
    Query(asked): Query<Asked>,
) -> Result<View, Failure> {
    let decision = decision(&asked.act)?;
    // What is to be muted or boosted is the same turn that would be forgotten.
    let preview = house
        .memory
        .look(Look::ForgetPreview(target(decision, asked.id.clone())))
        .await?;
    Ok(html::confirm(decision, &asked.id, &preview, &token.key_of_forms()))
}

#[derive(Debug, Deserialize)]
pub(super) struct Decided {
    key: String,
    act: String,
    id: String,
    /// A digest of the turns that were listed when it was asked.
    #[serde(default)]
    seen: String,
}

pub(super) async fn decide(
    State(house): State<House>,
    Extension(token): Extension<Token>,
    Form(sent): Form<Decided>,
) -> Result<Response, NotDone> {
    check_form(&token, &sent.key)?;
    let decision = decision(&sent.act)?;
    let how = match decision {
        Decision::Mute => Steering::Mute,
        Decision::Unmute => Steering::Unmute,
        Decision::Boost => Steering::Boost,
        Decision::Unboost => Steering::Unboost,
        Decision::Forget | Decision::ForgetSession | Decision::ForgetProject => {
            let target = target(decision, sent.id.clone());
            let preview = house.memory.look(Look::ForgetPreview(target.clone())).await?;
            if preview["seen"] != sent.seen {
                let again = html::confirm(decision, &sent.id, &preview, &token.key_of_forms());
                return Ok(again.after(Some(html::changed_since())).into_response());
            }
            house.memory.ask(Request::Forget { target }).await?;
            return Ok(on_to("decisions", &[("done", decision.name())]));
        }
    };
    let ids = vec![sent.id.clone()];
    house.memory.ask(Request::Steer { how, ids }).await?;
    Ok(on_to("episode", &[("id", &sent.id), ("done", decision.name())]))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Fact {
    #[serde(deserialize_with = "text")]
    project: Option<String>,
}

pub(super) fn fact(Extension(token): Extension<Token>, Query(asked): Query<Fact>) -> Ready<View> {
    ready(html::remember(None, asked.project.as_deref(), &token.key_of_forms()))
}

#[derive(Debug, Deserialize)]
pub(super) struct Said {
    key: String,
    #[serde(default, deserialize_with = "text")]
    text: Option<String>,
    #[serde(default, deserialize_with = "text")]
    project: Option<String>,
    /// Whether it was asked whether that is to be remembered.
    #[serde(default, deserialize_with = "text")]
    sure: Option<String>,
}

pub(super) async fn remember(
    State(house): State<House>,
    Extension(token): Extension<Token>,
    Form(sent): Form<Said>,
) -> Result<Response, NotDone> {
    check_form(&token, &sent.key)?;
    let text = sent
        .text
        .ok_or_else(|| Failure::new(FailureKind::Senseless, "There is nothing in it to remember."))?;
    if sent.sure.is_none() {
        let asked = html::remember(Some(&text), sent.project.as_deref(), &token.key_of_forms());
        return Ok(asked.into_response());
    }
    let request = Request::Remember {
        text,
        project: sent.project,
    };
    let answered = house.memory.ask(request).await?;
    let id = answered.value["id"].as_str().unwrap_or_default();
    Ok(on_to("episode", &[("id", id)]))
}
