//! Runs the legs under the deadline. A leg that is late or fails is absent, and is named as a degradation; it never
//! fails the recall.

use std::collections::HashSet;
use std::time::Duration;

use remembrancer_schema::{Bm25, EpisodeId, MatchExpression, ProjectId, QueryError, Reader, Scope};

use super::coarse::{CodeIndex, Shards};
use super::profile::{Asking, Lexical};
use super::query::Query;
use super::{Degradation, ScopeRule};
use crate::embed::Embedding;

/// BM25 hits that enter the candidate pool (seed 004).
pub const BM25_LIMIT: usize = 50;
/// Most recently accessed episodes that enter the candidate pool (seed 004).
pub const RECENT_LIMIT: usize = 200;
/// Episodes that the coarse vector search brings in (beyond the seed): of the exact 50 nearest of 110,000, 99.7 % are among so
/// many (ADR 16).
pub const COARSE_LIMIT: usize = 500;
/// Episodes of other projects that the coarse search may bring in; all but the strongest are dropped again.
pub(super) const FOREIGN_LIMIT: usize = 20;

/// Where the legs look, and what they leave out.
#[derive(Debug)]
pub(super) struct Bounds<'a> {
    /// The prompt's project.
    pub project: Option<ProjectId>,
    /// Whether other projects take part.
    pub scope: ScopeRule,
    /// The project whose episodes are recalled in all projects, if there is one.
    pub everywhere: Option<ProjectId>,
    /// Muted episodes, and those in this session's context, or shown in it before: left out before any cut.
    pub left_out: &'a HashSet<EpisodeId>,
}

impl Bounds<'_> {
    pub(super) fn store_scope(&self) -> Scope {
        match self.scope {
            ScopeRule::All => Scope::All,
            ScopeRule::ProjectFirst | ScopeRule::Project => Scope::Project(self.project),
        }
    }

    /// That, and what holds everywhere.
    pub(super) fn store_scopes(&self) -> Vec<Scope> {
        let own = self.store_scope();
        let everywhere = self.everywhere.map(|project| Scope::Project(Some(project)));
        let further = everywhere.filter(|everywhere| own != Scope::All && own != *everywhere);
        std::iter::once(own).chain(further).collect()
    }

    /// Whether an episode of `project` counts as the prompt's own: it is of its project, or holds everywhere.
    pub(super) fn is_own(&self, project: Option<ProjectId>) -> bool {
        project == self.project || self.everywhere.is_some() && project == self.everywhere
    }

    /// Whether an episode of `project` is another project's, where the prompt's own goes first.
    pub(super) fn is_foreign(&self, project: Option<ProjectId>) -> bool {
        self.scope == ScopeRule::ProjectFirst && !self.is_own(project)
    }

    /// A limit that leaves enough after what is left out, since the SQL legs cut before we filter.
    pub(super) fn widened(&self, limit: usize) -> usize {
        limit + self.left_out.len()
    }

    /// The first `limit` of `found` without what is left out, and how much of that stood among them.
    pub(super) fn keep<T>(&self, found: Vec<T>, id: impl Fn(&T) -> EpisodeId, limit: usize) -> (Vec<T>, u32) {
        let mut passed_over = 0;
        let is_in = |item: &T| {
            let is_out = self.left_out.contains(&id(item));
            passed_over += u32::from(is_out);
            !is_out
        };
        let kept = found.into_iter().filter(is_in).take(limit).collect();
        (kept, passed_over)
    }
}

/// What the full-text leg found.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// Hits by BM25, best first.
    pub hits: Vec<(EpisodeId, Bm25)>,
    /// Those that hold all of the prompt's terms, where the profile asks for these.
    pub exact: HashSet<EpisodeId>,
    /// In how many episodes each of the prompt's terms occurs; `None` where the leg did not ask for all of them.
    pub document_frequencies: Option<Vec<u64>>,
    /// The places of the prompt's terms that were too common to be read.
    pub too_common: Vec<usize>,
    /// Hits that were passed over, since the session has them in its context or was shown them.
    pub passed_over: u32,
}

/// Full-text hits over all episodes in scope, best first.
///
/// # Errors
/// The degradation that names why the leg is absent.
pub(super) fn bm25(reader: &Reader, query: &Query, bounds: &Bounds<'_>, lexical: &Lexical) -> Result<Words, Degradation> {
    type Expressing = fn(&[String], Scope) -> Option<MatchExpression>;
    let scopes = bounds.store_scopes();
    let mut document_frequencies = None;
    let (mut too_common, mut passed_over) = (Vec::new(), 0);
    let mut search = |expressing: Expressing| -> Result<Vec<(EpisodeId, Bm25)>, Degradation> {
        let mut hits = Vec::new();
        for expression in scopes.iter().filter_map(|scope| expressing(&query.terms, *scope)) {
            let found = reader
                .bm25(&expression, lexical.fields, bounds.widened(BM25_LIMIT))
                .map_err(absent(Degradation::Bm25Absent))?;
            let asks_for_all = expression.terms() == query.terms;
            document_frequencies = asks_for_all.then_some(found.document_frequencies);
            too_common = if asks_for_all { found.too_common } else { Vec::new() };
            hits.extend(found.hits);
        }
        if scopes.len() > 1 {
            // Their scores are of one index: in one order, as a search of both would have them.
            hits.sort_by(|(one_id, one), (other_id, other)| one.0.total_cmp(&other.0).then(one_id.cmp(other_id)));
        }
        let (hits, passed) = bounds.keep(hits, |(id, _)| *id, BM25_LIMIT);
        passed_over = passed;
        Ok(hits)
    };
    let (hits, exact) = match lexical.asking {
        Asking::AnyTerm => (search(MatchExpression::any_of)?, HashSet::new()),
        Asking::AllTermsFirst { least } => {
            let all = search(MatchExpression::all_of)?;
            let exact: HashSet<EpisodeId> = all.iter().map(|(id, _)| *id).collect();
            if all.len() >= least {
                (all, exact)
            } else {
                // Broadened, not replaced: a long text with all terms may come after many short ones with some.
                let mut hits = search(MatchExpression::any_of)?;
                let found: HashSet<EpisodeId> = hits.iter().map(|(id, _)| *id).collect();
                hits.extend(all.into_iter().filter(|(id, _)| !found.contains(id)));
                (hits, exact)
            }
        }
    };
    Ok(Words {
        hits,
        exact,
        document_frequencies,
        too_common,
        passed_over,
    })
}

/// The most recently accessed episodes with an embedding, and how many were passed over, as in [`Words::passed_over`].
///
/// # Errors
/// The degradation that names why the leg is absent.
pub(super) fn recent(reader: &Reader, bounds: &Bounds<'_>) -> Result<(Vec<EpisodeId>, u32), Degradation> {
    let (mut recent, mut passed_over) = (Vec::new(), 0);
    for scope in bounds.store_scopes() {
        let found = reader
            .recently_accessed(scope, bounds.widened(RECENT_LIMIT))
            .map_err(absent(Degradation::RecentAbsent))?;
        let (kept, passed) = bounds.keep(found, |id| *id, RECENT_LIMIT);
        recent.extend(kept);
        passed_over += passed;
    }
    Ok((recent, passed_over))
}

/// Where the codes of a scope lie.
pub(super) fn shards_of(scope: Scope) -> Shards {
    match scope {
        Scope::All => Shards::All,
        Scope::Project(own) => Shards::Only(own),
    }
}

/// The episodes nearest to an embedding by their codes: those in scope, and the nearest of other projects where these may
/// take part on strong evidence.
pub(super) fn coarse(codes: &CodeIndex, embedding: &Embedding, bounds: &Bounds<'_>) -> Vec<EpisodeId> {
    let scopes = bounds.store_scopes().into_iter();
    let nearest = |scope| codes.nearest(embedding, COARSE_LIMIT, shards_of(scope), bounds.left_out);
    let mut found: Vec<EpisodeId> = scopes.flat_map(nearest).collect();
    if bounds.scope == ScopeRule::ProjectFirst {
        let others = Shards::AllBut([bounds.project, bounds.everywhere.or(bounds.project)]);
        found.extend(codes.nearest(embedding, FOREIGN_LIMIT, others, bounds.left_out));
    }
    found
}

/// Supplies the prompt's embedding, waiting at most the given time.
pub type EmbeddingSource<'a> = dyn FnMut(Duration) -> Result<Embedding, Degradation> + Send + 'a;

pub(super) fn absent(degradation: Degradation) -> impl FnOnce(QueryError) -> Degradation {
    move |error| {
        if !matches!(error, QueryError::Interrupted { .. }) {
            tracing::warn!(leg = degradation.as_str(), %error, "a leg failed");
        }
        degradation
    }
}
