//! What stands around the hook in a command and keeps it from what it promises: to be there until its budget is over, to exit with 0,
//! and to be heard. Words come in, findings go out.

use std::fmt;
use std::time::Duration;

use remembrancer_hooks::clock::BUDGET;

use super::command::limit;
use super::words::{Word, first_command};

/// What breaks a promise of the hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Breach {
    /// It is ended before its budget is over.
    Ended(Duration),
    /// It does not get the variables by which it finds the daemon.
    WithoutVariables,
    /// Another exit status than its own reaches the host.
    Status(&'static str),
    /// What it writes does not reach the host.
    Unheard(&'static str),
    /// What the host writes does not reach it.
    Deaf,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ended(limit) => write!(
                f,
                "`timeout` ends the hook after {} ms, before its {} ms are over, and the host then sees a failure",
                limit.as_millis(),
                BUDGET.as_millis()
            ),
            Self::WithoutVariables => f.write_str("`env` takes the variables away by which the hook finds the daemon"),
            Self::Status(why) => write!(f, "the host sees another exit status than the hook's: {why}"),
            Self::Unheard(why) => write!(f, "the host does not see what the hook writes: {why}"),
            Self::Deaf => f.write_str("the hook does not read what the host writes: its input is a file"),
        }
    }
}

/// Of the words before a command.
pub(super) fn of_words(words: &[Word], breaches: &mut Vec<Breach>) {
    if words.iter().filter(|word| word.is_not).count() % 2 == 1 {
        breaches.push(Breach::Status("`!` turns it round"));
    }
}

/// Of a program that runs the hook: its options, and its own words before the hook.
pub(super) fn of_runner(name: &str, options: &[&str], words: &[&str], breaches: &mut Vec<Breach>) {
    match name {
        "timeout" | "gtimeout" => {
            let limit = words.first().and_then(|word| limit(word));
            breaches.extend(limit.filter(|limit| *limit < BUDGET).map(Breach::Ended));
        }
        "env"
            if options
                .iter()
                .any(|option| ["-", "-i", "--ignore-environment"].contains(option)) =>
        {
            breaches.push(Breach::WithoutVariables);
        }
        "setsid" if !options.iter().any(|option| ["-w", "--wait"].contains(option)) => {
            breaches.push(Breach::Unheard("`setsid` may not wait for it; add `--wait`"));
        }
        _ => {}
    }
}

/// Of what follows a command in its line; `last` is its last word.
pub(super) fn of_rest(mut rest: &str, last: Option<&Word>, breaches: &mut Vec<Breach>) {
    let mut number = last.map_or("", |word| word.text.as_str()).to_owned();
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\r']);
        let target = match rest.chars().next() {
            Some('>') if number == "2" => rest,
            Some('>') => return breaches.push(Breach::Unheard("its output goes to a file")),
            Some('<') => return breaches.push(Breach::Deaf),
            _ => break,
        };
        let target = target.trim_start_matches(['>', '&', '|']);
        let (words, end) = first_command(target);
        // The word behind it is the file; more of them are arguments again.
        number = words
            .last()
            .filter(|_| words.len() > 1)
            .map(|word| word.text.clone())
            .unwrap_or_default();
        rest = &target[end..];
    }
    let follows = |operator: &str| rest.strip_prefix(operator).is_some_and(|rest| !rest.trim().is_empty());
    if rest.starts_with("||") || rest.starts_with('#') {
        // It is not run, since the hook does not fail.
    } else if rest.starts_with("&&") || follows(";") || follows("\n") {
        breaches.push(Breach::Status("another command follows"));
    } else if rest.starts_with('|') {
        breaches.push(Breach::Unheard("its output goes to another program"));
    } else if rest.starts_with("&>") {
        breaches.push(Breach::Unheard("its output goes to a file"));
    } else if rest.starts_with('&') {
        breaches.push(Breach::Unheard("it runs in the background"));
    }
}
