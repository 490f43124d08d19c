//! The public transcripts below `$REMEMBRANCER_SHARED/transcripts`, read as the daemon would read them. Where there are none,
//! each test says that it is skipped.

use std::path::{Path, PathBuf};

use remembrancer_processor::ingest::{Advance, Agent, ResumePoint, Shape, SourceInfo, SourceReader, Turn};
use remembrancer_schema::UnixMillis;

/// When files were last written, where nothing in them tells.
pub(crate) const MODIFIED: UnixMillis = UnixMillis(1_700_000_000_000);
/// The folder below which samples that lie flat, or under other names, are read as if they lay where the agent writes.
const HOME: &str = "/home/ada";

/// The transcripts of one agent.
pub(crate) struct Transcripts {
    pub(crate) agent: Agent,
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

    /// Every file whose path ends so, by its path below the folder, in order.
    pub(crate) fn files(&self, end: &str) -> Vec<String> {
        let mut found = Vec::new();
        let mut folders = vec![self.folder.clone()];
        while let Some(folder) = folders.pop() {
            let Ok(entries) = fs_err::read_dir(&folder) else { continue };
            for path in entries.flatten().map(|entry| entry.path()) {
                if path.is_dir() {
                    folders.push(path);
                } else if path.to_string_lossy().ends_with(end) {
                    let below = path.strip_prefix(&self.folder).expect("a path below the folder");
                    found.push(below.to_str().expect("a path of text").to_owned());
                }
            }
        }
        found.sort();
        if found.is_empty() {
            report(&format!("skipped: no …{end} under {}", self.folder.display()));
        }
        found
    }

    /// The whole path of a file below the folder.
    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.folder.join(file)
    }

    /// The bytes of a file below the folder.
    pub(crate) fn content(&self, file: &str) -> Option<Vec<u8>> {
        let content = fs_err::read(self.path(file)).ok();
        if content.is_none() {
            report(&format!("skipped: {} is not there", self.path(file).display()));
        }
        content
    }

    /// What is read of every file whose path ends so, as it lies.
    pub(crate) fn read_all(&self, end: &str) -> Vec<Advance> {
        self.samples(end).iter().map(Sample::read).collect()
    }

    /// What is read of a file that would lie at `place` in a home, with nothing beside it.
    pub(crate) fn read_at(&self, file: &str, place: &str) -> Option<Advance> {
        Some(self.read_bytes(&self.content(file)?, place))
    }

    /// What is read of a transcript that would lie at `place` in a home, with nothing beside it.
    pub(crate) fn read_bytes(&self, content: &[u8], place: &str) -> Advance {
        self.read_as(&Path::new(HOME).join(place), content, &|_| None)
    }

    /// What is read of a transcript that would lie at `path`.
    pub(crate) fn read_as(&self, path: &Path, content: &[u8], beside: &Beside<'_>) -> Advance {
        self.sample(path, content.to_owned(), beside).read()
    }

    /// Every file whose path ends so, as it lies.
    pub(crate) fn samples(&self, end: &str) -> Vec<Sample> {
        let sample = |file: &String| Some(self.sample(&self.path(file), self.content(file)?, &beside));
        self.files(end).iter().filter_map(sample).collect()
    }

    /// Every file whose path ends so, as if it lay at its place in a home, with nothing beside it.
    pub(crate) fn samples_at(&self, end: &str, place: fn(&str) -> String) -> Vec<Sample> {
        let at = |file: &str| Path::new(HOME).join(place(file));
        let sample = |file: &String| Some(self.sample(&at(file), self.content(file)?, &|_| None));
        self.files(end).iter().filter_map(sample).collect()
    }

    /// A transcript that would lie at `path`. Lines get the newline that the last may lack.
    pub(crate) fn sample(&self, path: &Path, mut content: Vec<u8>, beside: &Beside<'_>) -> Sample {
        let shape = self.agent.shape(path).unwrap_or_else(|| likely_shape(path));
        if shape == Shape::Lines && !content.ends_with(b"\n") {
            content.push(b'\n');
        }
        Sample {
            path: path.to_owned(),
            info: self.agent.source(path, MODIFIED, beside),
            shape,
            content,
        }
    }
}

/// Reads a file beside a transcript; of a folder, the names in it.
pub(crate) type Beside<'a> = dyn Fn(&Path) -> Option<Vec<u8>> + 'a;

/// A source as the daemon would meet it.
pub(crate) struct Sample {
    pub(crate) path: PathBuf,
    pub(crate) info: SourceInfo,
    pub(crate) shape: Shape,
    pub(crate) content: Vec<u8>,
}

impl Sample {
    /// What it gives, read whole.
    pub(crate) fn read(&self) -> Advance {
        let mut reader = SourceReader::new(&self.info, ResumePoint::default());
        match self.shape {
            Shape::Lines => reader.push(&self.content),
            Shape::Document | Shape::Database(_) => reader.document(&self.content),
            Shape::Archive => reader.archive(&self.content),
        }
        reader.drain()
    }
}

/// How a sample grows that does not lie where its agent would write it.
fn likely_shape(path: &Path) -> Shape {
    if path.extension().is_some_and(|extension| extension == "json") {
        Shape::Document
    } else {
        Shape::Lines
    }
}

/// A file, or the names in a folder, a line each.
pub(crate) fn beside(path: &Path) -> Option<Vec<u8>> {
    if !path.is_dir() {
        return fs_err::read(path).ok();
    }
    let names = fs_err::read_dir(path)
        .ok()?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    Some(names.collect::<Vec<_>>().join("\n").into_bytes())
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
pub(crate) fn report(text: &str) {
    eprintln!("{text}");
}
