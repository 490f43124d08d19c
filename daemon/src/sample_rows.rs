//! Rows for tests: turns with sensible contents, and the batch in which they are stored.

use remembrancer_schema::{
    ByteOffset, EpisodeUid, Facets, Importance, IngestBatch, NewEpisode, Origin, SessionKey, SourcePosition, SourceUpdate,
    TurnUid, TurnUpsert, UnixMillis,
};

/// A turn of one episode in the folder `cwd`.
pub(crate) fn turn(number: u8, cwd: &str) -> TurnUpsert {
    let turn_uid = TurnUid([number; 16]);
    TurnUpsert {
        turn_uid,
        session: SessionKey {
            agent: "claude-code".to_owned(),
            external_id: "s".to_owned(),
        },
        cwd: Some(cwd.to_owned()),
        told_cwd: None,
        git_branch: None,
        project: None,
        episodes: vec![NewEpisode {
            uid: EpisodeUid::of(&turn_uid, 0),
            turn_uid,
            part: 0,
            turn: 0,
            origin: Origin::User,
            importance: Importance::Normal,
            importance_rule: "default".to_owned(),
            created_at: UnixMillis(i64::from(number)),
            prompt: "why is the sky blue".to_owned(),
            answer: "it scatters".to_owned(),
            facets: Facets::default(),
        }],
    }
}

/// What a transcript brought.
pub(crate) fn batch(turns: Vec<TurnUpsert>) -> IngestBatch {
    IngestBatch {
        now: UnixMillis(1),
        source: SourceUpdate {
            agent: "claude-code".to_owned(),
            path: "/transcripts/s.jsonl".to_owned(),
            kind: "jsonl".to_owned(),
            device: 1,
            inode: 1,
            size: 1,
            mtime: UnixMillis(1),
            position: SourcePosition {
                read_offset: ByteOffset(1),
                read_line: 1,
                committed_offset: ByteOffset(1),
                committed_line: 1,
                committed_turn: 1,
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
        },
        sessions: Vec::new(),
        turns,
        retire_older_generations: false,
    }
}
