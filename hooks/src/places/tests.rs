//! Tests of the places: their order, their bounds, and that no id leads out of its folder.

#![expect(clippy::disallowed_methods, reason = "the test sets modes of plain folders")]

use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::PermissionsExt;

use proptest::prelude::*;
use rstest::rstest;

use super::*;

fn environment() -> Environment {
    Environment {
        data_home: "/home/ada/.local/share".into(),
        state_home: "/home/ada/.local/state".into(),
        config_home: "/home/ada/.config".into(),
        runtime_dir: Some("/run/user/1000".into()),
        explicit_socket: None,
        run_user: "/run/user".into(),
        temporary: "/tmp".into(),
        uid: 1000,
        guard: false,
    }
}

fn candidates(environment: &Environment) -> Vec<String> {
    Places::new(environment)
        .socket_candidates()
        .iter()
        .map(|path| path.display().to_string())
        .collect()
}

#[test]
fn the_folders_are_under_the_users_homes() {
    let places = Places::new(&environment());
    assert_eq!(
        places.database_file(),
        Path::new("/home/ada/.local/share/remembrancer/memory.db")
    );
    assert_eq!(places.config_file(), Path::new("/home/ada/.config/remembrancer/config.toml"));
    assert_eq!(
        places.guarded_file(),
        Path::new("/home/ada/.local/state/remembrancer/guarded-sessions")
    );
    assert_eq!(
        places.backoff_file(),
        Path::new("/home/ada/.local/state/remembrancer/hook-backoff")
    );
}

#[cfg(not(target_os = "macos"))]
#[test]
fn sockets_come_in_the_documented_order() {
    let mut surroundings = environment();
    surroundings.runtime_dir = Some("/run/user/1000/snap.code".into());
    assert_eq!(
        candidates(&surroundings),
        [
            "/run/user/1000/snap.code/remembrancer/remembrancer.sock",
            "/run/user/1000/remembrancer/remembrancer.sock",
            "/home/ada/.local/share/remembrancer/run/remembrancer.sock",
        ]
    );
}

#[test]
fn an_explicit_socket_is_the_only_one() {
    let mut surroundings = environment();
    surroundings.explicit_socket = Some("/srv/m.sock".into());
    assert_eq!(candidates(&surroundings), ["/srv/m.sock"]);
}

#[cfg(not(target_os = "macos"))]
#[test]
fn a_socket_is_named_once_and_found_without_the_variable() {
    let with_variable = candidates(&environment());
    let without_variable = candidates(&Environment {
        runtime_dir: None,
        ..environment()
    });
    assert_eq!(with_variable.len(), 2);
    assert_eq!(with_variable, without_variable);
}

#[test]
fn tc_39_a_path_over_104_bytes_gets_a_short_one() {
    let mut surroundings = environment();
    surroundings.data_home = format!("/home/{}", "a".repeat(200)).into();
    let last = candidates(&surroundings).pop().unwrap();
    assert!(last.starts_with("/tmp/remembrancer-1000/"), "{last}");
    assert_eq!(
        Path::new(&last).parent().unwrap(),
        Places::new(&surroundings).short_socket_dir()
    );

    let mut other = surroundings.clone();
    other.data_home = format!("/home/{}", "b".repeat(200)).into();
    assert_ne!(candidates(&other).pop().unwrap(), last);
}

#[rstest]
#[case::plain("0195-a_B", "claude-code-0195-a_B.md")]
#[case::longest(&"x".repeat(64), &format!("claude-code-{}.md", "x".repeat(64)))]
#[case::tc_29_traversal("../../x", "claude-code-9cdf6a50100a862e14286c7a334296da.md")]
fn recollection_files_are_named_after_their_session(#[case] session: &str, #[case] expected: &str) {
    let path = Places::new(&environment()).recollection_path("claude-code", session);
    assert_eq!(
        path,
        Path::new("/home/ada/.local/state/remembrancer/recollections").join(expected)
    );
}

#[test]
fn only_a_real_private_folder_of_ours_is_verified() {
    let root = tempfile::tempdir().unwrap();
    let uid = rustix::process::getuid().as_raw();
    let folder = root.path().join("deep/private");
    assert_eq!(
        verify_private_folder(&folder, uid).unwrap_err().kind(),
        io::ErrorKind::NotFound
    );

    create_private_folder(&folder).unwrap();
    verify_private_folder(&folder, uid).unwrap();
    verify_private_folder(&root.path().join("deep"), uid).unwrap();
    verify_private_folder(&folder, uid + 1).unwrap_err();

    let link = root.path().join("link");
    std::os::unix::fs::symlink(&folder, &link).unwrap();
    verify_private_folder(&link, uid).unwrap_err();

    set_permissions(&folder, Permissions::from_mode(0o750)).unwrap();
    verify_private_folder(&folder, uid).unwrap_err();
}

proptest! {
    #[test]
    fn no_id_leads_out_of_the_recollections_folder(agent in "\\PC*", session in ".*") {
        let places = Places::new(&environment());
        let path = places.recollection_path(&agent, &session);
        prop_assert_eq!(path.parent().unwrap(), places.recollections_dir());
        prop_assert!(path.file_name().unwrap().len() <= 2 * MAX_LITERAL_ID_BYTES + 4);
    }

    #[test]
    fn every_candidate_fits_a_socket_address(data_home in "(/[a-z]{1,40}){1,6}", runtime in "(/[a-z]{1,40}){1,6}", uid in any::<u32>()) {
        let surroundings = Environment { data_home: data_home.into(), runtime_dir: Some(runtime.into()), uid, ..environment() };
        for path in Places::new(&surroundings).socket_candidates() {
            prop_assert!(path.as_os_str().len() <= MAX_SOCKET_PATH_BYTES);
        }
    }
}
