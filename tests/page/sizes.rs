//! Stores of 20 and of 100,000 episodes: how long each view's whole answer takes, and whether the page is as well made as with few.

use std::path::Path;

use remembrancer_tests::synthetic::{Store, Synthetic};
use remembrancer_tests::{Sandbox, encoded, sandbox, skip, timed};

use crate::browser::browse;
use crate::home::enter;
use crate::views::check;

/// How often each view is asked for.
const TIMES: usize = 5;

/// Puts a store of synthetic episodes into a home that no daemon has run in.
fn put(sandbox: &Sandbox, folder: &Path, episodes: u64) {
    let store = Store::of(folder, episodes);
    let database = sandbox.places().database_file();
    fs_err::create_dir_all(database.parent().unwrap()).unwrap();
    fs_err::copy(&store.path, &database).unwrap();
}

/// Asks for each view again and again and prints the median, and looks at each in the browser.
fn look_at(folder: &Path, episodes: u64) {
    browse(|browser| {
        let sandbox = sandbox!(alone);
        put(&sandbox, folder, episodes);
        let daemon = sandbox.start();
        daemon.wait_for_model();
        daemon.wait_for_vectors();
        let served = sandbox.serve(&[]);
        let key = served.key();
        let (turn, words) = {
            let turns = sandbox.json(&["timeline", "--limit", "1"]);
            (turns["turns"][0].clone(), Synthetic::new().prompt(1, 6))
        };
        let (id, session) = (turn["id"].as_str().unwrap(), turn["session"].as_str().unwrap());
        let views = [
            "timeline".to_owned(),
            "timeline?project=project-0".to_owned(),
            format!("search?q={}", encoded(&words)),
            format!("search?q={}&mode=lexical", encoded(&words)),
            "sessions".to_owned(),
            "projects".to_owned(),
            "project?name=project-0".to_owned(),
            format!("episode?id={id}"),
            format!("session?id={session}"),
            "recollections".to_owned(),
            "decisions".to_owned(),
            "health".to_owned(),
            format!("decide?act=forget&id={id}"),
            "decide?act=forget-project&id=project-0".to_owned(),
        ];
        eprintln!("{episodes} episodes, milliseconds to a whole answer (median of {TIMES}):");
        for view in &views {
            let mut took: Vec<f64> = (0..TIMES)
                .map(|_| {
                    let (answer, took) = timed(|| key.get(view));
                    assert_eq!(answer.status, 200, "{view}: {}", answer.body);
                    took.as_secs_f64() * 1_000.0
                })
                .collect();
            took.sort_by(f64::total_cmp);
            eprintln!("  {view:<45} {:>7.1}", took[TIMES / 2]);
        }
        let inside = enter(browser, &served.opening);
        for view in &views {
            browser.goto(&format!("{inside}{view}"));
            for width in [375, 1_600] {
                browser.size(width, 900);
                check(browser, &format!("{view} of {episodes} at {width}"));
            }
        }
    });
}

#[test]
fn twenty_episodes_are_shown_at_once() {
    let folder = tempfile::tempdir().unwrap();
    look_at(folder.path(), 20);
}

#[test]
fn a_hundred_thousand_episodes_are_shown_as_well() {
    let Some(folder) = std::env::var_os("REMEMBRANCER_LARGE_STORE") else {
        skip("REMEMBRANCER_LARGE_STORE names no folder in which a store of 100,000 episodes is made once and kept");
        return;
    };
    look_at(Path::new(&folder), 100_000);
}
