use rstest::rstest;

use super::*;

#[rstest]
#[case::check("Let me check the configuration.", "")]
#[case::read("Now I'll read the file:", "")]
#[case::curly("I’ll start by exploring the code base to see what exists.", "")]
#[case::interjection("Good question! Let me look at how the cache is filled.", "")]
#[case::picture("Now I have a clear picture.", "")]
#[case::imperative("Now update the call in the second test:", "")]
#[case::status("All tests pass. Let me commit this.", "")]
#[case::german("Lass mich zuerst die Konfiguration prüfen.", "")]
#[case::german_now("Jetzt prüfe ich die Tests:", "")]
#[case::french("Je vais lire le fichier de configuration.", "")]
#[case::spanish("Voy a leer el archivo.", "")]
#[case::waiting("Still waiting for the other subagent.", "")]
#[case::doing("Running the self-review now.", "")]
#[case::searching("Searching.", "")]
#[case::no_progress(
    "Running the tests needs Docker and about a minute.",
    "Running the tests needs Docker and about a minute."
)]
#[case::chinese("让我看一下这个文件。", "")]
#[case::finding_before_announcement(
    "The pool is exhausted because the handles are never returned. Let me fix that.",
    "The pool is exhausted because the handles are never returned."
)]
#[case::finding_before_lead_in(
    "The linter does not know that this call never returns. I need to add explicit returns:",
    "The linter does not know that this call never returns."
)]
#[case::long_change(
    "I'll add a `retries` field to the client settings, so that each caller can say how often a request may be repeated.",
    "I'll add a `retries` field to the client settings, so that each caller can say how often a request may be repeated."
)]
#[case::result(
    "Done. The message is now printed before the list.",
    "Done. The message is now printed before the list."
)]
#[case::short_result("Fixed.", "Fixed.")]
#[case::lead_in_to_a_list("There are two ways:\n\n- one\n- two", "There are two ways:\n\n- one\n- two")]
#[case::announcement_then_report("Let me summarise.\n\n## Result\n\nIt works.", "## Result\n\nIt works.")]
#[case::courtesy(
    "The port is 8080, set in the server's settings file.\n\nLet me know if you need anything else!",
    "The port is 8080, set in the server's settings file."
)]
#[case::code_is_code("```\nLet me check.\n\nLet me check.\n```", "```\nLet me check.\n\nLet me check.\n```")]
#[case::abbreviation(
    "Use a pool, e.g. Let me see if it fits here, and so on it goes.",
    "Use a pool, e.g. Let me see if it fits here, and so on it goes."
)]
fn tc_stage_directions_go_and_findings_stay(#[case] text: &str, #[case] expected: &str) {
    assert_eq!(strip(text), expected);
}

#[test]
fn stripping_twice_changes_nothing() {
    let once =
        strip("Good. Let me look.\n\nThe cause is a missing lock around the counter, which two threads share. I'll check.")
            .into_owned();
    assert_eq!(strip(&once), once);
}
