//! A page in Markdown: its text comes in; its fenced blocks with the notes before them, its headings as anchors, and its links go out.
//!
//! As much of Markdown as the pages use, and as the forge shows them: fences of three back quotes at the start of a line, headings by
//! `#`, links in brackets, images as elements of HTML.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const FENCE: &str = "```";

/// A page.
#[derive(Debug, Clone)]
pub struct Page {
    /// Its path from the repository's root.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
}

/// A fenced block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The 1-based line of its opening fence.
    pub line: usize,
    /// What stands behind the fence, as `sh`; empty where nothing does.
    pub language: String,
    /// The comments on the lines directly before it, from the first.
    pub notes: Vec<String>,
    /// Its lines.
    pub lines: Vec<String>,
}

impl Page {
    /// The page at `path` below `root`.
    ///
    /// # Panics
    /// Where it can't be read.
    pub fn read(root: &Path, path: PathBuf) -> Self {
        let text = fs_err::read_to_string(root.join(&path)).unwrap();
        Self { path, text }
    }

    /// Its fenced blocks.
    ///
    /// # Panics
    /// Where one has no end.
    pub fn blocks(&self) -> Vec<Block> {
        let lines: Vec<&str> = self.text.lines().collect();
        let mut blocks = Vec::new();
        let mut at = 0;
        while let Some(from) = lines[at..]
            .iter()
            .position(|line| line.starts_with(FENCE))
            .map(|from| at + from)
        {
            let length = lines[from + 1..].iter().position(|line| line.trim_end() == FENCE);
            let length = length.unwrap_or_else(|| panic!("{}:{}: a block has no end", self.path.display(), from + 1));
            blocks.push(Block {
                line: from + 1,
                language: lines[from][FENCE.len()..].trim().to_owned(),
                notes: notes_before(&lines[..from]),
                lines: lines[from + 1..=from + length]
                    .iter()
                    .map(|line| (*line).to_owned())
                    .collect(),
            });
            at = from + length + 2;
        }
        blocks
    }

    /// What can be linked to in it, as the forge makes it of headings: `## It's slow` is `its-slow`, the second of that `its-slow-1`.
    pub fn anchors(&self) -> Vec<String> {
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        let mut anchors = Vec::new();
        for line in self.prose() {
            let hashes = line.chars().take_while(|c| *c == '#').count();
            if !(1..=6).contains(&hashes) || !line[hashes..].starts_with(' ') {
                continue;
            }
            let anchor = anchor(&line[hashes + 1..]);
            let before = seen.entry(anchor.clone()).or_default();
            anchors.push(match *before {
                0 => anchor,
                number => format!("{anchor}-{number}"),
            });
            *before += 1;
        }
        anchors
    }

    /// What it links to, images included, as written.
    pub fn links(&self) -> Vec<String> {
        let mut links = Vec::new();
        for line in self.prose() {
            let line = without_code(&line);
            for part in line.split("](").skip(1) {
                links.extend(part.split(')').next().map(str::to_owned));
            }
            for opening in ["src=\"", "srcset=\"", "href=\""] {
                links.extend(
                    line.split(opening)
                        .skip(1)
                        .filter_map(|part| part.split('"').next())
                        .map(str::to_owned),
                );
            }
        }
        links
    }

    /// Its lines outside of blocks.
    fn prose(&self) -> Vec<String> {
        let mut is_inside = false;
        let mut prose = Vec::new();
        for line in self.text.lines() {
            if line.starts_with(FENCE) {
                is_inside = !is_inside;
            } else if !is_inside {
                prose.push(line.to_owned());
            }
        }
        prose
    }
}

/// The comments at the end of `lines`, each a line.
fn notes_before(lines: &[&str]) -> Vec<String> {
    let mut notes: Vec<String> = lines
        .iter()
        .rev()
        .map_while(|line| Some(line.trim().strip_prefix("<!--")?.strip_suffix("-->")?.trim().to_owned()))
        .collect();
    notes.reverse();
    notes
}

/// A heading's anchor: small letters, digits and hyphens, other marks left out, blanks as hyphens; of a link its words.
fn anchor(heading: &str) -> String {
    let mut words = heading.to_owned();
    while let Some((from, to)) = words
        .find("](")
        .and_then(|from| Some((from, from + words[from..].find(')')?)))
    {
        words.replace_range(from..=to, "");
    }
    words
        .trim()
        .to_lowercase()
        .chars()
        .filter_map(|c| match c {
            ' ' => Some('-'),
            '-' | '_' => Some(c),
            _ => c.is_alphanumeric().then_some(c),
        })
        .collect()
}

/// A line without what stands between single back quotes.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("``")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: &str) -> Page {
        Page {
            path: "x.md".into(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn blocks_have_their_notes_and_lines() {
        let text = "# A\n<!-- far -->\n\n<!-- one -->\n<!-- two -->\n```console\n$ x\ny\n```\n```\nz\n```\n";
        let blocks = page(text).blocks();
        assert_eq!(blocks.len(), 2);
        assert_eq!((blocks[0].line, blocks[0].language.as_str()), (6, "console"));
        assert_eq!(blocks[0].notes, ["one", "two"]);
        assert_eq!(blocks[0].lines, ["$ x", "y"]);
        assert_eq!((blocks[1].language.as_str(), blocks[1].notes.len()), ("", 0));
    }

    #[test]
    fn anchors_are_those_of_the_forge() {
        let text = "# It's slow: why?\n## Two `words` of [it](x.md)\n## It's slow, why\n```\n# none\n```\n#none\n";
        assert_eq!(page(text).anchors(), ["its-slow-why", "two-words-of-it", "its-slow-why-1"]);
    }

    #[test]
    fn links_are_found_outside_of_code() {
        let text = "see [a](a.md#b), `[no](no.md)` and [c](c.md) <img src=\"d.svg\">\n```\n[no](no.md)\n```\n";
        assert_eq!(page(text).links(), ["a.md#b", "c.md", "d.svg"]);
    }
}
