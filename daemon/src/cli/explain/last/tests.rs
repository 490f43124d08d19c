//! What `last` says of each recollection.

use rstest::rstest;

use super::super::text::tests::example;
use super::*;

#[test]
fn a_person_is_told_what_matched_and_what_to_do() {
    let text = lines(&example(), 80).join("\n");
    for part in [
        "1 shown for the prompt of 2026-11-29 06:12 UTC (claude-code, session",
        "1. 6548bfec  2026-08-01  kiosk",
        "words: receipt (1 of 3, 60 % of what they weigh)",
        "meaning: cosine 0.38, the 2nd nearest",
        "also: it is marked as important; it was used before (2)",
        "see it: remembrancer show 6548bfec",
        "silence it: remembrancer mute 6548bfec",
        "All of it: remembrancer explain p1207",
        "Since then 2 prompts came",
    ] {
        assert!(text.contains(part), "no {part:?} in:\n{text}");
    }
    for columns in [66, 80] {
        for line in lines(&example(), columns) {
            assert!(line.chars().count() <= columns, "{columns}: {line}");
        }
    }
}

#[test]
fn what_another_member_shared_says_so() {
    let mut explanation = example();
    assert!(!lines(&explanation, 80).join("\n").contains("shared by"));
    explanation.candidates[0].shared_by = Some(Sharer {
        member: "bob".to_owned(),
        machine: "den".to_owned(),
        own: false,
    });
    let told = lines(&explanation, 80);
    assert!(
        told.iter().any(|line| line.starts_with("   [shared by bob] The receipt")),
        "{told:?}"
    );
}

#[test]
fn what_is_of_another_project_is_told_among_its_like() {
    let mut explanation = example();
    explanation.candidates[0].other_project = true;
    let text = lines(&explanation, 200).join("\n");
    assert!(
        text.contains("meaning: cosine 0.38, the 2nd nearest of other projects"),
        "{text}"
    );
    assert!(text.contains("it is of another project"), "{text}");
}

#[test]
fn what_is_not_known_is_not_made_up() {
    let mut explanation = example();
    let shown = &mut explanation.candidates[0];
    shown.words.clear();
    shown.cosine = None;
    let text = lines(&explanation, 80).join("\n");
    assert!(text.contains("which of them is not kept"), "{text}");
    assert!(text.contains("meaning: not compared"), "{text}");
    explanation.known = Known::Older;
    assert!(!lines(&explanation, 80).join("\n").contains("words: "));
    explanation.candidates[0].id = None;
    assert!(lines(&explanation, 80).contains(&"1. gone".to_owned()));
}

#[rstest]
#[case(2, "2nd nearest")]
#[case(3, "3rd nearest")]
#[case(11, "11th nearest")]
#[case(21, "21st nearest")]
#[case(112, "112th nearest")]
fn ranks_are_spoken(#[case] rank: u32, #[case] expected: &str) {
    assert_eq!(nearest(rank), expected);
}
