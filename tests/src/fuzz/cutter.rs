//! The cutter of episodes, alone and on whole turns: parts are of their size and hold the text, a growing turn is cut as if anew.
//!
//! An input is texts between NUL bytes: of a turn the prompt, then what the agent said.

use remembrancer_processor::ingest::testing::{cut_texts, tokens};
use remembrancer_processor::ingest::{Agent, GrowingTurn, Step, Turn, episodes, redact};
use remembrancer_schema::{Facets, NewEpisode, Origin, TurnUid, UnixMillis};

use super::input::{Dice, texts};

/// What a short unit may pass the limit by, and what fences that are opened and closed again take.
const SLACK: usize = 64;
/// Of what the agent said, the bytes that a turn keeps, with room for the fences and line breaks that cutting adds.
const MOST_KEPT: usize = 3 * 64 * 1024;

pub(super) fn run(data: &[u8]) {
    let texts = texts(data);
    let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
    let mut dice = Dice::of(data);
    // The least and the most that a turn of any prompt leaves (`episode.rs`).
    check_parts(&texts, 128 + dice.below(129), 176 + dice.below(81));
    check_turn(&texts);
}

fn check_parts(texts: &[&str], first: usize, later: usize) {
    let parts = cut_texts(first, later, texts);
    for (number, part) in parts.iter().enumerate() {
        let limit = if number == 0 { first } else { later };
        assert!(
            tokens(part) <= limit + SLACK,
            "a part of {} tokens, {limit} asked for",
            tokens(part)
        );
    }
    let joined: String = parts.concat();
    if texts.iter().any(|text| text.contains("```") || text.contains("~~~")) {
        // A fence that is cut is closed and opened again: the text is there, with more between.
        check_holds(&joined, texts);
    } else {
        // What is left out may be left out, and nothing is added.
        check_holds(&joined, texts);
        let all: String = texts.iter().map(|text| letters(text)).collect();
        let mut there = all.chars();
        let added = letters(&joined).chars().find(|c| !there.any(|other| other == *c));
        assert_eq!(added, None, "{joined:?} of {texts:?}");
    }
}

/// Whether every character of the texts stands in `joined`, in order.
fn check_holds(joined: &str, texts: &[&str]) {
    let mut there = joined.chars().filter(|c| !c.is_whitespace());
    for c in texts.iter().flat_map(|text| kept_letters(text)) {
        assert!(there.any(|other| other == c), "{c:?} is missing, or out of order");
    }
}

fn letters(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// The characters of a text that a part may not lack: those of rulers it may.
fn kept_letters(text: &str) -> impl Iterator<Item = char> {
    let is_mark = |line: &&str| line.trim().bytes().all(|byte| matches!(byte, b'-' | b'*' | b'_' | b'='));
    let lines: Vec<String> = text.lines().filter(|line| !is_mark(line)).map(letters).collect();
    lines.concat().chars().collect::<Vec<_>>().into_iter()
}

fn turn(prompt: &str, texts: &[&str]) -> Turn {
    let steps = texts.iter().enumerate().map(|(number, text)| Step {
        at: UnixMillis(1_000 + number as i64),
        text: (*text).to_owned(),
        facets: Facets::default(),
    });
    Turn {
        uid: TurnUid([1; 16]),
        agent: Agent::CLAUDE_CODE,
        session: "s".to_owned(),
        origin: Origin::User,
        ordinal: 3,
        started_at: UnixMillis(1_000),
        cwd: None,
        git_branch: None,
        prompt: prompt.to_owned(),
        steps: steps.collect(),
        carried_summary: None,
        committed: false,
        error_fixed: false,
    }
}

fn check_turn(texts: &[&str]) {
    let (prompt, answers) = texts.split_first().expect("invariant: a split has a first part");
    let mut growing: Option<GrowingTurn> = None;
    let mut before: Vec<NewEpisode> = Vec::new();
    for count in 0..=answers.len().min(6) {
        let now = turn(prompt, &answers[..count]);
        let rows = episodes(&now);
        let growing = growing.get_or_insert_with(|| GrowingTurn::new(&now));
        assert_eq!(
            growing.episodes(&now),
            rows,
            "a growing turn is cut otherwise at text {count}"
        );
        for row in before.iter().take(before.len().saturating_sub(1)) {
            // How much a turn matters is judged of all of it.
            let is_same = |now: &NewEpisode| (now.uid, &now.prompt, &now.answer) == (row.uid, &row.prompt, &row.answer);
            assert!(
                rows.is_empty() || rows.iter().any(is_same),
                "a part that was done has changed"
            );
        }
        before = rows;
    }
    let whole = turn(prompt, answers);
    let rows = episodes(&whole);
    let kept: usize = rows.iter().map(|row| row.answer.len()).sum();
    let said: usize = answers.iter().map(|text| redact(text).len() + 2).sum();
    assert!(
        kept <= MOST_KEPT.min(said * 4 + 256),
        "{said} bytes became {kept} in {} parts",
        rows.len()
    );
}
