use rstest::rstest;

use super::*;

#[rstest]
#[case::one(
    "User has answered your questions: \"Which port?\"=\"8080\". You can now continue with the user's answers in mind.",
    "Asked: Which port? — User: 8080"
)]
#[case::two(
    "User has answered your questions: \"Which port?\"=\"8080\", \"Which \"=\"or \"x\" one\". You can now continue.",
    "Asked: Which port? — User: 8080\nAsked: Which — User: or \"x\" one"
)]
#[case::other("Something else", "")]
fn answers_of_a_person_are_kept(#[case] content: &str, #[case] expected: &str) {
    assert_eq!(answers(content), expected);
}

#[rstest]
#[case::with_words(
    "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nuse the other file\n\nNote: The user's next message may contain a correction.",
    Some("User: use the other file")
)]
#[case::without("The user doesn't want to proceed with this tool use. STOP what you are doing.", None)]
fn refusals_keep_what_the_person_said(#[case] content: &str, #[case] expected: Option<&str>) {
    assert_eq!(refusal(content).as_deref(), expected);
}

#[rstest]
#[case::in_the_result(
    "User has approved your plan. You can now start.\n\n## Approved Plan:\n# The plan\n1. Do it",
    "ignored",
    "# The plan\n1. Do it"
)]
#[case::as_proposed("User has approved your plan.", "# The plan", "# The plan")]
#[case::not_approved("User chose to stay in plan mode", "# The plan", "")]
fn approved_plans_are_kept(#[case] content: &str, #[case] proposed: &str, #[case] expected: &str) {
    assert_eq!(approved(content, proposed), expected);
}
