//! The folders with transcripts, and whose they are.

use std::path::{Path, PathBuf};

use remembrancer_processor::ingest::{Agent, Shape};

/// A folder below which an agent's transcripts lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Root {
    /// Whose.
    pub agent: Agent,
    /// The folder, whether it exists or not.
    pub folder: PathBuf,
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
        self.folders().any(|root| path.starts_with(root) || root.starts_with(path))
    }

    /// The path by which a look at everything comes to the file at `path`, which may lead over links or `..`, or past a link by
    /// which a root is named. `None` where it does not come to it: where the file lies below no root once links are followed. One
    /// that is gone stands as it is written.
    pub(crate) fn as_scanned(&self, path: PathBuf) -> Option<PathBuf> {
        let named = self.folders().find(|root| path.starts_with(root));
        let Ok(real) = path.canonicalize() else {
            return named.map(|_| path);
        };
        // The root that names it is asked first: of two that lead to one place, its own.
        named.into_iter().chain(self.folders()).find_map(|root| {
            let below = real.strip_prefix(root.canonicalize().ok()?).ok()?;
            Some(root.join(below))
        })
    }

    /// Whether the file at `path` is a transcript of this agent that lies in none of the folders, although others of the agent's are
    /// read. It is looked for and not opened.
    pub(crate) fn lack(&self, agent: Agent, path: &Path) -> bool {
        let reads = self.iter().any(|root| root.agent == agent);
        reads && agent.shape(path).is_some() && path.is_file() && self.as_scanned(path.to_owned()).is_none()
    }

    /// Whose transcript the file at `path` is, and how it grows; `None` where it is none.
    pub(crate) fn claim(&self, path: &Path) -> Option<(Agent, Shape)> {
        self.0
            .iter()
            .filter(|root| path.starts_with(&root.folder))
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
}
