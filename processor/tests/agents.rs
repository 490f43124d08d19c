//! The same checks on every agent: a new one is one file, one line in the table, and a fixture: the agent's folders as it writes
//! them below a home, in `tests/fixtures/agents/<id>`; of a database the script that makes it. What a fixture marks with `MACHINE` is no person's and no agent's word,
//! and what it marks with `COPIED` was read elsewhere: neither may become memory.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use remembrancer_processor::ingest::{Agent, Home, Piece, ResumePoint, Shape, SourceInfo, SourceReader, Turn};
use remembrancer_schema::{Catalogue, ForeignDatabase, ForeignWriter, Layout, TurnUid, UnixMillis};

/// When fixtures were last written, where nothing in them tells.
const MODIFIED: UnixMillis = UnixMillis(1_772_358_000_000);

/// A transcript of an agent's fixture.
struct Source {
    info: SourceInfo,
    /// Of a session, below that of the script that makes its database.
    path: PathBuf,
    shape: Shape,
    content: Vec<u8>,
}

impl Source {
    fn reader(&self) -> SourceReader {
        SourceReader::new(&self.info, ResumePoint::default())
    }

    /// The last state of each turn when the bytes come in these pieces.
    fn read(&self, chunks: &[&[u8]]) -> BTreeMap<u32, Turn> {
        let mut reader = self.reader();
        let mut turns = BTreeMap::new();
        for chunk in chunks {
            match self.shape {
                Shape::Lines => reader.push(chunk),
                Shape::Document | Shape::Database(_) => reader.document(chunk),
                Shape::Archive => reader.archive(chunk),
            }
            turns.extend(reader.drain().turns.into_iter().map(|turn| (turn.ordinal, turn)));
        }
        turns
    }

    fn turns(&self) -> Vec<Turn> {
        self.read(&[&self.content]).into_values().collect()
    }
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

fn fixture(agent: Agent) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/agents")
        .join(agent.id())
}

/// The transcripts below an agent's folders, as the daemon would find them in a home.
fn sources_in(agent: Agent, home: &Path) -> Vec<Source> {
    let nothing = |_: &str| None;
    let home = Home {
        folder: home,
        variable: &nothing,
    };
    let mut paths: Vec<PathBuf> = agent.folders(&home).iter().flat_map(|folder| files_below(folder)).collect();
    paths.extend(agent.flat_folders(&home).iter().flat_map(|folder| files_in(folder)));
    paths.sort();
    paths.dedup();
    paths.iter().flat_map(|path| sources_at(agent, path)).collect()
}

/// The transcript at `path`, or the sessions of the database that the script there makes.
fn sources_at(agent: Agent, path: &Path) -> Vec<Source> {
    if path.extension().is_some_and(|extension| extension == "sql")
        && let Some(shape @ Shape::Database(layout)) = agent.shape(&path.with_extension(""))
    {
        return sessions(agent, path, shape, layout);
    }
    let source = |shape| Source {
        info: agent.source(path, MODIFIED, &beside),
        path: path.to_owned(),
        shape,
        content: fs_err::read(path).expect("a fixture's file"),
    };
    agent.shape(path).map(source).into_iter().collect()
}

fn sessions(agent: Agent, script: &Path, shape: Shape, layout: Layout) -> Vec<Source> {
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
            path: script.join(id),
            shape,
            content: session.record,
        }
    };
    catalogue.stamps().map(source).collect()
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs_err::read_dir(folder).into_iter().flatten();
    let paths = entries.map(|entry| entry.expect("a fixture's folder").path());
    paths.filter(|path| path.is_file()).collect()
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs_err::read_dir(folder) else {
        return Vec::new();
    };
    entries
        .map(|entry| entry.expect("a fixture's folder").path())
        .flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] })
        .collect()
}

fn every_source() -> Vec<Source> {
    Agent::ALL
        .iter()
        .flat_map(|agent| sources_in(*agent, &fixture(*agent)))
        .collect()
}

#[test]
fn every_agent_has_a_fixture_with_turns() {
    for agent in Agent::ALL {
        let turns: usize = sources_in(*agent, &fixture(*agent))
            .iter()
            .map(|source| source.turns().len())
            .sum();
        assert!(
            turns >= 2,
            "{agent:?} needs a fixture of two turns below {}",
            fixture(*agent).display()
        );
    }
}

#[test]
fn every_layout_of_a_database_has_a_fixture_with_turns() {
    for layout in Layout::ALL {
        let of_layout = every_source()
            .into_iter()
            .filter(|source| source.shape == Shape::Database(*layout));
        let turns: usize = of_layout.map(|source| source.turns().len()).sum();
        assert!(turns >= 2, "{layout:?} needs a script that makes a database with two turns");
    }
}

#[test]
fn what_is_read_of_each_fixture() {
    for agent in Agent::ALL {
        let mut told = String::new();
        for source in sources_in(*agent, &fixture(*agent)) {
            let name = source.path.strip_prefix(fixture(*agent)).unwrap().display();
            writeln!(told, "# {name}").unwrap();
            for turn in source.turns() {
                tell(&mut told, &turn);
            }
        }
        insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(agent.id(), told) });
    }
}

/// A turn as people read it.
fn tell(told: &mut String, turn: &Turn) {
    writeln!(
        told,
        "\n{} {:?} {} {:?} {:?} {}",
        turn.ordinal,
        turn.origin,
        turn.session,
        turn.cwd.as_deref().unwrap_or_default(),
        turn.git_branch.as_deref().unwrap_or_default(),
        turn.started_at.0
    )
    .expect("a string takes all");
    writeln!(told, "> {}", turn.prompt.replace('\n', "\n> ")).expect("a string takes all");
    if let Some(summary) = &turn.carried_summary {
        writeln!(told, "summary: {summary}").expect("a string takes all");
    }
    writeln!(told, "{}", turn.answer()).expect("a string takes all");
    let facets = turn.facets();
    writeln!(
        told,
        "{:?} {:?} {:?} {:?}",
        facets.files, facets.commands, facets.errors, facets.tools
    )
    .expect("a string takes all");
    if turn.committed || turn.error_fixed {
        writeln!(told, "committed: {}, error fixed: {}", turn.committed, turn.error_fixed).expect("a string takes all");
    }
}

#[test]
fn machine_text_and_copies_are_kept_out() {
    for source in every_source() {
        let turns = format!("{:?}", source.turns());
        for mark in ["MACHINE", "COPIED"] {
            assert!(!turns.contains(mark), "{}: {turns}", source.path.display());
        }
    }
}

#[test]
fn uids_are_the_same_at_every_reading_and_no_two_turns_share_one() {
    for agent in Agent::ALL {
        let read = || -> Vec<TurnUid> {
            let sources = sources_in(*agent, &fixture(*agent));
            sources.iter().flat_map(Source::turns).map(|turn| turn.uid).collect()
        };
        let uids = read();
        assert_eq!(read(), uids);
        let distinct: std::collections::BTreeSet<&TurnUid> = uids.iter().collect();
        assert_eq!(distinct.len(), uids.len(), "{agent:?}");
    }
}

#[test]
fn any_split_into_appends_gives_the_same_turns() {
    for source in every_source().into_iter().filter(|source| source.shape == Shape::Lines) {
        let whole = source.read(&[&source.content]);
        for size in [1, 7, 64, 1_000] {
            let chunks: Vec<&[u8]> = source.content.chunks(size).collect();
            assert_eq!(source.read(&chunks), whole, "{} by {size}", source.path.display());
        }
    }
}

#[test]
fn a_restart_at_any_line_finds_the_same_turns() {
    for source in every_source().into_iter().filter(|source| source.shape == Shape::Lines) {
        let whole = source.read(&[&source.content]);
        let ends = source.content.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        for (end, _) in ends {
            let (before, _) = source.content.split_at(end + 1);
            let mut first = source.reader();
            first.push(before);
            let advance = first.drain();
            let state = advance.state.expect("a state of bounded size");
            let mut turns: BTreeMap<u32, Turn> = advance.turns.into_iter().map(|turn| (turn.ordinal, turn)).collect();
            let mut second = SourceReader::resume(&source.info, advance.committed, &state).expect("a state that was written");
            second.push(&source.content[advance.committed.offset.0 as usize..]);
            turns.extend(second.drain().turns.into_iter().map(|turn| (turn.ordinal, turn)));
            assert_eq!(turns, whole, "{} at {end}", source.path.display());
        }
    }
}

/// A store of an older version has no states: the source's first line tells then what it tells of all others.
#[test]
fn a_restart_without_a_state_goes_on_by_the_first_line() {
    for source in every_source().into_iter().filter(|source| source.shape == Shape::Lines) {
        let mut first = source.reader();
        first.push(&source.content);
        let advance = first.drain();
        let from = advance.committed;
        let mut second = SourceReader::new(&source.info, from);
        if from.offset.0 > 0 {
            second.head(&source.content);
        }
        second.push(&source.content[from.offset.0 as usize..]);
        let (Some(last), Some(again)) = (advance.turns.last(), second.drain().turns.pop()) else {
            continue;
        };
        assert_eq!(
            (again.ordinal, again.uid, &again.session, &again.prompt),
            (last.ordinal, last.uid, &last.session, &last.prompt),
            "{}",
            source.path.display()
        );
    }
}

#[test]
fn any_prefix_is_read_without_a_panic() {
    for source in every_source() {
        let most = source.turns().len();
        for end in 0..source.content.len() {
            let turns = source.read(&[&source.content[..end]]).len();
            assert!(turns <= most, "{} to {end}", source.path.display());
        }
    }
}
