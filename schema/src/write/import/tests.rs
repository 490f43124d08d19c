//! What an import does with what is new, known, forgotten, kept out; that it brings all that an export tells; and that twice is once.

use crate::testing::{Store, batch, in_project, session, turn, turn_uid};
use crate::{
    EpisodeId, ForgetTarget, ImportOutcome, LoggedCandidate, ProjectNames, RecollectionLog, RecollectionUse, Steering,
    StoredEpisode, TurnUpsert, UnixMillis, Writer,
};

const NOW: UnixMillis = UnixMillis(9_000_000);

/// Two turns of a project, one of two parts and in a fork, boosted, shown and used; one muted; and a fact.
fn lived_in() -> Store {
    let mut store = Store::new();
    let keys = ["url:example.org/engine", "cwd:/home/ada/engine"].map(str::to_owned);
    let project = store
        .writer
        .resolve_project(&keys, "engine", Some("/home/ada/engine"), UnixMillis(1))
        .expect("resolves");
    let long = in_project(turn(1, "s", &["the first", "goes on"]), project);
    let fork = TurnUpsert {
        session: session("fork"),
        ..long.clone()
    };
    let mut pass = batch(vec![long, fork, in_project(turn(2, "s", &["the second"]), project)]);
    pass.sessions.push(crate::SessionUpdate {
        session: session("s"),
        title: Some("About the engine".to_owned()),
        compacted_at: None,
        started_at: None,
    });
    store.writer.ingest(&pass).expect("stores");
    used(&mut store);
    store
        .writer
        .steer(&[turn_uid(1)], Steering::Boost, UnixMillis(7))
        .expect("boosts");
    store
        .writer
        .steer(&[turn_uid(2)], Steering::Mute, UnixMillis(8))
        .expect("mutes");
    let everywhere = ProjectNames::everywhere();
    store
        .writer
        .remember("tabs are blanks", None, &everywhere, UnixMillis(9))
        .expect("remembers");
    store
}

fn used(store: &mut Store) {
    let episode = store.id(1, 0);
    let shown = LoggedCandidate {
        episode,
        fused: 1.0,
        bm25: None,
        cosine: None,
        bm25_rank: None,
        vector_rank: None,
        recency_rank: None,
        access_rank: None,
        gate: None,
        position: Some(1),
    };
    let log = RecollectionLog {
        at: UnixMillis(7_123),
        session: session("asks"),
        project: None,
        prompt_hash: [0; 32],
        terms: Vec::new(),
        reason: None,
        pool: 1,
        stages: Vec::new(),
        degradations: Vec::new(),
        candidates: vec![shown],
    };
    let recollection = store.writer.record_recollection(&log).expect("logs");
    let used = RecollectionUse {
        recollection,
        episode,
        evidence: "words".to_owned(),
    };
    store
        .writer
        .record_recollection_uses(&[used], UnixMillis(8_000))
        .expect("counts");
}

/// All that is stored, as an export would tell it: without what says something in one store alone.
fn stored(store: &Store) -> Vec<StoredEpisode> {
    let reader = store.reader();
    let mut episodes = reader.turns_of(&ForgetTarget::All).expect("reads");
    episodes.sort_unstable_by_key(|episode| (episode.created_at, episode.turn_uid, episode.part));
    let ids: Vec<EpisodeId> = episodes.into_iter().map(|episode| episode.id).collect();
    let mut stored = reader.stored(&ids).expect("reads");
    for episode in &mut stored {
        episode.text.id = EpisodeId(0);
        episode.text.project = None;
    }
    stored
}

fn import(store: &mut Store, episodes: &[StoredEpisode]) -> Vec<ImportOutcome> {
    store.writer.import(episodes, NOW, false).expect("imports")
}

fn is_sound(store: &mut Store) {
    store.writer.checkpoint().expect("folds");
    assert_eq!(crate::audit(&store.path).expect("reads").faults, Vec::<String>::new());
}

#[test]
fn what_was_told_there_is_told_here_and_twice_is_once() {
    let there = lived_in();
    let episodes = stored(&there);
    assert_eq!(episodes.len(), 4);
    let mut here = Store::new();
    assert_eq!(
        here.writer.import(&episodes, NOW, true).expect("looks"),
        vec![ImportOutcome::Added; 4]
    );
    assert_eq!(stored(&here), [], "a dry run stores nothing");
    assert_eq!(import(&mut here, &episodes), vec![ImportOutcome::Added; 4]);
    assert_eq!(stored(&here), episodes);
    assert_eq!(
        here.reader().steered_turns().unwrap(),
        there.reader().steered_turns().unwrap()
    );
    is_sound(&mut here);
    assert_eq!(import(&mut here, &episodes), vec![ImportOutcome::Known; 4]);
    assert_eq!(stored(&here), episodes);
    // And what was decided there outlives this database, too.
    here.writer = Writer::open(&here.path).expect("opens");
    assert_eq!(crate::facts::FactsFile::of(&here.path).read().expect("reads").len(), 1);
}

#[test]
fn killed_at_any_line_it_goes_on() {
    let episodes = stored(&lived_in());
    for first in 0..episodes.len() {
        let mut here = Store::new();
        import(&mut here, &episodes[..first]);
        import(&mut here, &episodes);
        assert_eq!(stored(&here), episodes, "after {first}");
        is_sound(&mut here);
    }
}

#[test]
fn what_is_here_and_what_was_decided_here_stays() {
    let episodes = stored(&lived_in());
    let turns: Vec<_> = episodes.iter().map(|episode| episode.text.turn_uid).collect();
    let fact = turns[0];
    assert_eq!(turns[1..], [turn_uid(1), turn_uid(1), turn_uid(2)], "oldest first");
    let mut here = Store::new();
    here.writer
        .ingest(&batch(vec![turn(2, "s", &["as it is here"])]))
        .expect("stores");
    here.writer.restore_tombstones(&[turn_uid(1)], NOW).expect("buries");
    here.writer.retire(&[fact], NOW).expect("retires");
    let expected = [
        ImportOutcome::Retired,
        ImportOutcome::Forgotten,
        ImportOutcome::Forgotten,
        ImportOutcome::Known,
    ];
    assert_eq!(import(&mut here, &episodes), expected);
    let steered = here.reader().steered_turns().expect("reads");
    assert!(steered.is_empty(), "a mute there says nothing of what is here");
    assert_eq!((here.found("here").len(), here.found("second").len()), (1, 0));
    assert!(!crate::facts::FactsFile::path_of(&here.path).exists());
    is_sound(&mut here);
}

#[test]
fn what_is_kept_out_here_stays_out_and_what_was_kept_out_there_is_not_let_in() {
    let mut there = lived_in();
    let episodes = stored(&there);
    let mut here = Store::new();
    here.writer.exclude_path("/home/ada", NOW).expect("excludes");
    let outcomes = import(&mut here, &episodes);
    assert_eq!(
        outcomes.iter().filter(|outcome| **outcome == ImportOutcome::Excluded).count(),
        3
    );

    there.writer.exclude_path("/home/ada", NOW).expect("excludes");
    let hidden = stored(&there);
    assert_eq!(hidden.iter().filter(|episode| episode.hidden).count(), 3);
    let outcomes = import(&mut Store::new(), &hidden);
    assert_eq!(
        outcomes.iter().filter(|outcome| **outcome == ImportOutcome::Excluded).count(),
        3
    );
    // Hidden there and here, it is stored and hidden.
    import(&mut here, &hidden);
    assert_eq!(here.reader().stats().expect("counts").hidden, 3);
    assert!(here.found("first").is_empty());
    is_sound(&mut here);
    here.writer.include_path("/home/ada").expect("includes");
    assert_eq!(here.found("first").len(), 1);

    let mut other = Store::new();
    other.writer.exclude_session(&session("s")).expect("excludes");
    let outcomes = import(&mut other, &episodes);
    assert_eq!(
        outcomes.iter().filter(|outcome| **outcome == ImportOutcome::Excluded).count(),
        3
    );
}

#[test]
fn an_export_that_tells_no_keys_goes_by_its_folders() {
    let mut episodes = stored(&lived_in());
    for episode in &mut episodes {
        episode.project_keys.clear();
        episode.project_root = None;
    }
    let mut here = Store::new();
    import(&mut here, &episodes[..3]);
    let project = here.reader().project_by_key("cwd:/home/ada/engine").expect("reads");
    let project = project.expect("is known by its folder");
    assert_eq!(here.reader().project_name(project).expect("reads").as_deref(), Some("engine"));
}

#[test]
fn a_transcript_that_is_here_is_read_as_ever() {
    let episodes = stored(&lived_in());
    let mut here = Store::new();
    import(&mut here, &episodes);
    let source = &here.reader().sources().expect("reads")[0];
    assert_eq!((source.missing, source.position.read_offset.0), (true, 0));
    // The file at that name is shorter, and read whole: what was imported was of another one.
    let mut pass = batch(vec![turn(2, "s", &["the second"])]);
    pass.source.generation = 1;
    pass.retire_older_generations = true;
    let outcome = here.writer.ingest(&pass).expect("stores");
    assert_eq!((outcome.retired, outcome.unchanged), (0, 1));
    assert_eq!(stored(&here).len(), 4);
}
