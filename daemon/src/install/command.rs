//! The command of a handler: does it come to our hook, behind whatever prepares its running, and what of it is to be another? A line
//! for a shell or the words of a program come in; the place of the hook, the command mended, and what around it breaks a promise go out.
//! Nothing is run here, and of a list of commands only the first is looked at: what comes after it is somebody else's. But where the
//! first only asks whether the hook is there (`command -v …`), the second is the one.

mod runners;

use std::ops::Range;
use std::path::Path;

use remembrancer_hooks::Agent;

pub(super) use self::runners::limit;
use self::runners::{line_of_shell, program};
use super::breach::{self, Breach};
use super::words::{Word, first_command, quoted};

/// The name of the hook's binary: an entry that runs a program of this name is ours.
pub(super) const HOOK: &str = "remembrancer-hook";

/// Shells in shells that are looked into.
const DEPTH: usize = 4;

/// A command as a handler has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Command {
    /// A line for a shell, or a program's path.
    pub text: String,
    /// Of a program that the host starts itself: its arguments.
    pub arguments: Option<Vec<String>>,
}

/// A command that runs our hook.
#[derive(Debug, Clone)]
pub(super) struct OurCommand {
    command: Command,
    place: Place,
    breaches: Vec<Breach>,
}

#[derive(Debug, Clone)]
enum Place {
    /// In the line.
    Line(InLine),
    /// The word of this number, the command being the first; in a line that this word is, if it is one.
    Word(usize, Option<InLine>),
}

/// Where the hook stands in a line.
#[derive(Debug, Clone)]
struct InLine {
    /// Of the program's word, or of the word that is a line itself.
    range: Range<usize>,
    text: String,
    inner: Option<Box<InLine>>,
    arguments: Vec<Word>,
    /// The hook's word in the command before that asks whether the hook is there.
    guard: Option<Word>,
}

impl OurCommand {
    /// Reads the command of a handler; `None` where it runs anything else.
    pub(super) fn read(command: &Command) -> Option<Self> {
        let mut breaches = Vec::new();
        let place = match &command.arguments {
            None => Place::Line(InLine::find(&command.text, DEPTH, &mut breaches)?),
            Some(arguments) => {
                let words: Vec<&str> = std::iter::once(command.text.as_str())
                    .chain(arguments.iter().map(String::as_str))
                    .collect();
                let at = program(&words, 0, &mut breaches)?;
                match line_of_shell(&words[at..]) {
                    None if is_hook(words[at]) && !only_tells(&words[at + 1..]) => Place::Word(at, None),
                    None => return None,
                    Some(line) => {
                        let inner = InLine::find(words[at + line], DEPTH, &mut breaches)?;
                        Place::Word(at + line, Some(inner))
                    }
                }
            }
        };
        Some(Self {
            command: command.clone(),
            place,
            breaches,
        })
    }

    /// The hook's path, as it stands there.
    pub(super) fn program(&self) -> &str {
        match &self.place {
            Place::Line(line) | Place::Word(_, Some(line)) => &line.innermost().text,
            Place::Word(at, None) => self.word(*at),
        }
    }

    /// The agent that it names; `None` where it names none.
    pub(super) fn named_agent(&self) -> Option<String> {
        let arguments = self.hook_arguments();
        named(&arguments).map(|named| named.value(&arguments).to_owned())
    }

    /// What around the hook keeps it from what it promises.
    pub(super) fn breaches(&self) -> &[Breach] {
        &self.breaches
    }

    /// The same command with the hook at another path, and for this agent; `None` where it is that already.
    pub(super) fn mended(&self, program: &str, agent: Agent) -> Option<Command> {
        let mut mended = self.command.clone();
        match &self.place {
            Place::Line(line) => mended.text = line.mended(&self.command.text, program, agent),
            Place::Word(at, inner) => {
                let word = match inner {
                    Some(line) => line.mended(self.word(*at), program, agent),
                    None => program.to_owned(),
                };
                let arguments = mended.arguments.get_or_insert_default();
                match at.checked_sub(1) {
                    None => mended.text = word,
                    Some(argument) => arguments[argument] = word,
                }
                if inner.is_none() {
                    name_agent(arguments, *at, agent);
                }
            }
        }
        (mended != self.command).then_some(mended)
    }

    /// The same command, asking the hook for its version.
    pub(super) fn asking_version(&self) -> Command {
        const ASKS: &str = "--version";
        match &self.place {
            Place::Line(line) => Command {
                text: line.asking(&self.command.text, ASKS),
                arguments: None,
            },
            Place::Word(at, inner) => {
                let mut words: Vec<String> = (0..=*at).map(|word| self.word(word).to_owned()).collect();
                match inner {
                    Some(line) => words[*at] = line.asking(self.word(*at), ASKS),
                    None => words.push(ASKS.to_owned()),
                }
                let arguments = words.split_off(1);
                Command {
                    text: words.remove(0),
                    arguments: Some(arguments),
                }
            }
        }
    }

    fn word(&self, number: usize) -> &str {
        match number.checked_sub(1) {
            None => &self.command.text,
            Some(argument) => &self.command.arguments.as_deref().unwrap_or_default()[argument],
        }
    }

    fn hook_arguments(&self) -> Vec<&str> {
        match &self.place {
            Place::Line(line) | Place::Word(_, Some(line)) => {
                line.innermost().arguments.iter().map(|word| word.text.as_str()).collect()
            }
            Place::Word(at, None) => {
                let arguments = self.command.arguments.as_deref().unwrap_or_default();
                arguments[*at..].iter().map(String::as_str).collect()
            }
        }
    }
}

impl InLine {
    fn find(line: &str, depth: usize, breaches: &mut Vec<Breach>) -> Option<Self> {
        let (guard, words, end) = command_behind_guard(line);
        let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        let prepared = words.iter().take_while(|word| word.assigns || word.is_not).count();
        breach::of_words(&words[..prepared], breaches);
        let at = program(&texts, prepared, breaches)?;
        let (at, inner) = match line_of_shell(&texts[at..]) {
            None => (at, None),
            Some(inner) if depth > 0 => {
                let at = at + inner;
                (at, Some(Box::new(Self::find(texts[at], depth - 1, breaches)?)))
            }
            Some(_) => return None,
        };
        if inner.is_none() && (!is_hook(texts[at]) || only_tells(&texts[at + 1..])) {
            return None;
        }
        breach::of_rest(&line[end..], words.last(), breaches);
        Some(Self {
            range: words[at].range.clone(),
            text: words[at].text.clone(),
            inner,
            arguments: words[at + 1..].to_vec(),
            guard,
        })
    }

    fn innermost(&self) -> &Self {
        self.inner.as_deref().map_or(self, Self::innermost)
    }

    fn mended(&self, line: &str, program: &str, agent: Agent) -> String {
        let mut edits = Vec::new();
        // It is to ask for the hook that is run.
        if let Some(guard) = self.guard.as_ref().filter(|guard| guard.text != program) {
            edits.push((guard.range.clone(), quoted(program)));
        }
        if let Some(inner) = &self.inner {
            let mended = inner.mended(&self.text, program, agent);
            if mended != self.text {
                edits.push((self.range.clone(), quoted(&mended)));
            }
            return replaced(line, &edits);
        }
        if self.text != program {
            edits.push((self.range.clone(), quoted(program)));
        }
        let arguments: Vec<&str> = self.arguments.iter().map(|word| word.text.as_str()).collect();
        let range = |argument: usize| self.arguments[argument].range.clone();
        match named(&arguments) {
            None if agent != Agent::CLAUDE_CODE => {
                edits.push((self.range.end..self.range.end, format!(" --agent {}", agent.id())));
            }
            Some(Named::Value(at)) if arguments[at] != agent.id() => edits.push((range(at), agent.id().to_owned())),
            Some(Named::Inline(at)) if inline_value(arguments[at]) != agent.id() => {
                edits.push((range(at), format!("--agent={}", agent.id())));
            }
            Some(Named::Missing(at)) => edits.push((range(at), format!("--agent {}", agent.id()))),
            _ => {}
        }
        replaced(line, &edits)
    }

    fn asking(&self, line: &str, argument: &str) -> String {
        match &self.inner {
            Some(inner) => format!("{}{}", &line[..self.range.start], quoted(&inner.asking(&self.text, argument))),
            None => format!("{} {argument}", &line[..self.range.end]),
        }
    }
}

/// `line` with each of these ranges replaced, which stand in their order and do not overlap.
fn replaced(line: &str, edits: &[(Range<usize>, String)]) -> String {
    let mut text = String::with_capacity(line.len());
    let mut done = 0;
    for (range, replacement) in edits {
        text.push_str(&line[done..range.start]);
        text.push_str(replacement);
        done = range.end;
    }
    text + &line[done..]
}

fn is_hook(program: &str) -> bool {
    Path::new(program).file_name().is_some_and(|name| name == HOOK)
}

/// Whether a hook with these arguments only says what it is.
fn only_tells(arguments: &[&str]) -> bool {
    let tells = |argument: &&str| ["--version", "-V", "--help", "-h"].contains(argument);
    arguments.iter().any(tells)
}

/// The first command of a line, and where it ends; behind the one before that asks whether the hook is there, of which the hook's word
/// is given, too.
fn command_behind_guard(line: &str) -> (Option<Word>, Vec<Word>, usize) {
    let (words, end) = first_command(line);
    let behind = past_redirections(&line[end..]).strip_prefix("&&");
    let Some((guard, behind)) = guarded(&words).zip(behind) else {
        return (None, words, end);
    };
    let from = line.len() - behind.len();
    let (mut words, end) = first_command(behind);
    for word in &mut words {
        word.range = word.range.start + from..word.range.end + from;
    }
    (Some(guard.clone()), words, end + from)
}

/// The hook's word in a command that only asks whether the hook is there.
fn guarded(words: &[Word]) -> Option<&Word> {
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    let at = match texts.as_slice() {
        ["command", "-v" | "-V", ..] | ["test", "-x" | "-e" | "-f", _] | ["[", "-x" | "-e" | "-f", _, "]"] => 2,
        ["which" | "type" | "hash", ..] => 1,
        _ => return None,
    };
    words.get(at).filter(|word| is_hook(&word.text))
}

/// What follows in a line behind redirections.
fn past_redirections(mut rest: &str) -> &str {
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\r']);
        if !rest.starts_with(['<', '>']) && !rest.starts_with("&>") {
            return rest;
        }
        rest = rest.trim_start_matches(['<', '>', '&', '|']);
        let (_, end) = first_command(rest);
        if end == 0 {
            return rest;
        }
        rest = &rest[end..];
    }
}

/// Where an agent is named among arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    /// This argument is its name.
    Value(usize),
    /// This argument is `--agent=NAME`.
    Inline(usize),
    /// This argument is `--agent`, and no name follows.
    Missing(usize),
}

impl Named {
    fn value<'a>(self, arguments: &[&'a str]) -> &'a str {
        match self {
            Self::Value(at) => arguments[at],
            Self::Inline(at) => inline_value(arguments[at]),
            Self::Missing(_) => "",
        }
    }
}

fn inline_value(argument: &str) -> &str {
    argument.split_once('=').map_or("", |(_, value)| value)
}

/// The agent that the hook takes from these arguments, of several the last.
fn named(arguments: &[&str]) -> Option<Named> {
    let mut found = None;
    let mut at = 0;
    while at < arguments.len() {
        if arguments[at] == "--agent" {
            at += 1;
            found = Some(if at < arguments.len() {
                Named::Value(at)
            } else {
                Named::Missing(at - 1)
            });
        } else if arguments[at].starts_with("--agent=") {
            found = Some(Named::Inline(at));
        }
        at += 1;
    }
    found
}

/// Has the hook's arguments, which begin at `from`, name this agent.
fn name_agent(arguments: &mut Vec<String>, from: usize, agent: Agent) {
    let texts: Vec<&str> = arguments[from..].iter().map(String::as_str).collect();
    let id = agent.id().to_owned();
    match named(&texts) {
        None if agent != Agent::CLAUDE_CODE => {
            arguments.splice(from..from, ["--agent".to_owned(), id]);
        }
        Some(Named::Value(at)) => arguments[from + at] = id,
        Some(Named::Inline(at)) if inline_value(texts[at]) != id => arguments[from + at] = format!("--agent={id}"),
        None | Some(Named::Inline(_)) => {}
        Some(Named::Missing(_)) => arguments.push(id),
    }
}

#[cfg(test)]
mod tests;
