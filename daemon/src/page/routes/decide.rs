//! What the user decides: asked by GET, done by POST with the key of a form, and afterwards led on to a view that says what was done, so
//! that to load it again does nothing again.

use std::future::{Ready, ready};

use axum::extract::{Extension, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use remembrancer_hooks::protocol::{ForgetTarget, Request, Steering};
use serde::{Deserialize, Serialize};

use super::House;
use super::taken::{InAddress, InForm, NotDone};
use crate::forgotten::Forgotten;
use crate::page::asked::text;
use crate::page::decision::Decision;
use crate::page::html::{self, View};
use crate::page::memory::{Failure, FailureKind, Look};
use crate::page::token::Token;
use crate::printable::{is_plain, on_one_line};

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
    /// What a forgetting came to, where one was done: numbers alone, since addresses stay in histories.
    episodes: Option<u64>,
    bytes_left: bool,
    set_aside: u64,
    unread: bool,
}

impl Decisions {
    fn forgotten(&self) -> Option<Forgotten> {
        Some(Forgotten {
            episodes: self.episodes?,
            bytes_left: self.bytes_left,
            set_aside: self.set_aside,
            unread: self.unread,
        })
    }
}

pub(super) async fn decisions(
    State(house): State<House>,
    Extension(token): Extension<Token>,
    InAddress(asked): InAddress<Decisions>,
) -> Result<View, Failure> {
    let key = token.key_of_forms();
    let steered = house.memory.look(Look::Steered).await?;
    let decision = asked.done.as_deref().and_then(Decision::of);
    let notice = decision.map(|decision| match asked.forgotten().filter(|_| decision.forgets()) {
        Some(forgotten) => html::forgotten(forgotten),
        None => html::done(decision, asked.id.as_deref(), &key),
    });
    Ok(html::decided(&steered, &key).after(notice))
}

/// Leads on to what a forgetting came to.
fn on_to_forgotten(decision: Decision, forgotten: Forgotten) -> Response {
    let (episodes, set_aside) = (forgotten.episodes.to_string(), forgotten.set_aside.to_string());
    let mut asked = vec![("done", decision.name()), ("episodes", episodes.as_str())];
    if forgotten.bytes_left {
        asked.push(("bytes_left", "true"));
    }
    if forgotten.set_aside > 0 {
        asked.push(("set_aside", set_aside.as_str()));
    }
    if forgotten.unread {
        asked.push(("unread", "true"));
    }
    on_to("decisions", &asked)
}

#[derive(Debug, Deserialize)]
pub(super) struct Asked {
    act: String,
    id: String,
}

fn decision(name: &str) -> Result<Decision, Failure> {
    Decision::of(name).ok_or_else(|| {
        Failure::new(FailureKind::Senseless, format!("{name:?} is nothing that can be decided."))
            .with_hint("open an episode, a session or a project, and decide there")
    })
}

/// A name that a form can carry there and back unchanged. Others are the command line's, where nothing is sent twice.
fn carried(id: &str) -> Result<(), Failure> {
    if is_plain(id) {
        return Ok(());
    }
    let message = format!(
        "The name {} holds characters that no form gives back as they are.",
        on_one_line(id)
    );
    Err(Failure::new(FailureKind::Senseless, message)
        .with_hint("decide it by `remembrancer forget`, `mute` or `boost` on the command line"))
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
    InAddress(asked): InAddress<Asked>,
) -> Result<View, Failure> {
    let decision = decision(&asked.act)?;
    carried(&asked.id)?;
    // What is to be muted or boosted is the same turn that would be forgotten.
    let preview = house
        .memory
        .look(Look::ForgetPreview(target(decision, asked.id.clone())))
        .await?;
    Ok(html::confirm(decision, &asked.id, &preview, &token.key_of_forms()))
}

#[derive(Debug, Deserialize)]
pub(super) struct Decided {
    act: String,
    id: String,
    /// A digest of the turns that were listed when it was asked.
    #[serde(default)]
    seen: String,
}

pub(super) async fn decide(
    State(house): State<House>,
    Extension(token): Extension<Token>,
    InForm(sent): InForm<Decided>,
) -> Result<Response, NotDone> {
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
                carried(&sent.id)?;
                let again = html::confirm(decision, &sent.id, &preview, &token.key_of_forms());
                return Ok(again.after(Some(html::changed_since())).into_response());
            }
            let done = house.memory.ask(Request::Forget { target }).await?.value;
            let forgotten = Forgotten::of(&done, decision == Decision::Forget);
            return Ok(on_to_forgotten(decision, forgotten));
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

pub(super) fn fact(Extension(token): Extension<Token>, InAddress(asked): InAddress<Fact>) -> Ready<View> {
    ready(html::remember(asked.project.as_deref(), &token.key_of_forms()))
}

#[derive(Debug, Deserialize)]
pub(super) struct Said {
    #[serde(default, deserialize_with = "text")]
    text: Option<String>,
    #[serde(default, deserialize_with = "text")]
    project: Option<String>,
    /// What is to be remembered, as it was spelled when it was asked whether it is.
    #[serde(default, deserialize_with = "text")]
    fact: Option<String>,
}

/// A fact as the form that asks about it carries it: as JSON, in which nothing that acts stands, so that exactly what was shown is what
/// is remembered, lines, tabs and all.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Spelled {
    text: String,
    project: Option<String>,
}

impl Spelled {
    fn out(&self) -> Result<String, Failure> {
        let json = serde_json::to_string(self).map_err(|_| Failure::new(FailureKind::Failed, "It can't be written down."))?;
        Ok(on_one_line(&json).into_owned())
    }

    fn read(json: &str) -> Result<Self, Failure> {
        serde_json::from_str(json).map_err(|_| {
            Failure::new(FailureKind::Senseless, "What the form carries is no fact.")
                .with_hint("nothing was remembered; go back, load the page again, and say it again")
        })
    }
}

pub(super) async fn remember(
    State(house): State<House>,
    Extension(token): Extension<Token>,
    InForm(sent): InForm<Said>,
) -> Result<Response, NotDone> {
    if let Some(fact) = sent.fact {
        let Spelled { text, project } = Spelled::read(&fact)?;
        let answered = house.memory.ask(Request::Remember { text, project }).await?;
        let id = answered.value["id"].as_str().unwrap_or_default();
        return Ok(on_to("episode", &[("id", id)]));
    }
    let text = sent.text.ok_or_else(|| {
        Failure::new(FailureKind::Senseless, "There is nothing in it to remember.").with_hint("go back, and say the fact")
    })?;
    let fact = Spelled {
        text,
        project: sent.project,
    };
    let asked = html::confirm_fact(&fact.text, fact.project.as_deref(), &fact.out()?, &token.key_of_forms());
    Ok(asked.into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fact_comes_back_as_it_was_said_and_nothing_of_it_acts() {
        let said = Spelled {
            text: "one\r\n\ttwo \u{1b}[2J \u{9b} \u{202e} \u{e0041} \0 \"three\" 日".to_owned(),
            project: Some("/srv/a\nb".to_owned()),
        };
        let spelled = said.out().unwrap();
        assert!(is_plain(&spelled), "{spelled}");
        assert_eq!(Spelled::read(&spelled).unwrap(), said);
        assert!(Spelled::read("{\"text\":3}").is_err() && Spelled::read("said").is_err());
    }

    #[test]
    fn a_name_that_acts_is_decided_elsewhere() {
        assert!(carried("/srv/shop").is_ok() && carried("/srv/日本").is_ok());
        let refused = carried("/srv/\u{1b}[2J").unwrap_err();
        assert!(
            refused.message.contains("\\u001b") && refused.hint.is_some(),
            "{}",
            refused.message
        );
    }
}
