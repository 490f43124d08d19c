//! Turns judged against a store in which something was shown.

use remembrancer_processor::ingest::{Agent, Step};
use remembrancer_schema::{
    ByteOffset, EpisodeUid, ForgetTarget, Importance, IngestBatch, LoggedCandidate, NewEpisode, RecollectionLog, SourcePosition,
    SourceUpdate, TurnUid, TurnUpsert,
};
use rstest::rstest;
use tempfile::TempDir;

use super::*;
use crate::store::Store;

const SHOWN_AT: i64 = 1_000_000;
const PROMPT: &str = "the import hangs again";
const REPEATS: &str = "As in March the vacuum of the ledger keeps its exclusive lock; it is moved to Sunday.";
const OTHER: &str = "The import takes a lock on the table; it waits for ten seconds.";

struct Place {
    store: Store,
    feedback: Feedback,
    folder: TempDir,
}

impl Place {
    /// A store with one episode of an older session, shown to the session `asks` at [`SHOWN_AT`].
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("memory.db");
        let mut writer = Writer::open(&database).unwrap();
        writer.ingest(&batch()).unwrap();
        let reader = Reader::open(&database).unwrap();
        let episode = reader.episodes_of(&ForgetTarget::All).unwrap()[0];
        writer.record_recollection(&log(episode)).unwrap();
        let progress = Arc::default();
        let store = Store::start(writer, &database, &progress).unwrap();
        let feedback = Feedback {
            background: store.background.clone(),
            writer: store.writer.clone(),
            progress,
        };
        Self { store, feedback, folder }
    }

    fn judge(&self, turn: Turn) {
        self.feedback.judge(vec![turn]);
    }

    fn access_count(&self) -> u64 {
        let reader = Reader::open(&self.folder.path().join("memory.db")).unwrap();
        let ids = reader.episodes_of(&ForgetTarget::All).unwrap();
        reader.candidates(&ids, "").unwrap()[0].access_count
    }
}

fn session(id: &str) -> SessionKey {
    SessionKey {
        agent: Agent::CLAUDE_CODE.id().to_owned(),
        external_id: id.to_owned(),
    }
}

fn batch() -> IngestBatch {
    let turn_uid = TurnUid([1; 16]);
    let episode = NewEpisode {
        uid: EpisodeUid::of(&turn_uid, 0),
        turn_uid,
        part: 0,
        turn: 0,
        origin: Origin::User,
        importance: Importance::Normal,
        importance_rule: "default".to_owned(),
        created_at: UnixMillis(1_000),
        prompt: "why does the nightly import time out".to_owned(),
        answer: "The vacuum of the ledger table held an exclusive lock. Moved it to Sunday.".to_owned(),
        facets: Facets::default(),
    };
    IngestBatch {
        now: UnixMillis(2_000),
        source: source(),
        sessions: Vec::new(),
        turns: vec![TurnUpsert {
            turn_uid,
            session: session("older"),
            cwd: None,
            told_cwd: None,
            git_branch: None,
            project: None,
            episodes: vec![episode],
        }],
        retire_older_generations: false,
    }
}

fn source() -> SourceUpdate {
    SourceUpdate {
        agent: Agent::CLAUDE_CODE.id().to_owned(),
        path: "/transcripts/older.jsonl".to_owned(),
        kind: "jsonl".to_owned(),
        device: 1,
        inode: 1,
        size: 1,
        mtime: UnixMillis(1),
        position: SourcePosition {
            read_offset: ByteOffset(1),
            read_line: 1,
            committed_offset: ByteOffset(0),
            committed_line: 0,
            committed_turn: 0,
            parser_state: None,
            prefix_hash: [0; 32],
            prefix_len: 1,
            tail_hash: [0; 32],
            tail_len: 1,
        },
        generation: 0,
        whole: false,
        records_delta: 1,
        skipped_delta: 0,
        problems: Vec::new(),
    }
}

fn log(episode: EpisodeId) -> RecollectionLog {
    RecollectionLog {
        at: UnixMillis(SHOWN_AT),
        session: session("asks"),
        project: None,
        prompt_hash: [0; 32],
        terms: Vec::new(),
        reason: None,
        pool: 1,
        stages: Vec::new(),
        degradations: Vec::new(),
        candidates: vec![LoggedCandidate {
            episode,
            fused: 0.1,
            bm25: None,
            cosine: None,
            bm25_rank: None,
            vector_rank: None,
            recency_rank: None,
            access_rank: None,
            gate: None,
            position: Some(1),
        }],
    }
}

/// A turn of the session `asks`; times are seconds after the showing.
fn turn(begun: i64, said: i64, text: &str) -> Turn {
    let at = |seconds: i64| UnixMillis(SHOWN_AT + seconds * 1_000);
    Turn {
        uid: TurnUid([2; 16]),
        agent: Agent::CLAUDE_CODE,
        session: "asks".to_owned(),
        origin: Origin::User,
        ordinal: 0,
        started_at: at(begun),
        cwd: None,
        git_branch: None,
        prompt: PROMPT.to_owned(),
        steps: vec![Step {
            at: at(said),
            text: text.to_owned(),
            facets: Facets::default(),
        }],
        carried_summary: None,
        committed: false,
        error_fixed: false,
    }
}

#[rstest]
#[case::its_own_turn(turn(0, 30, REPEATS), 1)]
#[case::the_hook_ran_first(turn(4, 30, REPEATS), 1)]
#[case::in_the_midst_of_a_turn(turn(-900, 30, REPEATS), 1)]
#[case::said_before_it_was_shown(turn(-900, -30, REPEATS), 0)]
#[case::the_turn_after(turn(60, 90, REPEATS), 0)]
#[case::nothing_of_it_said(turn(0, 30, OTHER), 0)]
#[case::nothing_said_at_all(Turn { steps: Vec::new(), ..turn(0, 30, "") }, 0)]
#[case::another_session(Turn { session: "other".to_owned(), ..turn(0, 30, REPEATS) }, 0)]
#[case::a_subagent(Turn { origin: Origin::Subagent, ..turn(0, 30, REPEATS) }, 0)]
fn a_use_is_told_from_what_followed_the_showing(#[case] turn: Turn, #[case] expected: u64) {
    let place = Place::new();
    place.judge(turn);
    assert_eq!(
        (place.access_count(), place.feedback.progress.recalls().used),
        (expected, expected)
    );
}

#[test]
fn a_turn_that_grows_or_is_read_again_counts_once() {
    let place = Place::new();
    for (text, expected) in [(OTHER, 0), (REPEATS, 1), (REPEATS, 1), (OTHER, 1)] {
        place.judge(turn(0, 30, text));
        assert_eq!(place.access_count(), expected);
    }
}

#[test]
fn what_is_hidden_meanwhile_is_not_judged() {
    let place = Place::new();
    place
        .store
        .writer
        .call_blocking(|writer| writer.exclude_session(&session("older")))
        .unwrap()
        .unwrap();
    place.judge(turn(0, 30, REPEATS));
    place
        .store
        .writer
        .call_blocking(|writer| writer.include_session(&session("older")))
        .unwrap()
        .unwrap();
    assert_eq!(place.access_count(), 0);
}
