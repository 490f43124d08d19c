//! What the user decides: asked by GET, done by POST with the key of a form, and afterwards led on to a view that says what was done, so
//! that to load it again does nothing again.

use std::future::{Ready, ready};

use axum::extract::{Extension, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use remembrancer_hooks::protocol::{ForgetTarget, Request, Steering};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::House;
use super::look::REMEMBER;
use super::named::folder_of;
use super::taken::{InAddress, InForm, NotDone};
use crate::control::MOST_FACT_CHARS;
use crate::forgotten::Forgotten;
use crate::page::asked::text;
use crate::page::decision::Decision;
use crate::page::html::{self, View};
use crate::page::memory::{Failure, FailureKind, Look};
use crate::page::token::Token;
use crate::printable::{is_plain, on_one_line};
use crate::whose::Others;

/// Leads on to a view; what was sent is not sent again.
fn on_to(view: &str, asked: &[(&str, &str)]) -> Response {
    (StatusCode::SEE_OTHER, [(header::LOCATION, html::link(view, asked))]).into_response()
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Decisions {
    /// The forgetting that was done. All else is told by the episode that it was done to, which shows whether it is so.
    #[serde(deserialize_with = "text")]
    done: Option<String>,
    /// What the forgetting came to: numbers alone, since addresses stay in histories.
    episodes: Option<u64>,
    /// How many of them others shared; not who.
    shared: u64,
    /// How many of them go from the shared store, too.
    shared_on: u64,
    bytes_left: bool,
    set_aside: u64,
    unread: bool,
}

impl Decisions {
    fn forgotten(&self) -> Option<Forgotten> {
        Some(Forgotten {
            episodes: self.episodes?,
            others: Others {
                episodes: self.shared,
                logins: Vec::new(),
            },
            shared_on: self.shared_on,
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
    let forgotten = decision.filter(|decision| decision.forgets()).and_then(|_| asked.forgotten());
    Ok(html::decided(&steered, &key).after(forgotten.as_ref().map(html::forgotten)))
}

/// Leads on to what a forgetting came to.
fn on_to_forgotten(decision: Decision, forgotten: &Forgotten) -> Response {
    let (episodes, set_aside) = (forgotten.episodes.to_string(), forgotten.set_aside.to_string());
    let (shared, shared_on) = (forgotten.others.episodes.to_string(), forgotten.shared_on.to_string());
    let mut asked = vec![("done", decision.name()), ("episodes", episodes.as_str())];
    if forgotten.others.episodes > 0 {
        asked.push(("shared", shared.as_str()));
    }
    if forgotten.shared_on > 0 {
        asked.push(("shared_on", shared_on.as_str()));
    }
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
    if id.trim().is_empty() {
        return Err(Failure::new(
            FailureKind::Senseless,
            "No episode, session or project is named of which it is to be decided.",
        )
        .with_hint("open one, and decide there"));
    }
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
        .await
        .map_err(|failure| failure.or_hint("open an episode, a session or a project, and decide there"))?;
    something(&preview, &asked.id)?;
    Ok(html::confirm(decision, &asked.id, &preview, &token.key_of_forms()))
}

/// Refuses to ask whether nothing is to be forgotten, or to say that it was.
fn something(preview: &Value, id: &str) -> Result<(), Failure> {
    if preview["turns"] != 0 {
        return Ok(());
    }
    let message = format!("Nothing is stored any more of what is named {id}, so that there is nothing to decide of it.");
    Err(Failure::new(FailureKind::Refused, message)
        .with_hint("the lists of sessions and projects have what there is; what comes later is remembered"))
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
    carried(&sent.id)?;
    let how = match decision {
        Decision::Mute => Steering::Mute,
        Decision::Unmute => Steering::Unmute,
        Decision::Boost => Steering::Boost,
        Decision::Unboost => Steering::Unboost,
        Decision::Forget | Decision::ForgetSession | Decision::ForgetProject => {
            let target = target(decision, sent.id.clone());
            let preview = house.memory.look(Look::ForgetPreview(target.clone())).await?;
            something(&preview, &sent.id)?;
            if preview["seen"] != sent.seen {
                let again = html::confirm(decision, &sent.id, &preview, &token.key_of_forms());
                return Ok(again.after(Some(html::changed_since())).into_response());
            }
            let done = house.memory.ask(Request::Forget { target }).await?.value;
            let forgotten = Forgotten::of(&done, decision == Decision::Forget);
            return Ok(on_to_forgotten(decision, &forgotten));
        }
    };
    let ids = vec![sent.id.clone()];
    let done = house.memory.ask(Request::Steer { how, ids }).await?.value;
    Ok(on_to_steered(decision, &sent.id, &done))
}

/// Leads on to the turn that was decided of, or, where it is not stored now, to what is decided still.
fn on_to_steered(decision: Decision, id: &str, done: &Value) -> Response {
    if done["turns"][0]["asked"].is_null() {
        return on_to("decisions", &[]);
    }
    let mut asked = vec![("id", id), ("done", decision.name())];
    if done["changed"] == 0 {
        asked.push(("as_before", "true"));
    }
    on_to("episode", &asked)
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
    /// The folder of the project; none where it holds everywhere.
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
        let fact = Spelled::read(&fact)?;
        // What was asked about may be otherwise by now, or never was asked about.
        would_remember(&house, &fact).await?;
        let Spelled { text, project } = fact;
        let answered = house.memory.ask(Request::Remember { text, project }).await?;
        return Ok(on_to_remembered(&answered.value));
    }
    let text = sent.text.ok_or_else(|| {
        Failure::new(FailureKind::Senseless, "There is nothing in it to remember.").with_hint("go back, and say the fact")
    })?;
    let fact = Spelled {
        text,
        project: folder_of(&house.memory, sent.project.as_deref()).await?,
    };
    let told = would_remember(&house, &fact).await?;
    let project = told["project"].as_str().zip(fact.project.as_deref());
    let asked = html::confirm_fact(&fact.text, project, &fact.out()?, &token.key_of_forms());
    Ok(asked.into_response())
}

/// What a fact would come to, so that nobody agrees to what is refused afterwards.
async fn would_remember(house: &House, fact: &Spelled) -> Result<Value, Failure> {
    let told = house.memory.would_remember(fact.text.clone(), fact.project.clone()).await;
    told.map_err(|failure| refused(failure, &fact.text))
}

fn refused(mut failure: Failure, text: &str) -> Failure {
    if failure.kind != FailureKind::Senseless {
        return failure;
    }
    if text.replace("\r\n", "\n").trim().chars().count() > MOST_FACT_CHARS {
        failure.kind = FailureKind::TooLong;
    }
    failure.or_hint("nothing was remembered; go back, and change what is said, or leave it")
}

/// Leads on to the fact that was remembered, which says what came of it.
fn on_to_remembered(done: &Value) -> Response {
    let mut asked = vec![("id", done["id"].as_str().unwrap_or_default()), ("done", REMEMBER)];
    if done["new"] == false {
        asked.push(("as_before", "true"));
    }
    if done["redacted"] == true {
        asked.push(("redacted", "true"));
    }
    on_to("episode", &asked)
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
    fn what_is_too_long_and_what_is_wrong_are_told_apart_and_say_what_to_do() {
        let senseless = || Failure::new(FailureKind::Senseless, "it is private");
        let wrong = refused(senseless(), "short");
        assert!(wrong.kind == FailureKind::Senseless && wrong.hint.is_some());
        assert_eq!(refused(senseless(), &"é".repeat(2_001)).kind, FailureKind::TooLong);
        let lines = "a\r\n".repeat(1_000);
        assert_eq!(refused(senseless(), &lines).kind, FailureKind::Senseless);
        let busy = Failure::new(FailureKind::Unavailable, "busy");
        assert_eq!(refused(busy.clone(), ""), busy);
    }

    #[test]
    fn nothing_is_decided_of_nothing() {
        for nothing in ["", " "] {
            assert_eq!(carried(nothing).unwrap_err().kind, FailureKind::Senseless);
        }
        assert!(something(&serde_json::json!({"turns": 1}), "s").is_ok());
        let refused = something(&serde_json::json!({"turns": 0}), "s\u{1b}").unwrap_err();
        assert_eq!(refused.kind, FailureKind::Refused);
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
