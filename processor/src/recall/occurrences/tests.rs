//! Names by hand; passages and runs of words against naive counting.

use proptest::prelude::*;
use remembrancer_schema::{EpisodeId, EpisodeUid, Facets, Importance, TurnUid, UnixMillis};

use super::*;

/// The weights of terms with their document frequencies.
pub(in crate::recall) fn weights(terms: &[(&str, u64)], documents: u64) -> TermWeights {
    let names: Vec<String> = terms.iter().map(|(term, _)| (*term).to_owned()).collect();
    let frequencies: Vec<u64> = terms.iter().map(|(_, frequency)| *frequency).collect();
    TermWeights::new(&names, &frequencies, documents, &names.join(" "), None)
}

/// An episode that says so.
pub(in crate::recall) fn text(prompt: &str, answer: &str) -> EpisodeText {
    EpisodeText {
        id: EpisodeId(1),
        uid: EpisodeUid([1; 16]),
        turn_uid: TurnUid([1; 16]),
        part: 0,
        turn: 0,
        prompt: prompt.to_owned(),
        answer: answer.to_owned(),
        facets: Facets::default(),
        created_at: UnixMillis(0),
        project: None,
        project_name: None,
        agent: "a".to_owned(),
        session: "s".to_owned(),
        cwd: None,
        source: None,
        importance: Importance::Normal,
        importance_rule: "default".to_owned(),
        shared_by: None,
    }
}

#[rstest::rstest]
#[case::capital_inside("What did Caroline research?", &["carolin"])]
#[case::start_of_a_sentence("Why? Because.", &[])]
#[case::identifier("where is getUserName or user_id used", &["getusernam", "user_id"])]
#[case::version("upgrade to v2", &["v2"])]
#[case::start_of_a_line("- Fix it\nRun the Parser", &["parser"])]
#[case::the_person("what did I do", &[])]
fn names_are_what_no_sentence_explains(#[case] prompt: &str, #[case] expected: &[&str]) {
    assert_eq!(names(prompt).map(|name| name.term).collect::<Vec<_>>(), expected);
}

#[test]
fn a_proper_name_is_no_identifier_and_no_time() {
    let prompt = "Why did Priya upgrade libssl3 in March 2024?";
    let asked = ["priya", "upgrad", "libssl3", "march", "2024"].map(str::to_owned);
    let weights = TermWeights::new(&asked, &[3, 10, 2, 5, 5], 100, prompt, spoken(prompt).as_ref());
    let only = |name: &str| asked.iter().map(|term| term == name).collect::<Vec<_>>();
    assert_eq!(weights.proper_names_in(&only("priya")), Some(1.0));
    assert_eq!(weights.proper_names_in(&only("libssl3")), Some(0.0));
    assert!((weights.names_in(&only("priya")) - 0.5).abs() < 1e-9);
    let none = TermWeights::new(&asked, &[3, 10, 2, 5, 5], 100, "why was libssl3 upgraded", None);
    assert_eq!(none.proper_names_in(&only("priya")), None);
}

#[test]
fn what_names_a_time_weighs_nothing_beside_other_terms() {
    let asked = ["job", "august", "2023"].map(str::to_owned);
    let timed =
        |terms: &[String], prompt: &str| TermWeights::new(terms, &vec![5; terms.len()], 100, prompt, spoken(prompt).as_ref());
    let weights = timed(&asked, "my job in August 2023");
    assert!((weights.share_of(&[true, false, false]) - 1.0).abs() < 1e-9);
    assert_eq!((weights.len(), weights.asked()), (3, 1));
    assert_eq!((weights.matched(&[true; 3]), weights.quoted_share(1.0)), (1, 0.0));
    let alone = timed(&asked[1..], "in August 2023");
    assert!((alone.share_of(&[true, false]) - 0.5).abs() < 1e-9);
    assert_eq!(alone.asked(), 2);
    let named = timed(&asked, "August's job in August 2023");
    assert_eq!(named.asked(), 2, "it stands elsewhere, too");
}

fn spoken(prompt: &str) -> Option<Spoken> {
    crate::recall::time_words::spoken_of(prompt, UnixMillis(1_790_000_000_000))
}

#[test]
fn a_word_near_in_meaning_counts_for_as_much_as_it_is_near() {
    let asked = ["buy".to_owned(), "car".to_owned()];
    let weights = TermWeights::new(&asked, &[5, 5], 100, "buy a car", None);
    let soft = |answer: &str| weights.soft_share(&Occurrences::of(&text("", answer), &weights, &mut Nearness::to(&asked)));
    let (both, near, neither) = (soft("I buy a car"), soft("we purchased a vehicle"), soft("the parliament"));
    assert!((both - 1.0).abs() < 1e-9);
    assert!(near > 0.6 && near < 1.0 && neither < 0.3, "{near} {neither}");
}

proptest! {
    /// The oracle tries every pair of places.
    #[test]
    fn the_longest_run_is_that_of_every_pair_of_places(prompt in prop::collection::vec(0u8..4, 0..12), words in prop::collection::vec(0u8..5, 0..40)) {
        let word = |number: &u8| ["socket", "lock", "hang", "x", "y"][usize::from(*number)].to_owned();
        let wording: Vec<String> = prompt.iter().map(word).collect();
        let text_words: Vec<String> = words.iter().map(word).collect();
        let names: Vec<String> = ["socket", "lock", "hang"].map(str::to_owned).to_vec();
        let weights = TermWeights::new(&names, &[2, 30, 500], 1_000, &wording.join(" "), None);
        let weight = |word: &String| names.iter().position(|name| name == word).map_or(0.0, |place| weights.weights[place]);
        let mut best = 0.0_f64;
        for from in 0..wording.len() {
            for at in 0..text_words.len() {
                let run = wording[from..].iter().zip(&text_words[at..]).take_while(|(a, b)| a == b).map(|(word, _)| weight(word));
                best = best.max(run.sum());
            }
        }
        let found = Occurrences::of(&text("", &text_words.join(" ")), &weights, &mut Nearness::to(&names)).longest_run;
        prop_assert!((found - best).abs() < 1e-9, "{found} is not {best}");
    }

    /// The oracle looks at every passage of the text.
    #[test]
    fn the_best_passage_is_that_of_every_window(words in prop::collection::vec(0u8..6, 0..150)) {
        let word = |number: &u8| ["socket", "lock", "hang", "x", "y", "z"][usize::from(*number)];
        let answer = words.iter().map(word).collect::<Vec<_>>().join(" ");
        let weights = weights(&[("socket", 2), ("lock", 30), ("hang", 500)], 1_000);
        let names = ["socket", "lock", "hang"];
        let terms = terms(&answer);
        let weigh = |window: &[String]| -> f64 {
            names.iter().zip(&weights.weights).filter(|(name, _)| window.iter().any(|term| term == *name)).map(|(_, weight)| weight).sum()
        };
        let best = (0..terms.len()).map(|start| weigh(&terms[start..terms.len().min(start + WINDOW + 1)])).fold(0.0, f64::max);
        let found = Occurrences::of(&text("", &answer), &weights, &mut Nearness::to(&[])).best_passage(&weights);
        prop_assert!((found - best).abs() < 1e-9, "{found} is not {best}");
    }
}
