//! The legs one by one over a real store: what each finds, what it must not bring in, and what is left of a recall when one
//! is late.

use std::collections::HashMap;

use remembrancer_schema::{FieldWeights, MatchExpression, Rank, Scope};
use rstest::rstest;

use super::super::legs::{self, Bounds, COARSE_LIMIT, Words};
use super::super::pool::Compared;
use super::*;

/// What the legs gathered, by episode, ranked in each leg.
struct Gathered(HashMap<EpisodeUid, Fused>);

impl Gathered {
    fn holds(&self, uid: EpisodeUid) -> bool {
        self.0.contains_key(&uid)
    }

    fn rank(&self, uid: EpisodeUid, leg: Leg) -> Option<u32> {
        self.0.get(&uid)?.ranks.of(leg).map(Rank::get)
    }

    fn count(&self, has: impl Fn(&Fused) -> bool) -> usize {
        self.0.values().filter(|fused| has(fused)).count()
    }

    fn ranked_in(&self, leg: Leg) -> usize {
        self.count(|fused| fused.ranks.of(leg).is_some())
    }
}

impl Store {
    /// The pool of the project `shop` for `prompt`, by `profile`.
    fn gather(&mut self, prompt: &str, profile: &Profile, session: &SessionState) -> Gathered {
        self.gather_in(ScopeRule::default(), prompt, profile, session)
    }

    fn gather_in(&mut self, scope: ScopeRule, prompt: &str, profile: &Profile, session: &SessionState) -> Gathered {
        let question = question(prompt, Some(self.project("shop")));
        let settings = RecallSettings {
            profile: *profile,
            scope,
            ..RecallSettings::default()
        };
        let deadline = Deadline::after(Duration::from_secs(20));
        let pool = self.with_sources(&Ok(asked()), |sources| {
            candidate_pool(&question, session, sources, &settings, deadline)
        });
        let fused = fuse(pool.unwrap(), profile, NOW).into_iter();
        Gathered(fused.map(|fused| (fused.candidate.row.uid, fused)).collect())
    }

    fn id(&self, uid: EpisodeUid) -> EpisodeId {
        self.reader().find_episode(&uid.to_string()).unwrap()[0].id
    }

    /// A hit by words and by meaning, in the session `talk`.
    fn hit(&mut self, facets: Facets) -> EpisodeUid {
        self.remember(&Memory {
            prompt: PROMPT,
            session: "talk",
            facets,
            vector: Some(vector(0.8, 3)),
            ..Memory::default()
        })
    }

    /// What no word and no vector leads to.
    fn unnoticed(&mut self, session: &str, project: &str, facets: Facets) -> EpisodeUid {
        self.remember(&Memory {
            session,
            project,
            facets,
            ..Memory::default()
        })
    }

    /// `count` memories of other things, each in a session of its own.
    fn crowd(&mut self, count: usize, facets: &Facets) {
        for number in 0..count {
            self.remember(&Memory {
                prompt: "how do I water the garden",
                session: &format!("garden {number}"),
                facets: facets.clone(),
                vector: Some(vector(-0.5, number)),
                ..Memory::default()
            });
        }
    }
}

fn single_leg(name: &str) -> &'static Profile {
    SINGLE_LEGS.iter().find(|profile| profile.name == name).unwrap()
}

fn files(path: &str) -> Facets {
    Facets {
        files: vec![path.to_owned()],
        ..Facets::default()
    }
}

fn left_out(store: &Store, uids: &[EpisodeUid]) -> SessionState {
    SessionState {
        left_out: uids.iter().map(|uid| store.id(*uid)).collect(),
        ..SessionState::default()
    }
}

#[rstest]
#[case::few_are_broadened(&WEIGHTED, 9, 13, 9)]
#[case::enough_are_not(&WEIGHTED, 10, 10, 10)]
#[case::none_is_broadened(&WEIGHTED, 0, 4, 0)]
#[case::any_term_knows_no_all(&RRF, 9, 13, 0)]
#[case::all_terms_alone(single_leg("bm25-all-terms"), 9, 9, 9)]
fn all_terms_are_asked_for_first(#[case] profile: &Profile, #[case] all: usize, #[case] hits: usize, #[case] exact: usize) {
    let mut store = Store::new();
    for prompt in std::iter::repeat_n(PROMPT, all).chain(std::iter::repeat_n("a capacitor in a drawer", 4)) {
        store.remember(&Memory {
            prompt,
            ..Memory::default()
        });
    }
    let gathered = store.gather(PROMPT, profile, &SessionState::default());
    assert_eq!(gathered.count(|fused| fused.candidate.bm25.is_some()), hits);
    assert_eq!(gathered.count(|fused| fused.candidate.exact), exact);
}

#[test]
fn what_holds_all_terms_stays_a_hit_when_broadened() {
    let mut store = Store::new();
    store.fill(200);
    let exact = store.remember(&Memory {
        prompt: PROMPT,
        answer: &"and so on and so forth ".repeat(600),
        ..Memory::default()
    });
    for number in 0..BM25_LIMIT + 10 {
        store.remember(&Memory {
            prompt: "flux capacitor",
            answer: &format!("{number}"),
            ..Memory::default()
        });
    }
    let gathered = store.gather(PROMPT, &WEIGHTED, &SessionState::default());
    assert!(gathered.0[&exact].candidate.exact);
    assert_eq!(
        gathered.rank(exact, Leg::Bm25),
        Some(2),
        "after the short ones, which are all alike"
    );
}

#[test]
fn the_turns_beside_a_hit_are_linked() {
    let mut store = Store::new();
    store.crowd(30, &Facets::default());
    let earlier = store.unnoticed("talk", "shop", Facets::default());
    let hit = store.hit(Facets::default());
    let next = store.unnoticed("talk", "shop", Facets::default());
    let after_that = store.unnoticed("talk", "shop", Facets::default());
    for profile in [single_leg("graph"), &WEIGHTED] {
        let gathered = store.gather(PROMPT, profile, &SessionState::default());
        let ranks = [earlier, hit, next, after_that].map(|uid| gathered.rank(uid, Leg::Graph));
        assert_eq!(ranks, [Some(1), None, Some(1), None], "{}", profile.name);
        assert!(!gathered.holds(after_that));
    }
    let gathered = store.gather(PROMPT, &RRF, &SessionState::default());
    assert!(gathered.holds(hit) && !gathered.holds(next));
}

#[test]
fn the_graph_leg_alone_recalls_what_it_links() {
    let mut store = Store::new();
    store.crowd(30, &Facets::default());
    store.hit(Facets::default());
    let next = store.remember(&Memory {
        session: "talk",
        vector: Some(vector(-0.9, 3)),
        ..Memory::default()
    });
    let settings = RecallSettings {
        profile: *single_leg("graph"),
        ..RecallSettings::default().without_gates()
    };
    let recall = store.ask_with(PROMPT, &SessionState::default(), &settings, &Ok(asked()));
    assert_eq!(uids(&recall)[0], next);
}

#[rstest]
#[case::file(files("src/cooling.rs"))]
#[case::command(Facets { commands: vec!["cargo xtask chill".to_owned()], ..Facets::default() })]
#[case::error(Facets { errors: vec!["E0308: mismatched coolant".to_owned()], ..Facets::default() })]
fn what_touched_the_same_is_linked(#[case] facets: Facets) {
    let mut store = Store::new();
    store.crowd(30, &files("src/main.rs"));
    store.hit(facets.clone());
    let linked = store.unnoticed("another", "shop", facets);
    let other = store.unnoticed("a third", "shop", files("src/heating.rs"));
    let gathered = store.gather(PROMPT, single_leg("graph"), &SessionState::default());
    assert_eq!(gathered.rank(linked, Leg::Graph), Some(1));
    assert_eq!(
        (gathered.rank(linked, Leg::Bm25), gathered.rank(linked, Leg::Vector)),
        (None, None)
    );
    assert!(!gathered.holds(other));
}

#[test]
fn what_everybody_touches_links_nothing() {
    let mut store = Store::new();
    store.crowd(60, &files("src/main.rs"));
    store.hit(files("src/main.rs"));
    let unlinked = store.unnoticed("another", "shop", files("src/main.rs"));
    let gathered = store.gather(PROMPT, single_leg("graph"), &SessionState::default());
    assert_eq!(gathered.ranked_in(Leg::Graph), 0);
    assert!(!gathered.holds(unlinked));
}

#[test]
fn what_is_left_out_is_not_brought_in_by_a_link() {
    let mut store = Store::new();
    store.crowd(30, &Facets::default());
    store.hit(files("src/cooling.rs"));
    let next = store.unnoticed("talk", "shop", Facets::default());
    let linked = store.unnoticed("another", "shop", files("src/cooling.rs"));
    let state = left_out(&store, &[next]);
    let gathered = store.gather(PROMPT, &WEIGHTED, &state);
    assert_eq!((gathered.holds(next), gathered.holds(linked)), (false, true));
    let state = left_out(&store, &[linked]);
    let gathered = store.gather(PROMPT, &WEIGHTED, &state);
    assert_eq!((gathered.holds(next), gathered.holds(linked)), (true, false));
}

#[rstest]
#[case::own_alone(ScopeRule::Project, false)]
#[case::own_first(ScopeRule::ProjectFirst, false)]
#[case::all(ScopeRule::All, true)]
fn another_project_s_is_not_brought_in_by_a_link(#[case] scope: ScopeRule, #[case] all: bool) {
    let mut store = Store::new();
    store.crowd(30, &Facets::default());
    store.hit(files("src/cooling.rs"));
    let next = store.unnoticed("talk", "other", Facets::default());
    let linked = store.unnoticed("another", "other", files("src/cooling.rs"));
    let gathered = store.gather_in(scope, PROMPT, &WEIGHTED, &SessionState::default());
    assert_eq!(gathered.holds(linked), all);
    assert!(!gathered.holds(next), "the conversation went on elsewhere");
}

/// A direction that is farther from the prompt's than the crowd's are.
fn aside() -> Embedding {
    let mut values = vec![1.0; DIMENSION];
    values[0] = -6.0;
    Embedding::normalised(values).unwrap()
}

/// A store in which an old episode lies near to the conversation alone, and that conversation's two episodes, of which the
/// second has no vector yet.
fn conversation() -> (Store, EpisodeUid, SessionState) {
    let mut store = Store::new();
    // All are equally far by their codes, and then the first come first.
    store.crowd(COARSE_LIMIT + 60, &Facets::default());
    let old = store.remember(&Memory {
        age_days: 900,
        vector: Some(aside()),
        ..Memory::default()
    });
    let said = |store: &mut Store, vector| {
        store.remember(&Memory {
            session: "now",
            age_days: 0,
            vector,
            ..Memory::default()
        })
    };
    let own = [said(&mut store, Some(aside())), said(&mut store, None)];
    let session = SessionState {
        conversation: own.iter().map(|uid| store.id(*uid)).collect(),
        ..left_out(&store, &own)
    };
    (store, old, session)
}

#[test]
fn what_is_near_to_the_conversation_is_found_by_expansion() {
    let (mut store, old, session) = conversation();
    let gathered = store.gather(PROMPT, &V2, &session);
    assert_eq!(gathered.rank(old, Leg::Expansion), Some(1));
    assert!((gathered.0[&old].candidate.expansion.unwrap().0 - 1.0).abs() < 1e-6);
    assert_ne!(gathered.rank(old, Leg::Vector), Some(1));
}

#[rstest]
#[case::no_conversation(&V2, 2)]
#[case::no_vector_in_it(&V2, 1)]
#[case::a_profile_without_the_leg(&RRF, 0)]
fn without_expansion_nothing_changes(#[case] profile: &Profile, #[case] unsaid: usize) {
    let (mut store, old, mut session) = conversation();
    session.conversation.drain(..unsaid);
    let gathered = store.gather(PROMPT, profile, &session);
    assert_eq!(gathered.ranked_in(Leg::Expansion), 0);
    assert!(!gathered.holds(old));
}

/// A reader whose time is up.
fn late(store: &Store) -> Reader {
    let reader = store.reader();
    reader.set_deadline_check(Some(Box::new(|| true)));
    let garden = MatchExpression::any_of(&["garden".to_owned()], Scope::All).unwrap();
    assert!(
        reader.bm25(&garden, FieldWeights::EQUAL, 10).is_err(),
        "enough work to be stopped"
    );
    reader
}

#[test]
fn each_leg_that_is_late_is_named() {
    let (store, _, session) = conversation();
    let reader = late(&store);
    let bounds = Bounds {
        project: None,
        scope: ScopeRule::All,
        everywhere: None,
        left_out: &session.left_out,
    };
    let question = question(PROMPT, None);
    let words = legs::bm25(&reader, &question.query, &bounds, &WEIGHTED.lexical);
    assert_eq!(words.err(), Some(Degradation::Bm25Absent));
    assert_eq!(legs::recent(&reader, &bounds), Err(Degradation::RecentAbsent));
    assert!(expansion::conversation(&reader, &session.conversation, MODEL).is_err());
}

#[test]
fn a_late_graph_leg_leaves_the_pool_as_it_was() {
    let mut store = Store::new();
    store.fill(260);
    let hit = store.hit(Facets::default());
    store.unnoticed("talk", "shop", Facets::default());
    let none = HashSet::new();
    let bounds = Bounds {
        project: None,
        scope: ScopeRule::All,
        everywhere: None,
        left_out: &none,
    };
    let asked = asked();
    let compared = Compared {
        model_id: MODEL,
        prompt: Some(&asked),
        conversation: None,
    };
    let words = Words::default();
    let mut pool = pool::candidates(&store.reader(), &[store.id(hit)], &words, compared, |_| false).unwrap();
    let before = pool.clone();
    let linked = graph::add_linked(&late(&store), &mut pool, &words, compared, &bounds);
    assert_eq!(linked, Err(Degradation::GraphAbsent));
    assert_eq!(pool, before);
    assert_eq!(
        graph::add_linked(&store.reader(), &mut pool, &words, compared, &bounds),
        Ok(())
    );
    assert_eq!(pool.len(), 2);
}

#[test]
fn a_recall_whose_time_is_up_names_what_it_lacks() {
    let (store, _, session) = conversation();
    let question = question("how do I water the garden", None);
    let settings = RecallSettings {
        scope: ScopeRule::All,
        ..RecallSettings::default()
    };
    let recall = store.with_sources(&Ok(asked()), |sources| {
        recall(&question, &session, sources, &settings, Deadline::after(Duration::ZERO))
    });
    assert_eq!(recall.silence, Some(Silence::OutOfTime));
    // Without what is muted nothing is looked for.
    assert_eq!(recall.degradations, [Degradation::PoolAbsent]);
}

#[rstest]
#[case::last_week("what did we do last week about the flux capacitor", [false, true, false])]
#[case::ago("which flux capacitor was it six weeks ago", [false, false, true])]
#[case::no_time("what did we do about the flux capacitor", [false, false, false])]
fn a_time_in_the_prompt_speaks_for_what_is_from_then(#[case] prompt: &str, #[case] expected: [bool; 3]) {
    let mut store = Store::new();
    // Asked on a Monday.
    let remembered = [0, 5, 42].map(|age_days| {
        store.remember(&Memory {
            prompt: PROMPT,
            age_days,
            vector: Some(vector(0.6, 1)),
            ..Memory::default()
        })
    });
    let weighing = store.ask(prompt).weighing;
    let in_time = remembered.map(|uid| {
        let weighed = weighing
            .candidates
            .iter()
            .find(|weighed| weighed.fused.candidate.row.uid == uid);
        weighed.unwrap().evidence.in_time > 0.0
    });
    assert_eq!(in_time, expected);
}

/// The reserve is for what follows the legs: with all legs late, what the vectors found is still answered.
#[test]
fn late_legs_leave_time_for_an_answer() {
    let mut store = Store::new();
    store.fill(400);
    let near = store.remember(&Memory {
        prompt: PROMPT,
        vector: Some(vector(0.9, 1)),
        ..Memory::default()
    });
    let question = question(PROMPT, Some(store.project("shop")));
    let settings = RecallSettings {
        reserve: Duration::from_secs(20),
        ..by_the_seed()
    };
    let recall = store.with_sources(&Ok(asked()), |sources| {
        recall(
            &question,
            &SessionState::default(),
            sources,
            &settings,
            Deadline::after(Duration::from_secs(20)),
        )
    });
    assert_eq!(uids(&recall), [near]);
    assert!(
        recall.degradations.contains(&Degradation::RecentAbsent),
        "{:?}",
        recall.degradations
    );
}
