use super::*;
use crate::Sandbox;

fn sandbox() -> Sandbox {
    // Nothing is started here.
    Sandbox::new("/nowhere", "/nowhere")
}

fn turn(answer: Option<&str>, wish: Wish) -> Turn {
    Turn {
        session: "s".to_owned(),
        answer: answer.map(str::to_owned),
        wish,
    }
}

fn audited(id: i64, prompt: &str, answer: &str) -> AuditedEpisode {
    let turn_uid = remembrancer_schema::TurnUid([id as u8; 16]);
    AuditedEpisode {
        id: remembrancer_schema::EpisodeId(id),
        uid: remembrancer_schema::EpisodeUid::of(&turn_uid, 0),
        turn_uid,
        session: "s".to_owned(),
        turn: 0,
        part: 0,
        prompt: prompt.to_owned(),
        answer: answer.to_owned(),
        hidden: false,
        embedded: false,
        created_at: remembrancer_schema::UnixMillis(0),
    }
}

/// What is broken of a store with these episodes, where the turns `a` (answered), `b` (not yet) and `c` (forgotten) were written.
fn broken(episodes: &[AuditedEpisode], moment: Moment) -> Vec<Broken> {
    let mut truth = Truth::default();
    truth.turns.insert("a".to_owned(), turn(Some("x"), Wish::Kept));
    truth.turns.insert("b".to_owned(), turn(None, Wish::Kept));
    truth.turns.insert("c".to_owned(), turn(Some("z"), Wish::Forgotten));
    truth.seen.insert(audited(1, "a", "x").uid, "a".to_owned());
    let audit = Audit {
        schema_version: 1,
        episodes: episodes.to_vec(),
        ..Audit::default()
    };
    let mut violations = Vec::new();
    store(&audit, &truth, moment, &mut violations);
    violations.into_iter().map(|violation| violation.broken).collect()
}

#[test]
fn a_store_that_is_the_truth_breaks_nothing() {
    for moment in [Moment::Crashed, Moment::Settled] {
        assert_eq!(broken(&[audited(1, "a", "x")], moment), []);
        assert_eq!(broken(&[audited(1, "a", "x"), audited(2, "b", "")], moment), []);
    }
    assert_eq!(
        broken(&[audited(1, "a", "")], Moment::Crashed),
        [],
        "its answer was not read yet"
    );
}

#[test]
fn each_broken_promise_is_told() {
    assert_eq!(broken(&[], Moment::Crashed), [Broken::Lost]);
    assert_eq!(broken(&[audited(1, "a", "")], Moment::Settled), [Broken::Lost]);
    assert_eq!(broken(&[audited(1, "a", "y")], Moment::Crashed), [Broken::Invented]);
    let twice = [audited(1, "a", "x"), audited(2, "a", "x")];
    assert_eq!(broken(&twice, Moment::Crashed), [Broken::Doubled]);
    assert_eq!(
        broken(&[audited(1, "a", "x"), audited(2, "d", "")], Moment::Crashed),
        [Broken::Invented]
    );
    assert_eq!(
        broken(&[audited(1, "a", "x"), audited(3, "c", "z")], Moment::Crashed),
        [Broken::CameBack]
    );
}

#[test]
fn a_home_s_files_are_looked_at() {
    use std::os::unix::fs::PermissionsExt;

    let sandbox = sandbox();
    let places = sandbox.places();
    let mut truth = Truth::default();
    let broken = |truth: &Truth, moment| {
        let violations = check(&sandbox.places(), truth, moment).violations;
        violations.into_iter().map(|violation| violation.broken).collect::<Vec<_>>()
    };
    assert_eq!(broken(&truth, Moment::Crashed), [], "nothing was made yet");
    assert_eq!(broken(&truth, Moment::Settled), [Broken::Lost]);

    let file = places.recollection_path("claude-code", "s");
    fs_err::create_dir_all(file.parent().unwrap()).unwrap();
    for folder in [places.state_dir(), places.recollections_dir()] {
        fs_err::set_permissions(folder, std::fs::Permissions::from_mode(0o700)).unwrap();
    }
    let hash = prompt_hash_hex(&prompt_hash("s", "the last"));
    fs_err::write(
        &file,
        format!("<remembrancer-recollections prompt=\"{hash}\" written=\"2026-08-01T00:00:00Z\">\n{FENCE_CLOSE}\n"),
    )
    .unwrap();
    assert_eq!(broken(&truth, Moment::Crashed), [Broken::Exposed]);
    fs_err::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    truth.asked.insert("s".to_owned(), "the last".to_owned());
    assert_eq!(broken(&truth, Moment::Crashed), []);
    truth.asked.insert("s".to_owned(), "a later one".to_owned());
    assert_eq!(broken(&truth, Moment::Crashed), [Broken::Stale]);
    fs_err::rename(&file, file.with_extension("tmp")).unwrap();
    let long_ago = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(5);
    fs_err::File::options()
        .write(true)
        .open(file.with_extension("tmp"))
        .unwrap()
        .set_modified(long_ago)
        .unwrap();
    assert_eq!(broken(&truth, Moment::Crashed), [Broken::LeftBehind]);
}

#[test]
fn what_was_seen_and_forgotten_is_learnt() {
    let mut truth = Truth::default();
    for prompt in ["stays", "goes", "unread", "decided"] {
        truth.turns.insert(prompt.to_owned(), turn(Some("x"), Wish::Forgetting));
    }
    truth.seen.insert(audited(7, "goes", "x").uid, "goes".to_owned());
    let decided = audited(2, "decided", "x");
    let of_journal = BTreeSet::from([decided.turn_uid.to_string()]);
    let audit = Audit {
        episodes: vec![audited(1, "stays", "x"), decided],
        ..Audit::default()
    };
    truth.learn(&audit, &of_journal);
    let wish = |prompt: &str| truth.turns[prompt].wish;
    assert_eq!(
        (wish("stays"), wish("goes"), wish("unread"), wish("decided")),
        (Wish::Kept, Wish::Forgotten, Wish::Forgetting, Wish::Forgetting)
    );
}
