//! What a request asks for in its address, or sends with a form. A request comes in; what a view needs goes out, or a refusal in the
//! page's own words. A form goes no further unless it carries the key of this page's forms.

use std::future::ready;

use axum::body::{Body, to_bytes};
use axum::extract::rejection::FormRejection;
use axum::extract::{Form, FromRequest, FromRequestParts, Query, Request};
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::page::guard::{Refused, check_form, most_body};
use crate::page::memory::{Failure, FailureKind};
use crate::page::token::Token;

/// What an address asks for.
pub(super) struct InAddress<T>(pub(super) T);

/// What a form of this page says.
pub(super) struct InForm<T>(pub(super) T);

/// The member of a form that says that this page made it.
#[derive(Debug, Deserialize)]
struct Keyed {
    #[serde(default)]
    key: String,
}

/// Why nothing was done.
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

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for InAddress<T> {
    type Rejection = Failure;

    fn from_request_parts(parts: &mut Parts, _: &S) -> impl Future<Output = Result<Self, Failure>> + Send {
        let read = Query::try_from_uri(&parts.uri);
        ready(match read {
            Ok(Query(asked)) => Ok(Self(asked)),
            Err(rejection) => Err(unread("The address", &rejection.body_text())
                .with_hint("go there by a link or a form of the page, or begin at the timeline")),
        })
    }
}

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequest<S> for InForm<T> {
    type Rejection = NotDone;

    async fn from_request(request: Request, state: &S) -> Result<Self, NotDone> {
        let (parts, body) = request.into_parts();
        let token = parts.extensions.get::<Token>().cloned().ok_or(Refused::NoKey)?;
        // The guard has taken in all of it already.
        let bytes = to_bytes(body, most_body(&parts.uri)).await.map_err(|_| Refused::TooLong)?;
        let again = || Request::from_parts(parts.clone(), Body::from(bytes.clone()));
        // Of a form that is not ours no more is read, and no more is said.
        match Form::<Keyed>::from_request(again(), state).await {
            Ok(Form(keyed)) => check_form(&token, &keyed.key)?,
            Err(FormRejection::InvalidFormContentType(_)) => return Err(no_form().into()),
            Err(_) => return Err(Refused::NoFormKey.into()),
        }
        match Form::<T>::from_request(again(), state).await {
            Ok(Form(sent)) => Ok(Self(sent)),
            Err(rejection) => Err(unread("The form", &rejection.body_text())
                .with_hint("nothing was done; go back, load the page again, and send its form")
                .into()),
        }
    }
}

fn no_form() -> Failure {
    Failure::new(
        FailureKind::NoForm,
        "What was sent is not of the kind that a form of this page sends.",
    )
    .with_hint("nothing was done; use the forms of the page")
}

/// Why `what` can't be read. The parser's words are read for the name of the field alone, which is one of ours: what was sent stands in
/// no answer.
fn unread(what: &str, parser: &str) -> Failure {
    let field = parser.split('`').nth(1).unwrap_or_default();
    let why = if parser.contains("missing field") {
        format!("{what} does not say {field:?}, which is needed there.")
    } else if parser.contains("duplicate field") {
        format!("{what} says {field:?} more than once.")
    } else {
        format!("{what} holds something that has no meaning there.")
    };
    Failure::new(FailureKind::Senseless, why)
}

#[cfg(test)]
mod tests {
    use axum::http::{StatusCode, Uri, header};
    use rstest::rstest;

    use super::*;
    use crate::page::asked::text;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Wanted {
        id: String,
        #[serde(default, deserialize_with = "text")]
        note: Option<String>,
        #[serde(default)]
        count: u64,
    }

    #[rstest]
    #[case::missing("/x?note=1", "\"id\"")]
    #[case::nothing("/x", "\"id\"")]
    #[case::twice("/x?id=1&id=2", "more than once")]
    #[case::no_number("/x?id=1&count=%3Cb%3E", "no meaning")]
    fn an_address_is_refused_in_our_own_words(#[case] uri: Uri, #[case] expected: &str) {
        let rejection = Query::<Wanted>::try_from_uri(&uri).unwrap_err();
        let failure = unread("The address", &rejection.body_text());
        assert!(failure.message.contains(expected), "{}", failure.message);
        assert!(
            !failure.message.contains("<b>") && !failure.message.contains("eserialize"),
            "{}",
            failure.message
        );
    }

    /// The status with which a form is refused, or what it says.
    async fn sent(kind: &str, body: String, token: Option<&Token>) -> Result<Wanted, StatusCode> {
        let mut request = axum::http::Request::post("/x").header(header::CONTENT_TYPE, kind);
        if let Some(token) = token {
            request = request.extension(token.clone());
        }
        let request = request.body(Body::from(body)).unwrap();
        match InForm::<Wanted>::from_request(request, &()).await {
            Ok(InForm(wanted)) => Ok(wanted),
            Err(refused) => Err(refused.into_response().status()),
        }
    }

    #[tokio::test]
    async fn a_form_is_read_once_it_is_known_to_be_ours() {
        const FORM: &str = "application/x-www-form-urlencoded";
        let token = Token::new().unwrap();
        let key = token.key_of_forms();
        let read = sent(FORM, format!("key={key}&id=a+b&note=%0A&count=3"), Some(&token)).await;
        let wanted = Wanted {
            id: "a b".to_owned(),
            note: None,
            count: 3,
        };
        assert_eq!(read, Ok(wanted));
        for (kind, body, status) in [
            (FORM, format!("key={key}"), StatusCode::BAD_REQUEST),
            (FORM, format!("key={key}&id=1&count=x"), StatusCode::BAD_REQUEST),
            (FORM, "id=1".to_owned(), StatusCode::FORBIDDEN),
            (FORM, format!("key={key}&key={key}&id=1"), StatusCode::FORBIDDEN),
            (FORM, "\u{0}".to_owned(), StatusCode::FORBIDDEN),
            ("text/plain", format!("key={key}&id=1"), StatusCode::UNSUPPORTED_MEDIA_TYPE),
            ("application/json", "{}".to_owned(), StatusCode::UNSUPPORTED_MEDIA_TYPE),
        ] {
            assert_eq!(sent(kind, body.clone(), Some(&token)).await, Err(status), "{kind}: {body}");
        }
        let nobody = sent(FORM, format!("key={key}&id=1"), None).await;
        assert_eq!(nobody, Err(StatusCode::UNAUTHORIZED));
    }
}
