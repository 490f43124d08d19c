//! How the answer to a prompt came about: of one that was logged, or of one that was put to be explained. In goes a reader with what is
//! known, out comes an [`Explanation`] with ids and lines in the place of row ids; what is gone since is shown as gone.

mod verdict;

use std::collections::{BTreeSet, HashMap};

use remembrancer_hooks::protocol::{ExplainRequest, RecallRequest};
use remembrancer_processor::ingest::redact;
use remembrancer_processor::recall::{DroppedWords, Query, Recall, RecallSettings};
use remembrancer_schema::trace::{TracedCandidate, TracedGate, TracedList, TracedSource};
use remembrancer_schema::{
    EpisodeId, EpisodeText, ExplainedRecollection, LoggedCandidate, PromptRow, Reader, RecollectionId, RecollectionLog,
    RecollectionTrace,
};
use serde_json::{Value, json};

use super::{ControlError, date, first_line, rfc3339};
use crate::clock;
use crate::explanation::{
    Candidate, Explanation, Gate, Known, List, Named, Pool, Prompt, Query as Asked, Ranks, Source, Stage, Term, Times, Top,
    Words, about_degradation, about_gate, about_reason,
};
use crate::project;
use crate::reason::Reason;
use crate::recall_task::Took;
use crate::whose::Sharer;

/// Begins the id of a logged prompt, so that it is no number of one.
const ID_BEGINS: char = 'p';

/// What is listed at most: as many prompts as are kept.
const MOST_LISTED: u32 = 1_000;

/// How the answer to a logged prompt came about: the one with an id, or the `number`-th latest.
///
/// # Errors
/// [`ControlError::Unknown`] where there is none.
pub(crate) fn explain(reader: &Reader, wanted: &ExplainRequest) -> Result<Explanation, ControlError> {
    let found = match &wanted.id {
        Some(id) => reader.explained(prompt_id(id)?)?,
        None => reader.nth_explained(wanted.number.unwrap_or(1), wanted.session.as_deref(), wanted.shown)?,
    };
    let found = found.ok_or_else(|| ControlError::Unknown(none_found(wanted)))?;
    logged(reader, &found)
}

/// How a prompt that is put now is answered, or why it is not; `request` is what was asked for it.
///
/// # Errors
/// The store's error.
pub(crate) fn explain_now(
    reader: &Reader,
    request: &ExplainRequest,
    outcome: Result<&Recall, Reason>,
    settings: &RecallSettings,
    took: Option<Took>,
) -> Result<Explanation, ControlError> {
    let mut prompt = Prompt {
        at: rfc3339(clock::now()),
        agent: request
            .agent
            .clone()
            .unwrap_or_else(|| crate::recall_task::CLI_AGENT.to_owned()),
        ..Prompt::default()
    };
    let recall = match outcome {
        Ok(recall) => recall,
        Err(reason) => return Ok(not_searched(prompt, reason.as_str())),
    };
    if let Some(project) = recall.log.project.filter(|project| *project != project::UNKNOWN) {
        prompt.project = reader.project_name(project)?.as_deref().map(shown_name);
    }
    let mut trace = recall.trace(settings);
    if let Some(took) = took {
        took.note_in(&mut trace);
    }
    let places: Vec<u32> = (0..recall.log.candidates.len() as u32).collect();
    let dropped = Query::of(request.prompt.as_deref().unwrap_or_default()).dropped;
    let told = Told {
        prompt,
        log: &recall.log,
        places: &places,
        trace: Some(&trace),
        dropped: Some(&dropped),
    };
    told.explanation(reader)
}

/// What is recalled for a request that puts a prompt; none for one about a logged prompt. In a session of its own, which has seen nothing.
pub(crate) fn recall_of(request: &ExplainRequest) -> Option<RecallRequest> {
    Some(RecallRequest {
        agent: request
            .agent
            .clone()
            .unwrap_or_else(|| crate::recall_task::CLI_AGENT.to_owned()),
        session: String::new(),
        cwd: request.cwd.clone(),
        prompt: request.prompt.clone()?,
        at_start: false,
        deadline_ns: None,
        prompt_id: None,
        transcript: None,
        all_projects: request.all_projects,
    })
}

/// The latest `limit` logged prompts, of `session` (an agent's id of it) or of all, latest first.
///
/// # Errors
/// The store's error.
pub(crate) fn explanations(reader: &Reader, session: Option<&str>, limit: Option<u32>) -> Result<Value, ControlError> {
    let rows = reader.logged_prompts(session, limit.unwrap_or(MOST_LISTED).min(MOST_LISTED))?;
    Ok(json!({"prompts": rows.iter().map(listed).collect::<Vec<_>>()}))
}

fn listed(row: &PromptRow) -> Value {
    json!({
        "id": shown_id(row.id),
        "number": row.number,
        "at": rfc3339(row.at),
        "agent": row.session.agent,
        "session": redact(&row.session.external_id),
        "project": row.project_name.as_deref().map(shown_name),
        "reason": row.reason,
        "pool": row.pool,
        "shown": row.shown,
        "degradations": row.degradations,
        "terms": row.terms.iter().map(|term| redact(term)).collect::<Vec<_>>(),
    })
}

fn shown_id(id: RecollectionId) -> String {
    format!("{ID_BEGINS}{id}")
}

/// The row id that `id` names.
fn prompt_id(id: &str) -> Result<RecollectionId, ControlError> {
    let number = id.strip_prefix(ID_BEGINS).and_then(|number| number.parse().ok());
    number.map(RecollectionId).ok_or_else(|| {
        ControlError::Unknown(format!(
            "{id:?} is no id of a prompt, which is as p1207; `remembrancer explain --list` lists them"
        ))
    })
}

fn none_found(wanted: &ExplainRequest) -> String {
    let of = wanted
        .session
        .as_ref()
        .map_or(String::new(), |session| format!(" of session {session}"));
    match (&wanted.id, wanted.number.unwrap_or(1)) {
        (Some(id), _) => format!("there is no prompt {id}: the last {MOST_LISTED} are kept, and what was forgotten goes"),
        (None, 1) if wanted.shown => format!("nothing has been shown for a prompt{of} yet"),
        (None, 1) => format!("no prompt{of} has been answered yet"),
        (None, number) => format!("fewer than {number} prompts{of} are kept"),
    }
}

fn not_searched(prompt: Prompt, reason: &str) -> Explanation {
    Explanation {
        prompt,
        known: Known::NotSearched,
        reason: Some(reason.to_owned()),
        reason_about: Some(about_reason(reason).to_owned()),
        ..Explanation::default()
    }
}

fn logged(reader: &Reader, found: &ExplainedRecollection) -> Result<Explanation, ControlError> {
    let log = &found.log;
    let told = Told {
        prompt: Prompt {
            id: Some(shown_id(found.id)),
            number: Some(found.number),
            at: rfc3339(log.at),
            agent: log.session.agent.clone(),
            session: Some(redact(&log.session.external_id).into_owned()),
            project: found.project_name.as_deref().map(shown_name),
        },
        log,
        places: &found.places,
        trace: found.trace.as_ref(),
        dropped: None,
    };
    told.explanation(reader)
}

/// What there is to tell of one prompt.
struct Told<'a> {
    prompt: Prompt,
    log: &'a RecollectionLog,
    places: &'a [u32],
    trace: Option<&'a RecollectionTrace>,
    dropped: Option<&'a DroppedWords>,
}

/// Episodes by their row ids.
type Texts = HashMap<EpisodeId, EpisodeText>;

impl Told<'_> {
    fn explanation(self, reader: &Reader) -> Result<Explanation, ControlError> {
        let texts = self.texts(reader)?;
        let none = RecollectionTrace::default();
        let trace = self.trace.unwrap_or(&none);
        let gates: Vec<Gate> = trace.gates.iter().map(gate).collect();
        let log = self.log;
        let text = |name: &str| (!name.is_empty()).then(|| name.to_owned());
        Ok(Explanation {
            known: self.known(),
            reason: log.reason.clone(),
            reason_about: log.reason.as_deref().map(|reason| about_reason(reason).to_owned()),
            query: self.query(trace),
            profile: text(&trace.profile),
            scope: text(&trace.scope),
            sources: trace.sources.iter().map(source).collect(),
            pool: self.pool(),
            lists: trace.lists.iter().map(|traced| list(traced, &texts)).collect(),
            fused_parts: trace.fused_parts.clone(),
            second_parts: trace.second_parts.clone(),
            reranked: trace.reranked,
            candidates: self.candidates(trace, &texts, &gates),
            gates,
            degradations: log.degradations.iter().map(|name| degradation(name)).collect(),
            stages: log.stages.iter().map(|(name, micros)| stage(name, *micros)).collect(),
            times: self.times(),
            prompt: self.prompt,
        })
    }

    /// All episodes that are named, hidden ones too: the user asks what was shown before.
    fn texts(&self, reader: &Reader) -> Result<Texts, ControlError> {
        let lists = self.trace.into_iter().flat_map(|trace| &trace.lists);
        let firsts = lists.flat_map(|list| &list.top).map(|top| EpisodeId(top.0));
        let candidates = self.log.candidates.iter().map(|candidate| candidate.episode);
        let ids: BTreeSet<EpisodeId> = firsts.chain(candidates).collect();
        let texts = reader.texts_with_hidden(&ids.into_iter().collect::<Vec<_>>())?;
        Ok(texts.into_iter().map(|text| (text.id, text)).collect())
    }

    fn known(&self) -> Known {
        // What is searched for has more stages than the whole.
        match self.trace {
            Some(_) => Known::Whole,
            None if self.log.stages.len() <= 1 => Known::NotSearched,
            None => Known::Older,
        }
    }

    fn query(&self, trace: &RecollectionTrace) -> Asked {
        let counts = trace.query;
        let words = |count: u32, words: Option<&Vec<String>>| Words {
            count,
            words: words.cloned().unwrap_or_default(),
        };
        let known = |count: u32| self.trace.map(|_| count);
        Asked {
            terms: self.terms(trace),
            characters: known(counts.characters),
            asked_characters: known(counts.asked),
            command: counts.command,
            pasted_lines: counts.pasted_lines,
            error_kept: counts.error_kept,
            stop_words: words(counts.stop_words, self.dropped.map(|dropped| &dropped.stop_words)),
            beyond: words(counts.beyond, self.dropped.map(|dropped| &dropped.beyond)),
        }
    }

    /// The terms with their numbers; what was forgotten since took the terms out, and left the numbers.
    fn terms(&self, trace: &RecollectionTrace) -> Vec<Term> {
        let count = self.log.terms.len().max(trace.terms.len());
        let term = |place: usize| {
            let traced = trace.terms.get(place);
            Term {
                term: self.log.terms.get(place).map(|term| redact(term).into_owned()),
                episodes: traced.map(|traced| traced.episodes),
                weight: traced.map(|traced| traced.weight),
                too_common: traced.is_some_and(|traced| traced.too_common),
            }
        };
        (0..count).map(term).collect()
    }

    fn pool(&self) -> Pool {
        let pool = self.trace.map(|trace| trace.pool);
        Pool {
            size: self.log.pool,
            found: pool.map(|pool| pool.found),
            gone: pool.map(|pool| pool.gone),
            other_projects: pool.map(|pool| pool.other_projects),
            in_context: pool.map(|pool| pool.in_context),
            shown_before: pool.map(|pool| pool.shown_before),
        }
    }

    /// The logged candidates in their order; in the places of those that are gone what the trace says of them.
    fn candidates(&self, trace: &RecollectionTrace, texts: &Texts, gates: &[Gate]) -> Vec<Candidate> {
        let mut there = self.places.iter().zip(&self.log.candidates).peekable();
        let mut candidates = Vec::new();
        let logged = self.places.last().map_or(0, |last| *last as usize + 1);
        for place in 0..logged.max(trace.candidates.len()) {
            let traced = trace.candidates.get(place);
            let found = there
                .next_if(|(at, _)| **at as usize == place)
                .map(|(_, candidate)| candidate);
            if found.is_none() && traced.is_none() {
                continue;
            }
            let mut candidate = traced.map(|traced| self.of_trace(traced)).unwrap_or_default();
            if let Some(found) = found {
                fill_in(&mut candidate, found, texts.get(&found.episode));
                candidate.because = verdict::because(&candidate, gates);
            }
            candidates.push(candidate);
        }
        candidates
    }

    fn of_trace(&self, traced: &TracedCandidate) -> Candidate {
        let holds = |place: usize| u32::try_from(place).is_ok_and(|place| traced.words.checked_shr(place).unwrap_or(0) & 1 == 1);
        let terms = self.log.terms.iter().enumerate();
        Candidate {
            fused: Some(traced.fused),
            fused_place: Some(traced.place),
            ranks: Ranks {
                expansion: traced.expansion_rank,
                graph: traced.graph_rank,
                remote: traced.remote_rank,
                ..Ranks::default()
            },
            fused_parts: traced.fused_parts.clone(),
            second_parts: traced.second_parts.clone(),
            words: terms
                .filter(|(place, _)| holds(*place))
                .map(|(_, term)| redact(term).into_owned())
                .collect(),
            matched: Some(traced.words.count_ones()),
            coverage: Some(traced.coverage),
            other_project: traced.foreign,
            from_the_web: traced.web,
            important: traced.important,
            in_time: traced.in_time,
            uses: traced.uses,
            ..Candidate::default()
        }
    }

    fn times(&self) -> Times {
        let known = |micros: u64| (micros > 0).then_some(micros);
        let trace = self.trace;
        Times {
            budget_micros: trace.and_then(|trace| known(trace.budget_micros)),
            left_micros: trace.and_then(|trace| trace.left_micros),
            whole_micros: trace.and_then(|trace| known(trace.whole_micros)),
        }
    }
}

/// What the log says of a candidate, and the store of its episode.
fn fill_in(candidate: &mut Candidate, found: &LoggedCandidate, text: Option<&EpisodeText>) {
    candidate.id = text.map(|text| text.uid.short());
    candidate.date = text.map(|text| date(text.created_at));
    candidate.project = text.and_then(|text| text.project_name.as_deref().map(shown_name));
    candidate.asked = text.map(|text| first_line(&text.prompt));
    candidate.shared_by = text.and_then(|text| Sharer::of(text.shared_by.as_ref()));
    candidate.shown = found.position;
    candidate.dropped.clone_from(&found.gate);
    candidate.score = Some(found.fused);
    candidate.bm25 = found.bm25;
    candidate.cosine = found.cosine.map(f64::from);
    candidate.ranks = Ranks {
        bm25: found.bm25_rank,
        vector: found.vector_rank,
        recency: found.recency_rank,
        access: found.access_rank,
        ..candidate.ranks
    };
}

/// A name of a project as it may be shown.
fn shown_name(name: &str) -> String {
    redact(name).into_owned()
}

fn source(traced: &TracedSource) -> Source {
    Source {
        name: traced.name.clone(),
        found: traced.found,
        added: traced.added,
        passed_over: traced.passed_over,
        absent: traced.absent.clone(),
    }
}

fn list(traced: &TracedList, texts: &Texts) -> List {
    let top = traced.top.iter().map(|top| {
        let text = texts.get(&EpisodeId(top.0));
        Top {
            rank: top.2,
            value: top.1,
            id: text.map(|text| text.uid.short()),
            asked: text.map(|text| first_line(&text.prompt)),
            shared_by: text.and_then(|text| Sharer::of(text.shared_by.as_ref())),
        }
    });
    List {
        leg: traced.leg.clone(),
        counts: traced.counts,
        ranked: traced.ranked,
        absent: traced.absent.clone(),
        top: top.collect(),
    }
}

fn gate(traced: &TracedGate) -> Gate {
    Gate {
        name: traced.name.clone(),
        value: traced.value,
        threshold: traced.threshold,
        passed: traced.passed,
        about: about_gate(&traced.name).to_owned(),
    }
}

fn degradation(name: &str) -> Named {
    Named {
        name: name.to_owned(),
        about: about_degradation(name).to_owned(),
    }
}

fn stage(name: &str, micros: u64) -> Stage {
    Stage {
        name: name.to_owned(),
        micros,
    }
}

#[cfg(test)]
mod tests;
