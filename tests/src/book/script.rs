//! The commands of a block, each with what the page prints below it. A block of `console` has a `$` before each command and output
//! below; one of `sh` has commands alone.

use super::is_printed;

/// A command, and the lines that it prints; `None` where the page does not say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) command: String,
    pub(super) output: Option<Vec<String>>,
}

impl Step {
    /// Whether what was printed is what the page says, if it says anything.
    pub(super) fn prints(&self, printed: &[String]) -> bool {
        self.output.as_ref().is_none_or(|output| is_printed(output, printed))
    }
}

/// The steps of a block of `console`.
///
/// # Errors
/// Where it begins with output.
pub(super) fn console(lines: &[String]) -> Result<Vec<Step>, String> {
    let mut steps: Vec<Step> = Vec::new();
    let mut is_open = false;
    for line in lines {
        if let Some(command) = line.strip_prefix("$ ") {
            steps.push(Step {
                command: String::new(),
                output: Some(Vec::new()),
            });
            is_open = add(&mut steps, command);
        } else if is_open {
            is_open = add(&mut steps, line);
        } else {
            let output = steps.last_mut().and_then(|step| step.output.as_mut());
            output
                .ok_or_else(|| format!("output before any command: {line}"))?
                .push(line.clone());
        }
    }
    Ok(steps)
}

/// The steps of a block of `sh`: a line each, but for those that end in a backslash. Comments are none.
pub(super) fn sh(lines: &[String]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut is_open = false;
    for line in lines {
        let is_blank = line.trim().is_empty() || line.trim_start().starts_with('#');
        if !is_open && is_blank {
            continue;
        }
        if !is_open {
            steps.push(Step {
                command: String::new(),
                output: None,
            });
        }
        is_open = add(&mut steps, line);
    }
    steps
}

/// Adds a line to the last command. Returns whether it goes on.
fn add(steps: &mut [Step], line: &str) -> bool {
    let Some(step) = steps.last_mut() else { return false };
    let line = line.trim();
    step.command.push_str(line.strip_suffix('\\').unwrap_or(line));
    line.ends_with('\\')
}

/// A block of `console` with what its commands print now.
pub(super) fn rendered(steps: &[Step]) -> Vec<String> {
    steps
        .iter()
        .flat_map(|step| {
            let command = std::iter::once(format!("$ {}", step.command));
            command.chain(step.output.clone().unwrap_or_default())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_console_has_commands_and_outputs() {
        let steps = console(&lines("$ a \\\n  b\none\n\ntwo\n$ c\n")).unwrap();
        assert_eq!((steps[0].command.as_str(), steps[1].command.as_str()), ("a b", "c"));
        assert_eq!(steps[0].output, Some(lines("one\n\ntwo")));
        assert_eq!(rendered(&steps), lines("$ a b\none\n\ntwo\n$ c"));
        assert!(console(&lines("x")).is_err());
    }

    #[test]
    fn a_script_has_commands() {
        let steps = sh(&lines("# first\na\n\nb \\\n  c # last\n"));
        let commands: Vec<&str> = steps.iter().map(|step| step.command.as_str()).collect();
        assert_eq!(commands, ["a", "b c # last"]);
    }
}
