use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, SystemTime};

use remembrancer_processor::recall::Fate;
use tempfile::TempDir;

use super::*;

/// Seconds since the epoch of the oldest commit in these tests, and of the episodes that are asked about.
const THEN: i64 = 1_700_000_000;
const EPISODE: UnixMillis = UnixMillis((THEN + 100) * 1_000);

/// A folder with a repository, or without one.
struct Project(TempDir);

impl Project {
    fn plain() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn repository() -> Self {
        let project = Self::plain();
        project.git(&["init", "--quiet"], THEN);
        project
    }

    fn root(&self) -> String {
        self.0.path().to_str().unwrap().to_owned()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str, seconds: i64) {
        let path = self.path(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(&path, text).unwrap();
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds.unsigned_abs());
        fs_err::File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_modified(at)
            .unwrap();
    }

    fn git(&self, arguments: &[&str], seconds: i64) {
        let time = format!("@{seconds} +0000");
        let output = Command::new("git")
            .arg("-C")
            .arg(self.0.path())
            .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"])
            .args(arguments)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_AUTHOR_DATE", &time)
            .env("GIT_COMMITTER_DATE", &time)
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }

    fn commit(&self, seconds: i64) {
        self.git(&["add", "--all"], seconds);
        self.git(&["commit", "--quiet", "--message", "change"], seconds);
    }

    fn look(&self, names: &[&str], before: Arc<Known>) -> Known {
        let paths = names
            .iter()
            .map(|name| self.path(name).to_str().unwrap().to_owned())
            .collect();
        look(&Wanted {
            root: self.root(),
            paths,
            oldest: UnixMillis(THEN * 1_000),
            before,
            now: UnixMillis((THEN + 1_000) * 1_000),
        })
        .unwrap()
    }

    fn fate(&self, name: &str) -> Option<Fate> {
        let known = self.look(&[name], Arc::default());
        known.of(self.path(name).to_str().unwrap())?.fate(EPISODE)
    }
}

#[test]
fn commits_after_the_episode_count() {
    let project = Project::repository();
    project.write("src/a b.rs", "1", THEN);
    project.write("same.rs", "1", THEN);
    project.commit(THEN);
    assert_eq!(project.fate("src/a b.rs"), None);
    for (text, seconds) in [("2", THEN + 200), ("3", THEN + 300)] {
        project.write("src/a b.rs", text, seconds);
        project.commit(seconds);
    }
    assert_eq!(project.fate("src/a b.rs"), Some(Fate::Changed { commits: 2 }));
    assert_eq!(project.fate("same.rs"), None);
}

#[test]
fn a_file_that_a_checkout_wrote_anew_is_as_it_was() {
    let project = Project::repository();
    project.write("a.rs", "1", THEN);
    project.commit(THEN);
    fs_err::remove_file(project.path("a.rs")).unwrap();
    // Its time is that of now.
    project.git(&["checkout", "--quiet", "--", "a.rs"], THEN);
    assert_eq!(project.fate("a.rs"), None);
}

#[test]
fn what_is_not_committed_is_told_by_its_time() {
    let project = Project::repository();
    project.write("a.rs", "1", THEN);
    project.commit(THEN);
    project.write("a.rs", "two", THEN + 50);
    project.write("new.rs", "1", THEN + 50);
    assert_eq!(project.fate("a.rs"), None, "written before");
    project.write("a.rs", "three", THEN + 500);
    project.write("new.rs", "2", THEN + 500);
    assert_eq!(project.fate("a.rs"), Some(Fate::Changed { commits: 0 }));
    assert_eq!(project.fate("new.rs"), Some(Fate::Changed { commits: 0 }));
}

#[test]
fn only_what_was_there_is_gone() {
    let project = Project::repository();
    for name in ["committed.rs", "deleted.rs", "before.rs"] {
        project.write(name, "1", THEN);
    }
    project.commit(THEN);
    fs_err::remove_file(project.path("before.rs")).unwrap();
    project.commit(THEN + 50);
    fs_err::remove_file(project.path("committed.rs")).unwrap();
    project.commit(THEN + 500);
    fs_err::remove_file(project.path("deleted.rs")).unwrap();
    assert_eq!(project.fate("committed.rs"), Some(Fate::Gone));
    assert_eq!(project.fate("deleted.rs"), Some(Fate::Gone));
    assert_eq!(project.fate("before.rs"), None, "it was gone then");
    assert_eq!(project.fate("never.rs"), None);
    assert_eq!(project.fate("committed.rs/never.rs"), None);
}

#[test]
fn without_git_an_earlier_look_tells_what_was_there() {
    let project = Project::plain();
    project.write("a.txt", "1", THEN);
    assert_eq!(project.fate("a.txt"), None);
    let before = Arc::new(project.look(&["a.txt"], Arc::default()));
    fs_err::remove_file(project.path("a.txt")).unwrap();
    assert_eq!(project.fate("a.txt"), None, "it may never have been there");
    let path = project.path("a.txt").to_str().unwrap().to_owned();
    let known = project.look(&["a.txt"], before);
    assert_eq!(known.of(&path).unwrap().fate(EPISODE), Some(Fate::Gone));
    let later = project.look(&["a.txt"], Arc::new(known));
    assert_eq!(later.of(&path).unwrap().fate(EPISODE), Some(Fate::Gone), "and stays so");
}

#[test]
fn other_repositories_folders_and_links_are_left_alone() {
    let project = Project::repository();
    project.write("module/.git", "gitdir: elsewhere", THEN + 500);
    project.write("module/a.rs", "1", THEN + 500);
    project.write("folder/a.rs", "1", THEN + 500);
    fs_err::os::unix::fs::symlink("folder/a.rs", project.path("link.rs")).unwrap();
    for name in ["module/a.rs", "folder", "link.rs"] {
        assert_eq!(project.fate(name), None, "{name}");
    }
    assert!(project.fate("folder/a.rs").is_some());
}

#[test]
fn what_git_keeps_out_of_the_working_tree_is_not_gone() {
    let project = Project::repository();
    project.write("a.rs", "1", THEN);
    project.commit(THEN);
    project.git(&["update-index", "--skip-worktree", "a.rs"], THEN);
    fs_err::remove_file(project.path("a.rs")).unwrap();
    assert_eq!(project.fate("a.rs"), None);
}

#[test]
fn a_folder_that_is_not_there_tells_nothing() {
    let gone = Wanted {
        root: "/gone/for good".to_owned(),
        paths: vec!["/gone/for good/a.rs".to_owned()],
        oldest: EPISODE,
        before: Arc::default(),
        now: EPISODE,
    };
    assert!(look(&gone).is_none());
}

#[test]
fn commits_are_read_as_git_writes_them() {
    let names: HashSet<&str> = ["a.rs", "b\nc.rs"].into();
    let told = "\u{1}20\0\na.rs\0b\nc.rs\0\u{1}30\0\u{1}nonsense\0\na.rs\0\u{1}10\0\na.rs\0other.rs\0";
    let read = read_commits(told, &names);
    let expected = [
        ("a.rs".to_owned(), vec![UnixMillis(20_000), UnixMillis(10_000)]),
        ("b\nc.rs".to_owned(), vec![UnixMillis(20_000)]),
    ];
    assert_eq!(read, BTreeMap::from(expected));
}

#[test]
fn an_index_of_another_form_tells_nothing() {
    assert_eq!(read_index(""), []);
    assert_eq!(read_index("H a.rs\0nothing of it"), []);
    let told = "H a.rs\0  ctime: 1:2\n  mtime: 30:4\n  dev: 5\tino: 6\n  uid: 7\tgid: 8\n  size: 9\tflags: 0\nS b.rs\0  mtime: 1:0\n  size: 2\tflags: 40004000\n";
    let expected = [("a.rs", 9, 30, false), ("b.rs", 2, 1, true)];
    let read: Vec<_> = read_index(told);
    let read: Vec<_> = read
        .iter()
        .map(|(name, of)| (name.as_str(), of.size, of.written, of.skipped))
        .collect();
    assert_eq!(read, expected);
}
