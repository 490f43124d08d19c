//! A judged set as the sessions that an agent would have recorded, and the questions that are asked afterwards.
//!
//! Two shapes of documents come in: a round `User: …`, `Assistant: …` (LongMemEval), and one message `Name: …` of two people
//! (LoCoMo), where whoever speaks first in a session is its user and names stay in the text. Out go turns: a prompt and all
//! that was answered to it. Consecutive messages of one speaker are one message.

use std::collections::{BTreeSet, HashMap};

use anyhow::{Context, ensure};
use remembrancer_processor::eval::dataset::{Dataset, Document, JudgedQuery};
use remembrancer_processor::eval::report::UNANSWERABLE;
use remembrancer_schema::UnixMillis;

/// What was said before, and what is asked of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct History {
    /// The set's name.
    pub name: String,
    /// The sessions, in the set's order.
    pub sessions: Vec<Session>,
    /// The questions, in the set's order.
    pub questions: Vec<Question>,
}

/// A conversation in one sitting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its name in the set.
    pub id: String,
    /// The project in whose folder it took place.
    pub project: String,
    /// Its turns, each begun later than the one before.
    pub turns: Vec<Turn>,
}

/// A prompt and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// When the prompt was written.
    pub begun: UnixMillis,
    /// What the user wrote; empty where a session begins with an answer.
    pub prompt: String,
    /// What was answered; empty where nothing was.
    pub answer: String,
    /// The documents that it is made of, by their index in the set.
    pub documents: Vec<usize>,
}

/// A question with its evidence.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Question {
    /// Its name in the set.
    pub id: String,
    /// What is asked.
    pub text: String,
    /// When, by the set; `None` is now.
    pub asked: Option<UnixMillis>,
    /// The kind of question, by the set's makers.
    pub category: String,
    /// The project that it belongs to.
    pub project: String,
    /// The sessions that answer; of a question without an answer, those that it seems to be about.
    pub sessions: BTreeSet<String>,
    /// The documents that answer, by their index in the set.
    pub documents: BTreeSet<usize>,
}

impl Question {
    /// Whether the set holds an answer.
    pub fn is_answerable(&self) -> bool {
        self.category != UNANSWERABLE && !self.sessions.is_empty()
    }
}

impl History {
    /// The conversations of `dataset`.
    ///
    /// # Errors
    /// Where a document is no part of a session, has no time, or is not later than the one before it in its session.
    pub fn of(dataset: &Dataset) -> anyhow::Result<Self> {
        Ok(Self {
            name: dataset.name.clone(),
            sessions: sessions(dataset)?,
            questions: dataset.queries.iter().map(|query| question(query, dataset)).collect(),
        })
    }

    /// The names of the projects, in the order of their first sessions.
    pub fn projects(&self) -> Vec<&str> {
        let mut projects: Vec<&str> = Vec::new();
        for session in &self.sessions {
            if !projects.contains(&session.project.as_str()) {
                projects.push(&session.project);
            }
        }
        projects
    }

    /// How many turns all sessions have.
    pub fn turns(&self) -> usize {
        self.sessions.iter().map(|session| session.turns.len()).sum()
    }
}

/// The project of what names none.
const NO_PROJECT: &str = "all";

fn question(query: &JudgedQuery, dataset: &Dataset) -> Question {
    let documents: BTreeSet<usize> = query.relevant.keys().copied().collect();
    let mut sessions = query.relevant_sessions.clone();
    sessions.extend(documents.iter().filter_map(|index| dataset.documents[*index].session.clone()));
    Question {
        id: query.id.clone(),
        text: query.text.clone(),
        asked: query.timestamp,
        category: query.category.clone().unwrap_or_default(),
        project: query.project.clone().unwrap_or_else(|| NO_PROJECT.to_owned()),
        sessions,
        documents,
    }
}

fn sessions(dataset: &Dataset) -> anyhow::Result<Vec<Session>> {
    let mut sessions: Vec<Session> = Vec::new();
    let mut first_speakers: Vec<String> = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    for (index, document) in dataset.documents.iter().enumerate() {
        let (id, at) = place(document, &dataset.name)?;
        let number = *known.entry(id).or_insert_with(|| {
            sessions.push(Session {
                id: id.to_owned(),
                project: document.project.clone().unwrap_or_else(|| NO_PROJECT.to_owned()),
                turns: Vec::new(),
            });
            first_speakers.push(speaker(&document.text).to_owned());
            sessions.len() - 1
        });
        let turns = &mut sessions[number].turns;
        let later = turns.last().is_none_or(|turn| turn.begun < at);
        ensure!(
            later,
            "{}: document {} is not later than the one before it",
            dataset.name,
            document.id
        );
        for (is_user, text) in messages(&document.text, &first_speakers[number]) {
            say(turns, is_user, text, at);
            let said = &mut turns.last_mut().expect("invariant: something was said").documents;
            if said.last() != Some(&index) {
                said.push(index);
            }
        }
    }
    Ok(sessions)
}

fn place<'a>(document: &'a Document, set: &str) -> anyhow::Result<(&'a str, UnixMillis)> {
    let what = |missing: &str| {
        format!(
            "{set}: document {} has no {missing}; a set of conversations has both session and timestamp",
            document.id
        )
    };
    let session = document.session.as_deref().with_context(|| what("session"))?;
    let at = document.timestamp.with_context(|| what("timestamp"))?;
    Ok((session, at))
}

const USER: &str = "User: ";
const ASSISTANT: &str = "Assistant: ";

/// Who says it: what stands before the first colon.
fn speaker(text: &str) -> &str {
    text.split_once(": ").map_or("", |(name, _)| name)
}

/// The messages of a document: whether the user says it, and what is said.
fn messages<'a>(text: &'a str, first_speaker: &str) -> Vec<(bool, &'a str)> {
    if let Some(answer) = text.strip_prefix(ASSISTANT) {
        return vec![(false, answer)];
    }
    let Some(round) = text.strip_prefix(USER) else {
        return vec![(speaker(text) == first_speaker, text)];
    };
    match round.split_once("\nAssistant: ") {
        Some((prompt, answer)) => vec![(true, prompt), (false, answer)],
        None => vec![(true, round)],
    }
}

/// Adds a message to the turn that it belongs to.
fn say(turns: &mut Vec<Turn>, is_user: bool, text: &str, at: UnixMillis) {
    let opens = turns.last().is_none_or(|open| is_user && !open.answer.is_empty());
    if opens {
        turns.push(Turn {
            begun: at,
            prompt: String::new(),
            answer: String::new(),
            documents: Vec::new(),
        });
    }
    let open = turns.last_mut().expect("invariant: a turn is open");
    let said = if is_user { &mut open.prompt } else { &mut open.answer };
    if !said.is_empty() {
        said.push('\n');
    }
    said.push_str(text);
}

#[cfg(test)]
mod tests;
