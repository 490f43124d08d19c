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
}
