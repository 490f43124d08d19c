//! Texts as they are remembered: fenced blocks shortened to their ends, and a prompt kept below its cap by its head and
//! tail. Code and data live in files; what is remembered is what was said about them.

use crate::ingest::text;

/// Bytes of a prompt that are kept.
const PROMPT_CAP: usize = 4 * 1024;
/// Of these, the bytes from its end.
const PROMPT_TAIL: usize = 1024;
/// Lines that a fenced block keeps: these from its head, and these from its tail.
const FENCE_HEAD: usize = 10;
const FENCE_TAIL: usize = 4;
/// Bytes that a line of a fenced block keeps.
const FENCE_LINE_CAP: usize = 240;
/// Links that a list of sources keeps.
const SOURCES_KEPT: usize = 3;

/// Shapes a redacted prompt.
pub(super) fn prompt(raw: &str) -> String {
    let shortened = shorten_fences(raw.trim());
    if shortened.len() <= PROMPT_CAP {
        return shortened;
    }
    let (head, tail) = (
        text::head(&shortened, PROMPT_CAP - PROMPT_TAIL),
        text::tail(&shortened, PROMPT_TAIL),
    );
    // On line borders where they are near.
    let head = head
        .rfind('\n')
        .filter(|at| *at > head.len() * 3 / 4)
        .map_or(head, |at| &head[..at]);
    let tail = tail
        .find('\n')
        .filter(|at| *at < tail.len() / 4)
        .map_or(tail, |at| &tail[at + 1..]);
    let left_out = shortened.len() - head.len() - tail.len();
    format!("{}\n[… {left_out} bytes left out]\n{}", head.trim_end(), tail.trim_start())
}

/// Shapes a redacted text of the agent: code is shortened, and a list of sources keeps its first few.
pub(super) fn answer(raw: &str) -> String {
    let shortened = shorten_fences(raw);
    if !shortened.contains("ources") {
        return shortened;
    }
    let mut links = None;
    let kept = shortened.lines().filter(|line| {
        let plain = line.trim().trim_matches(['*', '#', ' ', ':']);
        let is_link = line
            .trim_start()
            .starts_with(['-', '*', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
            && line.contains("](http");
        if plain == "Sources" {
            links = Some(0);
        } else if let Some(seen) = &mut links {
            if is_link {
                *seen += 1;
                return *seen <= SOURCES_KEPT;
            } else if !plain.is_empty() {
                links = None;
            }
        }
        true
    });
    kept.collect::<Vec<_>>().join("\n")
}

/// Every fenced block of more lines than are kept, with its middle left out.
fn shorten_fences(raw: &str) -> String {
    if !text::holds_fence(raw) {
        return raw.to_owned();
    }
    let mut kept: Vec<String> = Vec::new();
    let mut block: Vec<&str> = Vec::new();
    let mut inside = false;
    for line in raw.lines() {
        let marks = line.trim_start().starts_with("```");
        if inside && !marks {
            block.push(line);
            continue;
        }
        if inside {
            keep_block(&mut kept, &block);
            block.clear();
        }
        inside ^= marks;
        kept.push(line.to_owned());
    }
    keep_block(&mut kept, &block);
    kept.join("\n")
}

fn keep_block(kept: &mut Vec<String>, block: &[&str]) {
    let capped = |line: &&str| text::head(line, FENCE_LINE_CAP).to_owned();
    if block.len() <= FENCE_HEAD + FENCE_TAIL + 1 {
        return kept.extend(block.iter().map(capped));
    }
    let (head, rest) = block.split_at(FENCE_HEAD);
    let (middle, tail) = rest.split_at(rest.len() - FENCE_TAIL);
    kept.extend(head.iter().map(capped));
    kept.push(format!("[… {} lines left out]", middle.len()));
    kept.extend(tail.iter().map(capped));
}

/// The first line of a prompt that says something.
pub(super) fn first_line(prompt: &str) -> &str {
    let says = |line: &&str| line.chars().filter(|c| c.is_alphanumeric()).count() >= 3;
    prompt
        .lines()
        .map(str::trim)
        .find(says)
        .unwrap_or_else(|| prompt.lines().next().unwrap_or_default())
}
