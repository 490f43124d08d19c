//! What is stored of a prompt once its reply is out. In goes what came of it and how long it took, out goes a log and, where it was
//! searched for, how its answer came about. Runs on the writer's thread: nothing here is on a prompt's own time.

use std::time::Duration;

use remembrancer_processor::recall::{Recall, RecallSettings};
use remembrancer_schema::{QueryError, RecollectionLog, RecollectionTrace, Writer};

use crate::project;
use crate::reason::Reason;

/// How long an answer took.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Took {
    /// What was left when the request arrived.
    pub left: Duration,
    /// From then to the reply.
    pub whole: Duration,
    /// What a recall may take, from the hook's start on.
    pub budget: Duration,
}

impl Took {
    /// Fills in the times of a trace.
    pub(crate) fn note_in(self, trace: &mut RecollectionTrace) {
        let micros = |took: Duration| took.as_micros() as u64;
        trace.left_micros = Some(micros(self.left));
        trace.whole_micros = micros(self.whole);
        trace.budget_micros = micros(self.budget);
    }
}

/// What is stored of a prompt.
pub(super) enum Outcome {
    Silent(Box<RecollectionLog>),
    Recalled(Box<Recall>, Took),
}

impl Outcome {
    /// Stores it. `settings` are those that it was recalled by.
    ///
    /// # Errors
    /// The store's error.
    pub(super) fn record(self, writer: &mut Writer, settings: &RecallSettings) -> Result<(), QueryError> {
        match self {
            Self::Silent(log) => writer.record_recollection(&log)?,
            Self::Recalled(mut recall, took) => {
                // Before the project goes from the log: what is of another one is told by it.
                let mut trace = recall.trace(settings);
                took.note_in(&mut trace);
                recall.log.project = recall.log.project.filter(|project| *project != project::UNKNOWN);
                writer.record_explained(&recall.log, Some(&trace))?
            }
        };
        Ok(())
    }
}

/// A recall that came too late, as it is logged: what was chosen was not shown.
pub(super) fn never_shown(mut recall: Box<Recall>) -> Box<Recall> {
    let reason = Reason::OUT_OF_TIME.as_str();
    recall.log.reason = Some(reason.to_owned());
    for candidate in &mut recall.log.candidates {
        if candidate.position.take().is_some() {
            candidate.gate = Some(reason.to_owned());
        }
    }
    recall
}
