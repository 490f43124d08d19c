//! `remembrancer instruct`: what is remembered of a project in a file that a host reads by itself. What would be changed is shown as
//! a diff, asked, and done, as `install` does it; the store is told, and the daemon keeps the files up to date from then on.

use std::path::{Component, Path, PathBuf};

use clap::Args;
use remembrancer_hooks::protocol::{self, Request};
use remembrancer_schema::InstructionFile;
use serde_json::{Value, json};

use super::ask;
use super::error::{CliError, Kind};
use super::install::{Consent, Plan};
use super::surroundings::Surroundings;
use crate::cli::output::{complain, say};
use crate::instructions::{self, HOSTS, Host, git};
use crate::{clock, control, project};

/// What is planned goes by this name.
const NAME: &str = "Instructions";

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(super) struct InstructArguments {
    /// The project's folder; without it, the one you are in.
    folder: Option<PathBuf>,
    /// The file that this host reads; may be given several times.
    #[arg(long = "agent", value_name = "NAME", value_parser = parse_host)]
    hosts: Vec<&'static Host>,
    /// This file below the project's folder, whoever reads it; may be given several times.
    #[arg(long = "file", value_name = "FILE", value_parser = parse_file)]
    files: Vec<PathBuf>,
    /// Take it out again: of these files, or of all in the project.
    #[arg(long)]
    remove: bool,
    /// Show which files of which projects hold it.
    #[arg(long, conflicts_with_all = ["folder", "hosts", "files", "remove"])]
    list: bool,
    /// Write a file though git tracks it, so that what is remembered is shared with it.
    #[arg(long)]
    tracked: bool,
    /// Have git ignore the files in this clone alone, by its `info/exclude`.
    #[arg(long)]
    git_exclude: bool,
    #[command(flatten)]
    consent: Consent,
    /// Print the list as JSON.
    #[arg(long, requires = "list")]
    json: bool,
}

fn parse_host(id: &str) -> Result<&'static Host, String> {
    Host::parse(id).ok_or_else(|| {
        let known: Vec<&str> = HOSTS.iter().map(|host| host.id).collect();
        format!("known are {}", known.join(", "))
    })
}

fn parse_file(file: &str) -> Result<PathBuf, String> {
    let file = PathBuf::from(file);
    let is_below = file.components().all(|part| matches!(part, Component::Normal(_)));
    if is_below && file.file_name().is_some() && !file.starts_with(".git") {
        Ok(file)
    } else {
        Err("name it from the project's folder on, and nothing of git's".to_owned())
    }
}

pub(super) fn run(arguments: &InstructArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    if arguments.list {
        return list(arguments, surroundings);
    }
    let folder = surroundings.as_in_transcripts(arguments.folder.as_deref().unwrap_or(Path::new(".")))?;
    let identity = project::identify(Path::new(&folder), Some(&surroundings.home), false);
    if arguments.remove {
        let root = identity.map_or_else(|| PathBuf::from(&folder), |identity| identity.root);
        return remove(arguments, surroundings, &root);
    }
    match identity {
        Some(identity) if identity.root.is_dir() => insert(arguments, surroundings, &identity.root),
        Some(_) => Err(CliError::new(Kind::NotFound, format!("there is no folder {folder}"))),
        None => Err(CliError::new(
            Kind::Usage,
            format!("{folder} is no project: it is your home, or holds several repositories"),
        )),
    }
}

fn insert(arguments: &InstructArguments, surroundings: &Surroundings, root: &Path) -> Result<(), CliError> {
    let mut files = wanted(arguments, root)?;
    if files.is_empty() {
        let files = |host: &Host| host.parts.iter().map(|part| part.file).collect::<Vec<_>>().join(" and ");
        let known: Vec<String> = HOSTS.iter().map(|host| format!("{} ({})", host.id, files(host))).collect();
        return Err(CliError::new(Kind::Usage, "say for whom: --agent NAME, or --file FILE").with_hint(known.join(", ")));
    }
    let seen: Vec<InstructionFile> = files.iter().filter(|file| is_seen_by_git(file)).cloned().collect();
    if arguments.git_exclude {
        files.extend(seen.iter().filter_map(exclude_line));
    }
    let uid = surroundings.places.uid();
    let mut plan = Plan::default();
    for same in files.chunk_by(|a, b| a.path == b.path) {
        plan.add(NAME, instructions::insert(same, uid));
    }
    if !plan.is_agreed_to(&arguments.consent)? {
        return plan.outcome();
    }
    plan.apply();
    for file in files
        .iter()
        .filter(|file| matches!(instructions::stands(file, uid), Ok(true)))
    {
        note(surroundings, file)?;
        if !arguments.git_exclude && seen.contains(file) {
            say!(
                "{NAME}: git sees {}; add it to .gitignore, or run this again with --git-exclude.",
                file.path
            );
        }
    }
    plan.outcome()
}

fn remove(arguments: &InstructArguments, surroundings: &Surroundings, root: &Path) -> Result<(), CliError> {
    let folder = utf8(root)?;
    let known = ask::reader(surroundings)?.instruction_files()?;
    let known: Vec<InstructionFile> = known.into_iter().filter(|file| file.folder == folder).collect();
    let files = removed(&known, &wanted(arguments, root)?);
    if files.is_empty() {
        return Err(CliError::new(
            Kind::NotFound,
            format!("no such file of {folder} holds anything of Remembrancer"),
        )
        .with_hint("see `remembrancer instruct --list`"));
    }
    let uid = surroundings.places.uid();
    let mut plan = Plan::default();
    for same in files.chunk_by(|a, b| a.path == b.path) {
        plan.add(NAME, instructions::remove(same, uid));
    }
    if !plan.is_agreed_to(&arguments.consent)? {
        return plan.outcome();
    }
    plan.apply();
    for file in files
        .iter()
        .filter(|file| matches!(instructions::stands(file, uid), Ok(false)))
    {
        instructions::remove_made_folders(file);
        drop_note(surroundings, file)?;
    }
    plan.outcome()
}

fn list(arguments: &InstructArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    let files = ask::reader(surroundings)?.instruction_files()?;
    let listed =
        |file: &InstructionFile| json!({"folder": file.folder, "path": file.path, "line": file.line, "tracked": file.tracked});
    let listed = json!({"files": files.iter().map(listed).collect::<Vec<Value>>()});
    ask::print("instruct", &listed, arguments.json, |_| {
        if files.is_empty() {
            complain!("No file of a project holds anything of Remembrancer.");
        }
        for file in &files {
            let line = file.line.as_ref().map_or_else(String::new, |line| format!(": {line}"));
            say!("{}{line}", file.path);
        }
    });
    Ok(())
}

/// What is to stand in which files, by path.
fn wanted(arguments: &InstructArguments, root: &Path) -> Result<Vec<InstructionFile>, CliError> {
    let of_hosts = arguments
        .hosts
        .iter()
        .flat_map(|host| host.parts)
        .map(|part| (Path::new(part.file), part.line));
    let named = arguments.files.iter().map(|file| (file.as_path(), None));
    let file = |(file, line): (&Path, Option<&str>)| {
        let path = root.join(file);
        Ok(InstructionFile {
            line: line.map(str::to_owned),
            folder: utf8(root)?.to_owned(),
            made: instructions::topmost_missing(&path)
                .as_deref()
                .map(utf8)
                .transpose()?
                .map(str::to_owned),
            tracked: arguments.tracked,
            path: utf8(&path)?.to_owned(),
        })
    };
    let mut files = of_hosts.chain(named).map(file).collect::<Result<Vec<_>, CliError>>()?;
    files.sort_by(|a, b| (&a.path, &a.line).cmp(&(&b.path, &b.line)));
    files.dedup();
    Ok(files)
}

/// Of what is `known` of a project what is to go: all, or what is `wanted`, but for a file that another one imports still; and what
/// has git ignore it.
fn removed(known: &[InstructionFile], wanted: &[InstructionFile]) -> Vec<InstructionFile> {
    let is_named = |file: &InstructionFile| {
        wanted.is_empty()
            || wanted
                .iter()
                .any(|other| (&other.path, &other.line) == (&file.path, &file.line))
    };
    let is_line_for = |line: &InstructionFile, prefix: &str, file: &InstructionFile| {
        relative(file).is_some_and(|relative| line.line.as_deref().and_then(|line| line.strip_prefix(prefix)) == Some(relative))
    };
    let goes =
        |file: &InstructionFile| is_named(file) && !known.iter().any(|other| !is_named(other) && is_line_for(other, "@./", file));
    let hidden = |line: &InstructionFile| known.iter().any(|file| goes(file) && is_line_for(line, "/", file));
    known.iter().filter(|file| goes(file) || hidden(file)).cloned().collect()
}

fn relative(file: &InstructionFile) -> Option<&str> {
    file.path.strip_prefix(&file.folder)?.strip_prefix('/')
}

fn is_seen_by_git(file: &InstructionFile) -> bool {
    let (folder, path) = (Path::new(&file.folder), Path::new(&file.path));
    !git::tracks(folder, path) && !git::ignores(folder, path)
}

/// The line that has git ignore a file in this clone; `None` where that can't be told.
fn exclude_line(file: &InstructionFile) -> Option<InstructionFile> {
    Some(InstructionFile {
        path: git::exclude_file(Path::new(&file.folder))?.to_str()?.to_owned(),
        line: Some(format!("/{}", relative(file)?)),
        folder: file.folder.clone(),
        made: None,
        // It is git's own, and never tracked.
        tracked: true,
    })
}

fn note(surroundings: &Surroundings, file: &InstructionFile) -> Result<(), CliError> {
    let file = protocol::InstructionFile {
        path: file.path.clone(),
        folder: file.folder.clone(),
        line: file.line.clone(),
        made: file.made.clone(),
        tracked: file.tracked,
    };
    if ask::data(surroundings, &Request::Instruct(file.clone()))?.is_none() {
        control::instruct(&mut ask::writer(surroundings)?.1, file, clock::now())?;
    }
    Ok(())
}

fn drop_note(surroundings: &Surroundings, file: &InstructionFile) -> Result<(), CliError> {
    let request = Request::Uninstruct {
        path: file.path.clone(),
        line: file.line.clone(),
    };
    if ask::data(surroundings, &request)?.is_none() {
        control::uninstruct(&mut ask::writer(surroundings)?.1, &file.path, file.line.as_deref())?;
    }
    Ok(())
}

fn utf8(path: &Path) -> Result<&str, CliError> {
    path.to_str()
        .ok_or_else(|| CliError::new(Kind::Usage, format!("{} is not UTF-8, as transcripts are", path.display())))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn file(path: &str, line: Option<&str>) -> InstructionFile {
        InstructionFile {
            path: format!("/p/{path}"),
            line: line.map(str::to_owned),
            folder: "/p".to_owned(),
            made: None,
            tracked: false,
        }
    }

    #[rstest]
    #[case::all(&[], &[0, 1, 2, 3, 4, 5])]
    #[case::with_what_has_git_ignore_it(&[0], &[0, 3])]
    #[case::of_one_host_of_two(&[1, 4], &[4])]
    #[case::of_both(&[1, 4, 5], &[1, 2, 4, 5])]
    fn what_goes(#[case] wanted: &[usize], #[case] expected: &[usize]) {
        let known = [
            file(".clinerules/remembrancer.md", None),
            file(".remembrancer.md", None),
            file(".git/info/exclude", Some("/.remembrancer.md")),
            file(".git/info/exclude", Some("/.clinerules/remembrancer.md")),
            file("GEMINI.md", Some("@./.remembrancer.md")),
            file("QWEN.md", Some("@./.remembrancer.md")),
        ];
        let these = |numbers: &[usize]| numbers.iter().map(|number| known[*number].clone()).collect::<Vec<_>>();
        assert_eq!(removed(&known, &these(wanted)), these(expected));
    }

    #[rstest]
    #[case::below("docs/memory.md", true)]
    #[case::outside("../AGENTS.md", false)]
    #[case::absolute("/etc/motd", false)]
    #[case::of_git(".git/config", false)]
    #[case::nothing("", false)]
    fn a_file_is_named_from_the_project_on(#[case] file: &str, #[case] expected: bool) {
        assert_eq!(parse_file(file).is_ok(), expected);
    }
}
