use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rstest::rstest;

use super::*;

const BY_NAME: &str = "/home/ada/.gemini/tmp/shop/chats/session-2026-03-01T10-00-11111111.jsonl";

fn cwd(path: &str, files: &[(&str, &str)]) -> Option<String> {
    let files: HashMap<PathBuf, &str> = files.iter().map(|(path, content)| (path.into(), *content)).collect();
    let read = |path: &Path| files.get(path).map(|content| content.as_bytes().to_vec());
    context(Path::new(path), &read).cwd
}

#[rstest]
#[case::marked(BY_NAME, &[("/home/ada/.gemini/tmp/shop/.project_root", "/home/ada/shop\n")], Some("/home/ada/shop"))]
#[case::registered(
    BY_NAME,
    &[("/home/ada/.gemini/projects.json", r#"{"projects":{"/home/ada/till":"till","/home/ada/shop":"shop"}}"#)],
    Some("/home/ada/shop")
)]
#[case::hashed(
    "/home/ada/.gemini/tmp/ff0a01d53d837e70275074a42c9709b53c538c1476884575978bc79bc4b8637a/chats/session-1.json",
    &[("/home/ada/.gemini/projects.json", r#"{"projects":{"/home/ada/till":"till","/home/ada/shop":"shop"}}"#)],
    Some("/home/ada/shop")
)]
#[case::subagent(
    "/home/ada/.gemini/tmp/shop/chats/1111/agent.jsonl",
    &[("/home/ada/.gemini/tmp/shop/.project_root", "/home/ada/shop")],
    Some("/home/ada/shop")
)]
#[case::unregistered(BY_NAME, &[("/home/ada/.gemini/projects.json", r#"{"projects":{"/home/ada/till":"till"}}"#)], None)]
#[case::damaged(BY_NAME, &[("/home/ada/.gemini/projects.json", "{")], None)]
#[case::nothing(BY_NAME, &[], None)]
fn the_working_folder_is_the_projects(#[case] path: &str, #[case] files: &[(&str, &str)], #[case] expected: Option<&str>) {
    assert_eq!(cwd(path, files).as_deref(), expected);
}

#[rstest]
#[case::failed(
    "Command: cargo test\nDirectory: (root)\nOutput: error: no\nError: (none)\nExit Code: 101\nSignal: 0",
    Some("error: no\n")
)]
#[case::bare("Output: error: no\nExit Code: 1", Some("error: no"))]
#[case::older(
    "Stdout: (empty)\nStderr: error: no\nExit Code: 1",
    Some("Stdout: (empty)\nStderr: error: no")
)]
#[case::passed("Output: fine\nExit Code: 0", None)]
#[case::none("Exit Code: (none)", None)]
#[case::no_shell("a file", None)]
fn a_shells_output_tells_of_a_failure(#[case] output: &str, #[case] expected: Option<&str>) {
    assert_eq!(printed_by_failed(output), expected);
}
