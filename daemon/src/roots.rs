//! The folders with transcripts, and whose they are. A session in a database has a path of its own: below the database, where
//! no file can lie.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use remembrancer_processor::ingest::{Agent, Shape};
use remembrancer_schema::Layout;

/// A folder below which an agent's transcripts lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Root {
    /// Whose.
    pub agent: Agent,
    /// The folder, whether it exists or not.
    pub folder: PathBuf,
    /// Whether only its own files may be transcripts, and not what lies deeper; then it may be such a file itself.
    pub flat: bool,
}

impl Root {
    /// Whether a transcript may lie at `path` for its sake.
    fn holds(&self, path: &Path) -> bool {
        if self.flat {
            path == self.folder || path.parent() == Some(&self.folder)
        } else {
            path.starts_with(&self.folder)
        }
    }
}

/// A session in a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Session {
    /// Whose.
    pub agent: Agent,
    /// The database.
    pub database: PathBuf,
    /// What tables it has.
    pub layout: Layout,
    /// Its id there.
    pub id: String,
}

/// The path of the session with this id in a database.
pub(crate) fn session_path(database: &Path, id: &str) -> PathBuf {
    let mut path = OsString::from(database);
    path.push("/");
    path.push(id);
    path.into()
}

/// All folders with transcripts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Roots(Vec<Root>);

impl Roots {
    /// The folders, the first that claims a file having it.
    pub(crate) fn new(roots: Vec<Root>) -> Self {
        Self(roots)
    }

    /// The folders, in order.
    pub(crate) fn folders(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().map(|root| root.folder.as_path())
    }

    /// Each folder with its agent.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Root> {
        self.0.iter()
    }

    /// Whether what happens at `path` may concern a root: it lies below one, or one lies below it.
    pub(crate) fn concern(&self, path: &Path) -> bool {
        self.0.iter().any(|root| root.holds(path) || root.folder.starts_with(path))
    }

    /// The path by which a look at everything comes to the file at `path`, which may lead over links or `..`, or past a link by
    /// which a root is named. `None` where it does not come to it: where the file lies below no root once links are followed. One
    /// that is gone stands as it is written.
    pub(crate) fn as_scanned(&self, path: PathBuf) -> Option<PathBuf> {
        let named = self.0.iter().find(|root| root.holds(&path));
        let Ok(real) = path.canonicalize() else {
            return named.map(|_| path);
        };
        // The root that names it is asked first: of two that lead to one place, its own.
        named.into_iter().chain(&self.0).find_map(|root| {
            let below = real.strip_prefix(root.folder.canonicalize().ok()?).ok()?;
            // A root may be a file itself, which takes no slash behind it.
            let scanned = if below.as_os_str().is_empty() {
                root.folder.clone()
            } else {
                root.folder.join(below)
            };
            root.holds(&scanned).then_some(scanned)
        })
    }

    /// Whether the file at `path` is a transcript of this agent that lies in none of the folders, although others of the agent's are
    /// read. It is looked for and not opened.
    pub(crate) fn lack(&self, agent: Agent, path: &Path) -> bool {
        let reads = self.iter().any(|root| root.agent == agent);
        reads && agent.shape(path).is_some() && path.is_file() && self.as_scanned(path.to_owned()).is_none()
    }

    /// The transcript that a change of the file at `path` is one of: the file itself, or the database whose log it is.
    pub(crate) fn changed_by(&self, path: PathBuf) -> Option<PathBuf> {
        if self.claim(&path).is_some() {
            return Some(path);
        }
        let database = PathBuf::from(path.to_str()?.strip_suffix("-wal")?);
        matches!(self.claim(&database), Some((_, Shape::Database(_)))).then_some(database)
    }

    /// The session that `path` names, if it does.
    pub(crate) fn session(&self, path: &Path) -> Option<Session> {
        path.ancestors().skip(1).find_map(|above| {
            let (agent, Shape::Database(layout)) = self.claim(above)? else {
                return None;
            };
            let id = path.to_str()?.strip_prefix(above.to_str()?)?.strip_prefix('/')?;
            Some(Session {
                agent,
                database: above.to_owned(),
                layout,
                id: id.to_owned(),
            })
        })
    }

    /// Whether only a root's own files are looked at.
    pub(crate) fn is_flat(&self, folder: &Path) -> bool {
        let mut roots = self.0.iter().filter(|root| root.folder == folder).peekable();
        roots.peek().is_some() && roots.all(|root| root.flat)
    }

    /// Whose transcript the file at `path` is, and how it grows; `None` where it is none.
    pub(crate) fn claim(&self, path: &Path) -> Option<(Agent, Shape)> {
        self.0
            .iter()
            .filter(|root| root.holds(path))
            .find_map(|root| Some((root.agent, root.agent.shape(path)?)))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::claude("/h/.claude/projects/-x/s.jsonl", Some("claude-code"))]
    #[case::codex("/h/.codex/sessions/2026/03/01/rollout-2026-03-01T11-00-00-s.jsonl", Some("codex"))]
    #[case::no_transcript("/h/.codex/sessions/notes.md", None)]
    #[case::outside("/h/elsewhere/s.jsonl", None)]
    fn a_file_is_its_agents(#[case] path: &str, #[case] agent: Option<&str>) {
        let root = |id: &str, folder: &str| Root {
            agent: Agent::parse(id).unwrap(),
            folder: folder.into(),
            flat: false,
        };
        let roots = Roots::new(vec![
            root("claude-code", "/h/.claude/projects"),
            root("codex", "/h/.codex/sessions"),
        ]);
        assert_eq!(roots.claim(Path::new(path)).map(|(agent, _)| agent.id()), agent);
    }

    #[rstest]
    #[case::as_it_is("root/there/s.jsonl", Some("root/there/s.jsonl"))]
    #[case::up_and_down("root/there/../there/s.jsonl", Some("root/there/s.jsonl"))]
    #[case::over_a_link("root/moved/s.jsonl", Some("root/there/s.jsonl"))]
    #[case::past_the_root_s_link("real/there/s.jsonl", Some("root/there/s.jsonl"))]
    #[case::gone("root/there/gone.jsonl", Some("root/there/gone.jsonl"))]
    #[case::out_by_a_link("root/out/s.jsonl", None)]
    #[case::out_by_a_linked_file("root/s.jsonl", None)]
    #[case::out_by_dots("root/../elsewhere/s.jsonl", None)]
    #[case::outside("elsewhere/s.jsonl", None)]
    fn a_file_has_one_path(#[case] path: &str, #[case] expected: Option<&str>) {
        let place = tempfile::tempdir().unwrap();
        let at = |path: &str| place.path().join(path);
        for folder in ["real/there", "elsewhere"] {
            fs_err::create_dir_all(at(folder)).unwrap();
            fs_err::write(at(folder).join("s.jsonl"), "").unwrap();
        }
        // The root itself may be a link: the scan follows that one.
        let links = [
            ("root", "real"),
            ("real/moved", "real/there"),
            ("real/out", "elsewhere"),
            ("real/s.jsonl", "elsewhere/s.jsonl"),
        ];
        for (link, target) in links {
            fs_err::os::unix::fs::symlink(at(target), at(link)).unwrap();
        }
        let roots = Roots::new(vec![Root {
            agent: Agent::CLAUDE_CODE,
            folder: at("root"),
            flat: false,
        }]);
        assert_eq!(roots.as_scanned(at(path)), expected.map(at));
        assert_eq!(
            roots.lack(Agent::CLAUDE_CODE, &at(path)),
            expected.is_none(),
            "what is not read lacks a folder"
        );
        let codex = Agent::parse("codex").unwrap();
        assert!(!roots.lack(codex, &at(path)), "an agent that is not read lacks nothing");
    }

    fn opencode() -> Roots {
        let root = |folder: &str, flat| Root {
            agent: Agent::parse("opencode").unwrap(),
            folder: folder.into(),
            flat,
        };
        Roots::new(vec![
            root("/h/opencode/storage/session", false),
            root("/h/opencode", true),
            root("/srv/mine.db", true),
        ])
    }

    #[rstest]
    #[case::in_it("/h/opencode/opencode-dev.db", Some("/h/opencode/opencode-dev.db"))]
    #[case::its_log("/h/opencode/opencode.db-wal", Some("/h/opencode/opencode.db"))]
    #[case::its_shared_memory("/h/opencode/opencode.db-shm", None)]
    #[case::deeper("/h/opencode/snapshot/x.db", None)]
    #[case::of_the_tree("/h/opencode/storage/session/p/s.json", Some("/h/opencode/storage/session/p/s.json"))]
    #[case::a_file("/srv/mine.db", Some("/srv/mine.db"))]
    #[case::its_log_too("/srv/mine.db-wal", Some("/srv/mine.db"))]
    #[case::beside("/srv/other.db", None)]
    #[case::a_log_of_none("/h/opencode/storage/session/p/s.json-wal", None)]
    fn of_a_flat_root_only_its_own_files_count(#[case] path: &str, #[case] expected: Option<&str>) {
        assert_eq!(opencode().changed_by(path.into()), expected.map(PathBuf::from));
        assert_eq!(
            opencode().concern(Path::new(path)),
            !path.starts_with("/srv/") && !path.contains("snapshot") || path == "/srv/mine.db"
        );
    }

    #[rstest]
    #[case::plain("ses_1")]
    #[case::with_a_slash("a/b")]
    fn a_session_has_a_path_of_its_own(#[case] id: &str) {
        let database = Path::new("/h/opencode/opencode.db");
        let session = opencode().session(&session_path(database, id)).unwrap();
        assert_eq!((session.database.as_path(), session.id.as_str()), (database, id));
        assert_eq!(opencode().session(database), None);
    }
}
