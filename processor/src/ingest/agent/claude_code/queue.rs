//! Prompts that a person types while a turn runs. They wait in the client's queue; most are sent as a user record or an
//! attachment later. One that leaves the queue and shows up in neither was given to the agent in the midst of the turn:
//! then the queue's own record is its only copy (ODDITIES 39).

use std::collections::VecDeque;

use remembrancer_schema::UnixMillis;

/// What waits, and what was taken out unsent, since the last prompt.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: VecDeque<Queued>,
    /// Taken out of the queue without having been sent, as far as the records show so far.
    pub(super) removed: Option<Queued>,
}

/// A waiting prompt, or a notification of the machine.
#[derive(Debug)]
pub(super) struct Queued {
    pub(super) text: String,
    /// The timestamp as written.
    pub(super) written: String,
    pub(super) at: UnixMillis,
}

impl Queue {
    /// Follows one operation of the client: `enqueue`, `dequeue`, `remove` or `popAll`, with its text where it has one.
    pub(super) fn operate(&mut self, operation: &str, item: Queued) {
        match operation {
            "enqueue" => self.waiting.push_back(item),
            "dequeue" => {
                self.waiting.pop_front();
            }
            "remove" => self.removed = self.take(&item.text),
            // Back into the input box: it may still be sent.
            "popAll" => {
                self.take(&item.text);
            }
            _ => {}
        }
    }

    /// Takes out the item with this text, or the oldest if there is no text.
    fn take(&mut self, text: &str) -> Option<Queued> {
        let at = if text.is_empty() {
            Some(0)
        } else {
            self.waiting.iter().position(|queued| queued.text == text)
        };
        self.waiting.remove(at?)
    }
}
