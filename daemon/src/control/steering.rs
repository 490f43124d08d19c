//! What the user decides of single memories: facts are remembered, turns are muted and boosted. In go words and ids as a person gives
//! them, out come rows changed and JSON that says of what. Whether a prompt is answered with something is decided in the processor.

use std::path::{Path, PathBuf};

use remembrancer_hooks::protocol::Steering as Asked;
use remembrancer_processor::ingest::{redact, redact_folder};
use remembrancer_processor::recall::clean;
use remembrancer_processor::strip_fenced;
use remembrancer_schema::{
    EpisodeUid, ProjectNames, QueryError, REMEMBERED_SESSION, Reader, SHORTEST_PREFIX, SessionKey, SteeredTurn, Steering,
    TurnUid, USER_AGENT, UnixMillis, Writer,
};
use serde_json::{Value, json};

use super::{ControlError, date, find, first_line};
use crate::exclusions::Exclusions;
use crate::project::{Folders, LOOK_PATIENCE};
use crate::whose::Sharer;

/// Characters of a fact: about what a recollection has room for, and no more than the embedder reads of a text.
pub(crate) const MOST_FACT_CHARS: usize = 2_000;
/// What stands in a text in the place of what was marked as private.
const PRIVATE: &str = "[redacted:private]";

/// What is to be remembered, ready to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NewFact {
    text: String,
    /// Whether something that looks like a secret was taken out of it.
    redacted: bool,
    cwd: Option<String>,
    project: ProjectNames,
}

impl NewFact {
    /// Of `text`, about the project of the folder `project`, or about all. Looks at the folder, and may ask git: never while a prompt
    /// waits.
    ///
    /// # Errors
    /// [`ControlError::Senseless`] where nothing may be remembered of the text, or where the folder is no project.
    pub(crate) fn new(folders: &Folders, text: &str, project: Option<&str>) -> Result<Self, ControlError> {
        let text = text.replace("\r\n", "\n");
        let text = text.trim();
        let kept = redact(text);
        if kept.matches(PRIVATE).count() > text.matches(PRIVATE).count() {
            return Err(senseless("what is marked as private is never remembered"));
        }
        if strip_fenced(text).trim() != text {
            return Err(senseless("it holds recollections, which are remembered already"));
        }
        if clean(&kept).is_empty() {
            return Err(senseless("there is nothing in it to remember"));
        }
        if kept.chars().count() > MOST_FACT_CHARS {
            return Err(ControlError::Senseless(format!(
                "a fact has at most {MOST_FACT_CHARS} characters: say it shorter, or as several"
            )));
        }
        let (cwd, project) = place(folders, project)?;
        Ok(Self {
            redacted: kept != text,
            text: kept.trim().to_owned(),
            cwd,
            project,
        })
    }

    /// What it comes to, before it is stored.
    pub(crate) fn told(&self) -> Value {
        json!({
            "redacted": self.redacted,
            "project": self.cwd.is_some().then_some(&self.project.name),
            "everywhere": self.cwd.is_none(),
        })
    }

    /// The folder that it is about, without secrets in its name.
    pub(crate) fn cwd(&self) -> Option<&str> {
        self.cwd.as_deref()
    }
}

fn senseless(why: &str) -> ControlError {
    ControlError::Senseless(why.to_owned())
}

/// The folder and the project of a fact.
fn place(folders: &Folders, project: Option<&str>) -> Result<(Option<String>, ProjectNames), ControlError> {
    let Some(folder) = project else {
        return Ok((None, ProjectNames::everywhere()));
    };
    if !Path::new(folder).is_absolute() {
        return Err(ControlError::Senseless(format!(
            "{folder:?} is no whole path of a folder, which begins with /"
        )));
    }
    let Some(identity) = folders.identify(folder).0 else {
        return Err(ControlError::Senseless(format!(
            "{folder} is no project: name one, or say that it holds everywhere"
        )));
    };
    let names = ProjectNames {
        keys: identity.keys,
        name: identity.name,
        root: Some(redact_folder(&identity.root.to_string_lossy()).into_owned()),
    };
    Ok((Some(redact_folder(folder).into_owned()), names))
}

/// Whether the file system says that there is no such folder.
pub(crate) fn is_gone(folders: &Folders, folder: &str) -> bool {
    let folder = PathBuf::from(folder);
    folders.within(LOOK_PATIENCE, move || !folder.is_dir()) == Some(true)
}

/// Refuses a fact of a folder that is not there, unless something is remembered of its project: it would be recalled nowhere.
///
/// # Errors
/// [`ControlError::Senseless`]; the store's error.
pub(crate) fn refuse_nowhere(reader: &Reader, fact: &NewFact) -> Result<(), ControlError> {
    let all = reader.projects()?;
    let is_known = |root: &str| all.iter().any(|(_, _, known)| known.as_deref() == Some(root));
    if fact.project.root.as_deref().is_some_and(is_known) {
        return Ok(());
    }
    Err(ControlError::Senseless(format!(
        "there is no folder {}, and nothing is remembered of it",
        fact.cwd.as_deref().unwrap_or_default()
    )))
}

/// Refuses to store anything while reading and recalling rest.
///
/// # Errors
/// [`ControlError::Senseless`]; the store's error.
pub(crate) fn refuse_if_paused(reader: &Reader, now: UnixMillis) -> Result<(), ControlError> {
    if reader.paused()?.is_some_and(|pause| pause.holds_at(now)) {
        return Err(senseless(
            "it is paused, so that nothing is stored: `remembrancer resume` ends that",
        ));
    }
    Ok(())
}

/// Refuses a fact about what is kept out, and any while it is paused.
///
/// # Errors
/// [`ControlError::Senseless`]; the store's error.
pub(crate) fn may_remember(
    reader: &Reader,
    exclusions: &Exclusions,
    fact: &NewFact,
    now: UnixMillis,
) -> Result<(), ControlError> {
    refuse_if_paused(reader, now)?;
    let session = SessionKey {
        agent: USER_AGENT.to_owned(),
        external_id: REMEMBERED_SESSION.to_owned(),
    };
    // Where the folder leads was looked at when its project was.
    let real = |_: &str| fact.project.root.clone();
    if exclusions.cover_prompt(reader, &session, fact.cwd(), real)? {
        return Err(senseless("the folder is kept out of the memory; see `remembrancer status`"));
    }
    Ok(())
}

/// Remembers a fact.
///
/// # Errors
/// The store's error.
pub(crate) fn remember(writer: &mut Writer, fact: &NewFact, now: UnixMillis) -> Result<Value, ControlError> {
    let remembered = writer.remember(&fact.text, fact.cwd(), &fact.project, now)?;
    Ok(json!({
        "id": remembered.episode.short(),
        "new": remembered.is_new,
        "redacted": fact.redacted,
        "project": fact.cwd.is_some().then_some(&fact.project.name),
        "everywhere": fact.cwd.is_none(),
    }))
}

/// A turn that is to be muted or boosted, or no more.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SteerTarget {
    turn: TurnUid,
    told: Value,
}

/// The turns that `ids` name, each once.
///
/// # Errors
/// [`ControlError::Unknown`] where one of them names nothing, or several; [`ControlError::Senseless`] without any; the store's error.
pub(crate) fn steer_targets(reader: &Reader, how: Asked, ids: &[String]) -> Result<Vec<SteerTarget>, ControlError> {
    if ids.is_empty() {
        return Err(senseless("no memory is named"));
    }
    let mut targets: Vec<SteerTarget> = Vec::new();
    for id in ids {
        let target = target(reader, how, id)?;
        if !targets.iter().any(|known| known.turn == target.turn) {
            targets.push(target);
        }
    }
    Ok(targets)
}

fn target(reader: &Reader, how: Asked, id: &str) -> Result<SteerTarget, ControlError> {
    let found = find(reader, id);
    if let Err(ControlError::Unknown(_)) = &found
        && matches!(how, Asked::Unmute | Asked::Unboost)
        && let Some(gone) = gone(reader, id)?
    {
        return Ok(SteerTarget {
            turn: gone.turn_uid,
            told: json!({"id": gone.episode.short()}),
        });
    }
    let text = found?;
    Ok(SteerTarget {
        turn: text.turn_uid,
        told: json!({
            "id": text.uid.short(),
            "date": date(text.created_at),
            "project": text.project_name.as_deref().map(redact),
            "asked": first_line(&text.prompt),
            "shared_by": Sharer::of(text.shared_by.as_ref()),
        }),
    })
}

/// The one turn that was steered and of which nothing is stored now, whose episode's id begins so.
fn gone(reader: &Reader, id: &str) -> Result<Option<SteeredTurn>, QueryError> {
    if id.len() < SHORTEST_PREFIX {
        return Ok(None);
    }
    let id = id.to_ascii_lowercase();
    let named = |turn: &SteeredTurn| turn.episode.to_string().starts_with(&id);
    let mut named = reader.steered_turns()?.into_iter().filter(named);
    Ok(named.next().filter(|_| named.next().is_none()))
}

/// Does to turns what was asked.
///
/// # Errors
/// The store's error.
pub(crate) fn steer(writer: &mut Writer, targets: &[SteerTarget], how: Asked, now: UnixMillis) -> Result<Value, ControlError> {
    let turns: Vec<TurnUid> = targets.iter().map(|target| target.turn).collect();
    let steering = match how {
        Asked::Mute => Steering::Mute,
        Asked::Unmute => Steering::Unmute,
        Asked::Boost => Steering::Boost,
        Asked::Unboost => Steering::Unboost,
    };
    let changed = writer.steer(&turns, steering, now)?;
    let told: Vec<&Value> = targets.iter().map(|target| &target.told).collect();
    Ok(json!({"how": how, "changed": changed, "turns": told}))
}

/// The turns that are muted, or (`boosted`) those that are boosted, the latest first.
///
/// # Errors
/// The store's error.
pub(crate) fn steered(reader: &Reader, boosted: bool) -> Result<Value, ControlError> {
    let mut told = Vec::new();
    for turn in reader.steered_turns()? {
        let since = if boosted { turn.boosted_at } else { turn.muted_at };
        if let Some(since) = since {
            told.push(steered_json(reader, turn.episode, since)?);
        }
    }
    Ok(json!({ "turns": told }))
}

fn steered_json(reader: &Reader, episode: EpisodeUid, since: UnixMillis) -> Result<Value, QueryError> {
    let text = reader.find_episode(&episode.to_string())?.pop();
    Ok(json!({
        "id": episode.short(),
        "since": date(since),
        "date": text.as_ref().map(|text| date(text.created_at)),
        "project": text.as_ref().and_then(|text| text.project_name.as_deref().map(redact)),
        "asked": text.as_ref().map(|text| first_line(&text.prompt)),
        "shared_by": text.as_ref().and_then(|text| Sharer::of(text.shared_by.as_ref())),
    }))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn folders() -> Folders {
        Folders::new(Some("/home/nobody".into()))
    }

    fn why(text: &str, project: Option<&str>) -> String {
        NewFact::new(&folders(), text, project).expect_err("is refused").to_string()
    }

    #[rstest]
    #[case::nothing(" \n\t ", "nothing in it")]
    #[case::nothing_that_is_seen("\u{200b}\u{1}\u{7}", "nothing in it")]
    #[case::private("the code is <private>1234</private>", "private")]
    #[case::private_to_the_end("the code is <private>1234", "private")]
    #[case::of_ours("<remembrancer-recollections prompt=\"x\">\nold\n</remembrancer-recollections>", "already")]
    fn what_may_not_be_remembered_is_refused(#[case] text: &str, #[case] says: &str) {
        let why = why(text, None);
        assert!(why.contains(says), "{why}");
    }

    #[test]
    fn a_fact_is_short_and_of_a_project() {
        assert!(why(&"é".repeat(MOST_FACT_CHARS + 1), None).contains("2000 characters"));
        assert!(NewFact::new(&folders(), &"é".repeat(MOST_FACT_CHARS), None).is_ok());
        assert!(why("x", Some("work/shop")).contains("whole path"));
        assert!(why("x", Some("/home/nobody")).contains("no project"));
    }

    #[test]
    fn a_fact_of_a_folder_that_is_not_there_is_refused_unless_its_project_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let (there, gone) = (
            folder.path().display().to_string(),
            folder.path().join("gone").display().to_string(),
        );
        assert!(!is_gone(&folders(), &there) && is_gone(&folders(), &gone));
        let path = folder.path().join("store/memory.db");
        let mut writer = Writer::open(&path).unwrap();
        let reader = Reader::open(&path).unwrap();
        let fact = NewFact::new(&folders(), "x", Some(&gone)).expect("is one");
        assert_eq!(
            fact.told(),
            json!({"redacted": false, "project": "gone", "everywhere": false})
        );
        let why = refuse_nowhere(&reader, &fact).expect_err("is refused").to_string();
        assert!(why.contains(&gone), "{why}");
        writer.remember("x", fact.cwd(), &fact.project, UnixMillis(1)).unwrap();
        assert!(refuse_nowhere(&reader, &fact).is_ok());
    }

    #[test]
    fn secrets_are_taken_out_and_that_is_said() {
        let plain = NewFact::new(&folders(), " two\r\nlines ", None).expect("is one");
        assert_eq!((plain.text.as_str(), plain.redacted), ("two\nlines", false));
        let secret = format!("the token is ghp_{}", "a1B2".repeat(9));
        let fact = NewFact::new(&folders(), &secret, None).expect("is one");
        assert!(fact.redacted && !fact.text.contains("a1B2"), "{}", fact.text);
    }

    #[test]
    fn a_placeholder_that_is_quoted_is_no_private_text() {
        assert!(NewFact::new(&folders(), "we write [redacted:private] there", None).is_ok());
    }
}
