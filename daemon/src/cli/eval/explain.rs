//! `eval --explain`: how each profile ranks one query, and what speaks for each candidate.

use remembrancer_processor::eval::dataset::{Dataset, JudgedQuery};
use remembrancer_processor::recall::{Evidence, Leg, RecallSettings, Weighed};

use super::super::error::CliError;
use super::super::output::say;
use crate::eval::{Asked, Bench, Ways};

/// Candidates shown of each profile.
const SHOWN: usize = 10;
/// Characters of a text that are shown.
const TEXT: usize = 60;

/// Explains the query whose id is `query` in the first set that has it, else asks the first set `query` as text.
pub(super) fn run(sets: &[Dataset], benches: &[Bench<'_>], query: &str, ways: &Ways) -> Result<(), CliError> {
    let by_id = |set: &Dataset| set.queries.iter().position(|judged| judged.id == query);
    let found = sets
        .iter()
        .zip(benches)
        .find_map(|(set, bench)| Some((set, bench, by_id(set)?)));
    match (found, sets.first().zip(benches.first())) {
        (Some((set, bench, place)), _) => {
            let judged = &set.queries[place];
            say!("{} of {}: {}", plain(&judged.id), set.name, plain(&judged.text));
            say!("answered by: {}", answers(set, judged));
            explain(set, bench, Asked::of(judged), Some(judged), ways)
        }
        (None, Some((set, bench))) => {
            let project = set.queries.first().and_then(|first| first.project.as_deref());
            let asked = Asked {
                text: query,
                project,
                at: None,
            };
            say!("asked of {}: {}", set.name, plain(query));
            explain(set, bench, asked, None, ways)
        }
        (None, None) => Ok(()),
    }
}

fn answers(set: &Dataset, judged: &JudgedQuery) -> String {
    let ids: Vec<&str> = judged
        .relevant
        .keys()
        .map(|index| set.documents[*index].id.as_str())
        .collect();
    plain(&ids.join(", "))
}

fn explain(
    set: &Dataset,
    bench: &Bench<'_>,
    asked: Asked<'_>,
    judged: Option<&JudgedQuery>,
    ways: &Ways,
) -> Result<(), CliError> {
    for profile in &ways.profiles {
        let settings = RecallSettings {
            profile: *profile,
            ..ways.settings.clone()
        };
        let recall = bench.recall(asked, &settings)?;
        say!("");
        say!(
            "{}: {} shown{}",
            profile.name,
            recall.recollections.len(),
            recall.silence.map_or(String::new(), |reason| format!(" ({reason})"))
        );
        for (place, weighed) in recall.weighing.candidates.iter().take(SHOWN).enumerate() {
            let document = bench.document(weighed);
            let right = document
                .zip(judged)
                .is_some_and(|(document, judged)| judged.relevant.contains_key(&document));
            let id = plain(document.map_or("?", |document| set.documents[document].id.as_str()));
            say!(
                "{:>3} {} {:.4} {id}: {}",
                place + 1,
                if right { "*" } else { " " },
                weighed.score,
                head(weighed)
            );
            say!("        {}", ranks(weighed));
            say!("        {}", evidence(&weighed.evidence));
        }
    }
    Ok(())
}

/// `text` without what a terminal would act on.
fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn head(weighed: &Weighed) -> String {
    let text = if weighed.text.prompt.is_empty() {
        &weighed.text.answer
    } else {
        &weighed.text.prompt
    };
    plain(&text.chars().take(TEXT).collect::<String>())
}

fn ranks(weighed: &Weighed) -> String {
    let rank = |leg: Leg| {
        let rank = weighed.fused.ranks.of(leg)?;
        Some(format!("{leg} {}", rank.get()))
    };
    Leg::ALL.into_iter().filter_map(rank).collect::<Vec<_>>().join(", ")
}

fn evidence(evidence: &Evidence) -> String {
    let pairs = Evidence::NAMES.iter().zip(evidence.features());
    pairs
        .map(|(name, value)| format!("{name} {value:.2}"))
        .collect::<Vec<_>>()
        .join(", ")
}
