//! Resources: what sessions were reminded of lately, as their recollection files have it, and single episodes. A name comes in, a text
//! goes out; no file is read but those of our own folder.

use std::path::Path;

use remembrancer_processor::ingest::redact;
use remembrancer_processor::{FENCE_CLOSE, FENCE_OPEN_PREFIX};
use remembrancer_schema::UnixMillis;
use rmcp::model::{ErrorData, ListResourcesResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::{Value, json};

use super::tools::show;
use crate::cli::{CliError, Kind, Surroundings, acts};
use crate::clock;
use crate::control::rfc3339;
use crate::files::means_gone;

/// The list.
const RECOLLECTIONS: &str = "remembrancer://recollections";
/// Begins the address of an episode.
const EPISODE: &str = "remembrancer://episode/";
/// Resources on a page.
const PAGE: usize = 50;
/// Bytes of a recollection file: a block has 4,000 characters at most, each of four bytes.
const MOST_BYTES: u64 = 64 * 1_024;
/// Characters of the name of a file, which is made of an agent's and of a session's of at most 64 each.
const LONGEST_NAME: usize = 160;

/// A session that was reminded, and when.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Reminded {
    at_ms: i64,
    name: String,
}

/// What a client wants to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wanted {
    /// The list of the latest.
    Recollections,
    /// What a session was reminded of last.
    Recollection(String),
    /// An episode.
    Episode(String),
}

impl Wanted {
    /// What an address means; `None` where it is none of ours.
    pub(super) fn of(uri: &str) -> Option<Self> {
        if uri == RECOLLECTIONS {
            return Some(Self::Recollections);
        }
        if let Some(id) = uri.strip_prefix(EPISODE) {
            let is_id = !id.is_empty() && id.len() <= 64 && id.bytes().all(|digit| digit.is_ascii_hexdigit());
            return is_id.then(|| Self::Episode(id.to_owned()));
        }
        let name = uri.strip_prefix(RECOLLECTIONS)?.strip_prefix('/')?;
        is_name(name).then(|| Self::Recollection(name.to_owned()))
    }
}

/// Whether it is the name of a recollection file, and of no other.
fn is_name(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    !name.is_empty() && name.len() <= LONGEST_NAME && name.chars().all(is_part)
}

/// The protocol's error for what is not there.
pub(super) fn not_found(uri: &str) -> ErrorData {
    let uri: String = uri.chars().take(200).collect();
    ErrorData::resource_not_found("there is no such resource", Some(json!({"uri": uri})))
}

/// Where a list goes on.
///
/// # Errors
/// Where no answer named it.
pub(super) fn place(cursor: Option<&str>) -> Result<Option<Reminded>, ErrorData> {
    let Some(cursor) = cursor else { return Ok(None) };
    let read = || {
        let (at, name) = cursor.split_once('.')?;
        let at_ms = at.parse().ok()?;
        is_name(name).then(|| Reminded {
            at_ms,
            name: name.to_owned(),
        })
    };
    read()
        .map(Some)
        .ok_or_else(|| ErrorData::invalid_params("the cursor is none that an answer named", None))
}

/// All sessions that were reminded lately, the latest first.
fn reminded(folder: &Path) -> std::io::Result<Vec<Reminded>> {
    let entries = match fs_err::read_dir(folder) {
        Err(error) if means_gone(&error) => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut all: Vec<Reminded> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let name = name.strip_suffix(".md").filter(|name| is_name(name))?.to_owned();
            let metadata = entry.metadata().ok().filter(std::fs::Metadata::is_file)?;
            let at_ms = clock::of_file(&metadata).0;
            Some(Reminded { at_ms, name })
        })
        .collect();
    all.sort_unstable_by(|one, other| other.cmp(one));
    Ok(all)
}

/// A page of the list of resources, from a place on.
///
/// # Errors
/// The file system's error.
pub(super) fn page(folder: &Path, from: Option<&Reminded>) -> std::io::Result<ListResourcesResult> {
    let is_first = from.is_none();
    let all = reminded(folder)?;
    let mut rest = all.into_iter().filter(|one| from.is_none_or(|from| one < from));
    let shown: Vec<Reminded> = rest.by_ref().take(PAGE).collect();
    let next = shown.last().filter(|_| rest.next().is_some());
    let next_cursor = next.map(|last| format!("{}.{}", last.at_ms, last.name));
    let list = Resource::new(RECOLLECTIONS, "recollections")
        .with_title("What sessions were reminded of lately")
        .with_description("The latest sessions that were reminded of something, with the address of what each was shown.")
        .with_mime_type("application/json");
    let resources = is_first.then_some(list).into_iter().chain(shown.iter().map(resource));
    let mut result = ListResourcesResult::with_all_items(resources.collect());
    result.next_cursor = next_cursor;
    Ok(result)
}

fn resource(reminded: &Reminded) -> Resource {
    let at = rfc3339(UnixMillis(reminded.at_ms));
    Resource::new(format!("{RECOLLECTIONS}/{}", reminded.name), reminded.name.clone())
        .with_title(format!("Reminded at {at}"))
        .with_description("What this session's last prompt was reminded of.")
        .with_mime_type("text/markdown")
}

/// What else can be read.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new(format!("{RECOLLECTIONS}/{{session}}"), "recollection")
            .with_title("What a session was reminded of")
            .with_description(
                "What the last prompt of a session was reminded of; session is the agent's name and the session's id, as claude-code-0195a7c2, as the list of recollections has it.",
            )
            .with_mime_type("text/markdown"),
        ResourceTemplate::new(format!("{EPISODE}{{id}}"), "episode")
            .with_title("A past episode")
            .with_description("The beginning of one remembered episode by its id; the tool show has all of it, part by part.")
            .with_mime_type("text/markdown"),
    ]
}

/// What `wanted` holds; `None` where it is not there.
///
/// # Errors
/// What the daemon, the store or the file system says.
pub(super) fn read(surroundings: &Surroundings, wanted: &Wanted, uri: &str) -> Result<Option<ResourceContents>, CliError> {
    let folder = surroundings.places.recollections_dir();
    let (text, kind) = match wanted {
        Wanted::Recollections => (Some(list(&reminded(&folder)?)), "application/json"),
        Wanted::Recollection(name) => (recollection(&folder.join(format!("{name}.md")))?, "text/markdown"),
        Wanted::Episode(id) => match acts::show(surroundings, id) {
            Ok(episode) => (Some(show::told(&episode, 0).text), "text/markdown"),
            Err(error) if error.kind() == Kind::NotFound => (None, ""),
            Err(error) => return Err(error),
        },
    };
    Ok(text.map(|text| ResourceContents::text(text, uri).with_mime_type(kind)))
}

fn list(all: &[Reminded]) -> String {
    let shown: Vec<Value> = all
        .iter()
        .take(PAGE)
        .map(|one| json!({"uri": format!("{RECOLLECTIONS}/{}", one.name), "session": one.name, "written": rfc3339(UnixMillis(one.at_ms))}))
        .collect();
    json!({"recollections": shown, "more": all.len().saturating_sub(PAGE)}).to_string()
}

/// The text of a recollection file; `None` where there is none, or it is none of ours.
fn recollection(path: &Path) -> Result<Option<String>, CliError> {
    let metadata = match fs_err::symlink_metadata(path) {
        Err(error) if means_gone(&error) => return Ok(None),
        metadata => metadata?,
    };
    if !metadata.is_file() || metadata.len() > MOST_BYTES {
        return Ok(None);
    }
    match fs_err::read_to_string(path) {
        Ok(text) => Ok(as_today(&text)),
        Err(error) if means_gone(&error) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// A block as it would be written today: nothing stands in it that today's rules of redaction find. `None` where it is no block.
fn as_today(text: &str) -> Option<String> {
    let text = text.trim();
    let (opening, rest) = text.split_once('\n')?;
    let inside = rest.strip_suffix(FENCE_CLOSE)?;
    if !opening.starts_with(FENCE_OPEN_PREFIX) || inside.contains(FENCE_CLOSE) || inside.contains(FENCE_OPEN_PREFIX) {
        return None;
    }
    Some(format!("{opening}\n{}{FENCE_CLOSE}\n", redact(inside)))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use rstest::rstest;

    use super::*;

    const BLOCK: &str =
        "<remembrancer-recollections prompt=\"1\" written=\"2026-01-01T00:00:00Z\">\nnotes\n</remembrancer-recollections>\n";

    #[rstest]
    #[case::list("remembrancer://recollections", Some(Wanted::Recollections))]
    #[case::session("remembrancer://recollections/claude-code-0195a7c2", Some(Wanted::Recollection("claude-code-0195a7c2".into())))]
    #[case::episode("remembrancer://episode/1f2e3d4c", Some(Wanted::Episode("1f2e3d4c".into())))]
    #[case::no_session("remembrancer://recollections/", None)]
    #[case::above("remembrancer://recollections/../memory", None)]
    #[case::dots("remembrancer://recollections/..", None)]
    #[case::below("remembrancer://recollections/a/b", None)]
    #[case::spelled("remembrancer://recollections/%2e%2e", None)]
    #[case::no_id("remembrancer://episode/xyz", None)]
    #[case::empty_id("remembrancer://episode/", None)]
    #[case::other("remembrancer://memory.db", None)]
    #[case::other_scheme("file:///etc/passwd", None)]
    fn an_address_means_one_thing_or_nothing(#[case] uri: &str, #[case] expected: Option<Wanted>) {
        assert_eq!(Wanted::of(uri), expected);
    }

    #[test]
    fn pages_are_together_the_whole_list_the_latest_first() {
        let folder = tempfile::tempdir().unwrap();
        let all = 2 * PAGE + 7;
        for number in 0..all {
            let file = fs_err::File::create(folder.path().join(format!("codex-{number:04}.md"))).unwrap();
            // Several of the same moment.
            let at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 + number as u64 / 3);
            file.set_modified(at).unwrap();
        }
        fs_err::write(folder.path().join(".x.md.1.tmp"), "").unwrap();
        fs_err::write(folder.path().join("no name.md"), "").unwrap();
        fs_err::create_dir(folder.path().join("folder.md")).unwrap();
        let (mut cursor, mut names) = (None, Vec::new());
        loop {
            let listed = page(folder.path(), place(cursor.as_deref()).unwrap().as_ref()).unwrap();
            assert!(listed.resources.len() <= PAGE + 1);
            names.extend(listed.resources.into_iter().map(|resource| resource.name));
            match listed.next_cursor {
                Some(next) => cursor = Some(next),
                None => break,
            }
        }
        let expected: Vec<String> = (0..all).rev().map(|number| format!("codex-{number:04}")).collect();
        assert_eq!(names[0], "recollections");
        assert_eq!(names[1..], expected);
        assert!(place(Some("5.../x")).is_err() && place(Some("x")).is_err());
        let told: Value = serde_json::from_str(&list(&reminded(folder.path()).unwrap())).unwrap();
        assert_eq!(
            (told["recollections"].as_array().unwrap().len(), &told["more"]),
            (PAGE, &json!(PAGE + 7))
        );
        assert_eq!(page(&folder.path().join("none"), None).unwrap().resources.len(), 1);
    }

    #[test]
    fn only_a_block_of_ours_is_read_and_redacted_anew() {
        let folder = tempfile::tempdir().unwrap();
        let read = |text: &str| {
            let path = folder.path().join("codex-1.md");
            fs_err::write(&path, text).unwrap();
            recollection(&path).unwrap()
        };
        assert_eq!(read(BLOCK).as_deref(), Some(BLOCK));
        let secret = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
        let redacted = read(&BLOCK.replace("notes", &format!("the token is {secret}"))).unwrap();
        assert!(!redacted.contains(&secret) && redacted.contains("[redacted"), "{redacted}");
        assert_eq!(read("anything else\n"), None);
        assert_eq!(read(&format!("{BLOCK}{BLOCK}")), None);
        assert_eq!(read(&BLOCK.replace("notes", &"x".repeat(MOST_BYTES as usize))), None);
        std::os::unix::fs::symlink("/etc/hostname", folder.path().join("codex-2.md")).unwrap();
        assert_eq!(recollection(&folder.path().join("codex-2.md")).unwrap(), None);
        assert_eq!(recollection(&folder.path().join("codex-3.md")).unwrap(), None);
    }
}
