//! Recall over a real store with vectors made by hand: the manual checks of seed 004 as tests, and the rules of the pool
//! and the gates.

mod legs;
mod origin;
mod reranking;

use std::path::Path;

use remembrancer_schema::{
    EmbeddedEpisode, EpisodeUid, Facets, Importance, IngestBatch, NewEpisode, Origin, SourcePosition, SourceUpdate, TurnUid,
    TurnUpsert, Writer,
};
use tempfile::TempDir;

use super::*;

const MODEL: &str = "by hand";
const DIMENSION: usize = 64;
const NOW: UnixMillis = UnixMillis(1_790_000_000_000);
const DAY: i64 = 86_400_000;

/// A unit vector at `cosine` to the first axis, the rest of it along `axis`.
fn vector(cosine: f32, axis: usize) -> Embedding {
    let mut values = vec![0.0; DIMENSION];
    values[0] = cosine;
    values[1 + axis % (DIMENSION - 1)] = (1.0 - cosine * cosine).sqrt();
    Embedding::from_unit(values)
}

/// The prompt's vector in these tests: the first axis.
fn asked() -> Embedding {
    vector(1.0, 0)
}

struct Store {
    folder: TempDir,
    writer: Writer,
    codes: RwLock<CodeIndex>,
    turns: u32,
}

struct Memory<'a> {
    prompt: &'a str,
    answer: &'a str,
    age_days: i64,
    importance: Importance,
    session: &'a str,
    project: &'a str,
    facets: Facets,
    vector: Option<Embedding>,
}

impl Default for Memory<'_> {
    fn default() -> Self {
        Self {
            prompt: "a prompt",
            answer: "an answer",
            age_days: 1,
            importance: Importance::Normal,
            session: "old",
            project: "shop",
            facets: Facets::default(),
            vector: None,
        }
    }
}

impl Store {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = Writer::open(&folder.path().join("memory.db")).unwrap();
        writer.set_embedding_model(MODEL, DIMENSION).unwrap();
        Self {
            folder,
            writer,
            codes: RwLock::new(CodeIndex::new(DIMENSION)),
            turns: 0,
        }
    }

    fn project(&mut self, name: &str) -> ProjectId {
        self.writer
            .resolve_project(&[format!("cwd:/{name}")], name, None, NOW)
            .unwrap()
    }

    fn remember(&mut self, memory: &Memory<'_>) -> EpisodeUid {
        self.turns += 1;
        let turn_uid = TurnUid(u128::from(self.turns).to_be_bytes());
        let uid = EpisodeUid::of(&turn_uid, 0);
        let project = self.project(memory.project);
        let episode = NewEpisode {
            uid,
            turn_uid,
            part: 0,
            turn: self.turns,
            origin: Origin::User,
            importance: memory.importance,
            importance_rule: "test".to_owned(),
            created_at: UnixMillis(NOW.0 - memory.age_days * DAY),
            prompt: memory.prompt.to_owned(),
            answer: memory.answer.to_owned(),
            facets: memory.facets.clone(),
        };
        let turn = TurnUpsert {
            turn_uid,
            session: key(memory.session),
            cwd: Some(format!("/{}", memory.project)),
            git_branch: None,
            project: Some(project),
            episodes: vec![episode],
        };
        self.writer.ingest(&batch(turn)).unwrap();
        if let Some(vector) = &memory.vector {
            self.embed(uid, project, vector);
        }
        uid
    }

    fn embed(&mut self, uid: EpisodeUid, project: ProjectId, vector: &Embedding) {
        let reader = self.reader();
        let id = reader.find_episode(&uid.to_string()).unwrap()[0].id;
        let row = reader
            .embedding_backlog(MODEL, 10_000)
            .unwrap()
            .into_iter()
            .find(|row| row.id == id)
            .unwrap();
        let embedded = EmbeddedEpisode {
            id,
            content_hash: row.content_hash,
            vector: vector.as_slice().to_vec(),
        };
        self.writer.store_embeddings(MODEL, &[embedded]).unwrap();
        self.codes.get_mut().unwrap().insert(id, Some(project), &vector.bit_code());
    }

    /// `count` recent memories that have nothing to do with the prompt.
    fn fill(&mut self, count: usize) {
        for number in 0..count {
            self.remember(&Memory {
                prompt: "how do I water the garden",
                answer: &format!("with a hose, answer {number}"),
                vector: Some(vector(-0.5, number)),
                ..Memory::default()
            });
        }
    }

    fn reader(&self) -> Reader {
        Reader::open(&self.path()).unwrap()
    }

    fn path(&self) -> std::path::PathBuf {
        Path::new(self.folder.path()).join("memory.db")
    }

    fn ask(&mut self, prompt: &str) -> Recall {
        self.ask_with(prompt, &SessionState::default(), &by_the_seed(), &Ok(asked()))
    }

    fn ask_with(
        &mut self,
        prompt: &str,
        session: &SessionState,
        settings: &RecallSettings,
        embedding: &Result<Embedding, Degradation>,
    ) -> Recall {
        let question = question(prompt, Some(self.project("shop")));
        self.with_sources(embedding, |sources| {
            recall(
                &question,
                session,
                sources,
                settings,
                Deadline::after(Duration::from_secs(20)),
            )
        })
    }

    /// Calls `act` with all that a recall works with.
    fn with_sources<T>(&self, embedding: &Result<Embedding, Degradation>, act: impl FnOnce(Sources<'_>) -> T) -> T {
        let reader = self.reader();
        let mut source = |_| embedding.clone();
        act(Sources {
            reader: &reader,
            codes: &self.codes,
            model_id: MODEL,
            embedding: &mut source,
            reranker: None,
        })
    }
}

/// The settings as shipped, with the profile of seed 004: what ranks first can be told by hand.
fn by_the_seed() -> RecallSettings {
    RecallSettings {
        profile: UNION,
        ..RecallSettings::default()
    }
}

fn question(prompt: &str, project: Option<ProjectId>) -> Question {
    Question {
        session: key("now"),
        project,
        query: Query::of(prompt),
        logged_hash: [0; 32],
        header: Header {
            prompt_hash: "0".repeat(16),
            written: NOW,
        },
        now: NOW,
    }
}

fn key(session: &str) -> SessionKey {
    SessionKey {
        agent: "claude-code".to_owned(),
        external_id: session.to_owned(),
    }
}

fn batch(turn: TurnUpsert) -> IngestBatch {
    let position = SourcePosition::default();
    let source = SourceUpdate {
        agent: "claude-code".to_owned(),
        path: "/transcripts/t.jsonl".to_owned(),
        kind: "jsonl".to_owned(),
        device: 1,
        inode: 1,
        size: 0,
        mtime: NOW,
        position,
        generation: 0,
        whole: false,
        records_delta: 1,
        skipped_delta: 0,
        problems: Vec::new(),
    };
    IngestBatch {
        now: NOW,
        source,
        sessions: Vec::new(),
        turns: vec![turn],
        retire_older_generations: false,
    }
}

fn uids(recall: &Recall) -> Vec<EpisodeUid> {
    recall.recollections.iter().map(|chosen| chosen.episode.uid).collect()
}

const PROMPT: &str = "why does the flux capacitor overheat";

#[test]
fn seed_004_fewer_than_200_episodes_are_all_in_the_pool() {
    let mut store = Store::new();
    store.fill(20);
    let wanted = store.remember(&Memory {
        prompt: PROMPT,
        answer: "the flux capacitor lacked a fan",
        vector: Some(vector(0.8, 3)),
        ..Memory::default()
    });
    let recall = store.ask("the flux capacitor overheats again");
    assert_eq!(recall.log.pool, 21);
    assert_eq!(uids(&recall), [wanted]);
    assert!(recall.context.contains("lacked a fan"));
}

#[test]
fn seed_004_an_old_keyword_memory_surfaces_from_beyond_the_200_most_recent() {
    let mut store = Store::new();
    let old = store.remember(&Memory {
        prompt: PROMPT,
        answer: "the flux capacitor lacked a fan",
        age_days: 900,
        vector: Some(vector(0.5, 3)),
        ..Memory::default()
    });
    store.fill(260);
    // No coarse search: the words alone must bring it in.
    store.codes = RwLock::new(CodeIndex::new(DIMENSION));
    let recall = store.ask("the flux capacitor overheats again");
    assert_eq!(uids(&recall), [old]);
    assert_eq!(recall.log.pool, 201, "200 recent ones and the BM25 miss");
}

#[test]
fn a_reworded_old_memory_surfaces_without_sharing_a_word() {
    let mut store = Store::new();
    let old = store.remember(&Memory {
        prompt: "thermal shutdown of the time machine",
        answer: "its core needs cooling",
        age_days: 900,
        vector: Some(vector(0.7, 3)),
        ..Memory::default()
    });
    store.fill(260);
    let recall = store.ask(PROMPT);
    assert_eq!(uids(&recall), [old]);
    assert_eq!(recall.recollections[0].ranks.of(Leg::Bm25), None);
}

#[test]
fn seed_004_high_importance_is_boosted() {
    let mut store = Store::new();
    let memory = |importance, axis| Memory {
        prompt: PROMPT,
        answer: if axis == 1 { "first answer" } else { "second answer" },
        importance,
        vector: Some(vector(0.6, axis)),
        ..Memory::default()
    };
    let normal = store.remember(&memory(Importance::Normal, 1));
    let high = store.remember(&Memory {
        age_days: 2,
        ..memory(Importance::High, 2)
    });
    let recall = store.ask(PROMPT);
    assert_eq!(uids(&recall), [high, normal], "older, and yet first");
}

#[test]
fn seed_004_the_top_three_are_shown_and_no_more() {
    let mut store = Store::new();
    for number in 0..6 {
        let answer = format!("answer {number}");
        store.remember(&Memory {
            prompt: PROMPT,
            answer: &answer,
            vector: Some(vector(0.6, number)),
            ..Memory::default()
        });
    }
    let recall = store.ask(PROMPT);
    assert_eq!(recall.recollections.len(), 3);
    let positions: Vec<_> = recall
        .log
        .candidates
        .iter()
        .filter_map(|candidate| candidate.position)
        .collect();
    assert_eq!(positions, [1, 2, 3]);
}

#[test]
fn a_prompt_that_nothing_came_of_is_shown_only_if_it_matters() {
    let mut store = Store::new();
    let unanswered = |importance, axis| Memory {
        prompt: PROMPT,
        answer: "",
        importance,
        vector: Some(vector(0.7, axis)),
        ..Memory::default()
    };
    store.remember(&unanswered(Importance::Low, 1));
    assert_eq!(store.ask(PROMPT).silence, Some(Silence::NothingRelevant));
    let remembered = store.remember(&unanswered(Importance::High, 2));
    assert_eq!(uids(&store.ask(PROMPT)), [remembered]);
}

#[test]
fn what_had_no_room_was_not_shown() {
    let mut store = Store::new();
    let long = "这个解析器在处理很长的输入时会出错。".repeat(80);
    for number in 0..3 {
        let answer = format!("{number} {long}");
        store.remember(&Memory {
            prompt: PROMPT,
            answer: &answer,
            vector: Some(vector(0.6, number)),
            ..Memory::default()
        });
    }
    let recall = store.ask(PROMPT);
    let marked = recall
        .log
        .candidates
        .iter()
        .filter(|candidate| candidate.position.is_some())
        .count();
    assert_eq!(marked, recall.recollections.len());
    assert!(marked < 3, "the third had no room");
    assert!(
        recall
            .log
            .candidates
            .iter()
            .any(|candidate| candidate.gate.as_deref() == Some("no-room"))
    );
}

#[test]
fn what_is_shown_from_far_down_the_order_is_logged() {
    let mut store = Store::new();
    for number in 0..30 {
        store.remember(&Memory {
            prompt: PROMPT,
            answer: "the very same",
            vector: Some(vector(0.6, number)),
            importance: Importance::High,
            ..Memory::default()
        });
    }
    let last = store.remember(&Memory {
        prompt: PROMPT,
        answer: "another answer",
        age_days: 500,
        vector: Some(vector(0.55, 1)),
        ..Memory::default()
    });
    let recall = store.ask(PROMPT);
    assert!(uids(&recall).contains(&last));
    let shown = recall
        .log
        .candidates
        .iter()
        .filter(|candidate| candidate.position.is_some())
        .count();
    assert_eq!(shown, recall.recollections.len());
}

#[test]
fn a_late_embedding_falls_back_to_words() {
    let mut store = Store::new();
    store.fill(5);
    let wanted = store.remember(&Memory {
        prompt: PROMPT,
        vector: Some(vector(0.8, 3)),
        ..Memory::default()
    });
    let state = SessionState::default();
    let recall = store.ask_with(PROMPT, &state, &by_the_seed(), &Err(Degradation::EmbeddingLate));
    assert_eq!(uids(&recall), [wanted]);
    assert_eq!(recall.degradations, [Degradation::EmbeddingLate]);
    assert_eq!(recall.log.degradations, ["embedding-late"]);
}

#[test]
fn an_episode_without_a_vector_takes_part_by_its_words() {
    let mut store = Store::new();
    store.fill(5);
    let wanted = store.remember(&Memory {
        prompt: PROMPT,
        answer: "it lacked a fan",
        ..Memory::default()
    });
    assert_eq!(uids(&store.ask(PROMPT)), [wanted]);
}

#[test]
fn tc_25_an_unrelated_prompt_gets_nothing() {
    let mut store = Store::new();
    store.fill(30);
    let recall = store.ask("please write a haiku about the autumn moon over a quiet harbour");
    assert_eq!(recall.silence, Some(Silence::NothingRelevant));
    assert_eq!(recall.context, "");
    let recall = store.ask("ok, continue");
    assert_eq!((recall.silence, recall.log.pool), (Some(Silence::Chatter), 0));
}

#[test]
fn an_empty_store_answers_nothing_found() {
    assert_eq!(Store::new().ask(PROMPT).silence, Some(Silence::NothingFound));
}

#[test]
fn tc_26_what_the_session_has_in_context_is_left_out_before_the_cut() {
    let mut store = Store::new();
    let mut ids = HashSet::new();
    for number in 0..60 {
        let answer = format!("seen {number}");
        let uid = store.remember(&Memory {
            prompt: PROMPT,
            answer: &answer,
            vector: Some(vector(0.9, number)),
            ..Memory::default()
        });
        ids.insert(store.reader().find_episode(&uid.to_string()).unwrap()[0].id);
    }
    let unseen = store.remember(&Memory {
        prompt: PROMPT,
        answer: "unseen",
        vector: Some(vector(0.7, 5)),
        ..Memory::default()
    });
    let state = SessionState {
        left_out: ids,
        ..SessionState::default()
    };
    let recall = store.ask_with(PROMPT, &state, &by_the_seed(), &Ok(asked()));
    assert_eq!(
        uids(&recall),
        [unseen],
        "sixty better ones fill every leg, and yet it is found"
    );
}

#[test]
fn tc_26_the_same_topic_is_answered_once() {
    let mut store = Store::new();
    store.remember(&Memory {
        prompt: PROMPT,
        vector: Some(vector(0.8, 3)),
        ..Memory::default()
    });
    let state = SessionState {
        answered_topic: Some(vector(0.9, 1)),
        ..SessionState::default()
    };
    let recall = store.ask_with(PROMPT, &state, &by_the_seed(), &Ok(asked()));
    assert_eq!(recall.silence, Some(Silence::SameTopic));
    let state = SessionState {
        answered_topic: Some(vector(0.8, 1)),
        ..SessionState::default()
    };
    let recall = store.ask_with(PROMPT, &state, &by_the_seed(), &Ok(asked()));
    assert_eq!(recall.silence, None);
}

#[test]
fn tc_28_another_project_s_episode_needs_strong_evidence() {
    let mut store = Store::new();
    let mut foreign = |answer, cosine, axis| {
        store.remember(&Memory {
            prompt: PROMPT,
            answer,
            project: "other",
            vector: Some(vector(cosine, axis)),
            ..Memory::default()
        })
    };
    let by_words = foreign("the best words", 0.5, 1);
    let strong = foreign("strong in both", 0.75, 2);
    let ask = |store: &mut Store, scope| {
        let settings = RecallSettings { scope, ..by_the_seed() };
        let mut shown = uids(&store.ask_with(PROMPT, &SessionState::default(), &settings, &Ok(asked())));
        shown.sort_unstable();
        shown
    };
    let mut both = vec![by_words, strong];
    both.sort_unstable();
    assert_eq!(ask(&mut store, ScopeRule::Project), []);
    assert_eq!(ask(&mut store, ScopeRule::ProjectFirst), [strong]);
    assert_eq!(ask(&mut store, ScopeRule::All), both);
    let settings = RecallSettings {
        scope: ScopeRule::All,
        ..by_the_seed()
    };
    let recall = store.ask_with(PROMPT, &SessionState::default(), &settings, &Ok(asked()));
    assert!(recall.context.contains(" · other · "), "its project is named");
}

#[test]
fn the_same_words_are_shown_once() {
    let mut store = Store::new();
    store.remember(&Memory {
        prompt: PROMPT,
        vector: Some(vector(0.8, 3)),
        ..Memory::default()
    });
    store.remember(&Memory {
        prompt: PROMPT,
        vector: Some(vector(0.8, 3)),
        session: "another",
        ..Memory::default()
    });
    let recall = store.ask(PROMPT);
    assert_eq!(recall.recollections.len(), 1);
    assert!(
        recall
            .log
            .candidates
            .iter()
            .any(|candidate| candidate.gate.as_deref() == Some("same-text"))
    );
}

#[test]
fn a_deadline_that_has_passed_gives_an_empty_answer_and_no_error() {
    let mut store = Store::new();
    store.fill(5);
    let question = question(PROMPT, None);
    let reader = store.reader();
    let mut source = |_| Err(Degradation::EmbeddingLate);
    let sources = Sources {
        reader: &reader,
        codes: &store.codes,
        model_id: MODEL,
        embedding: &mut source,
        reranker: None,
    };
    let recall = recall(
        &question,
        &SessionState::default(),
        sources,
        &by_the_seed(),
        Deadline::after(Duration::ZERO),
    );
    assert!(recall.context.is_empty() && recall.silence.is_some());
    assert!(reader.indexed_episodes().is_ok(), "the reader serves the next prompt");
}
