use remembrancer_schema::{EpisodeId, EpisodeUid, Importance, TurnUid, UnixMillis};
use rstest::rstest;

use super::*;

const ASKED: &str = "why does the nightly import time out";
const ANSWER: &str = "The vacuum of the ledger table held an exclusive lock. Moved the vacuum to Sunday in cron/ledger_sweep.toml \
                      and set statement_patience to ninety seconds.";

fn episode(files: &[&str]) -> EpisodeText {
    EpisodeText {
        id: EpisodeId(1),
        uid: EpisodeUid::of(&TurnUid([7; 16]), 0),
        turn_uid: TurnUid([7; 16]),
        part: 0,
        turn: 0,
        prompt: ASKED.to_owned(),
        answer: ANSWER.to_owned(),
        facets: facets(files),
        created_at: UnixMillis(0),
        project: None,
        project_name: None,
        agent: "claude-code".to_owned(),
        session: "older".to_owned(),
        cwd: None,
        source: None,
        importance: Importance::Normal,
        importance_rule: "default".to_owned(),
        shared_by: None,
    }
}

fn facets(files: &[&str]) -> Facets {
    Facets {
        files: files.iter().map(|file| (*file).to_owned()).collect(),
        ..Facets::default()
    }
}

/// In a store of a thousand episodes that speaks of imports, tables and locks in many of them.
fn check(prompt: &str, answer: &str, touched: &[&str], expected: Option<Use>) {
    let common = ["import", "time", "table", "lock", "set", "cron", "second", "toml", "move"];
    let frequencies = common.iter().map(|term| ((*term).to_owned(), 90)).collect();
    let evidence = Traces::of(&episode(&["cron/ledger_sweep.toml"])).evidence(
        &Followed::new(prompt, answer, &facets(touched)),
        &frequencies,
        1_000,
    );
    assert_eq!(evidence.shows(), expected, "{evidence:?}");
}

#[rstest]
#[case::said_again(
    "the import hangs again",
    "As in March the vacuum of the ledger keeps its exclusive lock; I moved it to Sunday.",
    Some(Use::Words)
)]
#[case::on_the_topic(
    "the import hangs again",
    "The import takes a lock on the table, so I set the time to ten seconds.",
    None
)]
#[case::three_rare_words("the import hangs again", "The vacuum of the ledger is exclusive.", None)]
#[case::brought_by_the_prompt(
    "the import hangs: does the vacuum of the ledger hold an exclusive lock, is it on Sunday?",
    "Yes: the vacuum of the ledger holds an exclusive lock, and it ran on Sunday.",
    None
)]
#[case::nothing_said("the import hangs again", "", None)]
fn words_are_evidence_where_they_are_rare_new_and_many(
    #[case] prompt: &str,
    #[case] answer: &str,
    #[case] expected: Option<Use>,
) {
    check(prompt, answer, &[], expected);
}

#[rstest]
#[case::touched_and_spoken_of("it hangs", "The vacuum runs on Sunday.", &["cron/ledger_sweep.toml"], Some(Use::Files))]
#[case::named_and_spoken_of("it hangs", "See ledger_sweep.toml: the vacuum runs on Sunday.", &[], Some(Use::Files))]
#[case::touched_alone("it hangs", "I looked at the schedule.", &["cron/ledger_sweep.toml"], None)]
#[case::named_by_the_prompt("ledger_sweep.toml hangs", "The vacuum runs on Sunday.", &["cron/ledger_sweep.toml"], None)]
#[case::named_in_part_by_the_prompt("the sweep hangs", "The vacuum runs on Sunday.", &["cron/ledger_sweep.toml"], None)]
#[case::another_of_its_kind("it hangs", "The vacuum runs on Sunday.", &["cron/other.toml"], None)]
fn files_are_evidence_beside_words(
    #[case] prompt: &str,
    #[case] answer: &str,
    #[case] touched: &[&str],
    #[case] expected: Option<Use>,
) {
    check(prompt, answer, touched, expected);
}

#[rstest]
#[case::by_the_answer("it hangs", "Recollection {id} has the reason.", Some(Use::Id))]
#[case::in_brackets("it hangs", "As noted (id:{id}).", Some(Use::Id))]
#[case::by_the_prompt("look at {id}", "I looked at {id}.", None)]
#[case::as_a_part("it hangs", "Commit {id}00 has it.", None)]
fn the_id_is_evidence_by_itself(#[case] prompt: &str, #[case] answer: &str, #[case] expected: Option<Use>) {
    let id = episode(&[]).uid.short();
    check(&prompt.replace("{id}", &id), &answer.replace("{id}", &id), &[], expected);
}

#[test]
fn a_small_store_knows_few_words_for_rare() {
    let followed = Followed::new("it hangs", ANSWER, &Facets::default());
    let traces = Traces::of(&episode(&[]));
    let in_episodes = |count: u64| traces.terms().into_iter().map(|term| (term, count)).collect();
    assert_eq!(traces.evidence(&followed, &in_episodes(2), 10).shows(), Some(Use::Words));
    assert_eq!(traces.evidence(&followed, &in_episodes(3), 10).shows(), None);
    assert_eq!(traces.evidence(&followed, &in_episodes(3), 100).shows(), Some(Use::Words));
    assert_eq!(
        traces.evidence(&followed, &in_episodes(6), 1_000_000).shows(),
        Some(Use::Words)
    );
    assert_eq!(traces.evidence(&followed, &in_episodes(7), 1_000_000).shows(), None);
}

#[test]
fn four_words_of_a_long_recollection_are_chance() {
    let mut long = episode(&[]);
    let word = |number: u8| format!(" {}word", char::from(b'b' + number).to_string().repeat(3));
    long.answer.extend((0..24).map(word));
    let followed = Followed::new(
        "it hangs",
        "The vacuum of the ledger, exclusive on Sunday.",
        &Facets::default(),
    );
    let evidence = Traces::of(&long).evidence(&followed, &HashMap::new(), 1_000_000);
    assert_eq!(
        (evidence.words >= LEAST_WORDS, evidence.shows()),
        (true, None),
        "{evidence:?}"
    );
}

#[test]
fn error_lines_that_come_again_are_no_use() {
    let again = Facets {
        errors: vec![ANSWER.to_owned()],
        ..Facets::default()
    };
    let followed = Followed::new("it hangs", "Looking.", &again);
    assert_eq!(
        Traces::of(&episode(&[])).evidence(&followed, &HashMap::new(), 1_000).shows(),
        None
    );
}

#[test]
fn a_level_is_gained_by_doubling() {
    let levels = [0, 1, 2, 3, 4, 7, 8, 1_000, u64::MAX].map(use_level);
    assert_eq!(levels, [0, 1, 2, 2, 3, 3, 4, 10, 64]);
}
