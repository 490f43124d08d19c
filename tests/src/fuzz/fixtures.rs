//! The transcripts of the agents' fixtures: what each is, and its bytes as the input of a parser's target.
//!
//! Such an input is one byte that says of which sort of the agent's transcripts it is, and the transcript. Where rows or files of
//! its own belong to one, they follow, each after a NUL byte, and the parts of each after bytes of 1: neither stands in JSON.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use remembrancer_processor::ingest::{Agent, Home, Piece, Shape, SourceInfo};
use remembrancer_schema::{Catalogue, ForeignDatabase, ForeignWriter, UnixMillis};

/// When fixtures were last written, where nothing in them tells.
const MODIFIED: UnixMillis = UnixMillis(1_772_358_000_000);

/// A transcript of a fixture.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) info: SourceInfo,
    pub(super) shape: Shape,
    /// The file's extension, which tells sorts of one shape apart.
    extension: String,
    pub(super) content: Vec<u8>,
}

/// An agent's sorts of transcripts, and all that its fixture has.
#[derive(Debug)]
pub(super) struct Fixture {
    pub(super) agent: Agent,
    /// The first source of each sort, in an order that another fixture does not change.
    pub(super) sorts: Vec<Source>,
    /// Inputs.
    pub(super) inputs: Vec<Vec<u8>>,
}

/// Those of every agent, in the order of the table.
pub(super) static FIXTURES: LazyLock<Vec<Fixture>> = LazyLock::new(|| Agent::ALL.iter().copied().map(fixture).collect());

/// The folder of all fixtures of the processor.
pub(super) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../processor/tests/fixtures")
}

fn fixture(agent: Agent) -> Fixture {
    let home = folder().join("agents").join(agent.id());
    let nothing = |_: &str| None;
    let looked = Home {
        folder: &home,
        variable: &nothing,
    };
    let mut paths: Vec<PathBuf> = agent.folders(&looked).iter().flat_map(|folder| files_below(folder)).collect();
    paths.extend(agent.flat_folders(&looked).iter().flat_map(|folder| files_in(folder)));
    paths.sort();
    paths.dedup();
    let mut sources: Vec<Source> = paths.iter().flat_map(|path| sources(agent, path)).collect();
    sources.sort_by_key(|source| (rank(source.shape), source.extension.clone()));
    let mut sorts: Vec<Source> = Vec::new();
    let mut inputs = Vec::new();
    for source in sources {
        let is_new = sorts
            .last()
            .is_none_or(|last| (last.shape, &last.extension) != (source.shape, &source.extension));
        let sort = if is_new { sorts.len() } else { sorts.len() - 1 };
        inputs.push(input(sort as u8, &source));
        if is_new {
            sorts.push(source);
        }
    }
    assert!(!sorts.is_empty(), "{agent:?} has no fixture below {}", home.display());
    Fixture { agent, sorts, inputs }
}

fn rank(shape: Shape) -> u8 {
    match shape {
        Shape::Lines => 0,
        Shape::Document => 1,
        Shape::Archive => 2,
        Shape::Database(_) => 3,
    }
}

fn input(sort: u8, source: &Source) -> Vec<u8> {
    let mut input = vec![sort];
    input.extend_from_slice(&source.content);
    for piece in &source.info.context.pieces {
        input.push(0);
        input.extend_from_slice(&piece.content);
        for part in &piece.parts {
            input.push(1);
            input.extend_from_slice(part);
        }
    }
    input
}

/// What belongs to a transcript beside its own bytes, read from the rest of an input.
pub(super) fn pieces(rest: &[u8]) -> Vec<Piece> {
    let pieces = rest.split(|byte| *byte == 0).enumerate().map(|(number, piece)| {
        let mut parts = piece.split(|byte| *byte == 1).map(<[u8]>::to_vec);
        Piece {
            name: format!("piece{number}"),
            content: parts.next().unwrap_or_default(),
            parts: parts.collect(),
        }
    });
    pieces.collect()
}

fn sources(agent: Agent, path: &Path) -> Vec<Source> {
    let extension = |path: &Path| path.extension().unwrap_or_default().to_string_lossy().into_owned();
    if extension(path) == "sql"
        && let Some(shape @ Shape::Database(_)) = agent.shape(&path.with_extension(""))
    {
        return sessions(agent, path, shape);
    }
    let source = |shape| Source {
        info: agent.source(path, MODIFIED, &beside),
        shape,
        extension: extension(path),
        content: fs_err::read(path).expect("a fixture's file"),
    };
    agent.shape(path).map(source).into_iter().collect()
}

/// The sessions of the database that a fixture's script makes.
fn sessions(agent: Agent, script: &Path, shape: Shape) -> Vec<Source> {
    let Shape::Database(layout) = shape else { return Vec::new() };
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("made.db");
    ForeignWriter::open(&path).run(&fs_err::read_to_string(script).expect("a fixture's script"));
    let database = ForeignDatabase::new(&path, layout, || false);
    let mut catalogue = Catalogue::default();
    database.look(&mut catalogue).expect("a look");
    let source = |(id, _)| {
        let session = database.session(id).expect("a session").expect("it is there");
        let pieces = session.messages.into_iter().map(|message| Piece {
            name: message.id,
            content: message.content,
            parts: message.parts,
        });
        Source {
            info: agent.session(id, session.stamp.changed, pieces.collect()),
            shape,
            extension: String::new(),
            content: session.record,
        }
    };
    catalogue.stamps().map(source).collect()
}

/// A file beside a transcript, or the names in a folder, a line each.
fn beside(path: &Path) -> Option<Vec<u8>> {
    if !path.is_dir() {
        return fs_err::read(path).ok();
    }
    let names = fs_err::read_dir(path)
        .ok()?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    Some(names.collect::<Vec<_>>().join("\n").into_bytes())
}

/// The files in a folder, whatever lies deeper; of a file itself.
fn files_in(path: &Path) -> Vec<PathBuf> {
    let own = |file: &PathBuf| file == path || file.parent() == Some(path);
    files_below(path).into_iter().filter(own).collect()
}

/// Every file at or below a path.
pub(super) fn files_below(path: &Path) -> Vec<PathBuf> {
    let files = walkdir::WalkDir::new(path).sort_by_file_name().into_iter().flatten();
    files
        .filter(|entry| entry.file_type().is_file())
        .map(walkdir::DirEntry::into_path)
        .collect()
}
