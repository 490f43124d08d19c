//! Terms to a search that can neither fail nor mean more than its terms.
//! In go terms of [`crate::query_terms`] (or any strings at all), out comes what is asked for, and how FTS5 reads it. Nothing is
//! asked here.

use crate::analysis::without_controls;
use crate::ids::ProjectId;
use crate::query::Scope;

/// More terms than this are left out: each costs a walk through its postings.
const MOST_TERMS: usize = 256;

/// What a full-text search asks for: terms, whether all of them are needed, in which fields, and in which projects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchExpression {
    terms: Vec<String>,
    needs_all: bool,
    of_facets: bool,
    scope: Scope,
}

impl MatchExpression {
    /// Episodes in scope that hold any of the terms. None if no term is left to ask for.
    pub fn any_of(terms: &[String], scope: Scope) -> Option<Self> {
        Self::of(terms, false, false, scope)
    }

    /// Episodes that hold all of the terms, else as [`MatchExpression::any_of`].
    pub fn all_of(terms: &[String], scope: Scope) -> Option<Self> {
        Self::of(terms, true, false, scope)
    }

    /// Episodes that touched any of these: the terms are looked for among files, commands and errors alone.
    pub fn any_of_facets(terms: &[String], scope: Scope) -> Option<Self> {
        Self::of(terms, false, true, scope)
    }

    /// What is asked for: the terms given, but for those that hold nothing to ask for.
    pub fn terms(&self) -> &[String] {
        &self.terms
    }

    /// The expression as FTS5 reads it: every term quoted, so that no term is an operator.
    pub(crate) fn to_fts5(&self) -> String {
        let quoted: Vec<String> = self.terms.iter().map(|term| quote(term)).collect();
        let any = quoted.join(if self.needs_all { " AND " } else { " OR " });
        let column = if self.of_facets { "facets : " } else { "" };
        match (self.scope, column) {
            (Scope::Project(project), _) => format!("\"{}\" AND {column}({any})", project_token(project)),
            (Scope::All, "") => any,
            (Scope::All, _) => format!("{column}({any})"),
        }
    }

    pub(crate) fn needs_all(&self) -> bool {
        self.needs_all
    }

    pub(crate) fn is_of_facets(&self) -> bool {
        self.of_facets
    }

    pub(crate) fn scope(&self) -> Scope {
        self.scope
    }

    /// Whether every term is in the index as it stands here: what the analysis gives is; other text is taken apart by FTS5's
    /// tokenizer.
    pub(crate) fn is_of_single_tokens(&self) -> bool {
        let is_indexed = |c: char| is_token(c) && !c.is_ascii_uppercase();
        self.terms.iter().all(|term| term.chars().all(is_indexed))
    }

    fn of(terms: &[String], needs_all: bool, of_facets: bool, scope: Scope) -> Option<Self> {
        let terms: Vec<String> = terms
            .iter()
            .map(|term| without_controls(term).into_owned())
            // An empty phrase would make all of AND match nothing.
            .filter(|term| term.contains(is_token))
            .take(MOST_TERMS)
            .collect();
        (!terms.is_empty()).then_some(Self {
            terms,
            needs_all,
            of_facets,
            scope,
        })
    }
}

/// The token of the `project` column: its `=` is in no term of the analysis, so it matches nothing else.
pub(crate) fn project_token(project: Option<ProjectId>) -> String {
    format!("p={}", project.map_or(0, |id| id.0))
}

/// Whether a character belongs to a token, by the tokenizer of migration 0003.
fn is_token(c: char) -> bool {
    !c.is_ascii() || c.is_ascii_alphanumeric() || "_-./:+#=".contains(c)
}

/// A quoted string of FTS5.
fn quote(term: &str) -> String {
    format!("\"{}\"", term.replace('"', "\"\""))
}

#[cfg(any(test, feature = "testing"))]
mod full_text;
#[cfg(any(test, feature = "testing"))]
pub use full_text::FullText;

#[cfg(test)]
mod tests;
