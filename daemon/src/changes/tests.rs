use std::collections::HashMap;

use remembrancer_processor::recall::Fate;
use remembrancer_schema::{EpisodeId, EpisodeUid, Facets, Importance, TurnUid};

use super::known::{FileState, Presence};
use super::*;

const SECOND: u64 = 1_000_000_000;
const MINUTE: u64 = 60 * SECOND;
const HOUR_MS: i64 = 3_600_000;

fn episode(files: &[&str]) -> EpisodeText {
    EpisodeText {
        id: EpisodeId(1),
        uid: EpisodeUid([1; 16]),
        turn_uid: TurnUid([1; 16]),
        part: 0,
        turn: 0,
        prompt: "p".to_owned(),
        answer: "a".to_owned(),
        facets: Facets {
            files: files.iter().map(|file| (*file).to_owned()).collect(),
            ..Facets::default()
        },
        created_at: UnixMillis(0),
        project: None,
        project_name: None,
        agent: "claude-code".to_owned(),
        session: "s".to_owned(),
        cwd: Some("/home/ada/shop".to_owned()),
        source: None,
        importance: Importance::Normal,
        importance_rule: "default".to_owned(),
        shared_by: None,
    }
}

fn committed(path: &str, at: i64) -> Known {
    let state = FileState {
        commits: vec![UnixMillis(at)],
        presence: Presence::There { written: None },
    };
    Known {
        at: UnixMillis(0),
        files: HashMap::from([(path.to_owned(), state)]),
    }
}

#[test]
fn an_episode_s_files_are_found_where_they_lie() {
    let changes = Changes::default();
    let told = |changes: &Changes| changes.since(&episode(&["README.md", "src/a.rs"]));
    assert_eq!(told(&changes), [], "nothing is known");
    changes.asked("/home/ada/shop/api", SECOND);
    changes.looked(
        "/home/ada/shop/api",
        Some(committed("/home/ada/shop/src/a.rs", 3 * HOUR_MS)),
        2 * SECOND,
    );
    let one_commit = Since {
        file: 1,
        fate: Fate::Changed { commits: 1 },
    };
    assert_eq!(told(&changes), [one_commit]);
    // A look that found nothing out takes nothing away.
    changes.looked("/home/ada/shop/api", None, 3 * SECOND);
    assert_eq!(told(&changes), [one_commit]);
}

#[test]
fn what_came_soon_after_is_the_episode_s_own_work() {
    let changes = Changes::default();
    changes.asked("/home/ada/shop", SECOND);
    changes.looked("/home/ada/shop", Some(committed("/home/ada/shop/a.rs", HOUR_MS)), SECOND);
    assert_eq!(changes.since(&episode(&["a.rs"])), []);
}

#[test]
fn a_folder_is_looked_at_while_it_is_asked_about() {
    let changes = Changes::default();
    let is_due = |at: u64| changes.next(at).is_some();
    assert!(!is_due(0));
    changes.asked("/a", MINUTE);
    assert!(is_due(MINUTE));
    changes.looked("/a", None, MINUTE);
    assert!(!is_due(10 * MINUTE) && is_due(16 * MINUTE), "every quarter of an hour");
    changes.asked("/a", 2 * MINUTE);
    assert!(
        !is_due(2 * MINUTE) && is_due(3 * MINUTE),
        "sooner where it is asked about again"
    );
    changes.looked("/a", None, 170 * MINUTE);
    assert!(!is_due(300 * MINUTE), "the last prompt was hours ago");
}

#[test]
fn the_folder_that_was_asked_about_longest_ago_is_forgotten_first() {
    let changes = Changes::default();
    for number in 0..=MOST_FOLDERS as u64 {
        changes.asked(&format!("/{number}"), number);
    }
    let folders = changes.lock();
    assert_eq!(folders.len(), MOST_FOLDERS);
    assert!(!folders.contains_key("/0") && folders.contains_key("/1"));
}
