use std::collections::BTreeMap;

use rstest::rstest;

use super::*;

fn document(session: &str, minute: i64, text: &str) -> Document {
    Document {
        id: format!("{session}#{minute}"),
        text: text.to_owned(),
        session: Some(session.to_owned()),
        timestamp: Some(UnixMillis(minute * 60_000)),
        project: None,
    }
}

fn dataset(documents: Vec<Document>) -> Dataset {
    Dataset {
        name: "set".to_owned(),
        documents,
        queries: Vec::new(),
    }
}

/// Each turn as its prompt, its answer and its documents.
fn check(texts: &[&str], expected: &[(&str, &str, &[usize])]) {
    let documents = texts
        .iter()
        .zip(1..)
        .map(|(text, minute)| document("s", minute, text))
        .collect();
    let history = History::of(&dataset(documents)).unwrap();
    let turns: Vec<(&str, &str, &[usize])> = history.sessions[0]
        .turns
        .iter()
        .map(|turn| (turn.prompt.as_str(), turn.answer.as_str(), turn.documents.as_slice()))
        .collect();
    assert_eq!(turns, expected);
}

#[rstest]
#[case::rounds(
    &["User: a\nAssistant: b", "User: c\nAssistant: d\ne: f"],
    &[("a", "b", &[0][..]), ("c", "d\ne: f", &[1])],
)]
#[case::a_session_that_begins_with_an_answer(
    &["Assistant: b", "User: c\nAssistant: d"],
    &[("", "b", &[0][..]), ("c", "d", &[1])],
)]
#[case::a_prompt_without_an_answer_goes_on(
    &["User: a", "User: b\nAssistant: c"],
    &[("a\nb", "c", &[0, 1][..])],
)]
#[case::the_first_of_two_people_is_the_user(
    &["Zoe: hello", "Adam: hi", "Adam: news?", "Zoe: none", "Zoe: and you: none?", "Adam: none"],
    &[("Zoe: hello", "Adam: hi\nAdam: news?", &[0, 1, 2][..]), ("Zoe: none\nZoe: and you: none?", "Adam: none", &[3, 4, 5])],
)]
fn documents_become_turns(#[case] texts: &[&str], #[case] expected: &[(&str, &str, &[usize])]) {
    check(texts, expected);
}

#[test]
fn sessions_keep_their_order_and_questions_know_their_evidence() {
    let mut set = dataset(vec![
        document("b", 1, "User: a\nAssistant: b"),
        document("a", 1, "User: c\nAssistant: d"),
        document("b", 2, "User: e\nAssistant: f"),
    ]);
    set.queries = vec![JudgedQuery {
        id: "q".to_owned(),
        text: "e?".to_owned(),
        category: None,
        timestamp: None,
        project: None,
        relevant: BTreeMap::from([(2, 1)]),
        relevant_sessions: BTreeSet::from(["a".to_owned()]),
    }];
    let history = History::of(&set).unwrap();
    let ids: Vec<&str> = history.sessions.iter().map(|session| session.id.as_str()).collect();
    assert_eq!(
        (ids.as_slice(), history.turns(), history.projects()),
        (&["b", "a"][..], 3, vec!["all"])
    );
    let question = &history.questions[0];
    assert!(question.is_answerable());
    assert!(!Question::default().is_answerable());
    let adversarial = Question {
        category: UNANSWERABLE.to_owned(),
        ..question.clone()
    };
    assert!(!adversarial.is_answerable());
    assert_eq!(question.sessions, BTreeSet::from(["a".to_owned(), "b".to_owned()]));
    assert_eq!(question.documents, BTreeSet::from([2]));
}

#[rstest]
#[case::no_session(Document { session: None, ..document("s", 1, "User: a") }, "has no session")]
#[case::no_time(Document { timestamp: None, ..document("s", 1, "User: a") }, "has no timestamp")]
#[case::not_later(document("s", 0, "User: a"), "is not later")]
fn what_is_no_conversation_is_refused(#[case] bad: Document, #[case] expected: &str) {
    let error = History::of(&dataset(vec![document("s", 0, "User: x\nAssistant: y"), bad])).unwrap_err();
    assert!(error.to_string().contains(expected), "{error}");
}
