//! The bit codes of all embedded episodes in memory, in step with the store: what the coarse search by meaning goes through.
//!
//! They follow the store by one rule: whatever changes them reads the store and changes them within one job of the
//! `store-background` thread. That thread does one job at a time, so the later job has seen all that the earlier had. Each
//! function that changes them asks for that thread's [`Reader`].

use std::sync::{Arc, OnceLock, PoisonError, RwLock, RwLockWriteGuard};

use remembrancer_processor::embed::Embedding;
use remembrancer_processor::recall::CodeIndex;
use remembrancer_schema::{EpisodeId, QueryError, Reader};

/// The codes of all embedded episodes, shared by the prompts, ingest and the backlog.
#[derive(Clone)]
pub(crate) struct SharedCodes(Arc<Codes>);

struct Codes {
    /// Held for writing for a few instructions, for one step of a removal, or while what was loaded takes the place.
    index: RwLock<CodeIndex>,
    /// The dimension of the model whose vectors are current, once that is settled. Before, the store may hold another's.
    adopted: OnceLock<usize>,
}

impl SharedCodes {
    /// No codes, for vectors of `dimension` components until a model is adopted.
    pub(crate) fn new(dimension: usize) -> Self {
        Self(Arc::new(Codes {
            index: RwLock::new(CodeIndex::new(dimension)),
            adopted: OnceLock::new(),
        }))
    }

    /// The codes for a recall, which locks them while it searches.
    pub(crate) fn index(&self) -> &RwLock<CodeIndex> {
        &self.0.index
    }

    /// Loads all codes of the model that the store was just told of. Returns how many there are.
    ///
    /// # Errors
    /// The store's error; the codes stay as they were.
    pub(crate) fn adopt(&self, reader: &Reader, dimension: usize) -> Result<usize, QueryError> {
        let loaded = self.load(reader, dimension)?;
        self.0.adopted.get_or_init(|| dimension);
        Ok(loaded)
    }

    /// Loads all codes again, after episodes were hidden, shown or deleted. Before a model is adopted there is nothing to
    /// do: that loads them.
    ///
    /// # Errors
    /// The store's error; the codes stay as they were.
    pub(crate) fn reload(&self, reader: &Reader) -> Result<(), QueryError> {
        match self.0.adopted.get() {
            Some(dimension) => self.load(reader, *dimension).map(drop),
            None => Ok(()),
        }
    }

    /// Brings the codes of `changed` in step with the store: those that were hidden or deleted meanwhile have none. One that had a code
    /// before has none for a moment.
    ///
    /// # Errors
    /// The store's error; the codes stay as they were.
    pub(crate) fn renew(&self, reader: &Reader, model_id: &str, changed: &[EpisodeId]) -> Result<(), QueryError> {
        let codes: Vec<_> = reader
            .candidates(changed, model_id)?
            .into_iter()
            .filter_map(|row| Some((row.id, row.project, Embedding::from_unit(row.embedding?).bit_code())))
            .collect();
        self.remove(reader, changed);
        let mut index = self.write();
        for (id, project, code) in &codes {
            index.insert(*id, *project, code);
        }
        Ok(())
    }

    /// As [`SharedCodes::renew`], once a model is adopted: before, there are none, and that loads them all.
    ///
    /// # Errors
    /// The store's error; the codes stay as they were.
    #[cfg(feature = "share")]
    pub(crate) fn renew_adopted(&self, reader: &Reader, model_id: &str, changed: &[EpisodeId]) -> Result<(), QueryError> {
        match self.0.adopted.get() {
            Some(_) => self.renew(reader, model_id, changed),
            None => Ok(()),
        }
    }

    /// Drops the codes of episodes that the store no longer has. They are never given again to others, so the store need
    /// not be read; but a load that read it before must have put its codes in place.
    pub(crate) fn remove(&self, _in_a_job_of: &Reader, ids: &[EpisodeId]) {
        let wanted = CodeIndex::wanted(ids);
        let mut removal = self.write().begin_removal(&wanted);
        // A prompt that waits gets its turn between two steps.
        while self.write().go_on(&mut removal) {
            std::thread::yield_now();
        }
    }

    fn load(&self, reader: &Reader, dimension: usize) -> Result<usize, QueryError> {
        let mut codes = CodeIndex::new(dimension);
        reader.for_each_code(|id, project, code| codes.insert(id, project, code))?;
        let loaded = codes.len();
        *self.write() = codes;
        Ok(loaded)
    }

    fn write(&self) -> RwLockWriteGuard<'_, CodeIndex> {
        self.0.index.write().unwrap_or_else(PoisonError::into_inner)
    }
}
