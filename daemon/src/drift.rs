//! Formats drift: agents come to write kinds of records that nobody here knows. Counts by file come in; counts by agent and kind go
//! out, with a notice where a kind holds so much that memory lacks it. Kinds are named, their texts never.

use std::collections::{BTreeMap, HashSet};

use remembrancer_schema::{SourceProblem, SourceUpdate, StoreStats};
use serde_json::{Value, json};

use crate::plural::counted;

/// Of an agent's transcripts, nine bytes in ten are what tools gave back and what the client notes for itself: a kind that holds a
/// hundredth of all bytes may hold a tenth of what was said.
const MUCH_SHARE: f64 = 0.01;
/// Less than this is a few messages, whatever the share: the transcripts are few.
const MUCH_BYTES: u64 = 64 * 1024;

/// What was passed over of one kind in one agent's transcripts.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PassedOver {
    agent: String,
    kind: String,
    count: u64,
    files: usize,
    /// The first place in the transcript that has most of them.
    file: String,
    line: u64,
    /// Of records of an unknown kind: their bytes, the share of all that was read of the agent, and the version of the agent that
    /// wrote the last.
    bytes: u64,
    share: f64,
    version: String,
}

impl PassedOver {
    /// `claude-code 2.4.1`.
    fn writer(&self) -> String {
        format!("{} {}", self.agent, self.version).trim_end().to_owned()
    }

    /// In one line, where the kind holds much that is not read.
    fn notice(&self) -> Option<String> {
        let is_much = self.bytes >= MUCH_BYTES && self.share >= MUCH_SHARE;
        is_much.then(|| {
            format!(
                "{:.1} MB of {} are not read, {:.0} % of all, in {} of a kind that this version does not know ({}); a newer version may",
                self.bytes as f64 / 1e6,
                self.writer(),
                self.share * 100.0,
                counted(self.count, "record", "records"),
                self.kind
            )
        })
    }

    /// For `status`.
    fn json(&self) -> Value {
        json!({
            "agent": self.agent,
            "version": self.version,
            "kind": self.kind,
            "count": self.count,
            "transcripts": self.files,
            "unread_bytes": self.bytes,
            "file": self.file,
            "line": self.line,
        })
    }
}

/// What was passed over, by agent and kind, most first.
fn passed_over(stats: &StoreStats) -> Vec<PassedOver> {
    let mut kinds: BTreeMap<(&str, &str), Vec<&SourceProblem>> = BTreeMap::new();
    for problem in &stats.problems {
        kinds.entry((&problem.agent, &problem.kind)).or_default().push(problem);
    }
    let mut all: Vec<PassedOver> = kinds
        .into_values()
        .filter_map(|problems| together(stats, &problems))
        .collect();
    all.sort_by(|a, b| {
        b.count
            .cmp(&a.count)
            .then_with(|| (&a.agent, &a.kind).cmp(&(&b.agent, &b.kind)))
    });
    all
}

/// The problems of one kind in several transcripts, the transcript with most first.
fn together(stats: &StoreStats, problems: &[&SourceProblem]) -> Option<PassedOver> {
    let first = problems.first()?;
    let unread = problems
        .iter()
        .filter_map(|problem| Some((problem.written, problem.unread.as_ref()?)));
    let bytes = unread.clone().map(|(_, unread)| unread.bytes).sum();
    let told = unread.filter(|(_, unread)| !unread.version.is_empty());
    let last = told.max_by_key(|(written, _)| *written);
    let read = stats.read_bytes.iter().find(|(agent, _)| *agent == first.agent);
    Some(PassedOver {
        agent: first.agent.clone(),
        kind: first.kind.clone(),
        count: problems.iter().map(|problem| problem.count).sum(),
        files: problems.len(),
        file: first.path.clone(),
        line: first.first_line,
        bytes,
        share: bytes as f64 / read.map_or(1, |(_, bytes)| (*bytes).max(1)) as f64,
        version: last.map(|(_, unread)| unread.version.clone()).unwrap_or_default(),
    })
}

/// What `status` tells: what was passed over, and the notices.
pub(crate) fn status(stats: &StoreStats) -> (Vec<Value>, Vec<String>) {
    let all = passed_over(stats);
    let notices = all.iter().filter_map(PassedOver::notice).collect();
    (all.iter().map(PassedOver::json).collect(), notices)
}

/// Sees to it that each notice is in the log, once in a process's life.
#[derive(Debug, Default)]
pub(crate) struct Teller {
    due: bool,
    told: HashSet<(String, String)>,
}

impl Teller {
    /// Takes note of what was stored of a transcript.
    pub(crate) fn stored(&mut self, source: &SourceUpdate) {
        self.due |= source.problems.iter().any(|problem| problem.unread.is_some());
    }

    /// Whether there may be something new to tell since this was asked last.
    pub(crate) fn take_due(&mut self) -> bool {
        std::mem::take(&mut self.due)
    }

    /// Logs the notices that were not logged before.
    pub(crate) fn tell(&mut self, stats: &StoreStats) {
        for kind in passed_over(stats) {
            if let Some(notice) = kind.notice()
                && self.told.insert((kind.agent, kind.kind))
            {
                tracing::warn!("{notice}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use remembrancer_schema::{ByteOffset, UnixMillis, Unread};

    use super::*;

    fn problem(path: &str, kind: &str, written: i64, unread: Option<(u64, &str)>) -> SourceProblem {
        SourceProblem {
            path: path.to_owned(),
            kind: kind.to_owned(),
            count: 2,
            first_line: 7,
            first_offset: ByteOffset(0),
            agent: "codex".to_owned(),
            written: UnixMillis(written),
            unread: unread.map(|(bytes, version)| Unread {
                bytes,
                version: version.to_owned(),
            }),
        }
    }

    fn stats(problems: Vec<SourceProblem>, read: u64) -> StoreStats {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        remembrancer_schema::Writer::open(&path).unwrap().close().unwrap();
        let reader = remembrancer_schema::Reader::open(&path).unwrap();
        StoreStats {
            problems,
            read_bytes: vec![("codex".to_owned(), read)],
            ..reader.stats().unwrap()
        }
    }

    #[test]
    fn kinds_are_counted_over_transcripts_with_the_version_that_wrote_last() {
        let problems = vec![
            problem("/a", "unknown-record:new", 2, Some((10, "0.9"))),
            problem("/b", "unknown-record:new", 3, Some((10, ""))),
            problem("/c", "unknown-record:new", 1, Some((10, "0.8"))),
            problem("/a", "blank-line", 2, None),
        ];
        let (kinds, notices) = status(&stats(problems, 1_000));
        let said: Vec<_> = kinds
            .iter()
            .map(|kind| (kind["kind"].as_str(), kind["count"].as_u64(), kind["version"].as_str()))
            .collect();
        assert_eq!(
            said,
            [
                (Some("unknown-record:new"), Some(6), Some("0.9")),
                (Some("blank-line"), Some(2), Some(""))
            ]
        );
        assert_eq!(
            (kinds[0]["transcripts"].as_u64(), kinds[0]["unread_bytes"].as_u64()),
            (Some(3), Some(30))
        );
        assert_eq!(notices, [""; 0], "thirty bytes are few, whatever their share");
    }

    #[test]
    fn much_is_a_share_and_an_amount() {
        let noticed = |bytes, read| {
            let problems = vec![problem("/a", "unknown-record:new", 1, Some((bytes, "0.9")))];
            status(&stats(problems, read)).1
        };
        assert_eq!(noticed(MUCH_BYTES, MUCH_BYTES * 200), [""; 0]);
        assert_eq!(noticed(MUCH_BYTES - 1, MUCH_BYTES), [""; 0]);
        let notice = noticed(MUCH_BYTES, MUCH_BYTES * 10).concat();
        for part in ["codex 0.9", "10 %", "unknown-record:new", "0.1 MB"] {
            assert!(notice.contains(part), "{part}: {notice}");
        }
    }
}
