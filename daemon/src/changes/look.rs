//! A look at the files below a project's folder: the file system and git are asked, off every path on which somebody waits.
//!
//! In go the paths and what was known before, out comes what is known now; nothing where the folder itself can't be looked at. Git is
//! asked by `git`, so that nothing that the repository names is run: for the names in its last commits, and for what its index holds
//! of the files. Contents are never read: a file is that of its last commit where its size and time are those of the index.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::Metadata;
use std::path::Path;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use remembrancer_processor::recall::MOST_COMMITS;
use remembrancer_schema::UnixMillis;

use super::known::{FileState, Known, Presence};
use super::paths::below;
use crate::files::means_gone;
use crate::git;

/// Commits that are looked through: of what is older nothing is said.
const COMMITS: usize = 2_000;
/// Files that git is asked about at once: a command line holds them in any case.
const AT_ONCE: usize = 200;
/// What begins a commit in the list that git is asked for.
const COMMIT: char = '\u{1}';

/// What is to be looked at.
#[derive(Debug)]
pub(super) struct Wanted {
    /// The project's folder.
    pub(super) root: String,
    /// Whole paths of files below it.
    pub(super) paths: Vec<String>,
    /// When the oldest episode that speaks of them began.
    pub(super) oldest: UnixMillis,
    /// What was known before.
    pub(super) before: Arc<Known>,
    /// The time of the look.
    pub(super) now: UnixMillis,
}

/// What a repository tells of the files below its folder.
struct Repository {
    /// The commits of each, the newest first; `None` where git did not tell.
    commits: Option<BTreeMap<String, Vec<UnixMillis>>>,
    /// What the index holds of each; `None` where git did not tell.
    index: Option<HashMap<String, Tracked>>,
}

/// A file in git's index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Tracked {
    /// Size and time of writing, in seconds since the epoch, when it was that of the index.
    size: u64,
    written: i64,
    /// Whether git keeps it out of the working tree.
    skipped: bool,
}

impl Tracked {
    /// Whether the file is as it was then.
    fn is(self, metadata: &Metadata) -> bool {
        written(metadata).is_some_and(|at| at.0.div_euclid(1_000) == self.written) && metadata.len() == self.size
    }
}

/// Looks at the files. `None` where their folder is not there.
pub(super) fn look(wanted: &Wanted) -> Option<Known> {
    let root = Path::new(&wanted.root);
    if !fs_err::metadata(root).is_ok_and(|metadata| metadata.is_dir()) {
        return None;
    }
    let names: HashSet<&str> = wanted.paths.iter().filter_map(|path| below(&wanted.root, path)).collect();
    let is_repository = root.join(".git").exists();
    let repository = is_repository.then(|| Repository {
        commits: commits(root, &names, wanted.oldest),
        index: index(root, &names),
    });
    let mut nested = Nested::default();
    let found = |path: &String| {
        let name = below(&wanted.root, path)?;
        if nested.lies_in_another(root, name) {
            return None;
        }
        let before = wanted.before.of(path).map(|state| (state, wanted.before.at));
        Some((path.clone(), state(Path::new(path), name, repository.as_ref(), before)?))
    };
    Some(Known {
        at: wanted.now,
        files: wanted.paths.iter().filter_map(found).collect(),
    })
}

/// What is known of one file; `None` where it is nothing.
fn state(
    path: &Path,
    name: &str,
    repository: Option<&Repository>,
    before: Option<(&FileState, UnixMillis)>,
) -> Option<FileState> {
    let commits = repository
        .and_then(|repository| repository.commits.as_ref()?.get(name).cloned())
        .unwrap_or_default();
    let tracked = repository.and_then(|repository| repository.index.as_ref()?.get(name).copied());
    if tracked.is_some_and(|tracked| tracked.skipped) {
        return None;
    }
    let presence = match fs_err::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() => {
            // Where there is git and it did not tell, a file's time may be that of a checkout.
            let is_unsure = repository.is_some_and(|repository| repository.index.is_none());
            let is_committed = tracked.is_some_and(|tracked| tracked.is(&metadata));
            let written = if is_unsure || is_committed { None } else { written(&metadata) };
            Presence::There { written }
        }
        Err(error) if means_gone(&error) => Presence::Gone {
            until: until(tracked.is_some(), &commits, before)?,
        },
        // A folder, a link, or what can't be looked at.
        _ => return None,
    };
    Some(FileState { commits, presence })
}

/// Until when a file that is not there was; `None` where nothing tells that it ever was. That git still holds it tells that it went
/// without a commit, at a time that nothing tells.
fn until(is_tracked: bool, commits: &[UnixMillis], before: Option<(&FileState, UnixMillis)>) -> Option<UnixMillis> {
    if is_tracked {
        return Some(UnixMillis(i64::MAX));
    }
    let seen = before.map(|(state, at)| match state.presence {
        Presence::There { .. } => at,
        Presence::Gone { until } => until,
    });
    // Where a commit took it away, it is the last that touched it.
    seen.max(commits.first().copied())
}

fn written(metadata: &Metadata) -> Option<UnixMillis> {
    let since = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_millis()).ok().map(UnixMillis)
}

/// When the commits since `oldest` were written that touched these files. The time of writing is that of the change itself, which a
/// rebase leaves alone.
fn commits(root: &Path, names: &HashSet<&str>, oldest: UnixMillis) -> Option<BTreeMap<String, Vec<UnixMillis>>> {
    let (since, most) = (
        format!("--since=@{}", oldest.0.div_euclid(1_000).max(0)),
        format!("--max-count={COMMITS}"),
    );
    let told = git::ask(
        root,
        &[
            "log",
            "-z",
            "--no-renames",
            "--name-only",
            "--format=%x01%at",
            &since,
            &most,
            "HEAD",
            "--",
        ],
        None,
    )?;
    Some(read_commits(&told, names))
}

fn read_commits(told: &str, names: &HashSet<&str>) -> BTreeMap<String, Vec<UnixMillis>> {
    let mut commits: BTreeMap<String, Vec<UnixMillis>> = BTreeMap::new();
    let mut at = None;
    let mut is_first = false;
    for part in told.split('\0') {
        if let Some(time) = part.strip_prefix(COMMIT) {
            at = time.trim().parse::<i64>().ok().and_then(|seconds| seconds.checked_mul(1_000));
            is_first = true;
            continue;
        }
        // A line's end stands between a commit and its first file.
        let name = if is_first {
            part.strip_prefix('\n').unwrap_or(part)
        } else {
            part
        };
        is_first = false;
        if let (Some(at), true) = (at, names.contains(name)) {
            let of_file = commits.entry(name.to_owned()).or_default();
            if of_file.len() < MOST_COMMITS as usize {
                of_file.push(UnixMillis(at));
            }
        }
    }
    for of_file in commits.values_mut() {
        // The order of commits is not that in which they were written.
        of_file.sort_unstable_by(|a, b| b.cmp(a));
    }
    commits
}

/// What git's index holds of these files.
fn index(root: &Path, names: &HashSet<&str>) -> Option<HashMap<String, Tracked>> {
    let mut names: Vec<&str> = names.iter().copied().collect();
    names.sort_unstable();
    let mut index = HashMap::new();
    for some in names.chunks(AT_ONCE) {
        let mut arguments = vec!["--literal-pathspecs", "ls-files", "-z", "-t", "--debug", "--"];
        arguments.extend(some);
        index.extend(read_index(&git::ask(root, &arguments, None)?));
    }
    Some(index)
}

/// Reads `H name`, a zero byte, and lines of `key: value` behind each; what is not of this form is passed over.
fn read_index(told: &str) -> Vec<(String, Tracked)> {
    let mut entries = Vec::new();
    let mut parts = told.split('\0');
    let mut heading = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        // The next file stands behind the line of the flags.
        let end = part.find("flags: ").and_then(|at| Some(at + part[at..].find('\n')? + 1));
        let (values, next) = part.split_at(end.unwrap_or(part.len()));
        let value = |key: &str| {
            let value = &values[values.find(key)? + key.len()..];
            let digits = value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len());
            value[..digits].parse::<u64>().ok()
        };
        if let (Some((tag, name)), Some(size), Some(written)) = (heading.split_once(' '), value("size: "), value("mtime: ")) {
            let tracked = Tracked {
                size,
                written: i64::try_from(written).unwrap_or(i64::MAX),
                skipped: tag.eq_ignore_ascii_case("s"),
            };
            entries.push((name.to_owned(), tracked));
        }
        next.clone_into(&mut heading);
    }
    entries
}

/// Which folders below a project's hold repositories of their own, of which the project's git knows nothing.
#[derive(Debug, Default)]
struct Nested(BTreeMap<String, bool>);

impl Nested {
    /// Whether the file `name` below `root` lies in another repository.
    fn lies_in_another(&mut self, root: &Path, name: &str) -> bool {
        let mut folders = name.match_indices('/').map(|(at, _)| &name[..at]);
        folders.any(|folder| {
            let known = self.0.get(folder).copied();
            known.unwrap_or_else(|| {
                let is_one = fs_err::symlink_metadata(root.join(folder).join(".git")).is_ok();
                self.0.insert(folder.to_owned(), is_one);
                is_one
            })
        })
    }
}

#[cfg(test)]
mod tests;
