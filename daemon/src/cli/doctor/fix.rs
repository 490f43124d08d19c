//! `doctor --fix`: mends what can be mended without asking, the least repair first, and tells each. Permissions, what is left half
//! written, log, index, vectors, a damaged database, a dead daemon's remains, entries of the hook, the service. With `--dry-run` nothing
//! is touched. Where a daemon runs, it mends the memory itself; what only the user can decide stays as it is.

mod service;

use std::path::Path;
use std::time::{Duration, SystemTime};

use remembrancer_hooks::places::{Places, verify_private_folder};
use remembrancer_hooks::protocol::{Answer, Reply, Request};
use remembrancer_hooks::{Agent, Client};
use remembrancer_schema::{
    Damage, OpenError, Reader, Writer, half_written, open_or_rebuild, remove_half_written, set_aside_and_rebuild,
};

use super::super::error::CliError;
use super::super::install::diff;
use super::super::surroundings::{Surroundings, hook_beside};
use super::DoctorArguments;
use crate::causes::with_causes;
use crate::cli::output::tell;
use crate::doctor::Repair;
use crate::doctor::agents::Examined;
use crate::doctor::running::Running;
use crate::files::{is_not_ours, make_private, open_paths, private_folder};
use crate::install::{self, Change, Wanted};
use crate::mending::Findings;
use crate::single::{Holder, Single, SingleError};
use crate::{clock, recovery, system};

const MEMORY: &str = "memory";
const DAEMON: &str = "daemon";
/// Whoever has the lock and does not answer yet may be at work for long, and must not be ended at it.
const WAIT: &str = "it may be opening, migrating or making anew its memory, which its log tells: wait, and run this again";

/// How long a daemon may take to look through its memory and to mend it.
const PATIENCE: Duration = Duration::from_mins(10);
/// A half-written file of this age may still be written.
const WRITING: Duration = Duration::from_mins(1);

/// Mends everything; with `--dry-run`, says what it would mend.
pub(super) fn all(arguments: &DoctorArguments, surroundings: &Surroundings) -> Result<Vec<Repair>, CliError> {
    let (places, dry_run) = (&surroundings.places, arguments.dry_run);
    let foreign = anothers(&places.database_file());
    let mut repairs = match &foreign {
        // Not even its mode is ours to change.
        Some(left) => vec![left.clone()],
        None => permissions(places, dry_run),
    };
    let running = super::running(surroundings);
    repairs.extend(match &running.ping {
        _ if foreign.is_some() => Vec::new(),
        Ok(_) => {
            let mut repairs = half_written_files(places, dry_run);
            // One of another version may not know the request. What is to be done about it the checks say.
            if running.is_ours() {
                repairs.extend(by_daemon(places, dry_run));
            }
            repairs
        }
        Err(_) => without_daemon(places, dry_run),
    });
    repairs.extend(hooks(arguments, surroundings, &running)?);
    repairs.extend(service::repairs(surroundings, &running, arguments)?);
    Ok(repairs)
}

/// Another program's database in the place of the memory.
fn anothers(database: &Path) -> Option<Repair> {
    let error = Reader::open(database)
        .err()
        .filter(|error| matches!(error, OpenError::Foreign { .. }))?;
    let (found, remedy) = error.parts();
    Some(Repair::left(MEMORY, found, remedy.unwrap_or_default()))
}

fn permissions(places: &Places, dry_run: bool) -> Vec<Repair> {
    let mut repairs = Vec::new();
    for folder in [places.data_dir(), places.state_dir()] {
        let open = open_paths(&folder);
        let Some(first) = open.first() else { continue };
        let found = format!(
            "{} paths are not yours alone to read and write, the first is {}",
            open.len(),
            first.display()
        );
        repairs.push(made_private(MEMORY, found, dry_run, || make_private(&folder)));
    }
    for socket in places.socket_candidates() {
        let Ok(metadata) = fs_err::symlink_metadata(&socket) else {
            continue;
        };
        if !system::is_socket(&metadata) || system::owner(&metadata) != places.uid() {
            continue;
        }
        let folder = socket.parent().unwrap_or(Path::new("/"));
        if verify_private_folder(folder, places.uid()).is_err() {
            let found = format!("others can reach the folder of the socket {}", socket.display());
            repairs.push(made_private(DAEMON, found, dry_run, || private_folder(folder)));
        }
        if system::mode(&metadata) & 0o777 != 0o600 {
            let found = format!("the socket {} is not of mode 0600", socket.display());
            let tighten = || fs_err::set_permissions(&socket, system::permissions(0o600));
            repairs.push(made_private(DAEMON, found, dry_run, tighten));
        }
    }
    repairs
}

fn made_private(subject: &str, found: String, dry_run: bool, make: impl FnOnce() -> std::io::Result<()>) -> Repair {
    match if dry_run { Ok(()) } else { make() } {
        Ok(()) => Repair::mended(subject, found, "made yours alone", dry_run),
        Err(error) if is_not_ours(&error) => Repair::left(subject, found, error.to_string()),
        Err(error) => Repair::failed(subject, found, with_causes(&error)),
    }
}

/// What was left half written. Only while whoever may be at it can't be: a rebuilding and a restore have the daemon's lock, and whoever
/// makes a backup lives, and is named by its part.
fn half_written_files(places: &Places, dry_run: bool) -> Vec<Repair> {
    let is_left = |path: &Path| {
        let modified = fs_err::symlink_metadata(path).and_then(|metadata| metadata.modified());
        // One of the future is as young: the clock was set back.
        modified.is_ok_and(|modified: SystemTime| modified.elapsed().is_ok_and(|age| age >= WRITING))
    };
    let found = match half_written(&places.database_file()) {
        Ok(found) => found.into_iter(),
        Err(error) => {
            let why = "it can't be told whether something was left half written";
            return vec![Repair::failed(MEMORY, why, with_causes(&error))];
        }
    };
    let found = found.filter(|path| is_left(path) && !is_of_the_living(path));
    let repair = |path: std::path::PathBuf| {
        let found = format!("{} was left half written", path.display());
        match if dry_run { Ok(()) } else { remove_half_written(&path) } {
            Ok(()) => Repair::mended(MEMORY, found, "removed", dry_run),
            Err(error) => Repair::failed(MEMORY, found, with_causes(&error)),
        }
    };
    found.map(repair).collect()
}

/// Whether the name of a part holds the id of a process of the user's that lives: it may be looking through what it has written.
fn is_of_the_living(part: &Path) -> bool {
    let name = part.file_name().unwrap_or_default().to_string_lossy();
    name.split('.').filter_map(|word| word.parse().ok()).any(system::is_alive)
}

/// Has the running daemon look through the memory and mend it.
fn by_daemon(places: &Places, dry_run: bool) -> Vec<Repair> {
    let failed = |why: String| vec![Repair::failed(MEMORY, "the daemon did not look through the memory", why)];
    match Client::new(places.clone()).call(&Request::Mend { dry_run }, PATIENCE) {
        Ok(Reply::Answer(Answer { ok: true, mut data, .. })) => {
            serde_json::from_value(data["repairs"].take()).unwrap_or_else(|error| failed(error.to_string()))
        }
        Ok(Reply::Answer(Answer { error, .. })) => failed(error.unwrap_or_default()),
        Ok(Reply::Recall(_)) => failed("it answered something else".to_owned()),
        Err(error) => failed(with_causes(&error)),
    }
}

/// Mends the memory, and removes what a dead daemon left, while no daemon can start.
fn without_daemon(places: &Places, dry_run: bool) -> Vec<Repair> {
    let folder = places.data_dir();
    if !folder.is_dir() {
        return Vec::new();
    }
    let silent = |pid: &str| {
        let found = format!("a daemon runs, process {pid}, and does not answer at its socket");
        vec![Repair::left(DAEMON, found, WAIT)]
    };
    let holder = Single::holder(&folder);
    if let Holder::Process(pid) = &holder {
        return silent(pid);
    }
    let single = if dry_run { None } else { Some(Single::take(&folder)) };
    match &single {
        Some(Err(SingleError::Running { pid, .. })) => return silent(pid),
        Some(Err(error)) => return vec![Repair::failed(MEMORY, "the memory can't be had alone", with_causes(error))],
        Some(Ok(single)) => {
            // Before anything is written to.
            if let Err(error) = single.part(&folder, &places.database_file()) {
                return vec![not_parted(&error)];
            }
        }
        None => {}
    }
    let mut repairs = half_written_files(places, dry_run);
    repairs.extend(memory(&places.database_file(), dry_run));
    repairs.extend(stale_sockets(places, dry_run));
    if let Holder::Gone(pid) = holder {
        let found = format!("the lock names process {pid}, which does not hold it any more");
        repairs.push(Repair::mended(DAEMON, found, "emptied", dry_run));
    }
    repairs
}

/// What can't be parted from its other name is written to by nobody.
fn not_parted(error: &SingleError) -> Repair {
    let remedy = "remove the other name, or move the memory's folder to where there is room for a copy, and run this again";
    Repair::left(MEMORY, with_causes(error), remedy)
}

/// Mends the database at this path, which this process has to itself.
fn memory(database: &Path, dry_run: bool) -> Vec<Repair> {
    let damage = match Reader::open(database) {
        Ok(reader) => match Findings::of(&reader) {
            Ok(findings) => {
                let Some(damage) = findings.damage() else {
                    drop(reader);
                    return in_place(database, &findings, dry_run);
                };
                damage.to_owned()
            }
            Err(error) => {
                return vec![Repair::failed(
                    MEMORY,
                    "the memory can't be looked through",
                    with_causes(&error),
                )];
            }
        },
        Err(OpenError::Corrupt { detail, .. }) => detail,
        Err(OpenError::Lost { beside, .. }) => {
            format!("it is gone or empty, though {} says that there was one", beside.display())
        }
        // Not there yet, of another version, or another program's: nothing that can be mended, and the checks tell it.
        Err(_) => return Vec::new(),
    };
    vec![made_anew(database, &damage, dry_run)]
}

fn in_place(database: &Path, findings: &Findings, dry_run: bool) -> Vec<Repair> {
    let planned = findings.planned(0);
    if dry_run || planned.is_empty() {
        return planned;
    }
    let failed = |error: &dyn std::error::Error| vec![Repair::failed(MEMORY, "the memory can't be mended", with_causes(error))];
    let mut writer = match Writer::open(database) {
        Ok(writer) => writer,
        // What a crash left shows once the log is read.
        Err(OpenError::Corrupt { detail, .. }) => return vec![made_anew(database, &detail, dry_run)],
        Err(error) => return failed(&error),
    };
    let mended = findings.mend(&mut writer, 0);
    match mended.and_then(|repairs| writer.close().map(|()| repairs)) {
        Ok(repairs) => repairs,
        Err(error) => failed(&error),
    }
}

/// Sets a damaged database aside and makes it anew, by the way of a daemon's start.
fn made_anew(database: &Path, damage: &str, dry_run: bool) -> Repair {
    let found = format!("the database is damaged: {damage}");
    if dry_run {
        let done = "set aside, and made anew from what can be read of it, the latest backup and the transcripts";
        return Repair::mended(MEMORY, found, done, true);
    }
    match rebuild(database, damage) {
        Ok(done) => Repair::mended(MEMORY, found, done, false),
        Err(error) => Repair::failed(MEMORY, found, format!("{error:#}")),
    }
}

fn rebuild(database: &Path, damage: &str) -> anyhow::Result<String> {
    // What damage keeps it from being closed in order is looked for at once.
    open_or_rebuild(database, clock::now())?.close().ok();
    // A database that was closed in order is trusted at an opening, whatever is in it.
    if matches!(Reader::open(database)?.damage()?, Some((Damage::Database, _))) {
        set_aside_and_rebuild(database, clock::now(), damage)?;
        Writer::open(database)?.close()?;
    }
    let recovery = Reader::open(database)?.recovery()?;
    Ok(recovery.map_or_else(
        || "what its log held was put in".to_owned(),
        |recovery| recovery::notice(&recovery),
    ))
}

fn stale_sockets(places: &Places, dry_run: bool) -> Vec<Repair> {
    let is_stale = |path: &Path| {
        let is_ours = |metadata: &std::fs::Metadata| system::is_socket(metadata) && system::owner(metadata) == places.uid();
        fs_err::symlink_metadata(path).is_ok_and(|metadata| is_ours(&metadata)) && !system::is_answered(path)
    };
    let stale = places.socket_candidates().into_iter().filter(|path| is_stale(path));
    let repair = |path: std::path::PathBuf| {
        let found = format!("nobody answers at the socket {}", path.display());
        match if dry_run { Ok(()) } else { fs_err::remove_file(&path) } {
            Ok(()) => Repair::mended(DAEMON, found, "removed", dry_run),
            Err(error) => Repair::failed(DAEMON, found, with_causes(&error)),
        }
    };
    stale.map(repair).collect()
}

/// Entries of the hook, where there are any: to have an agent reminded at all is the user's to decide.
fn hooks(arguments: &DoctorArguments, surroundings: &Surroundings, running: &Running) -> Result<Vec<Repair>, CliError> {
    let hook = hook_beside(&std::env::current_exe()?)?;
    let mut repairs = Vec::new();
    for agent in super::chosen(arguments, surroundings) {
        let examined = Examined {
            agent,
            folder: surroundings.settings_folder(agent.registration()),
            hook: &hook,
            answers_probes: running.is_ours(),
            cwd: "/",
        };
        let Some(found) = examined.wrong_entries() else { continue };
        let Some(program) = hook.to_str() else { continue };
        match install::install(&examined.folder, agent, Wanted::hook(program), surroundings.places.uid()) {
            Err(refusal) => repairs.push(Repair::left(agent.id(), found, refusal.to_string())),
            Ok(changes) => repairs.extend(changes.iter().map(|change| edited(agent, &found, change, arguments))),
        }
    }
    Ok(repairs)
}

fn edited(agent: Agent, found: &str, change: &Change, arguments: &DoctorArguments) -> Repair {
    if !arguments.json {
        tell!("{}", diff(change));
    }
    let path = change.path().display();
    let mut done = format!("{path} is edited");
    if agent.host_side().trusted_in.is_some() {
        done = format!(
            "{done}; {} asks again whether to trust what is changed",
            agent.registration().name
        );
    }
    match if arguments.dry_run { Ok(()) } else { change.apply() } {
        Ok(()) => Repair::mended(agent.id(), found, done, arguments.dry_run),
        Err(refusal) => Repair::failed(agent.id(), found, refusal.to_string()),
    }
}

#[cfg(test)]
mod tests;
