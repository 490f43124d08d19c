//! What `status` tells of the running process: model, queue, recall times, degradations, problems, memory.

use std::path::PathBuf;

use remembrancer_hooks::clock::monotonic_ns;
use remembrancer_schema::UnixMillis;
use serde_json::{Value, json};

use crate::clock;
use crate::control::rfc3339;
use crate::embedder::ModelState;
use crate::health;
use crate::progress::Progress;
use crate::reranker::Reranker;
use crate::system;

/// What does not change while the process runs.
#[derive(Debug, Clone)]
pub(crate) struct DaemonStatus {
    /// When it started.
    pub started: UnixMillis,
    /// Where it listens.
    pub socket: PathBuf,
    /// The folders that it reads.
    pub roots: Vec<PathBuf>,
    /// The fusion profile.
    pub profile: &'static str,
}

impl DaemonStatus {
    /// Adds what is known of the process to the store's `status`.
    pub(crate) fn add_to(&self, status: &mut Value, progress: &Progress, model: &ModelState, reranker: &Reranker) {
        let counts = progress.counts();
        let backlog = status["embedding_backlog"].as_u64().unwrap_or_default();
        let mut findings = progress.findings(monotonic_ns(), backlog);
        findings.extend(model.finding());
        let recalls = progress.recalls();
        let millis = |percent| recalls.percentile(percent).map(|took| took.as_micros() as f64 / 1_000.0);
        let seconds = counts.embed_micros as f64 / 1e6;
        let rate = if seconds > 0.0 {
            Some((counts.embedded as f64 / seconds * 10.0).round() / 10.0)
        } else {
            None
        };
        let added = json!({
            "daemon": {
                "pid": std::process::id(),
                "version": remembrancer_hooks::VERSION,
                "started": rfc3339(self.started),
                // A clock that was set back must not make it negative.
                "uptime_seconds": (clock::now().0 - self.started.0).max(0) / 1_000,
                "socket": self.socket.display().to_string(),
                "roots": self.roots.iter().map(|root| root.display().to_string()).collect::<Vec<_>>(),
                "profile": self.profile,
                "model": model.describe(),
                "reranker": reranker.describe(),
                "memory": memory(),
            },
            "ingest": {
                "transcripts_found": counts.files,
                "transcripts_waiting": counts.waiting_files,
                "episodes_added": counts.added,
                "episodes_changed": counts.updated,
                "episodes_embedded": counts.embedded,
                "embedded_per_second": rate,
                "remaining_seconds": remaining_seconds(status, rate),
            },
            "recalls": {
                "count": recalls.count,
                "shown": recalls.shown,
                "recollections_used": recalls.used,
                "p50_millis": millis(50),
                "p99_millis": millis(99),
                "nothing_shown_because": recalls.silences,
                "degradations": recalls.degradations,
            },
            "health": health::told(findings),
            "counted": progress.counted(),
            "files_not_read": files_not_read(progress),
            "requests_refused": progress.refusals(),
            "problems": progress.problems(),
        });
        if let (Value::Object(status), Value::Object(added)) = (status, added) {
            status.extend(added);
        }
    }
}

/// Files that seem to be transcripts and are not read, by what their names end in.
fn files_not_read(progress: &Progress) -> Vec<Value> {
    let unknown = progress.unknown_files().into_iter();
    unknown
        .map(|(suffix, (count, example))| json!({"suffix": suffix, "count": count, "example": example.display().to_string()}))
        .collect()
}

/// How long what waits for its vector will take at this rate; null where nothing waits, or no rate is known yet.
fn remaining_seconds(status: &Value, rate: Option<f64>) -> Option<u64> {
    let waiting = status["embedding_backlog"].as_u64().filter(|waiting| *waiting > 0)?;
    rate.filter(|rate| *rate > 0.0)
        .map(|rate| (waiting as f64 / rate).ceil() as u64)
}

/// Resident memory, where the system tells it.
fn memory() -> Value {
    system::memory().map_or(
        Value::Null,
        |memory| json!({"resident_bytes": memory.resident, "anonymous_bytes": memory.anonymous}),
    )
}
