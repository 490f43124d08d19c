//! What each command says on an empty memory, and what it exits with: the table of `docs/commands.md` is what is printed.

use std::process::Output;

use remembrancer_tests::book::is_printed;
use remembrancer_tests::{Sandbox, sandbox};
use rustix::process::Signal;

const PAGE: &str = include_str!("../../docs/commands.md");

/// A row of the table: the command, its exit code, its lines.
struct Row {
    command: String,
    code: i32,
    lines: Vec<String>,
}

fn rows() -> Vec<Row> {
    let table = PAGE
        .split_once("\n## On an empty memory\n")
        .unwrap()
        .1
        .split("\n## ")
        .next()
        .unwrap();
    let rows = table.lines().filter(|line| line.starts_with("| `"));
    let rows: Vec<Row> = rows
        .map(|row| {
            let cells: Vec<&str> = row.trim_matches('|').splitn(3, '|').map(str::trim).collect();
            Row {
                command: code_of(cells[0]),
                code: cells[1].parse().unwrap(),
                lines: cells[2].split("<br>").filter(|line| !line.is_empty()).map(code_of).collect(),
            }
        })
        .collect();
    assert!(rows.len() > 15, "the table is not found");
    rows
}

/// What stands between back quotes: two of them where one is in it.
fn code_of(cell: &str) -> String {
    let ticks = cell.chars().take_while(|c| *c == '`').count();
    cell[ticks..cell.len() - ticks].trim().to_owned()
}

/// What was printed, with `~` for the home folder.
fn printed(sandbox: &Sandbox, output: &Output) -> Vec<String> {
    let all = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    let (home, canonical) = (sandbox.home(), sandbox.home().canonicalize().unwrap());
    let text = String::from_utf8(all).unwrap();
    let text = text
        .replace(&canonical.display().to_string(), "~")
        .replace(&home.display().to_string(), "~");
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(str::to_owned).collect()
}

#[test]
fn each_command_says_on_an_empty_memory_what_the_page_says() {
    let sandbox = sandbox!();
    // Begun once, with nothing to read, and stopped again.
    sandbox.start().stop(Signal::TERM);
    let mut wrong = Vec::new();
    for row in rows() {
        let words: Vec<&str> = row.command.split(' ').skip(1).collect();
        let output = sandbox.run(&words);
        let lines = printed(&sandbox, &output);
        let is_same = is_printed(&row.lines, &lines);
        if output.status.code() != Some(row.code) || !is_same {
            wrong.push(format!(
                "{}: {:?}\n  {}",
                row.command,
                output.status.code(),
                lines.join("\n  ")
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "docs/commands.md says something else of:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn every_command_is_on_the_page() {
    let sandbox = sandbox!();
    let help = String::from_utf8(sandbox.run(&["--help"]).stdout).unwrap();
    let commands = help.split_once("Commands:\n").unwrap().1.split("\n\n").next().unwrap();
    let names = commands
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next().filter(|name| !name.is_empty()));
    for name in names.filter(|name| *name != "help") {
        let is_told = PAGE.contains(&format!("`remembrancer {name}`")) || PAGE.contains(&format!("`remembrancer {name} "));
        assert!(is_told, "no {name} in docs/commands.md");
    }
}

#[test]
fn exit_codes_are_told_wherever_one_looks() {
    let sandbox = sandbox!();
    let help = String::from_utf8(sandbox.run(&["--help"]).stdout).unwrap();
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let pages = sandbox.home().join("man");
    assert!(sandbox.run(&["man-pages", pages.to_str().unwrap()]).status.success());
    let man = fs_err::read_to_string(pages.join("remembrancer.1")).unwrap();
    for (code, meaning) in [
        (1, "something failed"),
        (2, "settings or arguments that can't be used"),
        (3, "what was asked for is not there"),
        (4, "the database can't be used"),
        (5, "a daemon runs already, or none does where one is needed"),
    ] {
        let said = format!("{code} {meaning}");
        // A manual spells an apostrophe as it likes.
        let in_man = meaning.split('\'').next().unwrap();
        assert!(help.contains(&said), "{said}: {help}");
        assert!(man.contains(in_man), "{in_man}");
        assert!(PAGE.contains(&said), "{said}");
    }
}

#[test]
fn commands_exit_with_the_code_of_what_happened() {
    let sandbox = sandbox!();
    let code = |arguments: &[&str]| sandbox.run(arguments).status.code();
    assert_eq!(code(&["status"]), Some(4), "there is no database");
    let daemon = sandbox.start();
    assert_eq!(code(&["status"]), Some(0));
    assert_eq!(code(&["run"]), Some(5), "one runs");
    assert_eq!(code(&["show", "ffffffff"]), Some(3));
    assert_eq!(code(&["show"]), Some(2));
    assert_eq!(code(&["export", "/nowhere/at/all/x.jsonl"]), Some(1));
    daemon.stop(Signal::TERM);
    sandbox.configure("[recall]\ntop = 99\n");
    assert_eq!(code(&["status"]), Some(2));
}
