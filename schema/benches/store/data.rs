//! Episodes for the benches: words by Zipf's law over a made vocabulary, the same at every run.

use remembrancer_schema::{
    EmbeddedEpisode, EpisodeUid, Facets, Importance, IngestBatch, NewEpisode, Origin, Reader, SessionKey, SourcePosition,
    SourceUpdate, TurnUid, TurnUpsert, UnixMillis, Writer, query_terms,
};
use tempfile::TempDir;

/// The model of the vectors, and their dimension: that of the built-in one.
pub(crate) const MODEL: &str = "bench-model";
const DIMENSION: usize = 384;
/// Words in the vocabulary.
const VOCABULARY: usize = 20_000;
/// Words in a prompt and in an answer: those of a short turn.
const ASKED: usize = 20;
const ANSWERED: usize = 60;
/// Turns in a transaction while a store is filled.
const BATCH: u64 = 2_000;

/// A store in a folder of its own.
pub(crate) struct Store {
    pub(crate) writer: Writer,
    _folder: TempDir,
}

impl Store {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let writer = Writer::open(&folder.path().join("memory.db")).expect("opens");
        Self { writer, _folder: folder }
    }

    /// A store of `episodes` turns, all with vectors.
    pub(crate) fn filled(data: &Data, episodes: u64) -> Self {
        let mut store = Self::new();
        store.writer.set_embedding_model(MODEL, DIMENSION).expect("sets the model");
        let reader = store.reader();
        for first in (0..episodes).step_by(BATCH as usize) {
            let turns = (first..(first + BATCH).min(episodes)).map(|number| data.turn(number));
            store.writer.ingest(&file(first, turns)).expect("stores");
            let backlog = reader.embedding_backlog(MODEL, BATCH as usize).expect("reads");
            let embedded: Vec<EmbeddedEpisode> = backlog
                .into_iter()
                .map(|row| EmbeddedEpisode {
                    id: row.id,
                    content_hash: row.content_hash,
                    vector: vector(row.id.0 as u64),
                })
                .collect();
            store.writer.store_embeddings(MODEL, &embedded).expect("stores");
        }
        store
    }

    pub(crate) fn reader(&self) -> Reader {
        Reader::open(self.writer.path()).expect("opens for reading")
    }
}

/// The vocabulary, with what is made of it.
pub(crate) struct Data {
    words: Vec<String>,
    /// The sums of the words' frequencies so far: the n-th word has a share of 1/n.
    shares: Vec<f64>,
}

impl Data {
    pub(crate) fn new() -> Self {
        let mut sum = 0.0;
        Self {
            words: (0..VOCABULARY).map(word).collect(),
            shares: (1..=VOCABULARY)
                .map(|place| {
                    sum += 1.0 / place as f64;
                    sum
                })
                .collect(),
        }
    }

    /// A turn of one episode.
    pub(crate) fn turn(&self, number: u64) -> TurnUpsert {
        let mut numbers = Numbers(number);
        let texts = vec![(self.text(&mut numbers, ASKED), self.text(&mut numbers, ANSWERED))];
        turn(number, texts)
    }

    /// A turn of `parts` episodes, the last of which says something else at every `version`.
    pub(crate) fn open_turn(&self, parts: u64, version: u64) -> TurnUpsert {
        let text = |part| {
            let seed = if part + 1 == parts { version } else { 0 };
            self.text(&mut Numbers(part ^ seed << 8), 4 * ANSWERED)
        };
        turn(u64::MAX, (0..parts).map(|part| (String::new(), text(part))).collect())
    }

    /// The terms of a prompt.
    pub(crate) fn prompt(&self, number: u64, words: usize) -> Vec<String> {
        query_terms(&self.text(&mut Numbers(!number), words), words)
    }

    fn text(&self, numbers: &mut Numbers, words: usize) -> String {
        let most = self.shares[VOCABULARY - 1];
        let words = (0..words).map(|_| {
            let share = numbers.share() * most;
            self.words[self.shares.partition_point(|sum| *sum < share)].as_str()
        });
        words.collect::<Vec<_>>().join(" ")
    }
}

/// A pass over one file.
pub(crate) fn file(number: u64, turns: impl IntoIterator<Item = TurnUpsert>) -> IngestBatch {
    IngestBatch {
        now: UnixMillis(0),
        source: SourceUpdate {
            agent: "claude-code".to_owned(),
            path: format!("/home/ada/transcripts/{number}.jsonl"),
            kind: "jsonl".to_owned(),
            device: 1,
            inode: number,
            size: 0,
            mtime: UnixMillis(0),
            position: SourcePosition::default(),
            generation: 0,
            whole: false,
            records_delta: 0,
            skipped_delta: 0,
            problems: Vec::new(),
        },
        sessions: Vec::new(),
        turns: turns.into_iter().collect(),
        retire_older_generations: false,
    }
}

fn turn(number: u64, texts: Vec<(String, String)>) -> TurnUpsert {
    let mut uid = [0; 16];
    uid[..8].copy_from_slice(&number.to_le_bytes());
    let turn_uid = TurnUid(uid);
    let episode = |(part, (prompt, answer)): (usize, (String, String))| NewEpisode {
        uid: EpisodeUid::of(&turn_uid, part as u32),
        turn_uid,
        part: part as u32,
        turn: 0,
        origin: Origin::User,
        importance: Importance::Normal,
        importance_rule: "default".to_owned(),
        created_at: UnixMillis((number % (1 << 40)) as i64),
        prompt,
        answer,
        facets: Facets::default(),
    };
    TurnUpsert {
        turn_uid,
        session: SessionKey {
            agent: "claude-code".to_owned(),
            external_id: format!("session-{}", number / 20),
        },
        cwd: Some("/home/ada/engine".to_owned()),
        told_cwd: None,
        git_branch: Some("main".to_owned()),
        project: None,
        episodes: texts.into_iter().enumerate().map(episode).collect(),
    }
}

/// A word of two to five syllables, one for each number.
fn word(number: usize) -> String {
    const SYLLABLES: [&str; 12] = ["ba", "ker", "lo", "mi", "nu", "pra", "qui", "ro", "sta", "tem", "vo", "xi"];
    let mut left = number + SYLLABLES.len();
    let mut word = String::new();
    while left > 0 {
        word.push_str(SYLLABLES[left % SYLLABLES.len()]);
        left /= SYLLABLES.len();
    }
    word
}

fn vector(seed: u64) -> Vec<f32> {
    let mut numbers = Numbers(seed);
    let vector: Vec<f32> = (0..DIMENSION).map(|_| numbers.share() as f32 - 0.5).collect();
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    vector.into_iter().map(|value| value / length).collect()
}

/// Numbers as by chance, from a seed: `SplitMix64` (Steele, Lea, Flood: OOPSLA 2014).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// From 0 up to 1.
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}
