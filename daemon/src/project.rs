//! Which project a working directory belongs to: read from the files of git, and asked of git where they don't tell, off the hot path,
//! and cached by the caller.
//!
//! Keys, the first that exists decides: normalised origin URL without credentials, root commit, git common directory (so
//! that worktrees join their repository), the directory itself. `$HOME`, and folders above several repositories, are no
//! project.

use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use remembrancer_processor::ingest::{kept_folder, redact, redact_folder};
use remembrancer_schema::{ProjectId, QueryError, Reader};

use crate::files::read_text;
use crate::{git, paths};

/// What is known of a working directory's project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProjectIdentity {
    /// Keys, the most telling first; never empty. They are stored, so they hold no secret: the same folder has the same keys.
    pub keys: Vec<String>,
    /// The name shown to people, redacted.
    pub name: String,
    /// The project's folder, as it is.
    pub root: PathBuf,
}

impl ProjectIdentity {
    /// What is known of `cwd` without a look at it; `None` where that tells that it is no project.
    pub(crate) fn of_folder_alone(cwd: &str) -> Option<Self> {
        let folder = Path::new(cwd);
        (folder.is_absolute() && folder != Path::new("/")).then(|| Self {
            keys: vec![own_key(cwd)],
            name: name_of(folder),
            root: folder.to_owned(),
        })
    }
}

/// How long a look at a folder for the transcripts may take, git's part with it.
pub(crate) const LOOK_PATIENCE: Duration = Duration::from_secs(5);

/// Repositories directly below a folder that make it no project of its own.
const SEVERAL: usize = 2;

/// The project of `cwd`; `None` where `cwd` is no project.
///
/// With `ask_git`, git itself is asked for the root commit where there is no origin URL: that starts a process, and so it
/// is never done while a prompt waits.
pub(crate) fn identify(cwd: &Path, home: Option<&Path>, ask_git: bool) -> Option<ProjectIdentity> {
    // Another system's path, or a relative one, would be looked for in the folder in which this program was started.
    if !cwd.is_absolute() || home == Some(cwd) || cwd == Path::new("/") {
        return None;
    }
    let own_key = own_key(&cwd.to_string_lossy());
    let Some(repository) = Repository::around(cwd, home) else {
        return (!holds_several_repositories(cwd)).then(|| ProjectIdentity {
            keys: vec![own_key],
            name: name_of(cwd),
            root: cwd.to_owned(),
        });
    };
    let mut keys = Vec::new();
    let origin = repository.origin();
    let mut name = name_of(repository.common.parent().unwrap_or(&repository.work_tree));
    // Before its letters become small ones, which no token has.
    if let Some(url) = origin.as_deref().map(redact).as_deref().and_then(normalise_url) {
        name = url.rsplit('/').next().unwrap_or(&name).to_owned();
        keys.push(format!("url:{url}"));
    } else if ask_git && let Some(commit) = root_commit(&repository.work_tree) {
        keys.push(format!("root:{commit}"));
    }
    keys.push(format!("git:{}", redact_folder(&repository.common.to_string_lossy())));
    keys.push(own_key);
    Some(ProjectIdentity {
        keys,
        name,
        root: repository.work_tree,
    })
}

/// The key of a folder by itself.
fn own_key(cwd: &str) -> String {
    format!("cwd:{}", redact_folder(cwd))
}

/// A project that no episode has: that of a folder in which nothing was remembered yet.
pub(crate) const UNKNOWN: ProjectId = ProjectId(-1);

/// Folders that are looked at for prompts at a time: what hangs, as on a mount whose server is gone, may take no more threads.
const MOST_LOOKS: usize = 4;

/// Finds the project of a prompt's folder by what the store knows: for whoever can't wait for a file system that hangs.
#[derive(Debug, Default)]
pub(crate) struct Folders {
    home: Option<PathBuf>,
    /// Held by each look in progress.
    looks: Arc<()>,
}

impl Folders {
    /// Folders of the user whose home is `home`, which is no project.
    pub(crate) fn new(home: Option<PathBuf>) -> Self {
        Self {
            home,
            looks: Arc::default(),
        }
    }

    /// What git and the file system tell of `cwd`, `None` where it is no project, and whether they tell: where they don't answer, as
    /// on a mount whose server is gone, it is the folder alone. May start a process.
    pub(crate) fn identify(&self, cwd: &str) -> (Option<ProjectIdentity>, bool) {
        let (folder, home) = (PathBuf::from(cwd), self.home.clone());
        match self.within(LOOK_PATIENCE, move || identify(&folder, home.as_deref(), true)) {
            Some(told) => (told, true),
            None => (ProjectIdentity::of_folder_alone(cwd), false),
        }
    }

    /// Where `cwd` leads, links followed; `None` where that is `cwd` itself, or where the file system did not tell within `patience`.
    pub(crate) fn real(&self, cwd: &str, patience: Duration) -> Option<String> {
        let folder = Some(PathBuf::from(cwd)).filter(|folder| folder.is_absolute())?;
        let real = self.within(patience, move || paths::resolved(&folder).ok()).flatten()?;
        Some(real.to_string_lossy().into_owned()).filter(|real| real != cwd)
    }

    /// The project of `cwd`: `None` where `cwd` is no project, [`UNKNOWN`] where nothing was remembered of it, or where the
    /// file system did not tell within `patience`. Starts no process.
    ///
    /// # Errors
    /// The store's error.
    pub(crate) fn project(&self, reader: &Reader, cwd: &str, patience: Duration) -> Result<Option<ProjectId>, QueryError> {
        // As that of a turn in it is known.
        let cwd = kept_folder(cwd).unwrap_or_else(|| cwd.to_owned());
        if let Some(project) = reader.project_by_key(&own_key(&cwd))? {
            return Ok(Some(project));
        }
        let (folder, home) = (PathBuf::from(cwd), self.home.clone());
        let identity = match self.within(patience, move || identify(&folder, home.as_deref(), false)) {
            None => return Ok(Some(UNKNOWN)),
            Some(None) => return Ok(None),
            Some(Some(identity)) => identity,
        };
        for key in &identity.keys {
            if let Some(project) = reader.project_by_key(key)? {
                return Ok(Some(project));
            }
        }
        Ok(Some(UNKNOWN))
    }

    /// The keys by which a project of `cwd` is known; none where it is no project, or where the file system did not tell within
    /// `patience`. Starts no process.
    #[cfg(feature = "share")]
    pub(crate) fn keys(&self, cwd: &str, patience: Duration) -> Vec<String> {
        let folder = PathBuf::from(kept_folder(cwd).unwrap_or_else(|| cwd.to_owned()));
        let home = self.home.clone();
        let identity = self.within(patience, move || identify(&folder, home.as_deref(), false));
        identity.flatten().map_or_else(Vec::new, |identity| identity.keys)
    }

    /// What `look` gives, on a thread that is left behind where it takes longer than `patience`; `None` then, and where as
    /// many as may be were left behind before and have not ended.
    pub(crate) fn within<T: Send + 'static>(&self, patience: Duration, look: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        if Arc::strong_count(&self.looks) > MOST_LOOKS {
            return None;
        }
        let (sender, receiver) = mpsc::channel();
        let in_progress = Arc::clone(&self.looks);
        let looking = std::thread::Builder::new().name("folder-look".to_owned()).spawn(move || {
            // Whoever asked may have lost patience.
            sender.send(look()).ok();
            drop(in_progress);
        });
        looking.ok().and_then(|_| receiver.recv_timeout(patience).ok())
    }
}

/// The last name of a folder's redacted path.
fn name_of(folder: &Path) -> String {
    let folder = redact_folder(&folder.to_string_lossy()).into_owned();
    let name = Path::new(&folder).file_name().map(|name| name.to_string_lossy().into_owned());
    name.unwrap_or(folder)
}

struct Repository {
    work_tree: PathBuf,
    common: PathBuf,
}

impl Repository {
    /// The repository that `folder` lies in, unless that is the home folder's own (a repository of dot files).
    fn around(folder: &Path, home: Option<&Path>) -> Option<Self> {
        folder
            .ancestors()
            .take_while(|ancestor| home != Some(*ancestor))
            .find_map(Self::at)
    }

    fn at(work_tree: &Path) -> Option<Self> {
        let dot_git = work_tree.join(".git");
        let metadata = fs_err::metadata(&dot_git).ok()?;
        let git = if metadata.is_dir() {
            dot_git
        } else {
            linked_git_folder(work_tree, &dot_git)?
        };
        let common =
            read_text(&git.join("commondir")).map_or_else(|_| git.clone(), |relative| normalise(&git.join(relative.trim())));
        Some(Self {
            work_tree: work_tree.to_owned(),
            common,
        })
    }

    fn origin(&self) -> Option<String> {
        let config = read_text(&self.common.join("config")).ok()?;
        let mut in_origin = false;
        for line in config.lines().map(str::trim) {
            if line.starts_with('[') {
                in_origin = line.replace(' ', "") == "[remote\"origin\"]";
            } else if in_origin
                && let Some((key, value)) = line.split_once('=')
                && key.trim() == "url"
            {
                return Some(value.trim().to_owned());
            }
        }
        None
    }
}

/// Follows a worktree's `.git` file (`gitdir: …`, absolute or relative).
fn linked_git_folder(work_tree: &Path, dot_git: &Path) -> Option<PathBuf> {
    let text = read_text(dot_git).ok()?;
    let target = text.strip_prefix("gitdir:")?.trim();
    Some(normalise(&work_tree.join(target)))
}

/// Resolves links and `..` where the path exists, and `..` alone where it doesn't.
fn normalise(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    let mut parts = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => {
                parts.pop();
            }
            std::path::Component::CurDir => {}
            other => parts.push(other),
        }
    }
    parts
}

/// `host/owner/name`, in lower case, without scheme, credentials, port, `.git`; `None` for a local path.
fn normalise_url(url: &str) -> Option<String> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let is_url = url.contains("://") && !url.starts_with("file://");
    let (host, path) = if is_url {
        rest.split_once('/')?
    } else {
        rest.split_once(':')?
    };
    let host = host.rsplit('@').next()?.split(':').next()?;
    if host.is_empty() || host.contains(['/', '\\']) || host.len() == 1 {
        return None;
    }
    let path = path.trim_matches('/').trim_end_matches(".git").trim_end_matches('/');
    (!path.is_empty()).then(|| format!("{host}/{path}").to_lowercase())
}

fn root_commit(work_tree: &Path) -> Option<String> {
    let told = git::ask(work_tree, &["rev-list", "--max-parents=0", "--max-count=1", "HEAD"], None)?;
    let commit = told.trim();
    (commit.len() >= 40).then(|| commit.to_owned())
}

fn holds_several_repositories(folder: &Path) -> bool {
    let Ok(entries) = fs_err::read_dir(folder) else { return false };
    entries
        .flatten()
        .take(500)
        .filter(|entry| entry.path().join(".git").exists())
        .take(SEVERAL)
        .count()
        == SEVERAL
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::https("https://github.com/Owner/Name.git", Some("github.com/owner/name"))]
    #[case::credentials("https://user:secret@git.example.org/a/b", Some("git.example.org/a/b"))]
    #[case::port("ssh://git@git.example.org:2222/a/b.git", Some("git.example.org/a/b"))]
    #[case::scp("git@github.com:owner/name.git", Some("github.com/owner/name"))]
    #[case::local("/srv/git/name.git", None)]
    #[case::file("file:///srv/git/name.git", None)]
    #[case::drive("C:/work/name", None)]
    fn urls(#[case] url: &str, #[case] expected: Option<&str>) {
        assert_eq!(normalise_url(url).as_deref(), expected);
    }

    fn repository(folder: &Path, origin: Option<&str>) {
        fs_err::create_dir_all(folder.join(".git")).unwrap();
        let config = origin.map_or(String::new(), |url| {
            format!("[core]\n\tbare = false\n[remote \"origin\"]\n\turl = {url}\n")
        });
        fs_err::write(folder.join(".git/config"), config).unwrap();
    }

    #[test]
    fn two_clones_of_one_origin_are_one_project() {
        let place = tempfile::tempdir().unwrap();
        repository(&place.path().join("a"), Some("https://x:y@example.org/o/shop.git"));
        repository(&place.path().join("b"), Some("git@example.org:o/shop.git"));
        let first = identify(&place.path().join("a"), None, false).unwrap();
        let second = identify(&place.path().join("b"), None, false).unwrap();
        assert_eq!(first.keys[0], second.keys[0]);
        assert_eq!(first.name, "shop");
        assert!(!first.keys.iter().any(|key| key.contains("x:y")));
    }

    #[test]
    fn tc_34_a_worktree_with_a_relative_gitdir_joins_its_repository() {
        let place = tempfile::tempdir().unwrap();
        let main = place.path().join("main");
        repository(&main, None);
        let linked = main.join(".git/worktrees/fix");
        fs_err::create_dir_all(&linked).unwrap();
        fs_err::write(linked.join("commondir"), "../..\n").unwrap();
        let tree = place.path().join("fix");
        fs_err::create_dir_all(tree.join("src")).unwrap();
        fs_err::write(tree.join(".git"), "gitdir: ../main/.git/worktrees/fix\n").unwrap();
        let main_key = identify(&main, None, false).unwrap().keys.remove(0);
        let tree_key = identify(&tree.join("src"), None, false).unwrap().keys.remove(0);
        assert_eq!(
            normalise(Path::new(main_key.strip_prefix("git:").unwrap())),
            Path::new(tree_key.strip_prefix("git:").unwrap())
        );
    }

    #[test]
    fn tc_47_home_and_a_parent_of_several_repositories_are_no_project() {
        let place = tempfile::tempdir().unwrap();
        let home = place.path().join("home");
        repository(&home.join("work/a"), None);
        repository(&home.join("work/b"), None);
        repository(&home, None);
        assert_eq!(identify(&home, Some(&home), false), None);
        assert_eq!(identify(&home.join("work"), Some(&home), false), None);
        assert!(identify(&home.join("work/a"), Some(&home), false).is_some());
    }

    #[test]
    fn tc_47_a_clone_under_another_name_is_known_by_its_first_commit() {
        let place = tempfile::tempdir().unwrap();
        let git = |folder: &Path, arguments: &[&str]| {
            let mut git = std::process::Command::new("git");
            git.arg("-C")
                .arg(folder)
                .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]);
            let output = git.args(arguments).output().unwrap();
            assert!(
                output.status.success(),
                "{arguments:?}: {}",
                String::from_utf8_lossy(&output.stderr)
            );
        };
        let first = place.path().join("shop");
        fs_err::create_dir(&first).unwrap();
        git(&first, &["init", "--quiet"]);
        git(&first, &["commit", "--quiet", "--allow-empty", "--message", "begin"]);
        let second = place.path().join("copied");
        git(place.path(), &["clone", "--quiet", "shop", "copied"]);
        git(&second, &["remote", "remove", "origin"]);
        let keys = |folder: &Path| identify(folder, None, true).unwrap().keys;
        assert!(keys(&first)[0].starts_with("root:"), "{:?}", keys(&first));
        assert_eq!(keys(&first)[0], keys(&second)[0]);
        assert!(keys(&first)[1..].iter().all(|key| !keys(&second).contains(key)));
    }

    #[test]
    fn a_look_that_hangs_is_left_behind_and_so_are_only_a_few() {
        let folders = Folders::default();
        let (release, held) = mpsc::channel::<()>();
        let held = Arc::new(std::sync::Mutex::new(held));
        for _ in 0..MOST_LOOKS {
            let held = Arc::clone(&held);
            let look = move || held.lock().is_ok_and(|held| held.recv().is_ok());
            assert_eq!(folders.within(Duration::ZERO, look), None);
        }
        let patience = Duration::from_mins(1);
        assert_eq!(folders.within(patience, || 1), None, "as many as may be hang");
        drop(release);
        let patience_ends = remembrancer_processor::Deadline::after(patience);
        while Arc::strong_count(&folders.looks) > 1 {
            assert!(!patience_ends.has_passed());
            std::thread::yield_now();
        }
        assert_eq!(folders.within(patience, || 1), Some(1));
    }

    #[test]
    fn no_key_and_no_name_of_a_project_holds_a_secret() {
        let token = format!("gh{}_{}", 'p', "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join(&token).join("shop");
        repository(&folder, Some(&format!("https://example.org/{token}/{token}.git")));
        for identity in [
            identify(&folder, None, false).unwrap(),
            identify(Path::new(&format!("/gone/{token}")), None, false).unwrap(),
        ] {
            let told = format!("{:?} {}", identity.keys, identity.name).to_lowercase();
            assert!(!told.contains(&token.to_lowercase()), "{told}");
            assert!(told.contains("[redacted:github-token]"), "{told}");
        }
        let of_a_remote = identify(&folder, None, false).unwrap();
        assert_eq!(
            identify(&folder, None, false).unwrap(),
            of_a_remote,
            "it is the same at every look"
        );
        assert_eq!(of_a_remote.root, folder, "files are written there");
    }

    #[rstest]
    #[case::relative("src")]
    #[case::windows("C:\\code\\shop")]
    #[case::empty("")]
    fn what_is_no_whole_path_is_no_project(#[case] cwd: &str) {
        assert_eq!(identify(Path::new(cwd), None, false), None);
    }

    #[test]
    fn a_folder_that_is_gone_is_its_own_project() {
        let identity = identify(Path::new("/gone/for good/shop"), None, true).unwrap();
        assert_eq!(
            ProjectIdentity::of_folder_alone("/gone/for good/shop"),
            Some(identity.clone())
        );
        assert_eq!(
            (identity.name.as_str(), identity.keys.as_slice()),
            ("shop", &["cwd:/gone/for good/shop".to_owned()][..])
        );
    }
}
