//! Whose instruction files are to be written anew, and from when on: whoever changes the memory says so, and is never held up.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use remembrancer_processor::Deadline;
use remembrancer_schema::ProjectId;
use tokio::sync::Notify;

/// How long nothing must have been stored of a project before its files are written anew. A turn is rarely silent for so long, and
/// its file is not to change under it: some hosts read it again with every request.
pub(crate) const QUIET: Duration = Duration::from_secs(10);

/// Projects that wait.
#[derive(Debug, Default)]
pub(crate) struct Due {
    waiting: Mutex<Waiting>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    projects: BTreeMap<ProjectId, Deadline>,
    all: Option<Deadline>,
}

/// Projects whose time has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Which {
    /// All of them but these, and what belongs to none.
    AllBut(Vec<ProjectId>),
    /// These.
    Projects(Vec<ProjectId>),
}

impl Which {
    /// Every project, whatever goes on in it.
    pub(super) const EVERY: Self = Self::AllBut(Vec::new());

    pub(super) fn holds(&self, project: Option<ProjectId>) -> bool {
        match self {
            Self::AllBut(others) => project.is_none_or(|project| !others.contains(&project)),
            Self::Projects(projects) => project.is_some_and(|project| projects.contains(&project)),
        }
    }
}

impl Due {
    /// Something of `project` was stored just now: its turn may go on.
    pub(crate) fn stored(&self, project: ProjectId) {
        self.lock().projects.insert(project, Deadline::after(QUIET));
        self.changed.notify_one();
    }

    /// What every project shows may have changed.
    pub(crate) fn all(&self) {
        self.lock().all = Some(Deadline::after(QUIET));
        self.changed.notify_one();
    }

    /// Waits until the time of some has come.
    pub(super) async fn ready(&self) {
        loop {
            let next = self.lock().next();
            match next {
                Some(at) if at.has_passed() => return,
                Some(at) => {
                    tokio::select! {
                        () = self.changed.notified() => {}
                        () = tokio::time::sleep(at.remaining()) => {}
                    }
                }
                None => self.changed.notified().await,
            }
        }
    }

    /// Those whose time has come; `None` where there are none.
    pub(super) fn take_ready(&self) -> Option<Which> {
        self.take(Deadline::has_passed)
    }

    /// All that wait, though their time has not come; `None` where there are none.
    pub(super) fn take_early(&self) -> Option<Which> {
        self.take(|_| true)
    }

    /// These are to wait again.
    pub(super) fn put_back(&self, which: Which) {
        match which {
            Which::AllBut(_) => self.all(),
            Which::Projects(projects) => projects.into_iter().for_each(|project| self.stored(project)),
        }
    }

    fn take(&self, is_taken: impl Fn(Deadline) -> bool) -> Option<Which> {
        let mut waiting = self.lock();
        let taken: Vec<ProjectId> = waiting
            .projects
            .extract_if(.., |_, at| is_taken(*at))
            .map(|(project, _)| project)
            .collect();
        if waiting.all.take_if(|at| is_taken(*at)).is_some() {
            // Those that wait on have a turn that may go on.
            return Some(Which::AllBut(waiting.projects.keys().copied().collect()));
        }
        (!taken.is_empty()).then_some(Which::Projects(taken))
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    fn next(&self) -> Option<Deadline> {
        self.projects.values().copied().chain(self.all).reduce(Deadline::min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_is_taken_once() {
        let due = Due::default();
        assert_eq!(due.take_early(), None);
        due.stored(ProjectId(2));
        due.stored(ProjectId(1));
        due.stored(ProjectId(2));
        assert_eq!(due.take_ready(), None, "their turns may go on");
        assert_eq!(due.take_early(), Some(Which::Projects(vec![ProjectId(1), ProjectId(2)])));
        assert_eq!(due.take_early(), None);
        due.stored(ProjectId(1));
        due.put_back(Which::EVERY);
        assert_eq!(due.take_early(), Some(Which::EVERY));
        assert_eq!(due.take_early(), None, "it was among all");
    }

    #[test]
    fn all_are_not_those_whose_turn_may_go_on() {
        let due = Due::default();
        due.lock().all = Some(Deadline::after(Duration::ZERO));
        due.stored(ProjectId(1));
        let taken = due.take_ready().unwrap();
        assert_eq!(taken, Which::AllBut(vec![ProjectId(1)]));
        assert!(taken.holds(None) && taken.holds(Some(ProjectId(2))) && !taken.holds(Some(ProjectId(1))));
        assert_eq!(due.take_early(), Some(Which::Projects(vec![ProjectId(1)])));
    }
}
