//! Where an answer comes from: whether pages of the web were read for it, whose text others wrote. Told by what is stored of the tools
//! and commands that were used; the pages themselves are never stored.

use remembrancer_schema::Facets;

/// Tools that read the web, letters small: those of Claude Code, Codex, Gemini CLI, Copilot CLI, Cursor, Cline, `OpenCode`, Amp, Droid,
/// Goose, Antigravity, and of common MCP servers.
const TOOLS: &[&str] = &[
    "brave_web_search",
    "fetch",
    "fetch_html",
    "fetch_markdown",
    "fetch_url",
    "fetch_webpage",
    "google_web_search",
    "open_page",
    "open_url",
    "read_url",
    "read_url_content",
    "read_web_page",
    "readwebpage",
    "search_web",
    "url_fetch",
    "web",
    "web_fetch",
    "web_fetch_exa",
    "web_scrape",
    "web_search",
    "web_search_exa",
    "webfetch",
    "websearch",
];
/// Parts of names of tools and servers that drive a browser or read pages.
const PARTS: &[&str] = &["browser", "firecrawl", "playwright", "puppeteer", "tavily", "chrome-devtools"];
/// Programs that load what an address names.
const PROGRAMS: &[&str] = &[
    "aria2c", "curl", "elinks", "http", "https", "links", "lynx", "w3m", "wget", "xh", "xhs",
];
/// Hosts that are this machine.
const LOCAL: &[&str] = &["localhost", "127.", "0.0.0.0", "[::1]", "host.docker.internal"];

/// Whether pages of the web were read in the turn.
pub fn is_from_the_web(facets: &Facets) -> bool {
    mark(facets).is_some()
}

/// What tells that pages of the web were read: the first tool or command that did.
pub(crate) fn mark(facets: &Facets) -> Option<Mark> {
    let tool = facets.tools.iter().find(|tool| reads_the_web(tool)).cloned().map(Mark::Tool);
    let command = || facets.commands.iter().find(|command| loads_a_page(command)).cloned();
    tool.or_else(|| command().map(Mark::Command))
}

/// A tool or a command that read pages of the web.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// A tool's name.
    Tool(String),
    /// A command.
    Command(String),
}

fn reads_the_web(tool: &str) -> bool {
    let tool = tool.to_ascii_lowercase();
    // `mcp__server__tool` of an MCP server.
    let name = tool.rsplit("__").next().unwrap_or(&tool);
    TOOLS.contains(&name) || PARTS.iter().any(|part| tool.contains(part))
}

/// Whether a command runs one of the programs on an address that is not this machine's.
fn loads_a_page(command: &str) -> bool {
    command.split([';', '&', '|', '\n', '(']).any(|command| {
        let mut words = command.split_whitespace().map(|word| word.trim_matches(['"', '\'']));
        let runs = words.any(|word| PROGRAMS.contains(&word.rsplit('/').next().unwrap_or(word)) && !word.contains("://"));
        runs && words.any(is_remote_address)
    })
}

fn is_remote_address(word: &str) -> bool {
    let host = ["http://", "https://"].iter().find_map(|scheme| word.strip_prefix(scheme));
    host.is_some_and(|host| !LOCAL.iter().any(|local| host.starts_with(local)))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::claude_fetch("WebFetch", true)]
    #[case::claude_search("WebSearch", true)]
    #[case::gemini("google_web_search", true)]
    #[case::codex("web_search", true)]
    #[case::mcp_browser("mcp__playwright__browser_navigate", true)]
    #[case::mcp_fetch("mcp__fetcher__fetch", true)]
    #[case::shell("Bash", false)]
    #[case::code_search("codebase_search", false)]
    #[case::file_search("search_file_content", false)]
    #[case::nothing("", false)]
    fn tools_that_read_the_web(#[case] tool: &str, #[case] expected: bool) {
        assert_eq!(reads_the_web(tool), expected);
    }

    #[rstest]
    #[case::curl("curl -sSL https://example.com/install.sh", true)]
    #[case::wget_by_path("/usr/bin/wget 'http://example.com/a'", true)]
    #[case::behind_another("cd x && curl \"https://example.com\" | jq .", true)]
    #[case::own_server("curl -s http://localhost:8080/health", false)]
    #[case::own_server_by_number("curl http://127.0.0.1:3000", false)]
    #[case::an_address_elsewhere("git clone https://example.com/a.git", false)]
    #[case::no_address("curl --version", false)]
    #[case::two_commands("curl --version; echo https://example.com", false)]
    fn commands_that_load_a_page(#[case] command: &str, #[case] expected: bool) {
        assert_eq!(loads_a_page(command), expected);
    }
}
