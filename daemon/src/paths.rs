//! Paths as people write them into paths as transcripts have them.

use std::path::{Component, Path, PathBuf};

/// `path` from the settings: absolute, or below the user's `home` by a leading `~`. `None` for any other, since a daemon's
/// own folder says nothing.
pub(crate) fn from_home(path: &Path, home: &Path) -> Option<PathBuf> {
    match path.strip_prefix("~") {
        Ok(below) => Some(home.join(below)),
        Err(_) => path.is_absolute().then(|| path.to_owned()),
    }
}

/// `path` as transcripts would have it: absolute, without `.` and `..`, links resolved where it exists.
///
/// # Errors
/// Where the current folder is needed and can't be told.
pub(crate) fn resolved(path: &Path) -> std::io::Result<PathBuf> {
    let mut resolved = PathBuf::new();
    for component in std::path::absolute(path)?.components() {
        match component {
            Component::ParentDir => {
                resolved.pop();
            }
            other => resolved.push(other),
        }
        // What is gone, or never was, stands as it is written.
        resolved = resolved.canonicalize().unwrap_or(resolved);
    }
    Ok(resolved)
}

/// The name by which two processes find out whether they mean the same file: links followed, as text.
pub(crate) fn one_name(path: &Path) -> String {
    resolved(path)
        .unwrap_or_else(|_| path.to_owned())
        .to_string_lossy()
        .into_owned()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::there("there", "there")]
    #[case::a_link("link/below", "there/below")]
    #[case::back_from_what_is_gone("gone/../there", "there")]
    #[case::back_from_a_link("link/../gone", "gone")]
    #[case::gone_whole("gone/./x/../y", "gone/y")]
    fn a_path_is_as_the_transcripts_have_it(#[case] path: &str, #[case] expected: &str) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs_err::create_dir(root.join("there")).unwrap();
        fs_err::os::unix::fs::symlink(root.join("there"), root.join("link")).unwrap();
        assert_eq!(resolved(&root.join(path)).unwrap(), root.join(expected));
    }

    #[rstest]
    #[case::absolute("/srv/x", Some("/srv/x"))]
    #[case::below_home("~/x", Some("/home/ada/x"))]
    #[case::home("~", Some("/home/ada"))]
    #[case::another_s_home("~bob/x", None)]
    #[case::relative("x", None)]
    #[case::empty("", None)]
    fn a_setting_is_absolute_or_below_home(#[case] path: &str, #[case] expected: Option<&str>) {
        let path = from_home(Path::new(path), Path::new("/home/ada"));
        assert_eq!(path.as_deref(), expected.map(Path::new));
    }
}
