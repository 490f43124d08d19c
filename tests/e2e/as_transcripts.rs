//! The scorer of judged conversations against a result that is known by hand: two sessions, four questions.

use std::time::Duration;

use remembrancer_processor::eval::dataset::Dataset;
use remembrancer_schema::UnixMillis;
use remembrancer_tests::conversations::{History, Play, Question, Scores, Share, Verdict, write};
use remembrancer_tests::injected::Control;
use remembrancer_tests::sandbox;
use serde_json::json;

use crate::PATIENCE;

/// Session, its turn, who is talking about what.
const ROUNDS: [(&str, u32, &str, &str); 4] = [
    (
        "kitchen",
        1,
        "My sourdough bread comes out of the oven far too dark",
        "The thermostat of your oven reads low; bake the bread at 210 degrees and cover it after twenty minutes.",
    ),
    (
        "kitchen",
        2,
        "The tomato seedlings on the windowsill fall over after a week",
        "They are leggy for want of light; hang a growing lamp closely above the seedlings and water them from below.",
    ),
    (
        "music",
        1,
        "My violin sounds dull since the weather turned humid",
        "The soundpost of the violin has moved; a luthier sets it upright again in ten minutes.",
    ),
    (
        "music",
        2,
        "Which documents does the tax office want for a moving allowance?",
        "For the moving allowance send the removal invoice and both rental contracts to the tax office.",
    ),
];

/// A question, and the document that is judged to answer it. Three judgements are wrong on purpose.
const QUESTIONS: [(&str, &str, &str); 4] = [
    (
        "right",
        "Why does sourdough bread come out of the oven too dark?",
        "kitchen#1",
    ),
    (
        "wrong session",
        "Why do tomato seedlings on the windowsill fall over?",
        "music#1",
    ),
    (
        "wrong turn",
        "Which documents for a moving allowance does the tax office want?",
        "music#1",
    ),
    ("not there", "How do I parallel park a lorry on a steep hill?", "kitchen#1"),
];

fn dataset() -> Dataset {
    let folder = tempfile::tempdir().unwrap();
    let lines = |file: &str, lines: Vec<String>| fs_err::write(folder.path().join(file), lines.join("\n")).unwrap();
    let document = |(session, turn, prompt, answer): &(&str, u32, &str, &str)| {
        let text = format!("User: {prompt}\nAssistant: {answer}");
        let timestamp = format!("2024-05-0{turn}T10:00:00");
        json!({"_id": format!("{session}#{turn}"), "text": text, "session": session, "timestamp": timestamp, "project": "home"})
            .to_string()
    };
    let query = |(id, text, _): &(&str, &str, &str)| json!({"_id": id, "text": text, "project": "home"}).to_string();
    let judgement = |(id, _, document): &(&str, &str, &str)| format!("{id}\t{document}\t1");
    lines("corpus.jsonl", ROUNDS.iter().map(document).collect());
    lines("queries.jsonl", QUESTIONS.iter().map(query).collect());
    let header = std::iter::once("query\tdoc\tgrade".to_owned());
    lines("qrels.tsv", header.chain(QUESTIONS.iter().map(judgement)).collect());
    Dataset::load(folder.path()).unwrap()
}

#[test]
fn what_is_shown_is_judged_as_it_is_known_by_hand() {
    let history = History::of(&dataset()).unwrap();
    let sandbox = sandbox!();
    let folders = write(&sandbox, &history);
    let daemon = sandbox.start();
    daemon.wait_for_model();
    daemon.embed_all_within(PATIENCE);
    let mut play = Play::new(&sandbox, &daemon, &history, &folders, None);
    let verdicts: Vec<Verdict> = history.questions.iter().map(|question| play.ask(question, "home")).collect();
    let first: Vec<Option<(&str, bool)>> = verdicts
        .iter()
        .map(|verdict| {
            verdict
                .shown
                .first()
                .map(|shown| (shown.session.as_str(), shown.is_evidence_turn))
        })
        .collect();
    assert_eq!(
        first,
        [
            Some(("kitchen", true)),
            Some(("kitchen", false)),
            Some(("music", false)),
            None
        ]
    );
    let scores = Scores::of(&verdicts);
    let share = |hits| Share { hits, of: 4 };
    assert_eq!(scores.evidence_shown, share(2));
    assert_eq!(scores.first_right, share(2));
    assert_eq!(scores.turn_shown, share(1));
    assert_eq!(scores.silent, share(1));
    assert_eq!(scores.beside_the_point, share(1));
    assert!(
        scores.characters > 300.0,
        "three blocks of more than 400 characters: {scores:?}"
    );
}

#[test]
fn a_question_is_asked_at_its_own_time() {
    let history = History::of(&dataset()).unwrap();
    let sandbox = sandbox!();
    let Some(clock) = Control::new(&sandbox.root(), "clock") else {
        return;
    };
    let folders = write(&sandbox, &history);
    let variables = clock.variables();
    let daemon = sandbox.start_with(&variables.each_ref().map(|(name, value)| (*name, value.as_str())));
    daemon.wait_for_model();
    daemon.embed_all_within(PATIENCE);
    let mut play = Play::new(&sandbox, &daemon, &history, &folders, Some(&clock));
    let asked = |asked: Option<&str>| Question {
        text: "What did we say of the bread and the violin yesterday?".to_owned(),
        asked: asked.map(|at| UnixMillis(at.parse::<jiff::Timestamp>().unwrap().as_millisecond())),
        ..history.questions[0].clone()
    };
    let day = |session: &str| daemon.why(session)["at"].as_str().unwrap()[..10].to_owned();
    play.ask(&asked(None), "home");
    assert!(day("asks-1").as_str() > "2026", "what has no time of its own is asked now");
    play.ask(&asked(Some("2024-05-02T12:00:00Z")), "home");
    // On a busy machine the first was asked more than once.
    let sessions = (2..20).map(|number| format!("asks-{number}"));
    let days: Vec<String> = sessions
        .map_while(|session| daemon.why_within(Duration::ZERO, &session))
        .map(|log| log["at"].as_str().unwrap()[..10].to_owned())
        .collect();
    assert_eq!(days.last().map(String::as_str), Some("2024-05-02"), "{days:?}");
}
