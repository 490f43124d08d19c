//! How large anything may be that a client sends or is sent, and the cutting of what is larger. No text is kept beyond these.

use serde_json::Value;

/// Bytes of a line that a client sends: what the daemon takes as a request, too. A longer one is passed over unread.
pub(super) const LONGEST_LINE: usize = 1_024 * 1_024;

/// Replies that a client has not taken yet: beyond it, nothing more is read.
pub(super) const MOST_UNTAKEN: usize = 64;

/// Calls that are at work at once. The daemon has one reader for all that may wait.
pub(crate) const MOST_AT_WORK: usize = 4;

/// Calls that are at work or wait for it; further ones are refused.
pub(super) const MOST_CALLS: usize = 32;

/// Characters of a result's text: 5,000 tokens of English, and at most 20,000 of any language, at one a character. Claude Code warns
/// of a result of 10,000 tokens, and cuts one of more than 25,000.
pub(super) const MOST_TEXT: usize = 20_000;

/// Characters of the structured form of a result, as JSON: hosts hand one or the other to their model.
pub(super) const MOST_STRUCTURED: usize = 24_000;

/// Characters of a stored text in one result of `show`, so that its heading and what is beside it have room.
pub(super) const SHOWN_PAGE: usize = 14_000;

/// Characters of an error's text.
pub(super) const MOST_ERROR: usize = 2_000;

/// `text` within `most` characters; what is cut is told, and `rest` says how to have it.
pub(super) fn cut_off(text: &str, most: usize, rest: &str) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let marker = |left: usize| format!("\n[Cut off here: {left} more characters. {rest}]");
    let room = most.saturating_sub(marker(count).chars().count());
    let mut kept: String = text.chars().take(room).collect();
    kept.push_str(&marker(count - room));
    kept
}

/// Takes elements off the end of the list `name` until the whole is small enough. Returns how many.
pub(super) fn shorten(value: &mut Value, name: &str) -> usize {
    let mut taken = 0;
    while size(value) > MOST_STRUCTURED {
        let Some(list) = value[name].as_array_mut().filter(|list| !list.is_empty()) else {
            break;
        };
        list.pop();
        taken += 1;
    }
    taken
}

/// Characters of a value as JSON.
pub(super) fn size(value: &Value) -> usize {
    value.to_string().chars().count()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_cut_is_told_and_within_its_bound() {
        let text = "é".repeat(500);
        let cut = cut_off(&text, 200, "Ask for less.");
        assert!(cut.chars().count() <= 200, "{}", cut.chars().count());
        let kept = cut.chars().take_while(|c| *c == 'é').count();
        assert!(
            cut.ends_with(&format!("[Cut off here: {} more characters. Ask for less.]", 500 - kept)),
            "{cut}"
        );
        assert_eq!(cut_off(&text, 500, "-"), text);
    }

    #[test]
    fn a_list_is_shortened_from_its_end() {
        let mut value =
            json!({"turns": (0..100).map(|number| json!({"n": number, "text": "x".repeat(1_000)})).collect::<Vec<_>>()});
        let taken = shorten(&mut value, "turns");
        let left = value["turns"].as_array().unwrap();
        assert!(
            size(&value) <= MOST_STRUCTURED && taken > 70 && left.len() + taken == 100,
            "{taken}"
        );
        assert_eq!(left[0]["n"], 0);
        assert_eq!(shorten(&mut json!({"text": "x".repeat(MOST_STRUCTURED)}), "turns"), 0);
    }
}
