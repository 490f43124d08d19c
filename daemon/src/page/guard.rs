//! Who is let in. A request comes in; it goes on to its view, or an answer that says why not goes out, and on every answer stands what a
//! browser may do with it.
//!
//! Four questions, in this order: was this machine named by its own name (a page elsewhere that has its name lead here is not)? does the
//! browser say that this page asks, and no other? has it the key? does a form carry its own key?

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use remembrancer_processor::Stopwatch;

use super::html;
use super::routes::MOST_PROMPT;
use super::token::{Token, TokenFile, same};

/// Bytes of a form at most, but for the one that puts a prompt.
const MOST_BODY: usize = 64 * 1_024;
/// Bytes of the form that puts a prompt: a character has four at most, each of which a form writes in three.
const MOST_PUT: usize = 12 * MOST_PROMPT + 16 * 1_024;
/// How long a form may take to come.
const BODY_PATIENCE: Duration = Duration::from_secs(10);
/// How long an answer may take: as long as the longest command waits, and a little more.
const PATIENCE: Duration = Duration::from_secs(150);
/// The cookie's name.
const COOKIE: &str = "remembrancer";

/// The files that hold nothing of the memory, and are given to whoever asks from here.
pub(super) const OPEN: [&str; 3] = ["/style.css", "/script.js", "/icon.svg"];

/// What a browser may do with an answer: nothing but show it, with our own style and script, and send forms back here.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; \
base-uri 'none'; frame-ancestors 'none'";

/// Stands on every answer. No referrer leaves this page, but its forms are sent with their origin, which `no-referrer` would make `null`.
const HEADERS: [(HeaderName, &str); 9] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "same-origin"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-embedder-policy"), "require-corp"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (
        HeaderName::from_static("permissions-policy"),
        "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
    ),
];

/// What a request is held against.
pub(super) struct Guard {
    hosts: Hosts,
    file: Arc<TokenFile>,
}

/// The names by which this machine may be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hosts {
    /// Its own, with this port.
    Port(u16),
    /// Its own: who forwards to a unix socket has a port of his own.
    AnyPort,
}

/// Names of a machine that lead to itself.
const OWN_NAMES: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

impl Hosts {
    /// Whether `host` is one of them.
    fn have(self, host: &str) -> bool {
        let rest = OWN_NAMES.iter().find_map(|name| host.strip_prefix(name));
        let port = match rest {
            Some("") => Some(80),
            Some(rest) => rest
                .strip_prefix(':')
                .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
                .and_then(|digits| digits.parse::<u16>().ok()),
            None => None,
        };
        match self {
            Self::Port(own) => port == Some(own),
            Self::AnyPort => port.is_some(),
        }
    }
}

/// Why a request is not let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    /// It names another machine, or none.
    Host,
    /// Another site has the browser ask.
    Elsewhere,
    /// Nothing says that this page asks, which is needed there.
    Unsaid,
    /// It has no key, or an old one.
    NoKey,
    /// Its form was not made by this page.
    NoFormKey,
    /// Its form is too long.
    TooLong,
    /// Its form, or its answer, took too long.
    TooSlow,
}

impl Refused {
    fn status(self) -> StatusCode {
        match self {
            Self::Host => StatusCode::MISDIRECTED_REQUEST,
            Self::Elsewhere | Self::Unsaid | Self::NoFormKey => StatusCode::FORBIDDEN,
            Self::NoKey => StatusCode::UNAUTHORIZED,
            Self::TooLong => StatusCode::PAYLOAD_TOO_LARGE,
            Self::TooSlow => StatusCode::REQUEST_TIMEOUT,
        }
    }

    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Host => (
                "Another machine was meant",
                "The request names a host that is not this machine. Open the address that `remembrancer serve` printed.",
            ),
            Self::Elsewhere => (
                "Another site asked",
                "A page of another site had your browser ask this, which is refused. Open the address that `remembrancer serve` printed.",
            ),
            Self::Unsaid => (
                "Nothing says that this page asks",
                "This is given to the page alone, and your browser does not say that the page asks for it (by `Origin` or \
                 `Sec-Fetch-Site`). Go there by the links and forms of the page, in a browser of today.",
            ),
            Self::NoKey => (
                "No key",
                "This page opens to the address that `remembrancer serve` printed, which holds a token. The token ends when that process \
                 ends, or with `remembrancer serve --new-token`.",
            ),
            Self::NoFormKey => (
                "The form is too old",
                "It was not made by this page, or before it was started anew. Nothing was done. Go back, load the page again, and send it \
                 again.",
            ),
            Self::TooLong => (
                "The form is too long",
                "It has more than a form of this page may have. Nothing was done; say it in fewer words.",
            ),
            Self::TooSlow => (
                "It took too long",
                "The answer did not come in time. What was begun may still be done: look before you try again.",
            ),
        }
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let (title, text) = self.words();
        let document = match self {
            Self::Host | Self::Elsewhere | Self::Unsaid | Self::NoKey => html::outside(title, text),
            // Who sent it has the key.
            Self::NoFormKey | Self::TooLong | Self::TooSlow => html::refused(title, text),
        };
        (self.status(), document).into_response()
    }
}

impl Guard {
    /// Lets in who names one of `hosts` and has the token of `file`.
    pub(super) fn new(hosts: Hosts, file: Arc<TokenFile>) -> Self {
        Self { hosts, file }
    }

    /// The host that is named, if it is this machine.
    fn host<'a>(&self, uri: &'a Uri, headers: &'a HeaderMap) -> Result<&'a str, Refused> {
        let mut named = headers.get_all(header::HOST).iter();
        let (Some(host), None) = (named.next(), named.next()) else {
            return Err(Refused::Host);
        };
        let host = host.to_str().map_err(|_| Refused::Host)?;
        let is_named_otherwise = uri.authority().is_some_and(|authority| authority.as_str() != host);
        if is_named_otherwise || !self.hosts.have(host) {
            return Err(Refused::Host);
        }
        Ok(host)
    }

    /// The token in force, if the cookie has its key and the address its folder.
    fn key(&self, uri: &Uri, headers: &HeaderMap) -> Result<Token, Refused> {
        let token = self.file.token().ok_or(Refused::NoKey)?;
        let key = token.key_of_cookie();
        let place = uri.path().split('/').nth(1).unwrap_or_default();
        let has_key = cookies(headers).any(|(name, value)| name == COOKIE && same(value, &key));
        if has_key && same(place, &token.place()) {
            Ok(token)
        } else {
            Err(Refused::NoKey)
        }
    }
}

/// Checks that `said` is what a form that was made for `token` carries.
///
/// # Errors
/// [`Refused::NoFormKey`].
pub(super) fn check_form(token: &Token, said: &str) -> Result<(), Refused> {
    if same(&token.key_of_forms(), said) {
        Ok(())
    } else {
        Err(Refused::NoFormKey)
    }
}

/// Names and values of all cookies.
fn cookies(headers: &HeaderMap) -> impl Iterator<Item = (&str, &str)> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    lines
        .flat_map(|line| line.split(';'))
        .filter_map(|cookie| cookie.trim().split_once('='))
}

/// What a browser says of who has it ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asker {
    /// This page.
    Ours,
    /// Nobody: the user typed it, or followed a link of no site.
    User,
    /// Another site, or another port of this machine.
    Other,
    /// It does not say.
    Unknown,
}

fn asker(host: &str, headers: &HeaderMap) -> Asker {
    let value = |name: &HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let origin = value(&header::ORIGIN).map(|origin| origin.strip_prefix("http://") == Some(host));
    let site = value(&HeaderName::from_static("sec-fetch-site"));
    if origin == Some(false) || site.is_some_and(|site| !matches!(site, "same-origin" | "none")) {
        Asker::Other
    } else if origin == Some(true) || site == Some("same-origin") {
        Asker::Ours
    } else if site.is_some() {
        Asker::User
    } else {
        Asker::Unknown
    }
}

/// Lets a request through to its view, or answers why not; and says on every answer what a browser may do with it.
pub(super) async fn guard(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let began = Stopwatch::start();
    let (method, view) = (request.method().clone(), view_of(request.uri()));
    let mut response = match admit(&guard, request).await {
        Ok(Admitted::To(request)) => tokio::time::timeout(PATIENCE, next.run(request))
            .await
            .unwrap_or_else(|_| Refused::TooSlow.into_response()),
        Ok(Admitted::Answered(response)) => response,
        Err(refused) => refused.into_response(),
    };
    let (status, took) = (response.status().as_u16(), began.total());
    tracing::debug!(%method, view, status, ?took, "answered a browser");
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// The view that an address names, for the log: neither what it asks for, which may be text, nor its folder.
fn view_of(uri: &Uri) -> String {
    uri.path().split('/').nth(2).unwrap_or_default().to_owned()
}

/// Bytes that a form may have that is sent to this address.
pub(super) fn most_body(uri: &Uri) -> usize {
    if view_of(uri) == "put" { MOST_PUT } else { MOST_BODY }
}

enum Admitted {
    To(Request),
    Answered(Response),
}

async fn admit(guard: &Guard, request: Request) -> Result<Admitted, Refused> {
    let (uri, headers) = (request.uri(), request.headers());
    let host = guard.host(uri, headers)?;
    let asker = asker(host, headers);
    if OPEN.contains(&uri.path()) && request.method() == Method::GET {
        return Ok(Admitted::To(request));
    }
    if let Some(said) = said_token(uri).filter(|_| request.method() == Method::GET && uri.path() == "/") {
        return open(guard, &said, asker).map(Admitted::Answered);
    }
    let changes = request.method() != Method::GET && request.method() != Method::HEAD;
    // A stream is held open, and so is worth more to another site than a page that it may not read.
    let needs_ours = changes || uri.path().ends_with("/live");
    match asker {
        Asker::Other => return Err(Refused::Elsewhere),
        Asker::User | Asker::Unknown if needs_ours => return Err(Refused::Unsaid),
        Asker::Ours | Asker::User | Asker::Unknown => {}
    }
    let token = guard.key(uri, headers)?;
    let (mut parts, body) = request.into_parts();
    // Views make and check their forms by the token that let the request in.
    parts.extensions.insert(token);
    if !changes {
        return Ok(Admitted::To(Request::from_parts(parts, body)));
    }
    let whole = tokio::time::timeout(BODY_PATIENCE, to_bytes(body, most_body(&parts.uri)));
    let bytes = whole.await.map_err(|_| Refused::TooSlow)?.map_err(|_| Refused::TooLong)?;
    Ok(Admitted::To(Request::from_parts(parts, Body::from(bytes))))
}

/// The token that an address holds.
fn said_token(uri: &Uri) -> Option<String> {
    let pairs = uri.query()?.split('&').filter_map(|pair| pair.split_once('='));
    let mut said = pairs.filter(|(name, _)| *name == "token").map(|(_, value)| value.to_owned());
    said.next()
}

/// Gives the browser its cookie and sends it on, so that the token stands in no address any more. One that comes by way of another
/// site (a link that was clicked, the file that `--open` has it read) would be sent on without the cookie: it goes on by itself.
fn open(guard: &Guard, said: &str, asker: Asker) -> Result<Response, Refused> {
    let token = guard.file.token().filter(|token| token.is(said)).ok_or(Refused::NoKey)?;
    let place = token.place();
    let cookie = format!(
        "{COOKIE}={}; Path=/{place}/; HttpOnly; SameSite=Strict",
        token.key_of_cookie()
    );
    let inside = format!("/{place}/");
    let mut response = match asker {
        Asker::Other => html::on_to(&inside).into_response(),
        Asker::Ours | Asker::User | Asker::Unknown => {
            (StatusCode::SEE_OTHER, [(header::LOCATION, inside.as_str())]).into_response()
        }
    };
    let cookie = HeaderValue::from_str(&cookie).map_err(|_| Refused::NoKey)?;
    response.headers_mut().insert(header::SET_COOKIE, cookie);
    Ok(response)
}

#[cfg(test)]
mod tests;
