use std::os::unix::fs::PermissionsExt;

use fs_err::os::unix::fs::symlink;
use rstest::rstest;
use tempfile::TempDir;

use super::*;

fn uid() -> u32 {
    rustix::process::getuid().as_raw()
}

/// A folder with `settings.json` in it.
fn folder(text: &str, mode: u32) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap().join("settings.json");
    fs_err::write(&path, text).unwrap();
    fs_err::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    (folder, path)
}

fn mode(path: &Path) -> u32 {
    fs_err::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn change(path: &Path, after: &str) -> Change {
    let file = SettingsFile::read(path, uid()).unwrap();
    file.change_to(Some(after.to_owned())).unwrap().keeping_original()
}

#[rstest]
#[case::private(0o600, 0o600)]
#[case::open(0o644, 0o600)]
fn the_mode_stays_and_the_original_is_kept_once_for_its_owner(#[case] original: u32, #[case] kept: u32) {
    let (folder, path) = folder("one", original);
    change(&path, "two").apply().unwrap();
    change(&path, "three").apply().unwrap();
    let backup = folder.path().join("settings.json.before-remembrancer");
    assert_eq!(fs_err::read_to_string(&path).unwrap(), "three");
    assert_eq!(fs_err::read_to_string(&backup).unwrap(), "one");
    assert_eq!((mode(&path), mode(&backup)), (original, kept));
    change(&path, "one").apply().unwrap();
    assert!(!backup.exists() && path.exists());
}

#[test]
fn a_new_file_is_private_and_its_folder_goes_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hooks/settings.json");
    change(&path, "one").apply().unwrap();
    assert_eq!(mode(&path), 0o600);
    assert_eq!(fs_err::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    let file = SettingsFile::read(&path, uid()).unwrap();
    file.change_to(None).unwrap().with_folders(1).apply().unwrap();
    assert!(!path.parent().unwrap().exists());
}

#[test]
fn a_link_stays_a_link() {
    let (folder, path) = folder("one", 0o640);
    let link = folder.path().join("link.json");
    symlink(&path, &link).unwrap();
    change(&link, "two").apply().unwrap();
    assert!(fs_err::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!((fs_err::read_to_string(&path).unwrap().as_str(), mode(&path)), ("two", 0o640));
    assert!(folder.path().join("link.json.before-remembrancer").exists());
}

#[test]
fn what_another_program_wrote_meanwhile_is_not_lost() {
    let (_folder, path) = folder("one", 0o600);
    let change = change(&path, "two");
    fs_err::write(&path, "other").unwrap();
    assert!(matches!(change.apply(), Err(Refusal::ChangedMeanwhile { .. })));
    assert_eq!(fs_err::read_to_string(&path).unwrap(), "other");
}

#[test]
fn what_must_not_be_written_is_refused() {
    let (folder, path) = folder("one", 0o400);
    assert!(matches!(SettingsFile::read(&path, uid()), Err(Refusal::ReadOnly { .. })));
    fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    assert!(matches!(
        SettingsFile::read(&path, uid() + 1),
        Err(Refusal::AnotherOwner { .. })
    ));
    assert!(matches!(
        SettingsFile::read(folder.path(), uid()),
        Err(Refusal::NotAFile { .. })
    ));
    let link = folder.path().join("link.json");
    symlink(folder.path().join("nowhere"), &link).unwrap();
    assert!(matches!(SettingsFile::read(&link, uid()), Err(Refusal::Dangling { .. })));
    fs_err::write(&path, b"{\n \"\xff").unwrap();
    let said = SettingsFile::read(&path, uid()).unwrap_err().to_string();
    assert!(said.contains("settings.json:2:3: not UTF-8; correct it there"), "{said}");
}

#[test]
fn tc_29_a_link_that_another_user_made_is_not_followed() {
    if uid() != 0 {
        return println!("skipped: only the superuser can make a link of another user");
    }
    let (folder, path) = folder("one", 0o600);
    let link = folder.path().canonicalize().unwrap().join("link.json");
    symlink(&path, &link).unwrap();
    SettingsFile::read(&link, uid()).unwrap();
    std::os::unix::fs::lchown(&link, Some(12_345), None).unwrap();
    let refused = SettingsFile::read(&link, uid()).unwrap_err();
    assert!(matches!(refused, Refusal::AnotherOwner { owner: 12_345, .. }), "{refused}");
}

#[test]
fn tc_29_the_other_name_of_a_settings_file_keeps_what_it_held() {
    let (folder, path) = folder("one", 0o600);
    let other = folder.path().join("other-name");
    fs_err::hard_link(&path, &other).unwrap();
    change(&path, "two").apply().unwrap();
    assert_eq!(fs_err::read_to_string(&path).unwrap(), "two");
    assert_eq!(fs_err::read_to_string(&other).unwrap(), "one");
}

#[test]
fn tc_29_the_original_is_kept_at_no_link() {
    let (folder, path) = folder("one", 0o600);
    let victim = folder.path().join("victim");
    fs_err::write(&victim, "a year's work").unwrap();
    symlink(&victim, folder.path().join("settings.json.before-remembrancer")).unwrap();
    let refused = change(&path, "two").apply().unwrap_err();
    assert!(matches!(refused, Refusal::NotAFile { .. }), "{refused}");
    assert_eq!(fs_err::read_to_string(&path).unwrap(), "one");
    assert_eq!(fs_err::read_to_string(&victim).unwrap(), "a year's work");
}

#[test]
fn tc_29_a_page_of_the_manual_goes_through_no_link() {
    let (folder, victim) = folder("a year's work", 0o600);
    let page = folder.path().join("remembrancer.1");
    symlink(&victim, &page).unwrap();
    replace(&page, "the manual", 0o644).unwrap();
    assert_eq!(fs_err::read_to_string(&victim).unwrap(), "a year's work");
    assert_eq!(fs_err::read_to_string(&page).unwrap(), "the manual");
}
