use fs_err::os::unix::fs::symlink;
use proptest::prelude::*;
use remembrancer_schema::{Importance, Origin, TurnUid, UnixMillis};
use rstest::rstest;

use super::*;

const TEAM: &str = "acme";
const UID: EpisodeUid = EpisodeUid([0x11; 16]);

fn counted() -> TeamKey {
    TeamKey::of(&std::array::from_fn(|at| at as u8))
}

fn other() -> TeamKey {
    TeamKey::of(&[7; 32])
}

fn episode(prompt: &str, answer: &str) -> SharedEpisode {
    SharedEpisode {
        uid: UID,
        turn_uid: TurnUid([0x22; 16]),
        project_keys: vec!["github.com/acme/app".to_owned()],
        project_name: "app".to_owned(),
        agent: "codex".to_owned(),
        session: "s1".to_owned(),
        origin: Origin::User,
        turn: 0,
        part: 0,
        importance: Importance::Normal,
        importance_rule: "default".to_owned(),
        created_at: UnixMillis(1),
        updated_at: UnixMillis(2),
        git_branch: Some("main".to_owned()),
        prompt: prompt.to_owned(),
        answer: answer.to_owned(),
        facets: Facets {
            files: vec!["src/a.rs".to_owned()],
            ..Facets::default()
        },
        content_hash: [0; 32],
        embedding: None,
    }
}

fn texts(episode: &SharedEpisode) -> Opened {
    Opened {
        prompt: episode.prompt.clone(),
        answer: episode.answer.clone(),
        facets: episode.facets.clone(),
        git_branch: episode.git_branch.clone(),
        project_name: episode.project_name.clone(),
        project_keys: episode.project_keys.clone(),
    }
}

fn bytes(digits: &str) -> Vec<u8> {
    let pairs = digits.as_bytes().chunks(2);
    pairs
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

#[test]
fn keys_follow_as_rfc_5869_has_it() {
    // Its first test case.
    let (salt, info) = (bytes("000102030405060708090a0b0c"), bytes("f0f1f2f3f4f5f6f7f8f9"));
    let mut out = [0; 42];
    Hkdf::<Sha256>::new(Some(salt.as_slice()), &[0x0b; 22])
        .expand(&info, &mut out)
        .unwrap();
    let expected = "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865";
    assert_eq!(hex(&out), expected);
}

#[test]
fn names_are_those_that_another_program_gives() {
    // HMAC and HKDF of Python's standard library, of the key 00 01 … 1f.
    let key = counted();
    assert_eq!(key.name("github.com/acme/app"), "h:63873d35f7fa760ce8f2bd5f45484202");
    assert_eq!(hex(&key.check()), "9f601637c1b029e9c74132cdee47b73f");
    assert_ne!(key.name("github.com/acme/app"), key.name("github.com/acme/app2"));
    assert_ne!(key.name("github.com/acme/app"), other().name("github.com/acme/app"));
    assert_ne!(key.check(), other().check());
    assert_eq!(
        hex(&key.hash(&[5; 32])),
        "e7ea88d9fdcd3a952fbfdd21e692a095e75250f44e2de56e16ebfbf7262c9f4e"
    );
    assert_ne!(key.hash(&[5; 32]), other().hash(&[5; 32]));
}

#[test]
fn what_another_program_sealed_opens() {
    // XChaCha20-Poly1305 written anew after its draft, and checked by the draft's own example.
    let sealed = bytes(concat!(
        "01000102030405060708090a0b0c0d0e0f1011121314151617f056482ccb644b24f712a9dcd5c905225f486913d819af7c58868bed23993c53",
        "cb99561c49c0079f5417c5886ba376e026a7af4059b33ec8e3ea7a497b134fca46edc2bd2f0c284da03b3ab77ffe82f292ed223ad8cc17a4e8",
        "52b371c8c32ffb29d027cd01e9b6fe07d1babce5313668e0bd891880adc7a4c0cc2a653ef15596228b7a4203e5e0295d965fe3755f8ed44188",
        "8b23a8139445c7ec4aa28118ce18d66887756c3458fab502ac06750762971bd6e7b2b644a4297448de9a72ecf02fac52ea6fa9e891e221"
    ));
    let opened = counted().open(TEAM, UID, &sealed).unwrap();
    assert_eq!(opened, texts(&episode("why?", "because")));
}

#[test]
fn nothing_of_the_texts_can_be_seen_and_no_two_seals_are_alike() {
    let key = counted();
    let told = episode("the staging password is kept elsewhere", "we rotate it on Mondays");
    let sealed = [key.seal(TEAM, &told).unwrap(), key.seal(TEAM, &told).unwrap()];
    assert_ne!(sealed[0], sealed[1]);
    for sealed in &sealed {
        for word in ["staging", "Mondays", "app", "main", "src/a.rs", "prompt"] {
            assert!(!sealed.windows(word.len()).any(|window| window == word.as_bytes()), "{word}");
        }
    }
}

#[rstest]
#[case::another_key(other(), TEAM, UID)]
#[case::another_team(counted(), "acmes", UID)]
#[case::another_episode(counted(), TEAM, EpisodeUid([0x12; 16]))]
// The uid's first byte as the team's last letter: what is bound is not read so.
#[case::a_byte_moved(counted(), "acme\u{11}", UID)]
fn a_seal_holds_for_its_key_team_and_episode(#[case] key: TeamKey, #[case] team: &str, #[case] uid: EpisodeUid) {
    let sealed = counted().seal(TEAM, &episode("why?", "because")).unwrap();
    assert!(matches!(key.open(team, uid, &sealed), Err(SealError::Foreign)));
}

#[test]
fn every_cut_and_every_flipped_bit_is_found() {
    let key = counted();
    let sealed = key.seal(TEAM, &episode("why?", "because")).unwrap();
    for length in 0..sealed.len() {
        let refused = key.open(TEAM, UID, &sealed[..length]).unwrap_err();
        match length {
            0..=NONCE => assert!(matches!(refused, SealError::Cut), "{length}: {refused}"),
            _ => assert!(matches!(refused, SealError::Foreign), "{length}: {refused}"),
        }
    }
    for bit in 0..sealed.len() * 8 {
        let mut changed = sealed.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        let refused = key.open(TEAM, UID, &changed).unwrap_err();
        match bit / 8 {
            0 => assert!(matches!(refused, SealError::Version(_)), "{bit}: {refused}"),
            _ => assert!(matches!(refused, SealError::Foreign), "{bit}: {refused}"),
        }
    }
    let longer = [sealed.as_slice(), &[0]].concat();
    assert!(matches!(key.open(TEAM, UID, &longer), Err(SealError::Foreign)));
}

#[test]
fn what_opens_and_is_no_episode_is_told_without_a_word_of_it() {
    let key = counted();
    let payload = Payload {
        msg: b"{\"prompt\":\"a secret\"}",
        aad: &bound(TEAM, UID),
    };
    let encrypted = key.texts.encrypt(&XNonce::from([0; NONCE]), payload).unwrap();
    let sealed = [&[VERSION][..], &[0; NONCE], &encrypted].concat();
    let refused = key.open(TEAM, UID, &sealed).unwrap_err();
    assert!(matches!(refused, SealError::Form));
    assert!(!crate::causes::with_causes(&refused).contains("secret"));
    assert_eq!(format!("{key:?}"), "TeamKey");
}

proptest! {
    #[test]
    fn what_was_sealed_opens_as_it_was(prompt: String, answer: String, branch: Option<String>, team: String) {
        let told = SharedEpisode { git_branch: branch, ..episode(&prompt, &answer) };
        let sealed = counted().seal(&team, &told).unwrap();
        prop_assert_eq!(counted().open(&team, UID, &sealed).unwrap(), texts(&told));
    }
}

#[test]
fn a_new_key_is_in_a_private_file_and_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("team.key");
    let made = TeamKey::generate(&path).unwrap();
    assert_eq!(system::mode(&fs_err::metadata(&path).unwrap()) & 0o777, 0o600);
    assert_eq!(TeamKey::read(&path).unwrap().check(), made.check());
    // A link of one's own, as keepers of secrets lay them, is followed.
    let link = folder.path().join("link");
    symlink(&path, &link).unwrap();
    assert_eq!(TeamKey::read(&link).unwrap().check(), made.check());
    let text = fs_err::read_to_string(&path).unwrap();
    assert!(matches!(TeamKey::generate(&path), Err(KeyFileError::Exists { .. })));
    assert_eq!(fs_err::read_to_string(&path).unwrap(), text, "it is left as it is");
    let second = TeamKey::generate(&folder.path().join("second.key")).unwrap();
    assert_ne!(second.check(), made.check());
}

#[rstest]
#[case::empty("", |error: &KeyFileError| matches!(error, KeyFileError::Form { .. }))]
#[case::another_text("hunter2\n", |error: &KeyFileError| matches!(error, KeyFileError::Form { .. }))]
#[case::cut("remembrancer-team-key-1:AAEC\n", |error: &KeyFileError| matches!(error, KeyFileError::Form { .. }))]
#[case::newer("remembrancer-team-key-2:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8\n", |error: &KeyFileError| matches!(error, KeyFileError::Newer { .. }))]
fn a_file_that_holds_no_key_is_named(#[case] text: &str, #[case] is_right: fn(&KeyFileError) -> bool) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("team.key");
    fs_err::write(&path, text).unwrap();
    fs_err::set_permissions(&path, system::permissions(0o600)).unwrap();
    let error = TeamKey::read(&path).unwrap_err();
    assert!(is_right(&error), "{error}");
    assert!(
        error.to_string().contains("team.key") && !error.to_string().contains("hunter2"),
        "{error}"
    );
}

#[rstest]
#[case::for_all(0o644, true)]
#[case::for_the_group(0o640, true)]
#[case::to_be_written_by_others(0o602, true)]
#[case::private(0o600, false)]
#[case::read_only(0o400, false)]
fn a_key_that_others_can_reach_is_refused(#[case] mode: u32, #[case] is_refused: bool) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("team.key");
    TeamKey::generate(&path).unwrap();
    fs_err::set_permissions(&path, system::permissions(mode)).unwrap();
    match TeamKey::read(&path) {
        Err(error @ KeyFileError::Open { .. }) => {
            assert!(is_refused, "{error}");
            assert!(error.to_string().contains("chmod 600"), "{error}");
        }
        read => assert!(!is_refused && read.is_ok()),
    }
}

#[test]
fn what_is_no_file_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(
        TeamKey::read(folder.path()),
        Err(KeyFileError::NoFile { what: "a folder", .. })
    ));
    assert!(matches!(
        TeamKey::read(Path::new("/dev/null")),
        Err(KeyFileError::NoFile { .. })
    ));
    let missing = TeamKey::read(&folder.path().join("none")).unwrap_err();
    assert!(matches!(missing, KeyFileError::Missing { .. }));
    assert!(missing.to_string().contains("remembrancer share key"), "{missing}");
}
