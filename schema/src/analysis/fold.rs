//! Folds characters that people hold for the same: width and ligatures, accents, case.
//! In goes a run of text, out comes its folded form; case is folded last, since it marks where words begin.

use unicode_normalization::UnicodeNormalization;

/// Whether a mark is dropped: accents of alphabets, vowel points of Hebrew and Arabic, variation selectors, and
/// invisible joiners. Vowel signs of Indic scripts are letters in all but name, and stay.
fn is_dropped(c: char) -> bool {
    matches!(c,
        '\u{0300}'..='\u{036f}' | '\u{0591}'..='\u{05c7}' | '\u{064b}'..='\u{065f}' | '\u{0670}'
        | '\u{20d0}'..='\u{20ff}' | '\u{fe00}'..='\u{fe0f}' | '\u{00ad}' | '\u{200b}'..='\u{200d}' | '\u{feff}')
}

/// Whether a character that is no letter itself belongs to the word around it, until folding drops or joins it.
pub(super) fn is_mark(c: char) -> bool {
    unicode_normalization::char::is_combining_mark(c) || is_dropped(c)
}

/// Compatibility forms and accents folded, case kept.
pub(super) fn fold_marks(run: &str) -> String {
    run.nfkd().filter(|&c| !is_dropped(c)).nfc().collect()
}

/// Lower case, appended to `out`.
pub(super) fn push_lower(word: &str, out: &mut String) {
    if word.is_ascii() {
        out.push_str(word);
        out.make_ascii_lowercase();
    } else {
        out.extend(word.chars().flat_map(char::to_lowercase).filter(|&c| !is_dropped(c)));
    }
}
