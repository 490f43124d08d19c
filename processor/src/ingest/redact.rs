//! Secrets out of a text, before anything is stored, embedded or cut: each becomes `[redacted:kind]`.
//!
//! A secret that is cut first loses its shape, and its beginning would stay. So every text that is kept goes through
//! [`redact`] before it is cut, or through [`redact_head`] where only a short head of a long text is kept.
//!
//! It is looked for in the text as it is read ([`view`], ADR 49). What the user marked goes first ([`private`]). The other rules are
//! data (see [`rules`], [`tokens`], [`written`], [`everyday`], and `docs/redaction.md`): a pattern, the fixed strings one of which must
//! be there for it to match, and a check of what it found. One pass over the text finds which fixed strings occur ([`search`]); only
//! their rules run, so that ordinary text costs one scan. Redacting twice changes nothing.

mod alphabet;
mod columns;
mod engine;
mod everyday;
mod folder;
mod judge;
mod private;
mod rules;
mod search;
mod stored;
mod suspects;
mod tables;
mod tokens;
mod typed;
mod view;
mod written;

use std::borrow::Cow;
use std::iter::Peekable;

use remembrancer_schema::RedactionRules;

use engine::Kept;
pub use folder::redact_folder;
use private::spans;
pub(crate) use private::{after_cut_span, redact_private_across, redact_private_after};
use search::{Present, Sought};
pub use stored::{redact_episode, redact_stored};
pub use suspects::{Kinds, Suspects, suspects};
use view::{Cut, View};

use super::text;

/// Bytes beyond a cut that are redacted with what is kept: more than a secret is long, but for a key block, of which a
/// beginning is known too.
const AHEAD: usize = 4 * 1024;

/// The version of the rules: raised whenever a rule, a list or a judgement changes what is redacted. By it one can tell what was
/// stored under older rules; 1 were those before it had a number.
pub const REDACTION_VERSION: u32 = 5;

/// These rules, for the store to bring to its rows what older ones left in them.
pub const RULES: RedactionRules = RedactionRules {
    version: REDACTION_VERSION,
    text: redact,
    folder: redact_folder,
};

/// Most passes over a text: what is taken out may let a tag or a secret be seen that was not before.
const MOST_PASSES: usize = 4;

/// `text` with every secret replaced by `[redacted:kind]`; borrowed if there is none.
///
/// It is looked for in the text as it is shown ([`View`]), and in the text that its escapes spell; where a terminal's sequences hide
/// letters, in the text as it stands as well.
pub fn redact(text: &str) -> Cow<'_, str> {
    let mut text = redact_once(text);
    for _ in 1..MOST_PASSES {
        let Cow::Owned(redacted) = &text else { break };
        match redact_once(redacted) {
            Cow::Owned(again) if again != *redacted => text = Cow::Owned(again),
            _ => break,
        }
    }
    text
}

fn redact_once(text: &str) -> Cow<'_, str> {
    let shown = match View::of_hidden_letters(text).map(redact_view) {
        Some(Cow::Owned(text)) => Cow::Owned(redact_view(View::shown(&text)).into_owned()),
        _ => redact_view(View::shown(text)),
    };
    let unescaped = match View::unescaped(&shown).map(redact_view) {
        Some(Cow::Owned(redacted)) => Some(redacted),
        _ => None,
    };
    unescaped.map_or(shown, Cow::Owned)
}

fn redact_view(mut view: View<'_>) -> Cow<'_, str> {
    // First, since what is private may hold anything.
    let (private, _) = spans(view.text(), 0);
    view.take_out(&private);
    let mut present = search::present(view.text()).peekable();
    if present.peek().is_some() {
        search::with_kept(|kept| {
            while let Some(secrets) = next_found(&mut present, view.text(), kept) {
                view.take_out(&secrets);
            }
        });
    }
    view.restored()
}

/// What the next of the rules finds that finds something.
fn next_found(rules: &mut Peekable<impl Iterator<Item = Present>>, text: &str, kept: &mut Kept) -> Option<Vec<Cut>> {
    rules.peek()?;
    let sought = Sought::new(text);
    rules
        .map(|rule| rule.secrets(&sought, kept))
        .find(|secrets| !secrets.is_empty())
}

/// The head of `text`, redacted, with at least `bytes` bytes of it seen: what is cut to `bytes` then holds no part of a
/// secret. Costs no more however long `text` is.
pub(crate) fn redact_head(text: &str, bytes: usize) -> Cow<'_, str> {
    redact(whole_head(text, bytes + AHEAD))
}

/// At most `bytes` bytes from the head of `text`, ending where no secret can be split: before white space or a quote,
/// else before a character that isn't ASCII.
fn whole_head(text: &str, bytes: usize) -> &str {
    if text.len() <= bytes {
        return text;
    }
    let head = text::head(text, bytes);
    let from = head.ceil_char_boundary(head.len().saturating_sub(AHEAD));
    let end = head[from..]
        .rfind(|c: char| c.is_whitespace() || matches!(c, '"' | '\''))
        .or_else(|| head[from..].rfind(|c: char| !c.is_ascii()));
    end.map_or(head, |end| &head[..from + end])
}

#[cfg(test)]
mod corpus;
#[cfg(test)]
mod cuts;
#[cfg(any(test, feature = "testing"))]
pub(in crate::ingest) mod examples;
#[cfg(test)]
mod oracle;
#[cfg(test)]
mod tests;
