//! The views of what there is: timeline, search, sessions, projects. What their addresses ask for comes in, requests of the protocol go
//! to the memory, and what it answers is rendered.

use axum::extract::State;
use axum::response::Html;
use remembrancer_hooks::protocol::{Request, SearchMode, SearchRequest, SessionsRequest, TimelineRequest};
use serde::Deserialize;
use serde_json::Value;

use super::House;
use super::taken::InAddress;
use crate::control::NOT_BY_MEANING;
use crate::page::asked::{Narrowed, mode, text};
use crate::page::html::{self, View};
use crate::page::memory::{Failure, FailureKind, Late, Look};

/// Turns on a page.
const TURNS: u32 = 50;
/// Turns of a piece of what arrived; the script asks for one after the other.
const ARRIVALS: u32 = 100;
/// Results on a page.
pub(in crate::page) const RESULTS: u32 = 10;
/// Sessions on a page.
const SESSIONS: u32 = 30;
/// Turns and sessions of a project that its view shows.
const LATEST: u32 = 8;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Timeline {
    #[serde(flatten)]
    narrowed: Narrowed,
    #[serde(deserialize_with = "text")]
    before: Option<String>,
    #[serde(deserialize_with = "text")]
    after: Option<String>,
}

pub(super) async fn timeline(State(house): State<House>, InAddress(asked): InAddress<Timeline>) -> Result<View, Failure> {
    let is_newest = asked.before.is_none() && asked.after.is_none();
    let narrowing = asked.narrowed.narrowing()?;
    // Before the turns are read: what is stored in between is asked for again, and known by its id.
    let last = if is_newest {
        house.memory.look(Look::LastStored).await?.as_i64()
    } else {
        None
    };
    let request = TimelineRequest {
        narrowing,
        limit: Some(TURNS),
        before: asked.before,
        after: asked.after,
        around: None,
    };
    let answered = house.memory.ask(Request::Timeline(request)).await?;
    Ok(html::timeline(&answered.value, &asked.narrowed, last).by(answered.has_daemon))
}

pub(super) async fn arrivals(State(house): State<House>, InAddress(asked): InAddress<Timeline>) -> Result<Html<String>, Failure> {
    let is_of_nothing = asked.after.is_none();
    let request = TimelineRequest {
        narrowing: asked.narrowed.narrowing()?,
        limit: Some(ARRIVALS),
        after: asked.after,
        ..TimelineRequest::default()
    };
    let answered = house.memory.ask(Request::Timeline(request)).await?;
    Ok(html::part(html::arrivals(&answered.value, is_of_nothing)))
}

#[derive(Debug, Deserialize)]
pub(super) struct LateTurns {
    #[serde(flatten)]
    narrowed: Narrowed,
    /// The row up to which was looked before, and the one up to which is looked now. Text, since a flattened address holds nothing else.
    from: String,
    to: String,
    /// The place of the newest turn that stands in the page.
    newest: String,
}

/// The turns that were stored since and belong further back, for the script to tell of.
pub(super) async fn late(State(house): State<House>, InAddress(asked): InAddress<LateTurns>) -> Result<Html<String>, Failure> {
    let row = |text: &str| text.parse::<i64>().map_err(|_| no_row(text));
    let late = Late {
        narrowing: asked.narrowed.narrowing()?,
        rows: (row(&asked.from)?, row(&asked.to)?),
        newest: asked.newest,
    };
    let found = house.memory.look(Look::Late(late)).await?;
    Ok(html::part(html::late(&found)))
}

fn no_row(text: &str) -> Failure {
    Failure::new(FailureKind::Senseless, format!("{text:?} is no number of a row.")).with_hint("load the timeline anew")
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Search {
    #[serde(flatten)]
    narrowed: Narrowed,
    #[serde(deserialize_with = "text")]
    q: Option<String>,
    #[serde(deserialize_with = "text")]
    mode: Option<String>,
    #[serde(deserialize_with = "text")]
    offset: Option<String>,
}

impl Search {
    /// What was found in this mode, and whether by a daemon; nothing where nothing is asked.
    async fn found(&self, house: &House, mode: SearchMode) -> Result<Option<(Value, bool)>, Failure> {
        let Some(query) = &self.q else { return Ok(None) };
        let offset = self
            .offset
            .as_deref()
            .map(|text| text.parse::<u32>().map_err(|_| no_number(text)))
            .transpose()?;
        let request = SearchRequest {
            query: query.clone(),
            narrowing: self.narrowed.narrowing()?,
            mode,
            limit: Some(RESULTS),
            offset,
        };
        let answered = house.memory.ask(Request::Search(request)).await.map_err(by_words)?;
        Ok(Some((answered.value, answered.has_daemon)))
    }
}

/// A search that can't go by meaning for now is not one for what is not there; what to choose instead is named as the form names it.
fn by_words(failure: Failure) -> Failure {
    if !failure.message.starts_with(NOT_BY_MEANING) {
        return failure;
    }
    let why = failure.message.split(';').next().unwrap_or(NOT_BY_MEANING);
    Failure::new(FailureKind::Unavailable, format!("{why}.")).with_hint(
        "go back, and choose “Words” or “Words and meaning” under Narrow; a running daemon with a model searches by meaning",
    )
}

fn no_number(text: &str) -> Failure {
    Failure::new(
        FailureKind::Senseless,
        format!("{text:?} is no number of a result, as 20 is."),
    )
    .with_hint("search anew")
}

pub(super) async fn search(State(house): State<House>, InAddress(asked): InAddress<Search>) -> Result<View, Failure> {
    let mode = mode(asked.mode.as_deref())?;
    let found = asked.found(&house, mode).await?;
    let results = html::found(found.as_ref().map(|found| &found.0), &asked.narrowed, mode);
    let view = html::search(asked.q.as_deref().unwrap_or_default(), &asked.narrowed, mode, &results);
    Ok(match found {
        Some((_, has_daemon)) => view.by(has_daemon),
        None => view,
    })
}

/// The results alone, while somebody types. What can't be searched for is told in their place.
pub(super) async fn found(State(house): State<House>, InAddress(asked): InAddress<Search>) -> Html<String> {
    let told = async {
        let mode = mode(asked.mode.as_deref())?;
        let found = asked.found(&house, mode).await?;
        Ok(html::found(found.as_ref().map(|found| &found.0), &asked.narrowed, mode))
    };
    html::part(told.await.unwrap_or_else(|failure| html::failed(&failure)))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Sessions {
    #[serde(flatten)]
    narrowed: Narrowed,
    #[serde(deserialize_with = "text")]
    before: Option<String>,
}

pub(super) async fn sessions(State(house): State<House>, InAddress(asked): InAddress<Sessions>) -> Result<View, Failure> {
    let is_first = asked.before.is_none();
    let request = SessionsRequest {
        narrowing: asked.narrowed.narrowing()?,
        limit: Some(SESSIONS),
        before: asked.before,
    };
    let answered = house.memory.ask(Request::Sessions(request)).await?;
    Ok(html::sessions(&answered.value, &asked.narrowed, is_first).by(answered.has_daemon))
}

pub(super) async fn projects(State(house): State<House>) -> Result<View, Failure> {
    Ok(html::projects(&house.memory.look(Look::Stats).await?))
}

#[derive(Debug, Deserialize)]
pub(super) struct Project {
    name: String,
}

pub(super) async fn project(
    State(house): State<House>,
    InAddress(Project { name }): InAddress<Project>,
) -> Result<View, Failure> {
    let narrowed = Narrowed {
        project: Some(name.clone()),
        ..Narrowed::default()
    };
    let narrowing = narrowed.narrowing()?;
    let turns = TimelineRequest {
        narrowing: narrowing.clone(),
        limit: Some(LATEST),
        ..TimelineRequest::default()
    };
    let turns = house.memory.ask(Request::Timeline(turns)).await?;
    let sessions = SessionsRequest {
        narrowing,
        limit: Some(LATEST),
        before: None,
    };
    let sessions = house.memory.ask(Request::Sessions(sessions)).await?;
    let stats = house.memory.look(Look::Stats).await?;
    let all = stats["by_project"].as_array().into_iter().flatten();
    let mut named = all.filter(|project| project["root"] == name.as_str() || project["project"] == name.as_str());
    Ok(html::project(&name, named.next(), &turns.value, &sessions.value).by(turns.has_daemon))
}
