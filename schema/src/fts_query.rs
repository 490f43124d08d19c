//! Terms to a MATCH expression that can neither fail nor mean more than its terms.
//! In go terms of [`crate::query_terms`] (or any strings at all), out comes an FTS5 expression. Nothing is asked here.

use crate::analysis::without_controls;
use crate::ids::ProjectId;
use crate::query::Scope;

/// More terms than this are left out: each costs a walk through its postings.
const MOST_TERMS: usize = 256;

/// A well-formed FTS5 expression: every term quoted, so that no term is an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchExpression(String);

impl MatchExpression {
    /// Episodes in scope that hold any of the terms. None if no term is left to ask for.
    pub fn any_of(terms: &[String], scope: Scope) -> Option<Self> {
        Self::joined(terms, " OR ", scope)
    }

    /// Episodes that hold all of the terms, else as [`MatchExpression::any_of`].
    pub fn all_of(terms: &[String], scope: Scope) -> Option<Self> {
        Self::joined(terms, " AND ", scope)
    }

    /// Episodes that touched any of these: the terms are looked for among files, commands and errors alone.
    pub fn any_of_facets(terms: &[String], scope: Scope) -> Option<Self> {
        Self::joined_in("facets : ", terms, " OR ", scope)
    }

    /// The expression as FTS5 reads it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn joined(terms: &[String], operator: &str, scope: Scope) -> Option<Self> {
        Self::joined_in("", terms, operator, scope)
    }

    fn joined_in(column: &str, terms: &[String], operator: &str, scope: Scope) -> Option<Self> {
        let quoted: Vec<String> = terms.iter().filter_map(|term| quote(term)).take(MOST_TERMS).collect();
        if quoted.is_empty() {
            return None;
        }
        let any = quoted.join(operator);
        Some(Self(match (scope, column) {
            (Scope::Project(project), _) => format!("\"{}\" AND {column}({any})", project_token(project)),
            (Scope::All, "") => any,
            (Scope::All, _) => format!("{column}({any})"),
        }))
    }
}

/// The token of the `project` column: its `=` is in no term of the analysis, so it matches nothing else.
pub(crate) fn project_token(project: Option<ProjectId>) -> String {
    format!("p={}", project.map_or(0, |id| id.0))
}

/// A quoted string of FTS5, if it holds a token at all: an empty phrase would make all of AND match nothing.
fn quote(term: &str) -> Option<String> {
    let term = without_controls(term);
    let is_token = |c: char| !c.is_ascii() || c.is_ascii_alphanumeric() || "_-./:+#=".contains(c);
    term.contains(is_token).then(|| format!("\"{}\"", term.replace('"', "\"\"")))
}

#[cfg(test)]
mod tests;
