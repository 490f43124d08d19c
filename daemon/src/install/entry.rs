//! One entry of ours in an agent's settings: what it says, and how it is known again. An agent and the hook's path come in; the
//! handler's fields go out, free of any format.

use std::ops::Range;
use std::path::Path;

use remembrancer_hooks::{Agent, CommandForm};

/// The name of the hook's binary: an entry that runs a program of this name is ours.
pub(super) const HOOK: &str = "remembrancer-hook";

/// The keys under which hosts look for a command.
pub(super) const COMMAND_KEYS: [&str; 3] = ["exec", "bash", "command"];

/// The value of a handler's field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Field {
    Text(String),
    Words(Vec<String>),
    Number(u32),
}

/// The fields of the handler that runs `program` for `agent`, in the order in which they are written.
pub(super) fn handler(agent: Agent, program: &str) -> Vec<(&'static str, Field)> {
    let registration = agent.registration();
    let mut fields = Vec::new();
    if registration.typed {
        fields.push(("type", Field::Text("command".to_owned())));
    }
    match registration.command {
        CommandForm::Direct => {
            fields.push(("command", Field::Text(program.to_owned())));
            fields.push(("args", Field::Words(vec!["--agent".to_owned(), agent.id().to_owned()])));
        }
        CommandForm::Shell(key) => {
            let line = format!("{} --agent {}", quoted(program), agent.id());
            fields.push((key, Field::Text(line)));
        }
    }
    let time_limit = registration.timeout.iter();
    fields.extend(time_limit.map(|limit| (limit.key, Field::Number(limit.count))));
    fields
}

/// The pattern of sources for which an event is wanted; `None` where it always is.
pub(super) fn matcher(sources: &[&str]) -> Option<String> {
    (!sources.is_empty()).then(|| sources.join("|"))
}

/// A handler's command that runs our hook.
#[derive(Debug)]
pub(super) struct OurCommand<'a> {
    command: &'a str,
    place: Range<usize>,
    program: String,
    /// Whether the command is a program's path rather than a line for a shell.
    direct: bool,
}

impl<'a> OurCommand<'a> {
    /// Reads the command of a handler; `None` where it runs anything else. With `direct`, it is a path and nothing more.
    pub(super) fn read(command: &'a str, direct: bool) -> Option<Self> {
        let (place, program) = if direct {
            (0..command.len(), command.to_owned())
        } else {
            first_word(command)
        };
        (Path::new(&program).file_name()? == HOOK).then_some(Self {
            command,
            place,
            program,
            direct,
        })
    }

    /// Where the program's name stands in the command.
    pub(super) fn place(&self) -> Range<usize> {
        self.place.clone()
    }

    /// The same command with another path of the hook; `None` where the path is that one already.
    pub(super) fn moved_to(&self, program: &str) -> Option<String> {
        let written = if self.direct { program.to_owned() } else { quoted(program) };
        (self.program != program).then(|| [&self.command[..self.place.start], &written, &self.command[self.place.end..]].concat())
    }
}

/// The first word of a line for a POSIX shell, and where it stands.
fn first_word(line: &str) -> (Range<usize>, String) {
    let start = line.len() - line.trim_start().len();
    let mut word = String::new();
    let mut quote = None;
    let mut chars = line[start..].char_indices();
    while let Some((at, c)) = chars.next() {
        match (quote, c) {
            (None, c) if c.is_whitespace() || ";&|<>()".contains(c) => return (start..start + at, word),
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            (None | Some('"'), '\\') => word.extend(chars.next().map(|(_, escaped)| escaped)),
            (_, c) => word.push(c),
        }
    }
    (start..line.len(), word)
}

/// `text` as one word of a POSIX shell.
pub(super) fn quoted(text: &str) -> String {
    let harmless = |c: char| c.is_alphanumeric() || "/._-+@%:,=".contains(c);
    if !text.is_empty() && text.chars().all(harmless) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::plain("/a/remembrancer-hook --agent codex", false, Some("/new --agent codex"))]
    #[case::by_name_alone("remembrancer-hook", false, Some("/new"))]
    #[case::quoted("  '/a b/remembrancer-hook' --budget 90ms", false, Some("  /new --budget 90ms"))]
    #[case::escaped(r"/a\ b/remembrancer-hook;true", false, Some("/new;true"))]
    #[case::a_variable(r#""$HOME/bin/remembrancer-hook" --agent cursor"#, false, Some("/new --agent cursor"))]
    #[case::there_already("/new/remembrancer-hook --agent codex", false, Some("/new --agent codex"))]
    #[case::direct("/a b/remembrancer-hook", true, Some("/new"))]
    #[case::another_program("/a/other-hook remembrancer-hook", false, None)]
    #[case::a_longer_name("/a/remembrancer-hook-two", false, None)]
    #[case::in_a_folder_of_the_name("/remembrancer-hook/run", true, None)]
    #[case::nothing("", false, None)]
    fn our_commands_are_known_and_moved(#[case] command: &str, #[case] direct: bool, #[case] expected: Option<&str>) {
        let moved = OurCommand::read(command, direct).and_then(|ours| ours.moved_to("/new"));
        assert_eq!(moved.as_deref(), expected);
    }

    #[test]
    fn what_is_in_its_place_is_not_moved() {
        for agent in Agent::ALL {
            for program in ["/opt/r/remembrancer-hook", "/it's a \"place\"/remembrancer-hook"] {
                let direct = agent.registration().command == CommandForm::Direct;
                let fields = handler(*agent, program);
                let (_, command) = fields.iter().find(|(key, _)| COMMAND_KEYS.contains(key)).unwrap();
                let Field::Text(command) = command else {
                    panic!("{command:?}");
                };
                assert_eq!(OurCommand::read(command, direct).unwrap().moved_to(program), None);
            }
        }
    }

    proptest! {
        #[test]
        fn a_quoted_word_is_the_first_word(text in ".*", rest in "( .*)?") {
            let line = quoted(&text) + &rest;
            let (place, word) = first_word(&line);
            prop_assert_eq!(place, 0..quoted(&text).len());
            prop_assert_eq!(word, text);
        }
    }
}
