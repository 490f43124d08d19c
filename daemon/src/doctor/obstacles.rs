//! What keeps the daemon from starting, or from answering though it runs: things in the places of its files, folders that can't be
//! written, a process that stands still. Places come in, checks go out, none where nothing stands in the way. Nothing is written.

use std::path::Path;

use remembrancer_hooks::places::Places;

use super::Check;
use crate::single::{Holder, Single};
use crate::system;

const DAEMON: &str = "daemon";
const MEMORY: &str = "memory";

/// What the daemon writes beside the database.
const WRITTEN: [&str; 5] = ["-wal", "-shm", "-journal", ".lock", ".journal"];

/// What stands in the way; `answers` says whether a daemon answered.
pub(crate) fn obstacles(places: &Places, answers: bool) -> Vec<Check> {
    let mut checks = Vec::new();
    checks.extend(lock(&places.data_dir().join("daemon.lock")));
    checks.extend(in_place_of_files(&places.database_file()));
    for folder in [places.data_dir(), places.state_dir()] {
        checks.extend(unusable(&folder));
    }
    if !answers {
        checks.extend(silent(&Single::holder(&places.data_dir())));
    }
    checks
}

/// A lock that is no file of its own is not taken.
fn lock(path: &Path) -> Option<Check> {
    let found = fs_err::symlink_metadata(path).ok()?;
    let what = if found.is_symlink() {
        "a link"
    } else {
        system::other_than_a_file(&found)?
    };
    let found = format!("{} is {what}, and no daemon takes that for its lock", path.display());
    Some(Check::failed(DAEMON, found, "remove it, and start the daemon"))
}

fn in_place_of_files(database: &Path) -> Vec<Check> {
    let beside = WRITTEN.iter().map(|suffix| {
        let mut path = database.as_os_str().to_owned();
        path.push(suffix);
        path.into()
    });
    let obstacle = |path: std::path::PathBuf| {
        let what = system::other_than_a_file(&fs_err::metadata(&path).ok()?)?;
        let found = format!("{} is {what}, and no file: the daemon does not start", path.display());
        Some(Check::failed(MEMORY, found, "move it away"))
    };
    beside.filter_map(obstacle).collect()
}

/// A folder of the daemon's own in which it can't write, or that is none.
fn unusable(folder: &Path) -> Option<Check> {
    let metadata = fs_err::metadata(folder).ok()?;
    if !metadata.is_dir() {
        let found = format!("{} is no folder: the daemon does not start", folder.display());
        return Some(Check::failed(MEMORY, found, "move it away"));
    }
    let problem = system::why_not_writable(folder)?;
    let remedy = format!(
        "run `chmod u+rwx {}`; where the file system itself is read-only, mount it anew",
        folder.display()
    );
    Some(Check::failed(
        MEMORY,
        format!("nothing can be written in {}: {problem}", folder.display()),
        remedy,
    ))
}

/// A daemon that holds the lock and does not answer.
fn silent(holder: &Holder) -> Option<Check> {
    let Holder::Process(pid) = holder else { return None };
    if pid.parse().is_ok_and(system::stands_still) {
        let found = format!("process {pid} is the daemon and stands still: it was stopped by a signal");
        return Some(Check::failed(DAEMON, found, format!("run `kill -CONT {pid}`")));
    }
    let found = format!("process {pid} is a daemon that runs, and does not answer at its socket");
    let remedy = format!(
        "it may be opening, migrating or making anew its memory, which its log tells: wait; else stop it by `kill {pid}`, and start it again"
    );
    Some(Check::failed(DAEMON, found, remedy))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn found_in(make: impl FnOnce(&Path)) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        make(folder.path());
        let mut checks = Vec::from_iter(lock(&folder.path().join("daemon.lock")));
        checks.extend(in_place_of_files(&folder.path().join("memory.db")));
        checks.extend(unusable(&folder.path().join("state")));
        assert!(checks.iter().all(|check| check.remedy.is_some()));
        checks.into_iter().map(|check| check.found).collect()
    }

    #[rstest]
    #[case::a_folder_for_the_journal("memory.db.journal")]
    #[case::a_folder_for_the_log("memory.db-wal")]
    #[case::a_folder_for_the_lock("daemon.lock")]
    fn a_folder_in_the_place_of_a_file_is_named(#[case] name: &str) {
        let found = found_in(|folder| fs_err::create_dir(folder.join(name)).unwrap());
        assert!(
            matches!(found.as_slice(), [found] if found.contains(&format!("{name} is a folder"))),
            "{found:?}"
        );
    }

    #[test]
    fn a_lock_that_is_a_link_and_a_folder_that_is_none_are_named() {
        let found = found_in(|folder| fs_err::os::unix::fs::symlink("/gone", folder.join("daemon.lock")).unwrap());
        assert!(
            matches!(found.as_slice(), [found] if found.contains("daemon.lock is a link")),
            "{found:?}"
        );
        let found = found_in(|folder| fs_err::write(folder.join("state"), "").unwrap());
        assert!(
            matches!(found.as_slice(), [found] if found.contains("is no folder")),
            "{found:?}"
        );
        assert!(found_in(|_| {}).is_empty());
    }

    #[test]
    fn a_process_that_stands_still_is_told_from_one_that_is_at_work() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let told = |child: &std::process::Child| silent(&Holder::Process(child.id().to_string())).unwrap();
        assert!(told(&child).found.contains("does not answer"));
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
        // Until it stands.
        rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::UNTRACED).unwrap();
        assert!(told(&child).found.contains("stands still"));
        assert!(told(&child).remedy.unwrap().contains("kill -CONT"));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(silent(&Holder::Nobody), None);
    }
}
