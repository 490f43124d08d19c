//! Where a file lies that an episode speaks of. In go its name as remembered and the turn's folder, out comes its whole path, by the
//! text alone: nothing is looked at.

/// A remembered name of this length may have been cut (`FILE_CAP` of the processor's facets, in bytes, less a character's).
const MAYBE_CUT_BYTES: usize = 297;
/// What stands where something was taken out of a name.
const REDACTED: &str = "[redacted";

/// The whole path of `file`; `None` where it can't be told, or the name is a pattern and none of a file.
pub(super) fn absolute(cwd: Option<&str>, file: &str) -> Option<String> {
    let is_name = |text: &str| !text.contains(REDACTED) && !text.contains(char::is_control);
    if file.is_empty() || file.len() >= MAYBE_CUT_BYTES || !is_name(file) || file.contains(['*', '?']) {
        return None;
    }
    if file.starts_with('/') {
        return Some(normal(&[file]));
    }
    let cwd = cwd.filter(|cwd| cwd.starts_with('/') && is_name(cwd))?;
    Some(normal(&[cwd, file]))
}

/// The path of `file` below `root`; `None` where it does not lie there.
pub(super) fn below<'a>(root: &str, file: &'a str) -> Option<&'a str> {
    let rest = file.strip_prefix(root.trim_end_matches('/'))?.strip_prefix('/')?;
    (!rest.is_empty()).then_some(rest)
}

/// The parts joined, without `.` and `..`.
fn normal(parts: &[&str]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in parts.iter().flat_map(|part| part.split('/')) {
        match name {
            "" | "." => {}
            ".." => drop(names.pop()),
            name => names.push(name),
        }
    }
    format!("/{}", names.join("/"))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::below(Some("/home/ada/shop"), "src/a.rs", Some("/home/ada/shop/src/a.rs"))]
    #[case::whole(None, "/srv/a.rs", Some("/srv/a.rs"))]
    #[case::dots(Some("/home/ada/shop/api/"), "../web/./b.ts", Some("/home/ada/shop/web/b.ts"))]
    #[case::above_all(Some("/a"), "../../../b", Some("/b"))]
    #[case::no_folder(None, "src/a.rs", None)]
    #[case::another_system(Some("C:/code"), "a.rs", None)]
    #[case::redacted(Some("/home/ada"), "keys/[redacted:aws-key].pem", None)]
    #[case::redacted_folder(Some("/home/[redacted:token]"), "a.rs", None)]
    #[case::a_pattern(Some("/home/ada"), "src/*.rs", None)]
    #[case::control(Some("/home/ada"), "a\nb", None)]
    #[case::empty(Some("/home/ada"), "", None)]
    fn where_a_file_lies(#[case] cwd: Option<&str>, #[case] file: &str, #[case] expected: Option<&str>) {
        assert_eq!(absolute(cwd, file).as_deref(), expected);
    }

    #[test]
    fn a_name_that_may_have_been_cut_is_none() {
        assert_eq!(absolute(Some("/a"), &"n".repeat(MAYBE_CUT_BYTES)), None);
        assert!(absolute(Some("/a"), &"n".repeat(MAYBE_CUT_BYTES - 1)).is_some());
    }

    #[rstest]
    #[case::below("/home/ada", "/home/ada/b", Some("b"))]
    #[case::of_the_root("/", "/b/c", Some("b/c"))]
    #[case::beside("/home/ada", "/home/adam/b", None)]
    #[case::itself("/home/ada", "/home/ada", None)]
    fn what_lies_below(#[case] root: &str, #[case] file: &str, #[case] expected: Option<&str>) {
        assert_eq!(below(root, file), expected);
    }
}
