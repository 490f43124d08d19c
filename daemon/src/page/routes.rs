//! Which address leads to which view. All of them lie in one folder whose name follows from the token, and name each other without it:
//! `../` is never needed, and no view knows where it lies.

mod browse;
mod decide;
mod look;
mod named;
mod put;
mod taken;

use std::future::{Ready, ready};
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::http::header;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tokio_util::sync::CancellationToken;

use super::guard::{Guard, guard};
use super::live::Arrivals;
use super::memory::{Failure, FailureKind, Memory};

pub(super) use browse::RESULTS;
pub(super) use put::MOST_PROMPT;

/// What all views share.
#[derive(Clone)]
pub(super) struct House {
    pub(super) memory: Arc<Memory>,
    pub(super) guard: Arc<Guard>,
    pub(super) arrivals: Arrivals,
}

/// All addresses.
pub(super) fn router(house: House, shutdown: &CancellationToken) -> Router {
    let gate = Arc::clone(&house.guard);
    let (arrivals, stop) = (house.arrivals.clone(), shutdown.clone());
    let live = move || async move {
        arrivals.stream(stop).map(IntoResponse::into_response).ok_or_else(|| {
            Failure::new(FailureKind::Unavailable, "Too many pages are told of arrivals already.")
                .with_hint("close some of them, or load this page anew to see what is new")
        })
    };
    Router::new()
        .route("/style.css", get(|| asset("text/css; charset=utf-8", STYLE)))
        .route("/script.js", get(|| asset("text/javascript; charset=utf-8", SCRIPT)))
        .route("/icon.svg", get(|| asset("image/svg+xml", ICON)))
        .route("/{place}/", get(browse::timeline))
        .route("/{place}/timeline", get(browse::timeline))
        .route("/{place}/arrivals", get(browse::arrivals))
        .route("/{place}/late", get(browse::late))
        .route("/{place}/live", get(live))
        .route("/{place}/search", get(browse::search))
        .route("/{place}/found", get(browse::found))
        .route("/{place}/sessions", get(browse::sessions))
        .route("/{place}/projects", get(browse::projects))
        .route("/{place}/project", get(browse::project))
        .route("/{place}/episode", get(look::episode))
        .route("/{place}/session", get(look::session))
        .route("/{place}/recollections", get(look::recollections))
        .route("/{place}/recollection", get(look::recollection))
        .route("/{place}/put", get(put::ask).post(put::explain))
        .route("/{place}/health", get(look::health))
        .route("/{place}/decisions", get(decide::decisions))
        .route("/{place}/decide", get(decide::ask).post(decide::decide))
        .route("/{place}/remember", get(decide::fact).post(decide::remember))
        .fallback(nowhere)
        .method_not_allowed_fallback(wrong_method)
        .with_state(house)
        .layer(from_fn_with_state(gate, guard))
}

const STYLE: &str = include_str!("assets/style.css");
const SCRIPT: &str = include_str!("assets/script.js");
const ICON: &str = include_str!("assets/icon.svg");

fn asset(kind: &'static str, text: &'static str) -> Ready<impl IntoResponse> {
    ready(([(header::CONTENT_TYPE, kind)], text))
}

#[expect(clippy::needless_pass_by_value, reason = "a handler is given its request")]
fn nowhere(request: Request) -> Ready<Response> {
    let message = format!("There is no view at {}.", request.uri().path());
    ready(
        Failure::new(FailureKind::Refused, message)
            .with_hint("the links at the top of the page lead to every view")
            .into_response(),
    )
}

fn wrong_method() -> Ready<Response> {
    let failure = Failure::new(FailureKind::NotThisWay, "That is not asked for, or sent, in this way.");
    ready(failure.with_hint("use the links and forms of the page").into_response())
}
