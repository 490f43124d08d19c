//! Sharing: its pause, its end, and what the running daemon adds to what the store knows of it. The store decides; the task that shares is
//! woken, and finds there what it is to do.

use serde_json::Value;

use super::{Operations, Refusal};
use crate::control;

impl Operations {
    /// Stops sharing for now, or goes on with it.
    pub(super) async fn pause_sharing(&self, paused: bool) -> Result<Value, Refusal> {
        // What keeps it from being set up in the store may be mended: that is looked at anew, whatever comes of this.
        #[cfg(feature = "share")]
        self.wake_sharing();
        self.read(control::refuse_unless_shared).await?;
        let writer = &self.recaller.writer;
        let value = writer.call(move |writer| control::pause_sharing(writer, paused)).await??;
        #[cfg(feature = "share")]
        self.wake_sharing();
        Ok(value)
    }

    /// Stops sharing, and takes what others shared out of the memory.
    pub(super) async fn leave_sharing(&self) -> Result<Value, Refusal> {
        self.read(control::refuse_unless_shared).await?;
        let done = self.recaller.writer.call(control::leave_sharing).await??;
        #[cfg(feature = "share")]
        self.wake_sharing();
        if done["removed"] != 0 {
            // A project may be gone with its last episode.
            self.mailbox.forget_projects();
            self.recaller.conversations.forget_topics();
            self.refresher.due.all();
            self.episodes_went().await?;
        }
        Ok(done)
    }

    /// Has the task that shares look at the store.
    #[cfg(feature = "share")]
    fn wake_sharing(&self) {
        if let Some(shared) = &self.shared {
            shared.poke();
        }
    }

    /// Adds how the connection is to a `status` of a memory that is shared. Before the first connection the store knows of none,
    /// and what keeps it from one is told all the same.
    #[cfg(feature = "share")]
    pub(super) fn add_sharing(&self, status: &mut Value) {
        if let Some(shared) = &self.shared {
            if status["sharing"].is_null() {
                status["sharing"] = Value::Object(serde_json::Map::new());
            }
            status["sharing"]["connection"] = shared.status_json();
        }
    }
}
