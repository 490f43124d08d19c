//! Numbers that a person wants of the memory: how much, since when, of whom, how large, and what came of it. In goes a [`Reader`], out
//! comes JSON. Nothing is changed, and no daemon is needed: what only a running daemon knows, `status` tells.

use std::path::Path;

use remembrancer_processor::ingest::{redact, redact_folder};
use remembrancer_schema::{AgentShare, ProjectShare, Reader, StoreStats, UnixMillis};
use serde_json::{Value, json};

use super::{ControlError, rfc3339};
use crate::backups;
use crate::percentile::percentile;

/// A day, in milliseconds.
const DAY: i64 = 24 * 3_600_000;

/// The numbers at `now`.
///
/// # Errors
/// The store's error.
pub(crate) fn stats(reader: &Reader, now: UnixMillis) -> Result<Value, ControlError> {
    let stats = reader.stats()?;
    let (agents, projects) = (reader.shares_of_agents()?, reader.shares_of_projects()?);
    let first = agents.iter().map(|agent| agent.first).min();
    let last = agents.iter().map(|agent| agent.last).max();
    Ok(json!({
        "episodes": stats.episodes,
        "hidden": stats.hidden,
        "turns": reader.count_turns()?,
        "sessions": stats.sessions,
        "projects": projects.iter().filter(|project| project.name.is_some()).count(),
        "agents": agents.len(),
        "first": first.map(rfc3339),
        "last": last.map(rfc3339),
        "embedded": stats.embedded,
        "embedding_backlog": stats.backlog,
        "by_agent": agents.iter().map(agent).collect::<Vec<_>>(),
        "by_project": projects.iter().map(project).collect::<Vec<_>>(),
        "bytes": bytes(reader, &stats)?,
        "recollections": {
            "last_7_days": showings(reader, now, 7)?,
            "last_30_days": showings(reader, now, 30)?,
            "logged_from": reader.first_logged_prompt()?.map(rfc3339),
        },
        "recall_times": recall_times(reader.recall_micros()?),
    }))
}

fn agent(agent: &AgentShare) -> Value {
    json!({
        "agent": agent.agent,
        "sessions": agent.sessions,
        "episodes": agent.episodes,
        "first": rfc3339(agent.first),
        "last": rfc3339(agent.last),
    })
}

fn project(project: &ProjectShare) -> Value {
    json!({
        "project": project.name.as_deref().map(redact),
        "root": project.root.as_deref().map(redact_folder),
        "sessions": project.sessions,
        "episodes": project.episodes,
        "first": rfc3339(project.first),
        "last": rfc3339(project.last),
    })
}

/// What lies on the disk. Index and vectors are parts of the database.
fn bytes(reader: &Reader, stats: &StoreStats) -> Result<Value, ControlError> {
    // A number of four bytes a dimension, and its sign in the code.
    let of_one = |dimension: usize| dimension as u64 * 4 + dimension.div_ceil(8) as u64;
    let vectors = stats
        .model
        .as_ref()
        .map_or(0, |(_, dimension)| stats.embedded * of_one(*dimension));
    Ok(json!({
        "database": stats.db_bytes,
        "log": stats.wal_bytes,
        "journal": size_beside(reader.path(), "journal"),
        "backups": backups::status(reader.path())["bytes"],
        "index": reader.index_bytes()?,
        "vectors": vectors,
    }))
}

/// Bytes of the file that has the database's name and `suffix` behind it; 0 where there is none.
fn size_beside(database: &Path, suffix: &str) -> u64 {
    let mut name = database.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    fs_err::metadata(Path::new(&name)).map_or(0, |metadata| metadata.len())
}

fn showings(reader: &Reader, now: UnixMillis, days: i64) -> Result<Value, ControlError> {
    let showings = reader.showings_since(UnixMillis(now.0.saturating_sub(days * DAY)))?;
    Ok(json!({
        "prompts": showings.prompts,
        "prompts_answered": showings.answered,
        "shown": showings.shown,
        "used": showings.used,
    }))
}

/// Of the prompts that are logged still: how long the daemon took, in milliseconds.
fn recall_times(mut micros: Vec<u64>) -> Value {
    micros.sort_unstable();
    let millis = |percent| percentile(&micros, percent).map(|micros| micros as f64 / 1_000.0);
    json!({"prompts": micros.len(), "p50_millis": millis(50), "p99_millis": millis(99)})
}

#[cfg(test)]
mod tests {
    use remembrancer_schema::Writer;
    use rstest::rstest;

    use super::*;
    use crate::sample_rows::{batch, turn};

    #[rstest]
    #[case::none(&[], None, None)]
    #[case::one(&[2_000], Some(2.0), Some(2.0))]
    #[case::many(&[4_000, 1_000, 3_000, 2_000], Some(2.0), Some(4.0))]
    fn times_are_told_by_percentile(#[case] micros: &[u64], #[case] p50: Option<f64>, #[case] p99: Option<f64>) {
        let times = recall_times(micros.to_vec());
        assert_eq!((times["p50_millis"].as_f64(), times["p99_millis"].as_f64()), (p50, p99));
        assert_eq!(times["prompts"], micros.len());
    }

    #[test]
    fn the_numbers_add_up_and_an_empty_memory_has_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store/memory.db");
        let mut writer = Writer::open(&path).unwrap();
        let reader = Reader::open(&path).unwrap();
        let empty = stats(&reader, UnixMillis(0)).unwrap();
        assert_eq!(
            (&empty["episodes"], &empty["first"], &empty["by_agent"]),
            (&json!(0), &Value::Null, &json!([]))
        );
        writer
            .ingest(&batch(vec![turn(1, "/home/ada/shop"), turn(2, "/home/ada/shop")]))
            .unwrap();
        let told = stats(&reader, UnixMillis(0)).unwrap();
        assert_eq!(
            (&told["episodes"], &told["turns"], &told["sessions"]),
            (&json!(2), &json!(2), &json!(1))
        );
        let sum = |list: &str| -> u64 {
            told[list]
                .as_array()
                .unwrap()
                .iter()
                .filter_map(|one| one["episodes"].as_u64())
                .sum()
        };
        assert_eq!((sum("by_agent"), sum("by_project")), (2, 2));
        assert_eq!(told["embedding_backlog"], 2);
        assert!(
            told["bytes"]["database"].as_u64() > Some(0) && told["bytes"]["index"].as_u64() > Some(0),
            "{told:#}"
        );
    }
}
