//! What git says of a file in a project: whether it is tracked, whether it is ignored, and where this clone's own list of what to
//! ignore lies. Each starts git, in bounded time, so nothing here is asked while a prompt waits.

use std::path::{Path, PathBuf};

use crate::git::ask;

/// Whether git tracks `file` of the project in `folder`. Where there is a repository and git can't be asked, it may.
pub(crate) fn tracks(folder: &Path, file: &Path) -> bool {
    match ask(folder, &["ls-files", "--"], Some(file)) {
        Some(listed) => !listed.is_empty(),
        None => folder.ancestors().any(|ancestor| ancestor.join(".git").exists()),
    }
}

/// Whether git passes over `file` of the project in `folder`, or has no part in it.
pub(crate) fn ignores(folder: &Path, file: &Path) -> bool {
    exclude_file(folder).is_none() || ask(folder, &["check-ignore", "--"], Some(file)).is_some_and(|listed| !listed.is_empty())
}

/// The list of what to ignore that is this clone's own; `None` where `folder` is in no repository.
pub(crate) fn exclude_file(folder: &Path) -> Option<PathBuf> {
    let told = ask(folder, &["rev-parse", "--git-path", "info/exclude"], None)?;
    let told = told.trim_end_matches('\n');
    (!told.is_empty()).then(|| folder.join(told))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn git(folder: &Path, arguments: &[&str]) {
        let status = Command::new("git").arg("-C").arg(folder).args(arguments).status();
        assert!(status.is_ok_and(|status| status.success()), "{arguments:?}");
    }

    #[test]
    fn a_file_is_tracked_from_when_it_is_added_and_ignored_by_the_list() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().canonicalize().unwrap();
        let file = folder.join("AGENTS.md");
        fs_err::write(&file, "x").unwrap();
        assert!(!tracks(&folder, &file) && ignores(&folder, &file), "there is no repository");
        git(&folder, &["init", "--quiet"]);
        assert!(!tracks(&folder, &file) && !ignores(&folder, &file));
        let list = exclude_file(&folder).unwrap();
        assert_eq!(list, folder.join(".git/info/exclude"));
        fs_err::create_dir_all(list.parent().unwrap()).unwrap();
        fs_err::write(list, "/AGENTS.md\n").unwrap();
        assert!(ignores(&folder, &file));
        git(&folder, &["add", "--force", "AGENTS.md"]);
        assert!(tracks(&folder, &file));
        fs_err::write(folder.join(".git/index"), "no index").unwrap();
        assert!(tracks(&folder, &folder.join("other.md")), "git fails, so it may be tracked");
    }
}
