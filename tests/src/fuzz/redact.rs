//! The redactor: redacting twice changes nothing, text grows by placeholders alone, and a secret of a shape that needs no context is
//! gone whatever stands around it, also where a text is cut after its head was redacted.

use remembrancer_processor::ingest::{redact, testing::redacted_head};

use super::input::{Dice, text};

/// Letters and digits of a made-up secret: put together at run time, so that no scanner finds one here.
const ALNUM: &str = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
const CAPITALS: &str = "IOSFODNN7EXAMPL3";
const HEX: &str = "0123456789abcdef0123456789abcdef";

/// Beginnings of secrets that are known by themselves, and what follows.
const SECRETS: [(&str, &str); 8] = [
    ("gh", "p_{alnum}"),
    ("AK", "IA{capitals}"),
    ("sk-", "ant-api03-{alnum}"),
    ("gl", "pat-{alnum}"),
    ("np", "m_{alnum}"),
    ("S", "K{hex}"),
    ("hv", "s.{alnum}"),
    ("AI", "za{alnum}"),
];

/// What stands in a private span, and in no other text.
const PRIVATE: &str = "Zq7MimiLivesInElmStreetQz";

/// Of how many bytes a part of a secret tells something.
const TELLING: usize = 14;

pub(super) fn run(data: &[u8]) {
    let text = text(data);
    let once = redact(&text).into_owned();
    let twice = redact(&once);
    assert!(twice == once, "redacting twice changes {once:?} to {twice:?}");
    // The shortest secret of any rule has three characters and stands behind at least as many.
    assert!(once.len() <= text.len() * 8, "{} bytes became {}", text.len(), once.len());
    let mut dice = Dice::of(data);
    check_secret(&text, &mut dice);
    check_private(&text, &mut dice);
}

fn secret(dice: &mut Dice) -> String {
    let (head, tail) = dice.pick(&SECRETS);
    let tail = tail
        .replace("{alnum}", ALNUM)
        .replace("{capitals}", CAPITALS)
        .replace("{hex}", HEX);
    format!("{head}{tail}")
}

/// A secret between words is gone, wherever it stands.
fn check_secret(text: &str, dice: &mut Dice) {
    let secret = secret(dice);
    let body = &secret[secret.len() - TELLING..];
    if text.contains(body) {
        return;
    }
    let at = text.floor_char_boundary(dice.below(text.len() + 1));
    let between = *dice.pick(&[" ", "\n", "\"", "`", ", "]);
    let planted = format!("{}{between}{secret}{between}{}", &text[..at], &text[at..]);
    let redacted = redact(&planted);
    assert!(!redacted.contains(body), "{secret:?} is left in {redacted:?}");
    // Cut anywhere, the head holds no part of it.
    let keep = planted.floor_char_boundary(dice.below(planted.len() + 1));
    let head = redacted_head(&planted, keep);
    let kept = &head[..head.floor_char_boundary(keep)];
    for start in 0..=secret.len() - TELLING {
        let part = &secret[start..start + TELLING];
        assert!(
            text.contains(part) || !kept.contains(part),
            "{part:?} is left in the head {kept:?}"
        );
    }
}

/// What stands in a private span is gone, and what stands around it is not made worse.
fn check_private(text: &str, dice: &mut Dice) {
    if text.contains(PRIVATE) {
        return;
    }
    let at = text.floor_char_boundary(dice.below(text.len() + 1));
    let closing = *dice.pick(&["</private>", "</PRIVATE>", ""]);
    let opening = *dice.pick(&["<private>", "<Private>"]);
    let planted = format!("{}{opening}{PRIVATE}{closing}{}", &text[..at], &text[at..]);
    assert!(!redact(&planted).contains(PRIVATE), "a private span is left of {planted:?}");
    let inside = format!("<private>{text}{PRIVATE}</private>");
    // A text that closes the span ends it, in whatever way its tag is spelled.
    let stays_open = redact(&format!("<private>{text}x")) == redact("<private>x");
    if stays_open {
        assert!(!redact(&inside).contains(PRIVATE), "a private span is left of {inside:?}");
    }
}
