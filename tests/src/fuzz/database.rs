//! Agents' databases: any file is read, refused or found damaged, never written to, and leaves nothing beside it; two looks at it
//! see the same; and what is read goes through the agent's parser.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use remembrancer_processor::ingest::{Agent, Piece, ResumePoint, SourceReader, episodes};
use remembrancer_schema::{Catalogue, ForeignDatabase, Layout};

/// A look is told to stop after so many times ten thousand steps of SQLite's machine: a hostile schema may loop.
const PATIENCE: u32 = 40;
/// Sessions that are read.
const SESSIONS: usize = 6;

pub(super) fn run(data: &[u8]) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("agent.db");
    fs_err::write(&path, data).expect("a file");
    for layout in Layout::ALL {
        check(&path, *layout);
        assert!(
            fs_err::read(&path).expect("the file") == data,
            "{layout:?}: the database was written to"
        );
        let files = fs_err::read_dir(folder.path()).expect("the folder").count();
        assert_eq!(files, 1, "{layout:?}: something was left beside the database");
    }
}

fn check(path: &Path, layout: Layout) {
    let asked = AtomicU32::new(0);
    let database = ForeignDatabase::new(path, layout, move || asked.fetch_add(1, Ordering::Relaxed) >= PATIENCE);
    let mut catalogue = Catalogue::default();
    if let Err(error) = database.look(&mut catalogue) {
        assert!(error.to_string().contains("agent.db"), "{error} does not name the file");
        assert_eq!(catalogue.stamps().count(), 0, "a failed look has found something");
        return;
    }
    let stamps: Vec<_> = catalogue.stamps().map(|(id, stamp)| (id.to_owned(), stamp)).collect();
    let mut afresh = Catalogue::default();
    if database.look(&mut afresh).is_ok() {
        assert!(afresh.stamps().eq(catalogue.stamps()), "two looks see different sessions");
    }
    for (id, stamp) in stamps.iter().take(SESSIONS) {
        let Ok(Some(session)) = database.session(id) else { continue };
        let pieces = session.messages.into_iter().map(|message| Piece {
            name: message.id,
            content: message.content,
            parts: message.parts,
        });
        let mut reader = SourceReader::new(
            &agent(layout).session(id, stamp.changed, pieces.collect()),
            ResumePoint::default(),
        );
        reader.document(&session.record);
        for turn in reader.drain().turns {
            let _rows = episodes(&turn);
        }
    }
}

/// Whose layout it is.
fn agent(layout: Layout) -> Agent {
    let id = match layout {
        Layout::OpenCode => "opencode",
        Layout::Goose => "goose",
        Layout::Cursor => "cursor",
    };
    Agent::parse(id).expect("invariant: the agents of layouts are in the table")
}
