//! Vectors of judged sets, kept between runs: embedding a set takes minutes, and its texts don't change.
//!
//! One file a model, appended to: the first 16 bytes of a text's SHA-256, then its vector in little-endian 32-bit floats.
//! A record that was cut short by an interrupted run is left out and written over.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use remembrancer_processor::embed::{Embed, EmbedError};
use sha2::{Digest, Sha256};

type Key = [u8; 16];

/// Texts embedded in one go: enough to group them by length, few enough to lose little when interrupted.
const BATCH: usize = 64;

/// Why there are no vectors.
#[derive(Debug, thiserror::Error)]
pub(crate) enum VectorsError {
    /// The file of kept vectors could not be read or written.
    #[error("the kept vectors could not be read or written")]
    File(#[from] io::Error),
    /// The model failed.
    #[error(transparent)]
    Model(#[from] EmbedError),
}

/// The vectors known so far.
pub(crate) struct Vectors<'a> {
    model: &'a dyn Embed,
    file: Option<PathBuf>,
    known: HashMap<Key, Vec<f32>>,
}

impl<'a> Vectors<'a> {
    /// Vectors of `model`, kept in `folder` where one is given.
    ///
    /// # Errors
    /// The file system's error, naming the path.
    pub(crate) fn open(model: &'a dyn Embed, folder: Option<&Path>) -> io::Result<Self> {
        let Some(folder) = folder else {
            return Ok(Self {
                model,
                file: None,
                known: HashMap::new(),
            });
        };
        fs_err::create_dir_all(folder)?;
        let name = model.model_id().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        let file = folder.join(format!("{name}.vectors"));
        let record = size_of::<Key>() + model.dimension() * size_of::<f32>();
        let bytes = match fs_err::read(&file) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error),
        };
        let whole = bytes.len() - bytes.len() % record;
        if whole < bytes.len() {
            fs_err::OpenOptions::new().write(true).open(&file)?.set_len(whole as u64)?;
        }
        let known = bytes[..whole].chunks_exact(record).map(read_record).collect();
        Ok(Self {
            model,
            file: Some(file),
            known,
        })
    }

    /// Embeds those of `texts` that are not known yet, telling `progress` how many are left.
    ///
    /// # Errors
    /// What the model or the file system reports; what was embedded before stays.
    pub(crate) fn learn(&mut self, texts: &[String], progress: &mut dyn FnMut(usize)) -> Result<(), VectorsError> {
        let unknown: Vec<&str> = texts
            .iter()
            .map(String::as_str)
            .filter(|text| !self.known.contains_key(&key(text)))
            .collect();
        let mut left = unknown.len();
        for batch in unknown.chunks(BATCH) {
            progress(left);
            let vectors = self.model.embed_passages(batch)?;
            left -= batch.len();
            let mut written = Vec::new();
            for (text, vector) in batch.iter().zip(vectors) {
                let (key, vector) = (key(text), vector.into_vec());
                written.extend(key);
                written.extend(vector.iter().flat_map(|value| value.to_le_bytes()));
                self.known.insert(key, vector);
            }
            self.keep(&written)?;
        }
        Ok(())
    }

    /// The vector of a text that was learnt.
    pub(crate) fn of(&self, text: &str) -> Option<&[f32]> {
        self.known.get(&key(text)).map(Vec::as_slice)
    }

    fn keep(&self, bytes: &[u8]) -> io::Result<()> {
        match &self.file {
            Some(file) => fs_err::OpenOptions::new()
                .create(true)
                .append(true)
                .open(file)?
                .write_all(bytes),
            None => Ok(()),
        }
    }
}

fn key(text: &str) -> Key {
    let mut key = Key::default();
    key.copy_from_slice(&Sha256::digest(text)[..size_of::<Key>()]);
    key
}

fn read_record(record: &[u8]) -> (Key, Vec<f32>) {
    let (head, values) = record.split_at(size_of::<Key>());
    let mut key = Key::default();
    key.copy_from_slice(head);
    let value = |bytes: &[u8]| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    (key, values.chunks_exact(size_of::<f32>()).map(value).collect())
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use remembrancer_processor::embed::Embedding;

    use super::*;

    /// Counts what it embeds; a text's vector is its length and one.
    #[derive(Default)]
    struct Counting(std::sync::atomic::AtomicUsize);

    impl Embed for Counting {
        fn model_id(&self) -> &'static str {
            "counting@1"
        }

        fn dimension(&self) -> usize {
            2
        }

        fn embed_query(&self, _: &str) -> Result<Embedding, EmbedError> {
            Err(EmbedError::NoDirection)
        }

        fn embed_passages(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
            self.0.fetch_add(texts.len(), std::sync::atomic::Ordering::Relaxed);
            Ok(texts
                .iter()
                .map(|text| Embedding::from_unit(vec![text.len() as f32, 1.0]))
                .collect())
        }
    }

    fn texts() -> Vec<String> {
        (0..300).map(|number| format!("text {number}")).collect()
    }

    #[test]
    fn what_is_known_is_not_embedded_again() {
        let folder = tempfile::tempdir().unwrap();
        let model = Counting::default();
        let told = Cell::new(0);
        for _ in 0..2 {
            let mut vectors = Vectors::open(&model, Some(folder.path())).unwrap();
            vectors.learn(&texts(), &mut |left| told.set(told.get().max(left))).unwrap();
            assert_eq!(vectors.of("text 7"), Some(&[6.0, 1.0][..]));
            assert_eq!(vectors.of("another"), None);
        }
        assert_eq!(model.0.into_inner(), 300);
        assert_eq!(told.get(), 300);
    }

    #[test]
    fn a_record_that_was_cut_short_is_written_anew() {
        let folder = tempfile::tempdir().unwrap();
        let model = Counting::default();
        Vectors::open(&model, Some(folder.path()))
            .unwrap()
            .learn(&texts(), &mut |_| {})
            .unwrap();
        let file = folder.path().join("counting-1.vectors");
        let bytes = fs_err::read(&file).unwrap();
        fs_err::write(&file, &bytes[..bytes.len() - 5]).unwrap();
        for _ in 0..2 {
            let mut vectors = Vectors::open(&model, Some(folder.path())).unwrap();
            vectors.learn(&texts(), &mut |_| {}).unwrap();
            assert_eq!(vectors.of("text 299"), Some(&[8.0, 1.0][..]));
        }
        assert_eq!(fs_err::read(&file).unwrap(), bytes);
    }
}
