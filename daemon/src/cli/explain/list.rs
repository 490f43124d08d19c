//! The list of the latest prompts. In goes what the daemon or the store told, out goes a line a prompt.

use serde_json::Value;

use crate::cli::output::say;
use crate::cli::terminal::cut;

/// Columns before what fills the rest of a line.
const FIXED: usize = 49;

/// Prints the list.
pub(super) fn print(prompts: &Value, columns: usize) {
    let prompts = prompts["prompts"].as_array().map(Vec::as_slice).unwrap_or_default();
    if prompts.is_empty() {
        say!("No prompt has been answered yet.");
        return;
    }
    say!("{:>4} {:<8} {:<17} {:<16}  outcome, terms", "", "id", "when (UTC)", "project");
    for prompt in prompts {
        let text = |key: &str| prompt[key].as_str().unwrap_or_default();
        let terms: Vec<&str> = prompt["terms"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        say!(
            "{:>4} {:<8} {:<17} {:<16}  {}",
            prompt["number"].as_u64().unwrap_or_default(),
            text("id"),
            when(text("at")),
            cut(prompt["project"].as_str().unwrap_or("-"), 16),
            cut(
                &format!("{}: {}", outcome(prompt), terms.join(" ")),
                columns.saturating_sub(FIXED + 1)
            ),
        );
    }
    say!("");
    say!("`remembrancer explain N` tells how an answer came about.");
}

/// A moment to the minute, as people read it.
pub(super) fn when(rfc3339: &str) -> String {
    rfc3339.get(..16).unwrap_or(rfc3339).replace('T', " ")
}

fn outcome(prompt: &Value) -> String {
    let reason = prompt["reason"].as_str();
    let shown = prompt["shown"].as_u64().unwrap_or_default();
    let degraded = prompt["degradations"].as_array().is_some_and(|names| !names.is_empty());
    let outcome = reason.map_or_else(|| format!("{shown} shown"), str::to_owned);
    if degraded { format!("{outcome}, degraded") } else { outcome }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_outcome_is_one_word_or_two() {
        assert_eq!(outcome(&json!({"shown": 2, "reason": null, "degradations": []})), "2 shown");
        let silent = json!({"shown": 0, "reason": "chatter", "degradations": ["no-model"]});
        assert_eq!(outcome(&silent), "chatter, degraded");
        assert_eq!(when("2026-11-29T06:12:03Z"), "2026-11-29 06:12");
    }
}
