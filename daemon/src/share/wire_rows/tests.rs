use proptest::prelude::*;
use rstest::rstest;

use super::*;

/// A token of GitHub's shape, so that none stands in this file.
fn token() -> String {
    format!("gh{}_{}", 'p', "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")
}

/// An episode of a project at `/home/ada/shop`, as the store gives it.
pub(crate) fn own() -> OwnEpisode {
    OwnEpisode {
        episode: SharedEpisode {
            uid: EpisodeUid([1; 16]),
            turn_uid: TurnUid([2; 16]),
            project_keys: ["url:github.com/acme/shop", "cwd:/home/ada/shop", "url:/home/ada/shop"]
                .map(str::to_owned)
                .to_vec(),
            project_name: "shop".to_owned(),
            agent: "claude-code".to_owned(),
            session: "5c2e".to_owned(),
            origin: Origin::Subagent,
            turn: 3,
            part: 1,
            importance: Importance::High,
            importance_rule: "decision".to_owned(),
            created_at: UnixMillis(1_800_000_000_000),
            updated_at: UnixMillis(1_800_000_000_500),
            git_branch: Some("main".to_owned()),
            prompt: format!("use {} here", token()),
            answer: "done\0so".to_owned(),
            facets: Facets {
                files: vec!["/home/ada/shop/src/lib.rs".to_owned(), "/etc/passwd".to_owned()],
                commands: vec![format!("curl -H 'Authorization: Bearer {}'", token())],
                ..Facets::default()
            },
            content_hash: [3; 32],
            embedding: Some(("minilm".to_owned(), vec![0.6, 0.8])),
        },
        project_root: Some("/home/ada/shop".to_owned()),
        project_id: None,
    }
}

fn sealing(folder: &std::path::Path) -> Sealing {
    Sealing {
        team: "acme".to_owned(),
        key: TeamKey::generate(&folder.join("key")).unwrap(),
    }
}

#[test]
fn what_leaves_tells_nothing_of_this_machine_and_no_secret() {
    let out = Outgoing::of(&own(), 7, None, &|model| model == "minilm").unwrap();
    assert_eq!(out.prompt, "use [redacted:github-token] here");
    assert_eq!(out.answer, "done\u{fffd}so", "PostgreSQL takes no text with a zero byte");
    assert_eq!(out.project_keys, ["url:github.com/acme/shop"]);
    assert!(
        out.facets.contains("\"src/lib.rs\"") && !out.facets.contains("passwd"),
        "{}",
        out.facets
    );
    assert!(
        !format!("{out:?}").contains("a1B2c3D4") && !format!("{out:?}").contains("/home/ada"),
        "{out:?}"
    );
    assert_eq!((out.team, out.origin, out.importance, out.turn, out.part), (7, 1, 2, 3, 1));
    assert_eq!((out.sealed.as_ref(), out.git_branch.as_deref()), (None, Some("main")));
    assert_eq!(
        (out.model.as_deref(), out.embedding.as_deref()),
        (Some("minilm"), Some(&[0.6, 0.8][..]))
    );
}

#[test]
fn a_vector_stays_where_the_server_does_not_know_its_model() {
    let out = Outgoing::of(&own(), 7, None, &|_| false).unwrap();
    assert_eq!((out.model, out.embedding), (None, None));
}

fn empty<T: Default>() -> T {
    T::default()
}

#[test]
fn a_row_has_a_value_for_each_column_of_the_type_that_it_takes() {
    let out = Outgoing::of(&own(), 7, None, &|_| true).unwrap();
    let bytes = out.bytes();
    let values = out.values(&bytes);
    assert_eq!(values.len(), COLUMNS.len());
    for (value, column) in values.iter().zip(&COLUMNS) {
        let mut written = empty();
        let taken = value.to_sql_checked(column, &mut written);
        assert!(taken.is_ok(), "{value:?} as {column}");
    }
}

#[test]
fn where_the_team_has_a_key_only_who_has_it_reads() {
    let folder = tempfile::tempdir().unwrap();
    let sealing = sealing(folder.path());
    let out = Outgoing::of(&own(), 7, Some(&sealing), &|_| true).unwrap();
    assert_eq!(
        (out.prompt.as_str(), out.answer.as_str(), out.project_name.as_str()),
        ("", "", "")
    );
    assert_eq!((out.facets.as_str(), out.git_branch.as_deref()), ("{}", None));
    let hidden = |name: &str| name.starts_with("h:") && name.len() == 34;
    assert!(
        out.project_keys.len() == 1 && hidden(&out.project_keys[0]) && hidden(&out.session),
        "{out:?}"
    );
    let opened = sealing
        .key
        .open("acme", EpisodeUid(out.uid), out.sealed.as_ref().unwrap())
        .unwrap();
    assert_eq!(
        opened.prompt, "use [redacted:github-token] here",
        "the rules go before the seal"
    );
    assert_eq!(opened.project_keys, ["url:github.com/acme/shop"]);
    assert_eq!(opened.facets.files, ["src/lib.rs"]);
}

#[rstest]
#[case::below("/home/ada/shop/src/lib.rs", Some("src/lib.rs"))]
#[case::itself("/home/ada/shop", None)]
#[case::beside("/home/ada/shop2/src/lib.rs", None)]
#[case::elsewhere("/etc/passwd", None)]
#[case::home("~/.ssh/config", None)]
#[case::relative("src/lib.rs", Some("src/lib.rs"))]
#[case::from_here("./src/lib.rs", Some("src/lib.rs"))]
#[case::out_of_it("../other/lib.rs", None)]
#[case::out_of_it_later("/home/ada/shop/../other/lib.rs", None)]
#[case::dots_in_a_name("src/a..b.rs", Some("src/a..b.rs"))]
#[case::a_drive("C:\\work\\lib.rs", None)]
#[case::a_share("\\\\server\\lib.rs", None)]
#[case::a_url("file:///home/ada/shop/x", None)]
#[case::nothing("", None)]
fn a_file_is_told_from_its_project(#[case] file: &str, #[case] expected: Option<&str>) {
    let told = told_from(vec![file.to_owned()], Some("/home/ada/shop/"));
    assert_eq!(told.first().map(String::as_str), expected);
}

#[test]
fn files_without_a_project_s_folder_are_told_where_they_are_relative() {
    let files = ["/srv/a", "b", "./b", "C:\\c"].map(str::to_owned);
    assert_eq!(told_from(files.to_vec(), None), ["b"]);
    let windows = told_from(vec!["C:\\work\\shop\\lib.rs".to_owned()], Some("C:\\work\\shop"));
    assert_eq!(windows, ["lib.rs"]);
}

fn reading(sealing: Option<Sealing>) -> Reading {
    Reading {
        sealing,
        model: Some(("minilm".to_owned(), 2)),
        now: UnixMillis(1_800_000_000_000),
    }
}

fn told(sealed: Option<Vec<u8>>) -> Told {
    Told {
        prompt: String::new(),
        answer: String::new(),
        facets: NO_FACETS.to_owned(),
        git_branch: None,
        project_name: String::new(),
        project_keys: Vec::new(),
        sealed,
    }
}

#[test]
fn what_was_sealed_is_opened_by_the_team_s_key_alone() {
    let [ours, theirs] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let key = sealing(ours.path());
    let Outgoing {
        sealed, content_hash, ..
    } = Outgoing::of(&own(), 7, Some(&key), &|_| true).unwrap();
    let uid = EpisodeUid([1; 16]);
    let (texts, hash) = reading(Some(key.clone()))
        .opened(uid, told(sealed.clone()), content_hash)
        .unwrap();
    assert_eq!(
        hash,
        content_hash_of(&texts.prompt, &texts.answer, &texts.facets),
        "by which its vector is one of these texts"
    );
    assert_ne!(hash, content_hash, "who has no key can't try texts by it");
    let of_others = reading(Some(key.clone())).opened(uid, told(sealed.clone()), [9; 32]);
    assert_eq!(of_others.unwrap().1, [9; 32]);
    assert_eq!(
        (texts.project_name.as_str(), texts.facets.files.as_slice()),
        ("shop", &["src/lib.rs".to_owned()][..])
    );
    for (reading, uid) in [
        (reading(Some(sealing(theirs.path()))), uid),
        (reading(None), uid),
        (reading(Some(key)), EpisodeUid([9; 16])),
    ] {
        assert_eq!(
            reading.opened(uid, told(sealed.clone()), content_hash),
            Err(Incoming::NotOpened)
        );
    }
}

#[test]
fn a_team_with_a_key_takes_nothing_in_the_clear() {
    let folder = tempfile::tempdir().unwrap();
    let in_the_clear = Told {
        prompt: "whoever has no key may write this".to_owned(),
        ..told(None)
    };
    let opened = reading(Some(sealing(folder.path()))).opened(EpisodeUid([1; 16]), in_the_clear, [3; 32]);
    assert_eq!(opened, Err(Incoming::NotOpened));
}

#[test]
fn the_hash_that_leaves_is_of_what_leaves() {
    let out = Outgoing::of(&own(), 7, None, &|_| true).unwrap();
    let facets = facets(&out.facets).unwrap();
    assert_eq!(out.content_hash, content_hash_of(&out.prompt, &out.answer, &facets));
    assert_ne!(out.content_hash, own().episode.content_hash);
}

#[rstest]
#[case::both(1_700_000_000_000, 1_700_000_000_001, (1_700_000_000_000, 1_700_000_000_001))]
#[case::stored_never(1_700_000_000_000, i64::MAX, (1_700_000_000_000, 1_700_000_000_000))]
#[case::before_time(-1, i64::MIN, (1_800_000_000_000, 1_800_000_000_000))]
fn times_of_others_are_ones_that_can_be(#[case] created_at: i64, #[case] updated_at: i64, #[case] expected: (i64, i64)) {
    let (created_at, updated_at) = reading(None).times(UnixMillis(created_at), UnixMillis(updated_at));
    assert_eq!((created_at.0, updated_at.0), expected);
}

#[test]
fn what_comes_is_redacted_and_bounded() {
    let texts = Texts {
        prompt: format!("{} {}", token(), "ü".repeat(PROMPT)),
        answer: "x".repeat(ANSWER + 9),
        facets: Facets {
            files: (0..40)
                .map(|number| format!("src/{number}.rs"))
                .chain(["/etc/passwd".to_owned()])
                .collect(),
            commands: vec!["make\0".repeat(FACET)],
            ..Facets::default()
        },
        git_branch: Some("a\nb".repeat(NAME)),
        project_name: "shop\u{1b}[31m".to_owned(),
        project_keys: [
            "cwd:/home/me",
            "everywhere:",
            "git:/x/.git",
            "url:/home/me",
            "url:",
            "url:github.com/acme/shop",
            "root:1f0c",
        ]
        .map(str::to_owned)
        .to_vec(),
    };
    let bounded = texts.bounded();
    assert!(bounded.prompt.starts_with("[redacted:github-token]") && bounded.prompt.len() <= PROMPT);
    assert_eq!((bounded.answer.len(), bounded.facets.files.len()), (ANSWER, FILES));
    assert!(bounded.facets.commands[0].len() <= FACET);
    let branch = bounded.git_branch.unwrap();
    assert!(branch.len() <= NAME && !branch.contains('\n'), "{branch}");
    assert!(!bounded.project_name.contains('\u{1b}'));
    assert_eq!(
        bounded.project_keys,
        ["url:github.com/acme/shop", "root:1f0c"],
        "no folder of mine is named by others"
    );
}

#[test]
fn facets_that_are_none_make_no_episode() {
    let in_the_clear = |facets: &str| {
        let told = Told {
            facets: facets.to_owned(),
            ..told(None)
        };
        reading(None).opened(EpisodeUid([1; 16]), told, [3; 32])
    };
    assert_eq!(in_the_clear("[1]"), Err(Incoming::NotTaken));
    assert!(in_the_clear("").is_ok() && in_the_clear("{\"files\":[\"a\"]}").is_ok());
}

#[rstest]
#[case::one(vec![0.6, 0.8], true)]
#[case::of_half_the_precision(vec![0.5996, 0.8003], true)]
#[case::another_dimension(vec![1.0], false)]
#[case::no_direction(vec![0.0, 0.0], false)]
#[case::no_number(vec![f32::NAN, 1.0], false)]
#[case::endless(vec![f32::INFINITY, 1.0], false)]
#[case::long(vec![3.0, 4.0], false)]
fn a_vector_is_one_of_length_one(#[case] vector: Vec<f32>, #[case] expected: bool) {
    let taken = reading(None).vector(&vector);
    assert_eq!(taken.is_some(), expected);
    if let Some((model, vector)) = taken {
        let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
        assert!(model == "minilm" && (length - 1.0).abs() < 1e-6, "{length}");
    }
}

#[test]
fn what_is_taken_back_tells_by_which_machine() {
    for machine in [[7; 16], [0; 16]] {
        let expected = PulledChange::Withdrawn {
            seq: 4,
            uid: EpisodeUid([1; 16]),
            member: 2,
            machine,
        };
        assert_eq!(withdrawn(4, &[1; 16], 2, &machine), Incoming::Change(expected));
    }
    assert_eq!(withdrawn(4, &[1; 15], 2, &[7; 16]), Incoming::NotTaken);
    assert_eq!(withdrawn(4, &[1; 16], 2, &[7; 17]), Incoming::NotTaken);
}

proptest! {
    #[test]
    fn no_file_that_is_told_leaves_its_project(file in "[/.~a-z\\\\:]{0,24}", root in prop::option::of("/[a-z/]{1,12}")) {
        for told in told_from(vec![file], root.as_deref()) {
            prop_assert!(!is_whole(&told) && !told.split(['/', '\\']).any(|name| name == ".."), "{told}");
        }
    }
}
