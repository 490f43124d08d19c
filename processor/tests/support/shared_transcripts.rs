//! The public transcripts below `$REMEMBRANCER_SHARED/transcripts`, read as if they lay in a home folder. Where there are
//! none, each test says that it is skipped.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use remembrancer_processor::ingest::{Advance, Agent, ResumePoint, Shape, SourceReader, Turn};
use remembrancer_schema::UnixMillis;

/// When files were last written, where nothing in them tells.
pub(crate) const MODIFIED: UnixMillis = UnixMillis(1_700_000_000_000);

/// The transcripts of one agent.
pub(crate) struct Transcripts {
    agent: Agent,
    folder: PathBuf,
}

impl Transcripts {
    /// Those of the agent with this id, in the folder of this name.
    pub(crate) fn of(id: &str, folder: &str) -> Self {
        let shared = std::env::var_os("REMEMBRANCER_SHARED").map_or_else(
            || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared")),
            PathBuf::from,
        );
        Self {
            agent: Agent::parse(id).expect("a known agent"),
            folder: shared.join("transcripts").join(folder),
        }
    }

    /// Every file with one of these extensions, by its path below the folder.
    pub(crate) fn files(&self, extensions: &[&str]) -> Vec<String> {
        let mut found = Vec::new();
        let mut folders = vec![self.folder.clone()];
        while let Some(folder) = folders.pop() {
            let Ok(entries) = fs_err::read_dir(&folder) else { continue };
            for path in entries.flatten().map(|entry| entry.path()) {
                let is_wanted = |wanted: &&str| path.extension().is_some_and(|extension| extension == *wanted);
                if path.is_dir() {
                    folders.push(path);
                } else if extensions.iter().any(is_wanted) {
                    found.push(
                        path.strip_prefix(&self.folder)
                            .expect("below")
                            .to_str()
                            .expect("text")
                            .to_owned(),
                    );
                }
            }
        }
        found.sort();
        if found.is_empty() {
            report(&format!("skipped: no transcripts under {}", self.folder.display()));
        }
        found
    }

    /// The bytes of a file below the folder.
    pub(crate) fn content(&self, file: &str) -> Option<Vec<u8>> {
        let content = fs_err::read(self.folder.join(file)).ok();
        if content.is_none() {
            report(&format!("skipped: {} is not there", self.folder.join(file).display()));
        }
        content
    }

    /// What is read of a file below the folder that would lie at `place` in a home.
    pub(crate) fn read(&self, file: &str, place: &str) -> Option<Advance> {
        Some(self.read_bytes(&self.content(file)?, place))
    }

    /// What is read of a transcript that would lie at `place` in a home.
    pub(crate) fn read_bytes(&self, content: &[u8], place: &str) -> Advance {
        let path = Path::new("/home/ada").join(place);
        let info = self.agent.source(&path, MODIFIED, &|_| None);
        let mut reader = SourceReader::new(&info, ResumePoint::default());
        match self.agent.shape(&path).expect("a transcript's place") {
            Shape::Lines => {
                reader.push(content);
                if !content.ends_with(b"\n") {
                    reader.push(b"\n");
                }
            }
            Shape::Document | Shape::Database(_) => reader.document(content),
            Shape::Archive => reader.archive(content),
        }
        reader.drain()
    }

    /// Reads every file with one of these extensions, says what came of them, and gives the number of turns. `place` is where
    /// one would lie in a home.
    pub(crate) fn read_all(&self, extensions: &[&str], place: impl Fn(&str) -> String) -> usize {
        let (mut files, mut records, mut turns) = (0, 0, 0);
        let mut sessions: BTreeMap<String, usize> = BTreeMap::new();
        let mut problems: BTreeMap<String, usize> = BTreeMap::new();
        for file in self.files(extensions) {
            let advance = self.read(&file, &place(&file)).expect("it was listed");
            files += 1;
            records += advance.records;
            turns += advance.turns.len();
            for turn in advance.turns {
                *sessions.entry(turn.session).or_default() += 1;
            }
            for problem in advance.problems {
                *problems.entry(problem.kind.as_str().into_owned()).or_default() += 1;
            }
        }
        let sessions = sessions.len();
        report(&format!(
            "{:?}: {files} files, {records} records, {sessions} sessions, {turns} turns, problems: {problems:?}",
            self.agent
        ));
        turns
    }
}

/// The prompts of turns.
pub(crate) fn prompts(turns: &[Turn]) -> Vec<&str> {
    turns.iter().map(|turn| turn.prompt.as_str()).collect()
}

/// The kinds of what could not be read.
pub(crate) fn problems(advance: &Advance) -> Vec<String> {
    advance
        .problems
        .iter()
        .map(|problem| problem.kind.as_str().into_owned())
        .collect()
}

/// The name of a file in its folder.
pub(crate) fn name(file: &str) -> &str {
    file.rsplit('/').next().expect("a last part")
}

#[expect(clippy::print_stderr, reason = "a test says what it read, or why it skips")]
fn report(text: &str) {
    eprintln!("{text}");
}
