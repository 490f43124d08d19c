//! A search that a person asks for: over what is stored, with the words around what was found. It leaves no trace: it counts as no
//! showing and no use, and `why` does not know of it.

use std::sync::RwLock;

use remembrancer_hooks::protocol::{SearchMode as Asked, SearchRequest};
use remembrancer_processor::embed::{BertEmbedder, Embed, Embedding};
use remembrancer_processor::ingest::{redact, redact_episode};
use remembrancer_processor::recall::{
    CodeIndex, Degradation, Fused, Leg, SearchMode, Searched, Snippet, Sought, search as search_for, search_terms, search_text,
    shown, snippet,
};
use remembrancer_schema::{EpisodeId, EpisodeText, Reader, UnixMillis};
use serde_json::{Value, json};

use super::looking::{bounded, filter, line};
use super::{ControlError, rfc3339};
use crate::whose::Sharer;

/// Results on a page, where nothing else is asked for.
const RESULTS: usize = 10;
/// Results on a page at most.
const MOST_RESULTS: usize = 100;
/// Characters of a snippet at most.
const SNIPPET: usize = 240;

/// What a search goes through.
pub(crate) struct SearchSources<'a> {
    /// The store.
    pub reader: &'a Reader,
    /// The codes of all embedded episodes.
    pub codes: &'a RwLock<CodeIndex>,
    /// The model whose vectors may be compared.
    pub model_id: &'a str,
    /// The query's embedding, or why there is none.
    pub embedding: Result<Embedding, Degradation>,
    /// The time of asking.
    pub now: UnixMillis,
}

/// What is to be embedded for a request; `None` where it goes by words alone.
pub(crate) fn to_embed(request: &SearchRequest) -> Option<String> {
    (request.mode != Asked::Lexical).then(|| search_text(&request.query))
}

/// What of all that is stored, and not hidden, fits a query, best first.
///
/// # Errors
/// [`ControlError::Senseless`] for a query that asks for nothing; [`ControlError::Unknown`] where meaning alone is asked for and can't
/// be told; as [`filter`].
pub(crate) fn search(sources: &SearchSources<'_>, request: &SearchRequest) -> Result<Value, ControlError> {
    let text = search_text(&request.query);
    let terms = search_terms(&text);
    let (mode, degradation) = mode(request.mode, &sources.embedding)?;
    if text.is_empty() || (terms.is_empty() && mode == SearchMode::Lexical) {
        return Err(ControlError::Senseless(
            "there is nothing in the query to search for".to_owned(),
        ));
    }
    let narrowed = filter(sources.reader, &request.narrowing)?;
    let within = if narrowed.is_open() {
        None
    } else {
        Some(sources.reader.episodes_within(&narrowed)?)
    };
    let sought = Sought {
        terms: &terms,
        embedding: sources.embedding.as_ref().ok(),
        mode,
        within: within.as_ref(),
        now: sources.now,
    };
    let searched = Searched {
        reader: sources.reader,
        codes: sources.codes,
        model_id: sources.model_id,
    };
    let found = search_for(searched, &sought)?;
    let (limit, offset) = (
        bounded(request.limit, RESULTS, MOST_RESULTS),
        request.offset.unwrap_or_default() as usize,
    );
    let page: Vec<&Fused> = found.iter().skip(offset).take(limit).collect();
    let next = Some(offset + page.len()).filter(|next| *next < found.len() && !page.is_empty());
    Ok(json!({
        "query": text,
        "mode": mode.as_str(),
        "terms": terms,
        "degradations": degradation.map(Degradation::as_str).into_iter().collect::<Vec<_>>(),
        "results": results(sources.reader, &page, &terms)?,
        "found": found.len(),
        "offset": offset,
        "next": next,
    }))
}

/// How the refusal begins of what can be searched for by meaning alone, and can't.
pub(crate) const NOT_BY_MEANING: &str = "it can't be searched by meaning now";

/// By what is searched, and what that lacks of what was asked for.
fn mode(asked: Asked, embedding: &Result<Embedding, Degradation>) -> Result<(SearchMode, Option<Degradation>), ControlError> {
    match (asked, embedding) {
        (Asked::Lexical, _) => Ok((SearchMode::Lexical, None)),
        (Asked::Hybrid, Ok(_)) => Ok((SearchMode::Hybrid, None)),
        (Asked::Hybrid, Err(degradation)) => Ok((SearchMode::Lexical, Some(*degradation))),
        (Asked::Semantic, Ok(_)) => Ok((SearchMode::Semantic, None)),
        (Asked::Semantic, Err(degradation)) => Err(ControlError::Unknown(format!(
            "{NOT_BY_MEANING} ({degradation}); search by words, with the mode lexical"
        ))),
    }
}

fn results(reader: &Reader, page: &[&Fused], terms: &[String]) -> Result<Vec<Value>, ControlError> {
    let ids: Vec<EpisodeId> = page.iter().map(|fused| fused.candidate.row.id).collect();
    let mut texts = reader.texts(&ids)?;
    texts.iter_mut().for_each(redact_episode);
    // One that went meanwhile is left out.
    let told = |fused: &&Fused| {
        let text = texts.iter().find(|text| text.id == fused.candidate.row.id)?;
        Some(result(fused, text, terms))
    };
    Ok(page.iter().filter_map(told).collect())
}

fn result(fused: &Fused, text: &EpisodeText, terms: &[String]) -> Value {
    let (field, snippet) = best_snippet(text, terms);
    let rank = |leg| fused.ranks.of(leg).map(remembrancer_schema::Rank::get);
    json!({
        "id": text.uid.short(),
        "at": rfc3339(text.created_at),
        "agent": text.agent,
        "session": text.session,
        "project": text.project_name.as_deref().map(redact),
        "part": text.part,
        "asked": line(&text.prompt),
        "shared_by": Sharer::of(text.shared_by.as_ref()),
        "field": field,
        "snippet": snippet.text,
        "matches": snippet.marks.iter().map(|mark| [mark.start, mark.end]).collect::<Vec<_>>(),
        "score": fused.score,
        "bm25": fused.candidate.bm25.map(|score| score.0),
        "cosine": fused.candidate.cosine.map(|cosine| cosine.0),
        "ranks": {"bm25": rank(Leg::Bm25), "vector": rank(Leg::Vector)},
    })
}

/// The piece that holds most of the terms, and whether it is of the prompt, the answer or the facets.
fn best_snippet(text: &EpisodeText, terms: &[String]) -> (&'static str, Snippet) {
    let facets = &text.facets;
    let touched = [&facets.files, &facets.commands, &facets.errors].map(|values| values.join("  "));
    let fields = [
        ("prompt", shown(&text.prompt)),
        ("answer", shown(&text.answer)),
        ("facets", shown(&touched.join("  "))),
    ];
    let pieces = fields.map(|(field, text)| (field, snippet(&text, terms, SNIPPET)));
    let mut pieces = pieces.into_iter().filter(|(_, piece)| !piece.text.is_empty());
    let first = pieces.next().unwrap_or_default();
    // The first of those that hold as many.
    pieces.fold(first, |best, piece| if piece.1.terms > best.1.terms { piece } else { best })
}

/// As [`search`] where no daemon runs: with a model of this process's own, or why there is none.
///
/// # Errors
/// As [`search`].
pub(crate) fn search_offline(
    reader: &Reader,
    model: Result<&BertEmbedder, Degradation>,
    request: &SearchRequest,
    now: UnixMillis,
) -> Result<Value, ControlError> {
    let embedding = match (to_embed(request), &model) {
        (Some(text), Ok(model)) => model.embed_query(&text).map_err(|_| Degradation::EmbeddingFailed),
        (Some(_), Err(degradation)) => Err(*degradation),
        (None, _) => Err(Degradation::NoModel),
    };
    let model = model.ok();
    let mut codes = CodeIndex::new(model.map_or(0, Embed::dimension));
    if embedding.is_ok() {
        reader.for_each_code(|id, project, code| codes.insert(id, project, code))?;
    }
    let sources = SearchSources {
        reader,
        codes: &RwLock::new(codes),
        model_id: model.map_or("", |model| model.model_id()),
        embedding,
        now,
    };
    search(&sources, request)
}

#[cfg(test)]
mod tests;
