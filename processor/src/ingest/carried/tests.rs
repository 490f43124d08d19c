use rstest::rstest;

use super::*;

fn carried() -> Carried {
    let mut carried = Carried {
        at: Some(UnixMillis(1_790_000_000_000)),
        copied_until: Some(UnixMillis(-1)),
        ..Carried::default()
    };
    carried.tell_session("s-\"1\"");
    carried.tell_cwd("/home/ada/shop");
    carried.tell_git_branch("main");
    carried.tell_version("2.1.0");
    carried.tell_subagent();
    carried.set_begun(true);
    carried.tell_titled(u64::MAX);
    carried
}

#[test]
fn what_is_written_is_read_again() {
    for carried in [carried(), Carried::default()] {
        let text = carried.to_text().unwrap();
        assert_eq!(Carried::parse(&text), Some(carried), "{text}");
    }
}

#[rstest]
#[case::nothing("")]
#[case::no_json("{\"v\":1,")]
#[case::no_object("[]")]
#[case::another_version("{\"v\":2,\"at\":null,\"copied_until\":null,\"told\":{}}")]
#[case::another_type("{\"v\":1,\"at\":\"now\",\"copied_until\":null,\"told\":{}}")]
#[case::half("{\"v\":1}")]
fn what_is_damaged_is_none(#[case] text: &str) {
    assert_eq!(Carried::parse(text), None);
}

#[test]
fn what_is_too_long_is_neither_written_nor_read() {
    let mut carried = carried();
    carried.tell_session(&"s".repeat(LONGEST));
    assert_eq!(carried.to_text(), None);
    let blanks = " ".repeat(LONGEST);
    assert_eq!(
        Carried::parse(&format!("{blanks}{}", Carried::default().to_text().unwrap())),
        None
    );
    let mut longest = Carried::default();
    longest.tell_cwd(&format!("/{}", "\"".repeat(4_095)));
    assert!(longest.to_text().is_some(), "the longest folder has room");
}

#[test]
fn what_is_no_folder_and_what_is_secret_is_not_written() {
    let mut carried = carried();
    carried.tell_cwd("my password is hunter2");
    carried.tell_git_branch("fix <private>HUNTER3</private>");
    let text = carried.to_text().unwrap();
    assert!(!text.contains("hunter2") && !text.contains("HUNTER3"), "{text}");
    assert!(text.contains("[redacted:private]"), "{text}");
    let again = Carried::parse(&text).unwrap();
    assert_eq!(again.cwd(), Some(""), "it was told, and the folder before it counts no more");
}

#[test]
fn of_very_many_titles_the_oldest_is_forgotten() {
    let mut carried = Carried::default();
    (0..=MOST_TITLED as u64).for_each(|session| carried.tell_titled(session));
    assert!(!carried.is_titled(0) && carried.is_titled(1) && carried.is_titled(MOST_TITLED as u64));
}
