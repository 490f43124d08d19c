//! An episode as a line of JSON, and as Markdown. In goes what is stored, out comes text that ends with a newline.

use remembrancer_processor::recall::shown;
use remembrancer_schema::StoredEpisode;
use serde_json::{Value, json};

use crate::control::rfc3339;
use crate::plural::counted;
use crate::printable::for_terminal;

/// The version of the lines; a member may be added without a new one.
const VERSION: u32 = 1;

/// One JSON object and a newline. What acts on a terminal or ends a line is escaped, so that a text is on one line, does nothing
/// where it is shown, and comes back as it is stored. `shared_by` tells who shared it, where that was another machine.
pub(in crate::cli) fn json_line(episode: &StoredEpisode, shared_by: Option<&Value>) -> String {
    let text = &episode.text;
    let uses: Vec<_> = episode
        .uses
        .iter()
        .map(|(at, evidence)| json!({"shown_at": rfc3339(*at), "shown_at_ms": at.0, "evidence": evidence}))
        .collect();
    let steered = &episode.steered;
    let by_rules = steered.by_rules.as_ref();
    let line = json!({
        "v": VERSION,
        "id": text.uid.to_string(),
        "turn_id": text.turn_uid.to_string(),
        "agent": text.agent,
        "session": text.session,
        "session_title": episode.session_title,
        "also_in_sessions": episode.also_in,
        "project": text.project_name,
        "project_root": episode.project_root,
        "project_keys": episode.project_keys,
        "cwd": text.cwd,
        "git_branch": episode.git_branch,
        "source": text.source,
        "origin": episode.origin.as_str(),
        "turn": text.turn,
        "part": text.part,
        "at": rfc3339(text.created_at),
        "at_ms": text.created_at.0,
        "stored_at": rfc3339(episode.updated_at),
        "stored_at_ms": episode.updated_at.0,
        "last_accessed_at": rfc3339(episode.accessed_at),
        "last_accessed_at_ms": episode.accessed_at.0,
        "importance": text.importance.as_str(),
        "importance_rule": text.importance_rule,
        "importance_by_rules": by_rules.map(|(by_rules, rule)| json!({"importance": by_rules.as_str(), "rule": rule})),
        "muted_at_ms": steered.muted_at.map(|at| at.0),
        "boosted_at_ms": steered.boosted_at.map(|at| at.0),
        "prompt": text.prompt,
        "answer": text.answer,
        "facets": text.facets,
        "uses": episode.access_count,
        "shown": episode.shown_count,
        "used": uses,
        "excluded": episode.hidden,
        "embedding_model": episode.embedding_model,
        "shared_by": shared_by,
    });
    format!("{}\n", for_terminal(&line.to_string()))
}

/// A section for people. The texts are quoted line by line, so that nothing in them is taken for a heading of ours, and hold no
/// character that a terminal or a page would obey.
pub(super) fn markdown(episode: &StoredEpisode) -> String {
    let text = &episode.text;
    let project = text.project_name.as_deref().unwrap_or("no project");
    let part = match text.part {
        0 => String::new(),
        part => format!(", part {}", part + 1),
    };
    let excluded = if episode.hidden { " · excluded" } else { "" };
    let muted = if episode.steered.muted_at.is_some() { " · muted" } else { "" };
    let mut lines = vec![
        format!(
            "## {} · {} · {}{part}{excluded}{muted}",
            rfc3339(text.created_at),
            one_line(project),
            text.uid.short()
        ),
        String::new(),
        format!(
            "{} session {}, {} importance ({}), used {}",
            one_line(&text.agent),
            one_line(&text.session),
            text.importance.as_str(),
            one_line(&text.importance_rule),
            counted(episode.access_count, "time", "times"),
        ),
    ];
    for (title, values) in [
        ("Files", &text.facets.files),
        ("Commands", &text.facets.commands),
        ("Errors", &text.facets.errors),
    ] {
        if !values.is_empty() {
            lines.extend([String::new(), format!("{title}:")]);
            lines.extend(values.iter().map(|value| format!("- {}", one_line(value))));
        }
    }
    for (title, said) in [("Asked", &text.prompt), ("Answer", &text.answer)] {
        let said = shown(said);
        if !said.is_empty() {
            lines.extend([String::new(), format!("{title}:"), String::new()]);
            lines.extend(said.lines().map(|line| format!("> {line}").trim_end().to_owned()));
        }
    }
    lines.join("\n") + "\n\n"
}

fn one_line(text: &str) -> String {
    shown(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use remembrancer_schema::{EpisodeId, EpisodeText, EpisodeUid, Facets, Origin, Steered, TurnUid, UnixMillis};

    use super::*;

    fn episode(prompt: &str, answer: &str) -> StoredEpisode {
        let turn_uid = TurnUid([7; 16]);
        StoredEpisode {
            text: EpisodeText {
                id: EpisodeId(1),
                uid: EpisodeUid::of(&turn_uid, 1),
                turn_uid,
                part: 1,
                turn: 4,
                prompt: prompt.to_owned(),
                answer: answer.to_owned(),
                facets: Facets {
                    files: vec!["src/\u{1b}[31mred.rs".to_owned()],
                    ..Facets::default()
                },
                created_at: UnixMillis(1_772_359_200_000),
                project: None,
                project_name: Some("shop".to_owned()),
                agent: "claude-code".to_owned(),
                session: "s1".to_owned(),
                cwd: None,
                source: None,
                importance: remembrancer_schema::Importance::High,
                importance_rule: "decision".to_owned(),
                shared_by: None,
            },
            origin: Origin::User,
            git_branch: None,
            updated_at: UnixMillis(0),
            accessed_at: UnixMillis(0),
            access_count: 2,
            shown_count: 3,
            hidden: false,
            embedding_model: None,
            uses: vec![(UnixMillis(1_000), "words".to_owned())],
            also_in: Vec::new(),
            project_keys: vec!["cwd:/home/ada/shop".to_owned()],
            project_root: None,
            session_title: None,
            steered: Steered {
                muted_at: Some(UnixMillis(5)),
                ..Steered::default()
            },
        }
    }

    #[test]
    fn a_line_is_one_line_and_comes_back_as_it_is_stored() {
        let (prompt, answer) = ("one\n\u{1b}[2Jtwo\u{202e}\r\u{9b}2J\u{85}", "\u{2028}\"quoted\"\\\u{0}");
        let line = json_line(&episode(prompt, answer), None);
        assert_eq!(line.matches('\n').count(), 1);
        let acts = |c: char| (c.is_control() && c != '\n') || matches!(c, '\u{2028}' | '\u{202e}');
        assert!(line.ends_with('\n') && !line.contains(acts), "{line:?}");
        let value: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(
            (value["prompt"].as_str(), value["answer"].as_str()),
            (Some(prompt), Some(answer))
        );
        assert_eq!(
            (&value["importance"], &value["uses"], &value["part"]),
            (&"high".into(), &2.into(), &1.into())
        );
        assert_eq!(value["used"][0]["shown_at"], "1970-01-01T00:00:01Z");
        assert_eq!(value["at"], "2026-03-01T10:00:00Z");
        assert_eq!((&value["muted_at_ms"], &value["boosted_at_ms"]), (&5.into(), &Value::Null));
    }

    #[test]
    fn markdown_holds_nothing_that_is_obeyed_and_no_heading_but_ours() {
        let text = markdown(&episode("# Heading\n\u{1b}[31mred\u{7}\u{202e}\n```", "fine\n\n## another"));
        assert!(
            !text.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}'),
            "{text:?}"
        );
        assert_eq!(text.lines().filter(|line| line.starts_with('#')).count(), 1);
        assert!(text.starts_with("## 2026-03-01T10:00:00Z · shop · "), "{text}");
        assert!(
            text.contains("- src/red.rs\n") && text.contains("\n> # Heading\n> red\n"),
            "{text}"
        );
    }
}
