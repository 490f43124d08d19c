//! What `show` tells of an episode, and the whole of a session in as many replies as it takes.

use remembrancer_hooks::protocol::{Answer, Reply};
use remembrancer_schema::{EpisodeUid, TurnUid, Writer};

use super::*;
use crate::sample_rows::{batch, turn};

/// Turns 1 to `turns` of one session; each with so many parts, of answers of so many bytes that JSON writes in six.
fn reader(turns: u8, parts: u32, bytes: usize) -> (tempfile::TempDir, Reader) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let mut writer = Writer::open(&path).unwrap();
    let turns = (1..=turns)
        .map(|number| {
            let mut turn = turn(number, "/srv/shop");
            turn.episodes[0].prompt = format!("question {number}");
            let first = turn.episodes[0].clone();
            turn.episodes = (0..parts)
                .map(|part| remembrancer_schema::NewEpisode {
                    part,
                    uid: EpisodeUid::of(&first.turn_uid, part),
                    answer: format!("part {part} {}", "\u{1}".repeat(bytes)),
                    ..first.clone()
                })
                .collect();
            turn
        })
        .collect();
    writer.ingest(&batch(turns)).unwrap();
    drop(writer);
    (folder, Reader::open(&path).unwrap())
}

fn id(turn: u8, part: u32) -> String {
    EpisodeUid::of(&TurnUid([turn; 16]), part).to_string()
}

#[test]
fn an_episode_is_shown_with_its_turn_and_its_neighbours() {
    let (_folder, reader) = reader(3, 2, 0);
    let shown = show(&reader, &id(2, 1)).unwrap();
    let value = &shown.value;
    assert_eq!(
        (&value["id"], &value["part"], &value["hidden"]),
        (&json!(id(2, 1)), &json!(1), &json!(false))
    );
    let parts: Vec<&str> = value["parts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| part["answer"].as_str().unwrap().trim())
        .collect();
    assert_eq!(parts, ["part 0", "part 1"]);
    assert_eq!(value["parts_left_out"], 0);
    assert_eq!(value["neighbours"]["previous"]["asked"], "question 1");
    assert_eq!(value["neighbours"]["next"]["asked"], "question 3");
    let first = show(&reader, &id(1, 0)).unwrap().value;
    assert_eq!(first["neighbours"]["previous"], Value::Null);
    let told = shown.origin.look();
    assert_eq!(
        (&told["path"], &told["exists"], &told["line"]),
        (&json!("/transcripts/s.jsonl"), &json!(false), &Value::Null)
    );
}

#[test]
fn a_turn_of_many_parts_is_shown_as_far_as_a_reply_holds() {
    let (_folder, reader) = reader(1, 8, MOST_BYTES / 4);
    let value = show(&reader, &id(1, 7)).unwrap().value;
    let shown = value["parts"].as_array().unwrap().len();
    assert!((1..8).contains(&shown));
    assert_eq!(value["parts_left_out"], 8 - shown);
    Reply::from(Answer::done(value)).to_line().unwrap();
}

#[test]
fn a_session_is_whole_in_as_many_replies_as_it_takes() {
    let (_folder, reader) = reader(12, 2, MOST_BYTES / 12);
    for id in ["s".to_owned(), id(5, 1)] {
        let (mut asked, mut after, mut replies) = (Vec::new(), None::<String>, 0);
        loop {
            let page = session(&reader, &id, after.as_deref()).unwrap();
            Reply::from(Answer::done(page.clone())).to_line().unwrap();
            assert_eq!((&page["session"]["id"], &page["session"]["turns"]), (&json!("s"), &json!(12)));
            for turn in page["turns"].as_array().unwrap() {
                assert!(turn["answer"].as_str().unwrap().contains("part 1"));
                asked.push(turn["prompt"].as_str().unwrap().to_owned());
            }
            replies += 1;
            match page["next"].as_str() {
                Some(next) => after = Some(next.to_owned()),
                None => break,
            }
        }
        let expected: Vec<String> = (1..=12).map(|number| format!("question {number}")).collect();
        assert_eq!(asked, expected);
        assert!(replies > 1);
    }
}

#[test]
fn what_is_no_session_is_named() {
    let (_folder, reader) = reader(1, 1, 0);
    let error = session(&reader, "ffffffff", None).unwrap_err().to_string();
    assert!(error.starts_with("no session has the id ffffffff"), "{error}");
    assert!(matches!(
        session(&reader, "s", Some("nowhere")),
        Err(ControlError::Senseless(_))
    ));
}
