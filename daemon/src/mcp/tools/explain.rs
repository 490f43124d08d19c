//! `explain`: how the answer to a prompt came about.

use remembrancer_hooks::protocol::ExplainRequest;
use serde_json::{Value, json};

use super::{Act, Call, ToolOf, integer, list, number, object, or_null, string, whole};
use crate::cli::explain::{read, text};
use crate::cli::{CliError, Kind as ErrorKind, acts};
use crate::explanation::{Candidate, Explanation};
use crate::mcp::arguments::{Kind, Parameter};
use crate::mcp::bounds::shorten;
use crate::mcp::place::Scope;
use crate::mcp::wording::{Told, block, shown_throughout};
use crate::whose::{Sharer, has_others};

/// Columns of the text.
const COLUMNS: usize = 110;
/// Candidates that are told, besides what was shown.
const CANDIDATES: usize = 12;

pub(super) const TOOL: ToolOf = ToolOf {
    name: "explain",
    title: "Explain a recall",
    about: "Tells how Remembrancer's answer to a prompt came about: which memories were candidates, how each was ranked by words, meaning, age and use, why each was shown or dropped, and how long it took. Use it when the user asks why something was or was not recalled, or how the memory would answer a prompt. Do not use it to find what is remembered (search does that) or as part of ordinary work. Without arguments the last prompt is explained; number counts back from it; prompt puts a new one, which leaves no trace.",
    parameters: &[
        Parameter::new(
            "number",
            Kind::Number(1, 1_000),
            "Which of the last 1,000 prompts: 1 is the latest. Not together with prompt or id.",
        ),
        Parameter::new(
            "id",
            Kind::Text(32),
            "The id of a logged prompt, as an explanation gives it (such as p1207).",
        ),
        Parameter::new(
            "session",
            Kind::Text(256),
            "Counts only the prompts of the session with this id.",
        ),
        Parameter::new(
            "prompt",
            Kind::Text(32_000),
            "A new prompt: how it would be answered now, in the project in which you work.",
        ),
        Parameter::new("project", Kind::Text(1_024), "With prompt: the folder in which it is put."),
        Parameter::new(
            "everywhere",
            Kind::Flag,
            "With prompt, true: all projects are looked at alike.",
        ),
    ],
    output,
    hints: (true, false, true),
    act: Act::Plain(run),
};

fn output() -> Value {
    let candidate = object(&[
        ("id", or_null(&string())),
        ("date", or_null(&string())),
        ("project", or_null(&string())),
        ("asked", or_null(&string())),
        ("shown", or_null(&integer())),
        ("dropped", or_null(&string())),
        ("because", or_null(&string())),
        ("score", or_null(&number())),
        ("bm25", or_null(&number())),
        ("cosine", or_null(&number())),
        ("words", list(&string())),
        ("shared_by", or_null(&string())),
    ]);
    object(&[
        ("id", or_null(&string())),
        ("number", or_null(&integer())),
        ("at", string()),
        ("agent", string()),
        ("project", or_null(&string())),
        ("reason", or_null(&string())),
        ("reason_about", or_null(&string())),
        ("terms", list(&string())),
        ("pool", integer()),
        ("candidates", list(&candidate)),
        ("candidates_in_all", integer()),
        ("degradations", list(&string())),
        ("micros", or_null(&integer())),
    ])
}

fn run(call: &Call<'_>) -> Result<Told, CliError> {
    let (_, explanation) = read(acts::explain(call.surroundings, &request(call)?, false)?)?;
    let lines = text::lines(&explanation, COLUMNS).join("\n");
    let mut structured = structured(&explanation);
    shorten(&mut structured, "candidates");
    Ok(Told {
        text: block(
            TOOL.name,
            "How the answer came about:",
            &lines,
            has_others(sharers(&explanation)),
            "To silence a memory for good, the user can run `remembrancer mute ID`.",
        ),
        structured,
    })
}

fn request(call: &Call<'_>) -> Result<ExplainRequest, CliError> {
    let arguments = call.arguments;
    let named = ["number", "id", "prompt"].into_iter().filter(|name| arguments.has(name));
    if named.count() > 1 {
        return Err(
            CliError::new(ErrorKind::Usage, "`number`, `id` and `prompt` each name a prompt").with_hint("give one of them"),
        );
    }
    let Some(prompt) = arguments.text("prompt") else {
        if arguments.has("project") || arguments.has("everywhere") {
            return Err(CliError::new(
                ErrorKind::Usage,
                "`project` and `everywhere` are for a new prompt, whose text is missing",
            )
            .with_hint("give its text as `prompt`, or leave them away"));
        }
        return Ok(ExplainRequest {
            id: arguments.text("id").map(str::to_owned),
            number: arguments.number("number"),
            session: arguments.text("session").map(str::to_owned),
            ..ExplainRequest::default()
        });
    };
    if arguments.has("session") {
        return Err(
            CliError::new(ErrorKind::Usage, "a new prompt belongs to no session").with_hint("leave `session` away, or `prompt`")
        );
    }
    let folder = call
        .folder
        .map(|folder| call.surroundings.as_in_transcripts(folder))
        .transpose()?;
    let (cwd, all_projects) = match call.scope()? {
        Scope::Everywhere => (folder, true),
        Scope::Named(name) => (Some(whole(name)?), false),
        Scope::Here(folder) => (Some(folder), false),
    };
    Ok(ExplainRequest {
        prompt: Some(prompt.to_owned()),
        cwd,
        all_projects,
        ..ExplainRequest::default()
    })
}

fn structured(explanation: &Explanation) -> Value {
    let prompt = &explanation.prompt;
    let told = explanation
        .candidates
        .iter()
        .enumerate()
        .filter(|(place, candidate)| *place < CANDIDATES || candidate.shown.is_some());
    shown_throughout(json!({
        "id": prompt.id,
        "number": prompt.number,
        "at": prompt.at,
        "agent": prompt.agent,
        "project": prompt.project,
        "reason": explanation.reason,
        "reason_about": explanation.reason_about,
        "terms": explanation.query.terms.iter().filter_map(|term| term.term.clone()).collect::<Vec<_>>(),
        "pool": explanation.pool.size,
        "candidates": told.map(|(_, candidate)| of_candidate(candidate)).collect::<Vec<_>>(),
        "candidates_in_all": explanation.candidates.len(),
        "degradations": explanation.degradations.iter().map(|named| named.name.clone()).collect::<Vec<_>>(),
        "micros": explanation.times.whole_micros,
    }))
}

/// Who shared what is named, as [`Sharer::other`].
fn sharers(explanation: &Explanation) -> impl Iterator<Item = Option<&str>> {
    let tops = explanation.lists.iter().flat_map(|list| &list.top).map(|top| &top.shared_by);
    let candidates = explanation.candidates.iter().map(|candidate| &candidate.shared_by);
    tops.chain(candidates).map(|sharer| sharer.as_ref().and_then(Sharer::other))
}

fn of_candidate(candidate: &Candidate) -> Value {
    json!({
        "id": candidate.id,
        "date": candidate.date,
        "project": candidate.project,
        "asked": candidate.asked,
        "shown": candidate.shown,
        "dropped": candidate.dropped,
        "because": candidate.because,
        "score": candidate.score,
        "bm25": candidate.bm25,
        "cosine": candidate.cosine,
        "words": candidate.words,
        "shared_by": candidate.shared_by.as_ref().and_then(Sharer::other),
    })
}
