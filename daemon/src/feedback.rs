//! Which of the recollections that were shown the agent used, once what it did with them is ingested.
//!
//! In go the turns of a batch that is stored, out come counted uses in the store. A showing belongs to a turn by session and
//! time: it came shortly before the turn or during it, and only what the agent said and did *after* it can show its use.
//! (The log's hash of the prompt is of the raw text, which a transcript doesn't keep.) A turn that has grown, or is read
//! again, is judged again; a showing counts once. Off the prompt's path, and nothing waits for it but ingest: what goes
//! wrong is logged and passed over.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use remembrancer_processor::feedback::{Followed, Traces};
use remembrancer_processor::ingest::Turn;
use remembrancer_schema::{
    EpisodeId, EpisodeText, Facets, Origin, QueryError, Reader, RecollectionUse, SessionKey, Showing, UnixMillis, Writer,
};

use crate::causes::with_causes;
use crate::clock;
use crate::counts::Count;
use crate::progress::Progress;
use crate::store::{NoAnswer, StoreHandle};

/// How long before the time of its prompt's record a turn may have been shown something, in milliseconds: agents run the
/// hook about when they write the record, before or after.
const LEAD_MILLIS: i64 = 5_000;

/// Judges turns.
#[derive(Clone)]
pub(crate) struct Feedback {
    /// A reader for what may wait.
    pub background: StoreHandle<Reader>,
    /// The one writer.
    pub writer: StoreHandle<Writer>,
    /// Where to say what happens.
    pub progress: Arc<Progress>,
}

/// Why a batch could not be judged.
#[derive(Debug, thiserror::Error)]
enum FeedbackError {
    #[error(transparent)]
    Store(#[from] QueryError),
    #[error(transparent)]
    Gone(#[from] NoAnswer),
}

impl Feedback {
    /// Counts what `turns` show to have been used of what was shown for them.
    pub(crate) fn judge(&self, turns: Vec<Turn>) {
        match self.try_judge(turns) {
            Ok(used) => self.progress.used(used),
            Err(error) => {
                self.progress.count(Count::UseNotTold, 1);
                tracing::warn!(error = %with_causes(&error), "what was used of the recollections could not be told");
            }
        }
    }

    fn try_judge(&self, turns: Vec<Turn>) -> Result<u64, FeedbackError> {
        let answered: Vec<Turn> = turns
            .into_iter()
            .filter(|turn| turn.origin == Origin::User && !turn.steps.is_empty())
            .collect();
        if answered.is_empty() {
            return Ok(0);
        }
        let uses = self.background.call_blocking(move |reader| uses(reader, &answered))??;
        if uses.is_empty() {
            return Ok(0);
        }
        Ok(self
            .writer
            .call_blocking(move |writer| writer.record_recollection_uses(&uses, clock::now()))??)
    }
}

/// The uses that `turns` show, of showings that are not known to be uses.
fn uses(reader: &Reader, turns: &[Turn]) -> Result<Vec<RecollectionUse>, QueryError> {
    let mut uses = Vec::new();
    for turn in turns {
        let showings = showings(reader, turn)?;
        let ids: Vec<EpisodeId> = showings.iter().map(|showing| showing.episode).collect();
        // What is shown together is followed by the same.
        let mut since: BTreeMap<UnixMillis, Followed> = BTreeMap::new();
        for episode in reader.texts(&ids)? {
            for showing in showings.iter().filter(|showing| showing.episode == episode.id) {
                let followed = since.entry(showing.at).or_insert_with(|| followed(turn, showing.at));
                uses.extend(judged(reader, followed, showing, &episode)?);
            }
        }
    }
    Ok(uses)
}

fn showings(reader: &Reader, turn: &Turn) -> Result<Vec<Showing>, QueryError> {
    let session = SessionKey {
        agent: turn.agent.id().to_owned(),
        external_id: turn.session.clone(),
    };
    let from = UnixMillis(turn.started_at.0.saturating_sub(LEAD_MILLIS));
    let last = turn.steps.iter().map(|step| step.at).max().unwrap_or(turn.started_at);
    reader.unused_showings(&session, from, last)
}

fn judged(
    reader: &Reader,
    followed: &Followed,
    showing: &Showing,
    episode: &EpisodeText,
) -> Result<Option<RecollectionUse>, QueryError> {
    let traces = Traces::of(episode);
    let terms = traces.terms();
    let counts = reader.document_frequency(&terms)?;
    let frequencies: HashMap<String, u64> = terms.into_iter().zip(counts).collect();
    let evidence = traces.evidence(followed, &frequencies, reader.indexed_episodes()?);
    Ok(evidence.shows().map(|shown_by| RecollectionUse {
        recollection: showing.recollection,
        episode: showing.episode,
        evidence: shown_by.as_str().to_owned(),
    }))
}

/// What the agent said and did from `since` on.
fn followed(turn: &Turn, since: UnixMillis) -> Followed {
    let steps: Vec<_> = turn.steps.iter().filter(|step| step.at >= since).collect();
    let answer: Vec<&str> = steps.iter().map(|step| step.text.as_str()).collect();
    let touched = |list: fn(&Facets) -> &Vec<String>| steps.iter().flat_map(|step| list(&step.facets)).cloned().collect();
    let facets = Facets {
        files: touched(|facets| &facets.files),
        commands: touched(|facets| &facets.commands),
        ..Facets::default()
    };
    Followed::new(&turn.prompt, &answer.join("\n"), &facets)
}

#[cfg(test)]
mod tests;
