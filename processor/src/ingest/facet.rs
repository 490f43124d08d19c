//! Paths, commands and error lines as they are remembered: short, recognisable, without the trivial ones.
//! In go strings of tool calls, out come facets: redacted first, then cut. Our own commands and tools give none.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use super::redact::{redact, redact_head};
use super::text;

/// Longest command kept, in bytes.
const COMMAND_CAP: usize = 200;
/// Longest error line kept, in bytes.
const ERROR_CAP: usize = 240;
/// Longest path kept, in bytes.
const FILE_CAP: usize = 300;
/// Bytes of a script that are searched for the command to keep.
const SCRIPT_CAP: usize = 32 * 1024;
/// Of a result, the part at each end that is searched for an error line, in bytes.
const SEARCH_CAP: usize = 256 * 1024;

/// Programs that say nothing about what was done.
const TRIVIAL: &[&str] = &[
    "cat", "cd", "clear", "date", "dir", "echo", "export", "false", "file", "head", "less", "ls", "mkdir", "popd", "printf",
    "ps", "pushd", "pwd", "read", "set", "sleep", "stat", "tail", "test", "touch", "tree", "true", "type", "wait", "wc", "which",
    "whoami", "[",
];

/// Programs and subcommands that only look: kept after the others.
const LOOKING: &[&str] = &[
    "awk",
    "diff",
    "env",
    "fd",
    "find",
    "gh api",
    "gh pr",
    "git branch",
    "git diff",
    "git log",
    "git remote",
    "git rev-parse",
    "git show",
    "git stash",
    "git status",
    "grep",
    "jq",
    "rg",
    "sed",
    "sort",
    "xargs",
];

/// Our own programs.
const OWN: &[&str] = &["remembrancer", "remembrancer-hook"];

/// A path as it is remembered: below the working folder it is relative.
pub(crate) fn file(path: &str, cwd: Option<&str>) -> String {
    let path = redact_head(path.trim(), FILE_CAP + cwd.map_or(0, str::len));
    let relative = cwd.and_then(|cwd| below(&path, cwd)).unwrap_or(&path);
    text::head(relative, FILE_CAP).replace('\\', "/")
}

/// `path` relative to `cwd`, whatever the separator and the case of a drive letter.
fn below<'a>(path: &'a str, cwd: &str) -> Option<&'a str> {
    let cwd = cwd.trim_end_matches(['/', '\\']);
    let (head, rest) = path.split_at_checked(cwd.len())?;
    let same = if cwd.as_bytes().get(1) == Some(&b':') {
        head.eq_ignore_ascii_case(cwd)
    } else {
        head == cwd
    };
    let rest = rest.strip_prefix(['/', '\\'])?;
    (same && !cwd.is_empty() && !rest.is_empty()).then_some(rest)
}

/// A command as it is remembered: its first line, after any `cd … &&`; none if it is trivial.
/// A commit whose message is a here-document keeps the message's first line.
pub(crate) fn command(whole: &str) -> Option<String> {
    let whole = text::clean(whole);
    let whole = redact_head(&whole, SCRIPT_CAP);
    let main = significant(&whole)?;
    let mut lines = main
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let first = lines.next()?;
    let shown = match (makes_commit(first) && first.contains("<<"), lines.next()) {
        (true, Some(subject)) => format!("git commit -m \"{subject}\""),
        _ => TRIMMINGS.replace_all(first.trim_end_matches('\\'), "").trim().to_owned(),
    };
    Some(text::head_words(&shown, COMMAND_CAP).into_owned())
}

/// What agents hang on a command to see less of its output.
static TRIMMINGS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"\s*2>\s*(?:&1|/dev/null)|\s*\|\s*(?:head|tail)(?:\s+-\S+)*(?:\s+\d+)?\s*$|\s*&&\s*echo\s+\S+\s*$")
});

/// `whole` from its first command that isn't trivial.
fn significant(whole: &str) -> Option<&str> {
    let mut rest = whole.trim();
    loop {
        if rest.is_empty() {
            return None;
        }
        if !rest.starts_with('#') && !TRIVIAL.contains(&program(rest)) {
            return Some(rest);
        }
        let end = command_end(rest)?;
        // A trivial command that holds a quoted text or a here-document is all there is to see.
        let head = &rest[..end];
        if head.contains("<<") || head.matches('"').count() % 2 == 1 || head.matches('\'').count() % 2 == 1 {
            return None;
        }
        rest = rest[end..].trim_start_matches(['\n', ';', '&', '|', ' ']);
    }
}

/// Where the first command of a line or script ends: at a line end, `;`, `&&` or `||`.
fn command_end(commands: &str) -> Option<usize> {
    static END: LazyLock<Regex> = LazyLock::new(|| pattern(r"\n|;|&&|\|\|"));
    END.find(commands).map(|end| end.start())
}

/// The program that a command runs, without its folder and without variables set before it.
fn program(command: &str) -> &str {
    let word = words(command).next().unwrap_or_default();
    word.rsplit(['/', '\\']).next().unwrap_or(word)
}

/// The words of a command after `VAR=value`, `sudo`, `time` and `env`.
fn words(command: &str) -> impl Iterator<Item = &str> {
    let is_prefix = |word: &&str| matches!(*word, "sudo" | "time" | "command" | "exec" | "nohup") || is_assignment(word);
    command
        .split_whitespace()
        .skip_while(is_prefix)
        .map(|word| word.trim_matches(['(', ')', ';', '"', '\'']))
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=')
        .is_some_and(|(name, _)| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'))
}

/// Whether a remembered command only looks at things.
pub(crate) fn only_looks(command: &str) -> bool {
    let mut words = words(command);
    let program = program(command);
    words.next();
    let pair = format!("{program} {}", words.next().unwrap_or_default());
    LOOKING.contains(&program) || LOOKING.contains(&pair.as_str())
}

/// What a command is known by when it is run again: its program and subcommand, and one word more after `run`.
pub(crate) fn command_key(whole: &str) -> String {
    let main = significant(whole).unwrap_or(whole);
    let main = main.split(['\n', '|', ';', '&']).next().unwrap_or(main);
    let mut words = words(main).filter(|word| !word.starts_with('-'));
    let program = words
        .next()
        .map(|word| word.rsplit('/').next().unwrap_or(word))
        .unwrap_or_default();
    let mut key = program.to_owned();
    for word in words.take(2) {
        key.push(' ');
        key.push_str(word);
        if word != "run" && word != "exec" {
            break;
        }
    }
    key
}

/// Whether a command makes a git commit.
pub(crate) fn makes_commit(command: &str) -> bool {
    static COMMIT: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?:^|[\s;&|(])git\s+(?:-\S+\s+(?:\S+\s+)?)*commit\b"));
    COMMIT.is_match(command) && !command.contains("--dry-run")
}

/// Whether any command of a line is ours.
pub(crate) fn is_own_command(whole: &str) -> bool {
    whole.contains("remembrancer")
        && whole
            .split(['\n', ';', '&', '|', '('])
            .any(|part| OWN.contains(&program(part)))
}

/// The name under which our MCP server is registered, by which its tools are known in transcripts.
pub const OWN_SERVER: &str = "remembrancer";

/// Whether a tool is ours: one of the MCP server `remembrancer`, by the name that a host makes of the server's and the tool's:
/// `mcp__remembrancer__search`, `mcp_remembrancer_search`, `remembrancer-search`, `mcp__plugin_remembrancer_remembrancer__search`.
pub(crate) fn is_own_tool(name: &str) -> bool {
    let mut parts = name.split(|c: char| !c.is_ascii_alphanumeric());
    name.len() > OWN_SERVER.len() && parts.any(|part| part.eq_ignore_ascii_case(OWN_SERVER))
}

/// Whether it is ours where a host tells the server beside the tool.
pub(crate) fn is_own_server(server: &str) -> bool {
    server.trim().eq_ignore_ascii_case(OWN_SERVER)
}

/// What the host says when a call was not made as it should be: nothing that a person wants to be reminded of.
const HOST_ERRORS: &[&str] = &[
    "<tool_use_error>",
    "The user doesn't want to",
    "User chose to",
    "[Request interrupted",
    "Request interrupted",
    "Error: The user",
    "The agent rejected",
    "InputValidationError",
    "Permission to use",
    "This command requires approval",
    "Claude requested permissions",
];

/// Lines that name an error, best kind first.
static TELLING: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        r"(?:^|\s)(?:error\[E\d+\]|(?i:error|fatal|panic(?:ked)?|exception)\b\s*(?::|\bat\b)|\w+(?:Error|Exception)\b\s*:|thread '.*' panicked)",
        r"(?i)\b(?:undefined reference|no such file|permission denied|command not found|cannot find|can't find|not found|segmentation fault|conflict \(|assertion .*failed|timed? ?out|refused|--- FAIL|FAILED|unexpected|invalid|is not (?:checked|defined|a function)|denied)\b",
        r"(?i)error|fail|✗|✖|⨯",
    ]
    .into_iter()
    .map(pattern)
    .collect()
});

/// The line of a failed result that tells most; none if the host only refused the call.
pub(crate) fn error_line(content: &str) -> Option<String> {
    let content = text::clean(content);
    let content = content.trim();
    if HOST_ERRORS.iter().any(|start| content.starts_with(start)) {
        return None;
    }
    // A secret of several lines is known only whole.
    let redacted = redact(content);
    let searched = ends(&redacted);
    let lines: Vec<&str> = searched
        .lines()
        .map(str::trim)
        .filter(|line| line.len() > 3 && !is_frame(line))
        .collect();
    // A traceback ends with its error.
    let traceback = lines.iter().any(|line| line.starts_with("Traceback (most recent call last)"));
    let telling = |kind: &Regex| {
        if traceback {
            lines.iter().rev().find(|line| kind.is_match(line))
        } else {
            lines.iter().find(|line| kind.is_match(line))
        }
    };
    let line = TELLING.iter().find_map(telling).or(lines.first())?;
    // "thread 'x' panicked at src/a.rs:1:2:" says what on the next line.
    let next = lines
        .iter()
        .skip_while(|other| !std::ptr::eq(*other, line))
        .nth(1)
        .filter(|_| line.ends_with(':'));
    let whole = next.map_or_else(|| (*line).to_owned(), |next| format!("{line} {next}"));
    Some(text::head_words(&whole, ERROR_CAP).into_owned())
}

/// A text, or its two ends.
fn ends(whole: &str) -> Cow<'_, str> {
    if whole.len() <= 2 * SEARCH_CAP {
        return Cow::Borrowed(whole);
    }
    let (head, tail) = (text::head(whole, SEARCH_CAP), text::tail(whole, SEARCH_CAP));
    Cow::Owned(format!("{head}\n{tail}"))
}

/// Lines around an error that don't name it: the exit code, a task runner's own echo, rulers.
fn is_frame(line: &str) -> bool {
    (line.starts_with("Exit code ") && line.len() < 16)
        || (line.starts_with('[') && (line.contains("] $ ") || line.ends_with("ERROR task failed")))
        || line.chars().all(|c| !c.is_alphanumeric())
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("invariant: the pattern is checked by the tests")
}

#[cfg(test)]
mod tests;
