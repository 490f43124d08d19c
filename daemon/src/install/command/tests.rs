use std::time::Duration;

use rstest::rstest;

use super::*;

const NEW: &str = "/new/remembrancer-hook";

fn line(text: &str) -> Option<OurCommand> {
    let text = text.to_owned();
    OurCommand::read(&Command { text, arguments: None })
}

fn words(words: &[&str]) -> Command {
    let mut words = words.iter().map(|word| (*word).to_owned());
    Command {
        text: words.next().unwrap(),
        arguments: Some(words.collect()),
    }
}

/// A line as it is found, and as it is mended for Codex.
#[rstest]
#[case::plain("/a/remembrancer-hook --agent codex", "/new/remembrancer-hook --agent codex")]
#[case::by_name_alone("remembrancer-hook --agent=codex", "/new/remembrancer-hook --agent=codex")]
#[case::quoted(
    "  '/a b/remembrancer-hook' --agent codex --budget 90ms",
    "  /new/remembrancer-hook --agent codex --budget 90ms"
)]
#[case::escaped(r"/a\ b/remembrancer-hook --agent codex;true", "/new/remembrancer-hook --agent codex;true")]
#[case::a_variable(r#""$HOME/bin/remembrancer-hook" --agent codex"#, "/new/remembrancer-hook --agent codex")]
#[case::a_value(
    "A=1 B='2 3' remembrancer-hook --agent codex",
    "A=1 B='2 3' /new/remembrancer-hook --agent codex"
)]
#[case::env(
    "env A=1 B=2 /a/remembrancer-hook --agent codex",
    "env A=1 B=2 /new/remembrancer-hook --agent codex"
)]
#[case::env_with_an_option(
    "/usr/bin/env -u B A=1 /a/remembrancer-hook --agent codex",
    "/usr/bin/env -u B A=1 /new/remembrancer-hook --agent codex"
)]
#[case::timeout(
    "timeout -k 1 2s remembrancer-hook --agent codex",
    "timeout -k 1 2s /new/remembrancer-hook --agent codex"
)]
#[case::nice(
    "nice -n 5 remembrancer-hook --agent codex",
    "nice -n 5 /new/remembrancer-hook --agent codex"
)]
#[case::nice_at_once(
    "nice -n5 ionice -c3 remembrancer-hook --agent codex",
    "nice -n5 ionice -c3 /new/remembrancer-hook --agent codex"
)]
#[case::all_of_them(
    "A=1 nohup env B=2 timeout 1 nice '/a b/remembrancer-hook' --agent codex",
    "A=1 nohup env B=2 timeout 1 nice /new/remembrancer-hook --agent codex"
)]
#[case::a_shell("sh -c 'remembrancer-hook --agent codex'", "sh -c '/new/remembrancer-hook --agent codex'")]
#[case::a_shell_with_options(
    "/bin/bash -e -lc \"exec '/a b/remembrancer-hook' --agent codex\"",
    "/bin/bash -e -lc 'exec /new/remembrancer-hook --agent codex'"
)]
#[case::a_shell_in_a_shell(
    r#"sh -c "timeout 1 sh -c 'remembrancer-hook --agent codex'""#,
    r"sh -c 'timeout 1 sh -c '\''/new/remembrancer-hook --agent codex'\'''"
)]
#[case::another_agent("remembrancer-hook --agent claude-code", "/new/remembrancer-hook --agent codex")]
#[case::another_agent_inline("remembrancer-hook --agent='x' y", "/new/remembrancer-hook --agent=codex y")]
#[case::no_agent("remembrancer-hook --budget 90ms", "/new/remembrancer-hook --agent codex --budget 90ms")]
#[case::no_name_of_one("remembrancer-hook --agent", "/new/remembrancer-hook --agent codex")]
#[case::the_last_agent_counts(
    "remembrancer-hook --agent x --agent codex",
    "/new/remembrancer-hook --agent x --agent codex"
)]
#[case::behind_a_guard(
    "command -v remembrancer-hook >/dev/null && remembrancer-hook --agent codex",
    "command -v /new/remembrancer-hook >/dev/null && /new/remembrancer-hook --agent codex"
)]
#[case::behind_a_guard_that_is_silent(
    "command -v '/a b/remembrancer-hook' >/dev/null 2>&1 && A=1 nice '/a b/remembrancer-hook' --agent x || true",
    "command -v /new/remembrancer-hook >/dev/null 2>&1 && A=1 nice /new/remembrancer-hook --agent codex || true"
)]
#[case::behind_a_test(
    "sh -c '[ -x /a/remembrancer-hook ] && exec /a/remembrancer-hook --agent codex'",
    "sh -c '[ -x /new/remembrancer-hook ] && exec /new/remembrancer-hook --agent codex'"
)]
fn a_line_of_ours_is_known_and_mended(#[case] text: &str, #[case] expected: &str) {
    let found = line(text).unwrap();
    let mended = found.mended(NEW, Agent::CODEX);
    assert_eq!(mended.map_or(text.to_owned(), |mended| mended.text), expected);
    let again = line(expected).unwrap();
    assert_eq!((again.program(), again.named_agent().as_deref()), (NEW, Some("codex")));
    assert_eq!(again.mended(NEW, Agent::CODEX), None);
}

#[rstest]
#[case::another_program("/a/other-hook remembrancer-hook")]
#[case::a_longer_name("/a/remembrancer-hook-two")]
#[case::a_name_in_a_variable("HOOK=remembrancer-hook other")]
#[case::behind_another("lint && remembrancer-hook")]
#[case::as_another_user("sudo remembrancer-hook")]
#[case::a_script("sh remembrancer-hook")]
#[case::nothing_to_run("env A=1")]
#[case::no_line("sh -c")]
#[case::a_line_of_another("sh -c 'lint remembrancer-hook'")]
#[case::nothing("")]
#[case::asked_for("command -v remembrancer-hook")]
#[case::asked_for_in_words("command -V /a/remembrancer-hook --agent codex")]
#[case::asked_for_in_the_usual_path("command -pv remembrancer-hook")]
#[case::asked_for_before_another("command -v remembrancer-hook >/dev/null && lint")]
#[case::asked_for_and_kept_from("command -v remembrancer-hook >/dev/null || remembrancer-hook")]
#[case::a_guard_of_another("command -v lint >/dev/null && remembrancer-hook")]
#[case::a_runner_s_help("timeout --help remembrancer-hook")]
#[case::a_runner_s_version("env --version remembrancer-hook")]
#[case::the_hook_s_version("/a/remembrancer-hook --version")]
#[case::the_hook_s_help("nice remembrancer-hook --agent codex --help")]
#[case::the_hook_s_version_in_a_shell("sh -c 'remembrancer-hook -V'")]
fn what_runs_another_program_is_not_ours(#[case] text: &str) {
    assert!(line(text).is_none());
}

#[rstest]
#[case::direct(&["/a b/remembrancer-hook", "--agent", "x"], &[NEW, "--agent", "codex"])]
#[case::as_it_should_be(&[NEW, "--agent", "codex"], &[NEW, "--agent", "codex"])]
#[case::without_an_agent(&["/a/remembrancer-hook"], &[NEW, "--agent", "codex"])]
#[case::no_name_of_one(&["/a/remembrancer-hook", "--agent"], &[NEW, "--agent", "codex"])]
#[case::inline(&["/a/remembrancer-hook", "--agent=x", "--budget", "90ms"], &[NEW, "--agent=codex", "--budget", "90ms"])]
#[case::env(&["/usr/bin/env", "A=1", "remembrancer-hook", "--agent", "codex"], &["/usr/bin/env", "A=1", NEW, "--agent", "codex"])]
#[case::a_shell(
    &["sh", "-c", "nice '/a b/remembrancer-hook' --agent x"],
    &["sh", "-c", "nice /new/remembrancer-hook --agent codex"]
)]
#[case::a_shell_behind_another(
    &["timeout", "1", "sh", "-c", "remembrancer-hook"],
    &["timeout", "1", "sh", "-c", "/new/remembrancer-hook --agent codex"]
)]
fn words_of_ours_are_known_and_mended(#[case] before: &[&str], #[case] expected: &[&str]) {
    let before = words(before);
    let found = OurCommand::read(&before).unwrap();
    let mended = found.mended(NEW, Agent::CODEX).unwrap_or(before);
    assert_eq!(mended, words(expected));
    let again = OurCommand::read(&mended).unwrap();
    assert_eq!((again.program(), again.named_agent().as_deref()), (NEW, Some("codex")));
    assert_eq!(again.mended(NEW, Agent::CODEX), None);
}

#[rstest]
#[case::in_a_folder_of_the_name(&["/remembrancer-hook/run"])]
#[case::a_value_is_no_word(&["A=1", "remembrancer-hook"])]
#[case::an_argument(&["/a/other", "remembrancer-hook"])]
#[case::asked_for(&["command", "-v", "remembrancer-hook"])]
#[case::asked_for_its_version(&["/a/remembrancer-hook", "--version"])]
fn words_of_others_are_not_ours(#[case] other: &[&str]) {
    assert!(OurCommand::read(&words(other)).is_none());
}

#[test]
fn an_entry_for_claude_code_needs_no_name() {
    let found = line("/new/remembrancer-hook --budget 90ms").unwrap();
    assert_eq!(found.mended(NEW, Agent::CLAUDE_CODE), None);
    let found = OurCommand::read(&words(&[NEW, "--budget", "90ms"])).unwrap();
    assert_eq!(found.mended(NEW, Agent::CLAUDE_CODE), None);
}

#[rstest]
#[case::plain(
    "A=1 '/a b/remembrancer-hook' --agent codex; true",
    "A=1 '/a b/remembrancer-hook' --version"
)]
#[case::a_shell(
    "nice sh -c 'remembrancer-hook --agent codex' x",
    "nice sh -c 'remembrancer-hook --version'"
)]
fn the_version_is_asked_for_in_the_same_way(#[case] text: &str, #[case] expected: &str) {
    assert_eq!(line(text).unwrap().asking_version().text, expected);
    let shell = words(&["env", "A=1", "remembrancer-hook", "--agent", "codex"]);
    assert_eq!(
        OurCommand::read(&shell).unwrap().asking_version(),
        words(&["env", "A=1", "remembrancer-hook", "--version"])
    );
}

#[rstest]
#[case::as_install_writes_it("/a/remembrancer-hook --agent codex", None)]
#[case::long_enough("timeout 1 remembrancer-hook", None)]
#[case::without_end("timeout 0 remembrancer-hook", None)]
#[case::too_short("timeout 0.1 remembrancer-hook", Some(Breach::Ended(Duration::from_millis(100))))]
#[case::too_short_in_a_shell(
    "sh -c 'timeout -s KILL 0.2s remembrancer-hook'",
    Some(Breach::Ended(Duration::from_millis(200)))
)]
#[case::no_variables("env -i remembrancer-hook", Some(Breach::WithoutVariables))]
#[case::turned_round("! remembrancer-hook", Some(Breach::Status("`!` turns it round")))]
#[case::errors_elsewhere("remembrancer-hook --agent codex 2>/dev/null", None)]
#[case::errors_elsewhere_and_more("remembrancer-hook 2>> /tmp/x; exit 2", Some(Breach::Status("another command follows")))]
#[case::output_elsewhere("remembrancer-hook > /tmp/x", Some(Breach::Unheard("its output goes to a file")))]
#[case::output_to_another("remembrancer-hook | tee x", Some(Breach::Unheard("its output goes to another program")))]
#[case::in_the_background("remembrancer-hook &", Some(Breach::Unheard("it runs in the background")))]
#[case::input_elsewhere("remembrancer-hook < /dev/null", Some(Breach::Deaf))]
#[case::if_it_fails("remembrancer-hook || true", None)]
#[case::and_then("remembrancer-hook && false", Some(Breach::Status("another command follows")))]
#[case::an_end("remembrancer-hook;", None)]
#[case::not_waited_for(
    "setsid remembrancer-hook",
    Some(Breach::Unheard("`setsid` may not wait for it; add `--wait`"))
)]
fn what_breaks_a_promise_is_told(#[case] text: &str, #[case] expected: Option<Breach>) {
    assert_eq!(line(text).unwrap().breaches().first(), expected.as_ref());
}
