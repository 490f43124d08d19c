//! Where turns are found: at the line of their prompt, however long the file is, and nowhere when they are gone.

use remembrancer_processor::ingest::{ResumePoint, SourceReader};

use super::*;

/// A transcript of Claude Code with so many turns, each with a long answer.
fn transcript(turns: usize, answer_bytes: usize) -> String {
    let mut text = String::new();
    let answer = "word ".repeat(answer_bytes / 5);
    for turn in 0..turns {
        let at = format!("2026-03-01T10:{:02}:{:02}.000Z", turn / 60, turn % 60);
        let prompt = serde_json::json!({
            "type": "user", "uuid": format!("p{turn}"), "sessionId": "s", "cwd": "/srv/shop", "timestamp": at,
            "message": {"role": "user", "content": format!("what became of case number {turn}")},
        });
        let reply = serde_json::json!({
            "type": "assistant", "uuid": format!("a{turn}"), "parentUuid": format!("p{turn}"), "sessionId": "s", "cwd": "/srv/shop",
            "timestamp": at, "message": {"role": "assistant", "content": [{"type": "text", "text": answer}]},
        });
        text += &[prompt.to_string(), reply.to_string(), String::new()].join("\n");
    }
    text
}

fn turns_of(path: &Path) -> Vec<TurnUid> {
    let stat = scan::stat(path).unwrap();
    let mut reader = SourceReader::new(&info(Agent::CLAUDE_CODE, &stat), ResumePoint::default());
    reader.by(clock::now());
    reader.push(&fs_err::read(path).unwrap());
    reader.drain().turns.iter().map(|turn| turn.uid).collect()
}

#[test]
fn every_turn_is_found_at_the_line_of_its_prompt() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    // Some steps long, with borders in the middle of lines.
    let text = transcript(40, STEP_BYTES / 11);
    assert!(text.len() > 3 * STEP_BYTES);
    fs_err::write(&path, &text).unwrap();
    let turns = turns_of(&path);
    assert_eq!(turns.len(), 40);
    for (number, turn) in turns.into_iter().enumerate() {
        let place = place_of(Agent::CLAUDE_CODE, &path, turn).unwrap().expect("is found");
        assert_eq!(place.line, 2 * number as u64 + 1);
        let line = text[place.offset as usize..].lines().next().unwrap();
        assert!(line.contains(&format!("case number {number}\"")), "{number}");
    }
}

#[test]
fn a_turn_of_a_time_that_cant_be_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    fs_err::write(
        &path,
        transcript(3, 10)
            .replace("T10:00:01.000Z", "T10:00:01.001Z")
            .replace("2026-03-01T10:00:01", "2999-03-01T10:00:01"),
    )
    .unwrap();
    for (number, turn) in turns_of(&path).into_iter().enumerate() {
        let place = place_of(Agent::CLAUDE_CODE, &path, turn).unwrap().expect("is found");
        assert_eq!(place.line, 2 * number as u64 + 1);
    }
}

#[test]
fn what_is_gone_is_not_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    assert_eq!(place_of(Agent::CLAUDE_CODE, &path, TurnUid([7; 16])).unwrap(), None);
    fs_err::write(&path, transcript(3, 10)).unwrap();
    assert_eq!(place_of(Agent::CLAUDE_CODE, &path, TurnUid([7; 16])).unwrap(), None);
}
