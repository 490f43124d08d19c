//! The sessions as transcripts in a home, and the questions through the real hook.
//!
//! A transcript's name and its session's id are a bare number, so that nothing of the judgements can be read off them. What a
//! recollection shows is known by the id in its heading, as the user sees it: the store tells the session and the time of
//! that episode, and these name the turn.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use remembrancer_processor::recall::Silence;
use remembrancer_schema::{EpisodeText, UnixMillis};
use serde_json::Value;

use super::history::{History, Question};
use super::score::{Shown, Verdict};
use crate::injected::Control;
use crate::{DaemonProcess, Sandbox, Transcript};

/// A prompt that got no fair answer, since the machine was busy, is asked again, at most so often in all.
const ATTEMPTS: usize = 6;

/// How long after a hook's end the daemon's log of it may take.
const LOG_PATIENCE: Duration = Duration::from_secs(5);

/// From a prompt to its answer: less than there is between any two prompts.
const ANSWERS_AFTER_MS: i64 = 1_000;

/// Writes every session of `history` as a transcript into `sandbox`. Returns the folder of each project.
///
/// # Panics
/// Where they can't be written.
pub fn write(sandbox: &Sandbox, history: &History) -> BTreeMap<String, String> {
    let folder = |project: &str| (project.to_owned(), sandbox.project(&project.replace('/', "-")));
    let folders: BTreeMap<String, String> = history.projects().into_iter().map(folder).collect();
    for (number, session) in history.sessions.iter().enumerate() {
        let mut transcript = Transcript::new(&sandbox.root(), &session_id(number), &folders[&session.project]);
        let mut lines = String::new();
        for turn in &session.turns {
            if !turn.prompt.is_empty() {
                lines += &transcript.at(turn.begun).prompt_line(&turn.prompt);
            }
            if !turn.answer.is_empty() {
                lines += &transcript
                    .at(UnixMillis(turn.begun.0 + ANSWERS_AFTER_MS))
                    .answer_line(&turn.answer);
            }
        }
        transcript.raw(&lines);
    }
    folders
}

const SESSION: &str = "session-";

fn session_id(number: usize) -> String {
    format!("{SESSION}{number:05}")
}

/// A turn of the history: its session's number, and its own in it.
type Place = (usize, usize);

/// Asks about a history that is in the store.
pub struct Play<'a> {
    sandbox: &'a Sandbox,
    daemon: &'a DaemonProcess<'a>,
    history: &'a History,
    folders: &'a BTreeMap<String, String>,
    places: HashMap<String, Place>,
    clock: Option<&'a Control>,
    fired: usize,
}

impl<'a> Play<'a> {
    /// Ready to ask: all of `history` is embedded, and lies in `folders`. By `clock` the daemon's wall clock is put to the time at
    /// which the set says that a question was asked; without one, every question is asked now.
    pub fn new(
        sandbox: &'a Sandbox,
        daemon: &'a DaemonProcess<'a>,
        history: &'a History,
        folders: &'a BTreeMap<String, String>,
        clock: Option<&'a Control>,
    ) -> Self {
        let places = sandbox
            .episodes()
            .iter()
            .filter_map(|episode| Some((episode.uid.short(), place(history, episode)?)))
            .collect();
        Self {
            sandbox,
            daemon,
            history,
            folders,
            places,
            clock,
            fired: 0,
        }
    }

    /// Asks `question` in the folder of `project`, in a session of its own, and judges what is shown.
    ///
    /// # Panics
    /// Where the hook breaks its promises, or shows what is not of the history.
    pub fn ask(&mut self, question: &Question, project: &str) -> Verdict {
        let mut verdict = Verdict::of(question);
        if let Some(clock) = self.clock {
            clock.set_clock(question.asked.map_or(0, |asked| (asked.0 - now().0) / 1_000));
        }
        for _ in 0..ATTEMPTS {
            self.fired += 1;
            let session = format!("asks-{}", self.fired);
            let output = self.sandbox.hook(&session, &self.folders[project], &question.text);
            let context = output.context();
            verdict.shown = ids(&context).map(|id| self.judge(id, question)).collect();
            verdict.characters = context.chars().count();
            verdict.hooks.push(output.took);
            verdict.lacking = lacking(self.daemon.why_within(LOG_PATIENCE, &session).as_ref());
            if verdict.lacking.is_empty() {
                break;
            }
        }
        verdict
    }

    fn judge(&self, id: &str, question: &Question) -> Shown {
        let (session, turn) = self.places[id];
        let session = &self.history.sessions[session];
        let documents = &session.turns[turn].documents;
        Shown {
            session: session.id.clone(),
            is_evidence: question.sessions.contains(&session.id),
            is_evidence_turn: documents.iter().any(|document| question.documents.contains(document)),
        }
    }
}

/// Now, in Unix milliseconds UTC.
#[expect(clippy::disallowed_methods, reason = "what the daemon's clock is put ahead of, or back")]
fn now() -> UnixMillis {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    UnixMillis(since.unwrap_or_default().as_millis() as i64)
}

/// Where an episode comes from. The first 8 digits of its id are enough to name it among some ten thousand.
fn place(history: &History, episode: &EpisodeText) -> Option<Place> {
    let number: usize = episode.session.strip_prefix(SESSION)?.parse().ok()?;
    let turns = &history.sessions.get(number)?.turns;
    let begun = turns.partition_point(|turn| turn.begun <= episode.created_at);
    Some((number, begun.checked_sub(1)?))
}

/// The ids of what a block shows, best first: those of the headings `[1] 2026-08-01 · shop · id 1a2b3c4d`.
fn ids(context: &str) -> impl Iterator<Item = &str> {
    let mut next = 1;
    context.lines().filter_map(move |line| {
        let heading = line.strip_prefix(&format!("[{next}] "))?;
        let (_, id) = heading.rsplit_once(" · id ")?;
        next += 1;
        Some(id)
    })
}

/// What a prompt's answer had to do without, by the daemon's own log; nothing where it is what an idle machine answers.
fn lacking(log: Option<&Value>) -> Vec<String> {
    let Some(log) = log else {
        return vec!["no-answer".to_owned()];
    };
    let degraded = log["degradations"].as_array().into_iter().flatten();
    let busy = [Silence::OutOfTime.as_str(), Silence::StoreFailed.as_str(), "busy"];
    let reason = log["reason"].as_str().filter(|reason| busy.contains(reason));
    degraded.filter_map(Value::as_str).chain(reason).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn ids_are_those_of_the_headings() {
        let context = "<opening>\nPreface\n\n[1] 2026-08-01 · all · id 1a2b3c4d\nAsked: [2] a · id ffffffff\n\
                       [1] not a heading · id eeeeeeee\n\n[2] 2026-08-02 · a · id b · id 5e6f7a8b\nAnswer: x\n<closing>\n";
        assert_eq!(ids(context).collect::<Vec<_>>(), ["1a2b3c4d", "5e6f7a8b"]);
        assert_eq!(ids("").count(), 0);
    }

    #[test]
    fn only_what_a_busy_machine_lacks_is_lacking() {
        let check = |log: Value, expected: &[&str]| assert_eq!(lacking(Some(&log)), expected);
        check(json!({"reason": null, "degradations": []}), &[]);
        check(json!({"reason": "nothing-relevant", "degradations": []}), &[]);
        check(json!({"reason": "out-of-time", "degradations": []}), &["out-of-time"]);
        check(
            json!({"reason": "busy", "degradations": ["embedding-late"]}),
            &["embedding-late", "busy"],
        );
        assert_eq!(lacking(None), ["no-answer"]);
    }
}
