//! What a home must hold after a fault: every episode once, a whole database, no remains of a write.

use std::path::PathBuf;

use crate::sandbox::Sandbox;

/// What is wrong with a home.
#[derive(Debug, Default)]
pub struct Home {
    /// Episodes that were written and are not there.
    pub lost: usize,
    /// Episodes that are there more than once, or that nobody wrote.
    pub doubled: usize,
    /// All else.
    pub faults: Vec<String>,
}

impl Home {
    /// Looks at the home of `sandbox`, of which the transcripts hold the prompts `expected`, sorted.
    ///
    /// # Panics
    /// Where the store can't be read although nothing fails any more.
    pub fn look(sandbox: &Sandbox, expected: &[String]) -> Self {
        let mut home = Self::default();
        let found = sandbox.prompts();
        home.lost = expected.iter().filter(|prompt| found.binary_search(prompt).is_err()).count();
        home.doubled = (found.len() + home.lost).saturating_sub(expected.len());
        let reader = sandbox.reader();
        for finding in reader.damages().unwrap() {
            home.faults.push(format!("database: {finding}"));
        }
        let indexed = reader.indexed_episodes().unwrap();
        if indexed != found.len() as u64 {
            home.faults
                .push(format!("{indexed} of {} episodes are in the index", found.len()));
        }
        home.faults.extend(
            remains(sandbox)
                .into_iter()
                .map(|path| format!("left behind: {}", path.display())),
        );
        home
    }
}

/// Temporary files below the home.
fn remains(sandbox: &Sandbox) -> Vec<PathBuf> {
    let entries = walkdir::WalkDir::new(sandbox.home()).into_iter().flatten();
    let temporary = entries.filter(|entry| entry.path().extension().is_some_and(|extension| extension == "tmp"));
    temporary.map(walkdir::DirEntry::into_path).collect()
}
