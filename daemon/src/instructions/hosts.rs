//! Which file of a project each host reads, a line a host. Facts alone.
//!
//! A file of our own is preferred wherever a host reads a folder of rules: nothing of others is edited then, and git need not see
//! it. Where there is one file for all, and it can import another, that file gets the import's line alone, so that what is
//! remembered stays out of a file that is shared. Sources are the hosts' own pages on rules and instructions, as of November 2026.

/// A host and what is put where for it.
#[derive(Debug)]
pub(crate) struct Host {
    /// The id, as in the tables of agents.
    pub(crate) id: &'static str,
    /// The files, below the project's folder.
    pub(crate) parts: &'static [Part],
}

/// A file, and what is put into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    /// The file, below the project's folder.
    pub(crate) file: &'static str,
    /// What stands before the block where the file is made for it.
    pub(crate) head: &'static str,
    /// The line that is put there; `None` for the block.
    pub(crate) line: Option<&'static str>,
}

const fn block(file: &'static str, head: &'static str) -> Part {
    Part { file, head, line: None }
}

/// The file of our own that others import.
const IMPORTED: Part = block(".remembrancer.md", "");

const fn import(file: &'static str) -> Part {
    Part {
        file,
        head: "",
        line: Some("@./.remembrancer.md"),
    }
}

const fn host(id: &'static str, parts: &'static [Part]) -> Host {
    Host { id, parts }
}

const AGENTS_MD: &[Part] = &[block("AGENTS.md", "")];

/// What makes a rule one that always holds, in each host's words.
const OF_CONTINUE: &str = "---\nname: Remembrancer\nalwaysApply: true\n---\n";
const OF_COPILOT: &str = "---\napplyTo: \"**\"\n---\n";
const OF_CURSOR: &str = "---\ndescription: Notes from earlier sessions\nalwaysApply: true\n---\n";
const OF_WINDSURF: &str = "---\ntrigger: always_on\n---\n";

/// Every host, by id.
pub(crate) const HOSTS: &[Host] = &[
    host("amp", AGENTS_MD),
    host("claude-code", &[block(".claude/rules/remembrancer.md", "")]),
    host("cline", &[block(".clinerules/remembrancer.md", "")]),
    host("codex", AGENTS_MD),
    host("continue", &[block(".continue/rules/remembrancer.md", OF_CONTINUE)]),
    host(
        "copilot-cli",
        &[block(".github/instructions/remembrancer.instructions.md", OF_COPILOT)],
    ),
    host("cursor", &[block(".cursor/rules/remembrancer.mdc", OF_CURSOR)]),
    host("gemini-cli", &[IMPORTED, import("GEMINI.md")]),
    host("goose", &[block(".goosehints", "")]),
    host("opencode", AGENTS_MD),
    host("qwen-code", &[IMPORTED, import("QWEN.md")]),
    host("windsurf", &[block(".windsurf/rules/remembrancer.md", OF_WINDSURF)]),
];

impl Host {
    /// The host with this id.
    pub(crate) fn parse(id: &str) -> Option<&'static Self> {
        HOSTS.iter().find(|host| host.id == id)
    }
}

/// What stands before the block in a file that was made for it.
pub(crate) fn head_of(file: &str) -> &'static str {
    let mut parts = HOSTS.iter().flat_map(|host| host.parts);
    parts.find(|part| part.file == file).map_or("", |part| part.head)
}

#[cfg(test)]
mod tests {
    use std::path::{Component, Path};

    use remembrancer_processor::ingest::Agent;

    use super::super::block::{Mark, put};
    use super::*;

    /// Hosts whose transcripts are not read.
    const NO_AGENTS: [&str; 2] = ["continue", "windsurf"];

    #[test]
    fn every_host_is_an_agent_of_the_tables_and_stands_once_in_order() {
        let ids: Vec<&str> = HOSTS.iter().map(|host| host.id).collect();
        assert!(ids.is_sorted_by(|a, b| a < b), "{ids:?}");
        for host in HOSTS {
            assert_ne!(Agent::parse(host.id).is_some(), NO_AGENTS.contains(&host.id), "{}", host.id);
        }
    }

    #[test]
    fn every_file_lies_below_the_project_and_takes_what_is_put_there() {
        for part in HOSTS.iter().flat_map(|host| host.parts) {
            let is_below = Path::new(part.file)
                .components()
                .all(|part| matches!(part, Component::Normal(_)));
            assert!(is_below && head_of(part.file) == part.head, "{}", part.file);
            let (mark, ours) = match part.line {
                Some(line) => (Mark::Line(line), line),
                None => (Mark::Fence, "<remembrancer-recollections>\n</remembrancer-recollections>"),
            };
            put(part.head, mark, ours).unwrap();
        }
    }

    #[test]
    fn an_imported_file_is_one_of_the_same_host() {
        for host in HOSTS {
            for line in host.parts.iter().filter_map(|part| part.line) {
                let imported = line.strip_prefix("@./").unwrap();
                assert!(host.parts.iter().any(|part| part.file == imported), "{}", host.id);
            }
        }
    }
}
