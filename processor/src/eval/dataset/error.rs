//! Everything that can be wrong with a judged set, each naming the file, the line and the remedy.

use std::path::PathBuf;

/// Why a set can't be measured with.
#[derive(Debug, thiserror::Error)]
pub enum DatasetError {
    /// One of the files that make a set is not in its folder.
    #[error(
        "{}: no {} (plain or .gz); a set is a folder with corpus.jsonl, queries.jsonl and qrels.tsv",
        folder.display(), names.join(" or ")
    )]
    Missing {
        /// The folder.
        folder: PathBuf,
        /// What was looked for.
        names: &'static [&'static str],
    },

    /// A file can't be read or decompressed.
    #[error("can't read {}; check its permissions and that it is complete, or copy it again", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },

    /// A line is not what it should be.
    #[error("{}:{line}: {fault}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        fault: LineFault,
    },

    /// No query has an answer, so that nothing could be measured.
    #[error("{}: no document is judged relevant to any query; each judgement is a line `query TAB doc TAB grade`", path.display())]
    NoJudgements {
        /// The file of judgements.
        path: PathBuf,
    },
}

/// What is wrong with a line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LineFault {
    /// Its bytes are no UTF-8.
    #[error("the line is not UTF-8; convert the file to UTF-8")]
    NotUtf8,

    /// It is not a JSON object with the fields that are needed.
    #[error("{reason}; each line is a JSON object with at least `_id` and `text`, both strings")]
    Json {
        /// What the parser said.
        reason: String,
    },

    /// An earlier line has the same `_id`.
    #[error("the _id `{id}` stands in an earlier line, too; give each line its own")]
    DuplicateId {
        /// The name that is there twice.
        id: String,
    },

    /// A query asks nothing.
    #[error("the query `{id}` has no text; write its question, or remove it and its judgements")]
    EmptyQuery {
        /// The query's name.
        id: String,
    },

    /// A time that can't be read.
    #[error("the timestamp `{text}` is not like 2023-05-08T13:58:30; correct it, or write null")]
    Time {
        /// What is there.
        text: String,
    },

    /// The first line of judgements is a judgement.
    #[error("the first line names the columns and judges nothing; put `query TAB doc TAB grade` before it")]
    NoHeader,

    /// A judgement has too many columns or too few.
    #[error("{found} columns instead of three; write `query TAB doc TAB grade`")]
    Columns {
        /// How many there are.
        found: usize,
    },

    /// A grade that is no number.
    #[error("the grade `{text}` is not a whole number; write 0 for what does not answer, and 1 or more for what does")]
    Grade {
        /// What is there.
        text: String,
    },

    /// A query and a document are judged by an earlier line.
    #[error("`{query}` and `{id}` are judged in an earlier line, too; keep one of them")]
    JudgedTwice {
        /// The query's name.
        query: String,
        /// The name of what is judged.
        id: String,
    },

    /// A judgement of a document that isn't in the corpus.
    #[error("no document `{id}` in the corpus; add it there, or remove this line")]
    UnknownDocument {
        /// The document's name.
        id: String,
    },

    /// A judgement for a query that isn't among the queries.
    #[error("no query `{id}` among the queries; add it there, or remove this line")]
    UnknownQuery {
        /// The query's name.
        id: String,
    },

    /// A judgement of a session that no document is a part of.
    #[error("no document of the corpus is of session `{id}`; correct the name, or remove this line")]
    UnknownSession {
        /// The session's name.
        id: String,
    },
}

impl LineFault {
    /// What the parser said, without its own count of lines: it saw one line.
    pub(super) fn json(error: &serde_json::Error) -> Self {
        let said = error.to_string();
        Self::Json {
            reason: said.split(" at line ").next().unwrap_or_default().to_owned(),
        }
    }
}
