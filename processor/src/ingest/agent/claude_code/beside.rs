//! The working folder of a subagent's file whose records name none, by what lies beside it: paths and a way to read go in, a folder goes
//! out. Never more than the head of a few transcripts is looked into, since each subagent's file asks.

use std::path::Path;

use serde::Deserialize;

use crate::ingest::agent::{ReadFile, has_extension};

/// The working folder of the session that a subagent's file belongs to, where its records name none: that of the session's own transcript,
/// or, in a file of older versions that lies among those, of the first that tells.
pub(super) fn folder_beside(path: &Path, read: &ReadFile<'_>) -> Option<String> {
    let first_told = |transcript: &Path| first_folder(&read(transcript)?);
    if let Some(session) = path
        .ancestors()
        .find(|above| above.ends_with("subagents"))
        .and_then(Path::parent)
    {
        let name = session.file_name()?.to_string_lossy();
        return first_told(&session.with_file_name(format!("{name}.jsonl")));
    }
    let among = path.parent()?;
    let names = String::from_utf8(read(among)?).ok()?;
    let others = names
        .lines()
        .filter(|name| has_extension(Path::new(name), "jsonl") && !name.starts_with("agent-"));
    others.take(MOST_BESIDE).find_map(|name| first_told(&among.join(name)))
}

/// The first working folder that a transcript's records name.
fn first_folder(transcript: &[u8]) -> Option<String> {
    let lines = transcript.split(|byte| *byte == b'\n');
    let folder = |line: &[u8]| serde_json::from_slice::<Located>(line).ok()?.cwd;
    lines.filter_map(folder).find(|folder| !folder.is_empty())
}

/// Transcripts beside a subagent's that are looked into.
const MOST_BESIDE: usize = 4;

/// Of a record, where it was written.
#[derive(Deserialize)]
struct Located {
    cwd: Option<String>,
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const PROJECT: &str = "/h/projects/-home-ada-priv";

    #[rstest]
    #[case::of_its_session("s1/subagents/agent-1.jsonl", Some("/home/ada/priv"))]
    #[case::deeper("s1/subagents/workflow/agent-1.jsonl", Some("/home/ada/priv"))]
    #[case::of_a_session_that_is_gone("s9/subagents/agent-1.jsonl", None)]
    #[case::among_transcripts("agent-1.jsonl", Some("/home/ada/priv"))]
    fn a_subagent_works_where_its_session_does(#[case] path: &str, #[case] expected: Option<&str>) {
        let read = |path: &Path| {
            let below = path.strip_prefix(PROJECT).unwrap().to_str().unwrap();
            let content: &[u8] = match below {
                "" => b"agent-1.jsonl\ns1.jsonl\ns1\nnotes.md",
                "s1.jsonl" => {
                    b"{\"type\":\"summary\"}\nnone\n{\"cwd\":\"\"}\n{\"cwd\":\"/home/ada/priv\"}\n{\"cwd\":\"/else\"}\n{\"cut"
                }
                _ => return None,
            };
            Some(content.to_vec())
        };
        assert_eq!(folder_beside(&Path::new(PROJECT).join(path), &read).as_deref(), expected);
    }
}
