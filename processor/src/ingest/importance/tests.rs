use remembrancer_schema::{TurnUid, UnixMillis};
use rstest::rstest;

use super::*;
use crate::ingest::agent::Agent;

fn turn(origin: Origin) -> Turn {
    Turn {
        uid: TurnUid([0; 16]),
        agent: Agent::CLAUDE_CODE,
        session: "s".to_owned(),
        origin,
        ordinal: 0,
        started_at: UnixMillis(0),
        cwd: None,
        git_branch: None,
        prompt: String::new(),
        steps: Vec::new(),
        carried_summary: None,
        committed: false,
        error_fixed: false,
    }
}

const ANSWER: &str = "The cache now holds a thousand entries, and the oldest goes first when it is full; the limit is set in the \
    server's settings, and a test covers the eviction. The old behaviour, in which the whole cache was emptied at once, is gone, \
    since it made every tenth request slow for the users of the largest installation.";

/// The rule that a prompt with this answer falls under; `none` if it is no memory.
fn rule(turn: &Turn, prompt: &str, answer: &str, acted: bool) -> &'static str {
    match judge(
        turn,
        prompt,
        &Outcome {
            answer,
            bytes: answer.len(),
            acted,
        },
    ) {
        Judged::Nothing => "none",
        Judged::Memory { rule, .. } => rule,
    }
}

#[rstest]
#[case::english("Remember that the staging database is read-only.", "user-said-remember")]
#[case::always("Always run the linter before you commit.", "user-said-remember")]
#[case::never("fix it. Never touch the generated files", "user-said-remember")]
#[case::from_now_on("from now on use pnpm", "user-said-remember")]
#[case::note("Remember: the release is on Friday", "user-said-remember")]
#[case::german("Merke dir: wir deployen nur freitags", "user-said-remember")]
#[case::french("À partir de maintenant, réponds en français", "user-said-remember")]
#[case::spanish("de ahora en adelante usa tabs", "user-said-remember")]
#[case::portuguese("lembre-se de rodar os testes", "user-said-remember")]
#[case::italian("d'ora in poi usa il tu", "user-said-remember")]
#[case::dutch("vanaf nu in het Nederlands", "user-said-remember")]
#[case::russian("Запомни: ветка называется trunk", "user-said-remember")]
#[case::chinese("请记住,数据库是只读的", "user-said-remember")]
#[case::japanese("今後はpnpmを使ってください", "user-said-remember")]
#[case::korean("앞으로는 pnpm을 써", "user-said-remember")]
#[case::decided("We decided to keep SQLite", "user-decided")]
#[case::option("let's go with option B", "user-decided")]
#[case::prefer("I'd prefer a table", "user-decided")]
#[case::german_decided("wir haben uns für Postgres entschieden", "default")]
#[case::german_decision("Entscheidung: wir bleiben bei SQLite", "user-decided")]
#[case::chinese_decided("我们决定用SQLite", "user-decided")]
#[case::plain("why is the cache so large?", "default")]
#[case::never_as_a_fact("the handler returns early and never closes the file", "default")]
#[case::always_as_a_fact("it always fails on Windows", "default")]
#[case::remembering("do you remember what I said?", "default")]
fn what_a_person_says(#[case] prompt: &str, #[case] expected: &str) {
    assert_eq!(rule(&turn(Origin::User), prompt, ANSWER, false), expected);
}

#[test]
fn tasks_among_agents_are_not_a_persons_words() {
    assert_eq!(
        rule(
            &turn(Origin::Subagent),
            "Always answer in JSON. Remember to cite.",
            ANSWER,
            true
        ),
        "default"
    );
}

#[test]
fn pasted_code_is_not_a_persons_words() {
    assert_eq!(
        rule(
            &turn(Origin::User),
            "what does this do?\n```\nNever call this\n```\n> Always do that",
            ANSWER,
            false
        ),
        "default"
    );
}

#[test]
fn what_was_done_counts() {
    let committed = Turn {
        committed: true,
        ..turn(Origin::User)
    };
    let fixed = Turn {
        error_fixed: true,
        committed: true,
        ..turn(Origin::User)
    };
    assert_eq!(rule(&committed, "commit", "Committed.", true), "commit-made");
    assert_eq!(rule(&fixed, "make the tests pass", ANSWER, true), "error-fixed");
}

#[rstest]
#[case::thanks("Thanks!", "You're welcome!", false, "none")]
#[case::ok("ok, continue please", "Done.", false, "none")]
#[case::longer(
    "go on",
    "The next step would be the migration; tell me when the backup is there, then I can begin with the first table.",
    false,
    "chatter"
)]
#[case::with_work("do it", "Done.", true, "default")]
#[case::work_without_a_word("yes", "", true, "chatter")]
#[case::with_an_answer("yes", ANSWER, false, "default")]
#[case::german("ja, danke", "Gern!", false, "none")]
#[case::chinese("好的,继续", "好。", false, "none")]
#[case::no_chatter("which port?", "8080", false, "default")]
fn tc_25_chatter_is_little(#[case] prompt: &str, #[case] answer: &str, #[case] acted: bool, #[case] expected: &str) {
    assert_eq!(rule(&turn(Origin::User), prompt, answer, acted), expected);
}

#[rstest]
#[case::long("Can you add a task for the security review as well?", "unanswered")]
#[case::short("add a task", "none")]
#[case::command("/deep-research what is the fastest hash", "none")]
#[case::remember("Remember: we ship on Friday", "user-said-remember")]
fn a_prompt_that_nothing_came_of(#[case] prompt: &str, #[case] expected: &str) {
    assert_eq!(rule(&turn(Origin::User), prompt, "", false), expected);
}

#[rstest]
#[case("I don't have any memory of previous sessions.")]
#[case("I have no record of that conversation, sorry.")]
#[case("There was no memory of it, so I can't say: no recollections were found.")]
fn tc_18_having_no_memory_is_no_memory(#[case] answer: &str) {
    assert_eq!(
        rule(&turn(Origin::User), "what did we decide about the cache?", answer, false),
        "none"
    );
}

#[rstest]
#[case::of_the_plugin("/remembrancer:recall the cache", "none")]
#[case::that_says_remember("/remembrancer:remember Always run the linter.", "none")]
#[case::in_the_user_s_place("This is Remembrancer's command `/recall`: it looks into the memory.", "none")]
#[case::of_others("/recall the cache", "default")]
#[case::about_it("What is Remembrancer's command for the cache?", "default")]
fn tc_18_our_own_commands_are_no_memory(#[case] prompt: &str, #[case] expected: &str) {
    assert_eq!(rule(&turn(Origin::User), prompt, ANSWER, true), expected);
}
