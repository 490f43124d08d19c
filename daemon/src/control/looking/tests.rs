//! What a look is narrowed to, and places that replies name.

use remembrancer_schema::{EpisodeUid, Origin, SessionKey, SharedBy, TurnUid, Writer};
use rstest::rstest;

use super::*;

fn reader() -> (tempfile::TempDir, Reader) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let mut writer = Writer::open(&path).unwrap();
    for (name, root) in [
        ("shop", "/src/shop"),
        ("api", "/src/shop/api"),
        ("twin", "/a/twin"),
        ("twin", "/b/twin"),
    ] {
        writer
            .resolve_project(&[format!("cwd:{root}")], name, Some(root), UnixMillis(1))
            .unwrap();
    }
    drop(writer);
    let reader = Reader::open(&path).unwrap();
    (folder, reader)
}

#[rstest]
#[case::a_name("shop", Ok("/src/shop"))]
#[case::a_root("/b/twin", Ok("/b/twin"))]
#[case::below("/src/shop/web", Ok("/src/shop"))]
#[case::below_the_nearest("/src/shop/api/v2", Ok("/src/shop/api"))]
#[case::beside("/src/shopping", Err("no project is named"))]
#[case::unknown("bank", Err("no project is named \"bank\""))]
#[case::two("twin", Err("several projects are named twin"))]
fn a_project_is_named_by_its_name_or_a_folder_of_it(#[case] name: &str, #[case] expected: Result<&str, &str>) {
    let (_folder, reader) = reader();
    let narrowing = Narrowing {
        project: Some(name.to_owned()),
        ..Narrowing::default()
    };
    match (filter(&reader, &narrowing), expected) {
        (Ok(filter), Ok(root)) => {
            let all = reader.projects().unwrap();
            let found = all.into_iter().find(|(id, _, _)| Some(*id) == filter.project).unwrap();
            assert_eq!(found.2.as_deref(), Some(root));
        }
        (Err(error), Err(message)) => assert!(error.to_string().starts_with(message), "{error}"),
        (found, expected) => panic!("{found:?} and not {expected:?}"),
    }
}

#[rstest]
#[case::no_agent(Narrowing { agent: Some("ed".into()), ..Narrowing::default() }, "no agent is called ed; they are ")]
#[case::no_time(Narrowing { since_ms: Some(5), until_ms: Some(5), ..Narrowing::default() }, "what is asked for begins no earlier")]
fn what_names_nothing_is_refused(#[case] narrowing: Narrowing, #[case] message: &str) {
    let (_folder, reader) = reader();
    let error = filter(&reader, &narrowing).unwrap_err().to_string();
    assert!(error.starts_with(message), "{error}");
}

#[rstest]
#[case::usual(5_000, 7)]
#[case::before_the_epoch(-5, 7)]
fn a_place_is_read_again(#[case] at: i64, #[case] id: i64) {
    let written = TurnPlace {
        at: UnixMillis(at),
        id: EpisodeId(id),
    };
    assert_eq!(place(&cursor(written)).unwrap(), written);
    for wrong in ["", "5", "a-b", "5-", "-"] {
        assert!(matches!(place(wrong), Err(ControlError::Senseless(_))), "{wrong}");
    }
}

#[rstest]
#[case::usual(None, 10)]
#[case::asked(Some(3), 3)]
#[case::none(Some(0), 1)]
#[case::too_many(Some(u32::MAX), 50)]
fn a_page_is_bounded(#[case] asked: Option<u32>, #[case] expected: usize) {
    assert_eq!(bounded(asked, 10, 50), expected);
}

#[test]
fn a_turn_is_told_without_secrets_and_in_one_line() {
    let turn = TurnRow {
        place: TurnPlace {
            at: UnixMillis(0),
            id: EpisodeId(1),
        },
        uid: EpisodeUid([0xab; 16]),
        turn_uid: TurnUid([1; 16]),
        session: SessionKey {
            agent: "codex".to_owned(),
            external_id: "s".to_owned(),
        },
        project_name: Some("shop".to_owned()),
        origin: Origin::Subagent,
        hidden: true,
        parts: 2,
        prompt: "\n  use ghp_aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789 \u{1b}[31m\nand more".to_owned(),
        answer: None,
        shared_by: None,
    };
    let told = turn_json(&turn);
    assert_eq!(told["id"], "abababab");
    assert_eq!(
        (&told["at"], &told["origin"], &told["hidden"]),
        (&json!("1970-01-01T00:00:00Z"), &json!("subagent"), &json!(true))
    );
    let asked = told["asked"].as_str().unwrap();
    assert!(
        asked.starts_with("use ") && !asked.contains("aBcDeFgHiJ") && !asked.contains('\u{1b}') && !asked.contains("more"),
        "{asked}"
    );
    assert_eq!((&told["answered"], &told["shared_by"]), (&Value::Null, &Value::Null));
    let copy = TurnRow {
        shared_by: Some(SharedBy {
            member: "bob\n[2]".to_owned(),
            machine: "den".to_owned(),
            is_own: false,
        }),
        ..turn
    };
    assert_eq!(
        turn_json(&copy)["shared_by"],
        json!({"member": "bob [2]", "machine": "den", "own": false})
    );
}
