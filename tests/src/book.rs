//! The book: the README and the pages below `docs/`, `hooks/` and `packaging/`. Pages come in; what is wrong with their commands,
//! links and pictures goes out.
//!
//! Every command that a page shows is put to the real programs, in a home of its own with the sample sessions in it, and must print
//! what the page says; `CONTRIBUTING.md` has the notes by which a page steers that.

mod markdown;
mod matching;
pub mod pictures;
mod play;
mod scene;
mod script;
mod world;

use std::path::{Path, PathBuf};

pub use markdown::{Block, Page};
pub use matching::{is_line, is_printed};
pub use play::{Played, play};
pub use world::World;

/// Set to anything, the tests of the documents write what they would have compared with.
pub const WRITE: &str = "REMEMBRANCER_WRITE_DOCUMENTS";

/// Whether documents are to be written anew.
pub fn writes() -> bool {
    std::env::var_os(WRITE).is_some()
}

/// The repository's root.
///
/// # Panics
/// Where this package does not lie in it.
pub fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package
        .parent()
        .expect("invariant: the package lies in the repository")
        .to_owned()
}

/// The pages whose commands are run, in a fixed order. The decisions are no part of them: they tell of their day.
///
/// # Panics
/// Where they can't be read.
pub fn pages() -> Vec<Page> {
    let root = root();
    let mut paths = vec![PathBuf::from("README.md")];
    for folder in ["docs", "hooks", "packaging"] {
        let mut found: Vec<PathBuf> = fs_err::read_dir(root.join(folder))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
            .map(|path| path.strip_prefix(&root).unwrap().to_owned())
            .collect();
        found.sort();
        paths.extend(found);
    }
    paths.into_iter().map(|path| Page::read(&root, path)).collect()
}
