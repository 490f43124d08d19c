//! The writer of recollections: one fence around whatever was remembered, within its caps, without a character that is not seen; and
//! what the stripper takes out again leaves nothing of it.
//!
//! An input is texts between NUL bytes: project, file, prompt and answer of each episode in turn. Every second one is another member's,
//! whose login is what the file is called.

use remembrancer_processor::recall::{CAPS, Header, block, clean, cut, empty_block, estimated_tokens, standing_block};
use remembrancer_processor::{FENCE_CLOSE, FENCE_OPEN_PREFIX, strip_fenced};
use remembrancer_schema::{EpisodeId, EpisodeText, EpisodeUid, Facets, Importance, SharedBy, TurnUid, UnixMillis};

use super::input::{Dice, text, texts};

pub(super) fn run(data: &[u8]) {
    let episodes = episodes(data);
    let mut dice = Dice::of(data);
    let header = Header {
        prompt_hash: "0123456789abcdef".to_owned(),
        written: UnixMillis(1_772_358_000_000),
    };
    let (shown, count) = block(&header, &episodes, CAPS);
    assert!(count <= episodes.len());
    check_block(&shown);
    let first = shown.lines().next().unwrap_or_default();
    let opening = remembrancer_hooks::recollection_file::Opening::parse(first).expect("the opening line is known again");
    assert_eq!(
        (opening.prompt, opening.written_ms),
        (header.prompt_hash.clone(), header.written.0)
    );
    let standing = standing_block(&episodes, CAPS);
    check_block(&standing);
    assert!(!standing.contains('@'), "a host may take it for an import");
    check_block(&empty_block(&header, "no reason"));
    let text = text(data);
    check_stripped(&text, &shown, &mut dice);
    check_cut(&text, &mut dice);
}

fn episodes(data: &[u8]) -> Vec<EpisodeText> {
    let texts = texts(data);
    let fields = texts.chunks(4).take(5).enumerate().map(|(number, fields)| {
        let field = |at: usize| fields.get(at).map_or_else(String::new, |text| text.clone().into_owned());
        let turn_uid = TurnUid([number as u8; 16]);
        EpisodeText {
            id: EpisodeId(number as i64),
            uid: EpisodeUid::of(&turn_uid, 0),
            turn_uid,
            part: 0,
            turn: 0,
            prompt: field(2),
            answer: field(3),
            facets: Facets {
                files: vec![field(1), field(0)],
                ..Facets::default()
            },
            created_at: UnixMillis(1_772_358_000_000),
            project: None,
            project_name: Some(field(0)),
            agent: "claude-code".to_owned(),
            session: "s".to_owned(),
            cwd: None,
            source: None,
            importance: Importance::Normal,
            importance_rule: "default".to_owned(),
            shared_by: (number % 2 == 1).then(|| SharedBy {
                member: field(1),
                machine: field(0),
                is_own: false,
            }),
        }
    });
    fields.collect()
}

/// One fence, within the caps, and nothing in it that is not seen.
fn check_block(shown: &str) {
    assert!(
        shown.starts_with(FENCE_OPEN_PREFIX) && shown.ends_with(&format!("{FENCE_CLOSE}\n")),
        "{shown:?}"
    );
    let folded = shown.to_lowercase();
    assert_eq!(folded.matches(FENCE_OPEN_PREFIX).count(), 1, "a second opening in {shown:?}");
    assert_eq!(folded.matches(FENCE_CLOSE).count(), 1, "a second closing in {shown:?}");
    assert_eq!(folded.matches("remembrancer-recollections").count(), 2, "{shown:?}");
    assert!(
        shown.chars().count() <= CAPS.block_chars,
        "{} characters",
        shown.chars().count()
    );
    assert!(
        estimated_tokens(shown) <= CAPS.block_tokens,
        "{} tokens",
        estimated_tokens(shown)
    );
    check_visible(shown);
    assert_eq!(strip_fenced(shown).trim(), "");
}

fn check_visible(shown: &str) {
    let hidden = shown.chars().find(|c| *c != '\n' && is_hidden(*c));
    assert_eq!(hidden, None, "{shown:?}");
}

/// Control, format, private-use and unassigned-by-design characters by Unicode's own categories, as far as they can be told by range.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e000}'..='\u{f8ff}' | '\u{e0000}'..='\u{10ffff}')
}

/// A block that stands in a text, as a transcript has it, goes without a trace; and so does whatever only looks like one.
fn check_stripped(text: &str, shown: &str, dice: &mut Dice) {
    let stripped = strip_fenced(text);
    assert!(!stripped.contains(FENCE_OPEN_PREFIX), "a block is left in {stripped:?}");
    if text.contains("<remembrancer") || text.contains("recollections>") {
        return;
    }
    let at = text.floor_char_boundary(dice.below(text.len() + 1));
    let planted = format!("{}{shown}{}", &text[..at], &text[at..]);
    assert_eq!(strip_fenced(&planted), format!("{}\n{}", &text[..at], &text[at..]));
}

/// Cleaning twice changes nothing, and a cut is within its limit.
fn check_cut(text: &str, dice: &mut Dice) {
    let cleaned = clean(text);
    assert_eq!(clean(&cleaned), cleaned);
    check_visible(&cleaned);
    let limit = dice.below(300);
    let short = cut(&cleaned, limit);
    assert!(
        short.chars().count() <= limit,
        "{} characters of {limit}",
        short.chars().count()
    );
    assert!(
        cleaned.starts_with(short.strip_suffix(" …").unwrap_or(&short)),
        "a cut is no beginning"
    );
}
