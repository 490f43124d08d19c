//! The leg of the shared store: what it is asked and when, what it may bring in, and what is left of a recall when it is late.

use rstest::rstest;

use super::*;

const PATIENCE: Duration = Duration::from_secs(20);

/// A shared store that answers so.
struct Shared {
    found: Result<Vec<EpisodeId>, Degradation>,
    /// The terms, whether a vector came along, and how long was left for the answer.
    asked: Option<(Vec<String>, bool, Duration)>,
}

impl Shared {
    fn finds(found: Result<Vec<EpisodeId>, Degradation>) -> Self {
        Self { found, asked: None }
    }
}

impl AskRemote for Shared {
    fn begin(&mut self, terms: &[String], embedding: Option<&Embedding>, until: Deadline) {
        assert!(self.asked.is_none(), "it is asked once");
        self.asked = Some((terms.to_vec(), embedding.is_some(), until.remaining()));
    }

    fn found(&mut self) -> Result<Vec<EpisodeId>, Degradation> {
        self.found.clone()
    }
}

impl Store {
    fn row(&self, uid: EpisodeUid) -> EpisodeId {
        self.reader().find_episode(&uid.to_string()).unwrap()[0].id
    }

    /// Calls `act` with the question and all that a recall works with.
    fn beside<T>(
        &mut self,
        shared: Option<&mut Shared>,
        embedding: &Result<Embedding, Degradation>,
        act: impl FnOnce(&Question, Sources<'_>) -> T,
    ) -> T {
        let question = question(PROMPT, Some(self.project("shop")));
        let reader = self.reader();
        let mut source = |_| embedding.clone();
        let sources = Sources {
            reader: &reader,
            codes: &self.codes,
            model_id: MODEL,
            embedding: &mut source,
            remote: shared.map(|shared| shared as &mut RemoteSource<'_>),
            reranker: None,
            afterwards: None,
        };
        act(&question, sources)
    }

    fn recall_beside(&mut self, shared: Option<&mut Shared>, session: &SessionState, settings: &RecallSettings) -> Recall {
        self.beside(shared, &Ok(asked()), |question, sources| {
            recall(question, session, sources, settings, Deadline::after(PATIENCE))
        })
    }
}

fn settings() -> RecallSettings {
    RecallSettings {
        profile: UNION.with_remote(),
        ..RecallSettings::default()
    }
}

#[rstest]
#[case::its_project_first(ScopeRule::ProjectFirst, false)]
#[case::its_project_alone(ScopeRule::Project, false)]
#[case::all_projects(ScopeRule::All, true)]
fn it_brings_in_what_no_leg_here_finds_and_passes_no_filter_by(#[case] scope: ScopeRule, #[case] others: bool) {
    let mut store = Store::new();
    let mut unnoticed = |project| {
        let memory = Memory {
            project,
            ..Memory::default()
        };
        store.remember(&memory)
    };
    let [first, second, foreign, shown] = ["shop", "shop", "elsewhere", "shop"].map(&mut unnoticed);
    let local = store.remember(&Memory {
        prompt: PROMPT,
        vector: Some(vector(0.8, 3)),
        ..Memory::default()
    });
    let rows = [second, shown, foreign, local, first].map(|uid| store.row(uid)).to_vec();
    let session = SessionState {
        left_out: HashSet::from([store.row(shown)]),
        ..SessionState::default()
    };
    let settings = RecallSettings { scope, ..settings() };
    let mut pool_with = |shared: Option<&mut Shared>| -> Vec<Candidate> {
        let pool = store.beside(shared, &Ok(asked()), |question, sources| {
            candidate_pool(question, &session, sources, &settings, Deadline::after(PATIENCE))
        });
        pool.unwrap()
    };
    let without: Vec<EpisodeUid> = pool_with(None).iter().map(|candidate| candidate.row.uid).collect();
    assert_eq!(without, [local]);
    let pool = pool_with(Some(&mut Shared::finds(Ok(rows))));
    let fused = fuse(pool, &settings.profile, NOW);
    let rank = |uid: EpisodeUid| {
        let found = fused.iter().find(|fused| fused.candidate.row.uid == uid);
        found.map(|fused| fused.ranks.of(Leg::Remote).map(remembrancer_schema::Rank::get))
    };
    assert_eq!(rank(shown), None, "the session was shown it");
    assert_eq!(rank(foreign).is_some(), others);
    let last = if others { 4 } else { 3 };
    assert_eq!(
        [rank(second), rank(local), rank(first)],
        [Some(Some(1)), Some(Some(last - 1)), Some(Some(last))]
    );
}

#[test]
fn it_counts_where_the_profile_counts_it_alone() {
    let mut store = Store::new();
    let uid = store.remember(&Memory::default());
    let row = store.row(uid);
    let pool = store.beside(Some(&mut Shared::finds(Ok(vec![row]))), &Ok(asked()), |question, sources| {
        let state = SessionState::default();
        candidate_pool(question, &state, sources, &settings(), Deadline::after(PATIENCE))
    });
    let pool = pool.unwrap();
    let fused = |profile: &Profile| fuse(pool.clone(), profile, NOW).remove(0);
    let (with, without) = (fused(&UNION.with_remote()), fused(&UNION));
    assert!((with.score - without.score - 1.0 / 61.0).abs() < 1e-12);
    assert_eq!(without.ranks.of(Leg::Remote), None);
}

#[rstest]
#[case::with_a_vector(Ok(asked()), true)]
#[case::without(Err(Degradation::NoModel), false)]
fn it_is_asked_once_it_is_known_by_what_and_has_half_of_what_is_left(
    #[case] embedding: Result<Embedding, Degradation>,
    #[case] by_vector: bool,
) {
    let mut store = Store::new();
    let mut shared = Shared::finds(Ok(Vec::new()));
    store.beside(Some(&mut shared), &embedding, |question, sources| {
        let state = SessionState::default();
        recall(question, &state, sources, &settings(), Deadline::after(PATIENCE))
    });
    let (terms, has_vector, left) = shared.asked.unwrap();
    assert_eq!((terms, has_vector), (Query::of(PROMPT).terms, by_vector));
    assert!(left <= PATIENCE / 2 && left > PATIENCE / 3, "{left:?}");
}

#[test]
fn nothing_is_asked_on_the_same_topic_or_once_the_time_of_the_legs_is_up() {
    let mut store = Store::new();
    store.fill(5);
    let mut shared = Shared::finds(Ok(Vec::new()));
    let session = SessionState {
        answered_topic: Some(asked()),
        ..SessionState::default()
    };
    let recall = store.recall_beside(Some(&mut shared), &session, &settings());
    assert_eq!((recall.silence, shared.asked.is_none()), (Some(Silence::SameTopic), true));

    let mut shared = Shared::finds(Err(Degradation::RemoteAbsent));
    let no_time = RecallSettings {
        reserve: PATIENCE,
        ..settings()
    };
    let recall = store.recall_beside(Some(&mut shared), &SessionState::default(), &no_time);
    assert!(shared.asked.is_none());
    assert!(
        recall.degradations.contains(&Degradation::RemoteAbsent),
        "{:?}",
        recall.degradations
    );
}

#[rstest]
#[case::late(Degradation::RemoteLate, "share-remote-late")]
#[case::absent(Degradation::RemoteAbsent, "share-remote-absent")]
fn without_it_the_answer_is_that_of_this_memory(#[case] lacking: Degradation, #[case] name: &str) {
    let mut store = Store::new();
    store.fill(30);
    store.remember(&Memory {
        prompt: PROMPT,
        vector: Some(vector(0.8, 3)),
        ..Memory::default()
    });
    let state = SessionState::default();
    let alone = store.recall_beside(None, &state, &settings());
    let lacks = store.recall_beside(Some(&mut Shared::finds(Err(lacking))), &state, &settings());
    assert_eq!((uids(&lacks), uids(&lacks).len()), (uids(&alone), 1));
    assert_eq!(lacks.log.degradations, [name]);
    assert!(alone.log.degradations.is_empty());

    let trace = lacks.trace(&settings());
    let source = trace.sources.iter().find(|source| source.name == "remote").unwrap();
    assert_eq!((source.found, source.absent.as_deref()), (0, Some(name)));
    let list = trace.lists.iter().find(|list| list.leg == "remote").unwrap();
    assert_eq!((list.counts, list.ranked, list.absent.as_deref()), (true, 0, Some(name)));
    let trace = alone.trace(&settings());
    assert!(
        trace.sources.iter().all(|source| source.name != "remote"),
        "it was not to be asked"
    );
    assert!(trace.lists.iter().all(|list| list.leg != "remote"));
}

#[test]
fn the_trace_tells_what_it_brought() {
    let mut store = Store::new();
    let other = store.remember(&Memory::default());
    let near = store.remember(&Memory {
        prompt: PROMPT,
        vector: Some(vector(0.8, 3)),
        ..Memory::default()
    });
    let rows = [near, other].map(|uid| store.row(uid)).to_vec();
    let recall = store.recall_beside(Some(&mut Shared::finds(Ok(rows))), &SessionState::default(), &settings());
    let trace = recall.trace(&settings());
    let source = trace.sources.iter().find(|source| source.name == "remote").unwrap();
    assert_eq!(
        (source.found, source.added, source.passed_over, source.absent.as_deref()),
        (2, 1, Some(0), None)
    );
    let list = trace.lists.iter().find(|list| list.leg == "remote").unwrap();
    assert_eq!((list.counts, list.ranked, list.top.len()), (true, 2, 2));
    assert!(trace.fused_parts.iter().any(|part| part == "remote"));
    let shown = trace
        .candidates
        .iter()
        .find(|candidate| candidate.remote_rank == Some(1))
        .unwrap();
    let sum: f64 = shown.fused_parts.iter().sum();
    assert!((sum - shown.fused).abs() < 1e-3, "{sum}");
    assert!(recall.log.stages.iter().any(|(stage, _)| stage == "remote"));
}
