//! A judged set from its folder: documents, queries and who answers whom, in the layout of BEIR.
//!
//! In go `corpus.jsonl`, `queries.jsonl` and `qrels.tsv` (or BEIR's `qrels/test.tsv`), each plain or as `.gz`, and
//! `qrels.session.tsv` where whole sessions are judged, too. Out comes a set in which every judgement points at a document
//! that is there, or an error that names file, line and remedy.

mod error;
mod lines;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use remembrancer_schema::UnixMillis;
use serde::Deserialize;
use serde::de::DeserializeOwned;

pub use error::{DatasetError, LineFault};
use lines::Lines;

/// Where BEIR itself keeps the judgements; its queries are those of all splits.
const SPLIT_JUDGEMENTS: &str = "qrels/test.tsv";

/// What can be found: one message, one turn, one function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Its name in the set, which is unique.
    pub id: String,
    /// Its text; a title, where there is one, comes first.
    pub text: String,
    /// The session that it is a part of.
    pub session: Option<String>,
    /// When it was written.
    pub timestamp: Option<UnixMillis>,
    /// The project (a conversation, a repository) that it belongs to.
    pub project: Option<String>,
}

/// A question, and which documents answer it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgedQuery {
    /// Its name in the set, which is unique.
    pub id: String,
    /// What is asked; never blank.
    pub text: String,
    /// The kind of question, by the set's makers.
    pub category: Option<String>,
    /// When it is asked.
    pub timestamp: Option<UnixMillis>,
    /// The project that it is asked in.
    pub project: Option<String>,
    /// The documents that answer, by their index in [`Dataset::documents`], with their grade above 0. Empty where the set
    /// holds no answer.
    pub relevant: BTreeMap<usize, u32>,
    /// The sessions that answer.
    pub relevant_sessions: BTreeSet<String>,
}

/// A judged set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dataset {
    /// The folder's name.
    pub name: String,
    /// Everything that can be found, in the file's order.
    pub documents: Vec<Document>,
    /// Everything that is asked, in the file's order.
    pub queries: Vec<JudgedQuery>,
}

impl Dataset {
    /// Reads the set in `folder`.
    ///
    /// Of queries judged in `qrels/test.tsv` only those are kept that it names: the others belong to other splits.
    ///
    /// # Errors
    ///
    /// [`DatasetError`] where a file is missing, a line is not what it should be, or nothing is judged.
    pub fn load(folder: &Path) -> Result<Self, DatasetError> {
        let documents = read_documents(&find(folder, &["corpus.jsonl"])?)?;
        let mut queries = read_queries(&find(folder, &["queries.jsonl"])?)?;
        let judgements = find(folder, &["qrels.tsv", SPLIT_JUDGEMENTS])?;
        let judged = judge_documents(&judgements, &documents, &mut queries)?;
        if let Ok(path) = find(folder, &["qrels.session.tsv"]) {
            judge_sessions(&path, &documents, &mut queries)?;
        }
        if judgements.starts_with(folder.join("qrels")) {
            queries.retain(|query| judged.contains(&query.id));
        }
        if queries.iter().all(|query| query.relevant.is_empty()) {
            return Err(DatasetError::NoJudgements { path: judgements });
        }
        Ok(Self {
            name: name_of(folder),
            documents,
            queries,
        })
    }
}

fn name_of(folder: &Path) -> String {
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    absolute
        .file_name()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// The first of `names` that is there, plain or compressed.
fn find(folder: &Path, names: &'static [&'static str]) -> Result<PathBuf, DatasetError> {
    let candidates = names
        .iter()
        .flat_map(|name| [folder.join(name), folder.join(format!("{name}.gz"))]);
    candidates
        .into_iter()
        .find(|path| path.is_file())
        .ok_or_else(|| DatasetError::Missing {
            folder: folder.to_owned(),
            names,
        })
}

/// A line of the corpus. BEIR's own has a title and neither session, time nor project.
#[derive(Deserialize)]
struct DocumentLine {
    #[serde(rename = "_id")]
    id: String,
    title: Option<String>,
    text: String,
    session: Option<String>,
    timestamp: Option<String>,
    project: Option<String>,
}

/// A line of the queries.
#[derive(Deserialize)]
struct QueryLine {
    #[serde(rename = "_id")]
    id: String,
    text: String,
    category: Option<String>,
    timestamp: Option<String>,
    project: Option<String>,
}

fn read_documents(path: &Path) -> Result<Vec<Document>, DatasetError> {
    let mut seen = HashSet::new();
    read_objects(path, |line: DocumentLine| {
        if !seen.insert(line.id.clone()) {
            return Err(LineFault::DuplicateId { id: line.id });
        }
        let title = line.title.filter(|title| !title.trim().is_empty());
        Ok(Document {
            text: title.map_or_else(|| line.text.clone(), |title| format!("{title}\n{}", line.text)),
            id: line.id,
            session: line.session,
            timestamp: line.timestamp.as_deref().map(parse_time).transpose()?,
            project: line.project,
        })
    })
}

fn read_queries(path: &Path) -> Result<Vec<JudgedQuery>, DatasetError> {
    let mut seen = HashSet::new();
    read_objects(path, |line: QueryLine| {
        if !seen.insert(line.id.clone()) {
            return Err(LineFault::DuplicateId { id: line.id });
        }
        if line.text.trim().is_empty() {
            return Err(LineFault::EmptyQuery { id: line.id });
        }
        Ok(JudgedQuery {
            id: line.id,
            text: line.text,
            category: line.category,
            timestamp: line.timestamp.as_deref().map(parse_time).transpose()?,
            project: line.project,
            relevant: BTreeMap::new(),
            relevant_sessions: BTreeSet::new(),
        })
    })
}

/// Every line that is not blank as a JSON object, made into a `T`.
fn read_objects<L: DeserializeOwned, T>(
    path: &Path,
    mut make: impl FnMut(L) -> Result<T, LineFault>,
) -> Result<Vec<T>, DatasetError> {
    let mut lines = Lines::open(path)?;
    let mut objects = Vec::new();
    while let Some(line) = lines.next()? {
        let object = serde_json::from_str(line).map_err(|error| LineFault::json(&error));
        objects.push(object.and_then(&mut make).map_err(|fault| lines.fault(fault))?);
    }
    Ok(objects)
}

/// `2023-05-08T13:58:30`, which is UTC.
fn parse_time(text: &str) -> Result<UnixMillis, LineFault> {
    let civil = text.parse::<DateTime>();
    civil
        .and_then(|civil| civil.to_zoned(TimeZone::UTC))
        .map(|zoned| UnixMillis(zoned.timestamp().as_millisecond()))
        .map_err(|_| LineFault::Time { text: text.to_owned() })
}

/// Reads judgements of documents. Returns the names of all queries that the file has a line for.
fn judge_documents(path: &Path, documents: &[Document], queries: &mut [JudgedQuery]) -> Result<HashSet<String>, DatasetError> {
    let indices: HashMap<&str, usize> = documents.iter().map(|document| document.id.as_str()).zip(0..).collect();
    let mut judged = HashSet::new();
    judge(path, queries, |query, id, grade| {
        let index = *indices
            .get(id)
            .ok_or_else(|| LineFault::UnknownDocument { id: id.to_owned() })?;
        judged.insert(query.id.clone());
        if grade > 0 {
            query.relevant.insert(index, grade);
        }
        Ok(())
    })?;
    Ok(judged)
}

/// Reads judgements of whole sessions.
fn judge_sessions(path: &Path, documents: &[Document], queries: &mut [JudgedQuery]) -> Result<(), DatasetError> {
    let sessions: HashSet<&str> = documents.iter().filter_map(|document| document.session.as_deref()).collect();
    judge(path, queries, |query, id, grade| {
        if !sessions.contains(id) {
            return Err(LineFault::UnknownSession { id: id.to_owned() });
        }
        if grade > 0 {
            query.relevant_sessions.insert(id.to_owned());
        }
        Ok(())
    })
}

/// Calls `note` with each judgement: the query, the name of what is judged, the grade (0: it does not answer).
fn judge(
    path: &Path,
    queries: &mut [JudgedQuery],
    mut note: impl FnMut(&mut JudgedQuery, &str, u32) -> Result<(), LineFault>,
) -> Result<(), DatasetError> {
    let indices: HashMap<String, usize> = queries.iter().map(|query| query.id.clone()).zip(0..).collect();
    let mut lines = Lines::open(path)?;
    let mut header = true;
    let mut seen = HashSet::new();
    while let Some(line) = lines.next()? {
        let judgement = parse_judgement(line);
        if std::mem::take(&mut header) {
            if judgement.is_ok() {
                return Err(lines.fault(LineFault::NoHeader));
            }
            continue;
        }
        let noted = judgement.and_then(|(query, id, grade)| {
            let index = indices
                .get(query)
                .ok_or_else(|| LineFault::UnknownQuery { id: query.to_owned() })?;
            if !seen.insert((*index, id.to_owned())) {
                let (query, id) = (query.to_owned(), id.to_owned());
                return Err(LineFault::JudgedTwice { query, id });
            }
            note(&mut queries[*index], id, grade)
        });
        noted.map_err(|fault| lines.fault(fault))?;
    }
    Ok(())
}

/// `query TAB name TAB grade`. Grades below 0, which some sets have, say the same as 0.
fn parse_judgement(line: &str) -> Result<(&str, &str, u32), LineFault> {
    let columns: Vec<&str> = line.split('\t').map(str::trim).collect();
    let &[query, id, grade] = columns.as_slice() else {
        return Err(LineFault::Columns { found: columns.len() });
    };
    let number: i32 = grade.parse().map_err(|_| LineFault::Grade { text: grade.to_owned() })?;
    Ok((query, id, number.max(0).unsigned_abs()))
}

#[cfg(test)]
mod tests;
