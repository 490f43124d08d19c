//! What is asked of the client in turn: where it works, and whether its user agrees to a deletion. One that does not say that it can be
//! asked is asked nothing.

use std::time::Duration;

use rmcp::model::{
    ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema, ErrorCode,
    InputRequest, InputRequiredResult, InputResponses, ProtocolVersion, ServerRequest,
};
use rmcp::service::{PeerRequestOptions, RequestContext, RoleServer, ServiceError};
use serde_json::Value;

/// How long a client may take to name its roots.
const ROOTS_PATIENCE: Duration = Duration::from_secs(2);
/// How long a person is waited for.
const PERSON_PATIENCE: Duration = Duration::from_mins(5);
/// The name of the question whether to delete, and of its answer.
const QUESTION: &str = "delete";

/// What came of asking the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    Agreed,
    /// Or nobody answered, or the question failed.
    Declined,
    /// The client says that it knows no such question.
    NotAsked,
}

/// A call that the client repeats with its user's answer: our token for what was asked, and what was answered.
pub(super) struct Answered {
    pub(super) token: String,
    pub(super) is_agreed: bool,
}

/// The addresses of the client's roots; `None` where it has none, or does not say.
#[expect(
    deprecated,
    reason = "clients of the versions until 2025-11-25 have them, and later ones are not asked"
)]
pub(super) async fn roots(context: &RequestContext<RoleServer>) -> Option<Vec<String>> {
    context.client_capabilities()?.roots?;
    if is_asked_by_results(context) {
        return None;
    }
    let request = ServerRequest::ListRootsRequest(rmcp::model::ListRootsRequest::default());
    match ask(context, request, ROOTS_PATIENCE).await {
        Ok(ClientResult::ListRootsResult(result)) => Some(result.roots.into_iter().map(|root| root.uri).collect()),
        _ => None,
    }
}

async fn ask(
    context: &RequestContext<RoleServer>,
    request: ServerRequest,
    patience: Duration,
) -> Result<ClientResult, ServiceError> {
    let options = PeerRequestOptions::with_timeout(patience);
    let sent = context.peer.send_request_with_option(request, options).await?;
    tokio::select! {
        answer = sent.await_response() => answer,
        () = context.ct.cancelled() => Err(ServiceError::Cancelled { reason: None }),
    }
}

/// Whether the client can put a form before its user.
pub(super) fn can_ask(context: &RequestContext<RoleServer>) -> bool {
    let elicitation = context
        .client_capabilities()
        .and_then(|capabilities| capabilities.elicitation);
    // One that names no mode knows forms alone.
    elicitation.is_some_and(|modes| modes.form.is_some() || modes.url.is_none())
}

/// Whether questions go out as a call's result, and their answers come with the call again: since 2026-07-28.
pub(super) fn is_asked_by_results(context: &RequestContext<RoleServer>) -> bool {
    context
        .protocol_version()
        .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

/// Asks the user, and waits.
pub(super) async fn ask_user(context: &RequestContext<RoleServer>, question: String) -> Answer {
    let Some(form) = form(question) else {
        return Answer::Declined;
    };
    match ask(
        context,
        ServerRequest::ElicitRequest(ElicitRequest::new(form)),
        PERSON_PATIENCE,
    )
    .await
    {
        Ok(ClientResult::ElicitResult(result)) if is_agreed(&result) => Answer::Agreed,
        Err(ServiceError::McpError(error)) if error.code == ErrorCode::METHOD_NOT_FOUND => Answer::NotAsked,
        // A question that failed is one to which nobody said yes: the model gets no token for it.
        Ok(_) | Err(_) => Answer::Declined,
    }
}

/// The question as a call's result.
pub(super) fn asking(question: String, token: String) -> Option<InputRequiredResult> {
    let request = InputRequest::Elicitation(ElicitRequest::new(form(question)?));
    let requests = [(QUESTION.to_owned(), request)].into_iter().collect();
    Some(InputRequiredResult::new(Some(requests), Some(token)))
}

/// What a call that is repeated brings.
pub(super) fn answered(token: Option<String>, responses: Option<InputResponses>) -> Option<Answered> {
    let token = token?;
    let response = responses.and_then(|mut responses| responses.remove(QUESTION));
    let result = response.and_then(|response| serde_json::from_value::<ElicitResult>(response).ok());
    let is_agreed = result.is_some_and(|result| is_agreed(&result));
    Some(Answered { token, is_agreed })
}

fn form(question: String) -> Option<ElicitRequestParams> {
    let schema = ElicitationSchema::builder()
        .required_bool_with(QUESTION, |field| {
            field
                .title("Delete for good")
                .description("It can't be undone.")
                .with_default(false)
        })
        .build()
        .ok()?;
    Some(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: question,
        requested_schema: schema,
    })
}

/// To accept the form is not to agree: the box in it has to be ticked.
fn is_agreed(result: &ElicitResult) -> bool {
    let is_ticked = result
        .content
        .as_ref()
        .is_some_and(|content| content[QUESTION] == Value::Bool(true));
    result.action == ElicitationAction::Accept && is_ticked
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case::ticked(json!({"action": "accept", "content": {"delete": true}}), true)]
    #[case::not_ticked(json!({"action": "accept", "content": {"delete": false}}), false)]
    #[case::empty(json!({"action": "accept", "content": {}}), false)]
    #[case::no_content(json!({"action": "accept"}), false)]
    #[case::a_word(json!({"action": "accept", "content": {"delete": "true"}}), false)]
    #[case::declined(json!({"action": "decline", "content": {"delete": true}}), false)]
    #[case::dismissed(json!({"action": "cancel"}), false)]
    #[case::nonsense(json!({"delete": true}), false)]
    fn only_a_ticked_and_accepted_form_agrees(#[case] response: Value, #[case] expected: bool) {
        let responses = [(QUESTION.to_owned(), response)].into_iter().collect();
        let answered = answered(Some("t".to_owned()), Some(responses)).unwrap();
        assert_eq!((answered.token.as_str(), answered.is_agreed), ("t", expected));
    }

    #[test]
    fn an_answer_without_a_token_of_ours_is_none_and_a_token_without_one_declines() {
        assert!(answered(None, None).is_none());
        assert!(!answered(Some("t".to_owned()), None).unwrap().is_agreed);
    }

    #[test]
    fn the_question_goes_out_with_its_token() {
        let asked = serde_json::to_value(asking("Delete 3 episodes?".to_owned(), "t".to_owned()).unwrap()).unwrap();
        assert_eq!(asked["requestState"], "t");
        let params = &asked["inputRequests"]["delete"]["params"];
        assert_eq!(params["message"], "Delete 3 episodes?");
        assert_eq!(params["requestedSchema"]["required"], json!(["delete"]));
        assert_eq!(params["requestedSchema"]["properties"]["delete"]["type"], "boolean");
    }
}
