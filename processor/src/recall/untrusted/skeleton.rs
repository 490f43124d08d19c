//! How a text looks: every character as the ASCII one that a reader takes it for, so that a marker is found in whatever letters it is
//! spelled: in capitals, in full-width or Cyrillic letters, with accents, as an HTML entity or an escape of JSON.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::BROKEN;
use crate::hidden::is_hidden;

/// The name in our own markers.
const OURS: &str = "remembrancer-recollections";

/// Names of elements by which a host tells a model what is so, and what to do: Claude Code's, Codex's, Gemini CLI's, Cursor's,
/// Cline's, Copilot's, and those of the models' own formats. Sources: the parsers in [`crate::ingest`], which pass them over, and
/// the hosts' published prompts, as of November 2026. A name of several parts is broken wherever it stands.
const PARTS: &[&str] = &[
    OURS,
    "additional-context",
    "attached-files",
    "bash-input",
    "bash-stderr",
    "bash-stdout",
    "collaboration-mode",
    "command-args",
    "command-contents",
    "command-message",
    "command-name",
    "environment-context",
    "environment-details",
    "extra-context",
    "function-call",
    "function-calls",
    "function-response",
    "function-result",
    "function-results",
    "git-status",
    "hook-context",
    "hook-prompt",
    "local-command-caveat",
    "local-command-stderr",
    "local-command-stdout",
    "loaded-context",
    "new-diagnostics",
    "open-and-recently-viewed-files",
    "persisted-output",
    "post-tool-use-hook",
    "pre-tool-use-hook",
    "project-context",
    "project-layout",
    "session-start-hook",
    "subagent-notification",
    "system-message",
    "system-notification",
    "system-prompt",
    "system-reminder",
    "task-notification",
    "teammate-message",
    "tool-call",
    "tool-calls",
    "tool-response",
    "tool-result",
    "tool-results",
    "tool-use-error",
    "turn-aborted",
    "user-action",
    "user-info",
    "user-instructions",
    "user-memory",
    "user-prompt-submit-hook",
    "user-query",
    "user-rules",
    "user-shell-command",
];
/// The same of one word: only where no letter stands before the bracket, since `Promise<System>` is a type.
const WORDS: &[&str] = &[
    "antml",
    "assistant",
    "developer",
    "human",
    "instructions",
    "invoke",
    "permissions",
    "skill",
    "system",
];

/// Characters that look like ASCII ones and are no compatibility forms of them, from Unicode's list of confusables: those that can
/// spell a name above.
const LOOKALIKES: &[(&str, char)] = &[
    ("аɑαаᴀⲁᎪ\u{a4ee}", 'a'),
    ("ЬƄɓʙвВΒᏴ", 'b'),
    ("сϲᴄⲥСϹᏟⅽ", 'c'),
    ("ԁɗᴅᎠⅾ", 'd'),
    ("еєҽεᴇЕΕᎬ℮", 'e'),
    ("ғϝꜰƒ", 'f'),
    ("ɡցɢԌ", 'g'),
    ("һհнʜНΗᎻ", 'h'),
    ("іıɩιɪІΙᎥӏǀⅼӀ", 'l'),
    ("јϳᴊЈ", 'j'),
    ("кκᴋКΚᏦ", 'k'),
    ("мᴍМΜᎷⅿ", 'm'),
    ("пոռηɴΝ", 'n'),
    ("оοσօᴏⲟОΟՕ", 'o'),
    ("рρᴘⲣРΡᏢ", 'p'),
    ("ԛգ", 'q'),
    ("гᴦʀяᎡᏒ", 'r'),
    ("ѕꜱЅᏚ", 's'),
    ("тτᴛТΤᎢ", 't'),
    ("υսᴜцՍ", 'u'),
    ("νѵᴠѴⅴ", 'v'),
    ("ԝωшᴡԜᎳ", 'w'),
    ("хχⲭХΧⅹ", 'x'),
    ("уγүʏУΥҮ", 'y'),
    ("ᴢΖᏃ", 'z'),
    ("‐‑‒–—―−﹣⁃─━ーᅳ۔▁", '-'),
    ("‹〈⟨〈❮˂ᐸ«❬⧼≺", '<'),
    ("⁄∕⧸╱", '/'),
];

/// Looks of a text, each with the bytes that it comes from.
pub(super) struct Skeleton {
    looks: Vec<Look>,
}

struct Look {
    looks: u8,
    from: Range<usize>,
}

/// What looks like nothing that a name is made of.
const OTHER: u8 = 0;

impl Skeleton {
    /// How `text` looks.
    pub(super) fn of(text: &str) -> Self {
        let mut looks = Vec::with_capacity(text.len());
        let mut at = 0;
        while let Some(c) = text[at..].chars().next() {
            let (c, length) = escaped(&text[at..]).unwrap_or((c, c.len_utf8()));
            let from = at..at + length;
            at += length;
            if c == '\n' || c.is_ascii() && !is_hidden(c) {
                looks.push(Look {
                    looks: ascii_look(c),
                    from,
                });
            } else {
                push_looks(&mut looks, c, &from);
            }
        }
        Self { looks }
    }

    /// Where brackets of hosts' elements, of our markers, of comments and of models' own tokens stand, and what is to stand there.
    pub(super) fn elements(&self) -> Vec<(Range<usize>, &'static str)> {
        let brackets = self
            .looks
            .iter()
            .enumerate()
            .filter(|(_, look)| look.looks == b'<' || look.looks == b'[');
        brackets
            .filter(|(at, _)| self.is_element(*at))
            .map(|(_, look)| (look.from.clone(), BROKEN))
            .collect()
    }

    /// Where our own name stands: whole, in hyphens of any length.
    pub(super) fn names_of_ours(&self) -> Vec<(Range<usize>, &'static str)> {
        let mut found = Vec::new();
        let mut at = 0;
        while at < self.looks.len() {
            match self.behind_name(at, OURS) {
                Some((end, hyphens)) => {
                    found.extend(hyphens.into_iter().map(|hyphen| (self.looks[hyphen].from.clone(), " ")));
                    at = end;
                }
                None => at += 1,
            }
        }
        found
    }

    fn is_element(&self, bracket: usize) -> bool {
        let mut at = bracket + 1;
        if self.looks[bracket].looks == b'[' {
            // `[INST]` and `[/INST]` of some models' formats.
            at += usize::from(self.look(at) == Some(b'/'));
            return self
                .behind_name(at, "inst")
                .is_some_and(|(end, _)| self.look(end) == Some(b']'));
        }
        if self.starts(at, b"!--") || self.is_token(at) {
            return true;
        }
        while matches!(self.look(at), Some(b'/' | b' ' | b'<' | b'\n')) {
            at += 1;
        }
        let ends = |end: usize| {
            !self
                .look(end)
                .is_some_and(|look| look.is_ascii_alphanumeric() || look == b'-')
        };
        let is_named = |name: &&str| self.behind_name(at, name).is_some_and(|(end, _)| ends(end));
        if PARTS.iter().any(|name| self.behind_name(at, name).is_some()) {
            return true;
        }
        let is_type = bracket > 0 && self.looks[bracket - 1].looks.is_ascii_alphanumeric();
        !is_type && (WORDS.iter().any(is_named) || self.behind_name(at, "sys").is_some_and(|(end, _)| self.starts(end, b">>")))
    }

    /// Whether a token of a model's own format begins behind a bracket: `<|im_start|>`.
    fn is_token(&self, at: usize) -> bool {
        if self.look(at) != Some(b'|') {
            return false;
        }
        let name = self.looks[at + 1..]
            .iter()
            .take_while(|look| look.looks.is_ascii_alphanumeric() || look.looks == b'-');
        let end = at + 1 + name.count();
        end > at + 1 && self.starts(end, b"|>")
    }

    /// The index behind `name` at `at`, and those of its hyphens. A hyphen of it may be several.
    fn behind_name(&self, at: usize, name: &str) -> Option<(usize, Vec<usize>)> {
        let mut hyphens = Vec::new();
        let mut at = at;
        for letter in name.bytes() {
            if !fits(self.look(at)?, letter) {
                return None;
            }
            if letter == b'-' {
                while self.look(at) == Some(b'-') {
                    hyphens.push(at);
                    at += 1;
                }
            } else {
                at += 1;
            }
        }
        Some((at, hyphens))
    }

    fn look(&self, at: usize) -> Option<u8> {
        self.looks.get(at).map(|look| look.looks)
    }

    fn starts(&self, at: usize, with: &[u8]) -> bool {
        with.iter()
            .enumerate()
            .all(|(index, look)| self.look(at + index) == Some(*look))
    }
}

/// Whether a look may be taken for a letter of a name: `1`, `|` and `!` for an `i` or `l`, `0` for an `o`.
fn fits(look: u8, letter: u8) -> bool {
    match letter {
        b'i' | b'l' => matches!(look, b'i' | b'l' | b'1' | b'|' | b'!'),
        b'o' => matches!(look, b'o' | b'0'),
        letter => look == letter,
    }
}

/// What an ASCII character looks like, letters small.
fn ascii_look(c: char) -> u8 {
    match c {
        '_' => b'-',
        '\\' => b'/',
        _ => c.to_ascii_lowercase() as u8,
    }
}

/// A mark has no look of its own; a ligature has several.
fn push_looks(looks: &mut Vec<Look>, c: char, from: &Range<usize>) {
    for part in std::iter::once(c).nfkd() {
        if is_combining_mark(part) || is_hidden(part) {
            continue;
        }
        let look = match part {
            part if part.is_ascii() => ascii_look(part),
            part if part.is_whitespace() => b' ',
            // Kana, ideographs and syllables, of which there may be many.
            '\u{3041}'..='\u{30fb}' | '\u{3100}'..='\u{a4cf}' | '\u{ac00}'.. => OTHER,
            part => LOOKALIKES
                .iter()
                .find(|(all, _)| all.contains(part))
                .map_or(OTHER, |(_, look)| *look as u8),
        };
        looks.push(Look {
            looks: look,
            from: from.clone(),
        });
    }
}

/// Named entities for what markers are made of.
const ENTITIES: &[(&str, char)] = &[
    ("lt", '<'),
    ("LT", '<'),
    ("langle", '<'),
    ("lang", '<'),
    ("sol", '/'),
    ("hyphen", '-'),
    ("dash", '-'),
    ("minus", '-'),
    ("ndash", '-'),
    ("mdash", '-'),
    ("lowbar", '-'),
    ("shy", '\u{ad}'),
    ("zwj", '\u{200d}'),
    ("zwnj", '\u{200c}'),
    ("ZeroWidthSpace", '\u{200b}'),
    ("nbsp", ' '),
];
/// Characters of an entity between `&` and `;` that are looked at.
const LONGEST_ENTITY: usize = 24;

/// The character that an HTML entity, an escape of JSON, of a string or of an address stands for, and its length.
fn escaped(text: &str) -> Option<(char, usize)> {
    match text.as_bytes()[0] {
        b'&' => entity(text),
        b'\\' => match text.as_bytes().get(1)? {
            b'u' => hexadecimal(text, 2, 4),
            b'x' => hexadecimal(text, 2, 2),
            _ => None,
        },
        b'%' => hexadecimal(text, 1, 2),
        _ => None,
    }
}

fn hexadecimal(text: &str, from: usize, digits: usize) -> Option<(char, usize)> {
    let code = text.get(from..from + digits)?;
    let is_code = code.bytes().all(|digit| digit.is_ascii_hexdigit());
    let c = char::from_u32(u32::from_str_radix(code, 16).ok()?)?;
    is_code.then_some((c, from + digits))
}

fn entity(text: &str) -> Option<(char, usize)> {
    let mut start = 1;
    // `&amp;lt;` is one that was escaped once more.
    while text[start..].starts_with("amp;") {
        start += 4;
    }
    let body = &text[start..];
    let end = body.bytes().take(LONGEST_ENTITY).position(|byte| byte == b';')?;
    let name = body.get(..end)?;
    let c = match name.strip_prefix('#') {
        Some(number) => {
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?)?
        }
        None => ENTITIES.iter().find(|(known, _)| *known == name)?.1,
    };
    Some((c, start + end + 1))
}
