//! Connections that have not said what they want: a bounded number, of which the oldest makes room for the newest.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

/// The waiting ones, oldest first. The lock is held for a look through a few hundred numbers at most.
pub(super) struct Waiting {
    bound: usize,
    inside: Mutex<Inside>,
}

#[derive(Default)]
struct Inside {
    next: u64,
    tickets: VecDeque<Ticket>,
}

/// What a waiting connection holds.
#[derive(Debug, Clone)]
pub(super) struct Ticket {
    number: u64,
    /// Cancelled when it has to make room.
    pub(super) turned_out: CancellationToken,
}

impl Waiting {
    /// Room for `bound` of them.
    pub(super) fn new(bound: usize) -> Self {
        Self {
            bound,
            inside: Mutex::default(),
        }
    }

    /// Takes in a new one. Where there is no room the oldest is turned out: returns whether one was.
    pub(super) fn enter(&self) -> (Ticket, bool) {
        let mut inside = self.lock();
        let ticket = Ticket {
            number: inside.next,
            turned_out: CancellationToken::new(),
        };
        inside.next += 1;
        inside.tickets.push_back(ticket.clone());
        let oldest = if inside.tickets.len() > self.bound {
            inside.tickets.pop_front()
        } else {
            None
        };
        drop(inside);
        if let Some(oldest) = &oldest {
            oldest.turned_out.cancel();
        }
        (ticket, oldest.is_some())
    }

    /// Says that the holder of `ticket` waits no longer. Returns whether it may go on, and was not turned out.
    pub(super) fn leave(&self, ticket: &Ticket) -> bool {
        let mut inside = self.lock();
        let at = inside.tickets.iter().position(|waiting| waiting.number == ticket.number);
        at.is_some_and(|at| inside.tickets.remove(at).is_some())
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_makes_room_and_who_left_needs_none() {
        let waiting = Waiting::new(2);
        let (first, displaced) = waiting.enter();
        assert!(!displaced);
        let (second, _) = waiting.enter();
        assert!(waiting.leave(&first));
        assert!(!waiting.leave(&first), "it left already");
        let (third, displaced) = waiting.enter();
        assert!(!displaced);
        let (fourth, displaced) = waiting.enter();
        assert!(displaced && second.turned_out.is_cancelled());
        assert!(!waiting.leave(&second));
        assert!(waiting.leave(&third) && waiting.leave(&fourth));
        assert!(!third.turned_out.is_cancelled());
    }
}
