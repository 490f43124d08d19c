//! How a recall came about, put together once the reply is out.
//!
//! In go a [`Recall`] and the settings that it was made by, out comes a [`RecollectionTrace`] for the log, or for whoever asks at once.
//! Nothing here runs on a prompt's own time, and nothing of a text gets in.

use remembrancer_schema::RecollectionTrace;
use remembrancer_schema::trace::{TracedCandidate, TracedGate, TracedList, TracedPool, TracedSource, TracedTerm, TracedTop};

use super::evidence::Evidence;
use super::floor::AMPLE_NAMES;
use super::leg::Leg;
use super::notes::{Brought, Listed};
use super::origin::is_from_the_web;
use super::profile::{Profile, Rule};
use super::weigh::{Weighed, handicap, users_word};
use super::{Degradation, Recall, RecallSettings, ScopeRule};

/// The name of what a page of the web takes from the second stage's score.
const HANDICAP: &str = "web";
/// The name of what the user's own word about an episode adds to it.
const USERS_WORD: &str = "users_word";
/// The stage in which a reranker reads.
pub(super) const RERANK_STAGE: &str = "rerank";
/// Why a source or a list is absent of which the profile makes nothing.
const NOT_IN_PROFILE: &str = "not-in-profile";

impl ScopeRule {
    /// The rule's name in the settings and in `explain`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ProjectFirst => "project-first",
            Self::Project => "project",
            Self::All => "all",
        }
    }
}

impl Recall {
    /// How this came about, by `settings`; its times are for the caller to fill in, who knows when it began.
    pub fn trace(&self, settings: &RecallSettings) -> RecollectionTrace {
        let profile = &settings.profile;
        RecollectionTrace {
            profile: profile.name.to_owned(),
            scope: settings.scope.as_str().to_owned(),
            query: self.asked,
            terms: self.traced_terms(),
            sources: self.sources(profile),
            pool: self.traced_pool(),
            lists: self.notes.lists.iter().map(|listed| self.list(listed, profile)).collect(),
            gates: self.gates(settings),
            reranked: self.log.stages.iter().any(|(stage, _)| stage == RERANK_STAGE)
                && !self.degradations.contains(&Degradation::RerankerAbsent),
            fused_parts: owned(fused_part_names(profile)),
            second_parts: owned(second_part_names(profile)),
            candidates: self.traced_candidates(settings),
            ..RecollectionTrace::default()
        }
    }

    fn traced_terms(&self) -> Vec<TracedTerm> {
        let terms = self.weighing.frequencies.iter().enumerate();
        terms
            .map(|(place, (episodes, weight))| TracedTerm {
                episodes: *episodes,
                weight: rounded(*weight),
                too_common: self.notes.too_common.contains(&place),
            })
            .collect()
    }

    fn sources(&self, profile: &Profile) -> Vec<TracedSource> {
        let source = |name: &str, brought: &Brought, absent: Option<&str>| TracedSource {
            name: name.to_owned(),
            found: brought.found,
            added: brought.added,
            passed_over: brought.passed_over,
            absent: absent.map(str::to_owned),
        };
        let graph = if profile.counts(Leg::Graph) {
            self.absence(&[Degradation::GraphAbsent])
        } else {
            Some(NOT_IN_PROFILE)
        };
        let notes = &self.notes;
        let mut sources = vec![
            source("recent", &notes.recent, self.absence(&[Degradation::RecentAbsent])),
            source("meaning", &notes.meaning, self.absence(&WITHOUT_EMBEDDING)),
            source("words", &notes.words, self.absence(&[Degradation::Bm25Absent])),
            source("graph", &notes.graph, graph),
        ];
        sources.extend(
            notes
                .timely
                .as_ref()
                .map(|timely| source("time", timely, self.absence(&[Degradation::TimeAbsent]))),
        );
        sources.extend(
            notes
                .remote
                .as_ref()
                .map(|remote| source("remote", remote, self.absence(&WITHOUT_REMOTE))),
        );
        sources
    }

    /// The first of `degradations` that this recall had.
    fn absence(&self, degradations: &[Degradation]) -> Option<&'static str> {
        let found = degradations
            .iter()
            .find(|degradation| self.degradations.contains(degradation));
        found.map(|degradation| degradation.as_str())
    }

    fn traced_pool(&self) -> TracedPool {
        let notes = &self.notes;
        TracedPool {
            found: notes.found,
            gone: notes.gone,
            other_projects: notes.other_projects,
            size: self.log.pool,
            in_context: notes.in_context,
            shown_before: notes.shown_before,
        }
    }

    fn list(&self, listed: &Listed, profile: &Profile) -> TracedList {
        let absent = match listed.leg {
            Leg::Bm25 => self.absence(&[Degradation::Bm25Absent]),
            Leg::Vector => self.absence(&WITHOUT_EMBEDDING),
            Leg::Expansion => self.absence(&[Degradation::ExpansionAbsent]),
            Leg::Graph => self.absence(&[Degradation::GraphAbsent]),
            Leg::Time => self.absence(&[Degradation::TimeAbsent]),
            Leg::Remote => self.absence(&WITHOUT_REMOTE),
            Leg::Recency | Leg::Access => None,
        };
        let top = listed.top.iter();
        // A time is told whole.
        let told = |value: f64| if listed.leg == Leg::Recency { value } else { rounded(value) };
        TracedList {
            leg: listed.leg.as_str().to_owned(),
            counts: profile.counts(listed.leg),
            ranked: listed.ranked,
            absent: absent.map(str::to_owned),
            top: top
                .map(|top| TracedTop(top.episode.0, told(top.value), top.rank.get()))
                .collect(),
        }
    }

    fn gates(&self, settings: &RecallSettings) -> Vec<TracedGate> {
        let gate = |name: &str, value: Option<f64>, threshold: f64, passed: Option<bool>| TracedGate {
            name: name.to_owned(),
            value: value.map(rounded),
            threshold: rounded(threshold),
            passed,
        };
        let mut gates = Vec::new();
        if let Some(cosine) = self.notes.topic_cosine {
            let passed = cosine <= settings.same_topic_cosine;
            let (cosine, limit) = (f64::from(cosine), f64::from(settings.same_topic_cosine));
            gates.push(gate("same-topic", Some(cosine), limit, Some(passed)));
        }
        if self.weighing.candidates.is_empty() {
            return gates;
        }
        let (floor, support) = (&settings.floor, &self.weighing.support);
        let probability = floor.answer.probability(support);
        let (cosine, coverage) = (Some(support.best_cosine), Some(support.best_coverage));
        let likely = probability >= floor.least_probability;
        gates.push(gate(
            "answer-probability",
            Some(probability),
            floor.least_probability,
            Some(likely),
        ));
        gates.push(gate("ample-cosine", cosine, floor.ample_cosine, Some(floor.is_near(support))));
        gates.push(gate(
            "ample-names",
            Some(support.proper_names_in_pool),
            AMPLE_NAMES,
            Some(support.proper_names_in_pool > AMPLE_NAMES),
        ));
        // The rest is for each candidate: what it is held against is the best of all.
        gates.push(gate("relative-cosine", cosine, floor.relative_cosine, None));
        gates.push(gate("relative-coverage", coverage, floor.relative_coverage, None));
        gates.push(gate("worded-cosine", cosine, floor.worded_cosine, None));
        gates.push(gate("lexical-coverage", None, floor.lexical_coverage, None));
        gates.push(gate("lexical-terms", None, floor.lexical_terms as f64, None));
        if settings.scope == ScopeRule::ProjectFirst {
            gates.push(gate("foreign-cosine", None, floor.least_foreign_cosine(), None));
            gates.push(gate("foreign-coverage", None, floor.foreign_coverage, None));
        }
        gates
    }

    /// The logged candidates, in the order of the log: some of the weighed ones.
    fn traced_candidates(&self, settings: &RecallSettings) -> Vec<TracedCandidate> {
        let weighed = &self.weighing.candidates;
        let of = |episode| weighed.iter().find(|weighed| weighed.fused.candidate.row.id == episode);
        let logged = self.log.candidates.iter().filter_map(|candidate| of(candidate.episode));
        logged.map(|weighed| Self::candidate(weighed, settings)).collect()
    }

    fn candidate(weighed: &Weighed, settings: &RecallSettings) -> TracedCandidate {
        let (fused, row) = (&weighed.fused, &weighed.fused.candidate.row);
        let rank = |leg: Leg| fused.ranks.of(leg).map(remembrancer_schema::Rank::get);
        TracedCandidate {
            place: weighed.place,
            fused: rounded(fused.score),
            fused_parts: all_rounded(fused_parts(weighed, &settings.profile)),
            second_parts: all_rounded(second_parts(weighed, &settings.profile)),
            expansion_rank: rank(Leg::Expansion),
            graph_rank: rank(Leg::Graph),
            remote_rank: rank(Leg::Remote),
            words: weighed.words,
            coverage: rounded(weighed.evidence.coverage),
            foreign: fused.candidate.foreign,
            web: is_from_the_web(&weighed.text.facets),
            important: row.importance == remembrancer_schema::Importance::High,
            in_time: weighed.evidence.in_time > 0.0,
            uses: row.access_count,
        }
    }
}

/// Why there is no search by meaning.
const WITHOUT_EMBEDDING: [Degradation; 3] = [Degradation::NoModel, Degradation::EmbeddingLate, Degradation::EmbeddingFailed];

/// Why nothing of the shared store is known.
const WITHOUT_REMOTE: [Degradation; 2] = [Degradation::RemoteLate, Degradation::RemoteAbsent];

fn fused_part_names(profile: &Profile) -> Vec<&'static str> {
    match &profile.rule {
        Rule::Ranks(fusion) => fusion.part_names(),
        Rule::Convex { .. } => vec![Leg::Vector.as_str(), Leg::Bm25.as_str()],
    }
}

fn fused_parts(weighed: &Weighed, profile: &Profile) -> Vec<f64> {
    let (fused, evidence) = (&weighed.fused, &weighed.evidence);
    match &profile.rule {
        Rule::Ranks(fusion) => fusion.parts(&fused.ranks, fused.candidate.row.importance, fused.candidate.exact),
        Rule::Convex { alpha } => {
            let meaning = fused.candidate.cosine.map_or(0.0, |_| evidence.cosine_share);
            vec![alpha * meaning, (1.0 - alpha) * evidence.bm25_share]
        }
    }
}

fn second_part_names(profile: &Profile) -> Vec<&'static str> {
    match profile.second_stage {
        Some(_) => Evidence::NAMES.into_iter().chain([HANDICAP, USERS_WORD]).collect(),
        None => Vec::new(),
    }
}

fn second_parts(weighed: &Weighed, profile: &Profile) -> Vec<f64> {
    let Some(model) = profile.second_stage else {
        return Vec::new();
    };
    let parts = model.parts(&weighed.evidence, weighed.best_cosine).into_iter();
    parts.chain([-handicap(&weighed.text), users_word(&weighed.text)]).collect()
}

fn owned(names: Vec<&str>) -> Vec<String> {
    names.into_iter().map(str::to_owned).collect()
}

fn all_rounded(values: Vec<f64>) -> Vec<f64> {
    values.into_iter().map(rounded).collect()
}

/// A value as it is kept: five digits of it, so that a thousand explanations stay small. What is no number counts as none.
fn rounded(value: f64) -> f64 {
    if value.is_finite() {
        format!("{value:.4e}").parse().unwrap_or(value)
    } else {
        0.0
    }
}
