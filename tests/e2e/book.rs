//! The book holds: every command of the README and of the pages below `docs/`, `hooks/` and `packaging/` is run, and prints what the
//! page says; pictures are what the program gives. See `remembrancer_tests::book` for the home in which it is done.

use std::path::Path;

use remembrancer_hooks::Environment;
use remembrancer_tests::book::{Page, Played, World, pages, pictures, play, root, writes};
use remembrancer_tests::{sandbox, skip};

/// Fewer commands than this were not found, or were all marked as not to be run.
const LEAST_COMMANDS: usize = 70;

pub(crate) fn hook() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_remembrancer-hook-under-test"))
}

fn played(page: &Page) -> Played {
    // Made where the page needs one, and gone with the page.
    let sandbox = sandbox!();
    play(page, || World::new(&sandbox, hook()))
}

/// Whether this system keeps settings and data apart, as the pages show it.
fn is_as_the_pages_show() -> bool {
    let is_so = Environment::from_process().is_none_or(|real| real.data_home != real.config_home);
    if !is_so {
        skip("the pages show the paths of Linux");
    }
    is_so
}

#[test]
fn every_command_of_the_book_prints_what_the_page_says() {
    if !is_as_the_pages_show() {
        return;
    }
    let (mut commands, mut not_run, mut faults) = (0, Vec::new(), Vec::new());
    for page in pages() {
        let found = played(&page);
        if let Some(text) = found.written {
            fs_err::write(root().join(&page.path), text).unwrap();
        }
        commands += found.commands;
        not_run.extend(found.not_run);
        faults.extend(found.faults);
    }
    eprintln!(
        "{commands} commands were run, {} blocks were not:\n{}",
        not_run.len(),
        not_run.join("\n")
    );
    assert!(
        faults.is_empty(),
        "REMEMBRANCER_WRITE_DOCUMENTS=1 writes what is printed into the pages:\n{}",
        faults.join("\n")
    );
    assert!(commands >= LEAST_COMMANDS, "{commands} commands were found");
}

#[test]
fn the_pictures_are_of_real_runs() {
    let sandbox = sandbox!();
    let world = World::new(&sandbox, hook());
    let explanation = world.explained("~/kiosk", pictures::PROMPT);
    let mut stale = Vec::new();
    for picture in pictures::all(&explanation) {
        let path = root().join("docs/images").join(picture.name);
        let stored = fs_err::read_to_string(&path).unwrap_or_default();
        if picture.is_same(&stored) {
            continue;
        }
        if writes() {
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(&path, &picture.svg).unwrap();
        }
        stale.push(picture.name);
    }
    assert!(
        stale.is_empty(),
        "run this with REMEMBRANCER_WRITE_DOCUMENTS=1, and look at {stale:?}"
    );
}
