//! Pictures of the page for `docs/images`, of sample sessions alone. Where they are not to be written, it is checked that each is there
//! and small.

use remembrancer_tests::book::writes;
use remembrancer_tests::sandbox;

use crate::browser::{Browser, browse};
use crate::home::{daemon_of_samples, enter};
use crate::repository;

/// Bytes of a picture at most: they lie in the repository.
const MOST: usize = 150_000;

/// A picture: its name, its view, how wide and how high, and in which colours.
type Picture = (&'static str, String, u32, u32, &'static str);

/// Of the episode with this id, and of the prompt with that of a recollection.
fn pictures(id: &str, prompt: &str) -> [Picture; 8] {
    [
        ("page-timeline", "timeline".to_owned(), 1_280, 860, "light"),
        ("page-timeline-phone", "timeline".to_owned(), 375, 780, "dark"),
        (
            "page-search",
            "search?q=receipts+off+by+a+cent".to_owned(),
            1_280,
            860,
            "dark",
        ),
        ("page-episode", format!("episode?id={id}"), 1_600, 760, "light"),
        ("page-session-phone", format!("session?id={id}"), 375, 780, "light"),
        ("page-recollection", format!("recollection?id={prompt}"), 1_280, 860, "light"),
        ("page-forget", format!("decide?act=forget&id={id}"), 768, 820, "dark"),
        ("page-health", "health".to_owned(), 1_280, 860, "dark"),
    ]
}

fn take(browser: &Browser, inside: &str, (name, view, width, height, scheme): &Picture) {
    browser.size(*width, *height);
    browser.prefer(scheme);
    browser.goto(&format!("{inside}{view}"));
    let picture = browser.picture();
    assert!(picture.len() <= MOST, "{name} has {} bytes", picture.len());
    fs_err::write(repository(&format!("docs/images/{name}.png")), picture).unwrap();
}

#[test]
fn there_are_small_pictures_of_it() {
    if writes() {
        browse(|browser| {
            let sandbox = sandbox!();
            let _daemon = daemon_of_samples(&sandbox);
            let served = sandbox.serve(&[]);
            let id = sandbox.id_of("one cent lower");
            fs_err::create_dir_all(repository("docs/images")).unwrap();
            let inside = enter(browser, &served.opening);
            let last = sandbox.json(&["last"]);
            for picture in pictures(&id, last["prompt"]["id"].as_str().unwrap()) {
                take(browser, &inside, &picture);
            }
        });
    }
    let page = fs_err::read_to_string(repository("docs/page.md")).unwrap();
    for (name, ..) in pictures("", "") {
        let size = fs_err::metadata(repository(&format!("docs/images/{name}.png")))
            .unwrap()
            .len();
        assert!(size > 1_000 && size <= MOST as u64, "{name} has {size} bytes");
        assert!(page.contains(&format!("images/{name}.png")), "docs/page.md shows no {name}");
    }
}
