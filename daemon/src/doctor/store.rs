//! The memory: is the database whole, of one version, private, with room to grow, and does it give back what is in it? Paths and a
//! reader come in, checks go out. Nothing is written.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use remembrancer_hooks::Client;
use remembrancer_hooks::places::Places;
use remembrancer_hooks::protocol::{RecallRequest, Reply, Request};
use remembrancer_processor::ingest::RULES;
use remembrancer_processor::{Deadline, Stopwatch};
use remembrancer_schema::{EpisodeText, OpenError, QueryError, Reader, RedactionState, Scope};
use serde_json::Value;
use walkdir::WalkDir;

use super::Check;
use super::host::probe_session;
use crate::causes::with_causes;
use crate::files::{open_paths, shares_writes};
use crate::mending::Findings;
use crate::plural::counted;
use crate::roots::Roots;
use crate::sizes::size;
use crate::{clock, drift, recovery, system};

const MEMORY: &str = "memory";

/// How long the look through the database may take; a very large one is not seen to its end.
const LOOK_THROUGH: Duration = Duration::from_secs(10);
/// Below this the daemon soon can't write; below that it can't fold its log into the database.
const LITTLE_ROOM: u64 = 1024 * 1024 * 1024;
const NO_ROOM: u64 = 64 * 1024 * 1024;
/// Episodes that are asked for again.
const ASKED_AGAIN: usize = 3;
/// Of these that were used last.
const USED_LAST: usize = 50;
/// As many characters make a question, and not a word or a pasted page.
const QUESTION_CHARS: std::ops::Range<usize> = 40..400;
/// How long an answer is waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// Whether the database is whole and of one version. What of it can't be read is a check that failed.
pub(crate) fn database(reader: &Reader) -> Vec<Check> {
    looked_through(reader).unwrap_or_else(|error| vec![unreadable(&error)])
}

/// A database that can't be opened, and what to do about it.
pub(crate) fn unopened(error: &OpenError) -> Check {
    match (error, error.parts()) {
        (OpenError::Corrupt { .. } | OpenError::Lost { .. }, (found, _)) => damaged(&found),
        (_, (found, Some(remedy))) => Check::failed(MEMORY, found, remedy),
        (_, (_, None)) => unusable(&with_causes(error)),
    }
}

fn unreadable(error: &QueryError) -> Check {
    match error {
        QueryError::Corrupt { .. } => damaged(&with_causes(error)),
        _ => unusable(&with_causes(error)),
    }
}

fn damaged(found: &str) -> Check {
    let remedy = "stop the daemon, if it runs, and run `remembrancer doctor --fix`, which sets the file aside and makes it anew from what can be read, as the daemon's next start does";
    Check::failed(MEMORY, found, remedy)
}

fn unusable(problem: &str) -> Check {
    Check::failed(MEMORY, problem, "start the daemon again, and see what it says")
}

fn looked_through(reader: &Reader) -> Result<Vec<Check>, QueryError> {
    let stats = reader.stats()?;
    let mut checks = Vec::new();
    let version = stats.schema_version;
    checks.push(if version == stats.meta_schema_version {
        let found = format!(
            "{} of {}, schema version {version}",
            counted(stats.episodes, "episode", "episodes"),
            counted(stats.sessions, "session", "sessions")
        );
        Check::ok(MEMORY, found)
    } else {
        let found = format!(
            "the database calls itself version {version}, and its own notes say {}",
            stats.meta_schema_version
        );
        Check::failed(
            MEMORY,
            found,
            "put back the copy beside it that was made before the last migration",
        )
    });
    let (passed_over, notices) = drift::status(&stats);
    checks.push(formats(&passed_over));
    let warn = |notice| Check::warning(MEMORY, notice, "see whether there is a newer version, or report the kind");
    checks.extend(notices.into_iter().map(warn));
    checks.extend(redaction(&reader.redaction()?));
    checks.extend(journal(reader));
    let recovered = reader.recovery()?;
    checks.extend(recovered.map(|recovery| Check::warning(MEMORY, recovery::found(&recovery), recovery::remedy(&recovery))));
    let deadline = Deadline::after(LOOK_THROUGH);
    reader.set_deadline_check(Some(Box::new(move || deadline.has_passed())));
    checks.extend(match Findings::of(reader) {
        Ok(findings) => whole(&findings),
        Err(QueryError::Interrupted { .. }) => vec![Check::ok(
            MEMORY,
            format!(
                "no damage found in {} s; the database is too large to be looked through here",
                LOOK_THROUGH.as_secs()
            ),
        )],
        Err(error) => vec![unreadable(&error)],
    });
    reader.set_deadline_check(None);
    Ok(checks)
}

/// Whether rows are left that older rules of redaction let through, or bytes of what they were.
fn redaction(state: &RedactionState) -> Option<Check> {
    if !state.is_behind(RULES.version) {
        return None;
    }
    let found = match state.under_way {
        _ if state.version.is_some_and(|version| version >= RULES.version) => {
            "texts were redacted by newer rules, and bytes of what they were may be left in the index, the log or copies"
                .to_owned()
        }
        Some((version, to)) if version == RULES.version => format!(
            "older texts are being redacted by newer rules: {} of {} are through",
            to.0, state.last.0
        ),
        _ => "older texts have not been redacted by today's rules yet".to_owned(),
    };
    Some(Check::warning(
        MEMORY,
        found,
        "let the daemon run, which does it while it has nothing else to do; what is shown is redacted all the same",
    ))
}

/// Whether what the user decided can be read. Once a daemon has started, what could not be is gone, and its health tells it.
fn journal(reader: &Reader) -> Option<Check> {
    match reader.damaged_decisions() {
        Ok(0) => None,
        Ok(lines) => Some(Check::warning(
            MEMORY,
            format!("{lines} lines of the journal of what you decided are damaged and tell nothing any more"),
            "see whether what you excluded, forgot or paused still is, and do it again where it is not",
        )),
        Err(error) => Some(Check::failed(
            MEMORY,
            format!("the journal of what you decided can't be read: {error}"),
            "have it readable; the daemon does not start without it",
        )),
    }
}

/// Which records were passed over for their kind, by agent and version.
fn formats(passed_over: &[Value]) -> Check {
    let unknown = passed_over.iter().filter_map(|kind| {
        let name = kind["kind"].as_str()?.strip_prefix("unknown-record:")?;
        let writer = format!(
            "{} {}",
            kind["agent"].as_str().unwrap_or_default(),
            kind["version"].as_str().unwrap_or_default()
        );
        Some(format!("{} x {name} ({})", kind["count"], writer.trim_end()))
    });
    let unknown: Vec<String> = unknown.collect();
    if unknown.is_empty() {
        return Check::ok(MEMORY, "every kind of record in the transcripts is known");
    }
    Check::ok(
        MEMORY,
        format!("records of unknown kinds were passed over: {}", unknown.join(", ")),
    )
}

fn whole(findings: &Findings) -> Vec<Check> {
    if let Some(damage) = findings.damage() {
        return vec![damaged(&format!("the database is damaged: {damage}"))];
    }
    let mut checks = vec![Check::ok(MEMORY, "the database is whole")];
    let mend = |found: String| Check::failed(MEMORY, found, "run `remembrancer doctor --fix`");
    checks.extend(findings.of_derived().into_iter().map(mend));
    checks
}

/// Whether nobody else can read what is kept, its owner can write it, and there is room for more.
pub(crate) fn folders(places: &Places) -> Vec<Check> {
    let mut checks = vec![privacy(places)];
    checks.extend(second_names(places));
    checks.extend(system::room(&places.data_dir()).map(|room| room_left(room, &places.data_dir())));
    checks
}

fn privacy(places: &Places) -> Check {
    let roots = [places.data_dir(), places.state_dir()];
    let open: Vec<PathBuf> = roots.iter().flat_map(|root| open_paths(root)).collect();
    match open.first() {
        None => Check::ok(MEMORY, format!("{} is yours alone", places.data_dir().display())),
        Some(first) => Check::failed(
            MEMORY,
            format!(
                "{} paths are not yours alone to read and write, the first is {}",
                open.len(),
                first.display()
            ),
            format!(
                "run `remembrancer doctor --fix`, or `chmod -R u+rwX,go-rwx {} {}`",
                roots[0].display(),
                roots[1].display()
            ),
        ),
    }
}

/// Files of the memory that have a second name elsewhere: what is written goes to both. Nothing where there are none, as after a start.
fn second_names(places: &Places) -> Option<Check> {
    let entries = WalkDir::new(places.data_dir()).into_iter().flatten();
    let linked: Vec<PathBuf> = entries
        .filter(|entry| entry.metadata().is_ok_and(|found| shares_writes(entry.path(), &found)))
        .map(walkdir::DirEntry::into_path)
        .collect();
    let first = linked.first()?;
    Some(Check::warning(
        MEMORY,
        format!(
            "{} a second name elsewhere (hard links, as in a copy by `cp -al`), which changes with the memory; the first is {}",
            counted(linked.len() as u64, "file has", "files have"),
            first.display()
        ),
        "start the daemon again, which gives them files of their own; `remembrancer backup` makes a copy that stands by itself",
    ))
}

fn room_left(room: u64, folder: &Path) -> Check {
    let found = format!("{} are free for {}", size(room), folder.display());
    match room {
        0..NO_ROOM => Check::failed(MEMORY, found, "make room there; until then nothing new is kept"),
        NO_ROOM..LITTLE_ROOM => Check::warning(MEMORY, found, "make room there soon"),
        LITTLE_ROOM.. => Check::ok(MEMORY, found),
    }
}

/// Whether the system lets every folder of transcripts be watched; nothing where it sets no such bound.
pub(crate) fn watches(roots: &Roots) -> Option<Check> {
    let allowed = system::allowed_watches()?;
    let watched = |root| {
        let deepest = if roots.is_flat(root) { 0 } else { usize::MAX };
        WalkDir::new(root).max_depth(deepest).into_iter().flatten()
    };
    let entries = roots.folders().flat_map(watched);
    let folders = entries
        .filter(|entry| entry.file_type().is_dir())
        .map(walkdir::DirEntry::into_path);
    let needed = folders.collect::<HashSet<PathBuf>>().len();
    let found = format!(
        "{} watched, of {allowed} that the system allows all your programs",
        counted(needed as u64, "folder is", "folders are")
    );
    Some(if needed.saturating_mul(2) <= allowed {
        Check::ok(MEMORY, found)
    } else {
        Check::warning(
            MEMORY,
            found,
            "raise fs.inotify.max_user_watches; a folder that is not watched is read late",
        )
    })
}

/// Asks the running daemon some of what the memory holds again, by probes: one of them at least must come back. Nothing where the
/// memory holds no question yet, or where it recalls nothing now.
pub(crate) fn gives_back(reader: &Reader, client: &Client) -> Option<Check> {
    asked_again(reader, client).unwrap_or_else(|error| Some(unreadable(&error)))
}

fn asked_again(reader: &Reader, client: &Client) -> Result<Option<Check>, QueryError> {
    if reader.paused()?.is_some_and(|pause| pause.holds_at(clock::now())) {
        return Ok(None);
    }
    let texts = reader.texts(&reader.recently_accessed(Scope::All, USED_LAST)?)?;
    let is_question = |text: &&EpisodeText| text.part == 0 && QUESTION_CHARS.contains(&text.prompt.chars().count());
    let asked: Vec<&EpisodeText> = texts.iter().filter(is_question).take(ASKED_AGAIN).collect();
    if asked.is_empty() {
        return Ok(None);
    }
    for text in &asked {
        let mut watch = Stopwatch::start();
        if is_given_back(text, client) {
            watch.lap("recall");
            let found = format!(
                "an episode that was asked for again came back in {} ms",
                watch.total().as_millis()
            );
            return Ok(Some(Check::ok(MEMORY, found)));
        }
    }
    let found = format!(
        "none came back of {} asked for again",
        counted(asked.len() as u64, "episode that was", "episodes that were")
    );
    Ok(Some(Check::warning(
        MEMORY,
        found,
        "see `remembrancer recall` with a prompt of yours",
    )))
}

fn is_given_back(text: &EpisodeText, client: &Client) -> bool {
    let request = Request::Recall(RecallRequest {
        agent: text.agent.clone(),
        session: probe_session(),
        cwd: text.cwd.clone(),
        prompt: text.prompt.clone(),
        at_start: false,
        deadline_ns: None,
        prompt_id: None,
        transcript: None,
        all_projects: true,
    });
    match client.call(&request, PATIENCE) {
        Ok(Reply::Recall(reply)) => reply.shown.iter().any(|shown| shown.id == text.uid.short()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::doctor::Verdict;

    #[rstest]
    #[case::none(0, Verdict::Failed)]
    #[case::little(NO_ROOM, Verdict::Warning)]
    #[case::enough(LITTLE_ROOM, Verdict::Ok)]
    fn room_is_judged(#[case] room: u64, #[case] expected: Verdict) {
        assert_eq!(room_left(room, Path::new("/")).verdict, expected);
    }

    #[test]
    fn a_memory_that_is_not_there_yet_has_one_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        let check = unopened(&Reader::open(&path).unwrap_err());
        assert_eq!(check.found, format!("there is no memory at {}", path.display()));
        assert_eq!(check.remedy.as_deref(), Some("start the daemon once to make it"));
        fs_err::write(&path, "no database at all, but a text that is longer than a header".repeat(9)).unwrap();
        let check = unopened(&Reader::open(&path).unwrap_err());
        assert!(!check.found.contains("start the daemon"), "{check:?}");
    }

    #[test]
    fn a_damaged_journal_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        let mut writer = remembrancer_schema::Writer::open(&path).unwrap();
        writer.exclude_path("/a", clock::now()).unwrap();
        writer.close().unwrap();
        let reader = Reader::open(&path).unwrap();
        assert_eq!(journal(&reader), None);
        let journal_file = folder.path().join("memory.db.journal");
        let whole = fs_err::read_to_string(&journal_file).unwrap();
        fs_err::write(&journal_file, whole.replace("/a", "/b")).unwrap();
        assert_eq!(journal(&reader).unwrap().verdict, Verdict::Warning);
        let opened = remembrancer_schema::Writer::open(&path).unwrap();
        assert_eq!(opened.damaged_decisions(), 1);
    }
}
