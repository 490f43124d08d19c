//! Where a prompt leaves what it asks of the shared store, and waits for what comes of it: the prompt's side of the remote leg. Nobody waits
//! for a network here: while there is no connection, while another prompt's question is under way and one waits, and for a while after
//! the answer was late twice in a row, nothing is asked.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use remembrancer_hooks::clock::monotonic_ns;
use remembrancer_processor::Deadline;
use remembrancer_processor::embed::Embedding;
use remembrancer_processor::recall::{AskRemote, Degradation};
use remembrancer_schema::{EpisodeId, SharePlace};
use tokio::sync::mpsc;

/// So many late answers in a row have it rest, and how long.
const LATE: u32 = 2;
const REST: Duration = Duration::from_secs(30);

/// What one prompt asks.
#[derive(Debug)]
pub(super) struct Question {
    /// The terms.
    pub(super) terms: Vec<String>,
    /// The prompt's vector, where it is there.
    pub(super) embedding: Option<Vec<f32>>,
    /// How far sharing had come before it was asked.
    pub(super) place: SharePlace,
    /// How long somebody waits.
    pub(super) until: Deadline,
    /// Where the row ids go, best first.
    pub(super) answer: SyncSender<Vec<EpisodeId>>,
}

/// What came of questions since the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Answers {
    /// Asked.
    pub(super) asked: u64,
    /// Of these, answered too late.
    pub(super) late: u64,
    /// Not asked, though it was to be, or not answered.
    pub(super) absent: u64,
}

/// Where questions are left.
#[derive(Debug, Default)]
pub(crate) struct Desk(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// To who asks the server, while it is connected.
    way: Option<mpsc::Sender<Question>>,
    /// Late answers in a row.
    late: u32,
    /// Until this instant of the monotonic clock nothing is asked.
    rests_until_ns: u64,
    answers: Answers,
}

/// The desk while it is open: dropped, it closes.
#[derive(Debug)]
pub(super) struct Open<'a>(&'a Desk);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.state().way = None;
    }
}

impl Desk {
    /// From now on questions go this way.
    pub(super) fn open(&self, way: mpsc::Sender<Question>) -> Open<'_> {
        self.state().way = Some(way);
        Open(self)
    }

    /// What came of questions.
    pub(super) fn answers(&self) -> Answers {
        self.state().answers
    }

    /// Leaves a question, where somebody takes it now; says whether.
    fn leave(&self, question: Question, now_ns: u64) -> bool {
        let mut state = self.state();
        let rests = now_ns < state.rests_until_ns;
        let left = !rests && state.way.as_ref().is_some_and(|way| way.try_send(question).is_ok());
        state.answers.asked += u64::from(left);
        left
    }

    fn came_in_time(&self) {
        self.state().late = 0;
    }

    fn was_late(&self, now_ns: u64) {
        let mut state = self.state();
        state.answers.late += 1;
        state.late += 1;
        if state.late >= LATE {
            state.late = 0;
            state.rests_until_ns = now_ns.saturating_add(REST.as_nanos() as u64);
        }
    }

    fn was_absent(&self) {
        self.state().answers.absent += 1;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One prompt at the desk.
#[derive(Debug)]
pub(crate) struct AtTheDesk {
    desk: Arc<Desk>,
    place: SharePlace,
    asked: Option<(Receiver<Vec<EpisodeId>>, Deadline)>,
}

impl AtTheDesk {
    /// One that asks when sharing has come as far as `place`.
    pub(crate) fn new(desk: Arc<Desk>, place: SharePlace) -> Self {
        Self {
            desk,
            place,
            asked: None,
        }
    }
}

impl AskRemote for AtTheDesk {
    fn begin(&mut self, terms: &[String], embedding: Option<&Embedding>, until: Deadline) {
        let (answer, answered) = sync_channel(1);
        let question = Question {
            terms: terms.to_vec(),
            embedding: embedding.map(|embedding| embedding.as_slice().to_vec()),
            place: self.place.clone(),
            until,
            answer,
        };
        if self.desk.leave(question, monotonic_ns()) {
            self.asked = Some((answered, until));
        }
    }

    fn found(&mut self) -> Result<Vec<EpisodeId>, Degradation> {
        let Some((answered, until)) = self.asked.take() else {
            self.desk.was_absent();
            return Err(Degradation::RemoteAbsent);
        };
        match answered.recv_timeout(until.remaining()) {
            Ok(found) => {
                self.desk.came_in_time();
                Ok(found)
            }
            // Who had it dropped it: the server refused it, or the connection was lost.
            Err(RecvTimeoutError::Disconnected) => {
                self.desk.was_absent();
                Err(Degradation::RemoteAbsent)
            }
            Err(RecvTimeoutError::Timeout) => {
                self.desk.was_late(monotonic_ns());
                Err(Degradation::RemoteLate)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_TIME: Duration = Duration::from_millis(1);

    fn prompt(desk: &Arc<Desk>) -> AtTheDesk {
        let place = SharePlace {
            machine: [1; 16],
            member: Some(1),
            cursor: 0,
            sent: 0,
            paused: false,
            has_changes: false,
        };
        AtTheDesk::new(Arc::clone(desk), place)
    }

    /// Has a prompt ask, and wait for so long.
    fn ask(desk: &Arc<Desk>, patience: Duration) -> AtTheDesk {
        let mut prompt = prompt(desk);
        prompt.begin(&["kettle".to_owned()], None, Deadline::after(patience));
        prompt
    }

    fn answers(asked: u64, late: u64, absent: u64) -> Answers {
        Answers { asked, late, absent }
    }

    #[test]
    fn nothing_is_asked_where_nobody_is_at_the_other_side() {
        let desk = Arc::<Desk>::default();
        assert_eq!(ask(&desk, Duration::from_hours(1)).found(), Err(Degradation::RemoteAbsent));
        let (way, mut questions) = mpsc::channel(1);
        let open = desk.open(way);
        let mut first = ask(&desk, Duration::from_hours(1));
        // One waits already.
        assert_eq!(ask(&desk, Duration::from_hours(1)).found(), Err(Degradation::RemoteAbsent));
        let question = questions.try_recv().unwrap();
        assert_eq!((question.terms, question.embedding), (vec!["kettle".to_owned()], None));
        question.answer.try_send(vec![EpisodeId(7)]).unwrap();
        assert_eq!(first.found(), Ok(vec![EpisodeId(7)]));
        // It failed.
        let mut second = ask(&desk, Duration::from_hours(1));
        drop(questions.try_recv().unwrap());
        assert_eq!(second.found(), Err(Degradation::RemoteAbsent));
        drop(open);
        assert_eq!(ask(&desk, Duration::from_hours(1)).found(), Err(Degradation::RemoteAbsent));
        assert_eq!(desk.answers(), answers(2, 0, 4));
        // The time was up before it could be asked.
        assert_eq!(prompt(&desk).found(), Err(Degradation::RemoteAbsent));
    }

    #[test]
    fn it_rests_after_two_late_answers_in_a_row() {
        let desk = Arc::<Desk>::default();
        let (way, mut questions) = mpsc::channel(1);
        let _open = desk.open(way);
        let mut late = || {
            let mut prompt = ask(&desk, NO_TIME);
            let question = questions.try_recv();
            assert_eq!(prompt.found(), Err(Degradation::RemoteLate));
            question.unwrap()
        };
        // Kept, as by who waits for a slow server.
        let kept = [late()];
        let mut in_time = ask(&desk, Duration::from_hours(1));
        let question = questions.try_recv().unwrap();
        question.answer.try_send(Vec::new()).unwrap();
        assert_eq!(in_time.found(), Ok(Vec::new()), "which begins anew");
        drop(kept);

        for _ in 0..LATE {
            let mut prompt = ask(&desk, NO_TIME);
            let _kept = questions.try_recv().unwrap();
            assert_eq!(prompt.found(), Err(Degradation::RemoteLate));
        }
        assert_eq!(ask(&desk, NO_TIME).found(), Err(Degradation::RemoteAbsent));
        assert!(questions.try_recv().is_err(), "nothing is asked while it rests");
        assert_eq!(desk.answers(), answers(4, 3, 1));
        let over = desk.state().rests_until_ns;
        let (answer, _answered) = sync_channel(1);
        let question = |now| {
            let question = Question {
                terms: Vec::new(),
                embedding: None,
                place: prompt(&desk).place,
                until: Deadline::after(NO_TIME),
                answer: answer.clone(),
            };
            desk.leave(question, now)
        };
        assert!(!question(over - 1));
        assert!(question(over));
        assert!(over <= monotonic_ns() + REST.as_nanos() as u64);
    }
}
