//! A folder that the user keeps out stays out under whatever name a transcript has it, and is forgotten under all of them.

use std::path::PathBuf;

use remembrancer_hooks::protocol::ForgetTarget as Target;
use rstest::rstest;

use super::*;
use crate::control;

/// A user's folder with `app/priv` in it, and a link to that.
fn home(place: &Place) -> PathBuf {
    let home = place.folder.path().canonicalize().unwrap().join("home");
    fs_err::create_dir_all(home.join("app/priv")).unwrap();
    fs_err::os::unix::fs::symlink(home.join("app/priv"), home.join("link")).unwrap();
    home
}

/// A turn in the folder `cwd`; without one, in none that its records name.
fn turn_in(number: u32, cwd: Option<&str>) -> String {
    let in_folder = |line: &str| {
        let mut record: serde_json::Value = serde_json::from_str(line).unwrap();
        record["cwd"] = cwd.into();
        format!("{record}\n")
    };
    turn(number).lines().map(in_folder).collect()
}

const SPELLINGS: [&str; 9] = [
    "HOME/app/priv",
    "HOME/link",
    "HOME//app//priv/",
    "HOME/app/./priv",
    "HOME/app/../app/priv",
    "HOME/app/priv/na\tme",
    "HOME/app/priv/\u{1}/below",
    "file://HOME/app/priv",
    "HOME/link/../app/priv/gone",
];

#[rstest]
fn a_folder_is_kept_out_under_every_name(#[values(true, false)] by_settings: bool) {
    let mut place = Place::new();
    let home = home(&place);
    let kept_out = home.join("app/priv");
    if by_settings {
        place.exclusions = Exclusions::of_settings(&[kept_out]);
    } else {
        let path = kept_out.to_str().unwrap().to_owned();
        let excluded = place
            .store
            .writer
            .call_blocking(move |writer| writer.exclude_path(&path, clock::now()));
        excluded.unwrap().unwrap();
    }
    for (number, spelling) in SPELLINGS.iter().enumerate() {
        let cwd = spelling.replace("HOME", home.to_str().unwrap());
        let path = place.write(&format!("{number}.jsonl"), &turn_in(number as u32, Some(&cwd)));
        read(&mut place.start(), &path);
        assert_eq!(place.turns(), [0; 0], "{spelling}");
    }
    fs_err::create_dir_all(place.path("0/subagents")).unwrap();
    let path = place.write("0/subagents/agent-1.jsonl", &turn_in(90, None));
    read(&mut place.start(), &path);
    assert_eq!(place.turns(), [0; 0], "a subagent's file that names no folder");
    let beside = place.write("beside.jsonl", &turn_in(91, Some(home.join("app").to_str().unwrap())));
    read(&mut place.start(), &beside);
    assert_eq!(place.turns(), [91], "what lies beside it is remembered");
}

#[test]
fn a_folder_is_forgotten_under_every_name() {
    let place = Place::new();
    let home = home(&place);
    for (number, spelling) in SPELLINGS.iter().enumerate() {
        let cwd = spelling.replace("HOME", home.to_str().unwrap());
        let path = place.write(&format!("{number}.jsonl"), &turn_in(number as u32, Some(&cwd)));
        read(&mut place.start(), &path);
    }
    fs_err::create_dir_all(place.path("0/subagents")).unwrap();
    let path = place.write("0/subagents/agent-1.jsonl", &turn_in(90, None));
    read(&mut place.start(), &path);
    // As an older version stored it.
    let link = home.join("link").to_str().unwrap().to_owned();
    let older = crate::sample_rows::turn(7, &link);
    let older = crate::sample_rows::batch(vec![older]);
    let stored = place.store.writer.call_blocking(move |writer| writer.ingest(&older));
    stored.unwrap().unwrap();
    let path = home.join("app").to_str().unwrap().to_owned();
    let target = control::forget_target(&place.reader(), Target::Path(path)).unwrap();
    let forgotten = place
        .store
        .writer
        .call_blocking(move |writer| writer.forget(&target, clock::now()));
    forgotten.unwrap().unwrap();
    assert_eq!(place.reader().stats().unwrap().episodes, 0);
}
