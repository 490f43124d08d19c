//! A working folder as it is kept: what a record tells comes in, one spelling for all spellings of the same path goes out.
//!
//! Whatever compares folders (what is excluded, forgotten, a project's) compares these. Nothing is looked up here: a link is followed
//! where the project is looked for. What can't be part of a kept path is left away with all below it, so that the folder above stands
//! for it, and what is kept out there stays out.

use crate::ingest::agent::path_of;

/// Longest path of a folder, in bytes: `PATH_MAX` of Linux.
const LONGEST_FOLDER: usize = 4_096;

/// A folder as it is kept, if it is one.
pub fn kept_folder(told: &str) -> Option<String> {
    let path = path_of(told);
    if path.starts_with('/') {
        return Some(plain(&path));
    }
    is_of_windows(&path).then(|| path.into_owned())
}

/// A path without empty names, `.`, and `..`, as far as its names can be kept.
fn plain(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut length = 0;
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => length -= kept.pop().map_or(0, |name| name.len() + 1),
            name if name.contains(char::is_control) || length + 1 + name.len() > LONGEST_FOLDER => break,
            name => {
                kept.push(name);
                length += 1 + name.len();
            }
        }
    }
    format!("/{}", kept.join("/"))
}

/// Whether a text can be the whole path of a folder of Windows: anything else would be stored as one, unredacted.
fn is_of_windows(text: &str) -> bool {
    let has_drive = matches!(text.as_bytes(), [drive, b':', b'/' | b'\\', ..] if drive.is_ascii_alphabetic());
    (has_drive || text.starts_with("\\\\")) && text.len() <= LONGEST_FOLDER && !text.contains(char::is_control)
}

#[cfg(test)]
mod tests {
    use remembrancer_schema::UnixMillis;
    use rstest::rstest;

    use super::*;
    use crate::ingest::Agent;
    use crate::ingest::ResumePoint;
    use crate::ingest::conversation::Conversation;

    #[rstest]
    #[case::unix("/home/ada/shop", Some("/home/ada/shop"))]
    #[case::root("/", Some("/"))]
    #[case::windows("C:\\code\\shop", Some("C:\\code\\shop"))]
    #[case::share("\\\\server\\shop", Some("\\\\server\\shop"))]
    #[case::relative("shop", None)]
    #[case::on_a_drive("C:shop", None)]
    #[case::note("a: my password is", None)]
    #[case::tilde("~/shop", None)]
    #[case::doubled("/home//ada///shop/", Some("/home/ada/shop"))]
    #[case::here("/home/ada/./shop/.", Some("/home/ada/shop"))]
    #[case::back("/home/ada/other/../shop", Some("/home/ada/shop"))]
    #[case::back_from_the_root("/../home/ada", Some("/home/ada"))]
    #[case::a_uri("file:///home/ada/my%20shop/", Some("/home/ada/my shop"))]
    #[case::a_uri_of_this_machine("file://localhost/home/ada", Some("/home/ada"))]
    #[case::prose("/home/ada\nmy password is", Some("/home"))]
    #[case::a_tab("/home/ada/na\tme/below", Some("/home/ada"))]
    #[case::control("/home/ada/\u{1}", Some("/home/ada"))]
    fn tc_44_only_a_whole_path_is_a_working_folder(#[case] told: &str, #[case] kept: Option<&str>) {
        let info = Agent::CLAUDE_CODE.source("/t/s.jsonl".as_ref(), UnixMillis(0), &|_| None);
        let mut conversation = Conversation::new(&info, ResumePoint::default());
        conversation.cwd(told);
        conversation.prompt("p", "why does it round twice?");
        let (turns, _) = conversation.assembler().take();
        assert_eq!(turns[0].cwd.as_deref(), kept);
    }

    #[test]
    fn of_a_path_that_is_too_long_what_fits_is_kept() {
        let name = "x".repeat(LONGEST_FOLDER - 1);
        assert_eq!(kept_folder(&format!("/{name}")), Some(format!("/{name}")));
        assert_eq!(kept_folder(&format!("/a/{name}")).as_deref(), Some("/a"));
        let kept = kept_folder(&"/abc".repeat(LONGEST_FOLDER)).unwrap();
        assert_eq!(kept.len(), LONGEST_FOLDER);
    }
}
