//! The wire: any line is a request, a reply or an error that can be sent back, and what was read is read again from what is written.

use remembrancer_hooks::protocol::{
    Answer, ExplainRequest, ForgetTarget, InstructionFile, MAX_REPLY_BYTES, MAX_REQUEST_BYTES, ProtocolError, RecallReply,
    RecallRequest, Reply, Request, Shown, Stage, Steering, VERSION,
};

use serde_json::Value;

use super::input::{Dice, text};

pub(super) fn run(data: &[u8]) {
    match Request::parse(data) {
        Ok(request) => check_request(&request),
        Err(error) => check_error(&error),
    }
    match Reply::parse(data) {
        Ok(reply) => check_reply(&reply),
        Err(error) => check_error(&error),
    }
    let mut dice = Dice::of(data);
    let text = text(data);
    check_request(&request(&text, &mut dice));
    check_reply(&reply(&text, &mut dice));
}

fn check_request(request: &Request) {
    match request.to_line() {
        Ok(line) => {
            check_line(&line, MAX_REQUEST_BYTES);
            match (Request::parse(&line), too_long(&line)) {
                (Ok(again), None) => assert_eq!(&again, request),
                (Err(error @ ProtocolError::MemberTooLong { .. }), Some(_)) => check_error(&error),
                (read, too_long) => panic!("{request:?} with {too_long:?} too long is read as {read:?}"),
            }
        }
        Err(error) => assert_eq!(
            error,
            ProtocolError::TooLong {
                max_bytes: MAX_REQUEST_BYTES
            }
        ),
    }
}

/// The first member of a request that is longer than it may be.
fn too_long(line: &[u8]) -> Option<String> {
    let Value::Object(members) = serde_json::from_slice(line).expect("what was written is JSON") else {
        panic!("a request is an object");
    };
    let found = members.iter().find(|(member, value)| is_too_long(member, value));
    found.map(|(member, _)| member.clone())
}

fn is_too_long(member: &str, value: &Value) -> bool {
    match value {
        Value::String(text) => text.len() > longest(member),
        // What is to be forgotten, by its kind, or what several of them name.
        Value::Object(target) => target.iter().any(|(kind, value)| is_too_long(kind, value)),
        Value::Array(targets) => targets.iter().any(|target| is_too_long(member, target)),
        _ => false,
    }
}

/// How many bytes a member may have, by its name: PROTOCOL.md.
fn longest(member: &str) -> usize {
    match member {
        "agent" => 64,
        "session" | "prompt_id" | "id" | "ids" | "episode" => 256,
        "cwd" | "transcript" | "path" | "folder" | "made" | "project" => 4_096,
        "line" | "matching" | "text" => 64 * 1_024,
        _ => MAX_REQUEST_BYTES,
    }
}

fn check_reply(reply: &Reply) {
    match reply.to_line() {
        Ok(line) => {
            check_line(&line, MAX_REPLY_BYTES);
            let again = Reply::parse(&line).expect("what was written is read");
            let [again, reply] = [&again, reply].map(|reply| serde_json::to_value(reply).expect("a reply is JSON"));
            assert!(is_same(&again, &reply), "{reply} came back as {again}");
        }
        Err(error) => assert_eq!(
            error,
            ProtocolError::TooLong {
                max_bytes: MAX_REPLY_BYTES
            }
        ),
    }
}

/// Whether two values are equal, numbers with a fraction to fifteen digits: `serde_json` reads those quickly, not exactly. Numbers so
/// near to nothing that they have fewer digits by themselves are as good as nothing.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) if one.is_f64() && other.is_f64() => {
            let [one, other] = [one, other].map(|number| number.as_f64().unwrap_or(f64::NAN));
            (one - other).abs() <= (one.abs() * 1e-15).max(f64::MIN_POSITIVE)
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .all(|(key, one)| other.get(key).is_some_and(|other| is_same(one, other)))
        }
        _ => one == other,
    }
}

fn check_line(line: &[u8], max_bytes: usize) {
    assert!(line.len() <= max_bytes);
    assert_eq!(line.iter().position(|byte| *byte == b'\n'), Some(line.len() - 1), "one line");
}

/// An error can be sent back, and holds little of the line.
fn check_error(error: &ProtocolError) {
    let message = error.to_string();
    assert!(message.len() < 1_024 && !message.contains('\n'), "{message:?}");
    check_reply(&Answer::refused(message).into());
}

/// Any request with these words in its members.
#[expect(clippy::too_many_lines, reason = "a table: some lines for each operation")]
fn request(text: &str, dice: &mut Dice) -> Request {
    let mut word = || {
        let (from, to) = (dice.below(text.len() + 1), dice.below(text.len() + 1));
        let (from, to) = (text.floor_char_boundary(from.min(to)), text.floor_char_boundary(from.max(to)));
        text[from..to].to_owned()
    };
    let words = [word(), word(), word(), word()];
    let [first, second, third, fourth] = words;
    let optional = |text: String| Some(text).filter(|text| text.len() % 3 > 0);
    match dice.below(16) {
        0 => Request::ExcludeSession {
            agent: first,
            session: second,
        },
        1 => Request::Changed {
            agent: first,
            transcript: second,
        },
        2 => Request::Why {
            session: optional(first),
        },
        3 => Request::Pause {
            until_ms: Some(dice.next() as i64),
        },
        4 => Request::Exclude { path: first },
        5 => Request::Include { path: first },
        6 => Request::Forget {
            target: target(first, dice),
        },
        7 => Request::Instruct(InstructionFile {
            path: first,
            folder: second,
            line: optional(third),
            made: optional(fourth),
            tracked: dice.below(2) == 1,
        }),
        8 => Request::Uninstruct {
            path: first,
            line: optional(second),
        },
        9 => Request::Show { id: first },
        10 => dice
            .pick(&[
                Request::Status,
                Request::Flush,
                Request::Resume,
                Request::PauseSharing,
                Request::ResumeSharing,
                Request::ShareLeave,
                Request::Ping,
                Request::LastAnswer { session: None },
                Request::Mend {
                    dry_run: text.len() % 2 == 1,
                },
            ])
            .clone(),
        11 => Request::Remember {
            text: first,
            project: optional(second),
        },
        12 => Request::Steer {
            how: dice
                .pick(&[Steering::Mute, Steering::Unmute, Steering::Boost, Steering::Unboost])
                .to_owned(),
            ids: vec![first, second, third],
        },
        13 => Request::Import {
            lines: vec![first, second],
            dry_run: dice.below(2) == 1,
        },
        14 => Request::Explain(ExplainRequest {
            prompt: optional(text.to_owned()),
            cwd: optional(first),
            agent: optional(second),
            id: optional(third),
            session: optional(fourth),
            number: Some(dice.next() as u32),
            all_projects: dice.below(2) == 1,
            shown: dice.below(2) == 1,
        }),
        _ => Request::Recall(RecallRequest {
            agent: first,
            session: second,
            cwd: optional(third),
            prompt: text.to_owned(),
            at_start: dice.below(2) == 1,
            deadline_ns: Some(dice.next()),
            prompt_id: optional(fourth),
            transcript: None,
            all_projects: dice.below(2) == 1,
        }),
    }
}

fn target(word: String, dice: &mut Dice) -> ForgetTarget {
    match dice.below(6) {
        0 => ForgetTarget::Episode(word),
        1 => ForgetTarget::Session(word),
        2 => ForgetTarget::Project(word),
        3 => ForgetTarget::Path(word),
        4 => ForgetTarget::Matching(word),
        _ => ForgetTarget::All,
    }
}

fn reply(text: &str, dice: &mut Dice) -> Reply {
    if dice.below(2) == 0 {
        return Answer::done(serde_json::json!({ "text": text, text: dice.next() })).into();
    }
    RecallReply {
        v: VERSION,
        context: text.to_owned(),
        shown: vec![Shown {
            id: text.chars().take(8).collect(),
            // Scores of any size.
            score: Some(f64::from_bits(dice.next())).filter(|score| score.is_finite()),
            project: None,
            shared_by: (dice.below(2) == 0).then(|| serde_json::json!({ "member": text })),
        }],
        reason: Some(text.to_owned()),
        stages: vec![Stage {
            name: text.to_owned(),
            micros: dice.next(),
        }],
    }
    .into()
}
