use proptest::prelude::*;
use rstest::rstest;

use super::*;
use crate::hidden::visible;
use crate::ingest::redact;
use crate::ingest::redact::examples::secrets;

/// A token of GitHub's shape, so that none stands in this file.
fn token() -> String {
    format!("gh{}_{}", 'p', "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")
}

/// `token` with `between` in its midst.
fn parted(between: &str) -> String {
    let (head, tail) = ("a1B2c3D4e5", "F6g7H8i9J0k1L2m3N4o5P6q7R8");
    format!("gh{}_{head}{between}{tail}", 'p')
}

#[rstest]
#[case::soft_hyphen("\u{ad}")]
#[case::zero_width_space("\u{200b}")]
#[case::word_joiner("\u{2060}")]
#[case::byte_order_mark("\u{feff}")]
#[case::joiner("\u{200d}")]
#[case::non_joiner("\u{200c}")]
#[case::mark("\u{200e}")]
#[case::grapheme_joiner("\u{34f}")]
#[case::variation_selector("\u{fe0f}")]
#[case::another_selector("\u{e0101}")]
#[case::tag("\u{e0041}")]
#[case::vowel_separator("\u{180e}")]
#[case::filler("\u{3164}")]
#[case::override_of_order("\u{202e}")]
#[case::isolate("\u{2066}")]
#[case::private_use("\u{e000}")]
#[case::control("\u{8}")]
#[case::deletion("\u{7f}")]
#[case::colour("\u{1b}[0m")]
#[case::colours("\u{1b}[38;5;9m\u{1b}[1m")]
#[case::one_byte_colour("\u{9b}31m")]
#[case::title("\u{1b}]0;a title\u{7}")]
#[case::link("\u{1b}]8;;https://example.org\u{1b}\\")]
#[case::several("\u{200b}\u{ad}\u{200d}\u{feff}")]
fn tc_41_what_cannot_be_seen_hides_no_secret(#[case] between: &str) {
    let text = format!("use {} there", parted(between));
    assert_eq!(redact(&text), "use [redacted:github-token] there", "{text:?}");
    let text = format!("pass{between}word: hunter2Zq9X");
    assert_eq!(redact(&text).replace(between, ""), "password: [redacted:assignment]");
}

/// Found by fuzzing: what a terminal takes for a part of its sequences is not shown, and stored.
#[rstest]
#[case::link("see \u{1b}]8;;https://x.example/?t={}\u{1b}\\here\u{1b}]8;;\u{1b}\\")]
#[case::title("\u{1b}]0;{}\u{7}built")]
#[case::device("\u{1b}P{}\u{1b}\\")]
#[case::first_letter("\u{1b}[{}")]
#[case::first_letter_behind_a_quote("\u{1b}[....\"{}\"")]
#[case::first_letter_of_one_byte("\u{9b}1;2{}")]
#[case::what_parts_it("q\u{1b}[`{}`")]
#[case::last_letter_of_a_colour("\u{1b}[1 {}")]
fn tc_41_what_a_terminal_takes_for_itself_hides_no_secret(#[case] around: &str) {
    let text = around.replace("{}", &token());
    let redacted = redact(&text);
    assert!(!redacted.contains("a1B2c3D4e5"), "{redacted:?}");
    assert_eq!(redact(&redacted), redacted);
}

#[rstest]
#[case::link("\u{1b}]8;;{}\u{1b}\\here")]
#[case::first_letter("\u{1b}[{}")]
#[case::first_letter_of_one_byte("a\u{9b}{} b")]
fn a_private_span_is_private_in_what_a_terminal_takes_for_itself(#[case] around: &str) {
    let text = around.replace("{}", "<private>my street</private>");
    assert!(!redact(&text).contains("street"), "{:?}", redact(&text));
}

#[rstest]
#[case::colour("\u{1b}[31mworld\u{1b}[0m", false)]
#[case::no_colour("\u{1b}[mworld", false)]
#[case::cleared("\u{1b}[2Kworld", false)]
#[case::moved_before_a_space("\u{1b}[2A world", false)]
#[case::moved("\u{1b}[2Aworld", true)]
#[case::taken("\u{1b}[world", true)]
#[case::link("\u{1b}]8;;a\u{7}", true)]
#[case::no_sequence("world", false)]
#[case::nothing_behind("\u{1b}", false)]
fn where_letters_are_hidden_is_told(#[case] text: &str, #[case] expected: bool) {
    assert_eq!(View::of_hidden_letters(text).is_some(), expected);
}

#[rstest]
#[case::percent("gh%70%5Fa1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8", "[redacted:github-token]")]
#[case::json("\\u0067hp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8", "[redacted:github-token]")]
#[case::hexadecimal("\\x67hp\\x5fa1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8", "[redacted:github-token]")]
#[case::html("ghp&#95;a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8", "[redacted:github-token]")]
#[case::bold("**ghp_**a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8", "**[redacted:github-token]")]
#[case::behind_a_letter("tokenXghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8", "tokenX[redacted:github-token]")]
#[case::in_a_query(
    "u=%22a%22&r=https%3A%2F%2Fada%3AtR0ub4dor%40git.example.org%2Fx&n=1%202",
    "u=%22a%22&r=https%3A%2F%2Fada:[redacted:url-password]@git.example.org%2Fx&n=1%202"
)]
#[case::escaped_element(
    "&lt;password&gt;hunter2Zq9X&lt;/password&gt;",
    "&lt;password>[redacted:assignment]</password&gt;"
)]
#[case::percent_twice("ghp%255Fa1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8", "[redacted:github-token]")]
#[case::html_twice("a &amp;lt;private&amp;gt;Elm 3&amp;lt;/private&amp;gt; b", "a [redacted:private] b")]
#[case::markdown("ghp\\_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8", "[redacted:github-token]")]
#[case::code("`ghp_`a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8", "`[redacted:github-token]")]
#[case::element("<b>ghp_</b>a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8", "<b>[redacted:github-token]")]
#[case::bold_name("**password**: hunter2Zq9X", "**password**: [redacted:assignment]")]
#[case::bold_with_its_colon("**password:** hunter2Zq9X", "**password:** [redacted:assignment]")]
fn tc_41_escapes_hide_no_secret(#[case] text: &str, #[case] expected: &str) {
    assert_eq!(redact(text), expected);
    assert_eq!(redact(expected), expected);
}

#[rstest]
#[case::emoji("a 👩\u{200d}🚀 and a ❤\u{fe0f}")]
#[case::persian("می\u{200c}خواهم بدانم")]
#[case::devanagari("क्\u{200d}ष")]
#[case::blanks("100\u{a0}km\u{3000}、\u{202f}fin")]
#[case::colours("\u{1b}[32mok\u{1b}[0m 12 passed")]
#[case::escapes("a%20b &lt;b&gt; \\u0041 100 %d **bold** 2**3 \\x41 &amp; &nbsp; %zz \\u00e9 &#1234567;")]
#[case::masked("API_KEY=**********")]
fn what_holds_no_secret_stays_as_it_is(#[case] text: &str) {
    assert!(
        matches!(redact(text), Cow::Borrowed(kept) if kept == text),
        "{:?}",
        redact(text)
    );
    // And so it does beside one.
    let before = format!("{text} — use {} there", token());
    assert_eq!(redact(&before), format!("{text} — use [redacted:github-token] there"));
    let after = format!("use {} there — {text}", token());
    assert_eq!(redact(&after), format!("use [redacted:github-token] there — {text}"));
    let between = format!("{} — {text} — {}", token(), token());
    assert_eq!(
        redact(&between),
        format!("[redacted:github-token] — {text} — [redacted:github-token]")
    );
}

#[test]
fn tc_41_every_kind_of_secret_is_found_through_what_is_hidden() {
    // Not what a line's end or a cut parts.
    for (rule, text, made) in secrets() {
        let parted: String = text
            .chars()
            .flat_map(|c| {
                if c.is_ascii_alphanumeric() {
                    vec![c, '\u{200b}']
                } else {
                    vec![c]
                }
            })
            .collect();
        let redacted = redact(&parted);
        for secret in made.iter().filter(|secret| secret.len() >= 8) {
            assert!(!visible(&redacted).contains(secret.as_str()), "{rule}: {redacted:?}");
        }
    }
}

#[test]
fn a_place_in_a_view_is_found_in_the_text() {
    let text = "a\u{200b}b&lt;c\u{3000}d";
    let view = View::read(text);
    assert_eq!(view.text(), "ab<c d");
    for (seen, stands) in [("b", "b"), ("<", "&lt;"), ("c", "c"), (" ", "\u{3000}"), ("d", "d")] {
        let at = view.place(view.text().find(seen).unwrap());
        assert!(text[at..].starts_with(stands), "{seen} at {at}");
    }
}

proptest! {
    #[test]
    fn tc_41_a_secret_is_shown_by_no_cleaning(
        before in "([a-z \u{200b}]|\u{1b}\\[1m){0,20}",
        hidden in "(\u{ad}|\u{200b}|\u{2060}|\u{feff}|\u{200d}|\u{34f}|\u{fe0f}|\u{e0041}|\u{180e}|\u{1b}\\[3[0-7]m|\u{9b}1m){1,4}",
        at in 0_usize..40,
        after in "([a-z \u{200b}]|\u{1b}\\[1m){0,20}",
    ) {
        let token = token();
        let text = format!("{before} {}{hidden}{} {after}", &token[..at], &token[at..]);
        prop_assert!(!crate::recall::shown(&text).contains(&token[4..]), "{text:?}");
        let redacted = redact(&text).into_owned();
        prop_assert!(!crate::recall::clean(&redacted).contains(&token[4..]), "{redacted:?}");
        prop_assert_eq!(redact(&redacted), &*redacted);
    }

    #[test]
    fn a_view_shows_what_is_shown(text in "([a-z \n]|\u{1b}\\[1m|\u{1b}\\]0;x\u{7}|\u{200d}|\u{3000}|é|👩|\u{9b}|\u{7f}){0,40}") {
        let view = View::shown(&text);
        prop_assert_eq!(view.text().replace('\t', " "), visible(&text));
        prop_assert_eq!(&*view.restored(), &*text);
    }
}
