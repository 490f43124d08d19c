use rstest::rstest;

use super::*;

const PATH: &str = "/home/ada/.gemini/antigravity-cli/brain/c1/.system_generated/logs/transcript.jsonl";

#[rstest]
#[case::last(
    "/home/ada/.gemini/antigravity-cli/cache/last_conversations.json",
    r#"{"/home/ada/till":"c0","/home/ada/shop":"c1"}"#,
    Some("/home/ada/shop")
)]
#[case::typed(
    "/home/ada/.gemini/antigravity-cli/history.jsonl",
    "{\"display\":\"x\",\"workspace\":\"/home/ada/till\",\"conversationId\":\"c0\"}\n{\"workspace\":\"/home/ada/shop\",\"conversationId\":\"c1\"}\n",
    Some("/home/ada/shop")
)]
#[case::another(
    "/home/ada/.gemini/antigravity-cli/cache/last_conversations.json",
    r#"{"/home/ada/till":"c0"}"#,
    None
)]
#[case::damaged("/home/ada/.gemini/antigravity-cli/cache/last_conversations.json", "{", None)]
fn the_working_folder_is_known_to_the_command_line(#[case] file: &str, #[case] content: &str, #[case] expected: Option<&str>) {
    let read = |path: &Path| (path == Path::new(file)).then(|| content.as_bytes().to_vec());
    let context = context(Path::new(PATH), &read);
    assert_eq!(context.cwd.as_deref(), expected);
    assert_eq!(context.session.as_deref(), Some("c1"));
}

#[rstest]
#[case::marked("<USER_REQUEST>\nList them.\n</USER_REQUEST>\n<USER_SETTINGS_CHANGE>\nx", "\nList them.\n")]
#[case::cut("<USER_REQUEST>\nList", "\nList")]
#[case::bare("List them.", "List them.")]
#[case::bare_with_more("List them.\n<ADDITIONAL_METADATA>\nx", "List them.")]
fn a_request_is_what_the_person_asked(#[case] content: &str, #[case] expected: &str) {
    assert_eq!(request(content), expected);
}

#[rstest]
#[case::field(r#"{"exit_code":1,"content":"x"}"#, Some("1"))]
#[case::told(r#"{"content":"The command exited with code 0.\nOutput:\n"}"#, Some("0"))]
#[case::failed(r#"{"content":"The command failed with exit code: 101\nOutput:\n"}"#, Some("101"))]
#[case::passed(r#"{"content":"The command completed successfully.\n"}"#, None)]
fn a_command_has_an_exit_code(#[case] step: &str, #[case] expected: Option<&str>) {
    assert_eq!(exit_code(&serde_json::from_str(step).unwrap()), expected);
}
