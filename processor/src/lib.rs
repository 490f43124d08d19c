//! What Remembrancer computes: transcript bytes into episodes, text into vectors, a prompt into recollections.
//!
//! Nothing here opens a socket, spawns a task or reads the wall clock. The two paths through the house, in the order
//! the data flows:
//!
//! 1. **A transcript line becomes a memory** — [`ingest`]: bytes → records → turns → redacted episodes; then
//!    [`embed`]: an episode's text → a unit vector.
//! 2. **A prompt becomes recollections** — [`recall`]: prompt → terms and embedding → ranked legs → candidate pool →
//!    fusion → gates → the fenced text of the top three.

mod deadline;
mod fence;
mod hidden;

pub mod embed;
pub mod eval;
pub mod feedback;
pub mod ingest;
pub mod near;
pub mod recall;
pub mod rerank;

pub use deadline::{Deadline, Stopwatch};
pub use fence::{FENCE_CLOSE, FENCE_OPEN_PREFIX, strip_fenced};
