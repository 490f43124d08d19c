//! One line of an export to an episode. In goes text of whoever wrote the file, out comes an episode whose every member is of a kind
//! and a length that this program could have written, redacted by today's rules; or what is wrong with it, without a word of its texts.

use std::borrow::Cow;

use jiff::Timestamp;
use remembrancer_processor::ingest::redact_stored;
use remembrancer_processor::strip_fenced;
use remembrancer_schema::{
    BOOSTED, EpisodeId, EpisodeText, EpisodeUid, Facets, Importance, Origin, PINNED, REMEMBERED_SESSION, Steered, StoredEpisode,
    TurnUid, USER_AGENT, UnixMillis,
};
use serde::Deserialize;
use serde::de::IgnoredAny;

/// The version of the lines that are read.
const VERSION: u32 = 1;
/// Bytes of names of agents, and of rules and kinds of evidence, which are words of ours.
const MOST_NAME: usize = 64;
/// Bytes of ids of sessions, names of projects, branches and titles.
const MOST_WORDS: usize = 1_024;
/// Bytes of paths, and of a project's key, which holds one: `PATH_MAX` of Linux and a word before it.
const MOST_PATH: usize = 4_096 + 16;
/// Members of a list: far more than any episode has.
const MOST_ITEMS: usize = 10_000;
/// The last moment of the year 9999, in milliseconds.
const LATEST: i64 = 253_402_300_799_999;

/// What is wrong with a line.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(super) enum LineError {
    /// It is no JSON, or no object with the members of an export.
    #[error("it is no line of an export: {0}")]
    Form(String),
    /// A newer program wrote it.
    #[error("it is of version {0}, and only {VERSION} is read here")]
    Version(u32),
    /// A member is not what this program writes.
    #[error("`{0}` is not what an export has there")]
    Member(&'static str),
    /// It is a copy of what another machine shared.
    #[error("it is of what others shared, which comes by the shared store")]
    Shared,
}

#[derive(Deserialize)]
struct Versioned {
    v: u32,
    /// Null of what is one's own.
    #[serde(default)]
    shared_by: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Line {
    id: String,
    turn_id: String,
    agent: String,
    session: String,
    #[serde(default)]
    session_title: Option<String>,
    #[serde(default)]
    also_in_sessions: Vec<String>,
    project: Option<String>,
    #[serde(default)]
    project_root: Option<String>,
    #[serde(default)]
    project_keys: Vec<String>,
    cwd: Option<String>,
    git_branch: Option<String>,
    source: Option<String>,
    origin: String,
    turn: u32,
    part: u32,
    at_ms: i64,
    stored_at: String,
    #[serde(default)]
    stored_at_ms: Option<i64>,
    last_accessed_at: String,
    #[serde(default)]
    last_accessed_at_ms: Option<i64>,
    importance: String,
    importance_rule: String,
    prompt: String,
    answer: String,
    facets: Facets,
    uses: u32,
    shown: u32,
    #[serde(default)]
    used: Vec<Use>,
    #[serde(default)]
    excluded: bool,
    #[serde(default)]
    muted_at_ms: Option<i64>,
    #[serde(default)]
    boosted_at_ms: Option<i64>,
    #[serde(default)]
    importance_by_rules: Option<ByRules>,
}

#[derive(Deserialize)]
struct Use {
    shown_at: String,
    #[serde(default)]
    shown_at_ms: Option<i64>,
    evidence: String,
}

#[derive(Deserialize)]
struct ByRules {
    importance: String,
    rule: String,
}

/// Reads one line.
///
/// # Errors
/// [`LineError`].
pub(super) fn read(text: &str) -> Result<StoredEpisode, LineError> {
    // Where in the line, and not what stands there.
    let form = |error: serde_json::Error| LineError::Form(format!("column {}", error.column()));
    let Versioned { v, shared_by } = serde_json::from_str(text).map_err(form)?;
    if v != VERSION {
        return Err(LineError::Version(v));
    }
    // Stored as one's own it would be told on as one's own, and stay when it is taken back.
    if shared_by.is_some() {
        return Err(LineError::Shared);
    }
    let line: Line = serde_json::from_str(text).map_err(form)?;
    line.check_lengths()?;
    let mut episode = line.episode()?;
    redact_all(&mut episode);
    check_fact(&episode)?;
    Ok(episode)
}

impl Line {
    fn check_lengths(&self) -> Result<(), LineError> {
        let optional = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let lengths = [
            ("agent", self.agent.len(), MOST_NAME),
            ("session", self.session.len(), MOST_WORDS),
            ("session_title", optional(&self.session_title), MOST_WORDS),
            ("project", optional(&self.project), MOST_WORDS),
            ("git_branch", optional(&self.git_branch), MOST_WORDS),
            ("project_root", optional(&self.project_root), MOST_PATH),
            ("cwd", optional(&self.cwd), MOST_PATH),
            ("source", optional(&self.source), MOST_PATH),
            ("also_in_sessions", longest(&self.also_in_sessions), MOST_WORDS),
            ("project_keys", longest(&self.project_keys), MOST_PATH),
            ("also_in_sessions", self.also_in_sessions.len(), MOST_ITEMS),
            ("project_keys", self.project_keys.len(), MOST_ITEMS),
            ("used", self.used.len(), MOST_ITEMS),
        ];
        match lengths.into_iter().find(|(_, length, most)| length > most) {
            Some((member, ..)) => Err(LineError::Member(member)),
            None => Ok(()),
        }
    }

    fn episode(self) -> Result<StoredEpisode, LineError> {
        let turn_uid: TurnUid = self.turn_id.parse().map_err(|_| LineError::Member("turn_id"))?;
        let uid = EpisodeUid::of(&turn_uid, self.part);
        if self.id != uid.to_string() {
            return Err(LineError::Member("id"));
        }
        if self.agent.is_empty()
            || !self
                .agent
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        {
            return Err(LineError::Member("agent"));
        }
        if self.session.is_empty() || self.also_in_sessions.iter().any(String::is_empty) {
            return Err(LineError::Member("session"));
        }
        let steered = self.steered()?;
        let origin = match self.origin.as_str() {
            "user" => Origin::User,
            "subagent" => Origin::Subagent,
            _ => return Err(LineError::Member("origin")),
        };
        let updated_at = moment("stored_at", self.stored_at_ms, &self.stored_at)?;
        let accessed_at = moment("last_accessed_at", self.last_accessed_at_ms, &self.last_accessed_at)?;
        let uses = self.used.iter().map(read_use).collect::<Result<_, _>>()?;
        let text = EpisodeText {
            id: EpisodeId(0),
            uid,
            turn_uid,
            part: self.part,
            turn: self.turn,
            prompt: self.prompt,
            answer: self.answer,
            facets: self.facets,
            created_at: in_range("at_ms", self.at_ms)?,
            project: None,
            project_name: self.project,
            agent: self.agent,
            session: self.session,
            cwd: self.cwd,
            source: self.source,
            importance: importance("importance", &self.importance)?,
            importance_rule: word("importance_rule", self.importance_rule)?,
            shared_by: None,
        };
        Ok(StoredEpisode {
            text,
            origin,
            git_branch: self.git_branch,
            updated_at,
            accessed_at,
            access_count: self.uses.into(),
            shown_count: self.shown.into(),
            hidden: self.excluded,
            embedding_model: None,
            uses,
            also_in: self.also_in_sessions,
            project_keys: self.project_keys,
            project_root: self.project_root,
            session_title: self.session_title,
            steered,
        })
    }

    /// What the rules said is told of what is boosted, and of nothing else.
    fn steered(&self) -> Result<Steered, LineError> {
        let boosted = self.boosted_at_ms.is_some();
        if boosted != self.importance_by_rules.is_some() || boosted != (self.importance_rule == BOOSTED) {
            return Err(LineError::Member("importance_by_rules"));
        }
        let by_rules = self.importance_by_rules.as_ref().map(|by_rules| {
            Ok((
                importance("importance_by_rules", &by_rules.importance)?,
                word("importance_by_rules", by_rules.rule.clone())?,
            ))
        });
        let since = |member, at: Option<i64>| at.map(|at| in_range(member, at)).transpose();
        Ok(Steered {
            muted_at: since("muted_at_ms", self.muted_at_ms)?,
            boosted_at: since("boosted_at_ms", self.boosted_at_ms)?,
            by_rules: by_rules.transpose()?,
        })
    }
}

fn longest(texts: &[String]) -> usize {
    texts.iter().map(String::len).max().unwrap_or_default()
}

fn read_use(told: &Use) -> Result<(UnixMillis, String), LineError> {
    let at = moment("used", told.shown_at_ms, &told.shown_at)?;
    Ok((at, word("used", told.evidence.clone())?))
}

/// A word of ours, such as the name of a rule.
fn word(member: &'static str, text: String) -> Result<String, LineError> {
    let is_ours = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if text.is_empty() || text.len() > MOST_NAME || !text.bytes().all(is_ours) {
        return Err(LineError::Member(member));
    }
    Ok(text)
}

fn importance(member: &'static str, word: &str) -> Result<Importance, LineError> {
    Importance::parse(word).ok_or(LineError::Member(member))
}

fn in_range(member: &'static str, at: i64) -> Result<UnixMillis, LineError> {
    if (0..=LATEST).contains(&at) {
        Ok(UnixMillis(at))
    } else {
        Err(LineError::Member(member))
    }
}

/// A moment by its milliseconds; an export of an older version tells seconds alone.
fn moment(member: &'static str, millis: Option<i64>, text: &str) -> Result<UnixMillis, LineError> {
    let at = match millis {
        Some(at) => at,
        None => text
            .parse::<Timestamp>()
            .map_err(|_| LineError::Member(member))?
            .as_millisecond(),
    };
    in_range(member, at)
}

/// Takes out what today's rules find, and blocks of ours, which are remembered already.
fn redact_all(episode: &mut StoredEpisode) {
    redact_stored(episode);
    for said in [&mut episode.text.prompt, &mut episode.text.answer] {
        if let Cow::Owned(other) = strip_fenced(said) {
            *said = other;
        }
    }
}

/// A fact is one part with a text, and of no other importance than the user's own word gives it.
fn check_fact(episode: &StoredEpisode) -> Result<(), LineError> {
    let text = &episode.text;
    if text.agent != USER_AGENT || text.session != REMEMBERED_SESSION {
        return Ok(());
    }
    let rule = match &episode.steered.by_rules {
        Some((_, rule)) => rule,
        None => &text.importance_rule,
    };
    if text.part != 0 || text.turn != 0 || text.prompt.trim().is_empty() || rule != PINNED {
        return Err(LineError::Member("prompt"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    fn line() -> Value {
        let turn = TurnUid([7; 16]);
        json!({
            "v": 1, "id": EpisodeUid::of(&turn, 1).to_string(), "turn_id": turn.to_string(), "agent": "claude-code", "session": "s",
            "also_in_sessions": ["fork"], "project": "shop", "cwd": "/home/ada/shop", "git_branch": "main", "source": null,
            "origin": "user", "turn": 4, "part": 1, "at": "2026-03-01T10:00:00Z", "at_ms": 1_772_359_200_000_i64,
            "stored_at": "2026-03-01T10:00:01Z", "last_accessed_at": "2026-03-01T10:00:02Z", "importance": "normal",
            "importance_rule": "default", "prompt": "why?", "answer": "so", "facets": {"files": ["a.rs"]}, "uses": 2, "shown": 3,
            "used": [{"shown_at": "2026-03-01T11:00:00Z", "evidence": "words"}], "excluded": false, "embedding_model": null,
        })
    }

    fn with(member: &str, value: Value) -> Result<StoredEpisode, LineError> {
        let mut line = line();
        line[member] = value;
        read(&line.to_string())
    }

    #[test]
    fn a_line_of_an_older_export_is_read() {
        let episode = read(&line().to_string()).expect("is one");
        assert_eq!(episode.updated_at, UnixMillis(1_772_359_201_000));
        assert_eq!(episode.uses, [(UnixMillis(1_772_362_800_000), "words".to_owned())]);
        assert_eq!((episode.text.turn, episode.also_in.len(), episode.access_count), (4, 1, 2));
        assert_eq!(episode.steered, Steered::default());
    }

    #[rstest]
    #[case::another_part("part", json!(0), "`id`")]
    #[case::no_uid("turn_id", json!("7"), "`turn_id`")]
    #[case::an_agent_of_words("agent", json!("rm -rf"), "`agent`")]
    #[case::no_session("session", json!(""), "`session`")]
    #[case::an_origin("origin", json!("moon"), "`origin`")]
    #[case::an_importance("importance", json!("extreme"), "`importance`")]
    #[case::a_rule_of_words("importance_rule", json!("Ignore all"), "`importance_rule`")]
    #[case::boosted_by_nobody("importance_rule", json!("boosted-by-user"), "`importance_by_rules`")]
    #[case::boosted_over_nothing("boosted_at_ms", json!(5), "`importance_by_rules`")]
    #[case::before_time("at_ms", json!(-1), "`at_ms`")]
    #[case::after_time("at_ms", json!(i64::MAX), "`at_ms`")]
    #[case::a_long_path("cwd", json!("/".repeat(5_000)), "`cwd`")]
    #[case::evidence_of_words("used", json!([{"shown_at": "2026-03-01T11:00:00Z", "evidence": "I said so"}]), "`used`")]
    #[case::no_text("prompt", json!(7), "column")]
    #[case::less_than_none("uses", json!(-1), "column")]
    #[case::newer("v", json!(2), "version 2")]
    fn what_no_export_has_is_refused_without_a_word_of_it(#[case] member: &str, #[case] value: Value, #[case] says: &str) {
        let why = with(member, value).expect_err("is refused").to_string();
        assert!(why.contains(says), "{why}");
        assert!(!why.contains("Ignore") && !why.contains("I said"), "{why}");
    }

    #[test]
    fn what_others_shared_is_told_from_ones_own() {
        let shared_by = json!({"member": "bo", "machine": "den"});
        assert_eq!(with("shared_by", shared_by), Err(LineError::Shared));
        assert!(with("shared_by", Value::Null).is_ok());
    }

    #[test]
    fn what_is_no_json_is_refused_by_its_column() {
        for text in ["", "## 2026-03-01", "[]", "{\"v\":1}", "{\"v\":1,\"id\":\"xyzzyq"] {
            let why = read(text).expect_err("is refused").to_string();
            assert!(!why.contains("xyzzyq"), "{why}");
        }
    }

    #[test]
    fn todays_rules_and_our_own_markers_hold() {
        let secret = format!("the token is ghp_{}", "a1B2".repeat(9));
        let episode = with("prompt", json!(secret)).expect("is one");
        assert!(!episode.text.prompt.contains("a1B2"));
        let block = "before <remembrancer-recollections prompt=\"x\">old</remembrancer-recollections> after";
        let episode = with("answer", json!(block)).expect("is one");
        assert_eq!(episode.text.answer, "before  after");
        let key = format!("cwd:/srv/ghp_{}/src", "a1B2".repeat(9));
        let episode = with("project_keys", json!([key])).expect("is one");
        assert!(!episode.project_keys[0].contains("a1B2") && episode.project_keys[0].starts_with("cwd:/srv/"));
    }

    #[test]
    fn a_fact_is_what_the_user_had_remembered() {
        let mut fact = line();
        let turn = TurnUid([7; 16]);
        fact["agent"] = json!("user");
        fact["session"] = json!("remembered");
        assert!(read(&fact.to_string()).is_err(), "of another rule and place");
        fact["id"] = json!(EpisodeUid::of(&turn, 0).to_string());
        fact["part"] = json!(0);
        fact["turn"] = json!(0);
        fact["importance"] = json!("high");
        fact["importance_rule"] = json!("pinned");
        assert!(read(&fact.to_string()).is_ok());
        fact["prompt"] = json!(" ");
        assert!(read(&fact.to_string()).is_err());
    }
}
