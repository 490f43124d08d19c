//! Files as they are found in projects: written, left alone, and given back.

use std::os::unix::fs::PermissionsExt;

use fs_err::os::unix::fs::symlink;
use rstest::rstest;
use tempfile::TempDir;

use super::*;

const BLOCK: &str = "<remembrancer-recollections>\nnew\n</remembrancer-recollections>";

fn uid() -> u32 {
    rustix::process::getuid().as_raw()
}

/// A project, and what is to stand in one of its files.
fn project(file: &str) -> (TempDir, InstructionFile) {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().canonicalize().unwrap();
    let path = folder.join(file);
    let file = InstructionFile {
        path: path.to_str().unwrap().to_owned(),
        line: None,
        folder: folder.to_str().unwrap().to_owned(),
        made: topmost_missing(&path).map(|made| made.to_str().unwrap().to_owned()),
        tracked: false,
    };
    (place, file)
}

fn apply(change: Result<Option<Change>, Refusal>) {
    change.unwrap().unwrap().apply().unwrap();
}

#[rstest]
#[case::in_folders_of_its_own(
    ".cursor/rules/remembrancer.mdc",
    "---\ndescription: Notes from earlier sessions\nalwaysApply: true\n---\n\n"
)]
#[case::beside_others("AGENTS.md", "")]
fn a_file_that_was_made_goes_with_its_folders(#[case] name: &str, #[case] head: &str) {
    let (place, file) = project(name);
    apply(insert(std::slice::from_ref(&file), uid()));
    assert!(stands(&file, uid()).unwrap());
    assert!(insert(std::slice::from_ref(&file), uid()).unwrap().is_none(), "once");
    apply(update(&file, BLOCK, uid()));
    assert!(update(&file, BLOCK, uid()).unwrap().is_none(), "no second write");
    assert_eq!(fs_err::read_to_string(&file.path).unwrap(), format!("{head}{BLOCK}\n"));
    apply(remove(std::slice::from_ref(&file), uid()));
    remove_made_folders(&file);
    assert_eq!(fs_err::read_dir(place.path()).unwrap().count(), 0);
}

#[test]
fn folders_that_were_there_or_hold_something_stay() {
    let (place, _) = project("x");
    fs_err::create_dir_all(place.path().join(".cursor")).unwrap();
    let path = place.path().canonicalize().unwrap().join(".cursor/rules/remembrancer.mdc");
    assert_eq!(topmost_missing(&path).as_deref(), path.parent());
    let (_, template) = project("x");
    let file = InstructionFile {
        path: path.to_str().unwrap().to_owned(),
        folder: place.path().canonicalize().unwrap().to_str().unwrap().to_owned(),
        made: path.parent().and_then(Path::to_str).map(str::to_owned),
        ..template
    };
    apply(insert(std::slice::from_ref(&file), uid()));
    fs_err::write(path.with_file_name("mine.mdc"), "x").unwrap();
    apply(remove(std::slice::from_ref(&file), uid()));
    remove_made_folders(&file);
    assert!(!path.exists() && path.with_file_name("mine.mdc").exists());
    fs_err::remove_file(path.with_file_name("mine.mdc")).unwrap();
    remove_made_folders(&file);
    assert_eq!(
        fs_err::read_dir(place.path()).unwrap().count(),
        1,
        "what was there before stays"
    );
}

#[rstest]
#[case::empty("")]
#[case::text("# Rules\n\nBe brief.")]
#[case::carriage_returns("# Rules\r\n")]
fn a_file_that_was_there_is_given_back_and_keeps_its_mode(#[case] text: &str) {
    let (place, _) = project("x");
    let path = place.path().canonicalize().unwrap().join("AGENTS.md");
    fs_err::write(&path, text).unwrap();
    fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    let file = InstructionFile {
        path: path.to_str().unwrap().to_owned(),
        line: None,
        folder: path.parent().unwrap().to_str().unwrap().to_owned(),
        made: None,
        tracked: false,
    };
    apply(insert(std::slice::from_ref(&file), uid()));
    apply(update(&file, BLOCK, uid()));
    assert_eq!(fs_err::metadata(&path).unwrap().permissions().mode() & 0o777, 0o644);
    apply(remove(std::slice::from_ref(&file), uid()));
    assert_eq!(fs_err::read_to_string(&path).unwrap(), text);
    assert_eq!(
        fs_err::read_dir(place.path()).unwrap().count(),
        1,
        "nothing else is left there"
    );
}

#[test]
fn several_lines_go_into_one_file_at_once() {
    let (_place, file) = project("exclude");
    let lines = ["/a", "/b"].map(|line| InstructionFile {
        line: Some(line.to_owned()),
        ..file.clone()
    });
    fs_err::write(&file.path, "# mine\n").unwrap();
    apply(insert(&lines, uid()));
    assert_eq!(fs_err::read_to_string(&file.path).unwrap(), "# mine\n\n/a\n\n/b\n");
    apply(remove(&lines, uid()));
    assert_eq!(fs_err::read_to_string(&file.path).unwrap(), "# mine\n");
}

/// Why the file is left alone, in short.
fn refused(file: &InstructionFile, uid: u32) -> String {
    let refusal = insert(std::slice::from_ref(file), uid).map(drop).unwrap_err().to_string();
    refusal.replace(&file.folder, "")
}

#[test]
fn a_link_is_not_followed() {
    let (place, file) = project("rules/x.md");
    let elsewhere = tempfile::tempdir().unwrap();
    symlink(elsewhere.path(), place.path().join("rules")).unwrap();
    assert!(refused(&file, uid()).starts_with("/rules is a link"));
    fs_err::remove_file(place.path().join("rules")).unwrap();
    fs_err::create_dir(place.path().join("rules")).unwrap();
    symlink(elsewhere.path().join("gone"), &file.path).unwrap();
    assert!(refused(&file, uid()).starts_with("/rules/x.md is a link"));
    assert_eq!(fs_err::read_dir(elsewhere.path()).unwrap().count(), 0);
}

#[rstest]
#[case::read_only("x", 0o444, 0, "/AGENTS.md is read-only")]
#[case::of_another("x", 0o644, 1, "/AGENTS.md belongs to another user")]
#[case::damaged("<remembrancer-recollections>\n", 0o644, 0, "/AGENTS.md: line 1 opens a block")]
#[case::open_code("```\n", 0o644, 0, "/AGENTS.md: a code block is not closed")]
fn a_file_is_left_alone(#[case] text: &str, #[case] mode: u32, #[case] other_user: u32, #[case] expected: &str) {
    let (_place, file) = project("AGENTS.md");
    fs_err::write(&file.path, text).unwrap();
    fs_err::set_permissions(&file.path, std::fs::Permissions::from_mode(mode)).unwrap();
    let refusal = refused(&file, uid() + other_user);
    assert!(refusal.starts_with(expected), "{refusal}");
    assert_eq!(fs_err::read_to_string(&file.path).unwrap(), text);
}

#[test]
fn what_was_taken_out_by_hand_is_not_put_back() {
    let (_place, file) = project("AGENTS.md");
    assert!(
        matches!(update(&file, BLOCK, uid()), Err(Refusal::TakenOut { .. })),
        "the whole file"
    );
    fs_err::write(&file.path, "mine\n").unwrap();
    assert!(matches!(update(&file, BLOCK, uid()), Err(Refusal::TakenOut { .. })));
    assert!(
        remove(std::slice::from_ref(&file), uid()).unwrap().is_none(),
        "it is the user's own now"
    );
}
