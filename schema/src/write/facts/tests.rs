//! Facts: said once and twice, in a project and everywhere, forgotten, said again, kept out, and brought back where the database is lost.

use std::path::Path;

use crate::facts::FactsFile;
use crate::testing::{MODEL, Store};
use crate::{ForgetTarget, Importance, ProjectNames, RedactionRules, Scope, UnixMillis, Writer, open_or_rebuild};

const NOW: UnixMillis = UnixMillis(1_795_000_000_000);
const FACT: &str = "amounts are integer cents";

fn shop() -> ProjectNames {
    ProjectNames {
        keys: vec!["url:example.org/shop".to_owned(), "cwd:/home/ada/shop".to_owned()],
        name: "shop".to_owned(),
        root: Some("/home/ada/shop".to_owned()),
    }
}

fn remember(store: &mut Store, text: &str) -> crate::Remembered {
    store
        .writer
        .remember(text, Some("/home/ada/shop"), &shop(), NOW)
        .expect("remembers")
}

fn forget(store: &mut Store, episode: crate::EpisodeUid) {
    let target = ForgetTarget::Episode(episode.to_string());
    assert_eq!(store.writer.forget(&target, NOW).expect("forgets").episodes, 1);
}

fn told(path: &Path) -> Vec<String> {
    let facts = FactsFile::of(path).read().expect("reads");
    facts.into_iter().map(|fact| fact.text).collect()
}

#[test]
fn a_fact_is_an_important_episode_of_its_project_that_waits_for_its_vector() {
    let mut store = Store::new();
    let remembered = remember(&mut store, FACT);
    assert!(remembered.is_new);
    let ids = store.found("cents");
    let text = &store.reader().texts(&ids).expect("reads")[0];
    assert_eq!(
        (text.uid, text.prompt.as_str(), text.answer.as_str()),
        (remembered.episode, FACT, "")
    );
    assert_eq!((text.importance, text.importance_rule.as_str()), (Importance::High, "pinned"));
    assert_eq!(
        (text.agent.as_str(), text.session.as_str(), text.project_name.as_deref()),
        ("user", "remembered", Some("shop"))
    );
    assert_eq!(store.reader().stats().expect("counts").remembered, 1);
    store.embed();
    let project = store.reader().project_by_key("url:example.org/shop").expect("reads");
    assert_eq!(
        store.reader().recently_accessed(Scope::Project(project), 9).expect("reads"),
        ids
    );
    assert!(
        store.reader().neighbours(&ids).expect("reads").is_empty(),
        "it follows nothing"
    );
}

#[test]
fn twice_is_once_and_in_another_project_it_is_another() {
    let mut store = Store::new();
    let first = remember(&mut store, FACT);
    let again = remember(&mut store, FACT);
    assert_eq!((again.episode, again.is_new), (first.episode, false));
    let everywhere = store
        .writer
        .remember(FACT, None, &ProjectNames::everywhere(), NOW)
        .expect("remembers");
    assert!(everywhere.is_new && everywhere.episode != first.episode);
    assert_eq!(told(&store.path).len(), 2);
}

#[test]
fn what_is_forgotten_leaves_its_file_and_may_be_said_again() {
    let mut store = Store::new();
    let first = remember(&mut store, FACT);
    remember(&mut store, "another");
    forget(&mut store, first.episode);
    assert_eq!(told(&store.path), ["another"]);
    let again = remember(&mut store, FACT);
    assert!(
        again.is_new && again.episode != first.episode,
        "the forgotten one stays forgotten"
    );
    forget(&mut store, again.episode);
    assert!(remember(&mut store, FACT).is_new);
    store.writer.forget(&ForgetTarget::All, NOW).expect("forgets");
    assert!(!FactsFile::path_of(&store.path).exists());
}

#[test]
fn killed_between_the_database_and_the_file_the_forgotten_leaves_at_the_next_opening() {
    let mut store = Store::new();
    let first = remember(&mut store, FACT);
    let file = FactsFile::path_of(&store.path);
    let before = fs_err::read(&file).expect("reads");
    forget(&mut store, first.episode);
    fs_err::write(&file, before).expect("writes");
    store.writer = Writer::open(&store.path).expect("opens");
    assert!(store.found("cents").is_empty() && !file.exists());
}

#[test]
fn what_the_database_never_got_is_stored_at_the_next_opening() {
    let mut store = Store::new();
    let fact = crate::Fact {
        turn_uid: crate::TurnUid([7; 16]),
        at: NOW,
        text: FACT.to_owned(),
        cwd: None,
        project: ProjectNames::everywhere(),
    };
    FactsFile::of(&store.path).add(&[fact]).expect("adds");
    store.writer = Writer::open(&store.path).expect("opens");
    assert_eq!(store.found("cents").len(), 1);
}

#[test]
fn what_only_the_database_has_is_noted_in_the_file() {
    let mut store = Store::new();
    remember(&mut store, FACT);
    let before = FactsFile::of(&store.path).read().expect("reads");
    fs_err::remove_file(FactsFile::path_of(&store.path)).expect("removes");
    store.writer = Writer::open(&store.path).expect("opens");
    assert_eq!(FactsFile::of(&store.path).read().expect("reads"), before);
}

#[test]
fn a_lost_or_damaged_database_gets_its_facts_back() {
    for is_lost in [true, false] {
        let mut store = Store::new();
        store.fill(&["a turn of a transcript"]);
        let forgotten = remember(&mut store, "this goes");
        let kept = remember(&mut store, FACT);
        forget(&mut store, forgotten.episode);
        store.writer = Writer::open(&store.path.with_file_name("no/memory.db")).expect("opens");
        for suffix in ["-wal", "-shm"] {
            fs_err::remove_file(crate::copy::with_suffix(&store.path, suffix)).ok();
        }
        if is_lost {
            fs_err::remove_file(&store.path).expect("removes");
        } else {
            fs_err::write(&store.path, vec![0x5a; 50_000]).expect("damages");
        }
        store.writer = open_or_rebuild(&store.path, NOW).expect("is made anew");
        let ids = store.found("cents");
        let text = &store.reader().texts(&ids).expect("reads")[0];
        assert_eq!((ids.len(), text.uid, text.created_at), (1, kept.episode, NOW));
        assert_eq!(text.project_name.as_deref(), Some("shop"));
        assert!(store.found("goes").is_empty());
        assert_eq!(told(&store.path), [FACT]);
    }
}

#[test]
fn what_is_kept_out_is_hidden_and_comes_back() {
    let mut store = Store::new();
    store.writer.exclude_path("/home/ada", NOW).expect("excludes");
    remember(&mut store, FACT);
    assert!(store.found("cents").is_empty());
    store.writer.include_path("/home/ada").expect("includes");
    assert_eq!(store.found("cents").len(), 1);
}

#[test]
fn retention_takes_no_fact_away() {
    let mut store = Store::new();
    remember(&mut store, FACT);
    store.fill(&["a turn"]);
    let reader = store.reader();
    let late = UnixMillis(NOW.0 + 1);
    assert_eq!(reader.turns_before(late, 9).expect("finds").len(), 1);
    assert_eq!(reader.count_turns_before(late).expect("counts"), 1);
    assert_eq!(reader.turns_of_least_worth(9).expect("finds").len(), 1);
}

#[test]
fn newer_rules_of_redaction_reach_the_file() {
    let mut store = Store::new();
    remember(&mut store, "the word is xyzzyq");
    let rules = RedactionRules {
        version: 9,
        text: |text| {
            if text.contains("xyzzyq") {
                text.replace("xyzzyq", "[redacted]").into()
            } else {
                text.into()
            }
        },
        folder: |folder| folder.into(),
    };
    store.writer.begin_redaction(&rules).expect("begins");
    assert_eq!(told(&store.path), ["the word is [redacted]"]);
    while store.writer.redact_step(&rules, 9, NOW).expect("goes on").more {}
    store.writer = Writer::open(&store.path).expect("opens");
    assert_eq!(store.found("redacted").len(), 1, "it is no other fact by that");
    assert_eq!(store.reader().embedding_backlog(MODEL, 9).expect("reads").len(), 1);
}
