//! What the words of two episodes tell of them: how many they have in common, and whether one says that something is otherwise now.
//! In go texts, out come a share and a yes or no.

use std::cell::OnceCell;

use remembrancer_schema::EpisodeText;

use crate::recall::choose::says_the_same;

/// Of a prompt, the characters in which it says that something is to be otherwise.
const PROMPT_CHARS: usize = 600;
/// Of an answer, the characters in which it says what was done: further down "instead" is said of anything.
const ANSWER_CHARS: usize = 300;

/// What a person says who takes something back, in lower case. To add a language, add its line.
const ASKED: &[&[&str]] = &[
    &[
        "instead",
        "no longer",
        "not anymore",
        "any longer",
        "revert",
        "undo",
        "roll back",
        "rollback",
        "back out",
        "actually",
        "switch to",
        "switch back",
        "move away from",
        "go back to",
        "changed my mind",
        "forget what i said",
        "replace",
        "drop the",
        "stop using",
        "don't use",
        "do not use",
        "scrap",
    ],
    &[
        "stattdessen",
        "nicht mehr",
        "rückgängig",
        "doch nicht",
        "doch lieber",
        "wechsle zu",
        "ersetze",
        "zurück zu",
    ],
    &[
        "plutôt",
        "ne plus",
        "annule",
        "finalement",
        "remplace",
        "reviens à",
        "à la place",
    ],
    &[
        "en lugar",
        "en vez",
        "ya no",
        "revierte",
        "deshaz",
        "mejor usa",
        "reemplaza",
        "vuelve a",
    ],
    &[
        "em vez",
        "já não",
        "não mais",
        "reverta",
        "desfaça",
        "na verdade",
        "substitua",
    ],
    &["invece", "non più", "annulla", "ripristina", "sostituisci", "anzi"],
    &["in plaats van", "niet meer", "draai terug", "toch maar", "vervang"],
    &["вместо", "больше не", "отмени", "откати", "верни", "замени", "передумал"],
    &["改用", "不再", "撤销", "撤銷", "回滚", "改回", "换成", "而不是"],
    &["代わりに", "やめて", "元に戻", "取り消", "やっぱり", "に変更"],
    &["대신", "되돌려", "더 이상", "취소", "바꿔"],
];

/// What an agent says that took something back.
const ANSWERED: &[&[&str]] = &[
    &[
        "no longer",
        "reverted",
        "rolled back",
        "undid",
        "undone",
        "switched to",
        "switched from",
        "switched back",
        "moved away from",
        "went back to",
        "now uses",
        "now use",
        "is replaced by",
        "replaced the",
    ],
    &["nicht mehr", "rückgängig gemacht", "umgestellt auf", "ersetzt durch"],
    &["ne plus", "annulé", "remplacé par", "est passé à"],
    &["ya no", "revertido", "reemplazado por", "ahora usa"],
    &["já não", "revertido", "substituído por", "agora usa"],
    &["non più", "annullato", "sostituito con", "ora usa"],
    &["niet meer", "teruggedraaid", "vervangen door"],
    &["больше не", "отменил", "откатил", "заменил", "теперь использует"],
    &["不再", "已撤销", "已回滚", "已改用", "已换成"],
    &["元に戻しました", "取り消しました", "変更しました"],
    &["되돌렸", "취소했", "변경했"],
];

/// An episode that is compared with several: what that takes is read once, when it is first asked for, since a prompt waits.
pub(super) struct Reading<'a> {
    text: &'a EpisodeText,
    words: OnceCell<Vec<String>>,
    revises: OnceCell<bool>,
}

impl<'a> Reading<'a> {
    pub(super) fn new(text: &'a EpisodeText) -> Self {
        Self {
            text,
            words: OnceCell::new(),
            revises: OnceCell::new(),
        }
    }

    /// Whether it says that something is otherwise now.
    pub(super) fn revises(&self) -> bool {
        *self.revises.get_or_init(|| revises(self.text))
    }

    fn words(&self) -> &[String] {
        self.words.get_or_init(|| words(self.text))
    }
}

/// Whether an episode says, in what was asked or in the beginning of its answer, that something is otherwise now.
fn revises(text: &EpisodeText) -> bool {
    says(&text.prompt, PROMPT_CHARS, ASKED) || says(&text.answer, ANSWER_CHARS, ANSWERED)
}

fn says(text: &str, chars: usize, phrases: &[&[&str]]) -> bool {
    let head: String = text.chars().take(chars).flat_map(char::to_lowercase).collect();
    phrases.iter().copied().flatten().any(|phrase| begins_a_word(&head, phrase))
}

/// Whether `phrase` stands in `text` where a word begins. A word may go on behind it ("reverted", "replaces"); writing without spaces
/// has no beginnings of words.
fn begins_a_word(text: &str, phrase: &str) -> bool {
    let has_spaces = phrase.chars().all(|c| u32::from(c) < 0x2E80);
    text.match_indices(phrase)
        .any(|(at, _)| !has_spaces || !text[..at].ends_with(char::is_alphanumeric))
}

/// The words that two episodes have in common, as a share of all that are in either; each word counts once, and case not.
pub(super) fn share_of_words(a: &Reading<'_>, b: &Reading<'_>) -> f64 {
    if says_the_same(a.text, b.text) {
        return 1.0;
    }
    // So different in length they can't be: it saves the reading of both.
    let bytes = |text: &EpisodeText| (text.prompt.len() + text.answer.len()) as f64;
    let (one, other) = (bytes(a.text), bytes(b.text));
    if one.min(other) < one.max(other) * 0.6 {
        return 0.0;
    }
    let (a, b) = (a.words(), b.words());
    let common = a.iter().filter(|word| b.binary_search(word).is_ok()).count();
    let all = a.len() + b.len() - common;
    if all == 0 { 0.0 } else { common as f64 / all as f64 }
}

/// The words of an episode, sorted, each once.
fn words(text: &EpisodeText) -> Vec<String> {
    let of = |text: &str| {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(str::to_lowercase).collect::<Vec<_>>()
    };
    let mut words = of(&text.prompt);
    words.extend(of(&text.answer));
    words.sort_unstable();
    words.dedup();
    words
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::recall::occurrences::tests::text;

    #[rstest]
    #[case::instead("Use Postgres instead of MySQL.", "Done.", true)]
    #[case::a_form_of_the_word("Please reverted? No: reverting it is.", "", true)]
    #[case::in_capitals("ACTUALLY, keep the queue.", "", true)]
    #[case::within_a_word("The factually right answer?", "", false)]
    #[case::answered("Which port?", "The server no longer listens on 8080, it listens on 9090.", true)]
    #[case::an_answer_s_instead("Which port?", "Port 9090 instead of what you would expect.", false)]
    #[case::german("Nimm doch lieber SQLite.", "", true)]
    #[case::chinese("改用新的解析器", "", true)]
    #[case::japanese("やっぱり元に戻して", "", true)]
    #[case::nothing_of_it("Why does the build fail?", "A feature was missing.", false)]
    fn what_takes_something_back(#[case] prompt: &str, #[case] answer: &str, #[case] expected: bool) {
        assert_eq!(revises(&text(prompt, answer)), expected);
    }

    #[test]
    fn far_down_an_answer_says_nothing_of_the_whole() {
        let answer = format!("{} no longer", "word ".repeat(80));
        assert!(!revises(&text("Why?", &answer)));
    }

    #[rstest]
    #[case::the_same("a b c", "a b c", 1.0)]
    #[case::case_and_punctuation("The port, is: 8080!", "the PORT is 8080", 1.0)]
    #[case::half("one two three", "one two four", 0.5)]
    #[case::nothing_in_common("alpha beta", "gamma rays", 0.0)]
    #[case::of_other_length("one", "one two three four five six", 0.0)]
    #[case::empty("", "", 1.0)]
    #[case::signs_alone("!!!", "???", 0.0)]
    fn words_in_common(#[case] a: &str, #[case] b: &str, #[case] expected: f64) {
        let (a, b) = (text(a, ""), text(b, ""));
        let share = share_of_words(&Reading::new(&a), &Reading::new(&b));
        assert!((share - expected).abs() < 1e-9, "{share}");
    }
}
