//! An assistant's text without its stage directions: "Let me check the config.", "Now I'll read the file:".
//!
//! Agents announce most tool calls in a sentence. Such sentences say nothing that a person would want to be reminded
//! of, and there are many. Findings and results that stand beside them stay. The rule looks at one text at a time, never
//! at what follows it, so that an episode that was cut never changes by what comes later.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use super::text;

/// Longest paragraph, in bytes, whose sentences are judged; a longer one is an explanation and stays whole.
const PARAGRAPH_CAP: usize = 400;
/// An announced change at least this long, in bytes, says what was done and why, and stays.
const CHANGE_KEEP: usize = 90;
/// What is left of a paragraph that lost a sentence stays if it is at least this long, in bytes.
const REST_KEEP: usize = 40;
/// A whole text that ends with a colon announces a tool call if it is at most this long, in bytes.
const LEAD_IN_CAP: usize = 240;

/// How an announcement begins, after an interjection. Followed by what is looked at, it is always dropped.
static INTENT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?ix)^(?:
            (?:ok(?:ay)?|good|great|perfect|alright|now|next|first|then|so|and|also|finally|sure|yes|right|interesting|hmm|wait|actually|excellent|absolutely|done|fixed)[\s,.!:—-]+ )*
            (?: let\s+me (?:\s+(?:also|now|first|just|quickly|try\s+to|go\s+ahead\s+and))? \s+ (?P<let>\p{L}+)
              | let(?:'|’)s (?:\s+(?:also|now|first|just))? \s+ (?P<lets>\p{L}+)
              | i(?:(?:'|’)ll|\s+will|\s+need\s+to|\s+should|(?:'|’)m\s+going\s+to|\s+am\s+going\s+to|\s+want\s+to|(?:'|’)d\s+like\s+to) (?:\s+(?:also|now|first|just|start\s+by|begin\s+by|continue\s+to|go\s+ahead\s+and))? \s+ (?P<ill>\p{L}+)
              | now\s+(?P<now>i|let|to|for|the|update|add|fix|run|check|create|write|implement|verify|replace|remove|test|commit|move|read|edit)\b
              | (?:lass|lasst)\s+mich (?:\s+(?:noch|nun|jetzt|zuerst|auch))? \s
              | (?:ich\s+werde|jetzt\s+(?:werde|muss|prüfe|teste|erstelle|erweitere|aktualisiere|lese|implementiere)\s*(?:ich)?|ich\s+(?:prüfe|lese|schaue|starte|erstelle|teste|beginne|suche)(?:\s+(?:jetzt|nun|mir))?)\s
              | (?:je\s+vais|laissez-moi|laisse-moi|voyons|maintenant\s+je)\s
              | (?:voy\s+a|déjame|déjeme|vamos\s+a|ahora\s+voy)\s
              | (?:vou|deixe-me|vamos|agora\s+vou)\s
              | (?:давайте|сейчас\s+я|я\s+сейчас|посмотрю|проверю)\s
            )",
    )
});

/// Announcements in scripts without spaces.
static INTENT_CJK: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:现在)?(?:让我|我来|我先|接下来|首先让我|我将|我会先)|^(?:まず|では|それでは|次に).*(?:します|しましょう|みます)[。:：]?$",
    )
});

/// Verbs of looking and doing without an object worth keeping: dropped at any length.
static LOOKING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?ix)^(?:check|look|read|re-?read|explore|investigate|search|see|find|verify|run|re-?run|try|start|begin|continue|proceed|examine|review|analy[sz]e|understand|get|gather|take|view|inspect|open|list|grep|locate|trace|confirm|double|test|wait|debug|dig|clean|commit|push|finish|do|show|invoke|launch|spawn|fetch|load|scan|think|go|pull|wrap|mark|complete|perform|work|put|also|know)$",
    )
});

/// What the agent is doing at this moment.
static PROGRESS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?ix)^(?:(?:still|now)\s+)?(?:
            waiting\s+(?:for|on)\b
          | (?:running|dispatching|committing|starting|spawning|searching|checking|reading|launching|proceeding|continuing|listing|looking|verifying|fetching|loading|updating|writing|applying|testing|building|installing|implementing|exploring|analy[sz]ing)\b
            (?:[^.]{0,20}[.!]$ | [^.]*(?:\bnow[.!]|\.\.\.|…)$)
        )",
    )
});

/// Sentences that are an interjection and nothing else.
static INTERJECTION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?ix)^(?:ok(?:ay)?|good(?:\s+(?:point|catch|question|idea|news))?|great(?:\s+(?:question|point|idea|catch))?|perfect|excellent|alright|sure|got\s+it|understood|interesting|absolutely|makes\s+sense|i\s+see|i\s+understand(?:\s+now)?|you(?:'|’)re\s+(?:absolutely\s+)?right(?:\s+to\s+question\s+that)?|now\s+i\s+(?:have|see|understand)\s+(?:a\s+|the\s+)?(?:clear|full|complete|whole|good|better)?\s*(?:picture|understanding|context|everything)|(?:gute?|perfekt|ausgezeichnet|verstanden|genau|super)(?:\s+frage)?)\s*[.!:—]*$",
    )
});

/// A closing courtesy that carries nothing.
static COURTESY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^(?:(?:please\s+)?(?:review\s+\S+\s+and\s+)?let me know\b|does\s+(?:this|that)(?:\s+\w+){0,2}\s+(?:look|sound|seem|work|match|feel)\b|ready\s+(?:for|to)\b|feel free to|is there anything else|would you like me to|want me to|shall i|anything else|happy to help|i hope this helps|please let me know)\b",
    )
});

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("invariant: the pattern is checked by the tests")
}

/// `text` without its announcements; empty if it was nothing else.
pub(crate) fn strip(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    let mut kept = String::new();
    let mut changed = false;
    let mut in_fence = false;
    let paragraphs: Vec<&str> = text.split("\n\n").collect();
    for (number, paragraph) in paragraphs.iter().enumerate() {
        let stays = if in_fence || text::holds_fence(paragraph) {
            in_fence ^= paragraph.matches("```").count() % 2 == 1;
            Cow::Borrowed(*paragraph)
        } else {
            strip_paragraph(paragraph, number + 1 == paragraphs.len())
        };
        changed |= stays.len() != paragraph.len();
        if !stays.is_empty() {
            if !kept.is_empty() {
                kept.push_str("\n\n");
            }
            kept.push_str(&stays);
        }
    }
    if changed { Cow::Owned(kept) } else { Cow::Borrowed(text) }
}

/// One paragraph outside of code; `last` of its text or not.
fn strip_paragraph(paragraph: &str, last: bool) -> Cow<'_, str> {
    let whole = paragraph.trim();
    if whole.len() > PARAGRAPH_CAP || whole.contains('\n') {
        return Cow::Borrowed(paragraph);
    }
    let introduces = whole.ends_with([':', '：']);
    if introduces && last && whole.len() <= LEAD_IN_CAP {
        // The last sentence leads to a tool call; what stands before it may be a finding.
        let before = sentences(whole)
            .split_last()
            .map_or(0, |(_, before)| before.iter().map(|s| s.len()).sum());
        return keep_rest(&whole[..before]);
    }
    let all = sentences(whole);
    if !all.iter().any(|sentence| is_dropped(sentence)) {
        return Cow::Borrowed(paragraph);
    }
    let rest: String = all.iter().filter(|sentence| !is_dropped(sentence)).copied().collect();
    Cow::Owned(keep_rest(&rest).into_owned())
}

/// What is left, if it says something.
fn keep_rest(rest: &str) -> Cow<'_, str> {
    let rest: String = sentences(rest).into_iter().filter(|sentence| !is_dropped(sentence)).collect();
    let rest = rest.trim();
    Cow::Owned(if rest.len() >= REST_KEEP {
        rest.to_owned()
    } else {
        String::new()
    })
}

/// Whether a sentence is an announcement, an interjection or a courtesy.
fn is_dropped(sentence: &str) -> bool {
    let sentence = sentence.trim();
    if INTERJECTION.is_match(sentence) || COURTESY.is_match(sentence) || PROGRESS.is_match(sentence) {
        return true;
    }
    if INTENT_CJK.is_match(sentence) {
        return sentence.len() < CHANGE_KEEP;
    }
    let Some(found) = INTENT.captures(sentence) else {
        return false;
    };
    let verb = ["let", "lets", "ill"]
        .iter()
        .find_map(|name| found.name(name))
        .map_or("", |verb| verb.as_str());
    LOOKING.is_match(verb) || sentence.len() < CHANGE_KEEP
}

/// `text` cut after each full stop, question or exclamation mark before a space; nothing is lost between.
fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    let bytes = text.as_bytes();
    for at in 0..bytes.len() {
        let ends = matches!(bytes[at], b'.' | b'!' | b'?') && bytes.get(at + 1) == Some(&b' ');
        if ends && !is_abbreviation(&text[start..at]) {
            found.push(&text[start..at + 2]);
            start = at + 2;
        }
    }
    if start < text.len() {
        found.push(&text[start..]);
    }
    found
}

/// Whether the text before a full stop ends with something that a full stop doesn't end.
fn is_abbreviation(before: &str) -> bool {
    ["e.g", "i.e", "etc", "z.B", "bzw", "vs", "cf"]
        .iter()
        .any(|short| before.ends_with(short))
}

#[cfg(test)]
mod tests;
